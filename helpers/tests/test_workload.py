"""One workload between clocks whose times are known: what is timed, how often, and what is not, and why."""

from helpers.kernels.fused_swiglu import swiglu
from helpers.measure.comparison import compare
from helpers.measure.workload import made

import itertools

import pytest
import torch
import torch.nn.functional as F

pytest_plugins = ["helpers.tests.fake_clocks"]

BF16, FP32 = torch.bfloat16, torch.float32
CASE = ((8, 1024), BF16)
N_BYTES = 3 * 8 * 1024 * 2


def reference(gate, up):
    return F.silu(gate) * up


def run(implementations, cases=(CASE,), *args, name="swiglu", **options):
    return compare(implementations, list(cases), *args, name=name, **options).set_index("impl")


def test_what_a_row_holds(clocks):
    table = compare(clocks.named(eager=reference, fused=swiglu), [CASE], name="swiglu", graph=True)
    order = "op shape dtype impl device_us p20_us p80_us GB/s of_copy speedup host_us graph_us note"
    eager, fused = N_BYTES / 40e-6 / 1e9, N_BYTES / 10e-6 / 1e9
    case = ["swiglu", "(8, 1024)", "bfloat16"]
    assert list(table) == order.split()
    for row, impl, numbers, note in [
        (table.loc[0], "eager", [40, 20, 120, eager, eager / 8, 1, 40, 30], ""),
        (table.loc[1], "fused", [10, 5, 30, fused, fused / 8, 4, 12, 7], "launch-bound"),
    ]:
        assert row.tolist()[:4] == [*case, impl] and row.tolist()[4:-1] == pytest.approx(numbers)
        assert row["note"] == note
    assert clocks.ran == ["eager", "fused"] * 7


@pytest.mark.parametrize("cache, note", [(N_BYTES, "launch-bound; fits in L2"), (N_BYTES - 1, "launch-bound")])
def test_what_fits_in_the_cache_is_marked(clocks, cache, note):
    clocks.cache = cache
    table = run(clocks.named(eager=reference, fused=swiglu))
    assert table.loc["fused", "note"] == note and "graph_us" not in table


def late(gate, up):
    out = reference(gate, up)
    out.view(-1)[-1] = 100.0
    return out


class OnceRight:
    """A kernel that adds to what it left behind."""

    def __init__(self):
        self.left = 0.0

    def __call__(self, gate, up):
        self.left = self.left + reference(gate, up)
        return self.left


@pytest.mark.parametrize(
    "bad, why",
    [
        (late, "wrong, 1 of 8192 elements, the first at (7, 1023)"),
        (OnceRight(), "wrong, "),
        (lambda g, u: reference(g, u)[:2], "wrong, bfloat16[2, 1024] instead of bfloat16[8, 1024]"),
        (lambda g, u: reference(g, u).half(), "wrong, float16[8, 1024] instead of bfloat16"),
        (lambda g, u: None, "wrong, 0 results instead of 1"),
        (lambda g, u: g @ u, "it raised RuntimeError: mat1 and mat2 shapes cannot be multiplied"),
        (lambda g, u: exec("assert False"), "it raised AssertionError: "),
        (lambda g, u: exec("raise ValueError('a' * 101)"), f"it raised ValueError: {'a' * 100}"),
        (lambda g, u: exec("raise ValueError('one' + chr(10) + 'two')"), "it raised ValueError: one"),
    ],
)
def test_why_an_implementation_is_not_timed(clocks, capsys, bad, why):
    table = run({**clocks.named(eager=reference), "bad": bad}, graph=True)
    note, numbers = table.loc["bad", "note"], table.select_dtypes("number").loc["bad"]
    assert note.startswith(f"not timed: {why}") and "a" * 101 not in note and "two" not in note
    assert len(numbers) == 8 and numbers.isna().all() and clocks.ran == ["eager"] * 7
    assert capsys.readouterr().out.endswith(f"\n(8, 1024) bfloat16, bad: {note}\n")


def test_without_the_first_there_is_no_speedup(clocks):
    table = run(clocks.named(eager=late, fused=swiglu), reference=reference)
    assert table["device_us"].notna().tolist() == [False, True] and table["speedup"].isna().all()


def test_a_compiled_function_must_have_been_compiled(clocks):
    compiled = torch.compile(reference, backend="eager")
    refused = torch.compile(torch.compiler.disable(reference), backend="eager")
    cases = [((4, 8), FP32), ((5, 8), FP32)]
    for passes in ("forward", "backward"):
        table = run({"eager": reference, "good": compiled, "bad": refused}, cases, passes=passes)
        assert table.loc["good", "device_us"].notna().all()
        assert set(table.loc["bad", "note"]) == {"not timed: torch.compile compiled nothing: it ran eager"}


