"""Three clocks for one call on a GPU, each in microseconds: what the device needs, what the host needs, and a graph."""

import math
import time
from collections.abc import Callable

import torch


def device_us(call: Callable[[], object], rep: int = 100, warmup: int = 25) -> tuple[float, float, float]:
    """Median, 20th and 80th percentile of the device's time, from `triton.testing.do_bench`.

    It calls for `warmup` ms, then for `rep` ms, empties the L2 cache before each call and reads GPU events around it.
    Where the device waits for the host between two launches of one call, the wait is in it.
    """
    from triton.testing import do_bench

    return tuple(1e3 * ms for ms in do_bench(call, warmup=warmup, rep=rep, quantiles=(0.5, 0.2, 0.8)))


def host_us(call: Callable[[], object], device: float = 0.0) -> float:
    """Median time for which the host is busy with one call, back to back, without waiting for the device.

    `device` is the device's time for it: of slow calls fewer are made, so that the launch queue never fills.
    """
    calls = int(min(max(5000 / max(device, 1.0), 5), 50))
    rounds = []
    for _ in range(9):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        rounds.append((time.perf_counter() - start) * 1e6 / calls)
    torch.cuda.synchronize()
    return sorted(rounds)[len(rounds) // 2]


def graph_us(call: Callable[[], object]) -> float:
    """Time of one call inside a CUDA graph, from `triton.testing.do_bench_cudagraph`: no host, and a warm L2 cache.

    NaN if the call cannot be captured.
    """
    from triton.testing import do_bench_cudagraph

    try:
        return 1e3 * do_bench_cudagraph(call, rep=5, return_mode="median")
    except RuntimeError:
        return math.nan
