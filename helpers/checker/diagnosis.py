"""Names a likely cause for wrong numbers, from a short list, and only where an experiment on them agrees with it."""

from collections.abc import Callable, Iterable

import torch

from ..device import INTERPRETED
from .cases import Case, Placed, geometry, name
from .facts import KINDS, Wrong
from .guards import Breach
from .tolerance import expect

CAUSES = {
    "grid rounded down": "the last, partial block is left out; divide with triton.cdiv, which rounds up.",
    "tail skipped": "the last elements are never computed; compare the grid, the loop and the masks with the size.",
    "mask missing on the store": "lanes past the end store too; pass mask=mask to tl.store.",
    "strides ignored": "{what}; use the strides, or reject tensors that are not contiguous.",
    "narrowed too early": "{what}.",
    "special values": "random numbers come out right, {what} does not.",
    "input overwritten": "the kernel stores into an input; allocate the output with torch.empty_like.",
    "cached answer": "the result of an earlier call is returned again.",
}
UNKNOWN = "Cause unknown."
UNSTEADY = "The same call gives different answers."
WIDEN = "; widen before the arithmetic, narrow at the store"
Found = tuple[str | None, str]  # a cause of the list, or None, and what shows it


def likely(cause: str | None, what: str = "") -> str:
    """The sentence that names a cause from the list, or says, after what there is to say, that it is unknown."""
    return f"{what} {UNKNOWN}".strip() if cause is None else f"Likely cause: {cause}: {CAUSES[cause].format(what=what)}"


def find(row: str, wrong: list[Wrong], right: list[Case], reference: Callable, elementwise: bool, block_size) -> Found:
    """The likely cause of wrong numbers in one row of the report, where the cases in `right` came out right."""
    if row in ("result", "dtypes"):
        found = narrowed(wrong[0], reference, elementwise)
        if found[0] or row == "dtypes":
            return found if found[0] else narrow_arithmetic(wrong[0])
    if row in ("result", "shapes"):
        return tail(wrong, right, block_size)
    return strides(wrong[0], reference, elementwise) if row == "layouts" else special_kind(wrong[0])


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


def explains(reference: Callable, inputs: Iterable, got: torch.Tensor, wrong: Wrong, elementwise: bool) -> bool:
    """Whether the reference, given other inputs, yields what the candidate returned (at least four elements of it)."""
    if got.numel() < 4:
        return False
    try:
        other = expect(reference, list(inputs), elementwise)[wrong.position]
        return not other.wrong(got.view(other.eager.shape)).any()
    except (ValueError, RuntimeError):
        return False


def strides(wrong: Wrong, reference: Callable, elementwise: bool) -> Found:
    """Whether the result is right for inputs read with other strides, or is right itself as it lies in memory."""

    def read(way: int, only: int | None = None):
        """The inputs, all or only one of them read with wrong strides; an error if that leaves their buffers."""
        for k, x in enumerate(wrong.placed):
            if not isinstance(x, Placed) or only not in (None, k):
                yield getattr(x, "plain", x)
                continue
            mine, before = x.tensor.stride(), getattr(wrong.placed[k - 1], "tensor", x.tensor).stride()
            flat, _ = geometry(tuple(x.tensor.shape), "contiguous", 0)
            misread = (flat, [*mine[:-1], 1], [*flat[:-1], mine[-1]], mine[::-1], before)[way]
            yield x.tensor.as_strided(x.tensor.shape, misread).cpu().contiguous()

    if explains(reference, read(0), wrong.memory, wrong, elementwise):
        return "strides ignored", "the result is right for inputs read as flat arrays"
    if explains(reference, wrong.plain, wrong.memory, wrong, elementwise):
        return "strides ignored", "the result is right as a flat array, but its tensor has strides (torch.empty_like)"
    for only in (*range(len(wrong.placed)), None):
        if any(explains(reference, read(way, only), wrong.got, wrong, elementwise) for way in range(5)):
            which = "each input" if only is None else f"input {only}"
            return "strides ignored", f"a stride of {which} is ignored or swapped"
    return None, ""


def narrowed(wrong: Wrong, reference: Callable, elementwise: bool) -> Found:
    """Whether a float32 or float64 result went through a narrower type: its inputs were rounded, or it was itself."""
    many = int(wrong.mask.sum()) >= 8
    if many and wrong.got.dtype == torch.float64 and nearly(wrong, 2**-20) and not nearly(wrong, 2**-28):
        return "narrowed too early", "float64 is right to the 24 bits of float32 only; do not convert it to float32"
    if not many or wrong.got.dtype != torch.float32:
        return None, ""
    for what, narrow in NARROW:
        inputs = [narrow(x) if isinstance(x, torch.Tensor) and x.dtype == torch.float32 else x for x in wrong.plain]
        if explains(reference, inputs, wrong.got, wrong, elementwise):
            return "narrowed too early", f"the result is right for inputs rounded to {what}{WIDEN}"
        if what != "TF32" and torch.equal(narrow(wrong.got), wrong.got) and nearly(wrong, 2**-7):
            return "narrowed too early", f"every result is a {what} number{WIDEN}"
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
    dtype, widen = wrong.case.dtype, "widen with .to(tl.float32) after the load"
    if dtype == torch.bfloat16 and INTERPRETED:
        why = "(Triton's interpreter computes bfloat16 wrongly)"
        return "narrowed too early", f"bfloat16 is computed in 16 bits; {widen} {why}"
    if dtype in (torch.float16, torch.bfloat16) and nearly(wrong, 2**-4):
        return "narrowed too early", f"float32 is right, and {name(dtype)} is off by roundings or overflows; {widen}"
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
