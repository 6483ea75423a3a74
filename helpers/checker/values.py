"""What is in the inputs of a case. Numbers come from the CPU's generator, so a case holds the same ones everywhere."""

import math
from collections.abc import Callable

import torch

from .cases import Case

REACH = 20  # random values lie within ± this: both signs, no overflow in a product of 16-bit numbers


def operands(case: Case, inputs: int | Callable, seed: int) -> list:
    """The inputs of a case on the CPU, as `inputs` gives them; what it returns beside tensors is passed on as it is.

    Raises ValueError if an `inputs` function raises or returns no tuple with a tensor in it.
    """
    generator = torch.Generator().manual_seed(seed)
    if isinstance(inputs, int):
        made = [uniform(case.shape, case.dtype, generator) for _ in range(inputs)]
        return [_changed(x, k, case.values, generator) for k, x in enumerate(made)]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            made = inputs(case.shape, case.dtype, torch.device("cpu"))
        except Exception as error:
            raise ValueError(f"inputs{case.shape, case.dtype} raised {type(error).__name__}: {error}") from error
    if not isinstance(made, tuple | list) or not any(isinstance(x, torch.Tensor) for x in made):
        raise ValueError(f"inputs must return a tuple of tensors, not {type(made).__name__}")
    made = [x.detach().cpu() if isinstance(x, torch.Tensor) else x for x in made]
    floats = [x.is_floating_point() if isinstance(x, torch.Tensor) else False for x in made]
    return [_changed(x, k, case.values, generator) if floats[k] else x for k, x in enumerate(made)]


def uniform(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator, reach: float = REACH):
    """Random values within ±reach; whole numbers in an integer dtype, both values in bool."""
    if dtype.is_floating_point:
        return ((torch.rand(shape, generator=generator) * 2 - 1) * reach).to(dtype)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    least = 0 if torch.iinfo(dtype).min == 0 else -int(reach)
    return torch.randint(least, int(reach) + 1, shape, generator=generator).to(dtype)


def _changed(x: torch.Tensor, position: int, values: str, generator: torch.Generator) -> torch.Tensor:
    """Input number `position` of a case, changed to hold these values (see `cases.value_cases`)."""
    if values == "random" or not x.numel():
        return x
    if not x.is_floating_point():
        return _integers(x, values, generator)
    sign = (1 - 2 * (torch.arange(x.numel()) % 2)).view_as(x)
    if values in ROWS:
        return ROWS[values](x, sign, generator).to(x.dtype)
    kind, _, operand = values.partition(" in input ")
    if kind == "special values":
        if int(operand) != position:
            return (torch.rand(x.shape, generator=generator) + 0.5).to(x.dtype)  # near 1
        return extremes(x.dtype).repeat(x.numel())[: x.numel()].view_as(x)
    if int(operand) == position:
        x = x.contiguous().clone()
        x.view(-1)[x.numel() // 2] = float(kind.removeprefix("one "))
    return x


def _one_huge(x: torch.Tensor, sign: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """In every row one number of 1000 to 1020, all others within ±20/1024."""
    rows = x.float().reshape(-1, (1, *x.shape)[-1]) / 1024
    at = torch.randint(rows.shape[1], (rows.shape[0], 1), generator=generator)
    return rows.scatter(1, at, 1000 + rows.gather(1, at).abs() * 1024).view(x.shape)


ROWS = {
    "all negative": lambda x, sign, generator: -x.abs(),
    "alternating signs": lambda x, sign, generator: x.abs() * sign,
    "within ±1000": lambda x, sign, generator: uniform(x.shape, x.dtype, generator, reach=1000),
    "far below zero": lambda x, sign, generator: x.float() - 30_000,  # float16 holds it
    "one huge, the rest tiny": _one_huge,
}


def extremes(dtype: torch.dtype) -> torch.Tensor:
    """±0, ±denormal, ±large, ±inf and nan; no denormals in bfloat16, which the interpreter gets wrong."""
    info, inf = torch.finfo(dtype), math.inf
    tiny, large = info.tiny if dtype == torch.bfloat16 else info.tiny / 8, info.max / 4
    return torch.tensor([0, -0.0, tiny, -tiny, large, -large, inf, -inf, math.nan], dtype=torch.float64).to(dtype)


def _integers(x: torch.Tensor, values: str, generator: torch.Generator) -> torch.Tensor:
    """Anything an integer dtype holds, or its ends and what float32, float16 and int16 cannot hold."""
    if x.dtype == torch.bool:
        return x
    low, high = torch.iinfo(x.dtype).min, torch.iinfo(x.dtype).max
    if values == "any integers":
        return torch.randint(low, high, x.shape, generator=generator, dtype=torch.int64).to(x.dtype)
    edges = [low, low + 1, -1, 0, 1, high - 1, high, 2**8 + 1, 2**11 + 1, 2**15, 2**15 + 1, 2**24 + 1, -(2**24) - 1]
    edges = [n for n in edges if low <= n <= high]
    picked = torch.randint(len(edges), x.shape, generator=generator)
    return torch.tensor(edges, dtype=torch.int64)[picked].to(x.dtype)
