"""Generated from notebooks/08_softmax.ipynb by `make derived`: edit the notebook, not this file."""

from helpers import DEVICE
from helpers.kernels.fused_swiglu import widen

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def softmax_rows_kernel(x_ptr, out_ptr, n_rows, N, row_stride, col_stride, ROWS: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    cols = tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N], the whole row
    mask = (rows < n_rows) & (cols < N)
    x = tl.load(x_ptr + rows * row_stride + cols * col_stride, mask=mask, other=-float("inf"))
    x = widen(x)
    x -= tl.max(x, axis=1, keep_dims=True)
    exp = tl.exp(x)
    out = exp * (1 / tl.sum(exp, axis=1, keep_dims=True))  # one division a row
    tl.store(out_ptr + rows * N + cols, out, mask=mask)


def as_rows(name, **tensors):
    """Tensors of one shape, type and device, each as [rows, N]: a view where strides allow one."""
    dtypes = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    first, x = next(iter(tensors.items()))
    for label, t in tensors.items():
        if not isinstance(t, torch.Tensor):
            raise TypeError(f"{name}: {label} is of type {type(t).__name__}; pass a torch.Tensor")
        if t.dtype not in dtypes or t.dtype != x.dtype:
            supported = x.dtype if x.dtype in dtypes else ", ".join(map(str, dtypes))
            raise TypeError(f"{name}: {label} is {t.dtype}; supported: {supported}")
        if t.device != DEVICE:
            found = f"{label} is on {t.device}, kernels run on {DEVICE}"
            raise ValueError(f"{name}: {found}; call {label}.to(DEVICE)")
        if t.shape != x.shape or not t.ndim:
            found = f"{label} has shape {tuple(t.shape)}, {first} {tuple(x.shape)}"
            raise ValueError(f"{name}: {found}; pass rows of one shape")
    tables = [t.reshape(t.shape[:-1].numel(), t.shape[-1]) for t in tensors.values()]
    far = [t.shape[1] * t.stride(1) >= 2**31 for t in tables]  # columns are counted in 32 bits
    return [t.contiguous() if one else t for t, one in zip(tables, far, strict=True)]


def softmax_rows(x, ROWS, BLOCK_N=None, num_warps=4):
    (table,) = as_rows("softmax", x=x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    (M, N), grid = table.shape, (triton.cdiv(table.shape[0], ROWS),)
    BLOCK_N = BLOCK_N or triton.next_power_of_2(max(N, 1))
    options = {"ROWS": ROWS, "BLOCK_N": BLOCK_N, "num_warps": num_warps}
    softmax_rows_kernel[grid](table, out, M, N, *table.stride(), **options)
    return out


@triton.jit
def softmax_long_kernel(x_ptr, out_ptr, n_rows, N, row_stride, col_stride, BLOCK_N: tl.constexpr):
    cols = tl.arange(0, BLOCK_N)  # [BLOCK_N], a tile of a row
    for row in range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(0)):
        highest = widen(tl.zeros((), x_ptr.dtype.element_ty)) - float("inf")
        total = tl.exp(highest)  # 0
        for start in range(0, N, BLOCK_N):
            mask = start + cols < N
            x_ptrs = x_ptr + row * row_stride + (start + cols) * col_stride
            x = tl.load(x_ptrs, mask=mask, other=-float("inf"), eviction_policy="evict_last")
            x = widen(x)
            before, highest = highest, tl.maximum(highest, tl.max(x, axis=0))
            shift = tl.where(highest == -float("inf"), 0.0, highest)  # -inf: only -inf so far
            total = total * tl.exp(before - shift) + tl.sum(tl.exp(x - shift), axis=0)
        scale = 1 / total
        for start in range(0, N, BLOCK_N):
            here = (N - 1) // BLOCK_N * BLOCK_N - start + cols  # backwards
            mask = here < N
            x_ptrs = x_ptr + row * row_stride + here * col_stride
            x = tl.load(x_ptrs, mask=mask, other=-float("inf"), eviction_policy="evict_first")
            out = tl.exp(widen(x) - highest) * scale
            tl.store(out_ptr + row * N + here, out, mask=mask, cache_modifier=".cs")


