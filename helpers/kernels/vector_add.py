"""Generated from notebooks/02_vector_add.ipynb by `make derived`: edit the notebook, not this file."""

from helpers import DEVICE

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements  # the last program overruns n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def check_elementwise(name, dtypes, **tensors):
    """Raises TypeError or ValueError if an element-wise kernel cannot take these tensors."""
    for label, t in tensors.items():
        if not isinstance(t, torch.Tensor):
            raise TypeError(f"{name}: {label} is of type {type(t).__name__}; pass a torch.Tensor")
        if t.dtype not in dtypes:
            supported = ", ".join(map(str, dtypes))
            raise TypeError(f"{name}: {label} is {t.dtype}; supported: {supported}")
        if t.device != DEVICE:
            found = f"{label} is on {t.device}, kernels run on {DEVICE}"
            raise ValueError(f"{name}: {found}; call {label}.to(DEVICE)")
        if not t.is_contiguous():
            raise ValueError(f"{name}: {label} is not contiguous; call {label}.contiguous()")
        if t.numel() > 2**31 - 1:
            raise ValueError(f"{name}: {label} has {t.numel()} elements; the limit is 2**31 - 1")
    (first, x), *others = tensors.items()
    for label, t in others:
        if t.shape != x.shape:
            found = f"{first} has shape {tuple(x.shape)} but {label} has {tuple(t.shape)}"
            raise ValueError(f"{name}: {found}; both must match")
        if t.dtype != x.dtype:
            found = f"{first} is {x.dtype} but {label} is {t.dtype}"
            raise TypeError(f"{name}: {found}; both must match")


def add(x, y, BLOCK_SIZE=1024):
    """Adds two contiguous tensors of one shape; float16, float32 or float64."""
    check_elementwise("add", (torch.float16, torch.float32, torch.float64), x=x, y=y)
    out = torch.empty_like(x)
    n_elements = x.numel()
    grid = (triton.cdiv(n_elements, BLOCK_SIZE),)  # no elements: no programs
    add_kernel[grid](x, y, out, n_elements, BLOCK_SIZE=BLOCK_SIZE)
    return out


COMPILE = {
    "add_kernel": {
        "constexprs": {"BLOCK_SIZE": 1024},
        "dtypes": ["fp16", "fp32", "fp64"],
        "types": {"n_elements": "i32", "out_ptr": "*dtype", "x_ptr": "*dtype", "y_ptr": "*dtype"},
    }
}
