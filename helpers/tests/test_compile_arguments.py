"""What `compiled` takes: kernels, types, values as a launch sees them; all else is refused and what to give is said."""

from helpers.compiler.compiling import compiled
from helpers.compiler.types import launched_type, valid_type
from helpers.tests.other_kernels import VECTORS, add_kernel

import re

import pytest
import torch
import triton

TAKES = "add_kernel takes x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE"


@triton.jit
def shifted(x):
    return x * 2.5


@pytest.mark.parametrize(("n_elements", "offset", "bits"), [(1024, 0, 128), (1000, 0, 32), (1024, 1, 32), (1, 0, 32)])
def test_values_are_seen_as_a_launch_sees_them(n_elements, offset, bits):
    x = torch.zeros(2048)[offset:]
    values = {"x_ptr": x, "y_ptr": x, "out_ptr": x, "n_elements": n_elements}
    assert compiled(add_kernel, values, {"BLOCK_SIZE": 1024}).load_bits == bits


def launcher(x):
    add_kernel[(1,)](x, x, x, 8, BLOCK_SIZE=8)


@pytest.mark.parametrize(
    ("kernel", "types", "constexprs", "options", "says"),
    [
        (launcher, VECTORS, {}, {}, "launcher is a launcher; give the kernel that it launches: add_kernel"),
        (add_kernel[(1,)], VECTORS, {}, {}, r"without a grid: add_kernel, not add_kernel\[grid\]"),
        (shifted, {"x": "fp32"}, {}, {}, "shifted returns a value, so it is a device function"),
        (add_kernel, {"x_ptr": "*fp32"}, {"BLOCK_SIZE": 256}, {}, TAKES),
        (add_kernel, {**VECTORS, "BLOCK_SIZE": "i32"}, {"BLOCK_SIZE": 256}, {}, TAKES),
        (add_kernel, VECTORS, {}, {}, TAKES),
        (3, {}, {}, {}, "must be a @triton.jit function, not int"),
        (add_kernel, VECTORS, {"BLOCKSIZE": 256}, {}, "no argument 'BLOCKSIZE': did you mean BLOCK_SIZE"),
        (add_kernel, {**VECTORS, "q": "i32"}, {"BLOCK_SIZE": 256}, {}, "no argument 'q': it takes x_ptr, y_ptr"),
        (add_kernel, {**VECTORS, "x_ptr": "*float32"}, {"BLOCK_SIZE": 256}, {}, r'did you mean "\*fp32"'),
        (add_kernel, {**VECTORS, "n_elements": "int"}, {"BLOCK_SIZE": 256}, {}, 'did you mean "i32"'),
        (add_kernel, {**VECTORS, "n_elements": "i33"}, {"BLOCK_SIZE": 256}, {}, 'did you mean "i3'),
        (add_kernel, {**VECTORS, "n_elements": None}, {"BLOCK_SIZE": 256}, {}, r"types\['n_elements'\]"),
        (add_kernel, VECTORS, {"BLOCK_SIZE": 256}, {"target": "hopper"}, "target is 'hopper'"),
        (add_kernel, VECTORS, {"BLOCK_SIZE": 256}, {"not_divisible": ("n",)}, "not_divisible names n"),
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


@pytest.mark.parametrize(
    ("value", "kind"),
    [(True, "i1"), (16, "i32"), (17, "i32, odd"), (1, "one"), (0, "i32"), (2**31, "i64"), (-(2**31), "i32"),
     (-(2**31) - 16, "i64"), (2**63, "u64"), (2**31 - 1, "i32, odd"), (1.0, "fp32"),
     (torch.zeros(8, dtype=torch.int8)[1:], "*i8, odd"),
     (torch.zeros(8, dtype=torch.bfloat16), "*bf16")],
)  # fmt: skip
def test_what_a_launch_sees_in_a_value(value, kind):
    assert launched_type("x", value) == kind
