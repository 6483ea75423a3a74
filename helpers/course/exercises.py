"""Makes notebooks/exercises from notebooks/solutions; `make derived` writes them.

The solutions are the source. nbgrader's own preprocessors take out what stands between BEGIN SOLUTION and END SOLUTION,
and between BEGIN HIDDEN TESTS and END HIDDEN TESTS, so that a course run with nbgrader hands out the same.
"""

from pathlib import Path

from . import ROOT, notebooks


def generate(root: Path = ROOT) -> dict[Path, str]:
    """The text of every exercise notebook, by its path. Raises RuntimeError for a marker without its end."""
    folder = root / "notebooks" / "exercises"
    return {folder / path.name: cleared(notebooks.read(path)) for path in notebooks.solutions(root)}


def cleared(notebook) -> str:
    """The notebook as it is handed out: stubs instead of solutions, no outputs, the ids kept."""
    from nbgrader.preprocessors import ClearHiddenTests, ClearOutput, ClearSolutions

    for preprocessor in (ClearSolutions(), ClearHiddenTests(), ClearOutput()):
        notebook, _ = preprocessor.preprocess(notebook, {})
    notebook.metadata.pop("course", None)
    return notebooks.canonical(notebook)
