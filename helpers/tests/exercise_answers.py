"""Runs answers of students, right and wrong, in the real exercises. The answers stand in `exercise_answers_…py`.

`python -c "from helpers.tests.exercise_answers import show; show('02')"` prints what is said of each in one notebook.
"""

from helpers.course import exercises, notebooks

import contextlib
import io
import json
import os
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

BETWEEN = re.compile(r"(?<=### BEGIN SOLUTION\n).*?(?=    ### END SOLUTION)", re.DOTALL)


@dataclass(frozen=True)
class Exercise:
    """Answers to one exercise, each made from its solution by `changes`: pairs of what stands there and what shall.

    A number instead of a text is what stands between the markers: of the kernel 1, or of the launcher below it 2.
    A wrong answer begins with part of what the student must be told, in one line.
    """

    notebook: str
    cell: str
    wrong: dict[str, tuple] = field(default_factory=dict)
    right: dict[str, tuple] = field(default_factory=dict)

    @property
    def answers(self) -> dict[str, tuple]:
        """All of them, by name, as changes."""
        return {**{name: changes for name, (_, *changes) in self.wrong.items()}, **self.right}


def changed(solution: str, changes: tuple) -> str:
    """A solution with every change made. Raises ValueError if what shall be changed does not stand in it."""
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        if isinstance(old, int):
            old, new = BETWEEN.findall(solution)[old - 1], textwrap.indent(textwrap.dedent(new).strip(), "    ") + "\n"
        if old not in solution:
            raise ValueError(f"{old!r} does not stand in the solution")
        solution = solution.replace(old, new)
    return solution


def told(notebook: str, tried: list[Exercise]) -> Iterator[tuple[str, str, str]]:
    """For each answer to one notebook's exercises: the exercise's cell, the answer's name, and what its check prints.

    The cells run as they are handed out, in one process, with the answer in the place of the student's cell.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    solutions = {cell.id: cell for path in exercises.solutions() if path.stem == notebook
                 for cell in notebooks.read(path).cells}  # fmt: skip
    handed_out = {path.stem: notebooks.parse(text) for path, text in exercises.generate().items()}[notebook]
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    shell.run_cell(f"%cd -q {exercises.ROOT / 'notebooks' / 'exercises'}")
    student = None
    for cell in handed_out.cells:
        graded = cell.metadata.get("nbgrader", {})
        if graded.get("solution"):
            student = cell.id
        elif graded.get("grade"):
            for exercise in (one for one in tried if one.cell == student):
                for name, changes in exercise.answers.items():
                    answer = changed(solutions[student].source, changes)
                    yield student, name, printed(shell, answer, cell.source)
        elif cell.cell_type == "code":
            printed(shell, cell.source)


def printed(shell, *sources: str) -> str:
    """What the cells print, one after another, and the error that one of them ends with."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        for source in sources:
            done = shell.run_cell(source)
            if not done.success:
                out.write(f"\nended with {done.error_before_exec or done.error_in_exec!r}")
    return out.getvalue()
