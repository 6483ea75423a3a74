"""One case of a comparison: its tensors, what is right for them, and the times of what is right."""

import functools
import statistics
from collections.abc import Callable, Sequence

import torch

from ..compiler.functions import is_compiled
from ..device import DEVICE
from .clocks import device_us, graph_us, host_us, l2_bytes
from .inductor import NotCompiled, compiled_graphs, require_compiled

ROUNDS = 7  # every implementation is timed in turn, so often: a card that gets warm slows all of them


def made(inputs: int | Callable, shape: tuple, dtype: torch.dtype, passes: str) -> tuple:
    """The tensors of a case, the same each time; `inputs` and `passes` are as `compare` takes them."""
    torch.manual_seed(0)
    random = functools.partial(torch.randn, shape, dtype=dtype, device=DEVICE)
    tensors = inputs(shape, dtype, DEVICE) if callable(inputs) else [random() for _ in range(inputs)]
    if not isinstance(tensors, tuple | list) or not all(isinstance(one, torch.Tensor) for one in tensors):
        raise ValueError("inputs must return a tuple of tensors")
    if passes != "forward" and not any(one.requires_grad for one in tensors):
        tensors = [one.requires_grad_(one.is_floating_point()) for one in tensors]
    return tuple(tensors)


def timed(implementations: dict, reference: Callable, tensors: tuple, dtype: torch.dtype, passes: str, graph: bool):
    """A row for each implementation, with times or why it has none (`note`), and the least bytes that the case moves.

    Those are the bytes of all tensors that come in, gradients too, and of all results.
    """
    n_bytes, calls, notes = _checked(implementations, reference, tensors, dtype, passes)
    before, times = compiled_graphs(), _in_turns(calls)
    if compiled_graphs() != before:
        again = "torch.compile compiled again while it was timed"
        notes |= {name: again for name in calls if is_compiled(implementations[name])}
    rows = [{"impl": name, "note": f"not timed: {notes.get(name)}"} for name in implementations]
    for row in [row for row in rows if row["impl"] not in notes]:
        call = calls[row["impl"]]
        row["device_us"], row["p20_us"], row["p80_us"] = times[row["impl"]]
        row["host_us"] = host_us(call, row["device_us"])
        row |= {"graph_us": graph_us(call)} if graph else {}
        bound = ["launch-bound"] if row["host_us"] > row["device_us"] else []
        row["note"] = "; ".join(bound + (["fits in L2"] if n_bytes <= l2_bytes() else []))
    return rows, n_bytes


def _in_turns(calls: dict[str, Callable]) -> dict[str, tuple]:
    """Median, 20th and 80th percentile of each call's device time: means over rounds, without the extreme ones.

    Where tensors happen to lie makes 3 % between two rounds.
    """
    rounds = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            rounds[name].append(device_us(call, rep=15, warmup=5))
    middle = {name: [sorted(column)[1:-1] for column in zip(*found, strict=True)] for name, found in rounds.items()}
    return {name: tuple(map(statistics.mean, columns)) for name, columns in middle.items()}


def _checked(implementations: dict, reference: Callable, tensors: tuple, dtype: torch.dtype, passes: str):
    """The least bytes; the calls that are right the second time; why each other implementation is not timed."""
    grads = ()
    if passes != "forward":
        grads = tuple(torch.randn_like(one) for one in _several(reference(*tensors)) if one.requires_grad)
    like = _several(_prepared(reference, tensors, grads, passes)())
    n_bytes, dtypes = sum(one.nbytes for one in (*tensors, *grads, *like)), [one.dtype for one in like]
    del like
    exact = _several(_prepared(reference, _doubles(tensors), _doubles(grads), passes)())
    torch.compiler.reset()
    calls, notes = {}, {}
    for name, function in implementations.items():
        prepare = functools.partial(_prepared, function, tensors, grads, passes)
        try:
            call = require_compiled(prepare) if is_compiled(function) else prepare()
            call()  # a kernel that adds to what it left behind is right once
            if found := wrong(call(), exact, dtypes, dtype):
                notes[name] = f"wrong, {found}"
            else:
                calls[name] = call
        except NotCompiled as error:
            notes[name] = str(error)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            notes[name] = f"it raised {type(error).__name__}: {str(error).partition(chr(10))[0][:100]}"
    return n_bytes, calls, notes


