"""What the compiler makes of a kernel is the same whether or not this machine has the GPU it is compiled for."""

import helpers
from helpers.compiler import CompilationError, _widths, compiled

import pytest
import torch
import triton
import triton.language as tl

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


@needs_cuda
@pytest.mark.parametrize(("n_elements", "not_divisible"), [(4096, ()), (4099, ("n_elements",))])
def test_a_launch_compiles_to_the_same(n_elements, not_divisible):
    x = torch.ones(n_elements, device=helpers.DEVICE)
    launched = add_kernel[(triton.cdiv(n_elements, 1024),)](x, x, torch.empty_like(x), n_elements, BLOCK_SIZE=1024)
    target = "sm_{}{}".format(*torch.cuda.get_device_capability())
    result = compiled(add_kernel, VECTORS, {"BLOCK_SIZE": 1024}, target=target, not_divisible=not_divisible)
    for instruction in ("ld", "st"):
        assert _widths(result.ptx, instruction) == _widths(launched.asm["ptx"], instruction)