@pytest.mark.parametrize("after, why", [(1, "at the second call"), (4, "while it was timed")])
def test_a_function_that_compiles_again_is_not_timed(clocks, after, why):
    calls, count = itertools.count(), [0]
    inner = torch.compile(lambda gate, up: reference(gate, up) + 0 * count[0], backend="eager")

    def call(gate, up):
        count[0] = int(next(calls) >= after)
        return inner(gate, up)

    call._torchdynamo_orig_callable = reference  # as torch.compile marks what it returns
    table = run({"eager": reference, "changing": call, "late": late})
    wrong = "not timed: wrong, 1 of 8192 elements, the first at (7, 1023)"
    assert table["note"].tolist() == ["", f"not timed: torch.compile compiled again {why}", wrong]
    assert table["device_us"].notna().tolist() == [True, False, False]


def largest(x):
    return tuple(torch.max(x, dim=-1))


def test_every_result_of_several_is_looked_at(clocks):
    wrong = lambda x: (largest(x)[0], largest(x)[1] + 1)  # noqa: E731
    table = run({**clocks.named(eager=largest), "wrong": wrong}, [CASE], 1)
    assert table.loc["wrong", "note"] == "not timed: wrong, result 2: 8 of 8 elements, the first at (0,)"
    assert table.loc["eager", "GB/s"] == pytest.approx((8192 * 2 + 8 * 2 + 8 * 8) / 40e-6 / 1e9)


def weighted(shape, dtype, device):
    return torch.ones(shape, dtype=dtype), torch.zeros(3, dtype=torch.int64), torch.ones(8)


@pytest.mark.parametrize("passes, forwards", [("forward", 11), ("backward", 3), ("both", 12)])
def test_passes(clocks, passes, forwards):
    """The gradients are those of x and weight. A call tells dtypes, ten are checked or timed."""
    seen = []

    def scaled(x, index, weight):
        seen.append((x, weight))
        return (x * weight)[index].to(x.dtype), index

    table = run(clocks.named(eager=scaled), [((4, 8), BF16)], weighted, passes=passes)
    x, weight = seen[-1]
    back = passes != "forward"
    assert x.grad is None and weight.grad is None and x.requires_grad == weight.requires_grad == back
    assert sum(one[0] is x for one in seen) == forwards
    come_in = (32 * 2 + 3 * 8 + 8 * 4) + back * 24 * 2  # three rows of x are used
    results = back * (32 * 2 + 8 * 4) + (passes != "backward") * (24 * 2 + 3 * 8)
    assert table.loc["eager", "GB/s"] == pytest.approx((come_in + results) / 40e-6 / 1e9)


def test_only_the_gradients_that_the_author_wants(clocks):
    def inputs(shape, dtype, device):
        return torch.ones(shape, dtype=dtype).requires_grad_(), torch.ones(shape, dtype=dtype)

    for passes, tensors in (("forward", 3), ("backward", 4)):  # that come in or go out
        table = run(clocks.named(eager=reference), [CASE], inputs, passes=passes)
        assert table.loc["eager", "GB/s"] == pytest.approx(tensors * 8 * 1024 * 2 / 40e-6 / 1e9)


class Overwriting(torch.autograd.Function):
    """Its backward pass writes the gradient over what it saved, as some libraries do: it is right once."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(kept := x.detach().clone())
        return kept.square()

    @staticmethod
    def backward(ctx, grad):
        return ctx.saved_tensors[0].mul_(2 * grad)


def test_a_backward_pass_that_overwrites_what_it_saved_is_timed_with_its_forward_pass_only(clocks):
    both = {"eager": torch.square, "overwriting": Overwriting.apply}
    assert run(both, [((4, 8), FP32)], 1, passes="both")["device_us"].notna().all()
    assert run(both, [((4, 8), FP32)], 1, passes="backward")["device_us"].notna().tolist() == [True, False]


def test_inputs_are_the_same_each_time_and_different_from_each_other():
    x, y = made(2, (4, 8), BF16, "forward")
    again = made(lambda *case: [torch.randn(4, 8, dtype=BF16, device=case[2])], (4, 8), BF16, "forward")
    assert torch.equal(x, again[0]) and not torch.equal(x, y) and x.dtype == BF16 and not x.requires_grad
    assert made(lambda *case: case[0], (x, y), BF16, "forward") == (x, y)


@pytest.mark.parametrize("bad", [torch.ones(2), (torch.ones(2), 3), None])
def test_inputs_must_be_a_tuple_of_tensors(bad):
    with pytest.raises(ValueError, match="inputs must return a tuple of tensors"):
        made(lambda shape, dtype, device: bad, (2,), FP32, "forward")
