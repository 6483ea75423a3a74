"""What `helpers.check` does with bad arguments and odd candidates, and what it leaves behind."""

from helpers.checker import check
from helpers.compiler.functions import is_compiled
from helpers.tests.zoo import kinds as z

import pytest
import torch


def test_an_explicit_dtype_may_not_be_rejected():
    assert check(z.strict, torch.add).passed
    report = check(z.strict, torch.add, dtypes=[torch.float32, torch.bfloat16])
    assert not report.passed and "raised TypeError: add: x is torch.bfloat16" in report.text


def test_the_first_dtype_may_not_be_rejected():
    def add(x, y):
        if x.dtype == torch.float32:
            raise TypeError("add: x is torch.float32; it must be torch.float16")
        return x + y

    assert "n=3072, float32: raised TypeError: add: x is torch.float32" in check(add, torch.add).text
    assert check(add, torch.add, dtypes=[torch.float16]).passed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"candidate": None}, "candidate must be a function"),
        ({"candidate": z.add_kernel}, "candidate is a kernel; give its launcher"),
        ({"reference": 3}, "reference must be a function"),
        ({"reference": lambda x: x}, "reference(float32[3072], float32[3072]) raised TypeError"),
        ({"reference": lambda x, y: 3}, "reference must return tensors, not int"),
        ({"inputs": 0}, "inputs is 0"),
        ({"inputs": "two"}, "inputs is 'two'"),
        ({"inputs": lambda shape, dtype, device: ()}, "give the shapes it understands"),
        ({"inputs": lambda shape, dtype, device: 3, "shapes": [4]}, "inputs must return a tuple of tensors"),
        ({"inputs": lambda shape: shape, "shapes": [4]}, "raised TypeError"),
        ({"shapes": []}, "shapes is []"),
        ({"shapes": [(-1,)]}, "shapes is [(-1,)]"),
        ({"dtypes": ["float32"]}, "dtypes is ['float32']"),
        ({"block_size": 0}, "block_size is 0"),
        ({"kernel": z.stub}, "kernel must be a @triton.jit function"),
        ({"must_take_views": 1}, "must_take_views is 1"),
        ({"seed": None}, "seed is None"),
    ],
)
def test_bad_arguments_are_named(arguments, says):
    with pytest.raises(ValueError) as caught:
        check(**({"candidate": torch.add, "reference": torch.add} | arguments))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("candidate", "says"),
    [
        (lambda x, y: {"sum": x + y}, "is dict, expected a tensor"),
        (lambda x, y: 3.0, "is float, expected a tensor"),
        (lambda x, y: (x + y, x - y), "returned 2 results, expected 1"),
        (lambda x, y: (x + y).to_sparse(), "is sparse"),
        (lambda x, y: torch.empty_like(x, device="meta"), "is on meta"),
        (lambda x, y: (x + y).to(torch.complex64), "is complex64"),
        (lambda x, y: x.unsqueeze_(0).squeeze(0) + y, "input 0 is not what it was"),
        (lambda x, y: x.add_(y).clone(), "input 0 is not what it was"),
        (lambda x: x, "raised TypeError"),
        (lambda x, y: torch.empty_like(x), "got nan (never written)"),
        (lambda x, y: 1 / 0, "raised ZeroDivisionError: division by zero."),
    ],
)
def test_it_survives_whatever_a_candidate_does(candidate, says):
    report = check(candidate, torch.add)
    assert report.status == "failed" and says in report.text, str(report)


def test_an_element_that_is_never_written_is_wrong_even_where_the_reference_has_nan():
    report = check(lambda x: torch.empty_like(x), lambda x: x * float("nan"), 1)
    assert "got nan (never written), expected nan" in report.text


def test_inputs_may_hold_more_than_tensors():
    def inputs(shape, dtype, device):
        return 3, torch.randn(shape, device=device).to(dtype), torch.arange(shape[0], device=device)

    def pick(scale, x, rows):
        return scale * x[rows]

    assert check(pick, pick, inputs, shapes=[(4, 16), (3, 5)]).passed
    assert not check(lambda scale, x, rows: scale * x[rows].relu(), pick, inputs, shapes=[(4, 16)]).passed


def test_a_reference_may_work_in_place_and_values_on_which_it_raises_are_left_out():
    assert check(lambda x: 2 * x, lambda x: x.mul_(2), 1).passed

    def careful(x):
        if not bool(x.double().isfinite().all()):
            raise ValueError("finite numbers only")
        return 2 * x

    report = check(careful, careful, 1)
    assert report.passed and "  values  " not in report.text


def test_it_leaves_torch_and_triton_as_they_were():
    def state():
        flags = torch.utils.deterministic.fill_uninitialized_memory, torch.get_deterministic_debug_mode()
        return flags, torch.get_num_threads(), torch.initial_seed(), dict(vars(z.add_kernel))

    before = state()
    check(z.stub, torch.add)
    check(torch.sub, torch.add)
    check(z.add(), torch.add, kernel=z.add_kernel)
    assert state() == before


def test_the_same_seed_gives_the_same_report():
    reports = [check(torch.sub, torch.add, seed=seed).text for seed in (1, 1, 2)]
    assert reports[0] == reports[1] != reports[2]


def test_compiled_candidates_are_run_compiled_in_every_case():
    """Holds the two private names: the attribute that marks a compiled function, and the limit on recompiling."""
    traced = set()

    def add(x, y):
        if torch.compiler.is_compiling():
            return x + y + 0 * x.dim()
        traced.add((tuple(x.shape), x.dtype))  # reached in eager mode only
        return x + y

    compiled = torch.compile(add, backend="eager")
    assert is_compiled(compiled) and not is_compiled(add)
    assert check(compiled, torch.add).passed
    assert not traced, "some cases fell back to eager"
