"""What `check` tries: shapes, layouts and values, and how they lie in memory."""

from helpers.checker import cases, values
from helpers.checker.cases import AS_GIVEN, Case, default_shapes, is_ragged, layout_cases, value_cases
from helpers.checker.placing import ALIGNMENT, FILL, geometry, overlaps, place, span, values_of
from helpers.device import DEVICE

import math

import pytest
import torch

F32 = torch.float32
CPU = torch.device("cpu")


def test_shapes_go_around_the_block():
    assert default_shapes(256) == [
        (768,), (256,), (257,), (255,), (17,), (16,), (15,), (1,), (0,), (10243,), (997,), (513,), (48, 16), (17, 61),
        (3, 5, 67),
    ]  # fmt: skip
    assert {(n,) for n in (3072, 1024, 1025, 1023, 256, 257, 255, 40963, 2049)} <= set(default_shapes(1024))
    assert max(map(math.prod, default_shapes(4096))) == 3 * 4096
    assert [shape for shape in default_shapes(512) if len(shape) == 2] == [(48, 32), (17, 61)]
    assert all(isinstance(n, int) for shape in default_shapes(2048) for n in shape)


def test_a_case_says_what_is_unusual_about_it():
    assert str(Case((8,), F32)) == "n=8, float32"
    assert str(Case((2, 3), torch.float16, "transposed", values="all negative")) == (
        "shape (2, 3), float16, transposed, all negative"
    )
    assert str(Case((2, 3), F32, "expanded", only=1)) == "shape (2, 3), float32, expanded (input 1 only)"


def test_what_is_ragged():
    shapes = ((17,), (16,), (15,), (4, 64), (3, 100), (3, 4), (32,), (18,), (4, 4), (16, 1), (2, 8))
    assert [is_ragged(shape) for shape in shapes] == [
        True, False, False, False, True, False, False, True, False, False, False,
    ]  # fmt: skip
    assert not is_ragged((3, 5)) and is_ragged((3, 6))


def test_layouts_are_tried_in_all_inputs_and_in_each_alone():
    right = [Case((n,), F32) for n in (768, 1, 513)] + [Case((17, 61), F32), Case((3, 5, 67), F32)]
    found = layout_cases(right, [2, 2], varies=True)
    shapes = {shape: [(c.layout, c.only) for c in found if c.shape == shape] for shape in {c.shape for c in found}}
    assert set(shapes) == {(513,), (17, 61), (3, 5, 67)}
    assert shapes[(513,)] == [
        ("offset view", None), ("every second element", None), ("expanded", None), ("every second element", 0),
        ("expanded", 0), ("every second element", 1), ("expanded", 1),
    ]  # fmt: skip
    table = [("offset view", None), ("column slice", None), ("transposed", None), ("expanded", None)]
    assert shapes[(17, 61)] == table + [
        (kind, k) for k in (0, 1) for kind in ("column slice", "transposed", "expanded")
    ]
    assert [c.layout for c in layout_cases(right, [2], varies=True) if c.shape == (17, 61)] == [x for x, _ in table]


def test_trivial_shapes_get_no_layouts_and_the_last_tables_do():
    tables = [Case(shape, F32) for shape in ((48, 16), (2, 61), (3, 5, 67), (4, 1), (2,))]
    found = layout_cases(tables, [2, 2], varies=True)
    assert {c.shape for c in found} == {(2,), (2, 61), (3, 5, 67)}
    assert {c.shape for c in found if c.only is not None} == {(2,), (2, 61), (3, 5, 67)}
    made = layout_cases([Case((3, 4), F32), Case((5, 6), F32)], [2], varies=False)
    assert {c.shape for c in made} == {(3, 4)}


def test_layouts_of_inputs_that_a_function_makes_follow_their_own_dimensions():
    right = [Case((32, 32, 64), F32), Case((1, 1, 1), F32)]
    found = layout_cases(right, [2, 1], varies=False)
    assert {c.shape for c in found} == {(32, 32, 64)} and {c.layout for c in found} == set(cases.TABLE)
    assert {c.layout for c in layout_cases(right, [1], varies=False)} == set(cases.FLAT)
    assert layout_cases([Case((1,), F32)], [1], varies=True)[0].shape == (1,)


def test_values_of_element_wise_functions_and_of_others():
    dtypes = [F32, torch.float16, torch.int32]
    found = value_cases(Case((8,), F32), dtypes, 2, elementwise=True, own=True)
    assert [(c.dtype, c.values) for c in found] == [
        *((dtype, f"special values in input {k}") for dtype in dtypes[:2] for k in (0, 1)),
        (torch.int32, "any integers"), (torch.int32, "extreme integers"),
    ]  # fmt: skip
    found = value_cases(Case((8,), F32), dtypes, 1, elementwise=False, own=False)
    alone = [f"one {value} in input 0" for value in ("nan", "inf", "-inf")]
    assert [(c.dtype, c.values) for c in found] == [(F32, kind) for kind in (*cases.ROW_VALUES, *alone)]


def made(kind, dtype=F32, shape=(64,), inputs=1, position=0):
    return values.operands(Case(shape, dtype, values=kind), inputs, seed=0)[position]


def test_random_values_have_both_signs_and_stay_within_reach():
    x = made("random", shape=(4000,))
    assert x.abs().max() <= 20 and x.min() < -19 and x.max() > 19
    n = made("random", torch.int32, shape=(4000,))
    assert set(n.tolist()) == set(range(-20, 21)) and set(made("random", torch.uint8, (4000,)).tolist()) == set(
        range(21)
    )
    assert 1800 < made("random", torch.bool, (4000,)).sum() < 2200


