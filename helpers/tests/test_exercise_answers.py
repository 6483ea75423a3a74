"""Plausible wrong answers to the exercises fail and say why; right ones in other styles pass.

Of the kernels a part is tried; `CHECKER_SLOW=1` tries all, which takes three minutes more.
"""

from helpers.course import notebooks
from helpers.tests import children
from helpers.tests.exercise_answers import ANSWERS, answers, changed

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("nbgrader")

PART = os.environ.get("CHECKER_SLOW") != "1"
TRIED = [(cell, name) for cell in ANSWERS for name in answers(cell, PART)]


@pytest.fixture(scope="module")
def told():
    """What every answer is told, by its exercise and name. The notebooks run without a GPU, two at a time."""
    code = f"import sys; from helpers.tests.exercise_answers import main; main(sys.argv[1], {PART})"
    names = [path.stem for path in notebooks.solutions()]
    with ThreadPoolExecutor(2) as pool:
        ran = list(pool.map(lambda name: children.python("-c", code, name), reversed(names)))
    assert not any(done.returncode for done in ran), [done.stderr[-2000:] for done in ran if done.returncode]
    lines = [json.loads(line) for done in ran for line in done.stdout.splitlines() if line.startswith('["')]
    return {(cell, name): text for cell, name, text in lines}


def test_every_exercise_has_five_wrong_answers_and_three_right_ones():
    graded = [notebooks.read(path).cells for path in notebooks.solutions()]
    students = [cell.id for cells in graded for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")]
    assert list(ANSWERS) == students
    assert [cell for cell, (wrong, right) in ANSWERS.items() if len(wrong) < 5 or len(right) < 3] == []


@pytest.mark.parametrize(("cell", "name"), [key for key in TRIED if key[1] in ANSWERS[key[0]][0]])
def test_a_wrong_answer_fails_and_the_student_is_told_why(told, cell, name):
    said = told[cell, name]
    assert ": failed" in said or "not attempted" in said, said
    assert ANSWERS[cell][0][name][0] in said


@pytest.mark.parametrize(("cell", "name"), [key for key in TRIED if key[1] in ANSWERS[key[0]][1]])
def test_a_right_answer_passes(told, cell, name):
    said = told[cell, name]
    assert ": passed" in said and ": failed" not in said and "ended with" not in said


def test_a_change_that_does_not_apply_is_an_error():
    with pytest.raises(ValueError, match="'y' does not stand in the solution"):
        changed("x = 1", ("y", "z"))
