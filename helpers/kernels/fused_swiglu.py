"""Generated from notebooks/03_fused_swiglu.ipynb by `make derived`: edit the notebook, not this file."""

from helpers.kernels.vector_add import check_elementwise

import torch
import triton
import triton.language as tl


@triton.jit
def widen(x):
    """16-bit floats become float32; wider ones stay as they are."""
    if x.dtype.primitive_bitwidth == 16:
        return x.to(tl.float32)
    else:
        return x


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements  # the last program overruns n_elements
    gate = widen(tl.load(gate_ptr + offsets, mask=mask))
    up = widen(tl.load(up_ptr + offsets, mask=mask))
    tl.store(out_ptr + offsets, silu(gate) * up, mask=mask)  # narrows to the type of out


def swiglu(gate, up, BLOCK_SIZE=1024):
    """silu(gate) * up for contiguous tensors of one shape and one of four float types."""
    dtypes = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    check_elementwise("swiglu", dtypes, gate=gate, up=up)
    out = torch.empty_like(gate)
    grid = (triton.cdiv(gate.numel(), BLOCK_SIZE),)
    swiglu_kernel[grid](gate, up, out, gate.numel(), BLOCK_SIZE=BLOCK_SIZE)
    return out


COMPILE = {
    "swiglu_kernel": {
        "constexprs": {"BLOCK_SIZE": 1024},
        "dtypes": ["fp16", "bf16", "fp32", "fp64"],
        "types": {"gate_ptr": "*dtype", "n_elements": "i32", "out_ptr": "*dtype", "up_ptr": "*dtype"},
    }
}
