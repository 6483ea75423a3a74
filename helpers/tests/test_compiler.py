"""What the compiler makes of a kernel is the same whether or not this machine has the GPU it is compiled for."""

import helpers
from helpers.compiler.cards import CARDS, resident_blocks
from helpers.compiler.compiling import CompilationError, CompilerUnavailable, compiled
from helpers.compiler.result import Compiled, widths
from helpers.compiler.sources import NotCarried, literal
from helpers.compiler.types import launched_type, signature, valid_type
from helpers.tests import other_kernels
from helpers.tests.other_kernels import silu as act

import ctypes
import inspect
import math
import re
import sys

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton import jit
from triton.language import exp
from triton.language.extra import libdevice

VECTORS = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n_elements": "i32"}
SHIFT = tl.constexpr(3)
needs_cuda = pytest.mark.skipif(helpers.DEVICE.type != "cuda", reason="compares with a launch on an NVIDIA GPU")


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def shifted(x):
    return x * 2.5 + SHIFT


@triton.jit
def shift_kernel(x_ptr, out_ptr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offsets, shifted(tl.load(x_ptr + offsets)))


@triton.jit
def odd_block_kernel(out_ptr):
    tl.store(out_ptr + tl.arange(0, 200), 0.0)


@pytest.mark.parametrize(("num_warps", "elements", "bits"), [(1, 4, 128), (4, 2, 64), (8, 1, 32)])
def test_elements_per_thread_and_widths(num_warps, elements, bits):
    result = compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 256}, num_warps=num_warps)
    assert result.threads == 32 * num_warps
    assert result.elements_per_thread == (elements,)
    assert (result.load_bits, result.store_bits) == (bits, bits)


def test_bytes_of_a_program():
    result = compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 1024})
    assert (result.load_bytes, result.store_bytes) == (2 * 1024 * 4, 1024 * 4)


def test_a_size_that_is_no_multiple_of_16_narrows_masked_loads():
    result = compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 1024}, not_divisible=("n_elements",))
    assert (result.load_bits, result.load_bytes) == (32, 2 * 1024 * 4)


def test_another_target():
    assert ".target sm_80" in compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 256}, target="sm_80").ptx


def test_device_functions_and_constexpr_globals_travel():
    result = compiled(shift_kernel, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"BLOCK_SIZE": 128})
    assert "2.5" in result.ttgir and "3.0" in result.ttgir


def test_the_compilers_sentence_and_line_come_back():
    with pytest.raises(CompilationError) as error:
        compiled(odd_block_kernel, {"out_ptr": "*fp32"}, {})
    assert "arange's range must be a power of 2" in str(error.value)
    assert "tl.store(out_ptr + tl.arange(0, 200), 0.0)" in str(error.value)


@pytest.mark.parametrize(
    ("types", "constexprs"),
    [({"x_ptr": "*fp32"}, {"BLOCK_SIZE": 256}), ({**VECTORS, "BLOCK_SIZE": "i32"}, {"BLOCK_SIZE": 256}), (VECTORS, {})],
)
def test_arguments_that_do_not_fit_are_refused(types, constexprs):
    with pytest.raises(ValueError, match="add_kernel takes x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE"):
        compiled(add_kernel, types, constexprs)


def test_an_unknown_target_is_refused():
    with pytest.raises(ValueError, match="target is 'hopper'"):
        compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 256}, target="hopper")


def test_an_unknown_name_in_not_divisible_is_refused():
    with pytest.raises(ValueError, match="not_divisible names n"):
        compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 256}, not_divisible=("n",))


@triton.jit
def hungry_kernel(x_ptr, out_ptr, SIZE: tl.constexpr):
    rows, cols = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    x = tl.load(x_ptr + rows * SIZE + cols)
    tl.store(out_ptr + rows * SIZE + cols, tl.dot(x, x) + tl.sum(x, axis=0)[None, :])


@triton.jit
def half_sigmoid_kernel(x_ptr, BLOCK_SIZE: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK_SIZE))
    # a comment
    tl.store(x_ptr, tl.sum(tl.sigmoid(x)))


@triton.jit
def broken_inside(x):
    return x + tl.arange(0, 3)


