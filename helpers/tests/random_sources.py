"""What random kernels are made of: functions by name, in PyTorch and in Triton, and a kernel of each kind."""

from helpers.device import DEVICE  # noqa: F401  (decides the mode before triton is imported)

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

FUNCTIONS = {
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "square": torch.square,
    "exp of minus abs": lambda x: torch.exp(-x.abs()),
    "relu": torch.relu,
    "softsign": lambda x: x / (1 + x.abs()),
    "sine": torch.sin,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "log of 1 + square": lambda x: torch.log(1 + x * x),
}
PAIRS = {"add": torch.add, "multiply": torch.mul, "subtract": torch.sub}
ROWS = {
    "softmax": lambda x: torch.softmax(x, 1),
    "log softmax": lambda x: torch.log_softmax(x, 1),
    "sum": lambda x: x.sum(1),
    "maximum": lambda x: x.amax(1),
    "norm": lambda x: F.layer_norm(x, x.shape[1:], eps=1e-5),
    "root mean square": lambda x: x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-6),
}


@triton.jit
def apply(x, NAME: tl.constexpr):
    if NAME == "sigmoid":
        return tl.sigmoid(x)
    elif NAME == "silu":
        return x * tl.sigmoid(x)
    elif NAME == "square":
        return x * x
    elif NAME == "exp of minus abs":
        return tl.exp(-tl.abs(x))
    elif NAME == "relu":
        return tl.where(x < 0, 0.0, x)
    elif NAME == "softsign":
        return x / (1 + tl.abs(x))
    elif NAME == "sine":
        return tl.sin(x)
    elif NAME == "gelu":
        return x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    else:
        return tl.log(1 + x * x)


@triton.jit
def derivative(x, NAME: tl.constexpr):
    s = tl.sigmoid(x)
    if NAME == "sigmoid":
        return s * (1 - s)
    elif NAME == "silu":
        return s * (1 + x * (1 - s))
    elif NAME == "square":
        return 2 * x
    elif NAME == "relu":
        return tl.where(x > 0, 1.0, 0.0)
    elif NAME == "sine":
        return tl.cos(x)
    else:
        return 2 * x / (1 + x * x)


@triton.jit
def elementwise_kernel(
    x_ptr, y_ptr, out_ptr, n_elements, F_OF_X: tl.constexpr, G_OF_Y: tl.constexpr, PAIR: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = apply(tl.load(x_ptr + offsets, mask=mask).to(tl.float32), F_OF_X)
    y = apply(tl.load(y_ptr + offsets, mask=mask).to(tl.float32), G_OF_Y)
    if PAIR == "add":
        tl.store(out_ptr + offsets, x + y, mask=mask)
    elif PAIR == "multiply":
        tl.store(out_ptr + offsets, x * y, mask=mask)
    else:
        tl.store(out_ptr + offsets, x - y, mask=mask)


@triton.jit
def row_kernel(
    x_ptr, out_ptr, n_rows, n_columns, x_row, x_column, OP: tl.constexpr, ROWS: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    columns = tl.arange(0, BLOCK_SIZE)[None, :]
    mask = (rows < n_rows) & (columns < n_columns)
    other = 0.0 if OP == "sum" or OP == "norm" or OP == "root mean square" else -float("inf")
    x = tl.load(x_ptr + rows * x_row + columns * x_column, mask=mask, other=other).to(tl.float32)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    if OP == "sum":
        tl.store(out_ptr + row, tl.sum(x, axis=1), mask=row < n_rows)
    elif OP == "maximum":
        nan = tl.max((x != x).to(tl.int32), axis=1)
        tl.store(out_ptr + row, tl.where(nan == 1, float("nan"), tl.max(x, axis=1)), mask=row < n_rows)
    else:
        if OP == "softmax" or OP == "log softmax":
            x = x - tl.max(x, axis=1)[:, None]
            total = tl.sum(tl.exp(x), axis=1)[:, None]
            y = tl.exp(x) / total if OP == "softmax" else x - tl.log(total)
        elif OP == "norm":
            mean = tl.sum(x, axis=1)[:, None] / n_columns
            x = tl.where(mask, x - mean, 0.0)
            y = x * tl.rsqrt(tl.sum(x * x, axis=1)[:, None] / n_columns + 1e-5)
        else:
            y = x * tl.rsqrt(tl.sum(x * x, axis=1)[:, None] / n_columns + 1e-6)
        tl.store(out_ptr + rows * n_columns + columns, y, mask=mask)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, out_ptr, M, N, K, a_row, a_column, b_row, b_column, NAME: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask, b_mask = (rows < M) & (k[None, :] < K), (k[:, None] < K) & (columns < N)
        a = tl.load(a_ptr + rows * a_row + k[None, :] * a_column, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_row + columns * b_column, mask=b_mask, other=0.0)
        total += tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision="ieee")
    tl.store(out_ptr + rows * N + columns, apply(total, NAME), mask=(rows < M) & (columns < N))


@triton.jit
def gather_kernel(
    x_ptr, places_ptr, scale_ptr, out_ptr, n_columns, x_row, x_column, places_stride, scale_stride,
    BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    row = tl.load(places_ptr + pid * places_stride)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * x_row + columns * x_column, mask=mask).to(tl.float32)
    scale = tl.load(scale_ptr + pid * scale_stride).to(tl.float32)
    tl.store(out_ptr + pid * n_columns + columns, x * scale, mask=mask)


@triton.jit
def gradient_kernel(
    grad_ptr, x_ptr, out_ptr, n_columns, grad_row, grad_column, x_row, x_column, NAME: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row, columns = tl.program_id(0), tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    grad = tl.load(grad_ptr + row * grad_row + columns * grad_column, mask=mask).to(tl.float32)
    x = tl.load(x_ptr + row * x_row + columns * x_column, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * n_columns + columns, grad * derivative(x, NAME), mask=mask)
