"""How the inputs of a case lie in memory."""

from helpers.checker import cases
from helpers.checker.cases import AS_GIVEN, Case
from helpers.checker.placing import ALIGNMENT, FILL, geometry, overlaps, place, span, values_of
from helpers.device import DEVICE

import pytest
import torch

F32 = torch.float32
CPU = torch.device("cpu")


def strides(shape, layout, position=0, given=None):
    x = torch.zeros(shape) if given is None else given
    return geometry(x, Case(shape, F32, layout), position)


@pytest.mark.parametrize(
    ("shape", "layout", "position", "expected"),
    [
        ((5,), "offset view", 0, ([1], 1)), ((5,), "every second element", 0, ([2], 0)),
        ((5,), "expanded", 0, ([0], 0)), ((5,), "transposed", 0, ([2], 0)), ((5,), "column slice", 0, ([2], 0)),
        ((4, 6), AS_GIVEN, 0, ([6, 1], 0)), ((4, 6), "offset view", 0, ([6, 1], 1)),
        ((4, 6), "column slice", 0, ([12, 1], 0)), ((4, 6), "column slice", 1, ([12, 1], 6)),
        ((2, 4, 6), "column slice", 3, ([48, 12, 1], 6)), ((2, 4, 6), "column slice", 2, ([48, 12, 1], 0)),
        ((4, 6), "transposed", 0, ([1, 4], 0)), ((4, 6), "expanded", 0, ([0, 1], 0)),
        ((2, 4, 6), "transposed", 0, ([24, 1, 4], 0)), ((4, 6), ((9, 2), 5), 0, ([9, 2], 5)),
        ((), "expanded", 0, ([], 1)),
    ],
)  # fmt: skip
def test_strides_and_offsets(shape, layout, position, expected):
    assert strides(shape, layout, position) == expected


def test_only_one_input_gets_a_layout_and_the_others_lie_as_given():
    x = torch.zeros(8)[::2]
    assert geometry(x, Case((4,), F32, "expanded", only=1), 0) == ([2], 0)
    assert geometry(x, Case((4,), F32, "expanded", only=1), 1) == ([0], 0)
    assert geometry(torch.zeros(9).unfold(0, 3, 1), Case((7, 3), F32), 0) == ([3, 1], 0)


@pytest.mark.parametrize(
    ("shape", "strides", "answer"),
    [((7, 3), [1, 1], True), ((4, 6), [6, 1], False), ((4, 6), [0, 1], False), ((4, 6), [12, 2], False),
     ((0, 3), [1, 1], False), ((), [], False), ((2, 2), [1, 2], False), ((2, 3), [2, 1], True)],
)  # fmt: skip
def test_views_that_overlap(shape, strides, answer):
    assert overlaps(shape, strides) is answer


def test_the_span_of_a_view():
    assert [span((4, 6), [6, 1]), span((4, 6), [12, 1]), span((5,), [2]), span((), []), span((0, 3), [3, 1])] == [
        24, 42, 9, 1, 3,
    ]  # fmt: skip


@pytest.mark.parametrize("layout", [AS_GIVEN, *cases.TABLE])
def test_a_placed_input_holds_its_values_between_guards(layout):
    x = torch.arange(24.0).view(4, 6)
    placed = place(x, Case((4, 6), F32, layout), 1, DEVICE, guard=1000)
    expected = x[:1].expand(4, 6) if layout == "expanded" else x
    assert torch.equal(placed.tensor.cpu(), expected) and torch.equal(placed.plain, expected)
    assert placed.plain.is_contiguous() and torch.equal(placed.before, placed.buffer)
    first = 1024 + 4 * (placed.tensor.storage_offset() - 256)
    assert (placed.buffer[:first] == FILL).all() and (placed.buffer[-1000:] == FILL).all()
    touched = int((placed.buffer != FILL).sum())
    assert touched <= 4 * placed.tensor.untyped_storage().nbytes() and len(placed.buffer) % ALIGNMENT == 0
    assert placed.tensor.storage_offset() * 4 >= 1000


def test_the_buffer_is_no_larger_than_two_guards_and_the_view():
    placed = place(torch.zeros(200), Case((200,), F32, "offset view"), 0, DEVICE, guard=512)
    assert len(placed.buffer) == 512 + 1024 + 512 and placed.tensor.storage_offset() == 128 + 1
    assert placed.buffer.device.type == DEVICE.type


def test_what_is_no_tensor_is_not_placed():
    assert values_of([3, place(torch.ones(2), Case((2,), F32), 0, DEVICE, 8)])[0] == 3
    assert place(3, Case((4,), F32), 0, CPU, 100) == 3
