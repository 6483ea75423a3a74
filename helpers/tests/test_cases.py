"""What `check` tries: shapes, layouts and values."""

from helpers.checker import cases
from helpers.checker.cases import Case, default_shapes, is_ragged, layout_cases, value_cases

import math

import torch

F32 = torch.float32


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
