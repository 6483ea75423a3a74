"""Where a result is wrong, as one sentence: the first wrong element, who owns it, and what all of them share."""

import math
from dataclasses import dataclass

import torch

from .cases import Case
from .placing import values_of
from .tolerance import Expected

KINDS = {
    "nan": torch.isnan,
    "inf": torch.isposinf,
    "-inf": torch.isneginf,
    "zero": lambda x: x == 0,
    "a denormal": lambda x: (x.abs() < torch.finfo(x.dtype).tiny) & (x != 0),
    "a large number": lambda x: (x.abs() > torch.finfo(x.dtype).max / 8) & x.isfinite(),
}
SIGNS = {
    "inf or -inf": torch.isinf,
    "inf, -inf or nan": lambda x: ~x.isfinite(),
    "negative": lambda x: x < 0,
    "positive": lambda x: x > 0,
}


@dataclass
class Wrong:
    """A result with wrong elements. Tensors are on the CPU; `mask`, `got`, `unwritten` and `memory` are flat."""

    case: Case
    position: int  # which result
    results: tuple[torch.Tensor, ...]  # all of them
    expected: tuple[Expected, ...]
    mask: torch.Tensor
    unwritten: torch.Tensor
    memory: torch.Tensor  # the result as it lies in memory, from its first element on
    placed: list  # the inputs

    @property
    def got(self) -> torch.Tensor:
        return self.results[self.position].flatten()

    @property
    def want(self) -> torch.Tensor:
        return self.expected[self.position].exact.flatten()

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.expected[self.position].eager.shape)

    @property
    def plain(self) -> list:
        """The inputs as contiguous CPU tensors."""
        return values_of(self.placed)

    @property
    def first(self) -> int:
        """The first wrong element, in row-major order."""
        return int(self.mask.nonzero()[0])


def described(wrong: Wrong, block_size: int | tuple[int, ...] | None) -> str:
    """Such as "first wrong element 256 (program 1, lane 0): got 0.0, expected 1.37; 1 of 257 wrong: …"."""
    k, shape = wrong.first, wrong.shape
    got, want = numbers(wrong.got[k], wrong.want[k].to(wrong.got.dtype))
    got += " (never written)" if wrong.unwritten[k] else ""
    common, count = pattern(wrong.mask, shape, wrong.plain, block_size), f"{int(wrong.mask.sum())} of {len(wrong.mask)}"
    if common.startswith("only where input") and wrong.unwritten[wrong.mask].all():
        common += ", the store's mask leaves these out"
    if operand := wrong.case.values.partition("special values in input ")[2]:
        want += f" (input {operand} is {number(wrong.plain[int(operand)].flatten()[k])} there)"
    where = f"{index(k, shape)}{owner(k, shape, block_size)}"
    which = f"result {wrong.position}: " if len(wrong.results) > 1 else ""
    return f"{which}first wrong element {where}: got {got}, expected {want}; {count} wrong: {common}{precision(wrong)}."


def number(x: torch.Tensor, digits: int = 3) -> str:
    """Such as "-27.3", "0.0", "inf" or "1e-40"; integers and booleans in full."""
    if not x.is_floating_point():
        return str(x.item())
    text = f"{x.item() + 0.0:.{digits}g}"
    return text if set(text) & set(".en") else f"{text}.0"


def numbers(got: torch.Tensor, want: torch.Tensor) -> tuple[str, str]:
    """Both with three significant digits, or with as many as it takes to tell them apart."""
    texts = [(number(got, digits), number(want, digits)) for digits in range(3, 18)]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[-1])


def precision(wrong: Wrong) -> str:
    """Such as ", mostly right to 10 bits": how many leading bits nine in ten of them have right, if more than a few."""
    if not wrong.got.is_floating_point():
        return ""
    want = wrong.want[wrong.mask]
    errors = (wrong.got[wrong.mask].double() - want).abs() / want.abs()
    most = float(errors.sort().values[int(0.9 * (len(errors) - 1))])
    return f", mostly right to {-math.ceil(math.log2(most))} bits" if 0 < most < 2**-5 else ""


def position(k: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in torch.unravel_index(torch.tensor(k), shape))


def index(k: int, shape: tuple[int, ...]) -> str:
    """Flat element k as a reader names it: "256" in 1-D, "(4, 12)" in 2-D."""
    at = position(k, shape) if shape else ()
    return str(at[0]) if len(at) == 1 else str(at)


def owner(k: int, shape: tuple[int, ...], block_size: int | tuple[int, ...] | None) -> str:
    """The program and lane of flat element k, in brackets; empty without a block size that fits the result."""
    if isinstance(block_size, int):
        return f" (program {k // block_size}, lane {k % block_size} at BLOCK_SIZE={block_size})"
    if block_size is None or len(shape) != len(block_size):
        return ""
    pairs = list(zip(position(k, shape), block_size, strict=True))
    program, lane = tuple(i // b for i, b in pairs), tuple(i % b for i, b in pairs)
    return f" (program {program}, lane {lane} at blocks of {block_size})"


def pattern(mask: torch.Tensor, shape: tuple[int, ...], plain: list, block_size) -> str:
    """What the wrong elements have in common, as a phrase in the result's own coordinates."""
    n, count, wrong = mask.numel(), int(mask.sum()), mask.nonzero().flatten()
    first, last = int(wrong[0]), int(wrong[-1])
    block = block_size if isinstance(block_size, int) else n + 1
    if count == n:
        return "every element"
    if count == 1:
        tail = f"every element from {index(first, shape)} on" if first % block == 0 else "only the last element"
        return tail if first == n - 1 else f"only element {index(first, shape)}"
    if len(shape) > 1 and (common := by_axis(mask, shape)):
        return common
    if count == n - first:
        whole = ", the last block" if first == (n - 1) // block * block > 0 else ""
        return f"every element from {index(first, shape)} on{whole}"
    if count == last + 1:
        return f"every element before {index(count, shape)}"
    if common := by_input(mask, plain) or by_axis(mask, shape):
        return common
    if n > block and len(set((wrong % block).tolist())) == 1:
        return f"only lane {first % block} of each program"
    ends = f"{index(first, shape)} to {index(last, shape)}"
    return f"every element from {ends}" if last - first + 1 == count else f"between {ends.replace(' to ', ' and ')}"


def by_input(mask: torch.Tensor, plain: list) -> str | None:
    """Such as "only where input 0 is negative": what holds of one input exactly where the result is wrong."""
    for k, x in enumerate(plain):
        if isinstance(x, torch.Tensor) and x.numel() == mask.numel() and x.is_floating_point():
            for what, test in (KINDS | SIGNS).items():
                if torch.equal(test(x.flatten()), mask):
                    return f"only where input {k} is {what}"
    return None


def by_axis(mask: torch.Tensor, shape: tuple[int, ...]) -> str | None:
    """Such as "every element from column 64 on": the wrong elements are all those beyond one index of one axis."""
    words = {1: ["element"], 2: ["row", "column"]}.get(len(shape), [f"index of axis {a}," for a in range(len(shape))])
    for axis, word in enumerate(words):
        lines = mask.view(shape).movedim(axis, 0).reshape(shape[axis], -1)
        hit = lines.all(1).nonzero().flatten().tolist()
        if hit and torch.equal(lines.any(1), lines.all(1)):
            if len(hit) == 1:
                return f"only {word} {hit[0]}"
            if hit == list(range(hit[0], shape[axis])):
                return f"every element from {word} {hit[0]} on"
    return None
