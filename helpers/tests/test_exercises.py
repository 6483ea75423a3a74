"""What holds for the exercises: generated, runnable as handed out, passed by every solution and by no garbage."""

from helpers.course import execute, exercises, notebooks

import ast
import copy

import nbformat
import pytest

pytest.importorskip("nbgrader")

EXERCISES = list(exercises.generate().items())
CHECKS = ("helpers.check", "helpers.check_answers")
GARBAGE = "def {name}(*tensors, **options):\n    return tensors[0] * 0 + 7"


def checks(notebook):
    """The cells that nbgrader grades."""
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def checked(cell):
    """The names of the functions that a cell gives to `helpers.check` or `helpers.check_answers`."""
    calls = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    return [ast.unparse(call.args[0]) for call in calls if ast.unparse(call.func) in CHECKS]


@pytest.fixture(scope="module", params=EXERCISES, ids=lambda item: item[0].stem)
def exercise(request):
    path, text = request.param
    return path, notebooks.parse(text)


def run(path, notebook):
    """The notebook after a run in its folder."""
    notebook = copy.deepcopy(notebook)
    execute.run_cells(path, notebook)
    return notebook


def test_an_exercise_has_three_tasks_each_with_a_hint_and_a_check(exercise):
    _, notebook = exercise
    assert len(checks(notebook)) >= 3
    assert all(checked(cell) for cell in checks(notebook))
    assert sum("<details>" in cell.source for cell in notebook.cells) == len(checks(notebook))


def test_as_handed_out_every_check_says_not_attempted(exercise):
    done = run(*exercise)
    assert [cell.id for cell in checks(done) if "not attempted yet" not in printed(cell)] == []


def test_every_check_fails_garbage(exercise):
    path, notebook = exercise
    notebook = copy.deepcopy(notebook)
    for cell in checks(notebook):
        stubs = "\n\n".join(GARBAGE.format(name=name) for name in checked(cell))
        notebook.cells.insert(notebook.cells.index(cell), nbformat.v4.new_code_cell(stubs))
    done = run(path, notebook)
    assert [cell.id for cell in checks(done) if ": failed" not in printed(cell)] == []


@pytest.mark.parametrize("path", notebooks.solutions(), ids=lambda path: path.stem)
def test_every_solution_passes(path):
    """nbval runs the solutions and compares; here we see to it that what it compares with says so."""
    stored = checks(notebooks.read(path))
    assert stored and [cell.id for cell in stored if ": passed" not in printed(cell)] == []
    assert all("assert report.passed" in cell.source for cell in stored)
