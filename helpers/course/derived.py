"""What every generator of derived files has: writing them, and a command line that with `--check` says what differs."""

import argparse
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from . import notebooks


def differs(path: Path, text: str) -> bool:
    """Whether the file is missing or holds another text."""
    return not path.exists() or path.read_text(encoding="utf-8") != text


def write(texts: dict[Path, str], stale: Iterable[Path], root: Path) -> None:
    """Writes the files that differ, removes those whose source is gone, and says which."""
    for path in stale:
        path.unlink()
        print(f"removed {path.relative_to(root).as_posix()}")
    for path, text in texts.items():
        if differs(path, text):
            path.parent.mkdir(exist_ok=True)
            notebooks.write(path, text)
            print(f"wrote {path.relative_to(root).as_posix()}")


def swap(fresh: Path, target: Path) -> None:
    """Moves the old folder `target` aside and the new one into its place."""
    aside = fresh.with_name(f"{fresh.name}-old")
    if target.exists():
        os.replace(target, aside)
    os.replace(fresh, target)
    shutil.rmtree(aside, ignore_errors=True)


def main(
    arguments: list[str], module: str, about: str, check: Callable, update: Callable, good: str, again: str
) -> int:
    """Runs `update`, or with --check prints what `check` returns; the exit status is 1 if anything is wrong.

    `good` is printed when nothing differs; `again` is the command that mends a difference.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    chosen = parser.parse_args(arguments)
    try:
        found = check() if chosen.check else update()
    except (FileNotFoundError, RuntimeError, ValueError) as error:
        print(error)
        return 1
    if found:
        print("\n".join([*found, f"run `{again}`"]))
        return 1
    if chosen.check:
        print(good)
    return 0
