"""What `compiled` derives from the compiler's texts: widths, bytes, occupancy, and the report."""

from helpers.compiler.cards import CARDS, resident_blocks
from helpers.compiler.result import Compiled, widths

import pytest


@pytest.mark.parametrize(
    ("card", "num_warps", "registers", "shared", "blocks"),
    [
        ("sm_90", 4, 32, 0, 16),  # Nsight Compute on an H200: block limits 16 by registers, 16 by warps, 32 by blocks
        ("sm_90", 1, 32, 0, 32),  # the number of blocks
        ("sm_90", 4, 33, 0, 12),  # 33 registers are rounded up to 40: 51 warps, 48 in fours
        ("sm_90", 8, 255, 0, 1),
        ("sm_90", 4, 32, 100 * 1024, 2),
        ("sm_90", 1, 201, 0, 8),  # 201 registers are 6656 for a warp: 9 warps, 8 in fours
        ("sm_90", 4, 32, 227 * 1024, 1),
        ("sm_90", 4, 32, 227 * 1024 + 1, 0),
        ("sm_90", 4, 32, 228 * 1024, 0),
        ("sm_75", 4, 16, 0, 8),
        ("sm_75", 4, 16, 32 * 1024, 2),
    ],
)
def test_resident_blocks(card, num_warps, registers, shared, blocks):
    found = resident_blocks(CARDS[card], num_warps, registers, shared)
    assert found == blocks and isinstance(found, int)


PTX = """
ld.global.v4.b32 { %r1, %r2 };
@%p1 ld.global.nc.L1::evict_last.v2.f32 { %f1 };
ld.global.b16 %rs1;
st.global.v2.b64 [ %rd1 + 0 ], { %rd2, %rd3 };
ld.param.u64 %rd1, [kernel_param_0];
st.shared.v4.b32 [ %r1 ];
"""
AMD = "global_load_dwordx4 v[0:3]\nbuffer_load_ushort v1\nflat_load_ubyte v2\nglobal_store_dword v[0:1]\nds_read_b32 v3"


def test_widths_are_those_of_device_memory_only():
    assert widths(PTX, "load") == [128, 64, 16] and widths(PTX, "store") == [128]
    assert widths(AMD, "load") == [128, 16, 8] and widths(AMD, "store") == [32]


def report(**fields):
    given = {"target": "sm_90", "num_warps": 4, "ttgir": "", "assembly": PTX, "registers": 32, "spill_bytes": 0,
             "shared_bytes": 0}  # fmt: skip
    return Compiled(**{**given, **fields})


def test_what_is_derived_from_the_compilers_texts():
    one = report(ttgir="#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16]")
    assert (one.threads, one.elements_per_thread, one.load_bits, one.store_bits) == (128, (1, 4), 128, 128)
    assert (one.load_bytes, one.store_bytes) == ((128 + 64 + 16) // 8 * 128, 16 * 128)
    assert one.occupancy == 1.0 and one.fits and one.ptx == PTX
    assert report(registers=128).occupancy == 0.25 and report(registers=64, num_warps=8).occupancy == 0.5
    most = 227 * 1024
    assert report(shared_bytes=most).fits and not report(shared_bytes=most + 1).fits
    amd = report(target="gfx942", assembly=AMD, waves=6)
    assert amd.occupancy == 0.75 and amd.ptx == "" and amd.threads == 256
    assert report(ttgir="").elements_per_thread == () and report(assembly="").load_bits == 0


def test_a_report_in_full():
    assert str(
        report(ttgir="#ttg.blocked<{sizePerThread = [2]", spill_bytes=8, shared_bytes=300 * 1024)
    ).splitlines() == [
        "target                          sm_90",
        "threads of a program            128",
        "neighbouring elements a thread  2",
        "widest load, store              128 bits, 128 bits",
        "a program loads, stores         3328 B, 2048 B",
        "registers a thread              32",
        "spilled a thread                8 B",
        "shared memory                   307200 B: too much, 227 KiB is the most",
        "occupancy                       0%",
    ]
    small = str(report(ttgir="#ttg.blocked<{sizePerThread = [1, 4]", shared_bytes=1024)).splitlines()
    assert small[2].endswith("  1 × 4") and small[7].endswith("  1024 B") and "  none" in str(report())
