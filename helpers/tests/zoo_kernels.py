"""Kernels of the zoo: small and plausible. With FAULT left out each is right; `zoo.py` says what a fault does."""

from helpers.device import DEVICE  # noqa: F401  (decides the mode before triton is imported)

import math

import triton
import triton.language as tl
from triton import jit
from triton.language.extra import libdevice

F32 = tl.float32
LN2 = tl.constexpr(math.log(2))


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr, FAULT: tl.constexpr = ""):
    pid = 0 if FAULT == "no program id" else tl.program_id(0)
    offsets = pid * (BLOCK_SIZE - 1 if FAULT == "overlap" else BLOCK_SIZE) + tl.arange(0, BLOCK_SIZE)
    mask = offsets < (n_elements - 1 if FAULT == "short mask" else n_elements)
    if FAULT == "long mask":
        mask = offsets <= n_elements
    if FAULT == "bytes":
        offsets = offsets * 4
    if FAULT == "far":
        offsets = offsets.to(tl.int64) * 2**28
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    if FAULT == "reads before" or FAULT == "reads both sides":  # neighbours that are thrown away
        left = tl.load(x_ptr + offsets - 1, mask=mask).to(tl.float32)
        x = tl.where(left == left, x, x)
    if FAULT == "reads both sides":
        right = tl.load(x_ptr + offsets + 1, mask=mask).to(tl.float32)
        x = tl.where(right == right, x, x)
    if FAULT == "first reads before":
        left = tl.load(x_ptr - 1).to(tl.float32)
        x = tl.where(left == left, x, x)
    if FAULT == "load without mask":
        y = tl.load(y_ptr + offsets).to(tl.float32)
    else:
        y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    if FAULT == "by value":
        mask &= x > 0
    if FAULT == "late programs":
        y = tl.where(pid > 30, -y, y)
    if FAULT == "accumulates":
        y += tl.load(out_ptr + offsets, mask=mask).to(tl.float32)
    if FAULT == "store without mask":
        tl.store(out_ptr + offsets, x + y)
    elif FAULT == "if without else":
        if pid * BLOCK_SIZE + BLOCK_SIZE <= n_elements:
            tl.store(out_ptr + offsets, x + y)
    elif FAULT != "no store":
        tl.store(out_ptr + offsets + (1 if FAULT == "shifted" else 0), x + y, mask=mask)
    if FAULT == "stores before":
        tl.store(out_ptr - 1, 0.0)
    if FAULT == "scratch":
        tl.store(y_ptr + offsets, x, mask=mask)
    if FAULT == "into the next block":
        tl.store(out_ptr + offsets + BLOCK_SIZE, x, mask=offsets + BLOCK_SIZE < n_elements)
    if FAULT == "the same twice":
        tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def add_own_type_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr, TYPE: tl.constexpr = None):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    if TYPE is not None:
        x = x.to(TYPE)
        y = y.to(TYPE)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def add_looping_kernel(x_ptr, y_ptr, out_ptr, n_elements, n_blocks, BLOCK_SIZE: tl.constexpr):
    for block in range(tl.program_id(0), n_blocks, tl.num_programs(0)):
        offsets = block * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements
        x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
        y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
        tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def add_and_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements and offsets >= 0
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def add_chained_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = 0 <= offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def add_narrow_kernel(
    x_ptr, y_ptr, out_ptr, n_elements, TYPE: tl.constexpr, AT: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    if AT == "load":
        x = x.to(TYPE).to(tl.float32)
        y = y.to(TYPE).to(tl.float32)
    total = x + y
    if AT == "store":
        total = total.to(TYPE).to(tl.float32)
    tl.store(out_ptr + offsets, total, mask=mask)


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
def sum_and_difference_kernel(
    x_ptr, y_ptr, sum_ptr, difference_ptr, n_elements, FORGET: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(sum_ptr + offsets, x + y, mask=mask)
    tl.store(difference_ptr + offsets, x - y, mask=mask & (offsets < n_elements - FORGET))


@triton.jit
def add_strided_kernel(
    x_ptr, y_ptr, out_ptr, n_rows, n_columns, x_row, x_column, y_row, y_column, out_row, out_column,
    MASKED: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < n_rows) & (columns < n_columns)
    x = tl.load(x_ptr + rows * x_row + columns * x_column, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + rows * y_row + columns * y_column, mask=mask).to(tl.float32)
    if MASKED:
        tl.store(out_ptr + rows * out_row + columns * out_column, x + y, mask=mask)
    else:
        tl.store(out_ptr + rows * out_row + columns * out_column, x + y)


@triton.jit
def transpose_kernel(x_ptr, out_ptr, n_rows, n_columns, x_row, x_column, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (rows < n_rows) & (columns < n_columns) if COLUMNS else (rows < n_rows) & (columns < columns + 1)
    x = tl.load(x_ptr + rows * x_row + columns * x_column, mask=mask)
    tl.store(out_ptr + columns * n_rows + rows, x, mask=mask)


@triton.jit
def row_kernel(
    x_ptr, out_ptr, n_columns, row_stride, OP: tl.constexpr, OTHER: tl.constexpr, BLOCK_SIZE: tl.constexpr,
    MASKED: tl.constexpr = True,
):  # fmt: skip
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * row_stride + columns, mask=mask, other=OTHER).to(tl.float32)
    if OP == "sum":
        tl.store(out_ptr + row, tl.sum(x, axis=0))
    elif OP == "max":
        has_nan = tl.max((x != x).to(tl.int32), axis=0)
        tl.store(out_ptr + row, tl.where(has_nan == 1, float("nan"), tl.max(x, axis=0)))
    else:
        if OP != "softmax without the maximum":
            x = x - tl.max(x, axis=0)
        powers = tl.exp(x)
        if MASKED:
            tl.store(out_ptr + row * n_columns + columns, powers / tl.sum(powers, axis=0), mask=mask)
        else:
            tl.store(out_ptr + row * n_columns + columns, powers / tl.sum(powers, axis=0))


@triton.jit
def max_and_place_kernel(x_ptr, max_ptr, place_ptr, n_columns, NAN: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=-float("inf")).to(tl.float32)
    has_nan = tl.max((x != x).to(tl.int32), axis=0) == 1
    if NAN:
        x = tl.where(x != x, float("inf"), x)
    value, place = tl.max(x, axis=0, return_indices=True)
    tl.store(max_ptr + row, tl.where(has_nan, float("nan"), value))
    tl.store(place_ptr + row, place)


@triton.jit
def rms_norm_kernel(
    x_ptr, weight_ptr, out_ptr, n_columns, weight_stride, eps, DIVIDE: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns * weight_stride, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x * x, axis=0) / n_columns + eps
    x = x / tl.sqrt(mean) if DIVIDE else x * tl.rsqrt(mean)
    tl.store(out_ptr + row * n_columns + columns, x * weight, mask=mask)


@triton.jit
def gather_kernel(x_ptr, rows_ptr, out_ptr, n_columns, rows_stride, BLOCK_SIZE: tl.constexpr):
    row = tl.load(rows_ptr + tl.program_id(0) * rows_stride)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask)
    tl.store(out_ptr + tl.program_id(0) * n_columns + columns, x, mask=mask)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, out_ptr, M, N, K, k_blocks, b_row, b_column,
    PRECISION: tl.constexpr, MASK_K: tl.constexpr, NARROW: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for block in range(k_blocks):
        k = block * BLOCK_K + tl.arange(0, BLOCK_K)
        bound = K if MASK_K else k_blocks * BLOCK_K
        a = tl.load(a_ptr + rows * K + k[None, :], mask=(rows < M) & (k[None, :] < bound), other=0.0)
        b_mask = (k[:, None] < bound) & (columns < N)
        b = tl.load(b_ptr + k[:, None] * b_row + columns * b_column, mask=b_mask, other=0.0)
        if NARROW:
            a = a.to(tl.float16)
            b = b.to(tl.float16)
        total += tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision=PRECISION)
    tl.store(out_ptr + rows * N + columns, total, mask=(rows < M) & (columns < N))


@triton.jit
def total_kernel(x_ptr, out_ptr, n_elements, ATOMIC: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    part = tl.sum(tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0).to(tl.float32), axis=0)
    if ATOMIC:
        tl.atomic_add(out_ptr, part)
    else:
        tl.store(out_ptr, tl.load(out_ptr) + part)


@triton.jit
def stub_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    raise NotImplementedError("your turn")


@triton.jit
def unfinished_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    raise NotImplementedError("your turn")
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))
