"""`compare`: times implementations beside each other, each checked first, on a GPU; without one, shows the record."""

import math
import os
import statistics
from collections.abc import Callable, Sequence

import torch

from ..device import DEVICE, INTERPRETED
from .charts import show_clocks, show_rates
from .clocks import device_us, graph_us, host_us
from .inductor import NotCompiled, graphs, is_compiled, require_compiled
from .progress import Progress
from .rates import copy_rate, l2_bytes
from .records import RECORD, NotRecorded, kernel_fingerprint, measured, read, shown

ROUNDS = 7  # every implementation is timed in turn, so often: a card that gets warm slows all of them
CHUNK = 2**24  # elements compared at once


def compare(
    implementations: dict[str, Callable],
    cases: Sequence[tuple],
    inputs: int | Callable = 2,
    *,
    name: str,
    reference: Callable | None = None,
    flops: Callable | None = None,
    graph: bool = False,
    sweep: Sequence[tuple] = (),
):
    """Times `implementations` (name to function, all of the same arguments) on `cases`, draws and returns the result.

    A case is `(shape, dtype)`. `inputs` is how many random tensors of that shape, or a function `(shape, dtype,
    device) -> tuple`. Every implementation is first compared with `reference` (the first implementation, if none is
    given) in float64 on the same inputs: one that is wrong, raises, or was given as compiled and runs eager is
    reported and not timed; nor is a case that does not fit into the card's memory. A `torch.compile`d function is
    compiled for each case on its own; what it had compiled before is dropped.

    Draws the rates, or with `graph` the three clocks, and returns a DataFrame with a row for each case and
    implementation: `op` (the `name`), `shape`, `dtype`, `impl`; `device_us`, `p20_us`, `p80_us` (median and
    percentiles, µs, cold L2 cache); `GB/s` (10⁹ bytes a second, each input read once and each output written once) and
    `of_copy` (its share of this card's copy rate, measured once a session), or, with `flops` (`shape -> operations`),
    `TFLOP/s`; `speedup` over the first implementation; `host_us` (what a call costs the host); with `graph`,
    `graph_us` (a call inside a CUDA graph, warm L2 cache); and a `note` where the row needs one.

    Without a GPU the recorded table called `name` is returned instead. `sweep` are more cases, which only
    `make benchmarks` measures. Raises ValueError for an argument that makes no sense, and NotRecorded without a GPU
    if nothing of the kind is recorded: the interpreter is never timed.
    """
    _validate(implementations, cases, inputs)
    code = kernel_fingerprint(implementations.values())
    if INTERPRETED:
        table = _recorded(name, cases, implementations, code)
    else:
        todo = list(dict.fromkeys([*cases, *(sweep if os.environ.get(RECORD) == "1" else ())]))
        with Progress(len(todo)) as progress:
            rows = []
            for shape, dtype in todo:
                progress.step(f"{shape} {_name(dtype)}")
                case = Case(name, tuple(shape), dtype, inputs, reference or next(iter(implementations.values())))
                rows += case.rows(implementations, flops, graph)
        table = _of(measured(name, _frame(rows), code), cases)
    _say_untimed(table)
    (show_clocks if graph else show_rates)(table)
    return table


