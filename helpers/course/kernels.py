"""Writes helpers/kernels/<topic>.py from lecture cells tagged `export`: `python -m helpers.course.kernels [--check]`.

A kernel has one home, the cell that teaches it. The module holds the exported cells word for word, after those of the
notebook's imports that they use.
"""

import ast
import builtins
import difflib
import subprocess
import symtable
import sys
from pathlib import Path

from . import ROOT, derived, notebooks

TAG = "export"
MARK = "Generated from notebooks/"
HEADER = '"""' + MARK + '{source} by `make kernels`: edit the notebook, not this file."""\n'
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
KNOWN = {*dir(builtins), "__name__", "__file__", "__doc__"}


class ExportError(ValueError):
    """An exported cell cannot become part of a module; the message names notebook, cell and reason."""


def generate(root: Path = ROOT) -> dict[Path, str]:
    """The text of every module that the lectures export, by its path.

    Raises ExportError for a cell that cannot be part of one.
    """
    modules = {}
    for path in notebooks.lectures(root):
        text = module(path.name, notebooks.read(path))
        target = root / "helpers" / "kernels" / f"{path.stem[3:]}.py"
        if text and target in modules:
            raise ExportError(f"{path.name}: another lecture of this name exports to {target.name}: rename one")
        if text:
            modules[target] = _ruff(text, target.name)
    return modules


def module(source: str, notebook) -> str | None:
    """The module of one notebook called `source` before formatting, or None if it exports nothing."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    exported = {cell.get("id", "?"): cell.source for cell in code if TAG in cell.metadata.get("tags", [])}
    if not exported:
        return None
    bodies = {name: _definitions(source, name, text) for name, text in exported.items()}
    imports = _imports(cell.source for cell in code)
    defined = {name for text in exported.values() for name in _bound(text)}
    used = set()
    for name, text in exported.items():
        missing = _read(text) - defined - KNOWN
        for unknown in sorted(missing - set(imports)):
            todo = "import it in this notebook, define it in an exported cell, or make it an argument"
            raise ExportError(f"{source}: cell {name}: it uses {unknown}, which the module would not have: {todo}")
        used |= missing
    lines = [imports[name] for name in sorted(used)]
    return "\n\n".join([HEADER.format(source=source), "\n".join(lines), *(f"{text}\n" for text in bodies.values())])


def _definitions(source: str, name: str, text: str) -> str:
    """The cell's text, if it only defines things. Raises ExportError otherwise."""
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        where = f"{source}: cell {name}: line {error.lineno}"
        raise ExportError(f"{where} is not plain Python: {error.msg}") from error
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            raise ExportError(f"{source}: cell {name}: it imports something: move the import to the set-up cell")
        if not isinstance(node, DEFINITIONS) and not (isinstance(node, ast.Expr) and _is_text(node.value)):
            todo = "export definitions only, and leave calls and checks to another cell"
            raise ExportError(f"{source}: cell {name}: line {node.lineno} would run at import: {todo}")
    return text.strip("\n")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _imports(sources) -> dict[str, str]:
    """The statement that binds each imported name, from the top level of all cells; the first of two wins."""
    found = {}
    for source in sources:
        for node in plain_body(source):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found.setdefault(alias.asname or alias.name.partition(".")[0], f"import {ast.unparse(alias)}")
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    module = "." * node.level + (node.module or "")
                    found.setdefault(alias.asname or alias.name, f"from {module} import {ast.unparse(alias)}")
    return found


def plain_body(source: str) -> list[ast.stmt]:
    """The cell's statements without IPython's own lines, or none if it is not Python even so."""
    lines = ["pass" if line.startswith(("%", "!")) else line for line in source.splitlines()]
    try:
        return ast.parse("\n".join(lines)).body
    except SyntaxError:
        return []


def _bound(source: str) -> set[str]:
    """The names that a cell defines at its top level."""
    symbols = symtable.symtable(source, "cell", "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned()}


def _read(source: str) -> set[str]:
    """The names that a cell, or a function in it, looks up among the module's or the builtins."""
    found, tables = set(), [symtable.symtable(source, "cell", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        top = table.get_type() == "module"
        found |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (top or symbol.is_global())
        }
    return found


def _ruff(text: str, name: str) -> str:
    """The text with its imports sorted and formatted by the repository's ruff settings."""
    for command in (["check", "--select", "I", "--fix", "--quiet"], ["format"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", f"helpers/kernels/{name}", "-"],
            input=text, capture_output=True, text=True, cwd=ROOT, encoding="utf-8",
        )  # fmt: skip
        if done.returncode:
            raise ExportError(f"ruff could not format {name}: {done.stderr.strip()}")
        text = done.stdout
    return text


def stale(modules: dict[Path, str], root: Path = ROOT) -> list[Path]:
    """Generated files that no lecture exports any more."""
    there = sorted((root / "helpers" / "kernels").glob("*.py"))
    return [path for path in there if path not in modules and path.name != "__init__.py"]


def check(root: Path = ROOT) -> list[str]:
    """What differs between the generated modules and the files; writes nothing."""
    modules = generate(root)
    found = [f"helpers/kernels/{path.name}: no lecture exports it" for path in stale(modules, root)]
    for path, text in modules.items():
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        difference = difflib.unified_diff(
            there.splitlines(), text.splitlines(), path.name, "notebook", lineterm="", n=0
        )
        if there != text:
            found.append("\n".join([f"helpers/kernels/{path.name}: it differs from its notebook", *difference]))
    return found


def update(root: Path = ROOT) -> None:
    """Writes the modules that differ and removes those that no lecture exports any more."""
    modules = generate(root)
    gone = stale(modules, root)
    for path in gone:
        if MARK not in path.read_text(encoding="utf-8"):
            raise ExportError(f"helpers/kernels/{path.name} was not generated: only generated modules belong there")
    derived.write(modules, gone, root)


def main(arguments: list[str]) -> int:
    good = "helpers/kernels is what the notebooks export"
    return derived.main(arguments, "helpers.course.kernels", __doc__, check, update, good, "make kernels")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