def _prepared(function: Callable, tensors: tuple, grads: tuple, passes: str) -> Callable:
    """The call to time: of the function, of its backward pass on a graph that is kept, or of both."""

    def backward(results, keep: bool) -> tuple:
        sources = [one for one in tensors if one.requires_grad]
        results = [one for one in _several(results) if one.requires_grad]
        return torch.autograd.grad(results, sources, grads, retain_graph=keep)

    def both() -> tuple:
        results = _several(function(*tensors))
        return *results, *backward(results, False)

    if passes == "backward":
        results = function(*tensors)
        return lambda: backward(results, True)
    return both if passes == "both" else lambda: function(*tensors)


def _several(results) -> tuple:
    """What a function returned as a tuple; a None among its results says nothing."""
    results = results if isinstance(results, tuple | list) else (results,)
    return tuple(one for one in results if one is not None)


def _doubles(tensors: tuple) -> tuple:
    """The same tensors in float64, without their history; integers stay."""
    wide = (one.detach().double() if one.is_floating_point() else one for one in tensors)
    return tuple(one.requires_grad_(old.requires_grad) for one, old in zip(wide, tensors, strict=True))


def wrong(results, exact: Sequence[torch.Tensor], dtypes: Sequence[torch.dtype], dtype: torch.dtype) -> str | None:
    """What is wrong with the results of a case of `dtype`, or None; `exact` are the right ones, in float64.

    Coarse, made to refuse a kernel that computes something else before it is timed; `check` is the fine test. |y − r|
    may be (8·u + 2048·min(u, 2⁻²⁴))·(|r| + R), where R is the root mean square of r's row (at least the mean of all
    |r|) and u the unit roundoff of the result's dtype or the case's, whichever is larger:

    - 8·u, since the result and what is kept in between in `dtype` (scores, probabilities) are each off by u of
      themselves, about R (Higham, Accuracy and Stability of Numerical Algorithms, 2002, 2.2 and 3.1);
    - 2048·2⁻²⁴ for sums in float32 of up to N = 2¹⁸ terms in any order, 4·√N·2⁻²⁴ (their error grows like √N: Higham
      and Mary, A New Approach to Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41(5), 2019).

    What TF32 does to a product in float32 is more. Results that are no floating-point numbers must be equal.
    """
    results = _several(results)
    if len(results) != len(exact):
        return f"{len(results)} results instead of {len(exact)}"
    for number, (y, r, own) in enumerate(zip(results, exact, dtypes, strict=True), 1):
        if found := _wrong(y, r, own, dtype):
            return f"result {number}: {found}" if len(exact) > 1 else found
    return None


def _wrong(result, exact: torch.Tensor, own: torch.dtype, dtype: torch.dtype) -> str | None:
    if not isinstance(result, torch.Tensor) or result.shape != exact.shape or result.dtype != own:
        found = f"{result.dtype}{list(result.shape)}" if isinstance(result, torch.Tensor) else type(result).__name__
        return f"{found} instead of {own}{list(exact.shape)}".replace("torch.", "")
    off = result != exact
    if own.is_floating_point:
        u = max(torch.finfo(one).eps for one in (own, dtype) if one.is_floating_point) / 2
        size = exact.abs().nan_to_num(posinf=0.0)  # so that one inf does not allow everything
        row = size.square().mean(-1, keepdim=True).sqrt().clamp(min=size.mean())
        off &= ~((result.detach().double() - exact).abs() <= (8 * u + 2048 * min(u, 2**-24)) * (size + row))
    if not (bad := int(off.sum())):
        return None
    first = torch.unravel_index(off.flatten().int().argmax(), off.shape)
    return f"{bad} of {off.numel()} elements, the first at {tuple(map(int, first))}"
