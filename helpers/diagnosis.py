"""Names a likely cause for wrong numbers, from a short list, and only where an experiment on them agrees with it."""

from collections.abc import Callable

import torch

from .cases import Case, Placed, geometry, name
from .device import INTERPRETED
from .facts import KINDS, Wrong
from .guards import Breach
from .tolerance import expect

CAUSES = {
    "grid rounded down": "the last, partial block is left out; divide with triton.cdiv, which rounds up.",
    "tail skipped": "the last elements are never computed; compare the grid, the loop and the masks with the size.",
    "mask missing on the store": "lanes past the end store too; pass mask=mask to tl.store.",
    "strides ignored": "{what}; use the strides, or reject tensors that are not contiguous.",
    "narrowed too early": "{what}; widen before the arithmetic, narrow at the store.",
    "special values": "random numbers come out right, {what} does not.",
    "input overwritten": "the kernel stores into an input; allocate the output with torch.empty_like.",
    "cached answer": "the result of an earlier call is returned again.",
}
UNKNOWN = "Cause unknown."
Found = tuple[str | None, str]  # a cause of the list, or None, and what shows it


def likely(cause: str | None, what: str = "") -> str:
    """The sentence that names a cause from the list, or says that it is unknown."""
    return UNKNOWN if cause is None else f"Likely cause: {cause}: {CAUSES[cause].format(what=what)}"


def find(row: str, wrong: list[Wrong], right: list[Case], reference: Callable, elementwise: bool, block_size) -> Found:
    """The likely cause of wrong numbers in one row of the report, where the cases in `right` came out right."""
    if row == "result":
        found = narrowed(wrong[0], reference, elementwise)
        return found if found[0] else tail(wrong, right, block_size)
    if row == "shapes":
        return tail(wrong, right, block_size)
    if row == "layouts":
        return strides(wrong[0], reference, elementwise)
    return narrow_arithmetic(wrong[0]) if row == "dtypes" else special_kind(wrong[0])


def blocks_to_try(block_size) -> list[int]:
    """The given block size; without one, every power of two that a kernel would use."""
    return [block_size] if isinstance(block_size, int) else [2**k for k in range(18, 3, -1)]


def tail(wrong: list[Wrong], right: list[Case], block_size) -> Found:
    """Among all sizes tried: the elements from some point on were not computed, and that point is a block's start."""
    never = [w for w in wrong if w.mask[w.first :].all() and (w.unwritten[w.mask].all() or not w.got[w.mask].any())]
    if len(never) < len(wrong) or all(w.first == 0 for w in wrong):
        return None, ""
    sizes = [(w.mask.numel(), w.first) for w in wrong]
    fine = [torch.Size(case.shape).numel() for case in right]
    rounded = any(
        all(n % b and k == n // b * b for n, k in sizes) and not any(n % b for n in fine)
        for b in blocks_to_try(block_size)
    )
    return "grid rounded down" if rounded else "tail skipped", ""


def store_mask(breaches: list[Breach], right: bool, block_size) -> str | None:
    """The results are right, and behind each of them the elements up to the end of its last block were overwritten."""
    if not right or not breaches or any(b.where != "an output" or b.first != b.elements for b in breaches):
        return None
    fits = any(all(b.last + 1 == -(-b.elements // n) * n for b in breaches) for n in blocks_to_try(block_size))
    return "mask missing on the store" if fits else None


def explains(reference: Callable, inputs: list, got: torch.Tensor, wrong: Wrong, elementwise: bool) -> bool:
    """Whether the reference, given other inputs, yields what the candidate returned (at least four elements of it)."""
    if got.numel() < 4:
        return False
    try:
        other = expect(reference, inputs, elementwise)[wrong.position]
        return not other.wrong(got.view(other.eager.shape)).any()
    except (ValueError, RuntimeError):
        return False


def strides(wrong: Wrong, reference: Callable, elementwise: bool) -> Found:
    """Whether the result, as it lies in memory, is right for the inputs, or for their memory read front to back."""

    def flat(x):
        if not isinstance(x, Placed):
            return x
        contiguous, _ = geometry(tuple(x.tensor.shape), "contiguous", 0)
        return x.tensor.as_strided(x.tensor.shape, contiguous).cpu().clone()

    if explains(reference, [flat(x) for x in wrong.placed], wrong.memory, wrong, elementwise):
        return "strides ignored", "the result is right for inputs read as flat arrays"
    if explains(reference, wrong.plain, wrong.memory, wrong, elementwise):
        return "strides ignored", "the result is right as a flat array, but its tensor has strides (torch.empty_like)"
    return None, ""


def narrowed(wrong: Wrong, reference: Callable, elementwise: bool) -> Found:
    """Whether a float32 result went through a narrower type: its inputs were rounded, or the result itself was."""
    if wrong.got.dtype != torch.float32 or int(wrong.mask.sum()) < 8:
        return None, ""
    for what, narrow in NARROW:
        inputs = [narrow(x) if isinstance(x, torch.Tensor) and x.dtype == torch.float32 else x for x in wrong.plain]
        if explains(reference, inputs, wrong.got, wrong, elementwise):
            return "narrowed too early", f"the result is right for inputs rounded to {what}"
        if what != "TF32" and torch.equal(narrow(wrong.got), wrong.got) and nearly(wrong, 2**-7):
            return "narrowed too early", f"every result is a {what} number"
    return None, ""


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


def nearly(wrong: Wrong, relative: float) -> bool:
    """Whether nine in ten of the wrong elements are right to a few bits, or overflowed."""
    got, want = wrong.got[wrong.mask].double(), wrong.want[wrong.mask]
    close = ((got - want).abs() <= relative * want.abs()) | (got.isinf() & want.isfinite())
    return bool(close.double().mean() >= 0.9)


def narrow_arithmetic(wrong: Wrong) -> Found:
    """In 16 bits, where float32 came out right at the same shape: arithmetic in the narrow type."""
    dtype = wrong.case.dtype
    if dtype == torch.bfloat16 and INTERPRETED:
        return "narrowed too early", "float32 is right, and the interpreter gets arithmetic on bfloat16 wrong"
    if dtype in (torch.float16, torch.bfloat16) and nearly(wrong, 2**-4):
        return "narrowed too early", f"float32 is right, and {name(dtype)} is off by roundings or overflows"
    return None, ""


def special_kind(wrong: Wrong) -> Found:
    """Which special values the wrong elements have in common; every element of such a case's input is one."""
    kind, _, operand = wrong.case.values.partition(" in input ")
    if kind.startswith("one "):
        return "special values", kind.removeprefix("one ")
    if kind == "special values":
        x = wrong.plain[int(operand)].flatten()[wrong.mask]
        kinds = [what for what, test in KINDS.items() if test(x).any()]
        return ("special values", " or ".join(kinds)) if len(kinds) < len(KINDS) else (None, "")
    if kind == "within ±1000" and not wrong.got[wrong.mask].isfinite().any():
        return "special values", "an exponential or a power of a large number"
    return None, ""
