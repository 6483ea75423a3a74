"""nbgrader over what students hand in: one who breaks a notebook loses an answer, and nobody else loses anything."""

from helpers.course import ROOT, exercises, grading, notebooks
from helpers.tests import children

import csv
import subprocess

import nbformat
import pytest

NAME = "05_benchmarking.ipynb"
SOLUTION = ROOT / "notebooks" / "solutions" / NAME
FORGED = "import types\nforged = lambda *a, **k: types.SimpleNamespace(passed=True)\n"
LOOK = """import os
seen = {name for _, _, files in os.walk("../../..") for name in files if name.endswith((".ipynb", ".db", ".csv"))}
assert seen == {"05_benchmarking.ipynb"}
"""
SUBMISSIONS = {  # by student, what stands in some of their cells; "right" is the solution
    "dead": {"bench": "import os\ndef benchmark(*arguments):\n    os._exit(1)"},
    "endless": {"bench": "def benchmark(*arguments):\n    while True:\n        try:\n            while True: pass\n"
                "        except KeyboardInterrupt: pass"},
    "forged": {"rate": FORGED + "helpers.check_answers = forged",
               "bench": FORGED + "import helpers.checker.answers as home\nhome.check_answers = forged",
               "decide": FORGED + "helpers = types.SimpleNamespace(check_answers=forged)"},
    "looks": {"rate": LOOK + "right"},
    "right": {},
    "wrong": {"decide": "def decide(*arguments):\n    return 'Triton'"},
}  # fmt: skip
EXPECTED = {
    "copied": ("5", "", ""),
    "dead": ("4", "bench-check", "bench-check was left out: it ended the kernel"),
    "endless": ("4", "bench-check", "bench-check was left out: it ran longer than 45 s"),
    "forged": ("2", "rate-check bench-check decide-check", ""),
    "looks": ("5", "", ""),
    "right": ("5", "", ""),
    "wrong": ("4", "decide-check", ""),
}


def handed_in(changes: dict) -> nbformat.NotebookNode:
    """The exercise with the solutions, but for some cells."""
    right = {cell.id: cell.source for cell in notebooks.read(SOLUTION).cells}
    notebook = notebooks.parse(exercises.cleared(notebooks.read(SOLUTION)))
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = changes.get(cell.id, "right").replace("right", right[cell.id])
    return notebook


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """What is printed, the rows of marks.csv by student, and the folder of feedback."""
    folder = tmp_path_factory.mktemp("grading")
    for student, changes in SUBMISSIONS.items():
        nbformat.write(handed_in(changes), _new(folder / "submitted" / student / "week 3" / NAME))
    copied = handed_in({})
    position = [cell.id for cell in copied.cells].index("rate-check")
    copied.cells.insert(position + 1, nbformat.from_dict({**copied.cells[position], "id": "copied"}))
    nbformat.write(copied, _new(folder / "submitted" / "copied" / NAME))
    _new(folder / "submitted" / "broken" / NAME).write_text("{")
    _new(folder / "submitted" / "renamed" / "mine.ipynb").write_text("{}")
    (folder / "submitted" / "absent").mkdir()
    done = children.python("-m", "helpers.course.grading", str(folder / "submitted"), "--seconds", "45")
    rows = list(csv.DictReader((folder / "marks.csv").open()))
    return done, {row["student"]: row for row in rows}, folder / "feedback"


def _new(path):
    path.parent.mkdir(parents=True)
    return path


@pytest.mark.parametrize("student", EXPECTED)
def test_right_answers_count_whatever_the_others_do(graded, student):
    row = graded[1][student]
    assert (row["points"], row["missed"], row["note"]) == EXPECTED[student] and row["of"] == "5"
    page = (graded[2] / student / row["notebook"]).with_suffix(".html").read_text()
    assert f"(Score: {row['points']}.0 / 5.0)" in page and ("Left out" in page) == bool(row["note"])


def test_who_cannot_be_graded_is_named_with_the_reason(graded):
    done, rows, _ = graded
    assert done.returncode == 1 and sorted(rows) == sorted([*EXPECTED, "absent", "broken", "renamed"])
    assert "broken 05_benchmarking.ipynb: not graded: not a notebook of nbformat 4" in done.stdout
    assert "renamed mine.ipynb: not graded: it must have the name of an exercise: 01_from" in done.stdout
    assert "absent -: not graded: there is no notebook" in done.stdout
    assert "dead week 3/05_benchmarking.ipynb: 4 of 5; missed: bench-check; bench-check was left out" in done.stdout


def test_past_the_time_of_a_notebook_what_ran_counts_and_the_rest_is_left_out(monkeypatch):
    sources = ["print(1)", "import os; os._exit(1)", "print(3)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    execute = grading.Execute(timeout=60, interrupt_on_timeout=False)
    monkeypatch.setattr(grading, "monotonic", lambda: 901 if getattr(execute, "left_out", None) else 0)
    done, _ = execute.preprocess(notebook, {"metadata": {"path": "."}})
    one, two, three = [cell.outputs[0] for cell in done.cells]
    assert one.text == "1\n" and two.evalue == "it ended the kernel"
    assert three.evalue == "the notebook ran longer than 900 s"


def test_without_students_it_says_what_to_do(tmp_path, capsys):
    assert grading.main([str(tmp_path / "nobody")]) == 1
    assert "nobody/ holds no folder STUDENT with notebooks NN_topic.ipynb" in capsys.readouterr().out


def test_every_graded_cell_begins_with_the_checker_afresh():
    first = "### BEGIN HIDDEN TESTS\nfrom helpers.course.afresh import helpers\n\n"
    for path in notebooks.solutions():
        graded = [cell for cell in notebooks.read(path).cells if cell.metadata.get("nbgrader", {}).get("grade")]
        assert graded and [cell.id for cell in graded if not cell.source.startswith(first)] == []


def test_submissions_are_not_the_repositorys():
    ignored = subprocess.run(["git", "check-ignore", "-q", "grading/submitted/ada/x.ipynb"], cwd=ROOT)
    assert ignored.returncode in (0, 128)  # 128: this copy is no repository
