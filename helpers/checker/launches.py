"""Watches kernels being launched, and runs their programs in other orders."""

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch

from ..compiler.compiling import compiled
from ..compiler.result import Compiled
from ..compiler.types import signature
from ..device import INTERPRETED


@dataclass(frozen=True)
class Launch:
    """One launch: the kernel, its grid, the arguments by name (tensors as their shapes), and where the tensors lie."""

    kernel: object
    grid: tuple[int, ...]
    arguments: dict
    memory: frozenset[int] = frozenset()  # the addresses of their storages

    @property
    def programs(self) -> int:
        """How many programs ran."""
        return torch.Size(self.grid).numel()

    @property
    def blocks(self) -> tuple[int, ...]:
        """The arguments whose names hold BLOCK, in the kernel's order, such as BLOCK_M and BLOCK_N."""
        return tuple(v for n, v in self.arguments.items() if "BLOCK" in n and isinstance(v, int))


class Launches:
    """A context that notes the launches of some kernels, with their grids, compiled and interpreted.

    `kernel[grid](…)` calls the kernel's public method `run`; here that is one of ours while the context lasts.
    """

    def __init__(self, kernels: Iterable):
        self.kernels, self.seen, self.first = list(kernels), [], {}

    def __enter__(self):
        for kernel in self.kernels:
            kernel.run = self._noting(kernel)
        return self

    def __exit__(self, *error):
        for kernel in self.kernels:
            del kernel.run

    @property
    def constants(self) -> dict:
        """By kernel, the arguments of its last launch."""
        return {launch.kernel: launch.arguments for launch in self.seen}

    def compiled(self, kernel) -> Compiled:
        """The kernel as compiled for its first launch, for sm_90.

        Raises CompilationError if the compiler rejects it, or what `compiled` raises if it cannot be carried there.
        """
        return compiled(kernel, *signature(kernel, *self.first[kernel]))

    def _noting(self, kernel) -> Callable:
        run = kernel.run

        def noting(*args, grid, warmup=False, **kwargs):
            if not warmup:
                named = {**dict(zip(kernel.arg_names, args, strict=False)), **kwargs}
                self.first.setdefault(kernel, (args, kwargs))
                sizes = grid(named) if callable(grid) else grid
                sizes = sizes if isinstance(sizes, tuple | list) else (sizes,)
                kept = {n: tuple(v.shape) if isinstance(v, torch.Tensor) else v for n, v in named.items()}
                given = [getattr(v, "base", v) for v in named.values()]  # a descriptor's tensor is its base
                memory = {v.untyped_storage().data_ptr() for v in given if isinstance(v, torch.Tensor)}
                self.seen.append(Launch(kernel, tuple(sizes), kept, frozenset(memory)))
            return run(*args, grid=grid, warmup=warmup, **kwargs)

        return noting


def orders() -> dict[str, Callable[[int], list[int]]]:
    """By name, the orders in which a kernel's programs are run beside 0, 1, 2 …, as functions of their number."""
    return {
        "in reverse": lambda n: list(range(n - 1, -1, -1)),
        "shuffled": lambda n: random.Random(n).sample(range(n), n),
    }


@contextlib.contextmanager
def in_order(order: Callable[[int], list[int]]) -> Iterator[None]:
    """Interpreted, runs the programs of every launch in another order.

    Triton has no public way to do so: its interpreter asks an object, one for all kernels, to set the number of the
    program that comes next. Raises AttributeError if a release has moved that.
    """
    from triton.runtime.interpreter import interpreter_builder as builder

    plain, left = builder.set_grid_idx, []

    def set_grid_idx(x: int, y: int, z: int) -> None:
        if (x, y, z) == (0, 0, 0):
            left[:] = order(torch.Size(builder.grid_dim).numel())
        place, (_, ny, nz) = left.pop(0), builder.grid_dim
        plain(place // (ny * nz), place // nz % ny, place % nz)

    builder.set_grid_idx = set_grid_idx
    try:
        yield
    finally:
        del builder.set_grid_idx


def can_be_reordered() -> bool:
    """Whether programs can be run in another order here."""
    if not INTERPRETED:
        return False
    try:
        from triton.runtime.interpreter import interpreter_builder
    except ImportError:
        return False
    return hasattr(interpreter_builder, "set_grid_idx") and hasattr(interpreter_builder, "set_grid_dim")
