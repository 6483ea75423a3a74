"""Which cases `check` tries: shapes around a block's end, dtypes, layouts in memory, and values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

AS_GIVEN = "as given"
FLAT = ("offset view", "every second element", "expanded")
TABLE = ("offset view", "column slice", "transposed", "expanded")
ROW_VALUES = ("all negative", "alternating signs", "within ±1000", "far below zero", "one huge, the rest tiny")
INTEGER_VALUES = ("any integers", "extreme integers")


@dataclass(frozen=True)
class Case:
    """One call: the shape and dtype of its inputs, how they lie in memory, and what is in them.

    `layout` is one of FLAT or TABLE, or (strides, offset) in elements; `only` is the one input that has it (None: all).
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    layout: str | tuple[tuple[int, ...], int] = AS_GIVEN
    only: int | None = None
    values: str = "random"

    def __str__(self) -> str:
        size = f"n={self.shape[0]}" if len(self.shape) == 1 else f"shape {self.shape}"
        layout = self.layout if self.only is None else f"{self.layout} (input {self.only} only)"
        unusual = [x for x in (layout, self.values) if x not in (AS_GIVEN, "random")]
        return ", ".join(map(str, [size, name(self.dtype), *unusual]))

    def but(self, **changes) -> "Case":
        """The same case with some fields changed."""
        return replace(self, **changes)


def name(dtype: torch.dtype) -> str:
    """A dtype without "torch."."""
    return str(dtype).removeprefix("torch.")


def default_shapes(block: int) -> list[tuple[int, ...]]:
    """Sizes in elements: whole blocks first, around one block's end, tiny, empty, many blocks, a prime, 2-D and 3-D."""
    many = [40 * block + 3] if block <= 1024 else []
    sizes = [3 * block, block, block + 1, block - 1, 256, 257, 255, 17, 16, 15, 1, 0, *many, 997, 2 * block + 1]
    rows = 2 ** (int(math.log2(block)) // 2)  # (3 · rows, block / rows) is three whole blocks as well
    return [*((n,) for n in dict.fromkeys(sizes)), (3 * rows, block // rows), (17, 61), (3, 5, 67)]


def default_dtypes(device: torch.device) -> tuple[torch.dtype, ...]:
    """float32, float16 and, where the device has it (the interpreter loads and stores it right), bfloat16."""
    if device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.float32, torch.float16
    return torch.float32, torch.float16, torch.bfloat16


def is_ragged(shape: tuple[int, ...]) -> bool:
    """Whether a shape ends inside a block, whatever power of two the block is."""
    return any(n & (n - 1) for n in shape) and math.prod(shape) > 16


def layout_cases(right: list[Case], ranks: Sequence[int], varies: bool) -> list[Case]:
    """The ways in which all inputs, and each of several alone, can lie in memory, of shapes that came out right.

    `ranks` are the inputs' numbers of dimensions; `varies` says that they are those of the case's shape.
    """
    usable = [case for case in right if all(n > 1 for n in case.shape)] or right[:1]
    flat, tables = [c for c in usable if len(c.shape) == 1], [c for c in usable if len(c.shape) > 1]
    bases = [*flat[-1:], *tables[-2:]] if varies else usable[:1]
    found = []
    for base in bases:
        kinds = TABLE if (len(base.shape) if varies else max(ranks)) > 1 else FLAT
        found += [base.but(layout=kind) for kind in kinds]
        if len(ranks) > 1 and base in (bases[0], bases[-1], *tables[-2:-1]):
            found += [base.but(layout=kind, only=k) for k in range(len(ranks)) for kind in kinds[1:]]
    return found


def value_cases(base: Case, dtypes: list[torch.dtype], inputs: int, elementwise: bool, own: bool) -> list[Case]:
    """Values beside random ones, in every dtype that came out right (beside element-wise functions in the first).

    One nan spoils a whole row, so there it comes alone. Integers change only where they are our `own`: an index must
    stay one.
    """
    floats = [dtype for dtype in dtypes if dtype.is_floating_point]
    if elementwise:
        kinds = [f"special values in input {k}" for k in range(inputs)]
    else:
        alone = [f"one {value} in input {k}" for k in range(inputs) for value in ("nan", "inf", "-inf")]
        kinds, floats = [*ROW_VALUES, *alone], floats[:1]
    found = [base.but(dtype=dtype, values=kind) for dtype in floats for kind in kinds]
    integers = [d for d in dtypes if not d.is_floating_point and d != torch.bool] if own else []
    return found + [base.but(dtype=dtype, values=kind) for dtype in integers for kind in INTEGER_VALUES]
