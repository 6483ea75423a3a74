"""What travels to the compiler with a kernel, and what cannot."""

from helpers.compiler.compiling import CompilationError, compiled
from helpers.compiler.sources import NotCarried, literal
from helpers.compiler.types import signature
from helpers.tests import other_kernels
from helpers.tests.other_kernels import silu as act

import math

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton import jit
from triton.language import exp
from triton.language.extra import libdevice

F32 = tl.float32
SCALE = tl.constexpr(5)
PAIR = tl.constexpr((2, 3))
RATE = 0.5


@triton.jit
def silu(x):
    return x * tl.sigmoid(x) * SCALE


@jit
def everything_kernel(x_ptr, out_ptr, TYPE: tl.constexpr, COUNT: tl.constexpr, BLOCK_SIZE: tl.constexpr = 64):
    offsets = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets).to(F32) * math.pi
    x = silu(x) + act(x) + other_kernels.silu(x) + libdevice.tanh(x) + exp(x) + half(PAIR[1])
    tl.store(out_ptr + offsets, x.to(TYPE) + COUNT)


@triton.constexpr_function
def half(n):
    return n // 2


tuned_kernel = triton.autotune([triton.Config({"BLOCK_SIZE": 64})], key=[])(everything_kernel)
PTRS = {"x_ptr": "*fp32", "out_ptr": "*fp32"}


@pytest.mark.parametrize("kernel", [everything_kernel, tuned_kernel], ids=["jit", "autotune"])
def test_whatever_triton_accepts_travels(kernel):
    fixed = {"TYPE": tl.float32, "COUNT": np.int64(3), "BLOCK_SIZE": 64}
    ttgir = compiled(kernel, PTRS, fixed).ttgir
    for constant in ("3.14159", "5.0", "7.0", "3.0"):
        assert f"dense<{constant}" in ttgir, constant


@triton.jit
def global_kernel(out_ptr):
    tl.store(out_ptr, RATE)


@triton.jit
def strange_kernel(out_ptr):
    tl.store(out_ptr, STRANGE)


STRANGE = object()


def test_a_plain_global_is_rejected_in_tritons_own_words():
    with pytest.raises(CompilationError, match=r"global_kernel, line \d+:[\s\S]*global variable RATE[\s\S]*constexpr"):
        compiled(global_kernel, {"out_ptr": "*fp32"}, {})


def test_what_cannot_be_carried_is_named_and_is_no_verdict():
    with pytest.raises(NotCarried, match="STRANGE is of type object"):
        compiled(strange_kernel, {"out_ptr": "*fp32"}, {})


@pytest.mark.parametrize(
    ("value", "source"),
    [(True, "True"), (3, "3"), (0.1, "float('0.1')"), (float("-inf"), "float('-inf')"), ("a", "'a'"), (None, "None"),
     ((1, (2.0,)), "(1, (float('2.0'), ), )"), (tl.float16, "tl.float16"), (np.float32(0.5), "float('0.5')"),
     (tl.constexpr(4), "tl.constexpr(4)")],
)  # fmt: skip
def test_values_as_source(value, source):
    assert literal(value, "x") == source


def test_the_signature_of_a_launch():
    x = torch.ones(8)
    run_time, fixed = signature(
        everything_kernel, (x,), {"out_ptr": None, "TYPE": tl.float16, "COUNT": 2, "num_warps": 8}
    )
    assert run_time == {"x_ptr": x} and fixed == {"out_ptr": None, "TYPE": tl.float16, "COUNT": 2, "BLOCK_SIZE": 64}
