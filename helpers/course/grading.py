"""Grades what students handed in, each notebook by itself: `python -m helpers.course.grading [folder]`.

The folder holds one folder a student, with notebooks that have the solutions' names, however deep. Beside it are
written marks.csv and feedback/. nbgrader does the work; where it would stop for all, or give one nothing, this goes on.
"""

import argparse
import csv
import io
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_output
from nbgrader import preprocessors
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from traitlets import List
from traitlets.config import Config

from . import ROOT, execute, notebooks
from .files import write

NOTEBOOK = 900  # seconds that a notebook may take with its repetitions; then the rest of it is left out
LEFT_OUT = "LeftOut"  # the error that stands below a cell which did not run to its end
STUDENT = "student"  # what nbgrader calls everybody; names of folders may hold anything
COLUMNS = ("student", "notebook", "points", "of", "missed", "note")


class Deduplicate(preprocessors.DeduplicateIds):
    """Of a graded cell and its copies the last counts. nbgrader leaves {} on the others, and then rejects it."""

    def preprocess_cell(self, cell, resources, cell_index):
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if not cell.metadata.get("nbgrader", True):
            del cell.metadata["nbgrader"]
        return cell, resources


class Execute(preprocessors.Execute):
    """Runs a notebook to its end: if a cell ends the kernel or takes too long, once more from the top without it."""

    def preprocess(self, nb, resources, **options):
        self.left_out, self.until = {}, monotonic() + NOTEBOOK
        while True:
            try:
                return super().preprocess(nb, resources, **options)
            except DeadKernelError:
                self.left_out[self.running] = "it ended the kernel"
            except CellTimeoutError:
                self.left_out[self.running] = f"it ran longer than {self.timeout} s"

    def preprocess_cell(self, cell, resources, index):
        self.running = index
        why = self.left_out.get(index)
        if not why and monotonic() > self.until:
            if cell.get("execution_count"):
                return cell, resources  # what it printed the last time counts
            why = f"the notebook ran longer than {NOTEBOOK} s"
        if not why or cell.cell_type != "code":
            return super().preprocess_cell(cell, resources, index)
        cell.outputs = [new_output("error", ename=LEFT_OUT, evalue=why, traceback=[f"Left out: {why}."])]
        return cell, resources

    def create_kernel_manager(self):
        manager = super().create_kernel_manager()
        manager.kernel_spec.argv[:] = execute.KERNEL
        return manager

    def setup_kernel(self, **options):
        return super().setup_kernel(env=execute.kernel_environment(), **options)


class Grade(Autograde):
    """nbgrader's, with the two above, and with graded cells that a student deleted put back."""

    sanitize_preprocessors = List(
        [preprocessors.ClearOutput, Deduplicate, preprocessors.OverwriteKernelspec, preprocessors.OverwriteCells]
    )
    autograde_preprocessors = List([Execute, preprocessors.LimitOutput, preprocessors.SaveAutoGrades])


def _start(converter, folder: Path, gradebook: Path, topic: str, seconds: int = 0) -> None:
    """Runs one of nbgrader's steps over the only submission, or the only source, in a folder."""
    settings = Config()
    settings.CourseDirectory.update(root=str(folder), db_url=f"sqlite:///{gradebook}", assignment_id=topic)
    settings.OverwriteCells.add_missing_cells = True
    settings.Execute.update(timeout=seconds, interrupt_on_timeout=False)  # a loop may survive an interrupt
    settings.Execute.extra_arguments = ["--log-level=CRITICAL"]
    converter(coursedir=CourseDirectory(config=settings), config=settings).start()


def prepare(folder: Path) -> Path:
    """Makes an assignment of each solution; returns the gradebook that knows them, and no student."""
    gradebook = folder / "gradebook.db"
    for path in notebooks.solutions():
        source = folder / "source" / path.stem
        source.mkdir(parents=True)
        shutil.copy(path, source)
        _start(GenerateAssignment, folder, gradebook, path.stem)
    return gradebook


