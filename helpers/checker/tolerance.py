"""What the right answer is, and how far from it rounding may lead.

The reference runs in float64. With u(t) the unit roundoff of a type t (half the distance from 1 to the next
number), a result y may differ from the reference r by

    k·u(dtype)·|r|  +  c·m  +  2·smallest normal number of the dtype

    k   3: eager PyTorch rounds to 16 bits after every operation, we allow three such roundings, each at most u
        (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002, section 2.2, the standard model). 5 for
        bfloat16 in the interpreter, whose stores truncate.
    m   how far r moves if the inputs and whatever an operation of the reference returns are off by random relative
        errors of up to u(compute), and how far off the reference is that computes in that type: the largest of eight
        tries. The first is Monte Carlo arithmetic (Parker, UCLA CSD-970002, 1997): it grows where the function is
        ill-conditioned and where the reference's own terms cancel, in references that take gradients, too. What only
        moves or picks numbers is exact and gets no error. Inside one operation intermediates as large as its inputs
        may cancel in float64, as 1 + tanh(x) does where a kernel is exact: its result also gets an error of up to
        4·u(float64) of its largest input, or of 2¹⁴ if that is less.
    c   16: a kernel's functions may be off by a few units (CUDA C++ Programming Guide, Mathematical Functions), and so
        may several operations in a row. Where a result depends on many of n input elements, 2·√n if that is more:
        summing n terms in any order errs by about √n·u with random rounding errors (Higham and Mary, A new approach to
        probabilistic rounding error analysis, SIAM J. Sci. Comput. 41(5), 2019).
    compute is float32 (float64 for float64): kernels widen 16-bit inputs before they compute.

float16 and TF32 round at 2⁻¹¹ and bfloat16 at 2⁻⁸, against 2⁻²⁴ for float32: passing fp32 through one of them fails.
"""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..device import DEVICE, INTERPRETED
from .cases import name

TRIES, LARGEST, U64 = 8, 2.0**14, 2.0**-53
UP = 2**9  # float64 cannot be disturbed by its own unit roundoff: the errors are this much larger, the move is divided
# Names of ATen's operations that round nothing.
EXACT = """_to_copy abs alias amax amin arange argmax argmin cat clamp clamp_max clamp_min clone constant_pad_nd copy
    copy_ detach embedding empty eye fill fill_ flip floor full full_like gather index index_put index_select
    masked_fill max maximum min minimum neg new_empty new_zeros ones ones_like relu repeat roll round scalar_tensor
    scatter select_backward sign slice_backward sort stack threshold_backward topk tril triu unfold where zero_ zeros
    zeros_like""".split()  # noqa: SIM905


@dataclass
class Expected:
    """One result: `exact` from float64, how far off it may be, and what PyTorch's own forms say. All on the CPU."""

    exact: torch.Tensor  # float64, or an integer or boolean dtype
    tolerance: torch.Tensor
    eager: torch.Tensor  # in the case's dtype; gives the result's shape and dtype
    others: tuple[torch.Tensor, ...] = ()  # in the compute type; on a GPU also eager on the CPU

    def wrong(self, got: torch.Tensor) -> torch.Tensor:
        """True where `got` (CPU, of the right shape and dtype) is not acceptable; the sign of a zero is ignored.

        Right is what lies within the tolerance, what equals the rounded exact result, so also inf and nan, and
        what PyTorch says in one of its forms, or is no further off.
        """
        rounded = self.exact.to(got.dtype)
        if not got.dtype.is_floating_point:
            return (got != self.eager) & (got != rounded)
        y, off = got.double(), (got.double() - self.exact).abs()
        right = off <= self.tolerance
        for other in (rounded, self.eager, *(x.to(got.dtype) for x in self.others)):
            right |= (got == other) | (got.isnan() & other.isnan())
            right |= (off <= (other.double() - self.exact).abs()) & other.isfinite()
        limit = torch.finfo(got.dtype).max
        right |= y.isinf() & (y.sign() == self.exact.sign()) & (self.exact.abs() + self.tolerance >= limit)
        return ~right


class Disturbed(TorchDispatchMode):
    """While active, every float64 result of an operation that rounds is off by random errors: see m."""

    def __init__(self, u: float, seed: int):
        super().__init__()
        self.u, self.generator = u, torch.Generator(DEVICE).manual_seed(seed)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        inside = 4 * U64 * min(LARGEST, max([0.0, *map(_largest, args)]))
        result = function(*args, **(kwargs or {}))
        if function.overloadpacket.__name__ in EXACT or function.is_view:
            return result
        if function._schema.is_mutable and isinstance(result, torch.Tensor):
            return result.copy_(self.of(result, inside))
        if type(result) in (tuple, list):
            return type(result)(self.of(x, inside) for x in result)
        return self.of(result, inside)

    def of(self, x, inside: float = 0.0):
        """`x` with a relative error of up to u and an absolute one of up to `inside`, if it is a float64 tensor."""
        if not isinstance(x, torch.Tensor) or x.dtype != torch.float64:
            return x
        even, other = torch.rand((2, *x.shape), generator=self.generator, dtype=x.dtype, device=x.device) * 2 - 1
        return x * (1 + even * self.u) + other * inside


