"""Watches a kernel being launched, and says what the compiler makes of it."""

import inspect
import re

import torch

from ..compiler.compiling import compiled
from ..device import INTERPRETED

TYPES = {torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.bool: "i1",
         torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8"}  # fmt: skip


class Launches:
    """A context in which the launches of one kernel (None: of none) are counted and the first one's arguments kept."""

    def __init__(self, kernel):
        while kernel is not None and not hasattr(kernel, "add_pre_run_hook"):
            kernel = kernel.fn  # an autotuner, or heuristics, around the kernel
        self.kernel, self.count, self.first = kernel, 0, None

    def __enter__(self):
        if self.kernel is not None:
            self.kernel.add_pre_run_hook(self.saw)
        return self

    def __exit__(self, *error):
        if self.kernel is not None:
            self.kernel.pre_run_hooks.remove(self.saw)

    def saw(self, *args, **kwargs) -> None:
        self.count += 1
        self.first = self.first or (args, kwargs)

    def masks(self) -> str:
        """Such as "2 of 2 loads and 1 of 1 stores masked", from the compiler's text.

        Raises CompilationError if the compiler rejects the kernel.
        """
        text = self.ttgir()
        loads = re.findall(r"tt\.load %[\w#]+(,?)|ttg\.async_copy_global_to_local [^:\n]*?( mask|:)", text)
        masked = sum(comma == "," or word == " mask" for comma, word in loads)
        stores = re.findall(r"tt\.store %[\w#]+, %[\w#]+(,?)", text)
        return f"{masked} of {len(loads)} loads and {stores.count(',')} of {len(stores)} stores masked"

    def ttgir(self) -> str:
        """The kernel as compiled for its first launch: for this GPU, or for sm_90 where kernels are interpreted."""
        args, kwargs = self.first
        if not INTERPRETED:
            return self.kernel.warmup(*args, grid=(1,), **kwargs).asm["ttgir"]
        signature = inspect.signature(self.kernel.fn)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values, parameters = bound.arguments, signature.parameters
        fixed = {n: v for n, v in values.items() if v is None or "constexpr" in str(parameters[n].annotation)}
        return compiled(self.kernel, {n: kind(v) for n, v in values.items() if n not in fixed}, fixed).ttgir


def kind(value) -> str:
    """The Triton type of a launch's argument, such as "*fp32" or "i32"."""
    if isinstance(value, torch.Tensor):
        return "*" + TYPES[value.dtype]
    if isinstance(value, bool):
        return "i1"
    return "fp32" if isinstance(value, float) else "i32" if -(2**31) <= value < 2**31 else "i64"
