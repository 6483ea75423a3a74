"""How far a result may be off: each term of the tolerance, just inside and just outside."""

from helpers.checker import tolerance
from helpers.checker.tolerance import Expected, expect, is_elementwise
from helpers.device import INTERPRETED

import math

import pytest
import torch

U32, U16, U8, U64 = 2.0**-24, 2.0**-11, 2.0**-8, 2.0**-53


def numbers(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype)


def expected_of(reference, *plain, elementwise=True, position=0):
    return expect(reference, list(plain), elementwise)[position]


@pytest.fixture
def moves(monkeypatch):
    """Sets m of every result to one number."""

    def set_to(m):
        monkeypatch.setattr(
            tolerance, "_moves", lambda reference, plain, exact, compute: [numbers(m, dtype=torch.float64)] * len(exact)
        )

    return set_to


@pytest.mark.parametrize(
    ("dtype", "k", "u"),
    [
        (torch.float32, 3, U32),
        (torch.float16, 3, U16),
        (torch.bfloat16, 5 if INTERPRETED else 3, U8),
        (torch.float64, 3, U64),
    ],
)
def test_each_term_of_the_tolerance(moves, dtype, k, u):
    moves(1e-3)
    x = numbers(2.0, -3.0, 0.0, dtype=dtype)
    found = expected_of(lambda x: 2 * x, x).tolerance
    rest = 16 * 1e-3 + 2 * torch.finfo(dtype).tiny
    assert found.tolist() == pytest.approx([k * u * 4 + rest, k * u * 6 + rest, rest], rel=1e-12)


@pytest.mark.parametrize(("count", "elementwise", "c"), [(64, False, 16), (65, False, 2 * 65**0.5), (10**4, True, 16)])
def test_what_depends_on_many_inputs_may_be_off_by_the_root_of_their_number(moves, count, elementwise, c):
    moves(1.0)
    found = expected_of(torch.neg, torch.zeros(count), elementwise=elementwise).tolerance
    assert found[0].item() == pytest.approx(c, rel=1e-9)


@pytest.mark.parametrize(("dtype", "compute"), [(torch.float16, torch.float32), (torch.float64, torch.float64)])
def test_kernels_compute_in_float32_or_in_float64(monkeypatch, dtype, compute):
    asked = []
    monkeypatch.setattr(tolerance, "_moves", lambda *x: asked.append(x[-1]) or [torch.zeros(3, dtype=torch.float64)])
    one = expected_of(lambda x, i: x[i] / 3, numbers(1.0, 2.0, 5.0, dtype=dtype), torch.tensor([0, 1, 2]))
    assert asked == [compute] and len(one.others) == 1 + (not INTERPRETED), "on a GPU also eager on the CPU"
    torch.testing.assert_close(one.others[0], numbers(1.0, 2.0, 5.0, dtype=compute) / 3)
    assert one.exact.tolist() == pytest.approx([1 / 3, 2 / 3, 5 / 3], rel=1e-15) and one.eager.dtype == dtype


def test_what_a_reference_may_not_do_is_said():
    with pytest.raises(ValueError, match=r"reference\(float32\[2\], int64\[1\]\) raised ZeroDivisionError: .* shapes="):
        tolerance.evaluate(lambda x, i: 1 / 0, [torch.ones(2), torch.tensor([1])])
    with pytest.raises(ValueError, match="reference must return tensors, not Tensor, float"):
        tolerance.evaluate(lambda x: (x, 1.0), [torch.ones(2)])


def test_nothing_but_inf_and_nan_is_right_where_the_reference_has_them():
    one = expected_of(lambda x: 1 / x, numbers(0.0, 1.0))
    assert one.tolerance[0] == 0
    assert one.wrong(numbers(3e38, 1.0)).tolist() == [True, False]
    assert not one.wrong(numbers(math.inf, 1.0)).any()
    one = expected_of(torch.log, numbers(-1.0, 1.0))
    assert one.wrong(numbers(0.0, 0.0)).tolist() == [True, False]
    assert not one.wrong(numbers(math.nan, 0.0)).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_kernels_just_inside_and_just_outside(dtype):
    """x·y rounds once: three units are allowed and more are not; float32 computes with an allowance of its own."""
    generator = torch.Generator().manual_seed(0)
    x, y = ((torch.rand(500, generator=generator) + 1).to(dtype) for _ in range(2))
    one, u = expected_of(torch.mul, x, y), torch.finfo(dtype).eps / 2
    allowed = one.tolerance / one.exact
    own = allowed - 2 * torch.finfo(dtype).tiny / one.exact
    assert (own >= 3 * u).all() and (own < 3 * u + 16 * 4 * U32).all()
    inside, outside = (one.exact * (1 + factor * allowed) for factor in (0.99, 1.01))
    assert not (one.exact - inside).abs().gt(one.tolerance).any()
    wide = Expected(one.exact, one.tolerance, one.exact, ())  # compared in float64, so that nothing rounds
    assert not wide.wrong(inside).any() and wide.wrong(outside).all()


