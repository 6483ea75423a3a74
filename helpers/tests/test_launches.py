"""How programs run and what was launched: other orders, nan as on a GPU, grids and arguments."""

from helpers.checker.launches import Launch, Launches, can_be_reordered, in_order, orders
from helpers.checker.settings import nan_as_on_a_gpu
from helpers.device import DEVICE, INTERPRETED
from helpers.tests.zoo import kinds as z

import pytest
import torch
import triton
import triton.language as tl

needs_interpreter = pytest.mark.skipif(not INTERPRETED, reason="only the interpreter runs programs one by one")


@triton.jit
def number_kernel(out_ptr, counter_ptr, n_columns):
    """Each program stores when it ran: its place in the order."""
    turn = tl.atomic_add(counter_ptr, 1)
    tl.store(out_ptr + tl.program_id(0) * n_columns + tl.program_id(1), turn)


def turns(order):
    out, counter = torch.zeros(3, 4, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    with in_order(order):
        number_kernel[(3, 4)](out, counter, 4)
    return out.flatten().tolist()


@needs_interpreter
def test_programs_run_in_the_order_that_was_asked_for():
    """Holds private names of the interpreter, `set_grid_idx` and `grid_dim`: if a release moves them, this fails."""
    assert can_be_reordered()
    assert turns(lambda n: list(range(n))) == list(range(12))
    assert turns(orders()["in reverse"]) == list(range(11, -1, -1))
    shuffled = orders()["shuffled"](12)
    assert sorted(shuffled) == list(range(12)) and shuffled not in (list(range(12)), list(range(11, -1, -1)))
    assert [turns(orders()["shuffled"])[place] for place in shuffled] == list(range(12))
    out, counter = torch.zeros(3, 4, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    number_kernel[(3, 4)](out, counter, 4)
    assert out.flatten().tolist() == list(range(12)), "the order is put back"


@triton.jit
def three_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.store(out_ptr, tl.maximum(x, 0.0))
    tl.store(out_ptr + 1, tl.minimum(x, 0.0))
    tl.store(out_ptr + 2, tl.clamp(x, -1.0, 1.0))
    tl.store(out_ptr + 3, tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 4, tl.clamp(x, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL))


def test_nan_is_dropped_as_on_a_gpu():
    """Holds three private names of the interpreter: if a release moves them, this fails."""
    x, out = torch.full((1,), float("nan"), device=DEVICE), torch.zeros(5, device=DEVICE)
    with nan_as_on_a_gpu():
        three_kernel[(1,)](x, out)
    assert out.isnan().tolist() == [False, False, False, True, True] and out[2] == -1


def test_launches_are_seen_with_grid_and_arguments():
    launches = Launches([z.add_kernel])
    with launches:
        z.add(block=64)(torch.ones(100, device=DEVICE), torch.ones(100, device=DEVICE))
    (launch,) = launches.seen
    assert (launch.grid, launch.programs, launch.blocks) == ((2,), 2, (64,))
    assert launch.arguments["x_ptr"] == (100,) and launch.arguments["n_elements"] == 100
    assert "run" not in vars(z.add_kernel), "the kernel's own method is put back"


def test_blocks_are_arguments_of_that_name_only():
    arguments = {"BLOCK_M": 16, "k_blocks": 3, "BLOCK_N": 64, "x_ptr": (4,)}
    assert Launch(None, (2, 3), arguments).blocks == (16, 64) and Launch(None, (2, 3), arguments).programs == 6
