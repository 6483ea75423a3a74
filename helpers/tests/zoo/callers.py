"""Launchers that go wrong, or are odd, in what they do around a right kernel."""

from helpers.tests.zoo.additions import add, add_kernel
from helpers.tests.zoo.launchers import B, empty

from collections.abc import Callable

import torch
import triton


def trusting(x, y):
    """Never asks whether its inputs are contiguous."""
    out = empty(x)
    add_kernel[(triton.cdiv(out.numel(), B),)](x, y, out, out.numel(), BLOCK_SIZE=B)
    return out


def answered_by_torch(x, y):
    trusting(x.contiguous(), y.contiguous())
    return x + y


def strict(x, y):
    """Rejects what it cannot do, as the course's launchers do."""
    if x.shape != y.shape:
        raise ValueError(f"add: x has shape {tuple(x.shape)} but y has {tuple(y.shape)}; both must match")
    if x.dtype not in (torch.float32, torch.float16):
        raise TypeError(f"add: x is {x.dtype}; it must be float32 or float16")
    if not (x.is_contiguous() and y.is_contiguous()):
        raise ValueError("add: x and y must be contiguous; call .contiguous()")
    return trusting(x, y)


def only_tables(x, y):
    if x.dim() != 2:
        raise ValueError(f"x must be 2-D, not {x.dim()}-D")
    return x + y


def cached_by(key: Callable) -> Callable:
    answers = {}

    def launcher(x, y):
        if key(x) not in answers:
            answers[key(x)] = add()(x, y)
        return answers[key(x)].clone()

    return launcher


def every_seventh_call(launcher: Callable) -> Callable:
    calls = []

    def wrong_at_times(*tensors):
        calls.append(1)
        return launcher(*tensors) + (len(calls) % 7 == 0)

    return wrong_at_times


def one_buffer() -> Callable:
    buffers = {}

    def launcher(x, y):
        out = buffers.setdefault((x.shape, x.dtype), empty(x))
        return out.copy_(add()(x, y))

    return launcher


def in_place(x, y):
    add_kernel[(triton.cdiv(x.numel(), B),)](x, y, x, x.numel(), BLOCK_SIZE=B)
    return x


def scratch(x, y):
    x, y = x.contiguous(), y if y.is_contiguous() else y.contiguous()
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), B),)](x, y, out, x.numel(), BLOCK_SIZE=B, FAULT="scratch")
    return out


def refuses_empty(x, y):
    if x.numel() == 0:
        raise ValueError("nothing to add")
    return add()(x, y)


def never_launches(x, y):
    if x.numel() < 0:
        add()(x, y)
    return torch.empty_like(x)


def wrong_if_compiled(x, y):
    return x - y if torch.compiler.is_compiling() else x + y


compiled_wrongly = torch.compile(wrong_if_compiled, backend="eager")


def stub(x, y):
    raise NotImplementedError("your turn")


@torch.library.custom_op("zoo::add", mutates_args=())
def add_operator(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return add()(x, y)


class AddFunction(torch.autograd.Function):
    @staticmethod
    def forward(context, x, y):
        return add()(x, y)

    @staticmethod
    def backward(context, gradient):
        return gradient, gradient
