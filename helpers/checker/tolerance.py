"""What the right answer is, and how far from it rounding may lead.

The reference runs in float64. With u(t) the unit roundoff of a type t (half the distance from 1 to the next
number), a result y may differ from the reference r by

    k·u(dtype)·|r|  +  c·u(compute)·(|r| + S)  +  2·e  +  2·smallest normal number of the dtype

    S   Σⱼ |xⱼ·∂r/∂xⱼ|: to first order, u·S is what relative errors u in the inputs do to the result.
        Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002, section 1.6 (Conditioning).
    k   3: eager PyTorch rounds to 16 bits after every operation, we allow three such roundings, each at most u
        (Higham, section 2.2, the standard model). 5 for bfloat16 in the interpreter, whose stores truncate.
    c   16, or 2·√n where a result depends on n > 64 inputs. Summing n terms in any order errs by at most γₙ·Σ|xᵢ|,
        γₙ = nu/(1 − nu) (Higham, lemma 3.1 and section 4.2); with random rounding errors about √n·u instead of n·u
        (Higham and Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41(5), 2019).
    e   the largest error of eager PyTorch in the compute type at eight inputs within 2⁻²⁰ of these: what the formula
        loses for itself, as 1 + tanh(x) does by cancellation.
    compute is float32 (float64 for float64): kernels widen 16-bit inputs before they compute.

float16 and TF32 round at 2⁻¹¹ and bfloat16 at 2⁻⁸, against 2⁻²⁴ for float32: passing fp32 through one of them fails.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from ..device import DEVICE, INTERPRETED
from .cases import name

LARGEST_JACOBIAN = 2**24  # entries; beyond it 256 outputs are examined and their largest S stands for all
CHUNK = 2**22  # entries of the Jacobian held at once: 32 MiB


@dataclass
class Expected:
    """One result: `exact` from float64, how far off it may be, and what eager PyTorch says in the case's dtype."""

    exact: torch.Tensor  # CPU, float64, or an integer or boolean dtype
    tolerance: torch.Tensor
    eager: torch.Tensor  # gives the result's shape and dtype
    wide: torch.Tensor  # what eager PyTorch says in the compute type

    def wrong(self, got: torch.Tensor) -> torch.Tensor:
        """True where `got` (CPU, of the right shape and dtype) is not acceptable; the sign of a zero is ignored.

        Right is what lies within the tolerance, what equals the rounded exact result, so also inf and nan, and
        what eager PyTorch says, in the dtype or in the compute type, or is no further off.
        """
        rounded = self.exact.to(got.dtype)
        if not got.dtype.is_floating_point:
            return (got != self.eager) & (got != rounded)
        y, off = got.double(), (got.double() - self.exact).abs()
        right = off <= self.tolerance
        for other in (rounded, self.eager, self.wide.to(got.dtype)):
            right |= (got == other) | (got.isnan() & other.isnan()) | (off <= (other.double() - self.exact).abs())
        limit = torch.finfo(got.dtype).max
        right |= y.isinf() & (y.sign() == self.exact.sign()) & (self.exact.abs() + self.tolerance >= limit)
        return ~right


def expect(reference: Callable, plain: list, elementwise: bool) -> tuple[Expected, ...]:
    """What the reference makes of contiguous CPU inputs, with the tolerance of this module's text.

    Raises ValueError if the reference raises or returns anything but a tensor or a tuple of tensors.
    """
    eager = call(reference, [x.to(DEVICE, copy=True) if isinstance(x, torch.Tensor) else x for x in plain])
    inputs = [widened(x) for x in plain]
    leaves = [x.requires_grad_() for x in inputs if isinstance(x, torch.Tensor) and x.is_floating_point()]
    with torch.enable_grad():
        exact = call(reference, [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs])
    wide, losses = call(reference, [computed(x) for x in plain]), local_errors(reference, plain)
    each = zip(eager, exact, wide, losses, strict=True)
    return tuple(expected(e.detach().cpu(), r, w.detach().cpu(), loss, leaves, elementwise) for e, r, w, loss in each)


def local_errors(reference: Callable, plain: list) -> list[torch.Tensor]:
    """For each result the largest error, in float64 on the CPU, of eager PyTorch at eight inputs near these."""
    generator, worst = torch.Generator().manual_seed(0), []
    for _ in range(8):
        near = [computed(x, generator) for x in plain]
        pairs = zip(call(reference, near), call(reference, [widened(x) for x in near]), strict=True)
        errors = [(a.double() - b.double()).abs().detach().cpu().nan_to_num(0.0, 0.0) for a, b in pairs]
        worst = list(map(torch.maximum, worst, errors)) if worst else errors
    return worst


