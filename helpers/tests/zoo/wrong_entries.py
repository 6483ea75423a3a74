"""Wrong kernels, each with what is wrong with it: what `check` says first, and the likely cause that it names."""

from helpers.device import INTERPRETED
from helpers.tests.zoo import kinds as z
from helpers.tests.zoo.entry import wrong
from helpers.tests.zoo.kinds import KNOWN, ONE, add, flat, rounding_down, rows, unary

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

INTEGERS = {**KNOWN, "dtypes": [torch.int32]}
ORDER = {"row": "order"} if INTERPRETED else {"status": "failed"}  # a GPU may show it at once
TRITON = tuple(map(int, triton.__version__.split(".")[:2]))
DOT_TAKES_8 = TRITON >= (3, 8)  # until then the compiler wants K >= 16

# fmt: off

# Elements that no program computes

wrong("grid rounded down", add(grid=rounding_down), row="shapes", cause="grid rounded down", **KNOWN,
      says="every element from 256 on")
wrong("grid rounded down, block not given", add(grid=rounding_down), row="shapes", cause="grid rounded down",
      says="at BLOCK_SIZE=256")
wrong("2-D grid rounded down", z.strided(divide=rounding_down), row="shapes", cause="grid rounded down", **z.TABLES)
wrong("loop rounded down", z.looping(divide=rounding_down), row="shapes", cause="tail skipped", **KNOWN)
wrong("if without else", add("if without else"), row="shapes", cause="tail skipped", **KNOWN)
wrong("one program short", add(grid=lambda n, b: max(triton.cdiv(n, b) - 1, 0)), row="result",
      cause="too few programs", says="the last block", **KNOWN)
wrong("one program only", add(grid=lambda n, b: min(n, 1)), row="result", cause="too few programs", **KNOWN)
wrong("no program id", add("no program id"), row="result", cause="program id forgotten", **KNOWN)
wrong("no store", add("no store"), row="result", cause="nothing stored", **KNOWN)
wrong("never launches", z.never_launches, row="result", cause="nothing launched", **KNOWN)
wrong("mask stops one short", add("short mask"), row="result", cause="tail skipped", says="last element", **KNOWN)
wrong("blocks overlap by one", add("overlap"), row="result", cause="tail skipped", **KNOWN)
wrong("second result not finished", z.both(forget=3), z.sum_and_difference, row="result", cause="tail skipped",
      says="result 1: first wrong", **KNOWN)
wrong("store masked by value", add("by value"), row="result", **KNOWN,
      says="only where input 0 is negative, the store's mask leaves these out")
wrong("wrong from the 32nd program on", add("late programs"), row="shapes", says="every element from 7936", **KNOWN)

# Memory

wrong("store without a mask", add("store without mask"), row="memory", cause="mask missing on the store", **KNOWN,
      says="elements 257 to 511")
wrong("store without a mask, block not given", add("store without mask"), row="memory",
      cause="mask missing on the store", says="`tl.store(out_ptr + offsets, x + y)`")
wrong("2-D store without a mask", z.strided(masked=False), **ORDER, cause="mask missing on the store", **z.TABLES)
wrong("rows stored without a mask", rows(op="softmax", MASKED=False), z.softmax_reference, **ORDER,
      cause="mask missing on the store", **z.ROWS)
wrong("writes into the next block", add("into the next block"), **ORDER, **KNOWN,
      cause="order of programs" if INTERPRETED else None, says="on a GPU programs" if INTERPRETED else "")
