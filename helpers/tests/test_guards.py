"""Guards around each tensor, poison in fresh ones, and what a candidate copies or overwrites."""

from helpers.checker import guards
from helpers.checker.cases import Case
from helpers.checker.placing import place
from helpers.device import DEVICE

import pytest
import torch


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


def test_what_needs_a_gradient_holds_nothing_or_has_an_offset_of_its_own_is_left_alone():
    mode = guards.Guards(512, [])
    with mode:
        torch.ones(2, requires_grad=True), torch.empty(3, device="meta")
    assert mode.buffers == []
    with mode:
        x = torch.arange(6.0)[3:5]
        y = torch.ones(2, 3).chunk(2, 1)[1]
    assert x.tolist() == [3.0, 4.0] and y.shape == (2, 1) and not mode.breaches()


def test_what_a_candidate_raises_comes_back():
    done = guards.call(lambda x: 1 / 0, placed(torch.ones(4)), guard=1000)
    assert isinstance(done.error, ZeroDivisionError) and not done.dead and done.results == ()


def test_a_copy_of_an_input_is_noted_and_new_memory_is_not():
    x = torch.arange(8.0)[::2]
    done = guards.call(lambda x: torch.empty_like(x).copy_(x.contiguous()), placed(x), guard=1000)
    assert done.copies == ["contiguous of input 0"]
    done = guards.call(lambda x: torch.empty_like(x).copy_(x), placed(x), guard=1000)
    assert done.copies == []
