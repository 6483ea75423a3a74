"""What the checker sees of memory: guards and poison, pages that fault, other orders of programs, what was launched."""

from helpers.checker import fence, guards
from helpers.checker.authored import authored, stub_above_code
from helpers.checker.cases import Case
from helpers.checker.launches import Launch, Launches, can_be_reordered, in_order, orders
from helpers.checker.placing import place
from helpers.checker.settings import nan_as_on_a_gpu
from helpers.device import DEVICE, INTERPRETED
from helpers.tests.zoo import kinds as z

import ctypes
import os
import signal

import pytest
import torch
import triton
import triton.language as tl

F32 = torch.float32
needs_fork = pytest.mark.skipif(not fence.AVAILABLE, reason="needs the interpreter and fork")
needs_interpreter = pytest.mark.skipif(not INTERPRETED, reason="only the interpreter runs programs one by one")


def placed(*tensors, guard=1000):
    return [place(x, Case(tuple(x.shape), x.dtype), k, DEVICE, guard) for k, x in enumerate(tensors)]


def test_guards_move_fresh_tensors_and_leave_aliases():
    x = torch.arange(6.0)
    mode = guards.Guards(1000, [])
    with mode:
        view, fresh, empty = x.view(2, 3), torch.zeros(4), torch.empty(0)
        parts = x.clone().chunk(2)
    assert view.data_ptr() == x.data_ptr() and empty.numel() == 0
    assert len(mode.buffers) == 2 and torch.equal(parts[1], torch.arange(3.0, 6.0))
    assert not mode.breaches()
    fresh.as_strided((1,), (1,), fresh.storage_offset() + 5).fill_(1.0)
    assert [(b.first, b.last, b.elements) for b in mode.breaches()] == [(5, 5, 4)]


@pytest.mark.parametrize(("at", "first", "last"), [(-1, -1, -1), (4, 4, 4), (4 + 250, 254, 254), (-256, -256, -256)])
def test_a_store_anywhere_in_the_guards_is_seen(at, first, last):
    def store(x):
        out = torch.empty_like(x)
        out.as_strided((1,), (1,), out.storage_offset() + at).fill_(0.0)
        return out.copy_(x)

    done = guards.call(store, placed(torch.ones(4)), guard=1024)
    assert [(b.where, b.elements, b.first, b.last) for b in done.breaches] == [("an output", 4, first, last)]


def test_a_store_around_an_input_and_into_it_are_told_apart():
    def around(x):
        x.as_strided((1,), (1,), x.storage_offset() + 6).fill_(1.0)
        return x.clone()

    def into(x):
        x[2] = 9.0
        return x.clone()

    done = guards.call(around, placed(torch.ones(4)), guard=1000)
    assert [(b.where, b.first, b.last) for b in done.breaches] == [("input 0", 6, 6)] and done.overwritten == []
    done = guards.call(into, placed(torch.zeros(2), torch.ones(4)) and placed(torch.ones(4)), guard=1000)
    assert done.overwritten == [0] and done.breaches == []


def test_an_input_whose_shape_changes_counts_as_overwritten_and_gets_it_back():
    (x,) = placed(torch.ones(4))
    before = x.tensor
    assert guards.call(lambda x: x + 1, [x], guard=1000).overwritten == [] and x.tensor is before
    done = guards.call(lambda x: x.unsqueeze_(0) + 1, [x], guard=1000)
    assert done.overwritten == [0] and x.tensor.shape == (4,)
    (x,) = placed(torch.ones(2, 2))
    assert guards.call(lambda x: x.t_() + 1, [x], guard=1000).overwritten == [0] and x.tensor.stride() == (2, 1)


def test_outputs_are_poisoned_and_what_was_written_is_known():
    def half(x):
        out = torch.empty_like(x)
        out[:2] = x[:2]
        return out

    for guarded in (True, False):
        done = guards.call(half, placed(torch.ones(4)), guard=1000, guarded=guarded)
        assert done.results[0][2:].isnan().all()
    done = guards.call(half, placed(torch.ones(4)), guard=1000)
    assert guards.never_written(done.results[0]).tolist() == [False, False, True, True]
    assert not guards.never_written(torch.full((3,), float("nan"))).any()
    assert not guards.never_written(torch.zeros(3, dtype=torch.int8)).any()


def test_arguments_by_name_and_several_results_are_guarded():
    def candidate(x, number):
        values, _ = torch.topk(input=x, k=2)
        return [values, torch.zeros(size=(3,), dtype=torch.float16, device=x.device) + number]

    done = guards.call(candidate, [*placed(torch.tensor([1.0, 5.0, 3.0])), 2], guard=600)
    assert [x.tolist() for x in done.results] == [[5.0, 3.0], [2.0, 2.0, 2.0]]
    assert done.copies == ["topk of input 0", "topk of input 0"] and done.error is None
    sizes = {x.untyped_storage().nbytes() for x in done.results}
    assert sizes == {1024 + 512 + 1024}, "two guards of 600 bytes, rounded up to 1024, and 512 for the tensor"


def test_a_result_with_an_offset_of_its_own_stays_where_it_was():
    mode = guards.Guards(512, [])
    with mode:
        x = torch.arange(6.0)[3:5]
        y = torch.ones(2, 3).chunk(2, 1)[1]
    assert x.tolist() == [3.0, 4.0] and y.shape == (2, 1) and not mode.breaches()


def test_what_needs_a_gradient_or_holds_nothing_is_left_alone():
    mode = guards.Guards(512, [])
    with mode:
        torch.ones(2, requires_grad=True), torch.empty(3, device="meta")
    assert mode.buffers == []


