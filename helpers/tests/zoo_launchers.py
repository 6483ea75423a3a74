"""Launchers and references of the zoo. A function of options returns a launcher, a function from tensors to tensors."""

from helpers.tests import zoo_kernels as k

from collections.abc import Callable

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

B = 256


def rounding_down(n: int, block: int) -> int:
    return n // block


def flat(kernel, *extra, block: int = B, grid: Callable = triton.cdiv, **constexprs) -> Callable:
    """Treats every tensor as one flat array of contiguous elements, after making them contiguous."""

    def launcher(*tensors):
        tensors = [x.contiguous() for x in tensors]
        out = torch.empty_like(tensors[0])
        n = out.numel()
        numbers = [value(n) for value in extra]
        kernel[(grid(n, block),)](*tensors, out, n, *numbers, BLOCK_SIZE=block, **constexprs)
        return out

    return launcher


def add(fault: str = "", **options) -> Callable:
    return flat(k.add_kernel, FAULT=fault, **options)


def unary(op: str) -> Callable:
    return flat(k.unary_kernel, OP=op)


def trusting(x, y):
    """Never asks whether its inputs are contiguous."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    k.add_kernel[(triton.cdiv(out.numel(), B),)](x, y, out, out.numel(), BLOCK_SIZE=B)
    return out


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


def own_strides(x, y):
    return x.stride(), y.stride()


def like(x):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


def strided(strides_of=own_strides, out_like=like, masked: bool = True, divide: Callable = triton.cdiv) -> Callable:
    """A 2-D launcher that passes strides: what `strides_of` makes of the inputs."""

    def launcher(x, y):
        out, (rows, columns) = out_like(x), x.shape
        grid = (divide(rows, 16), divide(columns, 64))
        x_strides, y_strides = strides_of(x, y)
        k.add_strided_kernel[grid](
            x, y, out, rows, columns, *x_strides, *y_strides, columns, 1, MASKED=masked, BLOCK_M=16, BLOCK_N=64
        )
        return out

    return launcher


def transposed(columns: bool) -> Callable:
    def launcher(x):
        out = torch.empty(x.shape[::-1], dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(x.shape[0], 32), triton.cdiv(x.shape[1], 32))
        k.transpose_kernel[grid](x, out, *x.shape, *x.stride(), COLUMNS=columns, BLOCK=32)
        return out

    return launcher


def rows(op: str, other: float = -float("inf"), copies: bool = True, **constexprs) -> Callable:
    """One program a row; "sum" and "max" give one number a row."""

    def launcher(x):
        x = x.contiguous() if copies else x
        out = x.new_empty(x.shape[0]) if op in ("sum", "max") else torch.empty(x.shape, dtype=x.dtype, device=x.device)
        options = {"OP": op, "OTHER": other, "BLOCK_SIZE": triton.next_power_of_2(x.shape[1]), **constexprs}
        k.row_kernel[(x.shape[0],)](x, out, x.shape[1], x.stride(0), **options)
        return out

    return launcher


def max_and_place(nan: bool = True) -> Callable:
    def launcher(x):
        x = x.contiguous()
        values, places = x.new_empty(x.shape[0]), torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
        block = triton.next_power_of_2(x.shape[1])
        k.max_and_place_kernel[(x.shape[0],)](x, values, places, x.shape[1], NAN=nan, BLOCK_SIZE=block)
        return values, places

    return launcher


def rms_norm(honest: bool = True, divide: bool = False) -> Callable:
    def launcher(x, weight):
        x, block = x.contiguous(), triton.next_power_of_2(x.shape[1])
        out, stride = torch.empty_like(x), weight.stride(0) if honest else 1
        k.rms_norm_kernel[(x.shape[0],)](x, weight, out, x.shape[1], stride, 1e-6, DIVIDE=divide, BLOCK_SIZE=block)
        return out

    return launcher


def gather(honest: bool = True) -> Callable:
    def launcher(x, places):
        x, block = x.contiguous(), triton.next_power_of_2(x.shape[1])
        out = torch.empty((len(places), x.shape[1]), dtype=x.dtype, device=x.device)
        stride = places.stride(0) if honest else 1
        k.gather_kernel[(len(places),)](x, places, out, x.shape[1], stride, BLOCK_SIZE=block)
        return out

    return launcher


def matmul(
    precision="ieee", mask=True, divide=triton.cdiv, narrow=False, block=16, b_transposed=False, grid=triton.cdiv
) -> Callable:
    def launcher(a, b):
        a, b = a.contiguous(), b.contiguous()
        (M, K), N = a.shape, b.shape[1]
        out = torch.empty((M, N), dtype=a.dtype, device=a.device)
        strides = (1, K) if b_transposed else b.stride()
        k.matmul_kernel[(grid(M, 32), grid(N, 32))](
            a, b, out, M, N, K, divide(K, block), *strides, PRECISION=precision, MASK_K=mask, NARROW=narrow,
            BLOCK_M=32, BLOCK_N=32, BLOCK_K=block,
        )  # fmt: skip
        return out

    return launcher


def swiglu_gradients(honest: bool = True, narrow: bool = False) -> Callable:
    """Both gradients, from the gradient of the result, gate and up."""

    def launcher(grad, gate, up):
        gate, up = gate.contiguous(), up.contiguous()
        d_gate, d_up = torch.empty_like(gate), torch.empty_like(up)
        strides, block = grad.stride() if honest else gate.stride(), triton.next_power_of_2(gate.shape[1])
        k.swiglu_backward_kernel[(gate.shape[0],)](
            grad, gate, up, d_gate, d_up, gate.shape[1], *strides, NARROW=narrow, BLOCK_SIZE=block
        )
        return d_gate, d_up

    return launcher


def total(atomic: bool) -> Callable:
    def launcher(x):
        x, out = x.contiguous(), torch.zeros(1, dtype=torch.float32, device=x.device)
        k.total_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), ATOMIC=atomic, BLOCK_SIZE=64)
        return out.to(x.dtype)

    return launcher


def both(forget: int = 0, swap: bool = False) -> Callable:
    def launcher(x, y):
        x, y = x.contiguous(), y.contiguous()
        total, difference = torch.empty_like(x), torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), B),)
        k.sum_and_difference_kernel[grid](x, y, total, difference, x.numel(), FORGET=forget, BLOCK_SIZE=B)
        return (difference, total) if swap else (total, difference)

    return launcher


def looping(divide: Callable) -> Callable:
    def launcher(x, y):
        x, y = x.contiguous(), y.contiguous()
        out = torch.empty_like(x)
        k.add_looping_kernel[(2,)](x, y, out, out.numel(), divide(out.numel(), B), BLOCK_SIZE=B)
        return out

    return launcher


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
        out = buffers.setdefault((x.shape, x.dtype), torch.empty(x.shape, dtype=x.dtype, device=x.device))
        return out.copy_(add()(x, y))

    return launcher


def in_place(x, y):
    k.add_kernel[(triton.cdiv(x.numel(), B),)](x, y, x, x.numel(), BLOCK_SIZE=B)
    return x


def scratch(x, y):
    x, y = x.contiguous(), y if y.is_contiguous() else y.contiguous()
    out = torch.empty_like(x)
    k.add_kernel[(triton.cdiv(x.numel(), B),)](x, y, out, x.numel(), BLOCK_SIZE=B, FAULT="scratch")
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


def swiglu_reference(gate, up):
    return F.silu(gate) * up


def swiglu_gradients_reference(grad, gate, up):
    gate, up = gate.detach().requires_grad_(), up.detach().requires_grad_()
    return torch.autograd.grad(swiglu_reference(gate, up), (gate, up), grad)


def silu_derivative_reference(x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(F.silu(x).sum(), x)[0]


def packed_swiglu(packed):
    return swiglu_reference(*(half.contiguous() for half in packed.chunk(2, -1)))


def softmax_reference(x):
    return torch.softmax(x, 1)


def rms_norm_reference(x, weight):
    return x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6) * weight


def matrices(shape, dtype, device):
    M, N, K = shape
    return torch.randn(M, K, device=device).to(dtype), torch.randn(K, N, device=device).to(dtype)


def row_and_weight(shape, dtype, device):
    return torch.randn(shape, device=device).to(dtype), torch.randn(shape[1], device=device).to(dtype)


def row_and_every_second_weight(shape, dtype, device):
    return torch.randn(shape, device=device).to(dtype), torch.randn(2 * shape[1], device=device).to(dtype)[::2]


def table_and_places(shape, dtype, device):
    return torch.randn(shape, device=device).to(dtype), torch.randint(shape[0], (2 * shape[0],), device=device)


narrow = tl.float16
