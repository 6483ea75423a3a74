"""What the notebooks of Triton, Cell by Cell share. Import it before triton: it decides where kernels run.

Every name is loaded when it is first used. The decision is taken at once, except by `python -m helpers…`: the doctor
must be able to report a machine on which the rest fails, and what builds the course needs neither torch nor triton.
"""

import importlib
import sys

HOMES = {
    "DEVICE": "device",
    "INTERPRETED": "device",
    "check": "checker",
    "check_answers": "checker.answers",
    "compare": "measure.comparison",
    "compiled": "compiler.compiling",
    "doctor": "machine",
    "recorded": "measure.recording",
    "show_dataflow": "pictures.dataflow",
    "show_fold": "pictures.programs",
    "show_grids": "pictures.programs",
    "show_programs": "pictures.programs",
    "show_roofline": "measure.charts",
    "show_tile": "pictures.programs",
}
__all__ = list(HOMES)


def __getattr__(name: str):
    if name not in HOMES:
        raise AttributeError(f"helpers has no {name!r}; it has {', '.join(HOMES)}")
    return getattr(importlib.import_module(f"helpers.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *HOMES]


def _is_started_as_a_tool() -> bool:
    """Whether Python was started as `python -m helpers…`."""
    module = sys.orig_argv[sys.orig_argv.index("-m") + 1 :][:1] if "-m" in sys.orig_argv else []
    return bool(module) and module[0].partition(".")[0] == "helpers"


if not _is_started_as_a_tool():
    importlib.import_module("helpers.device")
    importlib.import_module("helpers.probe").prove_load_and_store()
