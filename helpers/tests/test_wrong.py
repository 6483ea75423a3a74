"""What `compare` calls wrong: kernels just inside and just outside of its tolerance, and real ones of every kind."""

from helpers.measure import workload
from helpers.measure.workload import made, wrong

import pytest
import torch
import torch.nn.functional as F

BF16, FP16, FP32, FP64 = torch.bfloat16, torch.float16, torch.float32, torch.float64
ALLOWED = {BF16: 2**-5 + 2**-13, FP16: 2**-8 + 2**-13, FP32: 2**-21 + 2**-13, FP64: 2**-50 + 2**-42}
K = 14336  # terms of the longest sum in the course


def judged(result, exact, dtype=None):
    return wrong(result, [exact], [result.dtype], dtype or result.dtype)


@pytest.mark.parametrize("dtype", ALLOWED)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_tolerance_to_a_hundredth(dtype, sign):
    """Ones; the right ones too, but for a number that is d away, with d = share · allowed · (|r| + R) and R = 1."""
    found = []
    for share in (0.99, 1.01):
        right, d = torch.ones(3, 4096, dtype=FP64), sign * share * ALLOWED[dtype]
        right[1, 5] -= 2 * d / (1 + d)
        found.append(judged(torch.ones(3, 4096, dtype=dtype), right))
    assert found == [None, "1 of 12288 elements, the first at (1, 5)"]


@pytest.mark.parametrize("row, scale", [(0, 1 + 28.625), (1, 100 + 75)])
def test_it_is_that_of_the_row_and_at_least_that_of_all(row, scale):
    """Right is a row of ones, and one whose root mean square is 75; the mean of all is 28.625."""
    exact = torch.tensor([[1.0] * 16, [100.0] * 9 + [0.0] * 7], dtype=FP64)
    for share, verdict in ((0.99, None), (1.01, f"1 of 32 elements, the first at ({row}, 0)")):
        result = exact.clone()
        result[row, 0] += share * ALLOWED[FP64] * scale
        assert judged(result, exact) == verdict


def test_a_wide_result_of_narrow_numbers_may_be_off_as_they_are():
    exact, off = torch.ones(8, dtype=FP64), torch.full((8,), 1.05, dtype=FP32)
    assert judged(off, exact, BF16) is None and judged(off, exact, torch.int8) == judged(off, exact) is not None
    assert judged(torch.full((8,), 1.05, dtype=BF16), exact, FP32) is None


def test_what_is_no_number_is_wrong_and_what_is_empty_is_not():
    exact = torch.tensor(2.0, dtype=FP64)
    assert judged(torch.tensor(2.0), exact) is None
    for value in ("nan", "inf"):
        assert judged(torch.tensor(float(value)), exact) == "1 of 1 elements, the first at ()"
        assert judged(torch.ones(2), torch.tensor([1.0, float(value)], dtype=FP64)) is not None
    exact = torch.tensor([1.0, float("inf")], dtype=FP64)
    assert judged(exact.float(), exact) is None and judged(-exact.float(), exact) is not None
    assert judged(torch.empty(0, 4), torch.empty(0, 4, dtype=FP64)) is None


def test_integers_must_be_equal():
    assert judged(torch.tensor([1, 2]), torch.tensor([1, 2])) is None
    assert judged(torch.tensor([1, 3, 4]), torch.tensor([1, 2, 3])) == "2 of 3 elements, the first at (1,)"


@pytest.mark.parametrize(
    "results, found",
    [
        ((torch.ones(2), torch.ones(3, dtype=BF16)), None),
        ([torch.ones(2), None, torch.ones(3, dtype=BF16)], None),
        (torch.ones(2), "1 results instead of 2"),
        (None, "0 results instead of 2"),
        ((torch.ones(2), torch.ones(3)), "result 2: float32[3] instead of bfloat16[3]"),
        ((torch.ones(2, 1), torch.ones(3, dtype=BF16)), "result 1: float32[2, 1] instead of float32[2]"),
        ((torch.ones(2), 3.0), "result 2: float instead of bfloat16[3]"),
        ((torch.ones(2), torch.zeros(3, dtype=BF16)), "result 2: 3 of 3 elements, the first at (0,)"),
    ],
)
def test_every_result_is_judged(results, found):
    exact = [torch.ones(2, dtype=FP64), torch.ones(3, dtype=FP64)]
    assert wrong(results, exact, [FP32, BF16], BF16) == found


def verdict(right, result, *tensors, passes="forward"):
    """What is wrong with a function's results, its gradients or both, beside a reference in float64."""
    tensors = made(lambda shape, dtype, device: tensors, (), tensors[0].dtype, passes)
    _, calls, notes = workload._checked({"it": result}, right, tensors, tensors[0].dtype, passes)
    assert ("it" in calls) != ("it" in notes)
    return notes.get("it")


