"""`compare`: times implementations beside each other, each checked first, on a GPU; without one, shows the record."""

import math
import os
from collections.abc import Callable, Sequence

import torch

from ..compiler.functions import is_kernel
from ..device import INTERPRETED
from .charts import show_clocks, show_rates
from .clocks import copy_rate
from .fingerprint import fingerprint
from .recording import measured, shown
from .records import NotRecorded
from .workload import made, timed

FIRST = ("op", "shape", "dtype", "impl", "device_us", "p20_us", "p80_us")  # columns


def compare(
    implementations: dict[str, Callable],
    cases: Sequence[tuple],
    inputs: int | Callable = 2,
    *,
    name: str,
    reference: Callable | None = None,
    passes: str = "forward",
    flops: Callable | None = None,
    n_bytes: Callable | None = None,
    graph: bool = False,
    sweep: Sequence[tuple] = (),
):
    """Times `implementations` on `cases`, each checked first, draws the result and returns it as a DataFrame.

    - `implementations`: names and functions of tensors, which return a tensor or a tuple; `speedup` is over the first.
    - `cases`: `(shape, dtype)` or `(shape, dtype, label)`, as `((4, 32, 2048, 128), torch.bfloat16, "2048 tokens")`.
      A shape is a tuple that the functions below understand; a label names the case in table, chart and record.
    - `inputs`: how many random tensors of that shape, or a function `(shape, dtype, device) -> tuple of tensors`.
    - `name`: of the operation, and of its record.
    - `reference`: plain PyTorch, by default the first implementation. Called with the tensors it tells the dtypes of
      right results, called with them in float64 the values.
    - `passes`: what is timed and checked. "forward": the call. "backward": the gradients alone, on a graph that is
      kept, for random gradients of the results, of those inputs that came with `requires_grad` (else of all that can
      have some). "both": the call and its gradients. They come from `torch.autograd.grad`, so no addition into `.grad`
      is timed. A launcher that computes gradients is itself a function of tensors: "forward".
    - `flops`: `shape -> operations`, for a rate in TFLOP/s instead of GB/s.
    - `n_bytes`: `(shape, dtype) -> bytes`, for the rate in GB/s; by default every tensor that comes in, and every
      result, counts once.
    - `graph`: times calls inside a CUDA graph, too (not of "backward" alone), and draws the three clocks.
    - `sweep`: more cases, measured only where COURSE_SWEEP=1.

    What is wrong at its second call, raises, or was given as compiled and ran eager is reported and not timed, nor is
    a case that does not fit into the card's memory. `torch.compile`d functions are compiled anew for each case.

    A row for each case and implementation holds `op` (the name), `shape` (or label), `dtype`, `impl`; `device_us`,
    `p20_us`, `p80_us` (median and percentiles, µs, cold L2 cache); `GB/s` (10⁹ bytes a second) and `of_copy` (its share
    of this card's copy rate), or `TFLOP/s`; `speedup`; `host_us` (what a call costs the host); with `graph`, `graph_us`
    (a call inside a CUDA graph, warm L2 cache); and a `note` where it needs one. Without a GPU the rows come from the
    record. Raises ValueError for an argument that makes no sense, and NotRecorded without a GPU if there is no record.
    """
    cases, sweep = list(map(_labelled, cases)), list(map(_labelled, sweep))
    _validate(implementations, cases, sweep, inputs, passes, flops, n_bytes, graph)
    code = fingerprint(implementations.values(), kernels_only=True)
    if INTERPRETED:
        table = _recorded(name, cases, implementations, code)
    else:
        import pandas

        todo = list(dict.fromkeys(cases + (sweep if os.environ.get("COURSE_SWEEP") == "1" else [])))
        reference, rows = reference or next(iter(implementations.values())), []
        for number, case in enumerate(todo, 1):
            print(f"\r{number} of {len(todo)}: {case[2]:<60.60}", end="", flush=True)
            rows += _rows(case, implementations, reference, inputs, passes, flops, n_bytes, graph)
        print("\r" + " " * 80, end="\r")
        rates = ["TFLOP/s"] if flops else ["GB/s", "of_copy"]
        columns = [*FIRST, *rates, "speedup", "host_us", *(["graph_us"] if graph else []), "note"]
        table = pandas.DataFrame(rows, columns=columns)
        author = fingerprint([*implementations.values(), reference])
        table = _of(measured(name, table.assign(op=name), code, author), cases)
    why = table[table["note"].str.startswith("not timed")].groupby(["shape", "dtype", "note"], sort=False)
    for (label, dtype, note), part in why:
        print(f"{label} {dtype}, {', '.join(part['impl'])}: {note}")
    try:
        (show_clocks if graph else show_rates)(table)
    except Exception as error:  # of whatever kind: the table took minutes to measure
        print(f"The chart cannot be drawn: {type(error).__name__}: {error}")
    return table


