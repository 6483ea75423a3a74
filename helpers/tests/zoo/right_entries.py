"""Right kernels, which must pass."""

from helpers.tests.zoo import kinds as z
from helpers.tests.zoo.entry import right
from helpers.tests.zoo.kinds import KNOWN, ONE, add, flat, rows, unary

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

# fmt: off

for block in (64, 256, 1024, 4096):
    right(f"add in blocks of {block}", add(block=block), block_size=block)
right("add, block not given", add())
right("two looping programs", z.looping(divide=triton.cdiv), **KNOWN)
right("the same numbers stored twice", add("the same twice"), **KNOWN)
right("rejects views and bfloat16", z.strict, **KNOWN)
right("honours strides", z.strided(), block_size=(16, 64), **z.TABLES)
right("takes views where it must", z.strided(), **z.VIEWS)
right("float64", flat(z.add_own_type_kernel), dtypes=[torch.float64], **KNOWN)
right("integers", flat(z.add_own_type_kernel), block_size=z.B,
      dtypes=[torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8])
right("booleans", lambda x, y: x ^ y, torch.logical_xor, dtypes=[torch.bool])
right("swiglu, widened", flat(z.swiglu_kernel, TYPE=tl.float32), z.swiglu_reference, **KNOWN)
right("swiglu, eager", lambda gate, up: F.silu(gate) * up, z.swiglu_reference)
right("swiglu, float32 then narrowed", lambda gate, up: (F.silu(gate.float()) * up.float()).to(gate.dtype),
      z.swiglu_reference)
right("gradients", z.swiglu_gradients(), z.swiglu_gradients_reference, **z.GRADIENTS)
right("gradients, eager", lambda *x: z.swiglu_gradients_reference(*x), z.swiglu_gradients_reference, **z.GRADIENTS)
right("multiply and add, eager", lambda x, y, z: x * y + z, lambda x, y, z: x * y + z, inputs=3)
right("multiply and add, fused", torch.addcmul, lambda z, x, y: z + x * y, inputs=3)
right("gelu", unary("gelu"), lambda x: x * torch.sigmoid(1.702 * x), **ONE)
right("gelu, exact where the reference cancels", unary("gelu, exact where tanh cancels"),
      lambda x: F.gelu(x, approximate="tanh"), **ONE)
right("derivative of silu", unary("derivative of silu"), z.silu_derivative_reference, **ONE)
right("relu", unary("relu"), torch.relu, **ONE)
right("relu that keeps nan", unary("relu that keeps nan"), torch.relu, **ONE)
right("clamp that keeps nan", unary("clamp that keeps nan"), lambda x: x.clamp(-1, 1), **ONE)
right("exp", unary("exp"), torch.exp, **ONE)
right("libdevice", unary("tanh"), torch.tanh, only="gpu", **ONE)
right("math.pi", unary("turns"), lambda x: x / 6.283185307179586, kernel=z.unary_kernel, **ONE)
right("a constexpr global", unary("logarithm to base 2"), torch.log2, kernel=z.unary_kernel, **ONE)
right("packed halves", z.packed_swiglu, lambda packed: z.swiglu_reference(*packed.chunk(2, -1)), inputs=1,
      shapes=[(16, 64), (17, 122)])
right("two results", z.both(), z.sum_and_difference, **KNOWN)
right("transpose", z.transposed(columns=True), lambda x: x.t().clone(), inputs=1, **z.TABLES)
right("softmax", rows(op="softmax"), z.softmax_reference, **z.ROWS)
right("softmax, eager", z.softmax_reference, z.softmax_reference, **z.ROWS)
right("sum of rows", rows(op="sum", other=0.0), lambda x: x.sum(1), **z.ROWS)
right("row maximum", rows(op="max"), lambda x: x.amax(1), **z.ROWS)
right("row maximum and its place", z.max_and_place(), lambda x: x.max(1), **z.ROWS)
right("rms norm", z.rms_norm(), z.rms_norm_reference, **z.NORM)
right("rms norm that divides", z.rms_norm(divide=True), z.rms_norm_reference, **z.NORM)
right("rms norm, a weight with a stride", z.rms_norm(), z.rms_norm_reference, inputs=z.row_and_every_second_weight,
      shapes=[(4, 64), (3, 100)])
right("gather", z.gather(), lambda x, places: x[places], **z.GATHER)
right("matmul", z.matmul(), torch.matmul, **z.MATRICES)
right("matmul, eager", torch.matmul, torch.matmul, **z.MATRICES)
right("sum of atomics", z.total(atomic=True), lambda x: x.sum().reshape(1), inputs=1,
      shapes=[(1000,), (1,), (257,), (5, 200)])
right("logarithm, nan where the reference has it", torch.log, torch.log, inputs=1)
right("custom operator", z.add_operator, **KNOWN)
right("autograd function", z.AddFunction.apply, **KNOWN)
right("compared as booleans", torch.gt, torch.gt)
right("compiled by torch.compile", torch.compile(z.swiglu_reference), z.swiglu_reference, slow=True)

# fmt: on
