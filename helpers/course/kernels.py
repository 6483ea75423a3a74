"""Makes helpers/kernels/<topic>.py from lecture cells tagged `export`; `make derived` writes them.

A kernel has one home, the cell that teaches it. The module holds the exported cells word for word, after those of the
notebook's imports that they use, and as COMPILE what the cells' metadata `compile` says: for which types and constexprs
the tests compile each kernel.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path

from . import ROOT, notebooks

TAG = "export"
HEADER = '"""Generated from notebooks/{source} by `make derived`: edit the notebook, not this file."""\n'
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


class ExportError(ValueError):
    """An exported cell cannot become part of a module; the message names notebook, cell and reason."""


def generate(root: Path = ROOT) -> dict[Path, str]:
    """The text of every module that the lectures export, by its path.

    Raises ExportError for a cell that cannot be part of one.
    """
    modules = {}
    for path in notebooks.lectures(root):
        text = module(path.name, notebooks.read(path))
        target = root / "helpers" / "kernels" / f"{notebooks.topic(path)}.py"
        if text and target in modules:
            raise ExportError(f"{path.name}: another lecture of this name exports to {target.name}: rename one")
        if text:
            modules[target] = text
    return modules


def module(source: str, notebook) -> str | None:
    """The module of one notebook called `source`, or None if it exports nothing."""
    code = notebooks.code_cells(notebook)
    exported = [cell for cell in code if TAG in notebooks.tags(cell)]
    if not exported:
        return None
    bodies = [f"{_definitions(source, cell)}\n" for cell in exported]
    compiled = {name: entry for cell in exported for name, entry in cell.metadata.get("compile", {}).items()}
    if compiled:
        bodies.append(f"COMPILE = {json.loads(json.dumps(compiled))!r}\n")
    text = "\n\n".join([HEADER.format(source=source), "\n".join(_imports(code)), *bodies])
    text = _ruff(source, text, "check", "--select", "I,F401", "--fix")  # sorts the imports, drops those not used
    _ruff(source, text, "check", "--select", "F821,F811", "--output-format", "concise")
    return _ruff(source, text, "format")


def _definitions(source: str, cell) -> str:
    """The cell's text, if it only defines things. Raises ExportError otherwise."""
    where = f"{source}: cell {cell.get('id', '?')}"
    try:
        body = ast.parse(cell.source).body
    except SyntaxError as error:
        raise ExportError(f"{where}: line {error.lineno} is not plain Python: {error.msg}") from error
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            raise ExportError(f"{where}: it imports something: move the import to the set-up cell")
        is_text = isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
        if not isinstance(node, DEFINITIONS) and not is_text:
            todo = "export definitions only, and leave calls and checks to another cell"
            raise ExportError(f"{where}: line {node.lineno} would run at import: {todo}")
    return cell.source.strip("\n")


def _imports(code: list) -> list[str]:
    """The imports at the top level of all cells, one name a line; of two that bind one name, the first."""
    found = {}
    for node in (statement for cell in code for statement in notebooks.statements(cell.source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                one = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], 0)
                found.setdefault(alias.asname or alias.name.partition(".")[0], ast.unparse(one))
    return list(found.values())


def _ruff(source: str, text: str, *command: str) -> str:
    """What ruff makes of a module, by the repository's settings. Raises ExportError with what it finds wrong."""
    name = f"helpers/kernels/{source[3:].removesuffix('.ipynb')}.py"
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", name, "-"],
        input=text, capture_output=True, text=True, cwd=ROOT, encoding="utf-8",
    )  # fmt: skip
    if done.returncode:
        todo = "import it in this notebook, define it in an exported cell, or make it an argument"
        found = (done.stdout + done.stderr).strip()
        raise ExportError(f"{source}: the module of its exported cells would not work ({todo}):\n{found}")
    return done.stdout
