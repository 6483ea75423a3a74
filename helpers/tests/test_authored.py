"""What the author of a kernel wrote: loads, stores and their masks, Python's logic, stubs."""

from helpers.checker.authored import authored, stub_above_code
from helpers.tests.zoo import kinds as z

import pytest
import triton
import triton.language as tl


def test_loads_stores_and_their_masks():
    found = authored([z.add_strided_kernel])
    assert found.masks() == "2 of 2 loads and 1 of 2 stores masked"
    assert [str(a) for a in found.unmasked("store")] == [
        "line 13 of add_strided_kernel, `tl.store(out_ptr + rows * out_row + columns * out_column, x + y)`"
    ]
    assert found.asks_which_program and not found.python_logic and not found.stores_atomically


@pytest.mark.parametrize(("fault", "loads", "stores"), [("", 2, 1), ("no store", 2, 0), ("accumulates", 3, 1)])
def test_branches_on_constants_are_taken(fault, loads, stores):
    found = authored([z.add_kernel], {z.add_kernel: {"FAULT": fault, "BLOCK_SIZE": 64}})
    assert (len(found.of("load")), len(found.of("store"))) == (loads, stores)
    assert not found.unmasked("store") and not found.unmasked("load")


def test_a_mask_of_none_is_no_mask_and_one_by_position_is_one():
    found = authored([masks_kernel])
    assert [a.masked for a in found.accesses] == [False, True, True] and found.of("store")[0].pointer == "out_ptr"


def test_at_an_arguments_own_address_there_is_nothing_to_mask():
    assert authored([z.total_kernel], {z.total_kernel: {"ATOMIC": False}}).unmasked("store") == []
    assert len(authored([z.total_kernel]).unmasked("store")) == 1  # of a device function it may be a block


@triton.jit
def masks_kernel(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets, mask=None)
    y = tl.load(x_ptr + offsets, offsets < n)
    tl.store(out_ptr + offsets, x + y, offsets < n)


def test_pythons_logic_is_found_and_conditions_on_constants_are_not():
    assert authored([z.add_and_kernel]).python_logic == [
        "line 3 of add_and_kernel, `mask = offsets < n_elements and offsets >= 0`"
    ]
    assert len(authored([z.add_chained_kernel]).python_logic) == 1
    assert authored([constants_kernel]).python_logic == []


@triton.jit
def constants_kernel(x_ptr, A: tl.constexpr, B: tl.constexpr):
    if A and not B:
        tl.store(x_ptr, 1.0)


def test_a_stub_above_code():
    assert stub_above_code([z.stub_kernel]) is None
    assert stub_above_code([z.add, z.unfinished_kernel]) == "unfinished_kernel"
