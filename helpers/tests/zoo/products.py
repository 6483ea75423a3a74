"""Products of matrices, and the sum of all elements."""

from helpers.tests.zoo.launchers import empty, with_options

import torch
import triton
import triton.language as tl


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


@with_options
def matmul(
    a, b, precision="ieee", mask=True, divide=triton.cdiv, narrow=False, block=16, b_transposed=False, grid=triton.cdiv
):
    a, b, (M, K), N = a.contiguous(), b.contiguous(), a.shape, b.shape[1]
    out, strides = empty(a, M, N), (1, K) if b_transposed else b.stride()
    matmul_kernel[(grid(M, 32), grid(N, 32))](
        a, b, out, M, N, K, divide(K, block), *strides, PRECISION=precision, MASK_K=mask, NARROW=narrow,
        BLOCK_M=32, BLOCK_N=32, BLOCK_K=block,
    )  # fmt: skip
    return out


@with_options
def total(x, atomic: bool):
    x, out = x.contiguous(), torch.zeros(1, dtype=torch.float32, device=x.device)
    total_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), ATOMIC=atomic, BLOCK_SIZE=64)
    return out.to(x.dtype)


def matrices(shape, dtype, device):
    M, N, K = shape
    return torch.randn(M, K, device=device).to(dtype), torch.randn(K, N, device=device).to(dtype)


MATRICES = {"inputs": matrices, "shapes": [(32, 32, 64), (33, 34, 70), (1, 1, 1), (17, 65, 48)]}
