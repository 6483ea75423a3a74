"""Wrong kernels that `check` must see through, each with what is wrong with it, and right ones that must pass.

`python -m helpers.tests.zoo` prints what `check` says of each in this mode.
"""

from helpers.checker import check
from helpers.device import INTERPRETED
from helpers.tests import zoo_kernels as k

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

B = 256
DOT_TAKES_8 = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 8)  # until then the compiler wants K >= 16


@dataclass(frozen=True)
class Entry:
    """One candidate. `row` is the report's first row that must fail (None: it must pass), `cause` the likely cause.

    `only` limits an entry to "gpu" or "interpreter", where its fault can be seen; `fatal` ones end a GPU's context.
    """

    name: str
    candidate: Callable
    reference: Callable
    row: str | None = None
    cause: str | None = None
    says: str = ""  # part of a sentence that the report must hold
    status: str = ""
    only: str = ""
    fatal: bool = False
    slow: bool = False
    options: dict = field(default_factory=dict)

    def verdict(self) -> str:
        return self.status or ("passed" if self.row is None else "failed")

    def applies(self) -> bool:
        return self.only in ("", "interpreter" if INTERPRETED else "gpu")

    def check(self):
        return check(self.candidate, self.reference, **self.options)


def flat(kernel, *extra, block: int = B, grid: Callable = triton.cdiv, **constexprs) -> Callable:
    """A launcher that treats every tensor as one flat array of contiguous elements, after making them contiguous."""

    def launcher(*tensors):
        tensors = [x.contiguous() for x in tensors]
        out = torch.empty_like(tensors[0])
        n = out.numel()
        numbers = [value(n) for value in extra]
        kernel[(grid(n, block),)](*tensors, out, n, *numbers, BLOCK_SIZE=block, **constexprs)
        return out

    return launcher


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


def strided(
    strides_of: Callable = lambda x, y: (x.stride(), y.stride()),
    out_like: Callable = lambda x: torch.empty(x.shape, dtype=x.dtype, device=x.device),
):
    """A 2-D launcher that passes strides: what `strides_of` makes of the inputs."""

    def launcher(x, y):
        out, (rows, columns) = out_like(x), x.shape
        grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 64))
        x_strides, y_strides = strides_of(x, y)
        k.add_strided_kernel[grid](x, y, out, rows, columns, *x_strides, *y_strides, columns, 1, BLOCK_M=16, BLOCK_N=64)
        return out

    return launcher


def transposed(columns: bool) -> Callable:
    def launcher(x):
        out = torch.empty(x.shape[::-1], dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(x.shape[0], 32), triton.cdiv(x.shape[1], 32))
        k.transpose_kernel[grid](x, out, *x.shape, *x.stride(), COLUMNS=columns, BLOCK=32)
        return out

    return launcher


def softmax(other: float = -float("inf"), shift: bool = True) -> Callable:
    def launcher(x):
        x = x.contiguous()
        out, block = torch.empty_like(x), triton.next_power_of_2(x.shape[1])
        k.softmax_kernel[(x.shape[0],)](x, out, x.shape[1], x.stride(0), OTHER=other, SHIFT=shift, BLOCK_SIZE=block)
        return out

    return launcher


def row_max(other: float) -> Callable:
    def launcher(x):
        x = x.contiguous()
        out, block = x.new_empty(x.shape[0]), triton.next_power_of_2(x.shape[1])
        k.row_max_kernel[(x.shape[0],)](x, out, x.shape[1], OTHER=other, BLOCK_SIZE=block)
        return out

    return launcher


def rms_norm(x, weight):
    x = x.contiguous()
    out, block = torch.empty_like(x), triton.next_power_of_2(x.shape[1])
    k.rms_norm_kernel[(x.shape[0],)](x, weight.contiguous(), out, x.shape[1], 1e-6, BLOCK_SIZE=block)
    return out


def packed_swiglu(packed):
    return swiglu_reference(*(half.contiguous() for half in packed.chunk(2, -1)))


def packed_swiglu_reference(packed):
    return swiglu_reference(*packed.chunk(2, -1))


def softmax_reference(x):
    return torch.softmax(x, 1)


