"""Functions whose code is the same, or differs in one thing: for the tests of fingerprints and records."""

from helpers.kernels.fused_swiglu import swiglu
from helpers.measure.recording import Unavailable

import functools

import torch
import triton
import triton.language as tl


def plain(x):
    return x + 1


def commented(x):
    # a comment

    return (
        x + 1  # and another
    )


def documented(x):
    """Adds one."""
    return x + 1


def other(x):
    return x + 2


def nothing():
    """Says so."""


def rows():
    return [{"µs": 1}, {"µs": 2}]


def told(text, end):
    return text + end


def too_large():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has 12.00 GiB\nand more")


def spills_too_much():
    raise RuntimeError("Triton Error [CUDA]: out of memory")


def breaks():
    raise RuntimeError("CUDA error: an illegal memory access was encountered")


def unavailable():
    raise Unavailable("no such tool")


@triton.jit
def one(x):
    return x + 1


@triton.jit
def two(x):
    return x + 2


def kernel_of(device):
    @triton.jit
    def kernel(x_ptr):
        device(x_ptr)

    return kernel


first_kernel, second_kernel = kernel_of(one), kernel_of(two)


def first(x):
    first_kernel[(1,)](x)


def second(x):
    second_kernel[(1,)](x)


ONE = 1


def launch_one(x):
    first_kernel[(ONE,)](x)


def launch(x, block=1):
    first_kernel[(block,)](x)


def constant_of(size):
    SIZE = tl.constexpr(size)

    @triton.jit
    def kernel(x_ptr):
        tl.store(x_ptr, SIZE)

    def launch_it(x):
        kernel[(1,)](x)

    return launch_it


def tuned(kernel, *configurations):
    """A launcher of an autotuned kernel; a configuration is its constants, and if need be warps and stages."""
    tuner = triton.autotune([triton.Config(*one) for one in configurations], key=[])(kernel)

    def launch_it(x):
        tuner[(1,)](x)

    return launch_it


autotuned = triton.autotune([triton.Config({"B": 8}, num_warps=2, num_stages=5), triton.Config({"B": 16})], key=[])(one)


def captured(block):
    return lambda x: launch(x, block)


def captured_in(block):
    def inner(x):
        return launch(x, block)

    return inner


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


def operator(function):
    """As an author wraps kernels for training: an autograd function, and a call of it."""

    class Operator(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return function(x)

    return Operator


def custom(name, function):
    @torch.library.custom_op(f"course_twins::{name}", mutates_args=())
    def op(x: torch.Tensor) -> torch.Tensor:
        return function(x)

    return op


class Module(torch.nn.Module):
    def forward(self, x):
        return first(x)


@triton.testing.perf_report(triton.testing.Benchmark(["n"], [1], "impl", ["a"], ["a"], "plot", {}))
def point(n, impl):
    first(n)


def points():
    return point.run(return_df=True)


def loops(x):
    loops_back(x)
    first(x)


def loops_back(x):
    loops(x)


around = lambda gate, up: swiglu(gate, up, BLOCK_SIZE=512)  # noqa: E731
wider = lambda gate, up: swiglu(gate, up, BLOCK_SIZE=1024)  # noqa: E731
added = lambda x: launch(x + 3)  # noqa: E731
subtracted = lambda x: launch(x - 3)  # noqa: E731
nested = lambda x: (lambda y: launch(y, 8))(x)  # noqa: E731
nested_more = lambda x: (lambda y: launch(y, 16))(x)  # noqa: E731
defaults = [lambda x, block=block: launch(x, block) for block in (8, 16)]
FIRST, SECOND = operator(first), operator(second)
DIFFERENT = {  # pairs that differ in one thing that is measured
    "a device function": (first, second),
    "a constant in a lambda": (around, wider),
    "an operator in a lambda": (added, subtracted),
    "a constant in a lambda's lambda": (nested, nested_more),
    "a default of a lambda": defaults,
    "what a lambda captured": (captured(8), captured(16)),
    "what a function captured": (captured_in((8, 1)), captured_in((8, 2))),
    "what a partial binds": (functools.partial(launch, block=8), functools.partial(launch, block=16)),
    "a partial's position": (functools.partial(launch, 1, 8), functools.partial(launch, 1, 16)),
    "what a partial wraps": (functools.partial(first, 1), functools.partial(second, 1)),
    "a kernel that a partial binds": (functools.partial(plain, f=first), functools.partial(plain, f=second)),
    "a partial's positional kernel": (functools.partial(plain, first), functools.partial(plain, second)),
    "a constexpr": (constant_of(8), constant_of(16)),
    "an autotuner's configurations": (tuned(one, ({"B": 8},), ({"B": 16},)), tuned(one, ({"B": 8},), ({"B": 32},))),
    "its warps": (tuned(one, ({}, 4, 2)), tuned(one, ({}, 8, 2))),
    "its stages": (tuned(one, ({}, 4, 2)), tuned(one, ({}, 4, 3))),
    "below an autotuner": (tuned(first_kernel, ({},)), tuned(second_kernel, ({},))),
    "below a decorator": (decorated(first), decorated(second)),
    "below an autograd function": (FIRST.apply, SECOND.apply),
    "below a call of one": (lambda x: FIRST.apply(x), lambda x: SECOND.apply(x)),
    "below a custom operator": (custom("first", first), custom("second", second)),
}