def _rows(case, implementations, reference, inputs, passes, flops, n_bytes, graph) -> list[dict]:
    """The rows of one case: times, rates and speed-ups, but for an implementation that is not timed."""
    shape, dtype, label = case
    try:
        rows, least = timed(implementations, reference, made(inputs, shape, dtype, passes), dtype, passes, graph)
    except torch.OutOfMemoryError:
        note = "not timed: the case does not fit into this card's free memory"
        rows = [{"impl": one, "note": note} for one in implementations]
    torch.cuda.empty_cache()
    for row in rows:
        row |= {"shape": label, "dtype": _text(dtype)}
        if us := row.get("device_us"):
            row["speedup"] = rows[0].get("device_us", math.nan) / us
            if flops:
                row["TFLOP/s"] = flops(shape) / us / 1e6
            else:
                row["GB/s"] = (n_bytes(shape, dtype) if n_bytes else least) / us / 1e3
                row["of_copy"] = row["GB/s"] / copy_rate()
    return rows


def _recorded(name: str, cases: list[tuple], implementations: dict, code: str):
    """The rows of a record that belong to `cases`, of all implementations that were measured beside these."""
    table = _of(shown(name, code), cases)
    if not len(table):
        raise NotRecorded(f"none of these cases of {name!r} was recorded, and only a GPU can time them")
    missing = [f"{label} {_text(dtype)}" for _, dtype, label in cases if (label, _text(dtype)) not in _keys(table)]
    for unknown in (missing, [one for one in implementations if one not in set(table["impl"])]):
        if unknown:
            print("Never recorded:", ", ".join(unknown))
    return table


def _of(table, cases: list[tuple]):
    wanted = {(label, _text(dtype)) for _, dtype, label in cases}
    return table[[key in wanted for key in _keys(table)]].reset_index(drop=True)


def _keys(table) -> list[tuple[str, str]]:
    return list(zip(table["shape"], table["dtype"], strict=True))


def _text(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _labelled(case) -> tuple[tuple, torch.dtype, str]:
    """A case with its label, which is the shape if the author gave none."""
    kinds = tuple(map(type, case)) if isinstance(case, tuple) else ()
    if kinds[1:] not in ((torch.dtype,), (torch.dtype, str)) or not isinstance(case[0], tuple):
        example = '((8192, 14336), torch.bfloat16) or ((8192, 14336), torch.bfloat16, "8192 tokens")'
        raise ValueError(f"cases has {case!r}; a case is (shape, dtype) or (shape, dtype, label), such as {example}")
    return *case[:2], case[2] if case[2:] else str(tuple(case[0]))


def _validate(implementations, cases, sweep, inputs, passes, flops, n_bytes, graph) -> None:
    if not isinstance(implementations, dict) or not implementations or not all(map(callable, implementations.values())):
        raise ValueError('implementations must map names to functions, such as {"eager": torch.add, "triton": add}')
    for name, function in implementations.items():
        if is_kernel(function):
            raise ValueError(f"implementations[{name!r}] is a kernel; give its launcher, a function of tensors")
    if not cases:
        raise ValueError("cases is empty; give at least one (shape, dtype)")
    if len({case[1:] for case in cases + sweep}) < len(set(cases + sweep)):
        raise ValueError("two cases have one label and one dtype; give each a label of its own")
    if not callable(inputs) and (not isinstance(inputs, int) or isinstance(inputs, bool) or inputs < 1):
        raise ValueError(f"inputs is {inputs!r}; give the number of tensors, or a function (shape, dtype, device)")
    if passes not in ("forward", "backward", "both"):
        raise ValueError(f"passes is {passes!r}; give one of forward, backward, both")
    if passes == "backward" and graph:
        raise ValueError('a CUDA graph cannot hold a backward pass alone; give passes="both", or graph=False')
    if flops and n_bytes:
        raise ValueError("give flops for a rate in TFLOP/s or n_bytes for one in GB/s, not both")
