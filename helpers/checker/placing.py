"""Lays the inputs of a case out in memory, each inside a larger buffer of known bytes."""

import math
from dataclasses import dataclass

import torch

from .cases import AS_GIVEN, Case

FILL = 0xFF  # every byte around an input: a NaN in each float type, -1 in each signed integer type
ALIGNMENT = 512  # bytes; what a GPU gives a fresh tensor


@dataclass
class Placed:
    """An input inside a larger buffer of bytes: `tensor` is the view that the candidate gets."""

    tensor: torch.Tensor
    buffer: torch.Tensor
    plain: torch.Tensor = None  # its values, contiguous, on the CPU
    before: torch.Tensor = None  # the whole buffer as it was before the call

    def fill(self, values: torch.Tensor) -> "Placed":
        """Puts values into the view; where a dimension has stride 0, its first slice for all."""
        first = tuple(slice(1) if stride == 0 else slice(None) for stride in self.tensor.stride())
        self.tensor[first].copy_(values[first])
        self.plain = values[first].expand_as(values).contiguous()
        self.before = self.buffer.clone()
        return self


def values_of(placed: list) -> list:
    """The inputs as contiguous CPU tensors; what is no tensor as it is."""
    return [x.plain if isinstance(x, Placed) else x for x in placed]


def place(x, case: Case, position: int, device: torch.device, guard: int):
    """Lays a CPU tensor out on the device with `guard` bytes of FILL on either side; anything else passes through."""
    if not isinstance(x, torch.Tensor):
        return x
    strides, offset = geometry(x, case, position)
    guard = -(-guard // ALIGNMENT) * ALIGNMENT
    size = (offset + span(x.shape, strides)) * x.element_size()
    buffer = torch.full((2 * guard + -(-size // ALIGNMENT) * ALIGNMENT,), FILL, dtype=torch.uint8, device=device)
    start = guard // x.element_size() + offset
    return Placed(buffer.view(x.dtype).as_strided(tuple(x.shape), strides, start), buffer).fill(x)


def geometry(x: torch.Tensor, case: Case, position: int) -> tuple[list[int], int]:
    """Strides and offset, in elements, of input number `position` of a case, which was given as `x`."""
    shape, layout = tuple(x.shape), case.layout if case.only in (None, position) else AS_GIVEN
    if isinstance(layout, tuple):
        return list(layout[0]), layout[1]
    strides = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    if layout == AS_GIVEN:
        own = list(x.stride())
        return (strides if overlaps(shape, own) else own), 0
    if layout == "offset view" or not shape:
        return strides, 1
    if layout == "expanded":
        return [0, *strides[1:]], 0
    if len(shape) == 1:
        return [2], 0
    if layout == "transposed":
        return [*strides[:-2], 1, shape[-2]], 0
    return [*(2 * stride for stride in strides[:-1]), 1], position % 2 * shape[-1]  # of a packed [gate | up]


def span(shape: tuple[int, ...], strides: list[int]) -> int:
    """How many elements of memory lie between the first element of a view and its last, both included."""
    return 1 + sum(max(size - 1, 0) * stride for size, stride in zip(shape, strides, strict=True))


def overlaps(shape: tuple[int, ...], strides: list[int]) -> bool:
    """Whether elements share memory otherwise than along a dimension of stride 0, as those of an unfolded view do."""
    steps = [(size, stride) for size, stride in zip(shape, strides, strict=True) if stride]
    return (
        bool(math.prod(shape)) and span(*zip(*steps, strict=True)) < math.prod(n for n, _ in steps) if steps else False
    )
