"""Generated from notebooks/07_training.ipynb by `make derived`: edit the notebook, not this file."""

from helpers.kernels.fused_swiglu import swiglu, widen
from helpers.kernels.vector_add import check_elementwise

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def swiglu_backward_kernel(grad_ptr, gate_ptr, up_ptr, d_gate_ptr, d_up_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements  # the last program overruns n_elements
    grad = widen(tl.load(grad_ptr + offsets, mask=mask))
    gate = widen(tl.load(gate_ptr + offsets, mask=mask))
    up = widen(tl.load(up_ptr + offsets, mask=mask))
    valve = tl.sigmoid(gate)  # computed again: cheaper than a sixth trip
    d_gate = grad * up * valve * (1 + gate * (1 - valve))
    tl.store(d_gate_ptr + offsets, d_gate, mask=mask)
    tl.store(d_up_ptr + offsets, grad * gate * valve, mask=mask)


def swiglu_backward(grad_output, gate, up, BLOCK_SIZE=1024):
    """Gradients of silu(gate) * up for gate and up, contiguous; grad_output may lie anyhow."""
    dtypes = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    grad_output = grad_output.contiguous()  # costs nothing, or two trips
    check_elementwise("swiglu_backward", dtypes, gate=gate, up=up, grad_output=grad_output)
    d_gate, d_up = torch.empty_like(gate), torch.empty_like(up)
    tensors, n_elements = (grad_output, gate, up, d_gate, d_up), gate.numel()
    grid = (triton.cdiv(n_elements, BLOCK_SIZE),)
    swiglu_backward_kernel[grid](*tensors, n_elements, BLOCK_SIZE=BLOCK_SIZE)
    return d_gate, d_up


@torch.library.custom_op("course::swiglu", mutates_args=())
def swiglu_op(gate: Tensor, up: Tensor) -> Tensor:
    """swiglu as an operator of PyTorch, with its gradient."""
    return swiglu(gate, up)


@swiglu_op.register_fake
def swiglu_fake(gate, up):
    return torch.empty_like(gate)


@torch.library.custom_op("course::swiglu_backward", mutates_args=())
def swiglu_backward_op(grad_output: Tensor, gate: Tensor, up: Tensor) -> tuple[Tensor, Tensor]:
    return swiglu_backward(grad_output, gate, up)


@swiglu_backward_op.register_fake
def swiglu_backward_fake(grad_output, gate, up):
    return torch.empty_like(gate), torch.empty_like(up)


def save_inputs(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def swiglu_gradients(ctx, grad_output):
    return swiglu_backward_op(grad_output, *ctx.saved_tensors)


_ = swiglu_op.register_autograd(swiglu_gradients, setup_context=save_inputs)


COMPILE = {
    "swiglu_backward_kernel": {
        "constexprs": {"BLOCK_SIZE": 1024},
        "dtypes": ["fp16", "bf16", "fp32", "fp64"],
        "types": {
            "d_gate_ptr": "*dtype",
            "d_up_ptr": "*dtype",
            "gate_ptr": "*dtype",
            "grad_ptr": "*dtype",
            "n_elements": "i32",
            "up_ptr": "*dtype",
        },
    }
}
