"""What a check changes in torch while it runs, and puts back; with the private names that it takes."""

import contextlib
import sys
import warnings
from collections.abc import Callable

import numpy as np
import torch

from ..device import INTERPRETED


@contextlib.contextmanager
def poisoned():
    """Makes every `torch.empty` hold NaN (the largest value in an integer dtype), inside custom operators too."""
    before, filled = torch.get_deterministic_debug_mode(), torch.utils.deterministic.fill_uninitialized_memory
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*deterministic.*")
        torch.set_deterministic_debug_mode("warn")  # use_deterministic_algorithms would import torch.compile: 1.5 s
        torch.utils.deterministic.fill_uninitialized_memory = True
        try:
            yield
        finally:
            torch.set_deterministic_debug_mode(before)
            torch.utils.deterministic.fill_uninitialized_memory = filled


@contextlib.contextmanager
def nan_as_on_a_gpu():
    """Interpreted, lets `tl.maximum`, `tl.minimum` and `tl.clamp` drop nan, as compiled: before 3.8 they keep it.

    The interpreter's names are private. Where a release has moved them nothing happens, and a test of ours says so.
    """
    changed = {}
    if INTERPRETED:
        from triton.runtime.interpreter import interpreter_builder as builder

        changed = {
            "create_maxnumf": lambda a, b: builder.binary_op(a, b, np.fmax),
            "create_minnumf": lambda a, b: builder.binary_op(a, b, np.fmin),
            "create_clampf": lambda x, low, high, nan: builder.ternary_op(x, low, high, _clip(nan)),
        }
        changed = {name: function for name, function in changed.items() if hasattr(builder, name)}
        vars(builder).update(changed)
    try:
        yield
    finally:
        for name in changed:
            delattr(builder, name)


def _clip(propagate_nan) -> Callable:
    """How `tl.clamp` clips, given what it does with nan."""
    keeps = str(propagate_nan).endswith("ALL")
    return np.clip if keeps else lambda x, low, high: np.fmin(np.fmax(x, low), high)


@contextlib.contextmanager
def one_thread(wanted: bool):
    """Keeps torch to one CPU thread: it is faster for small tensors. A compiled candidate would be compiled anew."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if wanted else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def compiled_for_every_case():
    """Lets a compiled function meet all our shapes compiled, not only eight; that limit's private name may move."""
    config = getattr(sys.modules.get("torch._dynamo"), "config", None)
    return config.patch(recompile_limit=256) if hasattr(config, "recompile_limit") else contextlib.nullcontext()
