"""What the launchers of the zoo share."""

from helpers.device import DEVICE  # noqa: F401  (decides the mode before triton is imported)

import functools
from collections.abc import Callable

import torch
import triton

B = 256  # elements in a block
KNOWN = {"block_size": B}
ONE = {"inputs": 1, **KNOWN}


def with_options(launcher: Callable) -> Callable:
    """Makes a launcher a function of its options alone: `rows(op="sum")` is the launcher, which takes the tensors."""

    def choose(**options) -> Callable:
        return functools.wraps(launcher)(lambda *tensors: launcher(*tensors, **options))

    return choose


def flat(kernel, block: int = B, grid: Callable = triton.cdiv, **constexprs) -> Callable:
    """Treats every tensor as one flat array of contiguous elements, after making them contiguous."""

    def launcher(*tensors):
        tensors = [x.contiguous() for x in tensors]
        out = torch.empty_like(tensors[0])
        kernel[(grid(out.numel(), block),)](*tensors, out, out.numel(), BLOCK_SIZE=block, **constexprs)
        return out

    return launcher


def empty(x: torch.Tensor, *shape: int) -> torch.Tensor:
    """A packed output like `x`, or of another shape."""
    return torch.empty(shape or x.shape, dtype=x.dtype, device=x.device)


def rounding_down(n: int, block: int) -> int:
    return n // block
