"""Makes notebooks/exercises from notebooks/solutions; `make derived` writes them.

The solutions are the source. nbgrader's own preprocessors take out what stands between BEGIN SOLUTION and END SOLUTION,
and between BEGIN HIDDEN TESTS and END HIDDEN TESTS, so that a course run with nbgrader hands out the same.
"""

import copy
from pathlib import Path

from . import ROOT, notebooks


def generate(root: Path = ROOT) -> dict[Path, str]:
    """The text of every exercise notebook, by its path.

    Raises ValueError for a solution that clears nothing, or a marker without its end (nbgrader's RuntimeError).
    """
    folder = root / "notebooks" / "exercises"
    return {folder / path.name: cleared(notebooks.read(path), path.name) for path in notebooks.solutions(root)}


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
