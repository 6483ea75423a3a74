"""Device functions of another module, for the tests of what travels to the compiler."""

from helpers.device import DEVICE  # noqa: F401  (decides the mode before triton is imported)

import triton
import triton.language as tl

SCALE = tl.constexpr(7)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x) * SCALE