def random(*shape, dtype=BF16, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def one_by_one(x, w):
    """A product whose K terms are added in float32 one after another: as far from right as an order can be."""
    total = torch.zeros(len(x), w.shape[1])
    for k in range(x.shape[1]):
        total += x[:, k, None].float() * w[k].float()
    return total.to(x.dtype)


def in_parts(x, w):
    """A product in eight parts, each kept in bfloat16, as a split along K may do."""
    parts = zip(x.chunk(8, 1), w.chunk(8, 0), strict=True)
    return torch.stack([a @ b for a, b in parts]).sum(0)


def tf32(x, w):
    """Both operands rounded to 11 bits, as tensor cores take float32; products and sums exact."""
    x, w = ((t.view(torch.int32) + 2**12 & ~(2**13 - 1)).view(FP32).double() for t in (x, w))
    return (x @ w).float()


@pytest.mark.parametrize(
    "product, dtype, right",
    [
        (torch.matmul, BF16, True),
        (in_parts, BF16, True),
        (one_by_one, BF16, True),
        (one_by_one, FP32, True),
        (tf32, FP32, False),
        (lambda x, w: (x.bfloat16() @ w.bfloat16()).float(), FP32, False),
        (lambda x, w: x[:, :-64] @ w[:-64], BF16, False),
        (lambda x, w: x @ w.roll(1, 0), BF16, False),
    ],
)
def test_products_of_14336_terms(product, dtype, right):
    found = verdict(torch.matmul, product, random(16, K, dtype=dtype), random(K, 16, dtype=dtype, seed=1))
    assert (found is None) == right, found


def softmax(x):
    return torch.softmax(x, dim=-1)


def padded(x):
    return torch.softmax(F.pad(x, (0, 96)), dim=-1)[:, :-96]  # masked lanes read as 0 instead of -inf


@pytest.mark.parametrize("dtype", [BF16, FP16, FP32])
@pytest.mark.parametrize("passes", ["forward", "backward", "both"])
def test_a_softmax_and_its_gradient(dtype, passes):
    x = random(8, 4000, dtype=dtype)
    assert verdict(softmax, softmax, x, passes=passes) is None
    assert verdict(softmax, lambda x: softmax(x.float()).to(dtype), x * 4, passes=passes) is None
    assert verdict(softmax, lambda x: softmax(x * 1.25), x, passes=passes).startswith("wrong, ")
    if dtype == FP32:
        assert verdict(softmax, padded, x, passes=passes) is not None


def test_a_gradient_without_one_of_its_terms():
    y, dy = softmax(random(8, 64)), random(8, 64, seed=1)
    right = lambda y, dy: y * (dy - (y * dy).sum(-1, keepdim=True))  # noqa: E731
    assert verdict(right, right, y, dy) is None
    assert verdict(right, lambda y, dy: y * dy, y, dy) is not None


def attention(q, k, v, scale=0.125, narrow=lambda p: p):
    """Causal; `narrow` rounds the probabilities, as tensor cores take them, before they meet v."""
    scores = (q @ k.mT) * scale
    later = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    return (narrow(torch.softmax(scores.masked_fill(later, float("-inf")), dim=-1)) @ v.to(q.dtype)).to(v.dtype)


@pytest.mark.parametrize("passes", ["forward", "both"])
def test_a_causal_attention_and_its_gradients(passes):
    q, k, v = (random(1, 2, 128, 64, seed=seed) for seed in range(3))
    fused = lambda q, k, v: attention(q.float(), k.float(), v, narrow=lambda p: p.bfloat16().float())  # noqa: E731
    assert verdict(attention, fused, q, k, v, passes=passes) is None
    assert verdict(attention, attention, q, k, v, passes=passes) is None
    assert verdict(attention, lambda q, k, v: attention(q, k, v, scale=0.15), q, k, v, passes=passes) is not None


def rms_norm(x, weight):
    return F.rms_norm(x, x.shape[-1:], weight, eps=1e-6)


def test_the_gradients_of_a_norm_over_many_rows():
    x, weight = random(512, 128), random(128, seed=1)
    wide = lambda x, weight: rms_norm(x.float(), weight.float()).to(x.dtype)  # noqa: E731
    assert verdict(rms_norm, wide, x, weight, passes="both") is None
    mean = lambda x, weight: F.layer_norm(x, x.shape[-1:], weight)  # noqa: E731
    assert verdict(rms_norm, mean, x, weight, passes="both").startswith("wrong, result 1")
    part = lambda x, weight: torch.cat([rms_norm(x[:-99], weight), rms_norm(x[-99:], weight.detach())])  # noqa: E731
    assert verdict(rms_norm, part, x, weight, passes="both").startswith("wrong, result 3")
