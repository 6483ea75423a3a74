"""How far rounding moves a reference: errors planted in each operation, and m, what they move."""

from helpers.checker import tolerance
from helpers.checker.tolerance import Disturbed
from helpers.device import DEVICE

import math

import pytest
import torch
import torch.nn.functional as F

U32, U64 = 2.0**-24, 2.0**-53


@pytest.mark.parametrize(("largest", "inside"), [(20.0, 80 * U64), (1e6, 4 * 2**14 * U64), (math.inf, 4 * U64)])
def test_one_operation_may_cancel_what_is_as_large_as_its_inputs(largest, inside):
    x = torch.full((20_000,), 1.0 if largest == math.inf else 0.25, dtype=torch.float64, device=DEVICE)
    x[0] = largest
    with Disturbed(0.0, 0):
        moved, in_place, pair = 0 * x, x.clone().mul_(0), torch.var_mean(0 * x)
    assert 0 < in_place[1:].abs().max() <= inside and pair[0] != 0
    assert moved[1:].abs().max().item() == pytest.approx(inside, rel=0.01, abs=0)
    assert moved[1:].mean().abs() < inside / 20


def test_where_tries_give_nan_or_inf_they_say_nothing():
    x = torch.tensor([0.0, 1.0, 2.0])
    (m,) = tolerance._moves(lambda x: 1 / x + 1 / (x - 1), [x], [1 / x.double() + 1 / (x.double() - 1)], torch.float32)
    assert m[:2].tolist() == [0.0, 0.0] and 0 < m[2] < 20 * U32 and m.dtype == torch.float64


def test_m_follows_the_condition_of_the_function():
    """Of x itself only the input's error is left, at most u, and its rounding to float32, at most u as well."""
    x = torch.rand(20_000) + 1
    (m,) = tolerance._moves(torch.clone, [x], [x.double()], torch.float32)
    assert (m / (U32 * x)).median().item() == pytest.approx(1.22, rel=0.1) and (m <= 2.01 * U32 * x).all()
    (m,) = tolerance._moves(lambda x: x**10, [x], [x.double() ** 10], torch.float32)
    assert (m / (U32 * x**10)).median().item() == pytest.approx(10.5, rel=0.2)


def test_m_sees_terms_that_cancel():
    x = torch.full((1000,), 1.0)
    (m,) = tolerance._moves(lambda x: (x + 1000) - 1000, [x], [x.double()], torch.float32)
    assert 300 * U32 < m.median() < 3000 * U32


def test_m_sees_what_the_reference_loses_inside_of_one_operation():
    """tanh-GELU is one operation of PyTorch's; in float32 it is 0 where 1 + tanh cancels, in float64 it is not."""
    x = torch.full((100,), -5.6)
    exact = F.gelu(x.double(), approximate="tanh")
    (m,) = tolerance._moves(lambda x: F.gelu(x, approximate="tanh"), [x], [exact], torch.float32)
    assert (m >= 0.9 * exact.abs()).all()


def test_m_of_float64_is_in_units_of_float64():
    x = torch.rand(20_000, dtype=torch.float64) + 1
    (m,) = tolerance._moves(torch.clone, [x], [x], torch.float64)
    assert (m / (U64 * x)).median().item() == pytest.approx(0.5 ** (1 / 8), abs=0.02)


def test_m_of_a_reference_that_takes_a_gradient_itself():
    def derivative(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(F.silu(x).sum(), x)[0]

    x = torch.linspace(-6, 6, 1000)
    (m,) = tolerance._moves(derivative, [x], [derivative(x.double())], torch.float32)
    assert (m > 0.01 * U32 * derivative(x).abs()).all() and (m < 50 * U32).all()


def test_whole_numbers_and_what_only_moves_numbers_get_no_error():
    x = torch.arange(6.0, dtype=torch.float64, device=DEVICE).view(2, 3)
    with Disturbed(2.0**-10, 0):
        moved = [x.t(), torch.flip(x, [0]), x.clone(), torch.where(x > 2, x, -x), torch.cat([x, x]), x.amax(1), x[:, 1]]
        counted = x.long() + 1
        rounded, in_place = x * 1.5, x.clone().mul_(1.5)
        pair = torch.var_mean(x)
    assert [torch.equal(a, a.round()) for a in moved] == [True] * len(moved)
    assert torch.equal(counted, x.long() + 1)
    for found in (rounded, in_place):
        off = (found - 1.5 * x).abs() / (1.5 * x).clamp(min=1)
        assert 0 < off.max() <= 2.0**-10
    assert pair[1].item() != 2.5 and pair[1].item() == pytest.approx(2.5, rel=2.0**-9)


def test_tries_differ_and_are_the_same_each_time():
    x = torch.ones(4, dtype=torch.float64, device=DEVICE)
    one, same, other = (Disturbed(0.1, seed).of(x) for seed in (0, 0, 1))
    assert torch.equal(one, same) and not torch.equal(one, other)