@triton.jit
def calls_broken_kernel(x_ptr):
    tl.store(x_ptr + tl.arange(0, 4), broken_inside(tl.load(x_ptr)))


@pytest.mark.parametrize("target", list(CARDS))
def test_every_target_compiles(target):
    result = compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 1024}, target=target)
    assert result.load_bits == 128
    assert (result.load_bytes, result.store_bytes) == (2 * 1024 * 4, 1024 * 4)
    assert 8 <= result.registers <= 64 and result.spill_bytes == 0 and result.shared_bytes == 0
    assert result.fits and 0.5 <= result.occupancy <= 1.0
    assert bool(result.ptx) == target.startswith("sm_") and target in str(result)


def test_many_elements_a_thread_spill_and_lower_the_occupancy():
    small, large = (compiled(add_kernel, VECTORS, {"BLOCK_SIZE": n}, num_warps=1) for n in (128, 32768))
    assert small.spill_bytes == 0 < large.spill_bytes
    assert small.registers < large.registers and large.occupancy < 1.0


def test_shared_memory_and_whether_the_card_has_it():
    types, sizes = {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"SIZE": 128}
    hopper, ada = (compiled(hungry_kernel, types, sizes, target=target) for target in ("sm_90", "sm_89"))
    assert hopper.shared_bytes > 99 * 1024 and hopper.fits
    assert ada.shared_bytes > 99 * 1024 and not ada.fits and ada.occupancy == 0
    assert "too much, 99 KiB is the most" in str(ada)


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


def test_the_compilers_own_message_stands_at_the_kernels_own_line():
    with pytest.raises(CompilationError) as error:
        compiled(half_sigmoid_kernel, {"x_ptr": "*fp16"}, {"BLOCK_SIZE": 64})
    line = inspect.getsourcelines(half_sigmoid_kernel.fn)[1] + 4
    where, text, mark, sentence = str(error.value).splitlines()
    assert where == f"half_sigmoid_kernel, line {line}:" and text.strip() == "tl.store(x_ptr, tl.sum(tl.sigmoid(x)))"
    assert text[mark.index("^") :].startswith("tl.sigmoid(x)")
    assert sentence == "Expected dtype ['fp32', 'fp64'] but got fp16"


def test_an_error_in_a_device_function_is_at_the_line_of_that_function():
    with pytest.raises(CompilationError, match="broken_inside, line"):
        compiled(calls_broken_kernel, {"x_ptr": "*fp32"}, {})


@pytest.mark.parametrize(("n_elements", "offset", "bits"), [(1024, 0, 128), (1000, 0, 32), (1024, 1, 32), (1, 0, 32)])
def test_values_are_seen_as_a_launch_sees_them(n_elements, offset, bits):
    x = torch.zeros(2048)[offset:]
    values = {"x_ptr": x, "y_ptr": x, "out_ptr": x, "n_elements": n_elements}
    assert compiled(add_kernel, values, {"BLOCK_SIZE": 1024}).load_bits == bits


def test_a_value_of_no_known_type_is_refused():
    with pytest.raises(ValueError, match=r"types\['n_elements'\]"):
        compiled(add_kernel, {**VECTORS, "n_elements": None}, {"BLOCK_SIZE": 1024})


def blocks_by_the_driver(launched, num_warps):
    """What the CUDA driver says: how many blocks of a loaded kernel one multiprocessor holds at a time."""
    count, driver = ctypes.c_int(), ctypes.CDLL("libcuda.so.1")
    function, shared = ctypes.c_void_p(launched.function), ctypes.c_size_t(launched.metadata.shared)
    ask = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
    assert ask(ctypes.byref(count), function, ctypes.c_int(32 * num_warps), shared) == 0
    return count.value


@needs_cuda
@pytest.mark.parametrize(
    ("block_size", "num_warps", "n_elements"), [(1024, 4, 4096), (1024, 4, 4099), (256, 1, 4096), (32768, 1, 65536)]
)
def test_a_launch_compiles_to_the_same(block_size, num_warps, n_elements):
    x = torch.ones(n_elements, device=helpers.DEVICE)
    out, grid = torch.empty_like(x), (triton.cdiv(n_elements, block_size),)
    launched = add_kernel[grid](x, x, out, n_elements, BLOCK_SIZE=block_size, num_warps=num_warps)
    values = {"x_ptr": x, "y_ptr": x, "out_ptr": out, "n_elements": n_elements}
    target = "sm_{}{}".format(*torch.cuda.get_device_capability())
    result = compiled(add_kernel, values, {"BLOCK_SIZE": block_size}, target=target, num_warps=num_warps)
    assert_same(result, launched, num_warps)