wrong("one program too many, and no mask", add("store without mask", grid=lambda n, b: n // b + 1), row="memory",
      cause="mask missing on the store", says="elements 768 to 1023", block_size=z.B, shapes=[(768,), (257,)])
wrong("stores where there is no element", add("store without mask", grid=lambda n, b: n // b + 1), row="memory",
      cause="mask missing on the store", says="n=0, float32: there is no element", only="interpreter", **KNOWN)
wrong("load without a mask", add("load without mask"), row="memory", cause="mask missing on the load", **KNOWN,
      says="reads past the end of input 1", only="interpreter")
wrong("reads before the start", add("reads before"), row="memory", says="reads before the start of input 0",
      only="interpreter", **KNOWN)
wrong("every program reads before the start", add("first reads before", block=1024), row="memory", block_size=1024,
      cause="mask missing on the load", says="reads before the start of input 0", only="interpreter")
wrong("reads on both sides", add("reads both sides"), row="memory", says="reads outside of input 0",
      only="interpreter", **KNOWN)
wrong("stores before the start", add("stores before"), row="memory", says="element -1.", **KNOWN)
wrong("mask with <=", add("long mask"), row="memory", cause="mask too wide", says=": element 257.", **KNOWN)
wrong("transpose masks rows only", z.transposed(columns=False), lambda x: x.t().clone(), row="memory",
      cause="mask too wide", inputs=1, **z.TABLES)
wrong("offsets far outside", add("far"), row="memory", status="failed", fatal=True, **KNOWN)
wrong("stores shifted by one", add("shifted"), row="result", cause="results shifted", **KNOWN)
wrong("offsets in bytes", add("bytes"), row="result", cause="offsets in bytes", **KNOWN)
wrong("accumulates into torch.empty", add("accumulates"), row="result", cause="output not set", **KNOWN)
wrong("works in place", z.in_place, row="result", cause="input overwritten", says="lambda x: f(x.clone())", **KNOWN)
wrong("input used as scratch", z.scratch, row="memory", cause="input overwritten", **KNOWN)

# Calls

wrong("cached by shape", z.cached_by(lambda x: (x.shape, x.dtype)), row="calls", cause="cached answer", **KNOWN)
wrong("cached by address", z.cached_by(lambda x: (x.data_ptr(), x.shape, x.dtype)), row="calls",
      cause="cached answer", **KNOWN)
wrong("one output buffer for all calls", z.one_buffer(), row="calls", says="a later call changed", **KNOWN)
wrong("wrong in every seventh call", z.every_seventh_call(add()), status="failed", **KNOWN,
      says="The same call gives different answers")
wrong("sum with a race", z.total(atomic=False), lambda x: x.sum().reshape(1), row="result", only="gpu", inputs=1,
      says="The same call gives different answers", shapes=[(64 * 512,)])

# Layouts

wrong("strides ignored", z.trusting, row="layouts", cause="strides ignored", **KNOWN)
wrong("strides of x used for y", z.strided(strides_of=lambda x, y: (x.stride(), x.stride())), row="layouts",
      cause="strides ignored", says="a stride of input 1 is ignored or swapped", **z.TABLES)
wrong("column strides ignored", z.strided(strides_of=lambda x, y: ((x.stride(0), 1), (y.stride(0), 1))), row="layouts",
      cause="strides ignored", says="is ignored or swapped", **z.TABLES)
wrong("output has strides of its own", z.strided(out_like=torch.empty_like), row="layouts", cause="strides ignored",
      **z.TABLES)
wrong("wrong for views, whatever their strides", lambda x, y: z.strided()(x, y) * (1.0 if x.is_contiguous() else 1.5),
      row="layouts", says="Cause unknown", **z.TABLES)
wrong("stride of a weight ignored", z.rms_norm(honest=False), z.rms_norm_reference, row="layouts",
      cause="strides ignored", says="(input 1 only)", **z.NORM)
wrong("stride of places ignored", z.gather(honest=False), lambda x, places: x[places], row="layouts",
      says="Only layouts of input 1 come out wrong", **z.GATHER)
wrong("stride of a gradient ignored", z.swiglu_gradients(honest=False), z.swiglu_gradients_reference, row="layouts",
      cause="strides ignored", **z.GRADIENTS)
wrong("rejects views where that is forbidden", z.strict, row="layouts", says="rejected a view", **z.VIEWS)
wrong("copies views where that is forbidden", add(), row="layouts", says="made a copy (contiguous of input 0)",
      **z.VIEWS)

# Precision and types

wrong("inputs through float16", flat(z.add_narrow_kernel, TYPE=tl.float16, AT="load"), row="result",
      cause="narrowed too early", says="inputs rounded to float16", **KNOWN)
wrong("inputs through bfloat16", flat(z.add_narrow_kernel, TYPE=tl.bfloat16, AT="load"), row="result",
      cause="narrowed too early", says="bfloat16", **KNOWN)
wrong("result through float16", flat(z.add_narrow_kernel, TYPE=tl.float16, AT="store"), row="result",
      cause="narrowed too early", says="every result is a float16 number", **KNOWN)
wrong("float64 through float32", add(), row="result", cause="narrowed too early", says="float32", **KNOWN,
      dtypes=[torch.float64])
wrong("silu through float16", flat(z.swiglu_kernel, TYPE=tl.float16), z.swiglu_reference, row="result",
      cause="narrowed too early", **KNOWN)
wrong("gradients through float16", z.swiglu_gradients(narrow=True), z.swiglu_gradients_reference, row="result",
      cause="narrowed too early", **z.GRADIENTS)
wrong("derivative through float16", unary("derivative of silu through float16"), z.silu_derivative_reference,
      row="result", cause="narrowed too early", **ONE)
wrong("sigmoid of 16 bits", flat(z.swiglu_kernel, TYPE=None), z.swiglu_reference, row="dtypes", says="raised", **KNOWN)
wrong("powers in the narrow type", unary("eighth power in the narrow type"), lambda x: x**8, row="dtypes",
      cause="narrowed too early", **ONE)
wrong("bfloat16 not widened", flat(z.add_own_type_kernel), row="dtypes", cause="narrowed too early", **KNOWN,
      says="bfloat16 is computed in 16 bits", only="interpreter")
wrong("integers through float32", flat(z.add_own_type_kernel, TYPE=tl.float32), row="values",
      cause="integers narrowed", says="computed as float32", **INTEGERS)
wrong("integers through int16", flat(z.add_own_type_kernel, TYPE=tl.int16), row="values", cause="integers narrowed",
      says="computed as int16", **INTEGERS)
wrong("always returns float32", lambda x, y: x.float() + y.float(), row="dtypes", says="is float32, expected float16")

# Values

wrong("relu loses nan", unary("relu by maximum"), torch.relu, row="values", cause="special values",
      says="only where input 0 is nan", **ONE)
wrong("clamp loses nan", unary("clamp"), lambda x: x.clamp(-1, 1), row="values", cause="special values",
      says="only where input 0 is nan", **ONE)
wrong("square overflows", unary("abs by square root"), torch.abs, row="values", cause="special values", **ONE,
      says="got inf, expected 8.51e+37 (input 0 is 8.51e+37 there)")
wrong("zero treated apart", unary("reciprocal, zero kept"), torch.reciprocal, row="values", cause="special values",
      says="zero", **ONE)
wrong("exponential clamped", unary("exp, clamped"), torch.exp, row="values", cause="special values", says="inf", **ONE,
      dtypes=[torch.float32])
wrong("negative slope forgotten", unary("leaky relu without slope"), F.leaky_relu, row="result", **ONE,
      says="only where input 0 is negative")
wrong("a factor off by a thousandth", unary("cube through a constant"), lambda x: x * x * x, row="result", **ONE,
      says="Cause unknown")
wrong("wrong operation", add(), torch.sub, row="result", says="Cause unknown", **KNOWN)
wrong("softmax pads with zeros", rows(op="softmax", other=0.0), z.softmax_reference, row="values",
      cause="padding in a reduction", says="all negative", **z.ROWS)
wrong("softmax pads with -50", rows(op="softmax", other=-50.0), z.softmax_reference, row="values",
      cause="padding in a reduction", says="far below zero", **z.ROWS)
wrong("softmax without the maximum", rows(op="softmax without the maximum"), z.softmax_reference, row="values",
      cause="maximum not subtracted", **z.ROWS)
wrong("row maximum pads with zero", rows(op="max", other=0.0), lambda x: x.amax(1), row="values",
      cause="padding in a reduction", **z.ROWS)
wrong("place of the maximum without nan", z.max_and_place(nan=False), lambda x: x.max(1), row="values",
      cause="special values", says="result 1", only="gpu", **z.ROWS)
wrong("sum pads with one", rows(op="sum", other=1.0), lambda x: x.sum(1), row="shapes",
      cause="padding in a reduction", **z.ROWS)

# What is returned

wrong("returns a flat result", lambda x, y: add()(x, y).flatten(), row="shapes", says="has shape", **KNOWN)
wrong("returns a view of its input", lambda x: x.view(x.shape), torch.clone, row="result", says="memory of input 0",
      inputs=1)
wrong("returns nothing", lambda x, y: None, row="result", says="does the launcher end with `return out`?")
wrong("fails on an empty tensor", z.refuses_empty, row="shapes", says="n=0, float32: raised ValueError: nothing")
wrong("takes tables only", z.only_tables, row="result", says="if it takes only some shapes, give them: shapes=[(17")
wrong("results swapped", z.both(swap=True), z.sum_and_difference, row="result", cause="results swapped", **KNOWN)

# Products of matrices

wrong("matmul without a mask on K", z.matmul(mask=False), torch.matmul, row="shapes", cause="reads past the end",
      **z.MATRICES)
wrong("matmul drops the last K block", z.matmul(divide=rounding_down), torch.matmul, row="shapes",
      cause="reduction cut short", says="64 of 70", **z.MATRICES)
wrong("matmul reads b transposed", z.matmul(b_transposed=True), torch.matmul, row="result",
      cause="operand transposed", says="input 1 read transposed", **z.MATRICES)
wrong("matmul with its grid rounded down", z.matmul(grid=rounding_down), torch.matmul, row="shapes",
      cause="grid rounded down", **z.MATRICES)
wrong("matmul through float16", z.matmul(narrow=True), torch.matmul, row="result", cause="narrowed too early",
      says="float16", **z.MATRICES)
wrong("matmul in TF32", z.matmul(precision="tf32"), torch.matmul, row="result", cause="TF32", only="gpu", **z.MATRICES,
      says='input_precision="ieee"')
wrong("too much shared memory", z.matmul(precision="tf32", block=1024), torch.matmul, row="result", says="raised",
      only="gpu", inputs=z.matrices, shapes=[(32, 32, 1024)])
wrong("tl.dot with K of 8", z.matmul(block=8), torch.matmul, kernel=z.matmul_kernel, **z.MATRICES,
      row=None if DOT_TAKES_8 else "kernel" if INTERPRETED else "result")

# Python instead of Triton, and Triton that is not there

wrong("`and` between masks", flat(z.add_and_kernel), row="memory", cause="Python's logic in a kernel", **KNOWN,
      says="`mask = offsets < n_elements and offsets >= 0`", only="interpreter")
if TRITON < (3, 9):  # from then on it is what it is in Python
    wrong("chained comparison in a mask", flat(z.add_chained_kernel), row="kernel" if INTERPRETED else "result",
          **KNOWN, cause="Python's logic in a kernel", says="write & for and", kernel=z.add_chained_kernel)
wrong("kernel never launched", torch.add, row="kernel", says="never launched", kernel=z.add_kernel)
wrong("PyTorch's answer after a launch", z.answered_by_torch, row="kernel", says="PyTorch made it", kernel=z.add_kernel)
wrong("wrong only when compiled", z.compiled_wrongly, row="result", **KNOWN)
wrong("calls something wrong when compiled", lambda x, y: z.compiled_wrongly(x, y), row="result")
wrong("stub", z.stub, status="not attempted")
wrong("stub in the kernel", flat(z.stub_kernel), status="not attempted")
wrong("stub above finished code", flat(z.unfinished_kernel), status="not attempted",
      says="still stands above the code of unfinished_kernel: delete that line")

# fmt: on
