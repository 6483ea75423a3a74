"""The house's rules: how much a room may hold, how long a line and a page are, and which way imports point."""

from helpers import HOMES
from helpers.course import ROOT

import ast
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HELPERS = ROOT / "helpers"
MOST = {  # lines; a number is raised only with a reason beside it
    "what lectures import": 1600,
    "checker": 1400,
    "course": 1200,  # with its templates
    "tests and browser": 3800,
}
MOST_IN_A_MODULE = 220
MOST_IN_A_LINE = 120  # characters
MOST_WORDS = 1500  # of CONTRIBUTING
WRITTEN = [
    path
    for pattern in ("*", ".ci/*", ".github/workflows/*", "notebooks/*", "helpers/**/*")
    for path in sorted(ROOT.glob(pattern))
    if path.suffix in (".py", ".md", ".toml", ".yml", ".j2", ".js", ".cfg") or path.name in ("Makefile", "run")
]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(HELPERS.glob("**/*.py"))
}


def room(path: Path) -> str:
    top = path.relative_to(HELPERS).parts[0]
    known = {"checker": "checker", "course": "course", "tests": "tests and browser", "browser": "tests and browser"}
    return "kernels" if top == "kernels" else known.get(top, "what lectures import")


def length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("name", MOST)
def test_a_room_is_no_larger_than_agreed(name):
    sizes = {path.relative_to(ROOT).as_posix(): length(path) for path in WRITTEN if path.is_relative_to(HELPERS)}
    inside = {path: size for path, size in sizes.items() if room(ROOT / path) == name}
    assert 0 < sum(inside.values()) <= MOST[name], inside


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_modules_and_lines_are_short(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, start=1) if len(line) > MOST_IN_A_LINE] == []
    assert path.suffix != ".py" or len(lines) <= MOST_IN_A_MODULE


def test_contributing_is_short():
    words = re.findall(r"\S*\w\S*", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(words) <= MOST_WORDS


def imported(module: str) -> Iterator[str]:
    """The modules of helpers that a module imports, inside functions too; a name of `helpers` counts as its home."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package.split(".")[: package.count(".") + 2 - node.level]] * bool(node.level))
            source = ".".join(filter(None, [base, node.module]))
            for alias in node.names:
                home = f"helpers.{HOMES[alias.name]}" if source == "helpers" and alias.name in HOMES else source
                yield from [name for name in (f"{home}.{alias.name}", home) if name in MODULES][:1]


def rooms(module: str) -> str:
    """A module's folder in helpers, or itself where it lies beside the folders."""
    return ".".join(module.split(".")[:2])


def test_imports_point_one_way():
    inside = [name for name in MODULES if not name.startswith(("helpers.tests", "helpers.browser"))]
    graph = {name: set(imported(name)) - {name} for name in inside}
    assert "helpers.course.rules" in graph["helpers.course.notebooks"] and "helpers.device" in graph["helpers.probe"]
    assert "helpers.device" in graph["helpers.kernels.vector_add"]
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError and names the circle
    folders: dict[str, set] = {}
    for name, others in graph.items():
        folders.setdefault(rooms(name), set()).update(rooms(other) for other in others if rooms(other) != rooms(name))
    graphlib.TopologicalSorter(folders).prepare()


def test_no_exported_name_is_that_of_its_module():
    assert [name for name, home in HOMES.items() if name in home.split(".")] == []