@needs_cuda
def test_a_launch_with_shared_memory_compiles_to_the_same():
    x = torch.ones(128, 128, device=helpers.DEVICE)
    out = torch.empty_like(x)
    launched = hungry_kernel[(1,)](x, out, SIZE=128)
    target = "sm_{}{}".format(*torch.cuda.get_device_capability())
    assert_same(compiled(hungry_kernel, {"x_ptr": x, "out_ptr": out}, {"SIZE": 128}, target=target), launched, 4)


def assert_same(result, launched, num_warps):
    for what in ("load", "store"):
        assert widths(result.ptx, what) == widths(launched.asm["ptx"], what)
    assert (result.registers, result.spill_bytes) == (launched.n_regs, 4 * launched.n_spills)
    assert result.shared_bytes == launched.metadata.shared
    blocks = round(result.occupancy * CARDS[result.target].warps / num_warps)
    assert blocks == blocks_by_the_driver(launched, num_warps)


# What travels to the compiler

F32 = tl.float32
SCALE = tl.constexpr(5)
PAIR = tl.constexpr((2, 3))
RATE = 0.5


@triton.jit
def silu(x):
    return x * tl.sigmoid(x) * SCALE


@jit
def everything_kernel(x_ptr, out_ptr, TYPE: tl.constexpr, COUNT: tl.constexpr, BLOCK_SIZE: tl.constexpr = 64):
    offsets = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets).to(F32) * math.pi
    x = silu(x) + act(x) + other_kernels.silu(x) + libdevice.tanh(x) + exp(x) + half(PAIR[1])
    tl.store(out_ptr + offsets, x.to(TYPE) + COUNT)


@triton.constexpr_function
def half(n):
    return n // 2


tuned_kernel = triton.autotune([triton.Config({"BLOCK_SIZE": 64})], key=[])(everything_kernel)
PTRS = {"x_ptr": "*fp32", "out_ptr": "*fp32"}


@pytest.mark.parametrize("kernel", [everything_kernel, tuned_kernel], ids=["jit", "autotune"])
def test_whatever_triton_accepts_travels(kernel):
    fixed = {"TYPE": tl.float32, "COUNT": np.int64(3), "BLOCK_SIZE": 64}
    ttgir = compiled(kernel, PTRS, fixed).ttgir
    for constant in ("3.14159", "5.0", "7.0", "3.0"):
        assert f"dense<{constant}" in ttgir, constant


@triton.jit
def global_kernel(out_ptr):
    tl.store(out_ptr, RATE)


@triton.jit
def strange_kernel(out_ptr):
    tl.store(out_ptr, STRANGE)


STRANGE = object()


def test_a_plain_global_is_rejected_in_tritons_own_words():
    with pytest.raises(CompilationError, match=r"global_kernel, line \d+:[\s\S]*global variable RATE[\s\S]*constexpr"):
        compiled(global_kernel, {"out_ptr": "*fp32"}, {})


def test_what_cannot_be_carried_is_named_and_is_no_verdict():
    with pytest.raises(NotCarried, match="STRANGE is of type object"):
        compiled(strange_kernel, {"out_ptr": "*fp32"}, {})


@pytest.mark.parametrize(
    ("value", "source"),
    [(True, "True"), (3, "3"), (0.1, "float('0.1')"), (float("-inf"), "float('-inf')"), ("a", "'a'"), (None, "None"),
     ((1, (2.0,)), "(1, (float('2.0'), ), )"), (tl.float16, "tl.float16"), (np.float32(0.5), "float('0.5')"),
     (tl.constexpr(4), "tl.constexpr(4)")],
)  # fmt: skip
def test_values_as_source(value, source):
    assert literal(value, "x") == source


