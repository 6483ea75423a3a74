"""Which cases a check tries beside its shapes and dtypes, given what came out right before."""

import torch

from .cases import Case, layouts, special_values
from .fence import SIDES


def fence_plan(first: Case, shapes: list[tuple[int, ...]]) -> list[tuple[Case, str | None]]:
    """Cases for the fenced child: a few as they are (side None), then some flush against either page."""
    tables = [shape for shape in shapes if len(shape) > 1 and min(shape) > 1]
    few = [first.but(shape=shape) for shape in dict.fromkeys([*shapes[:3], *tables[-2:]])]
    many = few + [few[-1].but(layout=layout) for layout in ("offset view", "column slice", "only input 0 transposed")]
    past, before = SIDES
    return [*((case, None) for case in many), *((case, past) for case in many), *((case, before) for case in few[:2])]


def layout_cases(right: list[Case], dimensions: int | None) -> list[Case]:
    """Views that are not contiguous, of the last shapes that passed as contiguous ones and are not trivial.

    `dimensions` is the largest number of them that an input has, where a shape does not say so (None: it does).
    """
    usable = [case for case in right if all(n > 1 for n in case.shape)] or right[:1]
    if dimensions is not None:
        return [usable[0].but(layout=layout) for layout in layouts(dimensions)]
    flat, tables = [c for c in usable if len(c.shape) == 1], [c for c in usable if len(c.shape) > 1]
    return [c.but(layout=layout) for c in [*flat[-1:], *tables[-2:]] for layout in layouts(len(c.shape))]


def value_cases(base: Case, dtypes: list[torch.dtype], inputs: int, elementwise: bool) -> list[Case]:
    """Special values in every floating-point dtype that came out right; beside element-wise functions in the first."""
    some = [dtype for dtype in dtypes if dtype.is_floating_point][: None if elementwise else 1]
    return [base.but(dtype=dtype, values=kind) for dtype in some for kind in special_values(inputs, elementwise)]
