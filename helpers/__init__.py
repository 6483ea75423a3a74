"""What the notebooks of Triton, Cell by Cell share. Import it before triton: it decides where kernels run."""

import sys

__all__ = [
    "DEVICE",
    "INTERPRETED",
    "check",
    "check_answers",
    "compare",
    "compiled",
    "doctor",
    "recorded",
    "show_dataflow",
    "show_grids",
    "show_programs",
    "show_roofline",
]

# `python -m helpers…` must be able to report a machine on which the rest fails, and the tools that build the
# course need neither torch nor triton: while Python looks for such a module, sys.argv[0] is "-m".
if sys.argv[:1] != ["-m"]:
    from .device import DEVICE, INTERPRETED
    from .probe import prove_load_and_store

    prove_load_and_store()

    from .charts import show_roofline
    from .checker import check
    from .checker.answers import check_answers
    from .comparison import compare
    from .compiler import compiled
    from .doctor import doctor
    from .plotting import show_dataflow, show_grids, show_programs
    from .records import recorded