def test_the_same_seed_gives_the_same_values_and_inputs_differ():
    one, two = values.operands(Case((8,), F32), 2, seed=3), values.operands(Case((8,), F32), 2, seed=3)
    assert all(map(torch.equal, one, two)) and not torch.equal(one[0], one[1])
    assert not torch.equal(one[0], values.operands(Case((8,), F32), 2, seed=4)[0])


def test_values_of_rows():
    x = made("random")
    assert torch.equal(made("all negative"), -x.abs())
    assert torch.equal(made("alternating signs"), x.abs() * torch.tensor([1.0, -1.0]).repeat(32))
    assert made("within ±1000", shape=(4000,)).abs().max() > 990
    assert torch.equal(made("far below zero"), x - 30_000)
    assert torch.equal(made("far below zero", torch.float16), (made("random", torch.float16).float() - 30_000).half())
    rows = made("one huge, the rest tiny", shape=(8, 16))
    assert ((rows > 999).sum(1) == 1).all() and (rows.abs().sort(1).values[:, :-1] <= 20 / 1024).all()


def test_special_values_stand_in_one_input_and_the_others_are_near_one():
    x, y = (made("special values in input 1", inputs=2, position=k) for k in (0, 1))
    assert x.min() >= 0.5 and x.max() <= 1.5
    info = torch.finfo(F32)
    assert y[:8].tolist() == [0, 0, info.tiny / 8, -info.tiny / 8, info.max / 4, -info.max / 4, math.inf, -math.inf]
    assert y[8].isnan() and y[9] == 0 and math.copysign(1, y[1].item()) == -1
    assert values.extremes(torch.bfloat16)[2] == torch.finfo(torch.bfloat16).tiny


def test_one_value_alone():
    x = made("one nan in input 0", shape=(4, 5))
    assert x.isnan().nonzero().tolist() == [[2, 0]]
    assert made("one -inf in input 1", inputs=2, position=0).isfinite().all()
    assert made("one -inf in input 1", inputs=2, position=1)[32] == -math.inf


BEYOND = {-1, 2**8 + 1, 2**11 + 1, 2**15, 2**15 + 1, 2**24 + 1, -(2**24) - 1}  # int8, float16, int16, float32


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8])
def test_integers_reach_the_ends_of_their_dtype(dtype):
    info = torch.iinfo(dtype)
    ends = made("extreme integers", dtype, (500,))
    fitting = {n for n in BEYOND if info.min <= n <= info.max}
    assert set(ends.tolist()) == {info.min, info.max, info.min + 1, info.max - 1, 0, 1} | fitting
    assert ends.dtype == dtype and len(set(made("any integers", dtype, (4000,)).tolist())) >= 200
    spread = made("any integers", dtype, (4000,)).double()
    assert spread.min() < info.min + 0.05 * (info.max - info.min) and spread.max() > info.max - 0.05 * (
        info.max - info.min
    )


@pytest.mark.parametrize("dtype", [F32, torch.float16, torch.int32, torch.uint8, torch.bool])
@pytest.mark.parametrize("kind", ["random", "one huge, the rest tiny", "special values in input 1", "any integers",
                                  "extreme integers", "within ±1000"])  # fmt: skip
def test_the_same_seed_gives_the_same_values_of_every_kind(dtype, kind):
    if dtype.is_floating_point != ("integers" in kind) or kind == "random":
        one, two = (values.operands(Case((6, 8), dtype, values=kind), 2, seed=5) for _ in range(2))
        assert all(torch.equal(a, b) or a.isnan().any() for a, b in zip(one, two, strict=True))
        assert all(x.dtype == dtype for x in one)


def test_one_huge_number_a_row():
    x, rows = made("random", shape=(8, 16)), made("one huge, the rest tiny", shape=(8, 16))
    huge = rows > 999
    assert torch.equal(rows[~huge], x[~huge] / 1024) and torch.allclose(rows[huge], 1000 + x[huge].abs())
    assert made("one huge, the rest tiny", shape=()).item() > 999


def test_what_an_inputs_function_may_not_do_is_said():
    def operands(function):
        return values.operands(Case((4,), torch.float16), function, 0)

    with pytest.raises(ValueError, match=r"inputs\(\(4,\), torch.float16\) raised ZeroDivisionError"):
        operands(lambda *x: 1 / 0)
    for returned in (3, [3], torch.ones(2)):
        with pytest.raises(ValueError, match=f"must return a tuple of tensors, not {type(returned).__name__}"):
            operands(lambda *x, returned=returned: returned)
    asked = []
    number, x = operands(lambda *x: asked.append(x) or (2.5, torch.ones(3, requires_grad=True)))
    assert asked == [((4,), torch.float16, CPU)] and number == 2.5 and not x.requires_grad


def test_values_of_an_inputs_function_change_by_position():
    def inputs(shape, dtype, device):
        return torch.ones(4), 3, torch.zeros(4)

    x, _, y = values.operands(Case((4,), F32, values="one inf in input 2"), inputs, 0)
    assert x.isfinite().all() and y[2] == math.inf


def test_indices_that_a_function_makes_stay_as_they_are():
    def inputs(shape, dtype, device):
        return torch.rand(shape, dtype=dtype), torch.arange(shape[0])

    x, rows = values.operands(Case((4,), F32, values="all negative"), inputs, 0)
    assert (x <= 0).all() and rows.tolist() == [0, 1, 2, 3]


# Memory


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
