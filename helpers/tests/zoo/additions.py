"""Kernels that add two tensors, each element on its own, right where FAULT is left out, and plain launchers of them."""

from helpers.tests.zoo.launchers import B, empty, flat, with_options

from collections.abc import Callable

import triton
import triton.language as tl


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
def stub_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    raise NotImplementedError("your turn")


@triton.jit
def unfinished_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    raise NotImplementedError("your turn")
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


def add(fault: str = "", **options) -> Callable:
    return flat(add_kernel, FAULT=fault, **options)


@with_options
def looping(x, y, divide: Callable):
    x, y, out = x.contiguous(), y.contiguous(), empty(x)
    add_looping_kernel[(2,)](x, y, out, out.numel(), divide(out.numel(), B), BLOCK_SIZE=B)
    return out


@with_options
def both(x, y, forget: int = 0, swap: bool = False):
    x, y, total, difference = x.contiguous(), y.contiguous(), empty(x), empty(x)
    grid = (triton.cdiv(x.numel(), B),)
    sum_and_difference_kernel[grid](x, y, total, difference, x.numel(), FORGET=forget, BLOCK_SIZE=B)
    return (difference, total) if swap else (total, difference)


def sum_and_difference(x, y):
    return x + y, x - y