def test_what_pytorch_says_in_one_of_its_forms_is_right():
    exact, tolerance = numbers(1.0, 1.0, 1.0, 1.0).double(), torch.zeros(4)
    eager, other = numbers(1.5, 1.0, math.nan, 1.0), numbers(1.0, 2.0, 1.0, math.inf)
    one = Expected(exact, tolerance, eager, (other,))
    assert not one.wrong(numbers(1.5, 2.0, math.nan, math.inf)).any()
    assert not one.wrong(numbers(1.4, 0.5, 1.0, 1.0)).any(), "no further off is right, too"
    assert one.wrong(numbers(1.6, 2.1, 0.0, 3.0)).tolist() == [True, True, True, True], "an inf or nan excuses nothing"
    assert one.wrong(numbers(1.0, math.nan, 1.0, 1.0)).tolist() == [False, True, False, False]


def test_the_edge_of_the_tolerance_is_right_and_so_is_being_no_further_off():
    one = Expected(numbers(1.0, 1.0).double(), numbers(0.25, 0.0), numbers(1.0, 2.0), ())
    assert not one.wrong(numbers(1.25, 0.0)).any() and one.wrong(numbers(1.3, -0.1)).all()


def test_what_overflows_a_narrow_type_may_be_inf_there():
    one = Expected(numbers(7e4, -7e4, 6e4).double(), torch.zeros(3), numbers(7e4, -7e4, 6e4, dtype=torch.float16))
    inf = numbers(math.inf, -math.inf, math.inf, dtype=torch.float16)
    assert one.wrong(inf).tolist() == [False, False, True] and one.wrong(-inf).tolist() == [True, True, True]
    largest = torch.finfo(torch.float16).max
    exact, eager = numbers(largest - 8, largest).double(), numbers(0.0, 0.0, dtype=torch.float16)
    assert not Expected(exact, numbers(8.0, 0.0), eager, ()).wrong(inf[[0, 0]]).any(), "where the type ends"


def test_integers_must_be_equal_to_what_pytorch_says_or_to_the_exact_number():
    one = Expected(numbers(6.0, 6.0, 6.0), numbers(0.0), torch.tensor([5, 5, 5]), ())
    assert one.wrong(torch.tensor([5, 6, 7])).tolist() == [False, False, True]
    one = expected_of(torch.add, *(torch.tensor([2**24 + 1, 5]) for _ in range(2)))
    assert one.wrong(torch.tensor([2**25 + 2, 11])).tolist() == [False, True]


def test_of_several_results_each_has_its_own():
    one, two = expect(lambda x: (x + 1, x.argmax()), [numbers(1.0, 3.0)], False)
    assert one.exact.tolist() == [2.0, 4.0] and two.exact.item() == 1 and two.eager.dtype == torch.int64


@pytest.mark.parametrize(
    ("reference", "answer"),
    [(torch.add, True), (torch.mul, True), (lambda x, y: x + y.flip(0), False), (lambda x, y: (x + y).sum(), False),
     (lambda x, y: (x, x.cumsum(0)), False), (lambda x, y: x.view(2, 4), False)],
)  # fmt: skip
def test_element_wise_is_what_every_second_input_shows(reference, answer):
    assert is_elementwise(reference, [torch.rand(8), torch.rand(8)]) is answer


def test_one_input_and_nan_may_be_element_wise_and_several_shapes_are_not():
    assert not is_elementwise(torch.add, [torch.rand(8), torch.rand(1)])
    assert is_elementwise(torch.log, [torch.tensor([-1.0, -2.0, 1.0, 2.0])])
    assert is_elementwise(lambda x: x / 3, [torch.rand(8).half()])


def test_the_reference_gets_copies():
    x = numbers(1.0, 2.0)
    expect(lambda x: x.mul_(2), [x], True)
    assert x.tolist() == [1.0, 2.0]