def test_what_a_candidate_raises_comes_back():
    done = guards.call(lambda x: 1 / 0, placed(torch.ones(4)), guard=1000)
    assert isinstance(done.error, ZeroDivisionError) and not done.dead and done.results == ()


def test_a_copy_of_an_input_is_noted_and_new_memory_is_not():
    x = torch.arange(8.0)[::2]
    done = guards.call(lambda x: torch.empty_like(x).copy_(x.contiguous()), placed(x), guard=1000)
    assert done.copies == ["contiguous of input 0"]
    done = guards.call(lambda x: torch.empty_like(x).copy_(x), placed(x), guard=1000)
    assert done.copies == []


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


@triton.jit
def number_kernel(out_ptr, counter_ptr, n_columns):
    """Each program stores when it ran: its place in the order."""
    turn = tl.atomic_add(counter_ptr, 1)
    tl.store(out_ptr + tl.program_id(0) * n_columns + tl.program_id(1), turn)


def turns(order):
    out, counter = torch.zeros(3, 4, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    with in_order(order):
        number_kernel[(3, 4)](out, counter, 4)
    return out.flatten().tolist()


@needs_interpreter
def test_programs_run_in_the_order_that_was_asked_for():
    """Holds private names of the interpreter, `set_grid_idx` and `grid_dim`: if a release moves them, this fails."""
    assert can_be_reordered()
    assert turns(lambda n: list(range(n))) == list(range(12))
    assert turns(orders()["in reverse"]) == list(range(11, -1, -1))
    shuffled = orders()["shuffled"](12)
    assert sorted(shuffled) == list(range(12)) and shuffled not in (list(range(12)), list(range(11, -1, -1)))
    assert [turns(orders()["shuffled"])[place] for place in shuffled] == list(range(12))
    out, counter = torch.zeros(3, 4, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    number_kernel[(3, 4)](out, counter, 4)
    assert out.flatten().tolist() == list(range(12)), "the order is put back"


@triton.jit
def three_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.store(out_ptr, tl.maximum(x, 0.0))
    tl.store(out_ptr + 1, tl.minimum(x, 0.0))
    tl.store(out_ptr + 2, tl.clamp(x, -1.0, 1.0))
    tl.store(out_ptr + 3, tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 4, tl.clamp(x, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL))


def test_nan_is_dropped_as_on_a_gpu():
    """Holds three private names of the interpreter: if a release moves them, this fails."""
    x, out = torch.full((1,), float("nan"), device=DEVICE), torch.zeros(5, device=DEVICE)
    with nan_as_on_a_gpu():
        three_kernel[(1,)](x, out)
    assert out.isnan().tolist() == [False, False, False, True, True] and out[2] == -1


def test_launches_are_seen_with_grid_and_arguments():
    launches = Launches([z.add_kernel])
    with launches:
        z.add(block=64)(torch.ones(100, device=DEVICE), torch.ones(100, device=DEVICE))
    (launch,) = launches.seen
    assert (launch.grid, launch.programs, launch.blocks) == ((2,), 2, (64,))
    assert launch.arguments["x_ptr"] == (100,) and launch.arguments["n_elements"] == 100
    assert "run" not in vars(z.add_kernel), "the kernel's own method is put back"


def test_blocks_are_arguments_of_that_name_only():
    arguments = {"BLOCK_M": 16, "k_blocks": 3, "BLOCK_N": 64, "x_ptr": (4,)}
    assert Launch(None, (2, 3), arguments).blocks == (16, 64) and Launch(None, (2, 3), arguments).programs == 6


# What the author wrote


def test_loads_stores_and_their_masks():
    found = authored([z.add_strided_kernel])
    assert found.masks() == "2 of 2 loads and 1 of 2 stores masked"
    assert [str(a) for a in found.unmasked("store")] == [
        "line 13 of add_strided_kernel, `tl.store(out_ptr + rows * out_row + columns * out_column, x + y)`"
    ]
    assert found.asks_which_program and not found.python_logic and not found.stores_atomically


@pytest.mark.parametrize(("fault", "loads", "stores"), [("", 2, 1), ("no store", 2, 0), ("accumulates", 3, 1)])
def test_branches_on_constants_are_taken(fault, loads, stores):
    found = authored([z.add_kernel], {z.add_kernel: {"FAULT": fault, "BLOCK_SIZE": 64}})
    assert (len(found.of("load")), len(found.of("store"))) == (loads, stores)
    assert not found.unmasked("store") and not found.unmasked("load")


def test_a_mask_of_none_is_no_mask_and_one_by_position_is_one():
    found = authored([masks_kernel])
    assert [a.masked for a in found.accesses] == [False, True, True] and found.of("store")[0].pointer == "out_ptr"


@triton.jit
def masks_kernel(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets, mask=None)
    y = tl.load(x_ptr + offsets, offsets < n)
    tl.store(out_ptr + offsets, x + y, offsets < n)


def test_pythons_logic_is_found_and_conditions_on_constants_are_not():
    assert authored([z.add_and_kernel]).python_logic == [
        "line 3 of add_and_kernel, `mask = offsets < n_elements and offsets >= 0`"
    ]
    assert len(authored([z.add_chained_kernel]).python_logic) == 1
    assert authored([constants_kernel]).python_logic == []


@triton.jit
def constants_kernel(x_ptr, A: tl.constexpr, B: tl.constexpr):
    if A and not B:
        tl.store(x_ptr, 1.0)


def test_a_stub_above_code():
    assert stub_above_code([z.stub_kernel]) is None
    assert stub_above_code([z.add, z.unfinished_kernel]) == "unfinished_kernel"
