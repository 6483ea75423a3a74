"""Functions whose code is the same, or is not: for the tests of fingerprints."""

from helpers.kernels.fused_swiglu import swiglu
from helpers.measure.records import Unavailable

import torch
import triton


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


def rows():
    return [{"µs": 1}, {"µs": 2}]


def too_large():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has 12.00 GiB")


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


def _kernel_of(device):
    @triton.jit
    def kernel(x_ptr):
        device(x_ptr)

    return kernel


first_kernel, second_kernel = _kernel_of(one), _kernel_of(two)


def first(x):
    first_kernel[(1,)](x)


def second(x):
    second_kernel[(1,)](x)


around = lambda gate, up: swiglu(gate, up, BLOCK_SIZE=512)  # noqa: E731