def test_a_machine_that_cannot_compile_is_not_the_kernels_fault(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(blocked / "cache"))
    with pytest.raises(CompilerUnavailable, match="the compiler could not work on this machine"):
        compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 256})
    monkeypatch.setattr(sys, "executable", str(blocked))
    with pytest.raises(CompilerUnavailable, match="could not start"):
        compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 256})


def launcher(x):
    add_kernel[(1,)](x, x, x, 8, BLOCK_SIZE=8)


@pytest.mark.parametrize(
    ("kernel", "types", "constexprs", "options", "says"),
    [
        (launcher, VECTORS, {}, {}, "launcher is a launcher; give the kernel that it launches: add_kernel"),
        (add_kernel[(1,)], VECTORS, {}, {}, r"without a grid: add_kernel, not add_kernel\[grid\]"),
        (shifted, {"x": "fp32"}, {}, {}, "shifted returns a value, so it is a device function"),
        (3, {}, {}, {}, "must be a @triton.jit function, not int"),
        (add_kernel, VECTORS, {"BLOCKSIZE": 256}, {}, "no argument 'BLOCKSIZE': did you mean BLOCK_SIZE"),
        (add_kernel, {**VECTORS, "q": "i32"}, {"BLOCK_SIZE": 256}, {}, "no argument 'q': it takes x_ptr, y_ptr"),
        (add_kernel, {**VECTORS, "x_ptr": "*float32"}, {"BLOCK_SIZE": 256}, {}, r'did you mean "\*fp32"'),
        (add_kernel, {**VECTORS, "n_elements": "int"}, {"BLOCK_SIZE": 256}, {}, 'did you mean "i32"'),
        (add_kernel, {**VECTORS, "n_elements": "i33"}, {"BLOCK_SIZE": 256}, {}, 'did you mean "i3'),
        (add_kernel, VECTORS, {"BLOCK_SIZE": 256}, {"num_warps": 64}, r"power of two from 1 to 32 \(1024 threads\)"),
        (add_kernel, VECTORS, {"BLOCK_SIZE": 256}, {"num_warps": 3}, "power of two"),
        (add_kernel, VECTORS, {"BLOCK_SIZE": 256}, {"num_warps": 32, "target": "gfx942"}, "from 1 to 16"),
    ],
)
def test_what_was_given_instead_of_a_kernel_and_its_arguments_is_said(kernel, types, constexprs, options, says):
    with pytest.raises(ValueError, match=says):
        compiled(kernel, types, constexprs, **options)


def test_types_that_triton_knows_and_what_was_meant_by_others():
    assert [valid_type("x", kind) for kind in ("*fp8e4nv", "u64", "*i1")] == ["*fp8e4nv", "u64", "*i1"]
    for given, meant in {"torch.float16": "fp16", "*double": "*fp64", "*fp33": "*fp32", "quark": "fp32"}.items():
        with pytest.raises(
            ValueError, match=re.escape(f"types['x'] is \"{given}\", which") + f'.*"{re.escape(meant)}"'
        ):
            valid_type("x", given)
    with pytest.raises(ValueError, match=r"is a tensor of torch\.complex64"):
        launched_type("x", torch.zeros(2, dtype=torch.complex64))


def test_the_signature_of_a_launch():
    x = torch.ones(8)
    run_time, fixed = signature(
        everything_kernel, (x,), {"out_ptr": None, "TYPE": tl.float16, "COUNT": 2, "num_warps": 8}
    )
    assert run_time == {"x_ptr": x} and fixed == {"out_ptr": None, "TYPE": tl.float16, "COUNT": 2, "BLOCK_SIZE": 64}


@pytest.mark.parametrize(
    ("value", "kind"),
    [(True, "i1"), (16, "i32"), (17, "i32, odd"), (1, "one"), (0, "i32"), (2**31, "i64"), (-(2**31), "i32"),
     (-(2**31) - 16, "i64"), (2**63, "u64"), (2**31 - 1, "i32, odd"), (1.0, "fp32"),
     (torch.zeros(8, dtype=torch.int8)[1:], "*i8, odd"),
     (torch.zeros(8, dtype=torch.bfloat16), "*bf16")],
)  # fmt: skip
def test_what_a_launch_sees_in_a_value(value, kind):
    assert launched_type("x", value) == kind


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
