"""What `torch.compile` did. PyTorch has no public names for this; those that it takes stand here."""

import contextlib
import io
import logging
import re
import warnings
from collections.abc import Callable

import torch


class NotCompiled(Exception):
    """A function given as compiled ran without compiled code; the message says what was seen."""


def compiled_graphs() -> int:
    """How many graphs `torch.compile` has compiled in this process since the last reset."""
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"]


def require_compiled(prepare: Callable[[], Callable]) -> Callable:
    """Prepares a call, makes it twice, so that it is compiled, and returns it; call `torch.compiler.reset()` before.

    Raises NotCompiled if the first call compiles nothing, or the second compiles again.
    """
    before = compiled_graphs()
    logging.disable(logging.ERROR)  # an autotuner writes pages, here and to stderr
    try:
        with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings(action="ignore"):
            call = prepare()
            call()
    finally:
        logging.disable(logging.NOTSET)
    first = compiled_graphs()
    if first == before:
        raise NotCompiled("torch.compile compiled nothing: it ran eager")
    call()
    if compiled_graphs() != first:
        raise NotCompiled("torch.compile compiled again at the second call")
    return call


def triton_code(function: Callable, *inputs) -> str:
    """The Triton kernels that `torch.compile` writes for a plain PyTorch function; "" if it writes none.

    The text is cut to the kernels: what launches them, and hints about types and sizes, are left out.
    """
    from torch._inductor.utils import run_and_get_code

    torch.compiler.reset()
    _, sources = run_and_get_code(torch.compile(function, dynamic=False), *inputs)
    found = re.findall(r"^@triton\.jit\ndef .*?(?=^''')", "\n".join(sources), re.MULTILINE | re.DOTALL)
    return "\n\n".join(text.rstrip() for text in found)