def softmax_long(x, BLOCK_N=16384, num_warps=8, programs=None):
    (table,) = as_rows("softmax", x=x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    (M, N), options = table.shape, {"BLOCK_N": BLOCK_N, "num_warps": num_warps}
    softmax_long_kernel[(programs or M,)](table, out, M, N, *table.stride(), **options)
    return out


LONGEST = 8192  # elements of a row that stays in registers: measured above


def row_plan(N, longest=LONGEST):
    """Options for rows of N elements: with ROWS they stay in registers, else they are walked."""
    if longest < N:
        return {"BLOCK_N": 16384, "num_warps": 8 if N <= 65536 else 16}
    BLOCK_N = triton.next_power_of_2(max(N, 1))
    ROWS = max(1, min(64, 2048 // BLOCK_N))  # about 2048 elements a program
    return {"ROWS": ROWS, "BLOCK_N": BLOCK_N, "num_warps": min(16, max(4, BLOCK_N // 512))}


def softmax(x, longest=LONGEST):
    """Softmax over the last dimension: four float types, any strides, rows of any length."""
    (table,) = as_rows("softmax", x=x)
    options = row_plan(table.shape[1], longest)
    way = softmax_rows if "ROWS" in options else softmax_long
    return way(table, **options).view(x.shape)


@triton.jit
def softmax_backward_rows_kernel(
    grad_ptr, y_ptr, dx_ptr, n_rows, N, grad_row_stride, grad_col_stride,
    y_row_stride, y_col_stride, ROWS: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    cols = tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N], the whole row
    mask = (rows < n_rows) & (cols < N)
    grad_ptrs = grad_ptr + rows * grad_row_stride + cols * grad_col_stride
    y_ptrs = y_ptr + rows * y_row_stride + cols * y_col_stride
    grad = widen(tl.load(grad_ptrs, mask=mask, other=0.0))  # 0 is neutral for a sum
    y = widen(tl.load(y_ptrs, mask=mask, other=0.0))
    total = tl.sum(grad * y, axis=1, keep_dims=True)
    tl.store(dx_ptr + rows * N + cols, y * (grad - total), mask=mask)


@triton.jit
def softmax_backward_long_kernel(
    grad_ptr, y_ptr, dx_ptr, n_rows, N, grad_row_stride, grad_col_stride,
    y_row_stride, y_col_stride, BLOCK_N: tl.constexpr,
):  # fmt: skip
    cols = tl.arange(0, BLOCK_N)  # [BLOCK_N], a tile of a row
    for row in range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(0)):
        total = widen(tl.zeros((), y_ptr.dtype.element_ty))
        for start in range(0, N, BLOCK_N):
            here = start + cols
            grad_ptrs = grad_ptr + row * grad_row_stride + here * grad_col_stride
            y_ptrs = y_ptr + row * y_row_stride + here * y_col_stride
            grad = tl.load(grad_ptrs, mask=here < N, other=0.0, eviction_policy="evict_last")
            y = tl.load(y_ptrs, mask=here < N, other=0.0, eviction_policy="evict_last")
            total += tl.sum(widen(grad) * widen(y), axis=0)
        for start in range(0, N, BLOCK_N):
            here = (N - 1) // BLOCK_N * BLOCK_N - start + cols  # backwards
            grad_ptrs = grad_ptr + row * grad_row_stride + here * grad_col_stride
            y_ptrs = y_ptr + row * y_row_stride + here * y_col_stride
            grad = tl.load(grad_ptrs, mask=here < N, other=0.0, eviction_policy="evict_first")
            y = tl.load(y_ptrs, mask=here < N, other=0.0, eviction_policy="evict_first")
            dx = widen(y) * (widen(grad) - total)
            tl.store(dx_ptr + row * N + here, dx, mask=here < N, cache_modifier=".cs")


def softmax_backward(grad, y, longest=LONGEST):
    """The gradient of softmax for its input, from the gradient of its result y, and y."""
    grad_table, y_table = as_rows("softmax_backward", grad=grad, y=y)
    dx = torch.empty(y.shape, dtype=y.dtype, device=y.device)
    (M, N), strides = y_table.shape, (*grad_table.stride(), *y_table.stride())
    tensors, options = (grad_table, y_table, dx, M, N, *strides), row_plan(N, longest)
    if "ROWS" in options:
        softmax_backward_rows_kernel[(triton.cdiv(M, options["ROWS"]),)](*tensors, **options)
    else:
        softmax_backward_long_kernel[(M,)](*tensors, **options)
    return dx


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = softmax(x)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return softmax_backward(grad, *ctx.saved_tensors)


COMPILE = {
    "softmax_rows_kernel": {
        "constexprs": {"BLOCK_N": 1024, "ROWS": 2},
        "dtypes": ["fp16", "bf16", "fp32", "fp64"],
        "types": {
            "N": "i32",
            "col_stride": "i32",
            "n_rows": "i32",
            "out_ptr": "*dtype",
            "row_stride": "i32",
            "x_ptr": "*dtype",
        },
    },
    "softmax_long_kernel": {
        "constexprs": {"BLOCK_N": 2048},
        "dtypes": ["fp16", "bf16", "fp32", "fp64"],
        "types": {
            "N": "i32",
            "col_stride": "i32",
            "n_rows": "i32",
            "out_ptr": "*dtype",
            "row_stride": "i32",
            "x_ptr": "*dtype",
        },
    },
    "softmax_backward_rows_kernel": {
        "constexprs": {"BLOCK_N": 1024, "ROWS": 2},
        "dtypes": ["fp16", "bf16", "fp32", "fp64"],
        "types": {
            "N": "i32",
            "dx_ptr": "*dtype",
            "grad_col_stride": "i32",
            "grad_ptr": "*dtype",
            "grad_row_stride": "i32",
            "n_rows": "i32",
            "y_col_stride": "i32",
            "y_ptr": "*dtype",
            "y_row_stride": "i32",
        },
    },
    "softmax_backward_long_kernel": {
        "constexprs": {"BLOCK_N": 2048},
        "dtypes": ["fp16", "bf16", "fp32", "fp64"],
        "types": {
            "N": "i32",
            "dx_ptr": "*dtype",
            "grad_col_stride": "i32",
            "grad_ptr": "*dtype",
            "grad_row_stride": "i32",
            "n_rows": "i32",
            "y_col_stride": "i32",
            "y_ptr": "*dtype",
            "y_row_stride": "i32",
        },
    },
}
