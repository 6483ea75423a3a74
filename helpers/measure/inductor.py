"""What `torch.compile` did. PyTorch has no public names for this, so the private ones stand here and nowhere else."""

import contextlib
import io
import logging
import re
import warnings
from collections.abc import Callable

import torch


class NotCompiled(Exception):
    """A function given as compiled ran without compiled code; the message says what was seen."""


def is_compiled(function: Callable) -> bool:
    """Whether `function` is what `torch.compile` returned."""
    return hasattr(function, "_torchdynamo_orig_callable") or type(function).__name__ == "OptimizedModule"


def graphs() -> int:
    """How many graphs `torch.compile` has compiled in this process since the last reset."""
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"]


@contextlib.contextmanager
def quiet():
    """Keeps what is logged, warned about or written to stderr meanwhile to itself: an autotuner writes pages."""
    logging.disable(logging.ERROR)
    try:
        with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(logging.NOTSET)


def require_compiled(function: Callable, inputs: tuple) -> None:
    """Calls `function` twice, so that it is compiled for these inputs; call `torch.compiler.reset()` before.

    Raises NotCompiled if the first call compiles nothing, or the second compiles again.
    """
    before = graphs()
    with quiet():
        function(*inputs)
    first = graphs()
    if first == before:
        raise NotCompiled("torch.compile compiled nothing: it ran eager")
    function(*inputs)
    if graphs() != first:
        raise NotCompiled("torch.compile compiled again at the second call")


def triton_code(function: Callable, *inputs) -> str:
    """The Triton kernels that `torch.compile` writes for a plain PyTorch function; "" if it writes none.

    The text is cut to the kernels: what launches them, and hints about types and sizes, are left out.
    """
    from torch._inductor.utils import run_and_get_code

    torch.compiler.reset()
    _, sources = run_and_get_code(torch.compile(function, dynamic=False), *inputs)
    found = re.findall(r"^@triton\.jit\ndef .*?(?=^''')", "\n".join(sources), re.MULTILINE | re.DOTALL)
    return "\n\n".join(text.rstrip() for text in found)