class Case:
    """One shape and dtype, on which implementations are checked and timed."""

    def __init__(self, op: str, shape: tuple, dtype: torch.dtype, inputs: int | Callable, reference: Callable):
        self.op, self.shape, self.dtype = op, shape, dtype
        self.inputs, self.reference = inputs, reference

    def rows(self, implementations: dict[str, Callable], flops: Callable | None, graph: bool) -> list[dict]:
        """A row for each implementation: those that are right are timed, the others have a note."""
        try:
            rows = self._rows(implementations, flops, graph)
        except torch.OutOfMemoryError:
            note = "not timed: the case does not fit into this card's free memory"
            rows = [{**self._row(name, None, None, 0, flops), "note": note} for name in implementations]
        torch.cuda.empty_cache()
        return rows

    def _rows(self, implementations: dict[str, Callable], flops: Callable | None, graph: bool) -> list[dict]:
        tensors = self._tensors()
        exact = self._exact(tensors)
        sizes = sum(t.nbytes for t in tensors) + exact.numel() * self.dtype.itemsize
        notes = self._check(implementations, tensors, exact)
        del exact
        calls = {name: _bound(f, tensors) for name, f in implementations.items() if name not in notes}
        before = graphs()
        times = _in_turns(calls)
        for name in calls if graphs() != before else ():
            if is_compiled(implementations[name]):
                notes[name], times[name] = "not timed: torch.compile compiled again while it was timed", None
        first = times.get(next(iter(implementations)))
        rows = []
        for name in implementations:
            row = self._row(name, times.get(name), first, sizes, flops)
            if times.get(name):
                row["host_us"] = host_us(calls[name], row["device_us"])
                if graph:
                    row["graph_us"] = graph_us(calls[name])
                row["note"] = _note(row, sizes)
            rows.append({**row, "note": notes.get(name, row.get("note", ""))})
        return rows

    def _tensors(self) -> tuple:
        torch.manual_seed(0)
        if callable(self.inputs):
            return self.inputs(self.shape, self.dtype, DEVICE)
        return tuple(torch.randn(self.shape, dtype=self.dtype, device=DEVICE) for _ in range(self.inputs))

    def _exact(self, tensors: tuple) -> torch.Tensor:
        """The reference's result in float64."""
        return self.reference(*(t.double() if t.is_floating_point() else t for t in tensors))

    def _check(self, implementations: dict[str, Callable], tensors: tuple, exact: torch.Tensor) -> dict[str, str]:
        """Why an implementation is not timed, for each such one; the others have been compiled and called."""
        torch.compiler.reset()
        notes = {}
        for name, function in implementations.items():
            try:
                if is_compiled(function):
                    require_compiled(function, tensors)
                if found := wrong(function(*tensors), exact, self.dtype):
                    notes[name] = f"not timed: wrong, {found}"
            except NotCompiled as error:
                notes[name] = f"not timed: {error}"
            except torch.OutOfMemoryError:
                raise
            except Exception as error:
                notes[name] = f"not timed: it raised {type(error).__name__}: {str(error).splitlines()[0][:100]}"
        return notes

    def _row(self, name: str, times: tuple | None, first: tuple | None, sizes: int, flops: Callable | None) -> dict:
        device, low, high = times or (math.nan,) * 3
        row = {"op": self.op, "shape": str(self.shape), "dtype": _name(self.dtype), "impl": name}
        row |= {"device_us": device, "p20_us": low, "p80_us": high}
        if flops:
            row["TFLOP/s"] = flops(self.shape) / device / 1e6
        else:
            row["GB/s"] = sizes / device / 1e3
            row["of_copy"] = row["GB/s"] / copy_rate() if times else math.nan
        return row | {"speedup": first[0] / device if first else math.nan, "host_us": math.nan}


def wrong(result, exact: torch.Tensor, dtype: torch.dtype) -> str | None:
    """What is wrong with a result, or None: |y − r| may be 8·u(dtype)·(|r| + the mean of |r|), r being `exact`.

    u is the unit roundoff. This is coarse, made to refuse a kernel that computes something else before it is timed;
    `check` is the fine test.
    """
    if not isinstance(result, torch.Tensor) or result.shape != exact.shape or result.dtype != dtype:
        found = f"{_name(result.dtype)}{list(result.shape)}" if isinstance(result, torch.Tensor) else type(result)
        return f"{found} instead of {_name(dtype)}{list(exact.shape)}"
    if not exact.numel():
        return None
    allowed, mean, bad, first = 4 * torch.finfo(dtype).eps, exact.abs().mean(), 0, None
    flat, right = result.flatten(), exact.flatten()
    for start in range(0, exact.numel(), CHUNK):
        y, r = flat[start : start + CHUNK].double(), right[start : start + CHUNK]
        off = ~((y - r).abs() <= allowed * (r.abs() + mean))
        if count := int(off.sum()):
            bad, first = bad + count, first if bad else start + int(off.int().argmax())
    if not bad:
        return None
    place = tuple(int(i) for i in torch.unravel_index(torch.tensor(first), exact.shape))
    return f"{bad} of {exact.numel()} elements, the first at {place}"


