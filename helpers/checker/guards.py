"""Calls a candidate so that what it does to memory shows: poisoned outputs, guarded buffers, watched inputs.

Every fresh tensor that the candidate allocates moves into a larger buffer, between two stretches of a known
byte. A store outside then lands in one of those and not in someone else's tensor.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch.overrides import TorchFunctionMode

from ..device import INTERPRETED
from .placing import ALIGNMENT, Placed
from .settings import poisoned

GUARD = 0xA5  # the byte around an output: a finite number, unlike what lies around the inputs
POISON = 0x7FFD  # two bytes that, repeated, are a quiet NaN in float16, bfloat16, float32 and float64
EMPTY = {torch.empty, torch.empty_like, torch.empty_strided, torch.empty_permuted, torch.Tensor.new_empty,
         torch.Tensor.new_empty_strided}  # fmt: skip


@dataclass(frozen=True)
class Breach:
    """Elements written outside a tensor ("an output", "input 0"), counted from its first one: negative before it."""

    where: str
    elements: int  # of the tensor
    first: int
    last: int


@dataclass
class Call:
    """What one call did. `error` is what it raised; `dead` says that the GPU's context is gone with it."""

    results: tuple = ()
    error: Exception | None = None
    dead: bool = False
    breaches: list[Breach] = field(default_factory=list)
    overwritten: list[int] = field(default_factory=list)  # inputs whose own elements changed
    copies: list[str] = field(default_factory=list)  # what PyTorch made of an input, such as "contiguous of input 0"


def call(candidate: Callable, placed: list, guard: int, guarded: bool = True) -> Call:
    """Calls the candidate on inputs from `placing.place`, with `guard` bytes around what it allocates.

    What it raises is returned. Without `guarded` its outputs are only poisoned: nothing comes between it and torch.
    """
    done, mode = Call(), Guards(guard, placed)
    spare = [x.tensor.detach() if isinstance(x, Placed) else x for x in placed]  # with shape and strides of their own
    try:
        with poisoned(), mode if guarded else contextlib.nullcontext():
            returned = candidate(*(x.tensor if isinstance(x, Placed) else x for x in placed))
            synchronize()
        done.results = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
    except Exception as error:
        done.error, done.dead = error, context_is_dead()
    done.copies = mode.copies
    if not done.dead:
        inputs = [(k, x) for k, x in enumerate(placed) if isinstance(x, Placed)]
        done.overwritten = [k for k, x in inputs if overwritten(x, spare[k])]
        written = [(k, x) for k, x in inputs if k not in done.overwritten and not torch.equal(x.before, x.buffer)]
        done.breaches = mode.breaches() + [around(x, k) for k, x in written]
    return done


class Guards(TorchFunctionMode):
    """While active, moves each fresh result of a torch function into a guarded buffer."""

    def __init__(self, guard: int, placed: list):
        super().__init__()
        self.guard = -(-guard // ALIGNMENT) * ALIGNMENT
        self.buffers: list[tuple[torch.Tensor, int, int]] = []  # bytes, how many of them the tensor has, element size
        self.inputs = {x.buffer.untyped_storage().data_ptr(): k for k, x in enumerate(placed) if isinstance(x, Placed)}
        self.known = set(self.inputs)
        self.copies: list[str] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if torch.compiler.is_compiling():  # torch.compile looks through this mode; there is nothing to move yet
            return result
        if isinstance(result, tuple | list):  # also what torch.topk returns, a tuple with names
            return type(result)([self.move(x, function, args, kwargs) for x in result])
        return self.move(result, function, args, kwargs)

    def move(self, result, function, args, kwargs):
        """The same tensor in a guarded buffer; an alias, an empty, sparse or differentiable one stays where it is."""
        if type(result) is not torch.Tensor or result.layout != torch.strided:
            return result
        if result.requires_grad or result.is_meta or not result.numel():
            return result
        storage, unit = result.untyped_storage(), result.element_size()
        used = {x.untyped_storage().data_ptr() for x in tensors(args, kwargs)}
        if storage.data_ptr() in used | self.known:
            return result
        if function not in EMPTY:
            self.copies += [f"{function.__name__} of input {self.inputs[at]}" for at in used & set(self.inputs)]
        size, guard = storage.nbytes(), self.guard
        total = 2 * guard + -(-size // ALIGNMENT) * ALIGNMENT
        buffer = torch.full((total,), GUARD, dtype=torch.uint8, device=result.device)
        if function in EMPTY and unit % 2 == 0:
            buffer[guard : guard + size].view(torch.int16).fill_(POISON)
        else:
            buffer[guard : guard + size] = torch.empty(0, dtype=torch.uint8, device=result.device).set_(storage)
        self.buffers.append((buffer, size, unit))
        self.known.add(buffer.untyped_storage().data_ptr())
        start = guard // unit + result.storage_offset()
        return buffer.view(result.dtype).as_strided(result.shape, result.stride(), start)

    def breaches(self) -> list[Breach]:
        """Where the guards no longer hold their byte."""
        found = []
        for buffer, size, unit in self.buffers:
            changed = buffer != GUARD
            changed[self.guard : self.guard + size] = False
            if changed.any():
                found.append(breach("an output", size // unit, changed, self.guard, unit))
        return found


def breach(where: str, elements: int, changed: torch.Tensor, start: int, unit: int) -> Breach:
    """From a mask of changed bytes, the first and last element they belong to; the tensor starts at byte `start`."""
    at = (changed.nonzero() - start) // unit
    return Breach(where, elements, int(at.min()), int(at.max()))


def overwritten(x: Placed, spare: torch.Tensor) -> bool:
    """Whether an input's elements, shape or strides changed; `spare` is the same view, which it then gets back."""
    same = x.tensor.shape == spare.shape and x.tensor.stride() == spare.stride()
    x.tensor = x.tensor if same else spare
    before = x.before.view(spare.dtype).as_strided(spare.shape, spare.stride(), spare.storage_offset())
    return not same or not torch.equal(raw(x.tensor), raw(before))


def around(x: Placed, position: int) -> Breach:
    """What changed around the elements of an input (or, in a strided view, between them)."""
    unit = x.tensor.element_size()
    start = x.tensor.storage_offset() * unit
    return breach(f"input {position}", x.tensor.numel(), x.before != x.buffer, start, unit)


def tensors(args, kwargs) -> list[torch.Tensor]:
    """The tensors among a function's arguments, one level of lists and tuples deep."""
    flat = [y for x in (*args, *(kwargs or {}).values()) for y in (x if isinstance(x, tuple | list) else (x,))]
    return [x for x in flat if type(x) is torch.Tensor]


def raw(x: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor's elements in row-major order; NaNs then compare equal to themselves."""
    return x.detach().flatten().clone(memory_format=torch.contiguous_format).view(torch.uint8)


def never_written(result: torch.Tensor) -> torch.Tensor:
    """True where a result still holds the poison, as a flat CPU tensor."""
    if result.element_size() % 2 or not result.numel():
        return torch.zeros(result.numel(), dtype=torch.bool)
    return (raw(result).view(torch.int16).cpu().view(result.numel(), -1) == POISON).all(1)


def synchronize() -> None:
    """Waits for the GPU, so that a kernel's error surfaces here; nothing in the interpreter."""
    if not INTERPRETED:
        torch.accelerator.synchronize()


def context_is_dead() -> bool:
    """Whether every further use of the GPU fails, as after an illegal memory access."""
    try:
        synchronize()
    except Exception:
        return True
    return False
