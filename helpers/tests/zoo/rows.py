"""One program a row: softmax, sums, maxima, norms, rows picked from a table."""

from helpers.tests.zoo.launchers import empty, with_options

import torch
import triton
import triton.language as tl


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


@with_options
def rows(x, op: str, other: float = -float("inf"), **constexprs):
    """ "sum" and "max" give one number a row."""
    x = x.contiguous()
    out, block = empty(x, *(x.shape[:1] if op in ("sum", "max") else x.shape)), triton.next_power_of_2(x.shape[1])
    row_kernel[(len(x),)](x, out, x.shape[1], x.stride(0), OP=op, OTHER=other, BLOCK_SIZE=block, **constexprs)
    return out


@with_options
def max_and_place(x, nan: bool = True):
    x, block = x.contiguous(), triton.next_power_of_2(x.shape[1])
    values, places = empty(x, len(x)), torch.empty(len(x), dtype=torch.int64, device=x.device)
    max_and_place_kernel[(len(x),)](x, values, places, x.shape[1], NAN=nan, BLOCK_SIZE=block)
    return values, places


@with_options
def rms_norm(x, weight, honest: bool = True, divide: bool = False):
    x, out, block = x.contiguous(), empty(x), triton.next_power_of_2(x.shape[1])
    stride = weight.stride(0) if honest else 1
    rms_norm_kernel[(len(x),)](x, weight, out, x.shape[1], stride, 1e-6, DIVIDE=divide, BLOCK_SIZE=block)
    return out


@with_options
def gather(x, places, honest: bool = True):
    x, out, block = x.contiguous(), empty(x, len(places), x.shape[1]), triton.next_power_of_2(x.shape[1])
    stride = places.stride(0) if honest else 1
    gather_kernel[(len(places),)](x, places, out, x.shape[1], stride, BLOCK_SIZE=block)
    return out


def softmax_reference(x):
    return torch.softmax(x, 1)


def rms_norm_reference(x, weight):
    return x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6) * weight


def row_and_weight(shape, dtype, device):
    return torch.randn(shape, device=device).to(dtype), torch.randn(shape[1], device=device).to(dtype)


def row_and_every_second_weight(shape, dtype, device):
    return torch.randn(shape, device=device).to(dtype), torch.randn(2 * shape[1], device=device).to(dtype)[::2]


def table_and_places(shape, dtype, device):
    return torch.randn(shape, device=device).to(dtype), torch.randint(shape[0], (2 * shape[0],), device=device)


ROWS = {"inputs": 1, "shapes": [(4, 64), (3, 100), (1, 1), (5, 257)]}
NORM = {"inputs": row_and_weight, "shapes": [(4, 64), (3, 100), (5, 257)]}
GATHER = {"inputs": table_and_places, "shapes": [(8, 64), (5, 100)]}
