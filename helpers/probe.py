"""Proves that one tiny kernel loads and stores the right bytes, so that a broken installation is named, not taught."""

import torch
import triton
import triton.language as tl

from .device import DEVICE, INTERPRETED


@triton.jit
def copy_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask, other=0.0), mask=mask)


def prove_load_and_store() -> None:
    """Copies seven of eight float32 values with a kernel.

    Raises RuntimeError if the kernel cannot run, or if the bytes it stored are not the bytes it was given.
    """
    x = torch.arange(1.0, 9.0).to(DEVICE)
    out = torch.full_like(x, -1.0)
    try:
        copy_kernel[(1,)](x, out, 7, BLOCK_SIZE=8)
        stored = out.tolist()
    except Exception as error:
        raise RuntimeError(f"{_where()} could not run a tiny kernel. {_advice()}") from error
    if stored != [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -1.0]:
        raise RuntimeError(f"{_where()} ran a tiny kernel and stored {stored} instead of 1 to 7. {_advice()}")


def _where() -> str:
    return "Triton's interpreter" if INTERPRETED else f"Triton on {DEVICE}"


def _advice() -> str:
    return "Run `python -m helpers` to see which versions are installed and which pair is known to work."
