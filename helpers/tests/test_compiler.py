"""What the compiler makes of a kernel is the same whether or not this machine has the GPU it is compiled for."""

import helpers
from helpers.compiler.cards import CARDS
from helpers.compiler.compiling import CompilationError, CompilerUnavailable, compiled
from helpers.compiler.result import widths
from helpers.tests.other_kernels import VECTORS, add_kernel

import ctypes
import inspect
import sys

import pytest
import torch
import triton
import triton.language as tl

needs_cuda = pytest.mark.skipif(helpers.DEVICE.type != "cuda", reason="compares with a launch on an NVIDIA GPU")


@triton.jit
def odd_block_kernel(out_ptr):
    tl.store(out_ptr + tl.arange(0, 200), 0.0)


@pytest.mark.parametrize(("num_warps", "elements", "bits"), [(1, 4, 128), (4, 2, 64), (8, 1, 32)])
def test_elements_per_thread_and_widths(num_warps, elements, bits):
    result = compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 256}, num_warps=num_warps)
    assert result.threads == 32 * num_warps
    assert result.elements_per_thread == (elements,)
    assert (result.load_bits, result.store_bits) == (bits, bits)


def test_a_size_that_is_no_multiple_of_16_narrows_masked_loads():
    result = compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 1024}, not_divisible=("n_elements",))
    assert (result.load_bits, result.load_bytes) == (32, 2 * 1024 * 4)


def test_the_compilers_sentence_and_line_come_back():
    with pytest.raises(CompilationError) as error:
        compiled(odd_block_kernel, {"out_ptr": "*fp32"}, {})
    assert "arange's range must be a power of 2" in str(error.value)
    assert "tl.store(out_ptr + tl.arange(0, 200), 0.0)" in str(error.value)


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
    assert (f".target {target}" in result.ptx if target.startswith("sm_") else not result.ptx) and target in str(result)


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


def test_a_machine_that_cannot_compile_is_not_the_kernels_fault(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(blocked / "cache"))
    with pytest.raises(CompilerUnavailable, match="the compiler could not work on this machine"):
        compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 256})
    monkeypatch.setattr(sys, "executable", str(blocked))
    with pytest.raises(CompilerUnavailable, match="could not start"):
        compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 256})
