"""Runs answers of students, right and wrong, in the real exercises, and prints what each is told.

The answers stand in `exercise_answers_….py`: by the id of the student's cell, the wrong ones and the right ones. One is
the solution with changes: pairs of what stands there and what shall; 1 (or 2) is what stands between its first (second)
markers. A wrong one begins with part of what the student must be told.

`python -c "from helpers.tests.exercise_answers import main; main('02_vector_add')"` tries all of one notebook's.
"""

from helpers.course import ROOT, exercises, notebooks
from helpers.tests import (
    exercise_answers_01_to_03,
    exercise_answers_04_to_06,
    exercise_answers_07,
    exercise_answers_08,
)

import contextlib
import io
import json
import re
import textwrap
from collections.abc import Iterator

PARTS = (exercise_answers_01_to_03, exercise_answers_04_to_06, exercise_answers_07, exercise_answers_08)
ANSWERS = {cell: answers for part in PARTS for cell, answers in part.ANSWERS.items()}
BETWEEN = re.compile(r"(?<=### BEGIN SOLUTION\n).*?(?=    ### END SOLUTION)", re.DOTALL)


def answers(cell: str, part: bool = False) -> dict[str, tuple]:
    """The changes of each answer to one exercise, by name; of a `part`, two wrong ones and a right one of a kernel."""
    wrong, right = ANSWERS[cell]
    wrong = {name: changes for name, (_, *changes) in wrong.items()}
    most = (2, 1) if part and cell.endswith("-kernel") else (None, None)
    return dict([*[*wrong.items()][: most[0]], *[*right.items()][: most[1]]])


def changed(solution: str, changes: tuple) -> str:
    """A solution with every change made. Raises ValueError for one that does not apply."""
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        if isinstance(old, int):
            old, new = BETWEEN.findall(solution)[old - 1], textwrap.indent(textwrap.dedent(new).strip(), "    ") + "\n"
        if old not in solution:
            raise ValueError(f"{old!r} does not stand in the solution")
        solution = solution.replace(old, new)
    return solution


def told(notebook: str, part: bool = False) -> Iterator[tuple[str, str, str]]:
    """For each answer to a notebook's exercises: the student's cell, the answer's name, and what the check prints.

    The cells run as they are handed out, in one process, with the answer in the place of the student's cell.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    path = ROOT / "notebooks" / "solutions" / f"{notebook}.ipynb"
    solutions = {cell.id: cell.source for cell in notebooks.read(path).cells}
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    for cell in notebooks.parse(exercises.cleared(notebooks.read(path))).cells:
        graded = cell.metadata.get("nbgrader", {})
        if graded.get("solution"):
            student = cell.id
        elif graded.get("grade"):
            for name, changes in answers(student, part).items():
                yield student, name, printed(shell, changed(solutions[student], changes), cell.source)
        elif cell.cell_type == "code":
            shell.run_cell(cell.source).raise_error()


def printed(shell, *sources: str) -> str:
    """What some cells print, in one line, and the errors that they end with."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        done = [shell.run_cell(source) for source in sources]
    errors = [f"ended with {one.error_before_exec or one.error_in_exec!r}" for one in done if not one.success]
    return " ".join([*out.getvalue().split(), *errors])


def main(notebook: str, part: bool = False) -> None:
    """Prints a line of JSON for each answer: the student's cell, the answer's name, and what the check prints."""
    for answer in told(notebook, part):
        print(json.dumps(answer), flush=True)
