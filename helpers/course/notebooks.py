"""Finds, reads and writes notebooks in their canonical bytes: `python -m helpers.course.notebooks [--fix] [paths]`.

Canonical means nbformat 4.5 as nbformat writes it, a unique id for every cell, and no metadata of one machine, run or
editor. Without --fix nothing is written: what differs is listed, with what the rules of `helpers.course.rules` find.
"""

import argparse
import hashlib
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import nbformat

from . import ROOT

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
NOTES = re.compile(r"<details>\n<summary>For the speaker</summary>\n\n(.+)\n\n</details>", re.DOTALL)
CELL_METADATA = ("tags", "slideshow", "nbgrader")
CELL_ID = re.compile(r"[a-z0-9-]{1,64}")


def lectures(root: Path = ROOT) -> list[Path]:
    """The lectures in the course's order.

    Raises FileNotFoundError if there are none: a tool that then did nothing would look successful.
    """
    found = sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    if not found:
        raise FileNotFoundError("no lecture found: notebooks/ holds no NN_topic.ipynb")
    return found


def executed(root: Path = ROOT) -> list[Path]:
    """The notebooks that are stored with their outputs: the lectures, then the solutions."""
    return lectures(root) + sorted((root / "notebooks" / "solutions").glob("[0-9][0-9]_*.ipynb"))


def every_notebook(root: Path = ROOT) -> list[Path]:
    """The lectures, whatever else is a notebook beside them, the solutions and the exercises."""
    found = lectures(root)
    for pattern in ("*.ipynb", "solutions/*.ipynb", "exercises/*.ipynb"):
        found += sorted(set((root / "notebooks").glob(pattern)) - set(found))
    return found


def kind(path: Path) -> str:
    """Returns "exercises" or "solutions" for a notebook in a folder of that name, else "lecture"."""
    return path.parent.name if path.parent.name in ("exercises", "solutions") else "lecture"


def is_notes(cell) -> bool:
    """Whether a cell holds notes for a speaker; learners see it folded."""
    return cell.metadata.get("slideshow", {}).get("slide_type") == "notes"


def notes(cell) -> str:
    """What a cell of notes says to the speaker, without the fold around it."""
    folded = NOTES.fullmatch(cell.source.strip())
    return folded.group(1) if folded else cell.source


def parse(text: str) -> nbformat.NotebookNode:
    """The notebook in `text`, not validated. Raises ValueError if it is not JSON of nbformat 4."""
    try:
        notebook = nbformat.v4.reads(text)
        if notebook.nbformat != 4:
            raise ValueError(f"nbformat {notebook.nbformat}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a notebook of nbformat 4 ({error}): save it with a current JupyterLab") from error
    return notebook


def read(path: Path) -> nbformat.NotebookNode:
    """The notebook in a file, not validated. Raises ValueError if it is not JSON of nbformat 4."""
    return parse(path.read_text(encoding="utf-8"))


def canonical(notebook: nbformat.NotebookNode) -> str:
    """The text of the notebook as it is committed. Sources and outputs stay as they are."""
    cells, taken = [], set()
    for position, cell in enumerate(notebook.cells):
        name = _unused_id(cell, position, taken)
        taken.add(name)
        cells.append({**cell, "id": name, "metadata": _cell_metadata(cell.metadata)})
    metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    if "course" in notebook.metadata:
        metadata["course"] = notebook.metadata.course
    clean = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.v4.writes(nbformat.from_dict(clean), ensure_ascii=False) + "\n"


def _cell_metadata(metadata: dict) -> dict:
    """Tags, slide type and nbgrader's entry; JupyterLab leaves empty ones behind."""
    kept = {name: metadata[name] for name in CELL_METADATA if metadata.get(name)}
    if kept.get("slideshow", {}).get("slide_type", "") in ("", "-"):
        kept.pop("slideshow", None)
    return kept


def _unused_id(cell: dict, position: int, taken: set[str]) -> str:
    """The cell's id if it is well formed and free, else one made from it or from the source, the same each time."""
    name = re.sub(r"[^a-z0-9-]+", "-", cell.get("id", "").lower()).strip("-")[:50]
    name = cell["id"] if CELL_ID.fullmatch(cell.get("id", "")) else name
    if not name or name in taken:
        digest = hashlib.sha256(f"{position} {cell.source}".encode()).hexdigest()[:8]
        name = f"{name[:50]}-{digest}" if name else digest
    return name


def write(path: Path, text: str) -> None:
    """Replaces a file in one step: a reader, or a crash, sees the old text or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def fix(paths: Iterable[Path]) -> int:
    """Rewrites what is not canonical; returns 1 if a file could not be read, else 0."""
    failed = 0
    for path in paths:
        try:
            text = canonical(read(path))
        except ValueError as error:
            print(f"{shown(path)}: {error}")
            failed = 1
            continue
        if text != path.read_bytes().decode():
            write(path, text)
            print(f"rewrote {shown(path)}")
    return failed


def lint(paths: Iterable[Path]) -> int:
    """Prints one line for each finding; returns 1 if there is one, else 0."""
    from .rules import findings

    paths = list(paths)
    found = [line for path in paths for line in findings(path)]
    print("\n".join(found) if found else f"{len(paths)} notebooks are as they should be")
    return 1 if found else 0


def shown(path: Path) -> str:
    """The path as a message shows it: from the repository on, where it is inside."""
    path = path.resolve()
    return (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.course.notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="write canonical bytes instead of listing findings")
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (all of them, if none is named)")
    chosen = parser.parse_args(arguments)
    try:
        paths = chosen.paths or every_notebook()
        return fix(paths) if chosen.fix else lint(paths)
    except FileNotFoundError as error:
        print(error)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