def grade(path: Path, assignments: Path, feedback: Path, seconds: int) -> dict:
    """Grades one notebook and writes its page of feedback; returns `COLUMNS` from "points" on.

    It runs in a folder that holds nothing else; the gradebook, a copy of `assignments`, lies elsewhere.
    Raises ValueError if it is no notebook, or no solution has its name, and what nbgrader raises for one it rejects.
    """
    if path.name not in (names := [solution.name for solution in notebooks.solutions()]):
        raise ValueError(f"it must have the name of an exercise: {', '.join(names)}")
    notebooks.read(path)
    topic = path.stem
    with tempfile.TemporaryDirectory() as sandbox, tempfile.TemporaryDirectory() as private:
        folder, gradebook = Path(sandbox), Path(shutil.copy(assignments, private))
        write(folder / "submitted" / STUDENT / topic / path.name, path.read_bytes())
        _start(Grade, folder, gradebook, topic, seconds)
        _start(GenerateFeedback, folder, gradebook, topic)
        write(feedback, (folder / "feedback" / STUDENT / topic / f"{topic}.html").read_bytes())
        note = "; ".join(_left_out(notebooks.read(folder / "autograded" / STUDENT / topic / path.name)))
        with Gradebook(f"sqlite:///{gradebook}") as book:
            found = book.find_submission_notebook(topic, topic, STUDENT)
            missed = " ".join(grade.name for grade in found.grades if grade.score < grade.max_score)
            return {"points": f"{found.score:g}", "of": f"{found.max_score:g}", "missed": missed, "note": note}


def _left_out(notebook) -> list[str]:
    """What stands below the cells that were left out, with their names."""
    cells = notebooks.code_cells(notebook)
    errors = [(cell, out.evalue) for cell in cells for out in cell.outputs if out.get("ename") == LEFT_OUT]
    return [f"{cell.metadata.get('nbgrader', {}).get('grade_id', cell.id)} was left out: {why}" for cell, why in errors]


def handed_in(folder: Path) -> Iterator[tuple[str, Path | None]]:
    """Each student's name with each of their notebooks, or with None. Raises FileNotFoundError without a student."""
    students = sorted(path for path in folder.glob("*/") if not path.name.startswith("."))
    if not students:
        raise FileNotFoundError(f"{folder}/ holds no folder STUDENT with notebooks NN_topic.ipynb")
    for student in students:
        found = [path for path in sorted(student.rglob("*.ipynb")) if ".ipynb_checkpoints" not in path.parts]
        yield from ((student.name, path) for path in found or [None])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.course.grading", description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "grading" / "submitted")
    parser.add_argument("--seconds", type=int, default=120, help="what a cell may take (120)")
    chosen = parser.parse_args(arguments)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # nbgrader's alembic
    warnings.filterwarnings("ignore", module="nbgrader")
    rows = []
    try:
        found = list(handed_in(chosen.folder))
        with tempfile.TemporaryDirectory() as private:
            assignments = prepare(Path(private))
            for student, path in found:
                rows.append({"student": student, **_row(path, chosen.folder, student, assignments, chosen.seconds)})
                print(_line(rows[-1]), flush=True)
    except FileNotFoundError as error:
        print(error)
        return 1
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    write(chosen.folder.parent / "marks.csv", text.getvalue())
    return int(any(not row["points"] for row in rows))


def _row(path: Path | None, folder: Path, student: str, assignments: Path, seconds: int) -> dict:
    """A row of marks.csv without its first column; "points" is empty where the notebook could not be graded."""
    shown = path.relative_to(folder / student) if path else Path("-")
    feedback = folder.parent / "feedback" / student / shown.with_suffix(".html")
    try:
        if path is None:
            raise ValueError("there is no notebook")
        found = grade(path, assignments, feedback, seconds)
    except Exception as error:  # whatever is wrong with this one, the others are graded
        found = {"points": "", "of": "", "missed": "", "note": f"not graded: {error}"}
    return {"notebook": shown.as_posix(), **found}


def _line(row: dict) -> str:
    marks = f"{row['points']} of {row['of']}" if row["points"] else ""
    missed = f"missed: {row['missed']}" if row["missed"] else ""
    return f"{row['student']} {row['notebook']}: " + "; ".join(filter(None, [marks, missed, row["note"]]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
