"""The clocks and the rates against times that are known: fake ones here, a kernel that spins where there is a GPU."""

from helpers.device import DEVICE, INTERPRETED
from helpers.measure import clocks

import itertools
import math
import time
from types import SimpleNamespace

import pytest
import torch
import triton
import triton.language as tl

TICK = 1.1  # µs: %globaltimer moves at least once in 1.024 µs on the cards that say so, some 32 ns on newer ones


def test_the_device_is_timed_by_do_bench_in_microseconds(monkeypatch):
    asked = []

    def do_bench(call, warmup, rep, quantiles):
        asked.append((call, warmup, rep))
        return [{0.5: 0.25, 0.2: 0.125, 0.8: 4.0}[quantile] for quantile in quantiles]

    monkeypatch.setattr(triton.testing, "do_bench", do_bench)
    assert clocks.device_us(len) == clocks.device_us(len, 7, 3) == (250, 125, 4000)
    assert asked == [(len, 25, 100), (len, 3, 7)]


@pytest.mark.parametrize("device, calls", [(0.0, 50), (100.01, 49), (199.9, 25), (1000.0, 5), (1e6, 5)])
def test_the_host_is_timed_over_calls_back_to_back_without_the_device(monkeypatch, device, calls):
    """A call of round k takes (9, 1, 8, …)[k] µs, so 5 is the median; to wait for the device takes a second."""
    now, done = [0.0], []

    def call():
        done.append("call")
        now[0] += (9, 1, 8, 2, 7, 3, 6, 4, 5)[done.count("wait") - 1] * 1e-6

    def synchronize():
        done.append("wait")
        now[0] += 1.0

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
    assert clocks.host_us(call, device) == pytest.approx(5, rel=1e-9)
    runs = [(what, len(list(group))) for what, group in itertools.groupby(done)]
    assert runs == [("wait", 1), ("call", calls)] * 9 + [("wait", 1)]


def test_a_graph_is_timed_by_do_bench_cudagraph_in_microseconds(monkeypatch):
    def do_bench_cudagraph(call, rep, return_mode):
        assert (rep, return_mode) == (5, "median")
        return call()

    monkeypatch.setattr(triton.testing, "do_bench_cudagraph", do_bench_cudagraph)
    assert clocks.graph_us(lambda: 0.125) == 125

    def refuse():
        raise RuntimeError("operation not permitted when stream is capturing")

    assert math.isnan(clocks.graph_us(refuse))


@pytest.mark.parametrize("free, n_bytes", [(4003, 1000), (2**40, 2**30)])
def test_the_copy_rate_counts_bytes_read_and_written(monkeypatch, free, n_bytes):
    made, empty = [], torch.empty

    def smaller(size, **options):
        made.append((size, options["device"]))
        return empty(8, **options)

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free, 2**50))
    monkeypatch.setattr(torch, "empty", smaller)
    monkeypatch.setattr(torch, "empty_like", lambda x: made.append(x) or torch.zeros_like(x))
    monkeypatch.setattr(clocks, "device_us", lambda call: (made.append(call()) or 4.0, 3.0, 5.0))
    assert clocks.copy_rate.__wrapped__() == pytest.approx(2 * n_bytes / 4e-6 / 1e9, rel=1e-9)
    size, x, y = made
    assert size == (n_bytes, DEVICE) and x.dtype == torch.int8 and x.any() and torch.equal(x, y) and x is not y


def test_the_size_of_the_cache_is_this_cards(monkeypatch):
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(L2_cache_size={DEVICE: 7}[device])
    )
    assert clocks.l2_bytes() == 7


@triton.jit
def spin_kernel(ns):
    start = tl.extra.cuda.globaltimer()
    now = start
    while now - start < ns:
        now = tl.extra.cuda.globaltimer()


@pytest.mark.skipif(INTERPRETED, reason="needs a GPU")
@pytest.mark.parametrize(
    "clock",
    [
        lambda call: clocks.device_us(call)[0],
        lambda call: clocks.host_us(lambda: (call(), torch.cuda.synchronize()), 200.0),
        clocks.graph_us,
    ],
    ids=["device", "host", "graph"],
)
def test_a_kernel_of_known_time_takes_it_by_every_clock(clock):
    """It spins for 200 µs of the GPU's own timer. What a clock adds to that, it adds to a kernel that does not spin."""
    overhead, found = (clock(lambda ns=ns: spin_kernel[(1,)](ns)) for ns in (0, 200_000))
    assert 200 - TICK <= found <= 200 + 2 * overhead + 2 * TICK, (overhead, found)


@pytest.mark.skipif(INTERPRETED, reason="needs a GPU")
def test_the_rates_of_this_card_are_measured_once():
    assert clocks.copy_rate() == clocks.copy_rate() > 0
    assert clocks.l2_bytes() > 0
