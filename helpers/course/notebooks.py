"""Finds, reads and writes notebooks in their canonical bytes: `python -m helpers.course.notebooks [--fix] [paths]`.

Canonical means nbformat 4.5 as nbformat writes it, a unique id for every cell, and no metadata of one machine, run or
editor. What differs is listed, with what the rules of `helpers.course.rules` find; with --fix it is rewritten.
"""

import argparse
import ast
import hashlib
import re
import sys
from pathlib import Path

import nbformat

from . import ROOT, rules
from .files import write

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = ("tags", "slideshow", "nbgrader", "slide", "notes", "compile", "quotes")  # see CONTRIBUTING
MEASURING = {"compare", "recorded"}  # the helpers that write records


def lectures(root: Path = ROOT) -> list[Path]:
    """The lectures in the course's order. Raises FileNotFoundError if there are none."""
    return _numbered(root / "notebooks")


def solutions(root: Path = ROOT) -> list[Path]:
    """The notebooks with solutions. Raises FileNotFoundError if there are none."""
    return _numbered(root / "notebooks" / "solutions")


def _numbered(folder: Path) -> list[Path]:
    """The notebooks in a folder; without any it is an error, since a tool that did nothing would look successful."""
    found = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    if not found:
        raise FileNotFoundError(f"{folder.name}/ holds no notebook NN_topic.ipynb")
    return found


def executed(root: Path = ROOT) -> list[Path]:
    """The notebooks that are stored with their outputs: the lectures, then the solutions."""
    return lectures(root) + solutions(root)


def every_notebook(root: Path = ROOT) -> list[Path]:
    """The lectures, whatever else is a notebook beside them, the exercises and the solutions."""
    folders = [lectures(root)[0].parent, root / "notebooks" / "exercises", root / "notebooks" / "solutions"]
    return [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]


def measuring(root: Path = ROOT) -> list[Path]:
    """The lectures, and the solutions, that measure: whose code uses `compare` or `recorded`."""
    return [path for path in executed(root) if MEASURING & _names(read(path))]


def _names(notebook) -> set[str]:
    trees = [statement for cell in code_cells(notebook) for statement in statements(cell.source)]
    return {getattr(node, "attr", getattr(node, "id", None)) for tree in trees for node in ast.walk(tree)}


def topic(path: Path) -> str:
    """A lecture's name without its number: that of its module in helpers/kernels and of its folder of records."""
    return path.stem[3:]


def role(path: Path) -> str:
    """Returns "exercises" or "solutions" for a notebook in a folder of that name, else "lecture"."""
    return path.parent.name if path.parent.name in ("exercises", "solutions") else "lecture"


def code_cells(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def slide_type(cell) -> str:
    """The slide type that JupyterLab sets: "slide", "subslide", "skip", or "-" for one that continues."""
    return cell.metadata.get("slideshow", {}).get("slide_type") or "-"


def heading(source: str) -> tuple[str, str]:
    """The heading that a markdown cell begins with ("" if it has none), and the rest."""
    first, _, rest = source.strip().partition("\n")
    return (first, rest.strip()) if first.startswith("#") else ("", source.strip())


def title(notebook) -> str:
    """The heading of the first cell, without its marks."""
    return plain(heading(notebook.cells[0].source)[0].lstrip("# ")) if notebook.cells else ""


def plain(markdown: str) -> str:
    """The text of a paragraph of markdown: links become their words, emphasis and code lose their marks."""
    return re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda match: match.group(1) or "", markdown).strip()


def statements(source: str) -> list[ast.stmt]:
    """A code cell's statements without IPython's own lines, or none if it is not Python even so."""
    lines = ["pass" if line.startswith(("%", "!")) else line for line in source.splitlines()]
    try:
        return ast.parse("\n".join(lines)).body
    except SyntaxError:
        return []


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
        name = cell.get("id")
        if not name or name in taken:
            name = hashlib.sha256(f"{position} {cell.source}".encode()).hexdigest()[:8]
        taken.add(name)
        cells.append({**cell, "id": name, "metadata": _cell_metadata(cell.metadata)})
    metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    if "course" in notebook.metadata:
        metadata["course"] = notebook.metadata.course
    clean = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.v4.writes(nbformat.from_dict(clean), ensure_ascii=False) + "\n"


def _cell_metadata(metadata: dict) -> dict:
    """What the course's tools read, and nbgrader; JupyterLab leaves empty entries behind."""
    kept = {name: metadata[name] for name in CELL_METADATA if metadata.get(name) not in (None, [], {})}
    if kept.get("slideshow", {}).get("slide_type", "") in ("", "-"):
        kept.pop("slideshow", None)
    return kept


def findings(path: Path, fix: bool = False) -> list[str]:
    """One line for each thing that is wrong with the notebook in `path`; with `fix` its bytes are mended first."""
    try:
        text = path.read_bytes().decode()
        notebook = parse(text)
    except ValueError as error:
        return [f"{shown(path)}: {error}"]
    found = [] if text == canonical(notebook) else [(None, "its bytes are not canonical", "run `make fix`")]
    if found and fix:
        write(path, canonical(notebook))
        print(f"rewrote {shown(path)}")
        found = []
    found += rules.broken(role(path), path, notebook)
    return [f"{shown(path)}: {f'cell {cell}: ' if cell else ''}{what}: {todo}" for cell, what, todo in found]


def shown(path: Path) -> str:
    """The path as a message shows it: from the repository on, where it is inside."""
    path = path.resolve()
    return (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.course.notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="rewrite what is not canonical")
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (all of them, if none is named)")
    chosen = parser.parse_args(arguments)
    try:
        paths = chosen.paths or every_notebook()
        found = [line for path in paths for line in findings(path, chosen.fix)]
    except FileNotFoundError as error:
        found = [str(error)]
    print("\n".join(found) or f"{len(paths)} notebooks are as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