def _largest(x) -> float:
    """The largest finite magnitude in a float64 tensor, else 0."""
    if not isinstance(x, torch.Tensor) or x.dtype != torch.float64 or not x.numel():
        return 0.0
    return float(x.detach().abs().nan_to_num(0.0, 0.0).max())


def expect(reference: Callable, plain: list, elementwise: bool) -> tuple[Expected, ...]:
    """What the reference makes of contiguous CPU inputs, with the tolerance of this module's text.

    Raises ValueError if the reference raises or returns anything but a tensor or a tuple of tensors.
    """
    eager = evaluate(reference, [_copied(x) for x in plain])
    double = any(x.dtype == torch.float64 for x in plain if isinstance(x, torch.Tensor))
    compute = torch.float64 if double else torch.float32
    exact = [x.cpu() for x in evaluate(reference, [_copied(x, torch.float64) for x in plain])]
    forms = [evaluate(reference, [_copied(x, compute) for x in plain])]
    if DEVICE.type != "cpu":
        with contextlib.suppress(ValueError):
            forms.append(evaluate(reference, [x.clone() if isinstance(x, torch.Tensor) else x for x in plain]))
    moves = _moves(reference, plain, exact, compute)
    count = 1 if elementwise else max(x.numel() for x in plain if isinstance(x, torch.Tensor))
    c = max(16.0, 2 * math.sqrt(count))
    each = zip(eager, exact, moves, *forms, strict=True)
    return tuple(_expected(e.cpu(), r, c * m, tuple(x.cpu() for x in others)) for e, r, m, *others in each)


def _expected(eager: torch.Tensor, exact: torch.Tensor, moved: torch.Tensor, others: tuple) -> Expected:
    if not eager.is_floating_point():
        return Expected(exact, torch.zeros(()), eager, others)
    info, exact = torch.finfo(eager.dtype), exact.double()
    k = 5 if INTERPRETED and eager.dtype == torch.bfloat16 else 3
    tolerance = k * info.eps / 2 * exact.abs() + moved + 2 * info.tiny
    return Expected(exact, tolerance.where(exact.isfinite(), 0.0), eager, others)


def _moves(reference: Callable, plain: list, exact: list, compute: torch.dtype) -> list[torch.Tensor]:
    """For each result m of this module's text."""
    up = UP if compute == torch.float64 else 1
    u, worst = torch.finfo(compute).eps / 2 * up, [torch.zeros(r.shape, dtype=torch.float64) for r in exact]
    for seed in range(TRIES):
        disturbed = Disturbed(u, seed)
        inputs = [disturbed.of(_copied(x, torch.float64)) for x in plain]
        narrow = [_copied(x, compute) for x in inputs]
        with disturbed:
            tries = [evaluate(reference, inputs)]
        if compute == torch.float32:
            tries.append(evaluate(reference, narrow))
        for results in tries:
            for k, (moved, r) in enumerate(zip(results, exact, strict=True)):
                if r.is_floating_point():
                    off = (moved.cpu().double() - r.double()).abs().nan_to_num(0.0, 0.0) / up
                    worst[k] = torch.maximum(worst[k], off)
    return worst


def _copied(x, dtype: torch.dtype | None = None):
    """A copy on the device; a floating-point one in `dtype`, if that is given."""
    if not isinstance(x, torch.Tensor):
        return x
    return x.to(DEVICE, dtype if dtype is not None and x.is_floating_point() else x.dtype, copy=True)


def evaluate(reference: Callable, inputs: list) -> tuple[torch.Tensor, ...]:
    """The reference's results as a tuple, detached. Raises ValueError if it raises, or returns something else."""
    try:
        results = reference(*inputs)
    except Exception as error:
        types = ", ".join(name(x.dtype) + str(list(x.shape)) for x in inputs if isinstance(x, torch.Tensor))
        said = f"reference({types}) raised {type(error).__name__}: {error}"
        raise ValueError(f"{said}; if it wants other shapes, give them: shapes=[…]") from error
    results = tuple(results) if isinstance(results, tuple | list) else (results,)
    if not all(isinstance(r, torch.Tensor) for r in results):
        raise ValueError(f"reference must return tensors, not {', '.join(type(r).__name__ for r in results)}")
    return tuple(r.detach() for r in results)


def is_elementwise(reference: Callable, plain: list) -> bool:
    """Whether each result depends on the inputs at its own position only, as every second input then shows."""
    if not all(isinstance(x, torch.Tensor) and x.shape == plain[0].shape for x in plain):
        return False
    wide = [_copied(x, torch.float64) for x in plain]
    try:
        whole, half = evaluate(reference, wide), evaluate(reference, [x.flatten()[::2].contiguous() for x in wide])
    except ValueError:
        return False
    return all(
        w.shape == plain[0].shape and torch.allclose(w.flatten()[::2].double(), h.double(), equal_nan=True)
        for w, h in zip(whole, half, strict=True)
    )
