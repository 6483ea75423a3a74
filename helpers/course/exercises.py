"""Writes notebooks/exercises from notebooks/solutions: `python -m helpers.course.exercises [--check]`.

The solutions are the source. nbgrader's own preprocessors take out what stands between BEGIN SOLUTION and END SOLUTION,
and between BEGIN HIDDEN TESTS and END HIDDEN TESTS, so that a course run with nbgrader hands out the same.
"""

import copy
import sys
from pathlib import Path

from . import ROOT, derived, notebooks


def solutions(root: Path = ROOT) -> list[Path]:
    """The notebooks with solutions. Raises FileNotFoundError if there are none."""
    found = sorted((root / "notebooks" / "solutions").glob("[0-9][0-9]_*.ipynb"))
    if not found:
        raise FileNotFoundError("no solution found: notebooks/solutions holds no NN_topic.ipynb")
    return found


def generate(root: Path = ROOT) -> dict[Path, str]:
    """The text of every exercise notebook, by its path.

    Raises ValueError for a solution that clears nothing, or a marker without its end (nbgrader's RuntimeError).
    """
    folder = root / "notebooks" / "exercises"
    return {folder / path.name: cleared(notebooks.read(path), path.name) for path in solutions(root)}


def cleared(notebook, name: str) -> str:
    """The notebook as it is handed out: stubs instead of solutions, no outputs, the ids kept."""
    from nbgrader.preprocessors import ClearHiddenTests, ClearOutput, ClearSolutions

    before, handed_out = notebook, copy.deepcopy(notebook)
    for preprocessor in (ClearSolutions(), ClearHiddenTests(), ClearOutput()):
        handed_out, _ = preprocessor.preprocess(handed_out, {})
    handed_out.metadata.pop("course", None)
    if [cell.source for cell in handed_out.cells] == [cell.source for cell in before.cells]:
        raise ValueError(f"notebooks/solutions/{name}: nothing stands between BEGIN SOLUTION and END SOLUTION")
    return notebooks.canonical(handed_out)


def stale(texts: dict[Path, str], root: Path = ROOT) -> list[Path]:
    """Exercises whose solutions are gone."""
    return sorted(set((root / "notebooks" / "exercises").glob("*.ipynb")) - set(texts))


def check(root: Path = ROOT) -> list[str]:
    """What differs between the generated exercises and the files; writes nothing."""
    texts = generate(root)
    found = [f"notebooks/exercises/{path.name}: it has no solution" for path in stale(texts, root)]
    changed = [path for path, text in texts.items() if derived.differs(path, text)]
    return found + [f"notebooks/exercises/{path.name}: it differs from its solution" for path in changed]


def update(root: Path = ROOT) -> None:
    """Writes the exercises that differ and removes those whose solutions are gone."""
    texts = generate(root)
    derived.write(texts, stale(texts, root), root)


def main(arguments: list[str]) -> int:
    good = "notebooks/exercises is what the solutions make of it"
    return derived.main(arguments, "helpers.course.exercises", __doc__, check, update, good, "make exercises")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