def computed(x, generator: torch.Generator | None = None):
    """A copy on the device in the compute type; with a generator, off by up to 2⁻²⁰ of each value."""
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        return widened(x)
    off = 0.0 if generator is None else (torch.rand(x.shape, generator=generator) * 2 - 1) * 2**-20
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    return (x.to(kind) * (1 + off)).to(DEVICE, kind, copy=True)


def call(reference: Callable, inputs: list) -> tuple[torch.Tensor, ...]:
    try:
        results = reference(*inputs)
    except Exception as error:
        types = ", ".join(name(x.dtype) + str(list(x.shape)) for x in inputs if isinstance(x, torch.Tensor))
        said = f"reference({types}) raised {type(error).__name__}: {error}"
        raise ValueError(f"{said}; if it wants other shapes, give them: shapes=[…]") from error
    results = tuple(results) if isinstance(results, tuple | list) else (results,)
    if not all(isinstance(r, torch.Tensor) for r in results):
        raise ValueError(f"reference must return tensors, not {', '.join(type(r).__name__ for r in results)}")
    return results


def widened(x):
    """A copy on the device, in float64 if it is a floating-point tensor."""
    if not isinstance(x, torch.Tensor):
        return x
    return x.to(DEVICE, torch.float64 if x.is_floating_point() else x.dtype, copy=True)


def expected(
    eager: torch.Tensor, result: torch.Tensor, wide: torch.Tensor, loss: torch.Tensor, leaves: list, elementwise: bool
) -> Expected:
    """Puts the tolerance of one result together."""
    exact, sensitivity, terms = result.detach().cpu(), torch.zeros(()), 1
    if not eager.is_floating_point():
        return Expected(exact, sensitivity, eager, wide)
    exact = exact.double()
    if result.requires_grad and result.numel() and leaves[0].numel():
        sensitivity, terms = diagonal(result, leaves) if elementwise else jacobian(result, leaves)
        sensitivity = sensitivity.cpu().nan_to_num(0.0, 0.0)
    info, compute = torch.finfo(eager.dtype), torch.float64 if eager.dtype == torch.float64 else torch.float32
    k, c = 5 if INTERPRETED and eager.dtype == torch.bfloat16 else 3, max(16.0, 2 * math.sqrt(terms))
    tolerance = k * info.eps / 2 * exact.abs() + 2 * loss + 2 * info.tiny
    tolerance += c * torch.finfo(compute).eps / 2 * (exact.abs() + sensitivity)
    return Expected(exact, tolerance.where(exact.isfinite(), 0.0), eager, wide)


def diagonal(result: torch.Tensor, leaves: list) -> tuple[torch.Tensor, int]:
    """S of an element-wise function, and how many inputs one result depends on."""
    slopes = torch.autograd.grad(result.sum(), leaves, allow_unused=True, retain_graph=True)
    parts = [(x * slope).abs() for x, slope in zip(leaves, slopes, strict=True) if slope is not None]
    return sum((part.nan_to_num(0.0, 0.0) for part in parts), torch.zeros_like(result)).detach(), len(leaves)


def jacobian(result: torch.Tensor, leaves: list) -> tuple[torch.Tensor, int]:
    """S of any function, and the largest number of inputs that one result depends on."""
    count, width = result.numel(), sum(x.numel() for x in leaves)
    exact = count * width <= LARGEST_JACOBIAN
    chosen = torch.arange(count) if exact else torch.linspace(0, count - 1, 256).long()
    sums, terms = [], 1
    for some in chosen.split(max(CHUNK // width, 1)):
        pick = torch.zeros(len(some), count, dtype=result.dtype, device=result.device)
        pick[torch.arange(len(some)), some] = 1.0
        rows = torch.autograd.grad(
            result, leaves, pick.view(-1, *result.shape), allow_unused=True, retain_graph=True, is_grads_batched=True
        )
        parts = [(x * row).flatten(1).abs() for x, row in zip(leaves, rows, strict=True) if row is not None]
        parts = torch.cat(parts, 1).detach().nan_to_num(0.0, 0.0)
        sums.append(parts.sum(1))
        terms = max(terms, int((parts != 0).sum(1).max()))
    found = torch.cat(sums)
    return found.view(result.shape) if exact else found.max().expand(result.shape), terms


def is_elementwise(reference: Callable, plain: list) -> bool:
    """Whether each result depends on the inputs at its own position only, as every second input then shows."""
    if not all(isinstance(x, torch.Tensor) and x.shape == plain[0].shape for x in plain):
        return False
    wide = [widened(x) for x in plain]
    try:
        whole, half = call(reference, wide), call(reference, [x.flatten()[::2].contiguous() for x in wide])
    except ValueError:
        return False
    return all(
        w.shape == plain[0].shape and torch.allclose(w.flatten()[::2].double(), h.double(), equal_nan=True)
        for w, h in zip(whole, half, strict=True)
    )
