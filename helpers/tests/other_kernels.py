"""A kernel, and a device function of another module, for the tests of the compiler."""

from helpers.device import DEVICE  # noqa: F401  (decides the mode before triton is imported)

import triton
import triton.language as tl

SCALE = tl.constexpr(7)
VECTORS = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n_elements": "i32"}


@triton.jit
def silu(x):
    return x * tl.sigmoid(x) * SCALE


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
