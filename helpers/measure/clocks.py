"""What a call costs on a GPU by three clocks, in microseconds, and what the card can do: no datasheet's number."""

import functools
import math
import statistics
import time
from collections.abc import Callable

import torch

from ..device import DEVICE


def device_us(call: Callable[[], object], rep: int = 100, warmup: int = 25) -> tuple[float, float, float]:
    """Median, 20th and 80th percentile of the device's time, by the events of `triton.testing.do_bench`.

    It calls for `warmup` ms, then for `rep` ms, and empties the L2 cache before each call. Where the device waits for
    the host between two launches of one call, the wait is in it.
    """
    from triton.testing import do_bench

    return tuple(1e3 * ms for ms in do_bench(call, warmup=warmup, rep=rep, quantiles=(0.5, 0.2, 0.8)))


def host_us(call: Callable[[], object], device: float) -> float:
    """Median time for which the host is busy with one call, back to back, without waiting for the device.

    `device` is the device's time for it: of slow calls fewer are made, so that the launch queue never fills.
    """
    calls, rounds = int(5000 / min(max(device, 100), 1000)), []
    for _ in range(9):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        rounds.append((time.perf_counter() - start) * 1e6 / calls)
    torch.cuda.synchronize()
    return statistics.median(rounds)


def graph_us(call: Callable[[], object]) -> float:
    """Time of one call inside a CUDA graph, with a warm L2 cache; NaN if the call cannot be captured."""
    from triton.testing import do_bench_cudagraph

    try:
        return 1e3 * do_bench_cudagraph(call, rep=5, return_mode="median")
    except RuntimeError:
        return math.nan


@functools.cache
def copy_rate() -> float:
    """GB/s (10⁹ bytes, read and written ones counted) of a device-to-device copy of up to 1 GiB."""
    n_bytes = min(2**30, torch.cuda.mem_get_info()[0] // 4)
    x = torch.empty(n_bytes, dtype=torch.int8, device=DEVICE).random_()
    y = torch.empty_like(x)
    return 2 * n_bytes / device_us(lambda: y.copy_(x))[0] / 1e3


def l2_bytes() -> int:
    """Size of the L2 cache."""
    return torch.cuda.get_device_properties(DEVICE).L2_cache_size
