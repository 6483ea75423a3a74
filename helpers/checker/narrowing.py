"""Experiments on wrong numbers: did they go through a type that is too narrow?"""

from collections.abc import Callable

import torch

from ..device import INTERPRETED
from .cases import name
from .experiments import explains
from .facts import Wrong
from .tolerance import evaluate


def cut(x: torch.Tensor, bits: int, half: int = 0) -> torch.Tensor:
    """float32 values without their last bits; with `half` of the last kept bit added first, rounded to nearest."""
    return ((x.contiguous().view(torch.int32) + half) & -(2**bits)).view(torch.float32)


NARROW = (
    ("bfloat16", lambda x: x.to(torch.bfloat16).to(torch.float32)),
    ("bfloat16", lambda x: cut(x, 16)),  # as the interpreter converts
    ("float16", lambda x: x.to(torch.float16).to(torch.float32)),
    ("TF32", lambda x: cut(x, 13, 2**12)),
    ("TF32", lambda x: cut(x, 13)),  # as a tensor core reads float32
)


def narrowed(wrong: Wrong, reference: Callable, elementwise: bool) -> tuple[str, str] | None:
    """Whether a float32 or float64 result went through a narrower type: its inputs were rounded, or it was itself."""
    many = int(wrong.mask.sum()) >= 8
    if many and wrong.got.dtype == torch.float64 and nearly(wrong, 2**-20) and not nearly(wrong, 2**-28):
        return "narrowed too early", "float64 is right to the 24 bits of float32 only; do not convert it to float32"
    if not many or wrong.got.dtype != torch.float32:
        return None
    for what, narrow in NARROW:
        inputs = [narrow(x) if isinstance(x, torch.Tensor) and x.dtype == torch.float32 else x for x in wrong.plain]
        if explains(reference, inputs, wrong.got, wrong, elementwise):
            return ("TF32" if what == "TF32" else "narrowed too early"), f"right for inputs rounded to {what}"
        if what != "TF32" and torch.equal(narrow(wrong.got), wrong.got) and nearly(wrong, 2**-7):
            return "narrowed too early", f"every result is a {what} number"
    if looks_rounded(wrong):
        return "narrowed too early", "the errors are those of rounding to a 16-bit number on the way"
    return None


def looks_rounded(wrong: Wrong) -> bool:
    """Whether errors are as large as a rounding to 16 bits, and up as often as down, unlike those of a wrong factor."""
    got, want = wrong.got[wrong.mask].double(), wrong.want[wrong.mask]
    errors = ((got - want) / want)[got.isfinite() & (want != 0)]
    if len(errors) < 64 or not 2**-15 < float(errors.abs().median()) < 2**-7:
        return False
    return 0.3 < float((errors > 0).double().mean()) < 0.7


def nearly(wrong: Wrong, relative: float) -> bool:
    """Whether nine in ten of the wrong elements are right to a few bits, or overflowed."""
    got, want = wrong.got[wrong.mask].double(), wrong.want[wrong.mask]
    close = ((got - want).abs() <= relative * want.abs()) | (got.isinf() & want.isfinite())
    return bool(close.double().mean() >= 0.9)


def narrow_arithmetic(wrong: Wrong) -> tuple[str, str] | None:
    """In 16 bits, where float32 came out right at the same shape: arithmetic in the narrow type."""
    dtype = wrong.case.dtype
    if dtype == torch.bfloat16 and INTERPRETED:
        return "narrowed too early", "bfloat16 is computed in 16 bits (Triton's interpreter computes it wrongly)"
    if dtype in (torch.float16, torch.bfloat16) and nearly(wrong, 2**-4):
        return "narrowed too early", f"float32 is right, and {name(dtype)} is off by roundings or overflows"
    return None


def narrowed_integers(wrong: Wrong, reference: Callable) -> str | None:
    """The type through which integers were computed: the reference gives these numbers there, and not in its own."""
    for narrow in (torch.float32, torch.float16, torch.int16, torch.int8, torch.int32):
        inputs = [x.to(narrow) if isinstance(x, torch.Tensor) else x for x in wrong.plain]
        try:
            result = evaluate(reference, inputs)[wrong.position].flatten().cpu()
        except (ValueError, RuntimeError):
            continue
        held = result.double().abs() < 2.0 ** (8 * wrong.got.element_size() - 1)  # beyond, machines convert differently
        found = result[held].to(wrong.got.dtype)
        if len(found) > 3 and torch.equal(found, wrong.got[held]) and wrong.mask[held].any():
            return name(narrow)
    return None