def sum_and_difference(x, y):
    return x + y, x - y


def rms_norm_reference(x, weight):
    return x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6) * weight


def matmul(
    precision: str = "ieee", mask: bool = True, divide: Callable = triton.cdiv, narrow: bool = False, block: int = 16
):
    def launcher(a, b):
        a, b = a.contiguous(), b.contiguous()
        (M, K), N = a.shape, b.shape[1]
        out = torch.empty((M, N), dtype=a.dtype, device=a.device)
        k.matmul_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
            a, b, out, M, N, K, divide(K, block), PRECISION=precision, MASK_K=mask, NARROW=narrow,
            BLOCK_M=32, BLOCK_N=32, BLOCK_K=block,
        )  # fmt: skip
        return out

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
            answers[key(x)] = flat(k.add_kernel)(x, y)
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
        return out.copy_(flat(k.add_kernel)(x, y))

    return launcher


def in_place(x, y):
    k.add_kernel[(triton.cdiv(x.numel(), B),)](x, y, x, x.numel(), BLOCK_SIZE=B)
    return x


def scratch(x, y):
    x, y = x.contiguous(), y if y.is_contiguous() else y.contiguous()
    out = torch.empty_like(x)
    k.add_scratch_kernel[(triton.cdiv(x.numel(), B),)](x, y, out, x.numel(), BLOCK_SIZE=B)
    return out


def refuses_empty(x, y):
    if x.numel() == 0:
        raise ValueError("nothing to add")
    return flat(k.add_kernel)(x, y)


def wrong_if_compiled(x, y):
    return x - y if torch.compiler.is_compiling() else x + y


compiled_wrongly = torch.compile(wrong_if_compiled, backend="eager")


def stub(x, y):
    raise NotImplementedError("your turn")


def gelu_reference(x):
    return x * torch.sigmoid(1.702 * x)


def swiglu_reference(gate, up):
    return F.silu(gate) * up


