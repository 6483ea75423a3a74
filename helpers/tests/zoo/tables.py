"""Kernels on tables, with the strides of rows and columns."""

from helpers.tests.zoo.launchers import empty, with_options

from collections.abc import Callable

import triton
import triton.language as tl


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


def own_strides(x, y):
    return x.stride(), y.stride()


@with_options
def strided(x, y, strides_of=own_strides, out_like=empty, masked: bool = True, divide: Callable = triton.cdiv):
    """Passes strides: what `strides_of` makes of the inputs."""
    out, (rows, columns), (x_strides, y_strides) = out_like(x), x.shape, strides_of(x, y)
    add_strided_kernel[(divide(rows, 16), divide(columns, 64))](
        x, y, out, rows, columns, *x_strides, *y_strides, columns, 1, MASKED=masked, BLOCK_M=16, BLOCK_N=64
    )
    return out


@with_options
def transposed(x, columns: bool):
    out, grid = empty(x, *x.shape[::-1]), (triton.cdiv(x.shape[0], 32), triton.cdiv(x.shape[1], 32))
    transpose_kernel[grid](x, out, *x.shape, *x.stride(), COLUMNS=columns, BLOCK=32)
    return out


TABLES = {"shapes": [(48, 64), (17, 61), (1, 1), (16, 65), (33, 130)]}
VIEWS = {**TABLES, "must_take_views": True}
