"""Reads outside an input: pages that fault, in a child process."""

from helpers.checker import fence
from helpers.checker.cases import Case

import ctypes
import os
import signal

import pytest
import torch

F32 = torch.float32
needs_fork = pytest.mark.skipif(not fence.AVAILABLE, reason="needs the interpreter and fork")


@needs_fork
def test_the_fence_kills_only_the_child():
    def read(side: str, byte: int):
        x = fence.fenced(torch.ones(10), Case((10,), F32), 0, side)
        ctypes.string_at(x.data_ptr() + byte, 1)

    past, before = fence.SIDES
    assert fence.in_child([lambda: 1 / 0, lambda: read(past, 39), lambda: read(before, 0)]).killed_by is None
    assert fence.in_child([lambda: None, lambda: read(past, 40), lambda: None]).killed_by == 1
    assert fence.in_child([lambda: None, lambda: read(before, -1)]).killed_by == 1


@needs_fork
def test_a_fenced_input_lies_flush_and_holds_its_values():
    page = fence.mmap.PAGESIZE
    for side in fence.SIDES:
        for layout, size in (("as given", 48), ("column slice", 4 * (3 * 6 + 3)), ("transposed", 48)):
            given = torch.arange(12.0).view(4, 3)
            x = fence.fenced(given, Case((4, 3), F32, layout), 0, side)
            assert torch.equal(x, given) and x.stride() == {"column slice": (6, 1), "transposed": (1, 4)}.get(
                layout, (3, 1)
            )
            assert (x.data_ptr() + (size if side == fence.SIDES[0] else 0)) % page == 0
    empty = torch.empty(0)
    assert fence.fenced(empty, Case((0,), F32), 0, fence.SIDES[0]) is empty


@needs_fork
@pytest.mark.parametrize(("layout", "last"), [("column slice", 3 * 24 + 12 - 1), ("transposed", 4 * 12 - 1)])
def test_a_view_ends_where_its_last_element_does(layout, last):
    def read(byte: int):
        x = fence.fenced(torch.ones(4, 3), Case((4, 3), F32, layout), 0, fence.SIDES[0])
        ctypes.string_at(x.data_ptr() + byte, 1)

    assert fence.in_child([lambda: read(last)]).killed_by is None
    assert fence.in_child([lambda: read(last + 1)]).killed_by == 0


@needs_fork
def test_what_the_jobs_of_a_child_return():
    done = fence.in_child([lambda: ("right", 1), lambda: 1 / 0, lambda: [2]])
    assert done.returned == [("right", 1), None, [2]] and done.killed_by is None
    done = fence.in_child([lambda: 1, lambda: os.kill(os.getpid(), signal.SIGKILL)])
    assert done.returned == [1] and done.killed_by == 1


@needs_fork
def test_a_child_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(fence, "TIMEOUT", 0.5)
    with pytest.raises(TimeoutError, match="job 1 did not finish"):
        fence.in_child([lambda: None, signal.pause])


def test_the_plan_of_the_child():
    first, shapes = Case((768,), F32), [(768,), (256,), (257,), (0,), (17, 61), (3, 5)]
    found = fence.plan(first, shapes)
    past, before = fence.SIDES
    sizes = [(c.shape, c.layout, side) for c, side in found]
    assert sizes[0] == ((0,), "as given", None) and [s for _, _, s in sizes].count(before) == 2
    assert [s for s, layout, side in sizes if side == past and layout == "as given"] == [
        (768,), (256,), (257,), (17, 61), (3, 5),
    ]  # fmt: skip
    assert {layout for _, layout, side in sizes if side == past} >= {"offset view", "column slice", "transposed"}