def _bound(function: Callable, tensors: tuple) -> Callable:
    return lambda: function(*tensors)


def _in_turns(calls: dict[str, Callable]) -> dict[str, tuple]:
    """Median, 20th and 80th percentile of each call's device time: means over rounds, without the extreme ones."""
    rounds = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            rounds[name].append(device_us(call, rep=15, warmup=5))
    return {name: tuple(_middle(column) for column in zip(*found, strict=True)) for name, found in rounds.items()}


def _middle(values: Sequence[float]) -> float:
    """The mean without the smallest and the largest: where tensors happen to lie makes 3 % between two rounds."""
    return statistics.mean(sorted(values)[1:-1])


def _say_untimed(table) -> None:
    untimed = table[table["note"].astype(str).str.startswith("not timed")]
    for (shape, dtype, note), rows in untimed.groupby(["shape", "dtype", "note"], sort=False):
        print(f"{shape} {dtype}, {', '.join(rows['impl'])}: {note}")


def _note(row: dict, sizes: int) -> str:
    notes = ["launch-bound"] if row["host_us"] > row["device_us"] else []
    return "; ".join(notes + (["fits in L2"] if sizes <= l2_bytes() else []))


def _recorded(name: str, cases: Sequence[tuple], implementations: dict, code: str):
    """The rows of a record that belong to `cases`, of all implementations that were measured beside these."""
    table = _of(shown(*read(name), code), cases)
    there = set(zip(table["shape"], table["dtype"], strict=True))
    missing = [f"{tuple(s)} {_name(d)}" for s, d in cases if (str(tuple(s)), _name(d)) not in there]
    if not len(table):
        raise NotRecorded(f"none of these cases of {name!r} was recorded, and only a GPU can time them")
    if missing:
        print("Never recorded:", ", ".join(missing))
    if unknown := [name for name in implementations if name not in set(table["impl"])]:
        print("Never recorded:", ", ".join(unknown))
    return table


def _of(table, cases: Sequence[tuple]):
    wanted = {(str(tuple(shape)), _name(dtype)) for shape, dtype in cases}
    keys = zip(table["shape"], table["dtype"], strict=True)
    return table[[key in wanted for key in keys]].reset_index(drop=True)


def _frame(rows: list[dict]):
    import pandas

    table = pandas.DataFrame(rows)
    return table[[column for column in table if column != "note"] + ["note"]]


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _validate(implementations, cases, inputs) -> None:
    if not isinstance(implementations, dict) or not implementations or not all(map(callable, implementations.values())):
        raise ValueError('implementations must map names to functions, such as {"eager": torch.add, "triton": add}')
    for name, function in implementations.items():
        if hasattr(function, "fn") and hasattr(function, "run"):
            raise ValueError(f"implementations[{name!r}] is a kernel; give its launcher, a function of tensors")
    for case in cases:
        if not (isinstance(case, tuple) and len(case) == 2 and isinstance(case[1], torch.dtype)):
            raise ValueError(f"cases has {case!r}; a case is (shape, dtype), such as ((8192, 14336), torch.bfloat16)")
    if not len(cases):
        raise ValueError("cases is empty; give at least one (shape, dtype)")
    if not callable(inputs) and (not isinstance(inputs, int) or isinstance(inputs, bool) or inputs < 1):
        raise ValueError(f"inputs is {inputs!r}; give the number of tensors, or a function (shape, dtype, device)")
