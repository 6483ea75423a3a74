"""Right kernels at random, five kinds of them: the checker must not raise a false alarm on any.

`python -m helpers.tests.random_kernels 2000` tries so many of each kind and says how many were called wrong.
"""

from helpers.checker.cases import FLAT, ROW_VALUES, TABLE, Case
from helpers.checker.launches import can_be_reordered, in_order, orders
from helpers.checker.settings import nan_as_on_a_gpu
from helpers.checker.trial import Outcome, Trial
from helpers.tests.random_sources import (
    FUNCTIONS,
    PAIRS,
    ROWS,
    elementwise_kernel,
    gather_kernel,
    gradient_kernel,
    matmul_kernel,
    row_kernel,
)

import contextlib
import random
import sys
import time
from collections.abc import Callable

import torch
import triton


def elementwise(pick: random.Random) -> tuple[Callable, Callable, dict]:
    f, g, pair = pick.choice(list(FUNCTIONS)), pick.choice(list(FUNCTIONS)), pick.choice(list(PAIRS))
    block = pick.choice([64, 128, 256])

    def launcher(x, y):
        x, y = x.contiguous(), y.contiguous()
        out, grid = torch.empty_like(x), (triton.cdiv(x.numel(), block),)
        elementwise_kernel[grid](x, y, out, x.numel(), F_OF_X=f, G_OF_Y=g, PAIR=pair, BLOCK_SIZE=block)
        return out

    shape = tuple(pick.randint(1, 30) for _ in range(pick.randint(1, 3)))[: pick.randint(1, 3)]
    return launcher, lambda x, y: PAIRS[pair](FUNCTIONS[f](x), FUNCTIONS[g](y)), {"inputs": 2, "shape": shape}


def rows(pick: random.Random) -> tuple[Callable, Callable, dict]:
    op, at_once = pick.choice(list(ROWS)), pick.choice([1, 2, 4])

    def launcher(x):
        n_rows, n_columns = x.shape
        out = torch.empty(n_rows if op in ("sum", "maximum") else (n_rows, n_columns), dtype=x.dtype, device=x.device)
        options = {"OP": op, "ROWS": at_once, "BLOCK_SIZE": triton.next_power_of_2(n_columns)}
        row_kernel[(triton.cdiv(n_rows, at_once),)](x, out, n_rows, n_columns, *x.stride(), **options)
        return out

    return launcher, ROWS[op], {"inputs": 1, "shape": (pick.randint(1, 6), pick.randint(1, 200))}


def matmul(pick: random.Random) -> tuple[Callable, Callable, dict]:
    name, tile = pick.choice(list(FUNCTIONS)), [pick.choice([16, 32]) for _ in range(3)]

    def launcher(a, b):
        (M, K), N = a.shape, b.shape[1]
        out = torch.empty(M, N, dtype=a.dtype, device=a.device)
        grid = (triton.cdiv(M, tile[0]), triton.cdiv(N, tile[1]))
        blocks = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
        matmul_kernel[grid](a, b, out, M, N, K, *a.stride(), *b.stride(), NAME=name, **blocks)
        return out

    def inputs(shape, dtype, device):
        M, N, K = shape
        return torch.randn(M, K).to(dtype), torch.randn(K, N).to(dtype)

    shape = tuple(pick.randint(1, 40) for _ in range(3))
    return launcher, lambda a, b: FUNCTIONS[name](a @ b), {"inputs": inputs, "shape": shape}


def gather(pick: random.Random) -> tuple[Callable, Callable, dict]:
    def launcher(x, places, scale):
        out = torch.empty(len(places), x.shape[1], dtype=x.dtype, device=x.device)
        block = triton.next_power_of_2(x.shape[1])
        strides = (*x.stride(), *places.stride(), *scale.stride())
        gather_kernel[(len(places),)](x, places, scale, out, x.shape[1], *strides, BLOCK_SIZE=block)
        return out

    def inputs(shape, dtype, device):
        places = torch.randint(shape[0], (count,), dtype=integers)
        return torch.randn(shape).to(dtype), places, torch.randn(count).to(dtype)

    count, integers = pick.randint(1, 9), pick.choice([torch.int32, torch.int64])
    shape = (pick.randint(1, 9), pick.randint(1, 100))
    return launcher, lambda x, places, scale: x[places] * scale[:, None], {"inputs": inputs, "shape": shape}


def gradient(pick: random.Random) -> tuple[Callable, Callable, dict]:
    name = pick.choice(["sigmoid", "silu", "square", "relu", "sine", "log of 1 + square"])

    def launcher(grad, x):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        options = {"NAME": name, "BLOCK_SIZE": triton.next_power_of_2(x.shape[1])}
        gradient_kernel[(x.shape[0],)](grad, x, out, x.shape[1], *grad.stride(), *x.stride(), **options)
        return out

    def reference(grad, x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(FUNCTIONS[name](x), x, grad)[0]

    return launcher, reference, {"inputs": 2, "shape": (pick.randint(1, 6), pick.randint(1, 150))}


KINDS = {"element-wise": elementwise, "row": rows, "matmul": matmul, "gather": gather, "gradient": gradient}


def attempt(kind: str, seed: int) -> Outcome:
    """One right kernel of that kind in one case, both picked by the seed, in some order of its programs."""
    pick = random.Random(f"{kind} {seed}")
    launcher, reference, options = KINDS[kind](pick)
    dtype, shape = pick.choice([torch.float32, torch.float16, torch.bfloat16]), options["shape"]
    trial = Trial(launcher, reference, options["inputs"], [shape], (dtype,), seed=seed)
    layouts = ["as given", *(TABLE if max(trial.ranks) > 1 else FLAT)]
    special = ["special values in input 0"] if trial.elementwise else [*ROW_VALUES, "one nan in input 0"]
    only = pick.choice([None, *range(len(trial.ranks))])
    case = Case(shape, dtype, pick.choice(layouts), only, pick.choice(["random", "random", *special]))
    order = in_order(orders()[pick.choice(list(orders()))]) if can_be_reordered() else contextlib.nullcontext()
    with nan_as_on_a_gpu(), order:
        return trial.judge(case)


def main(count: int) -> int:
    """Tries that many right kernels of each kind; prints those that were called wrong, and returns how many were."""
    alarms = 0
    for kind in KINDS:
        start, found = time.perf_counter(), 0
        for seed in range(count):
            outcome = attempt(kind, seed)
            if outcome.status != "right" or outcome.call.breaches or outcome.call.overwritten:
                found += 1
                print(f"{kind} {seed}: {outcome.case}: {outcome.fact}")
        alarms += found
        print(f"{kind}: {count} right kernels, {found} called wrong, {time.perf_counter() - start:.0f} s", flush=True)
    return alarms


if __name__ == "__main__":
    sys.exit(1 if main(int((sys.argv[1:] or ["100"])[0])) else 0)
