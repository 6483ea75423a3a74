"""What this card can do, measured once a session. No number comes from a datasheet."""

import functools

import torch

from ..device import DEVICE
from .clocks import device_us


@functools.cache
def copy_rate() -> float:
    """GB/s (10⁹ bytes, read and written ones counted) of a device-to-device copy of up to 1 GiB."""
    n_bytes = min(2**30, torch.cuda.mem_get_info()[0] // 4)
    x = torch.empty(n_bytes, dtype=torch.int8, device=DEVICE).random_()
    y = torch.empty_like(x)
    return 2 * n_bytes / device_us(lambda: y.copy_(x))[0] / 1e3


def l2_bytes() -> int:
    """Size of the L2 cache."""
    return torch.cuda.get_device_properties(DEVICE).L2_cache_size


@functools.cache
def matmul_rate() -> float:
    """TFLOP/s (10¹² operations, a multiplication and an addition counted as two) of PyTorch's 8192³ bfloat16 product.

    Random inputs: with zeros a card runs faster than it ever will on data.
    """
    x, y = (torch.randn(8192, 8192, dtype=torch.bfloat16, device=DEVICE) for _ in range(2))
    return 2 * 8192**3 / device_us(lambda: x @ y)[0] / 1e6
