"""What is in the inputs of a case."""

from helpers.checker import values
from helpers.checker.cases import Case

import math

import pytest
import torch

F32 = torch.float32
CPU = torch.device("cpu")


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
    huge, x = rows > 999, made("random", shape=(8, 16))
    assert torch.equal(rows[~huge], x[~huge] / 1024) and torch.allclose(rows[huge], 1000 + x[huge].abs())
    assert made("one huge, the rest tiny", shape=()).item() > 999


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


def test_numbers_that_an_inputs_function_makes_change_by_position_and_indices_stay_as_they_are():
    def inputs(shape, dtype, device):
        return torch.rand(4), torch.arange(4), torch.zeros(4)

    x, _, y = values.operands(Case((4,), F32, values="one inf in input 2"), inputs, 0)
    assert x.isfinite().all() and y[2] == math.inf
    x, rows, _ = values.operands(Case((4,), F32, values="all negative"), inputs, 0)
    assert (x <= 0).all() and rows.tolist() == [0, 1, 2, 3]
