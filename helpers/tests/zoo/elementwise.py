"""Functions of each element: of one tensor, and SwiGLU with its gradients."""

from helpers.tests.zoo.launchers import empty, flat, with_options

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from triton import jit
from triton.language.extra import libdevice

F32 = tl.float32
LN2 = tl.constexpr(math.log(2))


@jit
def unary_kernel(x_ptr, out_ptr, n_elements, OP: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    narrow = tl.load(x_ptr + offsets, mask=mask)
    x = narrow.to(F32)
    if OP == "gelu":
        y = x * tl.sigmoid(1.702 * x)
    elif OP == "gelu, exact where tanh cancels":
        y = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    elif OP == "relu":
        y = tl.where(x != x, x, tl.where(x > 0, x, 0.0))
    elif OP == "relu that keeps nan":
        y = tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "relu by maximum":
        y = tl.maximum(x, 0.0)
    elif OP == "clamp":
        y = tl.clamp(x, -1.0, 1.0)
    elif OP == "clamp that keeps nan":
        y = tl.clamp(x, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "leaky relu without slope":
        y = tl.where(x < 0, x, x)
    elif OP == "abs by square root":
        y = tl.sqrt(x * x)
    elif OP == "reciprocal, zero kept":
        y = tl.where(x == 0, 0.0, 1.0 / x)
    elif OP == "exp":
        y = tl.exp(x)
    elif OP == "exp, clamped":
        y = tl.exp(tl.minimum(x, 80.0))
    elif OP == "tanh":
        y = libdevice.tanh(x)
    elif OP == "turns":
        y = x / (2 * math.pi)
    elif OP == "logarithm to base 2":
        y = tl.log(x) / LN2
    elif OP == "derivative of silu":
        s = tl.sigmoid(x)
        y = s * (1 + x * (1 - s))
    elif OP == "derivative of silu through float16":
        s = tl.sigmoid(x).to(tl.float16).to(tl.float32)
        y = s * (1 + x * (1 - s))
    elif OP == "eighth power in the narrow type":
        square = narrow * narrow
        fourth = square * square
        y = (fourth * fourth).to(tl.float32)
    elif OP == "cube through a constant":
        y = x * x * x * 1.001
    else:
        y = x
    tl.store(out_ptr + offsets, y, mask=mask)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, n_elements, TYPE: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    """TYPE None: in the inputs' own type."""
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    gate = tl.load(gate_ptr + offsets, mask=mask)
    up = tl.load(up_ptr + offsets, mask=mask)
    if TYPE is None:
        tl.store(out_ptr + offsets, silu(gate) * up, mask=mask)
    else:
        narrow = silu(gate.to(tl.float32)).to(TYPE).to(tl.float32)
        tl.store(out_ptr + offsets, narrow * up.to(tl.float32), mask=mask)


@triton.jit
def swiglu_backward_kernel(
    grad_ptr, gate_ptr, up_ptr, d_gate_ptr, d_up_ptr, n_columns, grad_row, grad_column, NARROW: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    grad = tl.load(grad_ptr + row * grad_row + columns * grad_column, mask=mask).to(tl.float32)
    gate = tl.load(gate_ptr + row * n_columns + columns, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + row * n_columns + columns, mask=mask).to(tl.float32)
    s = tl.sigmoid(gate)
    if NARROW:
        s = s.to(tl.float16).to(tl.float32)
    tl.store(d_gate_ptr + row * n_columns + columns, grad * up * s * (1 + gate * (1 - s)), mask=mask)
    tl.store(d_up_ptr + row * n_columns + columns, grad * gate * s, mask=mask)


def unary(op: str) -> Callable:
    return flat(unary_kernel, OP=op)


@with_options
def swiglu_gradients(grad, gate, up, honest: bool = True, narrow: bool = False):
    """Both gradients, from the gradient of the result, gate and up."""
    gate, up, d_gate, d_up = gate.contiguous(), up.contiguous(), empty(gate), empty(up)
    strides, block = grad.stride() if honest else gate.stride(), triton.next_power_of_2(gate.shape[1])
    swiglu_backward_kernel[(gate.shape[0],)](
        grad, gate, up, d_gate, d_up, gate.shape[1], *strides, NARROW=narrow, BLOCK_SIZE=block
    )
    return d_gate, d_up


def packed_swiglu(packed):
    return swiglu_reference(*(half.contiguous() for half in packed.chunk(2, -1)))


def swiglu_reference(gate, up):
    return F.silu(gate) * up


def swiglu_gradients_reference(grad, gate, up):
    gate, up = gate.detach().requires_grad_(), up.detach().requires_grad_()
    return torch.autograd.grad(swiglu_reference(gate, up), (gate, up), grad)


def silu_derivative_reference(x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(F.silu(x).sum(), x)[0]


GRADIENTS = {"inputs": 3, "shapes": [(8, 64), (5, 100), (3, 257)]}
