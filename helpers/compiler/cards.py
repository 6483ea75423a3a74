"""What the cards that `compiled` knows hold, for kernels that are compiled without the card.

Limits of compute capabilities 7.5 to 12.0: NVIDIA, CUDA C++ Programming Guide 12.8, table "Technical Specifications per
Compute Capability". How they are allotted (registers to a warp in units of 256, warps in fours, 1 KiB of shared memory
reserved for each block from 8.0 on): NVIDIA's CUDA occupancy calculator. gfx942: AMD, CDNA3 ISA Reference Guide, 2.1
and 3.
"""

from dataclasses import dataclass

KIB = 1024
REGISTERS = 65536  # 32-bit registers of one multiprocessor, on all of NVIDIA's here
LANES = 64  # threads of a wavefront on AMD


@dataclass(frozen=True)
class Card:
    """Limits of one multiprocessor: resident warps and blocks, bytes of shared memory, and the most one block gets."""

    warps: int
    blocks: int
    shared: int
    block_shared: int
    reserved: int = KIB
    warp_size: int = 32


CARDS = {
    "sm_75": Card(32, 16, 64 * KIB, 64 * KIB, 0),  # Turing: T4
    "sm_80": Card(64, 32, 164 * KIB, 163 * KIB),  # Ampere: A100
    "sm_86": Card(48, 16, 100 * KIB, 99 * KIB),  # Ampere: RTX 3090
    "sm_89": Card(48, 24, 100 * KIB, 99 * KIB),  # Ada: RTX 4090, L4
    "sm_90": Card(64, 32, 228 * KIB, 227 * KIB),  # Hopper: H100, H200
    "sm_100": Card(64, 32, 228 * KIB, 227 * KIB),  # Blackwell: B200
    "sm_120": Card(48, 24, 100 * KIB, 99 * KIB),  # Blackwell: RTX 5090
    "gfx942": Card(32, 32, 64 * KIB, 64 * KIB, 0, LANES),  # CDNA 3: MI300X; warps of a compute unit, 8 on each SIMD
}


def resident_blocks(card: Card, num_warps: int, registers: int, shared: int) -> int:
    """How many blocks of an NVIDIA card's multiprocessor hold at a time, 0 if not even one fits.

    `registers` are those of a thread, `shared` the bytes of shared memory of a block.
    """
    per_warp = -(-registers * 32 // 256) * 256
    by_registers = REGISTERS // max(per_warp, 256) // 4 * 4 // num_warps
    by_shared = card.shared // (shared + card.reserved) if shared + card.reserved else card.blocks
    if shared > card.block_shared:
        return 0
    return min(card.blocks, card.warps // num_warps, by_registers, by_shared)
