"""Experiments on wrong numbers: what would make them right? Each says what it found, or nothing."""

from collections.abc import Callable, Iterable

import torch

from .cases import AS_GIVEN, Case
from .facts import KINDS, Wrong
from .placing import Placed, geometry
from .tolerance import evaluate, expect


def explains(reference: Callable, inputs: Iterable, got: torch.Tensor, wrong: Wrong, elementwise: bool) -> bool:
    """Whether the reference, given other inputs, yields what the candidate returned (at least four elements of it)."""
    if got.numel() < 4:
        return False
    try:
        other = expect(reference, list(inputs), elementwise)[wrong.position]
        return not other.wrong(got.view(other.eager.shape)).any()
    except (ValueError, RuntimeError):
        return False


def written_box(wrong: Wrong, shape: tuple[int, ...] | None = None) -> tuple[int, ...] | None:
    """The sizes of the corner of the result that is right, if all the rest was never computed; else None.

    Not computed is what still holds the poison, or nothing but zeros.
    """
    rest, shape = wrong.mask, wrong.shape if shape is None else shape
    if not wrong.unwritten[rest].all() and wrong.got[rest].any():
        return None
    kept = ~rest.view(shape)
    box = tuple(int(kept.movedim(axis, 0).reshape(n, -1).any(1).sum()) for axis, n in enumerate(shape))
    filled = torch.zeros(shape, dtype=torch.bool)
    filled[tuple(slice(size) for size in box)] = True
    if torch.equal(filled, kept):
        return box
    return (int((~rest).sum()),) if len(shape) > 1 and rest[wrong.first :].all() else None


def swapped_with(wrong: Wrong) -> int | None:
    """The number of another result that this one would be right as, if that one is wrong itself; else None."""
    k = wrong.position
    for other, expected in enumerate(wrong.expected):
        if other == k or expected.eager.shape != wrong.shape or wrong.results[k].dtype != expected.eager.dtype:
            continue
        if not expected.wrong(wrong.results[k]).any() and wrong.expected[other].wrong(wrong.results[other]).any():
            return other
    return None


def shifted_by(wrong: Wrong) -> int | None:
    """By how many elements (1 or -1) every result lies too far, or None."""
    got, want = wrong.got.double(), wrong.want.double()
    for shift in (1, -1) if len(got) >= 8 else ():
        moved, right = (got[1:], want[:-1]) if shift == 1 else (got[:-1], want[1:])
        if torch.allclose(moved, right, rtol=1e-2, atol=1e-6, equal_nan=True):
            return shift
    return None


def other_strides(wrong: Wrong, reference: Callable, elementwise: bool) -> str | None:
    """With which other strides of the inputs the result would be right, or whether it lies in memory wrongly."""
    given = wrong.case.layout == AS_GIVEN

    def read(way: int, only: int | None = None):
        """The inputs, all or only one of them read with wrong strides; an error if that leaves their buffers."""
        for k, x in enumerate(wrong.placed):
            if not isinstance(x, Placed) or only not in (None, k):
                yield x.plain if isinstance(x, Placed) else x
                continue
            mine, before = x.tensor.stride(), getattr(wrong.placed[k - 1], "tensor", x.tensor).stride()
            flat, _ = geometry(x.plain, Case((), x.plain.dtype), 0)
            columns = [*flat[:-2], 1, x.plain.shape[-2]] if x.plain.dim() > 1 else flat
            misread = (flat, [*mine[:-1], 1], [*flat[:-1], mine[-1]], mine[::-1], before, columns)[way]
            found = x.tensor.as_strided(x.tensor.shape, misread).cpu().contiguous()
            if given and found.isnan().any() and not x.plain.isnan().any():
                raise ValueError("numbers from outside the tensor: nan agrees with any nan")
            yield found

    if not given and explains(reference, read(0), wrong.memory, wrong, elementwise):
        return "the result is right for inputs read as flat arrays"
    if not given and explains(reference, wrong.plain, wrong.memory, wrong, elementwise):
        return "the result is right as a flat array, but its tensor has strides (torch.empty_like)"
    for only in (*range(len(wrong.placed)), *([None] if not given else [])):
        if any(explains(reference, read(way, only), wrong.got, wrong, elementwise) for way in range(6)):
            which = "each input" if only is None else f"input {only}"
            return f"{which} read transposed" if given else f"a stride of {which} is ignored or swapped"
    return None


def cut_short(wrong: Wrong, reference: Callable) -> str | None:
    """The length to which the reduced dimension must be cut for the result to be right, such as "64 of 70"."""
    tensors = [x for x in wrong.plain if isinstance(x, torch.Tensor) and x.dim()]
    length = tensors[0].shape[-1] if tensors else 0
    for block in (2**k for k in range(10, 2, -1)):
        kept = length // block * block
        if not 0 < kept < length:
            continue
        ends = [x[..., :kept] if x is tensors[0] else x for x in tensors]
        if len(tensors) > 1 and tensors[1].shape[0] == length:
            ends[1] = tensors[1][:kept]
        inputs = iter(ends)
        inputs = [next(inputs).contiguous() if isinstance(x, torch.Tensor) and x.dim() else x for x in wrong.plain]
        if explains(reference, inputs, wrong.got, wrong, False):
            return f"{kept} of {length}"
    return None


def right_where_whole(case: Case, trial) -> bool:
    """Whether the same values come out right where every dimension is a power of two."""
    whole = case.but(shape=tuple(1 << (n - 1).bit_length() if n > 1 else n for n in case.shape))
    try:
        return trial.attempt(whole, trial.place(whole), trial.guarded).status == "right"
    except ValueError:
        return False


def overflows(wrong: Wrong, reference: Callable) -> bool:
    """Whether there are nan, inf or zeros, and the reference does not care about a constant added to its inputs."""
    floats = [x for x in wrong.plain if isinstance(x, torch.Tensor) and x.is_floating_point()]
    got = wrong.got[wrong.mask]
    if not floats or not got.is_floating_point() or not (~got.isfinite() | (got == 0)).all():
        return False
    try:
        one, two = (evaluate(reference, [_moved(x, by) for x in wrong.plain])[wrong.position] for by in (0.0, 3.0))
    except ValueError:
        return False
    return torch.allclose(one, two, rtol=1e-6, atol=1e-9, equal_nan=True)


def _moved(x, by: float):
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        return x
    return x.double().clamp(-5, 5) + by


def special_kind(wrong: Wrong) -> str | None:
    """Which special values the wrong elements have in common; every element of such a case's input is one."""
    kind, _, operand = wrong.case.values.partition(" in input ")
    if kind.startswith("one "):
        return kind.removeprefix("one ")
    if kind == "special values":
        x = wrong.plain[int(operand)].flatten()[wrong.mask]
        kinds = [what for what, test in KINDS.items() if test(x).any()]
        return " or ".join(kinds) if len(kinds) < len(KINDS) else None
    if kind == "within ±1000" and not wrong.got[wrong.mask].isfinite().any():
        return "an exponential or a power of a large number"
    return None
