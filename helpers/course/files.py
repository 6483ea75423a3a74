"""Writes files and folders in one step: a reader, or a crash, sees what was there before or what is new."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def write(path: Path, content: str | bytes) -> None:
    """Replaces a file; text is written as UTF-8."""
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def fresh_folder(target: Path) -> Iterator[Path]:
    """An empty folder, to be filled, that takes the place of `target`; if anything fails, `target` stays as it was."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{target.name}-", dir=target.parent) as place:
        fresh = Path(place, "new")
        fresh.mkdir()
        yield fresh
        if target.exists():
            os.replace(target, Path(place, "old"))
        os.replace(fresh, target)
