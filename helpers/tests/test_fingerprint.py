"""Fingerprints: every change of what is measured counts, and nothing else does."""

from helpers.kernels import fused_swiglu
from helpers.measure.fingerprint import _code, _leading_to_kernels, fingerprint
from helpers.tests import recorded_twins as twins

import functools
import hashlib

import pytest
import torch


def kernels(*functions):
    return fingerprint(functions, kernels_only=True)


def leading(function):
    return {name for name, _ in _leading_to_kernels([function], {})}


@pytest.mark.parametrize("same", [twins.plain, twins.commented, twins.documented])
def test_comments_layout_and_docstrings_do_not_count(same):
    assert _code(same)[1].partition("\n")[2] == "    return x + 1"


def lambda_text(function):
    return f"lambda {function.__code__.co_names} {function.__code__.co_consts}"


@pytest.mark.parametrize(
    "value, text",
    [
        (twins.around, lambda_text(twins.around)),
        (twins.nothing, "def nothing():\n    pass"),
        (twins.launch_one, "def launch_one(x):\n    first_kernel[ONE,](x)"),
        (
            twins.captured_in((8, len)),
            "def inner(x):\n    return launch(x, block)\nblock = (8, builtin_function_or_method)",
        ),
        (twins.captured_in(len), "def inner(x):\n    return launch(x, block)"),
        (functools.partial(twins.launch, 1, block=[8]), "partial (1, ('block', (8)))"),
        (twins.autotuned, "@triton.jit\ndef one(x):\n    return x + 1\n{'B': 8} 2 5\n{'B': 16} 4 3"),
        (torch.add, "_VariableFunctionsClass.add"),
    ],
)
def test_the_text_of_which_a_fingerprint_is_made(value, text):
    """Records hold hashes of these texts: whoever changes one has to measure again."""
    assert _code(value)[1] == text


def test_no_text_holds_an_address():
    for one in (twins.nested, functools.partial(twins.launch, len), *twins.DIFFERENT["a constexpr"]):
        assert " at 0x" not in _code(one)[1]


@pytest.mark.parametrize("pair", twins.DIFFERENT.values(), ids=twins.DIFFERENT)
def test_what_is_measured_counts(pair):
    one, other = pair
    assert kernels(one) != kernels(other)
    assert fingerprint([one]) != fingerprint([other])
    assert kernels(one, other) not in (kernels(one), kernels(other)) and kernels(one, other) == kernels(other, one)


def test_a_fingerprint_is_the_hash_of_the_code_in_the_order_of_names():
    text = "def other(x):\n    return x + 2\n\ndef plain(x):\n    return x + 1"
    assert fingerprint([twins.plain, twins.other]) == hashlib.sha256(text.encode()).hexdigest()[:12]


def test_a_function_without_a_kernel_counts_only_if_it_is_given():
    assert kernels(twins.plain) == kernels() == hashlib.sha256(b"").hexdigest()[:12]
    assert fingerprint([twins.plain]) != fingerprint([twins.other])


def test_of_a_library_the_name_counts():
    assert fingerprint([torch.add]) != fingerprint([torch.mul])
    assert fingerprint([functools.partial(torch.add, 1)]) != fingerprint([functools.partial(torch.add, 2)])
    assert kernels(torch.add) == kernels()


def test_it_is_the_same_for_the_same_code_made_again():
    for make in (
        lambda: twins.captured(8),
        lambda: functools.partial(twins.plain, len),
        lambda: twins.tuned(twins.one, ({},)),
    ):
        assert fingerprint([make()]) == fingerprint([make()])


@pytest.mark.parametrize(
    "function, found",
    [
        (fused_swiglu.swiglu, {"swiglu", "swiglu_kernel", "widen", "silu"}),
        (twins.around, {"<lambda>", "swiglu", "swiglu_kernel", "widen", "silu"}),
        (twins.Module(), {"Module", "Module.forward", "first", "kernel_of.<locals>.kernel", "one"}),
        (twins.loops, {"loops", "first", "kernel_of.<locals>.kernel", "one"}),
        (torch.compile(twins.first), {"first", "kernel_of.<locals>.kernel", "one"}),
        (twins.points, {"points", "point"}),
        (twins.plain, set()),
    ],
)
def test_what_leads_to_a_kernel(function, found):
    assert leading(function) == found
