"""Clocks whose times are known: `clocks`, for tests of `compare` that name this module in `pytest_plugins`."""

from helpers.measure import comparison, recording, records, workload

import pytest

ABOUT = {"card": "A Card", "driver": "driver 1", "torch": "torch 2", "triton": "triton 3", "date": "2026-01-01"}
DEVICE_US = {"eager": 40.0, "fused": 10.0}
HOST_US = {"eager": 40.0, "fused": 12.0}
GRAPH_US = {"eager": 30.0, "fused": 7.0}
ROUNDS = (1000.0, 0.6, 0.7, 0.7, 1.4, 1.6, 0.001)  # without the extremes 1 on average


class Clocks:
    """Times implementations that say their names when they run; `ran` are those that were timed, in order."""

    def __init__(self):
        self.ran, self.name, self.copy, self.cache, self.drawn = [], "eager", 8.0, 1000, None

    def named(self, **functions):
        def run(name, function, tensors):
            self.name = name
            return function(*tensors)

        return {name: lambda *t, name=name, f=f: run(name, f, t) for name, f in functions.items()}

    def device_us(self, call, rep, warmup):
        assert (rep, warmup) == (15, 5)
        call()
        us = DEVICE_US[self.name] * ROUNDS[self.ran.count(self.name) % len(ROUNDS)]
        self.ran.append(self.name)
        return us, us / 2, us * 3

    def host_us(self, call, device):
        call()
        assert device == pytest.approx(DEVICE_US[self.name])
        return HOST_US[self.name]

    def graph_us(self, call):
        call()
        return GRAPH_US[self.name]


@pytest.fixture
def clocks(monkeypatch, tmp_path):
    """Makes `compare` measure here, with clocks and records of its own."""
    own = Clocks()
    monkeypatch.setattr(comparison, "INTERPRETED", False)
    monkeypatch.setattr(comparison, "copy_rate", lambda: own.copy)
    monkeypatch.setattr(workload, "l2_bytes", lambda: own.cache)
    for name in ("device_us", "host_us", "graph_us"):
        monkeypatch.setattr(workload, name, getattr(own, name))
    for name in ("show_rates", "show_clocks"):
        monkeypatch.setattr(comparison, name, lambda table, name=name: setattr(own, "drawn", (name, table)))
    monkeypatch.setattr(recording, "provenance", lambda: dict(ABOUT))
    monkeypatch.setattr(records, "DATA", tmp_path)
    monkeypatch.setattr(records, "_written", {})
    for name in ("COURSE_RECORD", "COURSE_SWEEP", "COURSE_STRICT_RECORDS"):
        monkeypatch.delenv(name, raising=False)
    return own