@torch.library.custom_op("zoo::add", mutates_args=())
def add_operator(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return flat(k.add_kernel)(x, y)


class AddFunction(torch.autograd.Function):
    @staticmethod
    def forward(context, x, y):
        return flat(k.add_kernel)(x, y)

    @staticmethod
    def backward(context, gradient):
        return gradient, gradient


def unary(op: str) -> Callable:
    return flat(k.unary_kernel, OP=op)


def matrices(shape, dtype, device):
    M, N, K = shape
    return torch.randn(M, K, device=device).to(dtype), torch.randn(K, N, device=device).to(dtype)


def row_and_weight(shape, dtype, device):
    return torch.randn(shape, device=device).to(dtype), torch.randn(shape[1], device=device).to(dtype)


KNOWN = {"block_size": B}
TABLES = {"shapes": [(48, 64), (17, 61), (1, 1), (16, 65), (33, 130)]}
ONE = {"inputs": 1, **KNOWN}
ROWS = {"inputs": 1, "shapes": [(4, 64), (3, 100), (1, 1), (5, 257)]}
MATRICES = {"inputs": matrices, "shapes": [(32, 32, 64), (33, 34, 70), (1, 1, 1), (17, 65, 48)]}
FP32 = {"dtypes": [torch.float32]}

add, minus, mul = torch.add, torch.sub, torch.mul
rounding_down = lambda n, block: n // block  # noqa: E731

WRONG = [
    Entry(
        "grid rounded down",
        flat(k.add_kernel, grid=rounding_down),
        add,
        "shapes",
        "grid rounded down",
        "every element from 256 on",
        options=KNOWN,
    ),
    Entry(
        "grid rounded down, block not given", flat(k.add_kernel, grid=rounding_down), add, "shapes", "grid rounded down"
    ),
    Entry("loop rounded down", looping(rounding_down), add, "shapes", "grid rounded down", options=KNOWN),
    Entry(
        "one program short",
        flat(k.add_kernel, grid=lambda n, b: max(triton.cdiv(n, b) - 1, 0)),
        add,
        "result",
        "tail skipped",
        "the last block",
        options=KNOWN,
    ),
    Entry(
        "wrong from the 32nd program on",
        flat(k.add_few_programs_kernel, KNOWN=30),
        add,
        "shapes",
        None,
        "every element from 7936 on",
        options=KNOWN,
    ),
    Entry(
        "store masked by value",
        flat(k.add_masked_by_value_kernel),
        add,
        "result",
        None,
        "only where input 0 is negative, the store's mask leaves these out",
        options=KNOWN,
    ),
    Entry(
        "wrong in every seventh call",
        every_seventh_call(flat(k.add_kernel)),
        add,
        None,
        None,
        "The same call gives different answers. Cause unknown.",
        status="failed",
        options=KNOWN,
    ),
    Entry(
        "mask stops one short",
        flat(k.add_short_mask_kernel),
        add,
        "result",
        "tail skipped",
        "only the last element",
        options=KNOWN,
    ),
    Entry(
        "one program only",
        flat(k.add_kernel, grid=lambda n, b: min(n, 1)),
        add,
        "result",
        "tail skipped",
        "every element from 256 on",
        options=KNOWN,
    ),
    Entry(
        "store without a mask",
        flat(k.add_unmasked_store_kernel),
        add,
        "memory",
        "mask missing on the store",
        "elements 257 to 511",
        options=KNOWN,
    ),
    Entry(
        "store without a mask, block not given",
        flat(k.add_unmasked_store_kernel),
        add,
        "memory",
        "mask missing on the store",
    ),
    Entry(
        "one program too many and a store without a mask",
        flat(k.add_unmasked_store_kernel, grid=lambda n, b: n // b + 1),
        add,
        "memory",
        None,
        "stored outside an output of 768 elements: elements 768 to 1023",
        options={**KNOWN, "shapes": [(768,), (257,)]},
    ),
    Entry(
        "stores where there is no element",
        flat(k.add_unmasked_store_kernel, grid=lambda n, b: n // b + 1),
        add,
        "memory",
        None,
        "n=0, float32: there is no element, yet a program loaded or stored",
        only="interpreter",
        options=KNOWN,
    ),
    Entry(
        "load without a mask",
        flat(k.add_unmasked_load_kernel),
        add,
        "memory",
        None,
        "reads past the end of input 1",
        only="interpreter",
        options=KNOWN,
    ),
    Entry(
        "reads before the start",
        flat(k.add_reads_before_kernel),
        add,
        "memory",
        None,
        "reads before the start of input 0",
        only="interpreter",
        options=KNOWN,
    ),
    Entry(
        "every program reads before the start",
        flat(k.add_first_reads_before_kernel, block=1024),
        add,
        "memory",
        None,
        "reads before the start of input 0",
        only="interpreter",
        options={"block_size": 1024},
    ),
    Entry(
        "reads on both sides",
        flat(k.add_reads_both_sides_kernel),
        add,
        "memory",
        None,
        "reads outside of input 0",
        only="interpreter",
        options=KNOWN,
    ),
    Entry(
        "stores before the start", flat(k.add_store_before_kernel), add, "memory", None, "element -1.", options=KNOWN
    ),
    Entry("mask with <=", flat(k.add_long_mask_kernel), add, "memory", None, ": element 257.", options=KNOWN),
    Entry("stores shifted by one", flat(k.add_shifted_kernel), add, "result", None, options=KNOWN),
    Entry("blocks overlap by one", flat(k.add_overlapping_kernel), add, "result", "tail skipped", options=KNOWN),
    Entry("offsets in bytes", flat(k.add_stepping_kernel, STEP=4), add, "result", None, options=KNOWN),
    Entry(
        "offsets far outside",
        flat(k.add_stepping_kernel, STEP=2**28),
        add,
        None,
        None,
        status="failed",
        fatal=True,
        options=KNOWN,
    ),
    Entry(
        "accumulates into torch.empty", flat(k.add_accumulating_kernel), add, "result", None, "got nan", options=KNOWN
    ),
    Entry("strides ignored", trusting, add, "layouts", "strides ignored", options=KNOWN),
    Entry(
        "strides of x used for y",
        strided(lambda x, y: (x.stride(), x.stride())),
        add,
        "layouts",
        "strides ignored",
        "a stride of input 1 is ignored or swapped",
        options=TABLES,
    ),
    Entry(
        "column strides ignored",
        strided(lambda x, y: ((x.stride(0), 1), (y.stride(0), 1))),
        add,
        "layouts",
        "strides ignored",
        "is ignored or swapped",
        options=TABLES,
    ),
    Entry(
        "wrong for views, whatever their strides",
        lambda x, y: strided()(x, y) * (1.0 if x.is_contiguous() and y.is_contiguous() else 1.5),
        add,
        "layouts",
        None,
        "Cause unknown",
        options=TABLES,
    ),
    Entry(
        "output has strides of its own",
        strided(out_like=torch.empty_like),
        add,
        "layouts",
        "strides ignored",
        options=TABLES,
    ),
    Entry(
        "inputs through float16",
        flat(k.add_narrow_kernel, TYPE=tl.float16, AT="load"),
        add,
        "result",
        "narrowed too early",
        "inputs rounded to float16",
        options=KNOWN,
    ),
    Entry(
        "inputs through bfloat16",
        flat(k.add_narrow_kernel, TYPE=tl.bfloat16, AT="load"),
        add,
        "result",
        "narrowed too early",
        "bfloat16",
        options=KNOWN,
    ),
    Entry(
        "result through float16",
        flat(k.add_narrow_kernel, TYPE=tl.float16, AT="store"),
        add,
        "result",
        "narrowed too early",
        "every result is a float16 number",
        options=KNOWN,
    ),
    Entry(
        "float64 through float32",
        flat(k.add_kernel),
        add,
        "result",
        "narrowed too early",
        "float32",
        options={**KNOWN, "dtypes": [torch.float64]},
    ),
    Entry(
        "silu through float16",
        flat(k.swiglu_kernel, WIDEN=True, TYPE=tl.float16),
        swiglu_reference,
        "result",
        None,
        options=KNOWN,
    ),
    Entry(
        "sigmoid of 16 bits",
        flat(k.swiglu_kernel, WIDEN=False, TYPE=tl.float32),
        swiglu_reference,
        "dtypes",
        None,
        "raised",
        options=KNOWN,
    ),
    Entry(
        "powers in the narrow type",
        unary("eighth power in the narrow type"),
        lambda x: x**8,
        "dtypes",
        "narrowed too early",
        options=ONE,
    ),
    Entry(
        "bfloat16 not widened",
        flat(k.add_own_type_kernel),
        add,
        "dtypes",
        "narrowed too early",
        "bfloat16 is computed in 16 bits; widen with .to(tl.float32) after the load",
        only="interpreter",
        options=KNOWN,
    ),
    Entry(
        "relu loses nan",
        unary("relu without nan"),
        torch.relu,
        "values",
        "special values",
        "only where input 0 is nan",
        options=ONE,
    ),
    Entry(
        "square overflows",
        unary("abs by square root"),
        torch.abs,
        "values",
        "special values",
        "got inf, expected 8.51e+37 (input 0 is 8.51e+37 there)",
        options=ONE,
    ),
    Entry(
        "zero treated apart",
        unary("reciprocal, zero kept"),
        torch.reciprocal,
        "values",
        "special values",
        "zero",
        options=ONE,
    ),
    Entry(
        "exponential clamped",
        unary("exp, clamped"),
        torch.exp,
        "values",
        "special values",
        "inf",
        options={**ONE, **FP32},
    ),
    Entry(
        "negative slope forgotten",
        unary("leaky relu without slope"),
        F.leaky_relu,
        "result",
        None,
        "only where input 0 is negative",
        options=ONE,
    ),
    Entry(
        "a factor off by a thousandth",
        unary("cube through a constant"),
        lambda x: x * x * x,
        "result",
        None,
        "every element",
        options=ONE,
    ),
    Entry("works in place", in_place, add, "result", "input overwritten", "memory of input 0", options=KNOWN),
    Entry("input used as scratch", scratch, add, "memory", "input overwritten", options=KNOWN),
    Entry("cached by shape", cached_by(lambda x: (x.shape, x.dtype)), add, "calls", "cached answer", options=KNOWN),
    Entry(
        "cached by address",
        cached_by(lambda x: (x.data_ptr(), x.shape, x.dtype)),
        add,
        "calls",
        "cached answer",
        options=KNOWN,
    ),
    Entry("one output buffer for all calls", one_buffer(), add, "calls", None, "a later call changed", options=KNOWN),
    Entry(
        "always returns float32",
        lambda x, y: x.float() + y.float(),
        add,
        "dtypes",
        None,
        "is float32, expected float16",
        options=KNOWN,
    ),
    Entry(
        "returns a flat result",
        lambda x, y: flat(k.add_kernel)(x, y).flatten(),
        add,
        "shapes",
        None,
        "has shape",
        options=KNOWN,
    ),
    Entry(
        "returns a view of its input",
        lambda x: x.view(x.shape),
        torch.clone,
        "result",
        None,
        "memory of input 0",
        options=ONE,
    ),
    Entry("returns nothing", lambda x, y: None, add, "result", None, "is None"),
    Entry("wrong operation", flat(k.add_kernel), minus, "result", None, "every element", options=KNOWN),
    Entry(
        "fails on an empty tensor",
        refuses_empty,
        add,
        "shapes",
        None,
        "n=0, float32: raised ValueError: nothing to add",
        options=KNOWN,
    ),
    Entry("results swapped", both(swap=True), sum_and_difference, "result", None, "result 0", options=KNOWN),
    Entry(
        "second result not finished",
        both(forget=3),
        sum_and_difference,
        "result",
        "tail skipped",
        "result 1",
        options=KNOWN,
    ),
    Entry(
        "softmax pads with zeros", softmax(other=0.0), softmax_reference, "values", None, "all negative", options=ROWS
    ),
    Entry(
        "softmax without the maximum",
        softmax(shift=False),
        softmax_reference,
        "values",
        "special values",
        "large",
        options=ROWS,
    ),
    Entry(
        "row maximum pads with zero", row_max(0.0), lambda x: x.amax(1), "values", None, "all negative", options=ROWS
    ),
    Entry(
        "transpose masks rows only",
        transposed(columns=False),
        lambda x: x.t().clone(),
        "memory",
        None,
        options={"inputs": 1, **TABLES},
    ),
    Entry("matmul without a mask on K", matmul(mask=False), torch.matmul, "shapes", None, options=MATRICES),
    Entry(
        "matmul drops the last K block", matmul(divide=rounding_down), torch.matmul, "shapes", None, options=MATRICES
    ),
    Entry(
        "matmul through float16",
        matmul(narrow=True),
        torch.matmul,
        "result",
        "narrowed too early",
        "float16",
        options=MATRICES,
    ),
    Entry(
        "tl.dot with K of 8",
        matmul(block=8),
        torch.matmul,
        None if DOT_TAKES_8 else "kernel" if INTERPRETED else "result",
        None,
        options={**MATRICES, "kernel": k.matmul_kernel},
    ),
    Entry("kernel never launched", torch.add, add, "kernel", None, "never launched", options={"kernel": k.add_kernel}),
    Entry("wrong only when compiled", compiled_wrongly, add, "result", None, options=KNOWN),
    Entry("calls something wrong when compiled", lambda x, y: compiled_wrongly(x, y), add, "result", None),
    Entry("stub", stub, add, status="not attempted"),
    Entry("stub in the kernel", flat(k.stub_kernel), add, status="not attempted"),
    Entry(
        "sum with a race",
        total(atomic=False),
        lambda x: x.sum().reshape(1),
        "result",
        None,
        only="gpu",
        options={"inputs": 1, "shapes": [(64 * 512,)]},
    ),
    Entry(
        "matmul in TF32",
        matmul("tf32"),
        torch.matmul,
        "result",
        "narrowed too early",
        "TF32",
        only="gpu",
        options=MATRICES,
    ),
    Entry(
        "too much shared memory",
        matmul("tf32", block=1024),
        torch.matmul,
        "result",
        None,
        "raised",
        only="gpu",
        options={**MATRICES, "shapes": [(32, 32, 1024)]},
    ),
]

RIGHT = [
    *(
        Entry(f"add in blocks of {b}", flat(k.add_kernel, block=b), add, options={"block_size": b})
        for b in (64, 256, 1024, 4096)
    ),
    Entry("add, block not given", flat(k.add_kernel), add),
    Entry("two looping programs", looping(triton.cdiv), add, options=KNOWN),
    Entry("rejects views and bfloat16", strict, add, options=KNOWN),
    Entry("honours strides", strided(), add, options={**TABLES, "block_size": (16, 64)}),
    Entry("float64", flat(k.add_own_type_kernel), add, options={**KNOWN, "dtypes": [torch.float64]}),
    Entry("integers", flat(k.add_own_type_kernel), add, options={**KNOWN, "dtypes": [torch.int32, torch.int64]}),
    Entry("swiglu, widened", flat(k.swiglu_kernel, WIDEN=True, TYPE=tl.float32), swiglu_reference, options=KNOWN),
    Entry("swiglu, eager", lambda gate, up: F.silu(gate) * up, swiglu_reference),
    Entry(
        "swiglu, float32 then narrowed",
        lambda gate, up: (F.silu(gate.float()) * up.float()).to(gate.dtype),
        swiglu_reference,
    ),
    Entry("multiply and add, eager", lambda x, y, z: x * y + z, lambda x, y, z: x * y + z, options={"inputs": 3}),
    Entry("multiply and add, fused", torch.addcmul, lambda z, x, y: z + x * y, options={"inputs": 3}),
    Entry("gelu", unary("gelu"), gelu_reference, options=ONE),
    Entry("relu", unary("relu"), torch.relu, options=ONE),
    Entry(
        "packed halves", packed_swiglu, packed_swiglu_reference, options={"inputs": 1, "shapes": [(16, 64), (17, 122)]}
    ),
    Entry("two results", both(), sum_and_difference, options=KNOWN),
    Entry("transpose", transposed(columns=True), lambda x: x.t().clone(), options={"inputs": 1, **TABLES}),
    Entry("softmax", softmax(), softmax_reference, options=ROWS),
    Entry("softmax, eager", softmax_reference, softmax_reference, options=ROWS),
    Entry("row maximum", row_max(-float("inf")), lambda x: x.amax(1), options=ROWS),
    Entry(
        "rms norm",
        rms_norm,
        rms_norm_reference,
        options={"inputs": row_and_weight, "shapes": [(4, 64), (3, 100), (5, 257)]},
    ),
    Entry("matmul", matmul(), torch.matmul, options=MATRICES),
    Entry("matmul, eager", torch.matmul, torch.matmul, options=MATRICES),
    Entry(
        "sum of atomics",
        total(atomic=True),
        lambda x: x.sum().reshape(1),
        options={"inputs": 1, "shapes": [(1000,), (1,), (257,), (5, 200)]},
    ),
    Entry("custom operator", add_operator, add, options=KNOWN),
    Entry("autograd function", AddFunction.apply, add, options=KNOWN),
    Entry("compared as booleans", torch.gt, torch.gt),
    Entry("compiled by torch.compile", torch.compile(swiglu_reference), swiglu_reference, slow=True),
]


def main(names: list[str]) -> None:
    """Prints one line for each entry, or the reports of those named. A GPU survives `fatal` entries only if named."""
    chosen = [e for e in [*WRONG, *RIGHT] if e.name in names or not names]
    for entry in chosen:
        if not entry.applies() or (entry.fatal and not INTERPRETED and not names):
            print(f"{entry.name:<36} not in this mode")
            continue
        start = time.perf_counter()
        report = entry.check()
        seconds = time.perf_counter() - start
        rows, causes = [p.row for p in report.problems], [p.cause for p in report.problems if p.cause]
        row, cause = (rows[0], (causes or ["cause unknown"])[0]) if rows else ("", "")
        print(f"{entry.name:<36} {report.status:<14} {row:<8} {cause:<26} {seconds:>5.2f} s", flush=True)
        if names:
            print(report)


if __name__ == "__main__":
    main(sys.argv[1:])
