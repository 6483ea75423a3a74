"""Softmax: rows on both sides of the length at which its launcher chooses another kernel."""

from helpers import DEVICE
from helpers.kernels.softmax import LONGEST, Softmax, as_rows, row_plan, softmax

import math

import pytest
import torch

LENGTHS = (1, 3, 300, LONGEST, LONGEST + 1, 40001)


def reference_softmax(x):
    return torch.softmax(x, -1)


def rows(N, rows=3):
    torch.manual_seed(0)
    return torch.randn(rows, N).to(DEVICE).requires_grad_()


@pytest.mark.parametrize("N", LENGTHS)
def test_results_and_gradients_are_right_at_each_length(N):
    x = rows(N)
    exact = x.detach().double().requires_grad_()
    out, expected = Softmax.apply(x), reference_softmax(exact)
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-6)
    grad = torch.randn(out.shape).to(DEVICE)
    (got,), (right,) = torch.autograd.grad(out, x, grad), torch.autograd.grad(expected, exact, grad.double())
    torch.testing.assert_close(got.double(), right, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("N", (300, LONGEST + 1))
def test_the_same_bits_twice(N):
    x = rows(N)
    assert torch.equal(*(torch.autograd.grad(Softmax.apply(x).square().sum(), x)[0] for _ in range(2)))


@pytest.mark.parametrize("N", (300, 40000))
def test_a_softmax_of_rows_with_minus_infinity(N):
    x = rows(N, rows=5).detach()
    x[0, : N // 2], x[1, N // 2 :], x[2, 1:], x[3] = 4 * (-math.inf,)
    torch.testing.assert_close(softmax(x), reference_softmax(x), equal_nan=True)
    assert softmax(x).isnan().sum(-1).tolist() == [0, 0, 0, N, 0]


def test_columns_that_lie_far_apart():
    buffer = torch.empty(2**31 + 1, dtype=torch.float16, device=DEVICE)
    x = buffer.as_strided((1, 3), (1, 2**30))
    x.copy_(torch.tensor([[0.0, 1.0, 2.0]]))
    torch.testing.assert_close(softmax(x), reference_softmax(x))


def test_rows_are_views_where_strides_allow_one():
    x = torch.randn(4, 6, 8).to(DEVICE)
    for view in (x, x[:, ::2], x.transpose(1, 2)[0], x[..., 3], x.expand(4, 6, 8)):
        (table,) = as_rows("f", x=view)
        assert table.data_ptr() == view.data_ptr() and table.shape[1] == view.shape[-1]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"x": [1.0]}, TypeError, "f: x is of type list; pass a torch.Tensor"),
        ({"x": torch.arange(3)}, TypeError, "f: x is torch.int64; supported: torch.float16, torch.bfloat16"),
        ({"x": torch.ones(2, 3), "y": torch.ones(3)}, ValueError, r"f: y has shape \(3,\), x \(2, 3\)"),
        (
            {"x": torch.ones(2), "y": torch.ones(2).double()},
            TypeError,
            "y is torch.float64; supported: torch.float32",
        ),
        ({"x": torch.ones(())}, ValueError, "pass rows of one shape"),
    ],
)
def test_what_is_no_table_of_rows(given, error, words):
    given = {name: one.to(DEVICE) if isinstance(one, torch.Tensor) else one for name, one in given.items()}
    with pytest.raises(error, match=words):
        as_rows("f", **given)


def test_the_plan_changes_at_the_longest_row():
    assert "ROWS" in row_plan(LONGEST) and "ROWS" not in row_plan(LONGEST + 1)
    for N in LENGTHS:
        plan = row_plan(N)
        assert plan["BLOCK_N"] >= N or "ROWS" not in plan
