"""The house's rules: how much a room may hold, how long a line and a page are, and which way imports point."""

from helpers import HOMES
from helpers.course import ROOT

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

MOST = {  # lines; a number is raised only with a reason beside it
    # `compiled` carries whatever Triton takes and says what to pass instead; `compare` times gradients and any shapes
    # a picture of a block of two dimensions; a roofline whose points have names and shares; curves and bars;
    # a picture of a fold whose every number is computed
    "what lectures import": 2305,
    # it judges rows, products, gradients, integers and gathers, in other orders and layouts, and names about 27 causes
    "checker": 2650,
    "course": 1650,  # with its templates; the edition for students and the learner's copy, grading, a hub for a class
    "what the checker is tried on": 2030,  # every kind of kernel, wrong and right; answers of students to each exercise
    "tests and browser": 6400,  # each number and verdict has a test that fails when it is changed; folds, long rows
}
MOST_IN_A_MODULE, MOST_IN_A_LINE, MOST_WORDS = 220, 120, 1500  # lines, characters, words of CONTRIBUTING
ROOMS = {"tests": "tests and browser", "browser": "tests and browser", "checker": "checker", "course": "course"}
TRIED = ("zoo", "exercise_answers", "random_")  # in tests: what the checker is tried on
WHERE = ("*", ".ci/*", ".github/workflows/*", "notebooks/*", "helpers/**/*")
KINDS = (".py", ".md", ".toml", ".yml", ".j2", ".js", ".cfg")
PATHS = [
    path for where in WHERE for path in sorted(ROOT.glob(where)) if path.suffix in KINDS or path.name == "Makefile"
]
LINES = {path.relative_to(ROOT): path.read_text(encoding="utf-8").splitlines() for path in PATHS}
MODULES = {
    ".".join(path.with_suffix("").parts).removesuffix(".__init__"): path
    for path in LINES
    if path.parts[0] == "helpers" and path.suffix == ".py" and path.parts[1] not in ("tests", "browser")
}


def room(path: Path) -> str | None:
    """The room of a file in helpers; None for one that no room counts: generated kernels, and what lies elsewhere."""
    if path.parts[0] != "helpers" or path.parts[1] == "kernels":
        return None
    if path.parts[1] == "tests" and path.parts[2].startswith(TRIED):
        return "what the checker is tried on"
    return ROOMS.get(path.parts[1], "what lectures import")


@pytest.mark.parametrize("name", MOST)
def test_a_room_is_no_larger_than_agreed(name):
    sizes = {path.as_posix(): len(lines) for path, lines in LINES.items() if room(path) == name}
    assert 0 < sum(sizes.values()) <= MOST[name], sizes


@pytest.mark.parametrize("path", LINES, ids=str)
def test_modules_and_lines_are_short(path):
    assert [number for number, line in enumerate(LINES[path], start=1) if len(line) > MOST_IN_A_LINE] == []
    generated = path.parts[:2] == ("helpers", "kernels")  # as long as its lecture's exported cells
    assert generated or path.suffix != ".py" or len(LINES[path]) <= MOST_IN_A_MODULE


def test_contributing_is_short():
    words = " ".join(LINES[Path("CONTRIBUTING.md")]).split()
    assert sum(any(map(str.isalnum, word)) for word in words) <= MOST_WORDS


def imported(module: str) -> Iterator[str]:
    """The modules of helpers that a module imports, inside functions too; a name of `helpers` counts as its home."""
    package = module.split(".")[: None if MODULES[module].name == "__init__.py" else -1]
    for node in ast.walk(ast.parse("\n".join(LINES[MODULES[module]]))):
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            source = [] if isinstance(node, ast.Import) else [node.module] if node.module else []
            above = package[: len(package) + 1 - node.level] if getattr(node, "level", 0) else []
            name = ".".join([*above, *source, alias.name]).removeprefix("helpers.")
            home = f"helpers.{HOMES.get(name, name)}"
            yield from [found for found in (home, home.rpartition(".")[0]) if found in MODULES and found != "helpers"][
                :1
            ]


def test_imports_point_one_way():
    graph = {name: set(imported(name)) - {name} for name in MODULES}
    assert graph["helpers.course.notebooks"] >= {"helpers.course", "helpers.course.rules", "helpers.course.files"}
    assert "helpers.device" in graph["helpers.kernels.vector_add"]
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError and names the circle
    between = {(name.split(".")[1], other.split(".")[1]) for name in graph for other in graph[name]}
    graphlib.TopologicalSorter({one: {b for a, b in between if a == one != b} for one, _ in between}).prepare()


def test_no_exported_name_is_that_of_its_module():
    assert [name for name, home in HOMES.items() if name in home.split(".")] == []
