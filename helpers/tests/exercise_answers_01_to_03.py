"""Answers to the exercises of *From CUDA to Triton*, *Vector add* and *A fused SwiGLU*."""

from helpers.tests.exercise_answers import Exercise

SCALE = Exercise(
    "01_from_cuda_to_triton",
    "scale-kernel",
    wrong={
        "no program id": ("program id forgotten", "pid * BLOCK_SIZE + ", ""),
        "steps of one": ("every element from 258 on", "pid * BLOCK_SIZE + ", "pid + "),
        "steps of 128 threads": ("x", "pid * BLOCK_SIZE", "pid * 128"),
        "in bytes": ("x", "offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)",
                     "offsets = 4 * (pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE))"),
        "counts from one": ("x", "pid * BLOCK_SIZE + ", "pid * BLOCK_SIZE + 1 + "),
        "the first element only": ("x", " + tl.arange(0, BLOCK_SIZE)", ""),
        "half a block": ("x", "tl.arange(0, BLOCK_SIZE)", "tl.arange(0, BLOCK_SIZE // 2)"),
        "how many instead of which": ("x", "tl.program_id(0)", "tl.num_programs(0)"),
        "the other axis": ("x", "tl.program_id(0)", "tl.program_id(1)"),
    },
    right={
        "one line": (1, "offsets = tl.arange(0, BLOCK_SIZE) + tl.program_id(axis=0) * BLOCK_SIZE"),
        "last block first": ("pid * BLOCK_SIZE", "(tl.num_programs(0) - 1 - pid) * BLOCK_SIZE"),
        "every nth element": (1, "offsets = tl.program_id(0) + tl.num_programs(0) * tl.arange(0, BLOCK_SIZE)"),
    },
)  # fmt: skip

SUBTRACT = Exercise(
    "01_from_cuda_to_triton",
    "subtract-kernel",
    wrong={
        "as it was": ("x", "tl.program_id(0) * BLOCK_SIZE", "tl.program_id(0) * 128"),
        "twice the programs": ("x", "x.numel() // 256", "x.numel() // 128"),
        "every element twice": ("x", "tl.program_id(0) * BLOCK_SIZE", "tl.program_id(0) * 128",
                                "x.numel() // 256", "x.numel() // 128 - 1"),
        "halves that overlap at the end": ("x", "tl.program_id(0) * BLOCK_SIZE", "tl.program_id(0) * 128",
                                           "x.numel() // 256", "x.numel() // 128"),
        "a block of 128": ("x", "BLOCK_SIZE=256", "BLOCK_SIZE=128"),
        "one program an element": ("x", "x.numel() // 256", "x.numel()"),
        "the other way round": ("x", "tl.load(x_ptr + offsets) - tl.load(y_ptr + offsets)",
                                "tl.load(y_ptr + offsets) - tl.load(x_ptr + offsets)"),
        "the address of y": ("x", "tl.load(y_ptr + offsets)", "y_ptr"),
        "no program id": ("x", "tl.program_id(0) * BLOCK_SIZE + ", ""),
        "PyTorch": ("x", 2, "out = x - y"),
        "PyTorch beside a launch": ("x", "    return out", "    return x - y"),
    },
    right={
        "blocks of 128": ("x.numel() // 256", "x.numel() // 128", "BLOCK_SIZE=256", "BLOCK_SIZE=128"),
        "two halves": (1, """
            for half in range(2):
                offsets = tl.program_id(0) * BLOCK_SIZE + half * 128 + tl.arange(0, 128)
                tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) - tl.load(y_ptr + offsets))
        """),
        "the grid as a function": (2, """
            grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)
            subtract_kernel[grid](x, y, out, BLOCK_SIZE=256, num_warps=8)
        """),
    },
)  # fmt: skip

RELU = Exercise(
    "01_from_cuda_to_triton",
    "relu-kernel",
    wrong={
        "positive instead of negative": ("x", "tl.where(y < 0, 0.0, y)", "tl.where(y > 0, y, 0.0)"),
        "maximum": ("x", "tl.where(y < 0, 0.0, y)", "tl.maximum(y, 0.0)"),
        "no relu": ("x", "tl.where(y < 0, 0.0, y)", "y"),
        "relu before b": ("x", "y = x * w + b", "y = x * w", "tl.where(y < 0, 0.0, y)", "tl.where(y < 0, 0.0, y) + b"),
        "x * (w + b)": ("x", "x * w + b", "x * (w + b)"),
        "through memory": ("x", "y = x * w + b", "tl.store(out_ptr + offsets, x * w); y = tl.load(out_ptr + offsets) + b"),
        "w once": ("x", "tl.load(w_ptr + offsets)", "tl.load(w_ptr)"),
        "relu in PyTorch": ("x", "tl.where(y < 0, 0.0, y)", "y", "return out", "return torch.relu(out)"),
        "torch in the kernel": ("x", "tl.where(y < 0, 0.0, y)", "torch.relu(y)"),
        "if": ("x", "tl.where(y < 0, 0.0, y)", "0.0 if y < 0 else y"),
        "stub left": ("x", "    ### BEGIN SOLUTION", "    raise NotImplementedError()"),
    },
    right={
        "the mask of a multiplication": ("tl.where(y < 0, 0.0, y)", "tl.where((y > 0) | (y != y), y, 0.0)"),
        "maximum that keeps nan": ("tl.where(y < 0, 0.0, y)", "tl.maximum(y, 0.0, propagate_nan=tl.PropagateNan.ALL)"),
        "fused multiply-add": ("x * w + b", "tl.fma(x, w, b)"),
    },
)  # fmt: skip

NEGATE = Exercise(
    "02_vector_add",
    "negate-kernel",
    wrong={
        "no mask": ("x", ", mask=mask", ""),
        "mask on the load only": ("x", "-x, mask=mask", "-x"),
        "mask on the store only": ("x", "tl.load(x_ptr + offsets, mask=mask)", "tl.load(x_ptr + offsets)"),
        "one too many": ("x", "offsets < n_elements", "offsets <= n_elements"),
        "one too few": ("x", "offsets < n_elements", "offsets < n_elements - 1"),
        "within the block": ("x", "offsets < n_elements", "tl.arange(0, BLOCK_SIZE) < n_elements"),
        "the program's mask": ("x", "offsets < n_elements", "tl.program_id(0) * BLOCK_SIZE < n_elements"),
        "full blocks only": ("x", "offsets < n_elements", "offsets < n_elements // BLOCK_SIZE * BLOCK_SIZE"),
        "not negated": ("x", "-x", "x"),
        "other instead of a mask on the store": ("x", "x_ptr + offsets, mask=mask", "x_ptr + offsets, mask=mask, other=0.0", "-x, mask=mask", "-x"),
        "a chained comparison": ("x", "offsets < n_elements", "0 <= offsets < n_elements"),
        "and": ("x", "offsets < n_elements", "(offsets >= 0) and (offsets < n_elements)"),
        "mask in the address": ("x", "tl.load(x_ptr + offsets, mask=mask)", "tl.load(x_ptr + offsets * mask)", "-x, mask=mask", "-x"),
    },
    right={
        "zero minus x": ("-x", "0.0 - x", "offsets < n_elements", "~(offsets >= n_elements)"),
        "a branch for whole blocks": (1, """
            if tl.program_id(0) * BLOCK_SIZE + BLOCK_SIZE <= n_elements:
                tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets))
            else:
                mask = offsets < n_elements
                tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets, mask), mask)
        """),
        "the last element again and again": (1, """
            inside = tl.minimum(offsets, n_elements - 1)
            tl.store(out_ptr + inside, -tl.load(x_ptr + inside))
        """),
    },
)  # fmt: skip

MULTIPLY = Exercise(
    "02_vector_add",
    "multiply-kernel",
    wrong={
        "as it was": ("x", 1, """
            mask = offsets <= n_elements
            tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * tl.load(y_ptr + offsets))
        """, 2, "multiply_kernel[(x.numel() // 256,)](x, y, out, x.numel(), BLOCK_SIZE=256)"),
        "the mask mended only": ("x", "y_ptr + offsets, mask=mask", "y_ptr + offsets", "x * y, mask=mask", "x * y",
                                 "triton.cdiv(x.numel(), 256)", "x.numel() // 256"),
        "<= left": ("x", "offsets < n_elements", "offsets <= n_elements"),
        "y without a mask": ("x", "y_ptr + offsets, mask=mask", "y_ptr + offsets"),
        "store without a mask": ("x", "x * y, mask=mask", "x * y"),
        "// left": ("x", "triton.cdiv(x.numel(), 256)", "x.numel() // 256"),
        "one program an element": ("x", "triton.cdiv(x.numel(), 256)", "triton.cdiv(x.numel(), 1)"),
        "one program more": ("x", "triton.cdiv(x.numel(), 256)", "x.numel() // 256 + 1"),
        "steps of 128": ("x", "tl.program_id(0) * BLOCK_SIZE", "tl.program_id(0) * 128",
                         "triton.cdiv(x.numel(), 256)", "triton.cdiv(x.numel(), 128)"),
        "PyTorch": ("x", "    return out", "    return x * y"),
        "the sum": ("x", "x * y", "x + y"),
    },
    right={
        "a larger block": ("triton.cdiv(x.numel(), 256)", "triton.cdiv(x.numel(), 1024)", "BLOCK_SIZE=256)", "BLOCK_SIZE=1024)"),
        "rounded up by hand": ("triton.cdiv(x.numel(), 256)", "(x.numel() + 255) // 256"),
        "in one line, the grid as a function": (1, """
            mask = (offsets < n_elements)
            tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask) * tl.load(y_ptr + offsets, mask, other=1.0), mask)
        """, 2, 'multiply_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)](x, y, out, x.numel(), BLOCK_SIZE=256)'),
    },
)  # fmt: skip

CLAMP = Exercise(
    "02_vector_add",
    "clamp-kernel",
    wrong={
        "tl.clamp": ("x", "tl.where(x < 0, 0.0, tl.where(x > 1, 1.0, x))", "tl.clamp(x, 0.0, 1.0)"),
        "minimum and maximum": ("x", "tl.where(x < 0, 0.0, tl.where(x > 1, 1.0, x))", "tl.minimum(tl.maximum(x, 0.0), 1.0)"),
        "greater than 0": ("x", "tl.where(x < 0, 0.0, tl.where(x > 1, 1.0, x))", "tl.where(x > 0, tl.where(x > 1, 1.0, x), 0.0)"),
        "below only": ("x", "tl.where(x < 0, 0.0, tl.where(x > 1, 1.0, x))", "tl.where(x < 0, 0.0, x)"),
        "from -1 to 1": ("x", "tl.where(x < 0, 0.0,", "tl.where(x < -1, -1.0,"),
        "no rejection": ("x", '    check_elementwise("clamp", FLOATS, x=x)\n', ""),
        "a copy": ("x", 'check_elementwise("clamp", FLOATS, x=x)', "x = x.contiguous()"),
        "layout not rejected": ("x", 'check_elementwise("clamp", FLOATS, x=x)', 'check_elementwise("clamp", FLOATS, x=x.contiguous())\n    x = x.contiguous()'),
        "types not rejected": ("x", 'check_elementwise("clamp", FLOATS, x=x)', 'assert x.is_contiguous(), "x is not contiguous"'),
        "in place": ("x", "out = torch.empty_like(x)", "out = x"),
        "PyTorch": ("x", "    return out", "    return x.clamp(0, 1)"),
        "forgets to return": ("x", "    return out", "    pass"),
        "grid rounded down": ("x", "triton.cdiv(x.numel(), 256)", "x.numel() // 256"),
        "one program an element": ("x", "triton.cdiv(x.numel(), 256)", "triton.cdiv(x.numel(), 1)"),
        "a chained comparison": ("x", "tl.where(x < 0, 0.0, tl.where(x > 1, 1.0, x))", "tl.where(0 < x < 1, x, 0.0)"),
    },
    right={
        "errors of its own": ('check_elementwise("clamp", FLOATS, x=x)', """if x.dtype not in FLOATS:
        raise TypeError(f"clamp: x is {x.dtype}; give one of {FLOATS}")
    if not x.is_contiguous():
        raise ValueError("clamp: x must be contiguous")"""),
        "tl.clamp that keeps nan": ("tl.where(x < 0, 0.0, tl.where(x > 1, 1.0, x))", "tl.clamp(x.to(tl.float32), 0.0, 1.0, propagate_nan=tl.PropagateNan.ALL)"),
        "step by step, another block": ("x = tl.where(x < 0, 0.0, tl.where(x > 1, 1.0, x))", "x = tl.where(x > 1, 1.0, x)\n    x = tl.where(x < 0, 0.0, x)",
                                        "256", "512"),
    },
)  # fmt: skip

GELU = Exercise(
    "03_fused_swiglu",
    "gelu-kernel",
    wrong={
        "not widened": ("x", "widen(tl.load(x_ptr + offsets, mask=mask))", "tl.load(x_ptr + offsets, mask=mask)"),
        "float32 for all": ("x", "widen(tl.load(x_ptr + offsets, mask=mask))", "tl.load(x_ptr + offsets, mask=mask).to(tl.float32)"),
        "float64 for all": ("x", "widen(tl.load(x_ptr + offsets, mask=mask))", "tl.load(x_ptr + offsets, mask=mask).to(tl.float16)"),
        "silu": ("x", "1.702 * x", "x"),
        "1.7": ("x", "1.702", "1.7"),
        "factor outside": ("x", "x * tl.sigmoid(1.702 * x)", "1.702 * x * tl.sigmoid(x)"),
        "sigmoid without x": ("x", "x * tl.sigmoid(1.702 * x)", "tl.sigmoid(1.702 * x)"),
        "narrowed before the product": ("x", "tl.sigmoid(1.702 * x)", "tl.sigmoid(1.702 * x).to(tl.float16)"),
        "no mask on the store": ("x", "tl.sigmoid(1.702 * x), mask=mask", "tl.sigmoid(1.702 * x)"),
        "not stored": ("x", "tl.store(out_ptr + offsets, x * tl.sigmoid(1.702 * x), mask=mask)", "x = x * tl.sigmoid(1.702 * x)"),
        "lecture's silu of 1.702 x": ("x", "x * tl.sigmoid(1.702 * x)", "silu(1.702 * x)"),
        "exp by hand in 16 bits": ("x", "widen(tl.load(x_ptr + offsets, mask=mask))", "tl.load(x_ptr + offsets, mask=mask)", "x * tl.sigmoid(1.702 * x)", "x / (1 + tl.exp((-1.702 * x).to(tl.float32)))"),
    },
    right={
        "by the lecture's silu": ("x * tl.sigmoid(1.702 * x)", "silu(1.702 * x) / 1.702"),
        "exp by hand": ("x * tl.sigmoid(1.702 * x)", "x / (1 + tl.exp(-1.702 * x))"),
        "narrowed by hand": ("x * tl.sigmoid(1.702 * x)", "(x * tl.sigmoid(1.702 * x)).to(out_ptr.dtype.element_ty)"),
    },
)  # fmt: skip

PACKED = Exercise(
    "03_fused_swiglu",
    "packed-kernel",
    wrong={
        "as it was": ("x", "packed_ptr + rows * 2 * N + cols", "packed_ptr + offsets", "gate_ptrs + N", "gate_ptrs + n_elements"),
        "rows of N": ("x", "rows * 2 * N", "rows * N"),
        "interleaved": ("x", "packed_ptr + rows * 2 * N + cols", "packed_ptr + 2 * offsets", "gate_ptrs + N", "gate_ptrs + 1"),
        "ups first": ("x", "silu(gate) * up", "silu(up) * gate"),
        "rows and columns swapped": ("x", "offsets // N, offsets % N", "offsets % N, offsets // N"),
        "ups a whole row on": ("x", "gate_ptrs + N", "gate_ptrs + 2 * N"),
        "no silu": ("x", "silu(gate) * up", "gate * up"),
        "no widen": ("x", "widen(tl.load(gate_ptrs, mask=mask))", "tl.load(gate_ptrs, mask=mask)"),
        "rearranged first": ("x", 1, """
            gate = widen(tl.load(packed_ptr + offsets, mask=mask))
            up = widen(tl.load(packed_ptr + n_elements + offsets, mask=mask))
            tl.store(out_ptr + offsets, silu(gate) * up, mask=mask)
        """, "](packed,", "](torch.cat(packed.chunk(2, dim=-1)),"),
        "mask too wide": ("x", "gate_ptrs + N, mask=mask", "gate_ptrs + N"),
    },
    right={
        "offsets plus the ups before": ("rows * 2 * N + cols", "offsets + rows * N"),
        "the row's length by name": ("packed_ptr + rows * 2 * N + cols", "packed_ptr + (offsets // N) * (N + N) + offsets % N"),
        "one after another": (1, """
            rows = offsets // N
            cols = offsets - rows * N
            gate = widen(tl.load(packed_ptr + rows * (2 * N) + cols, mask=mask, other=0.0))
            up = widen(tl.load(packed_ptr + rows * (2 * N) + N + cols, mask=mask, other=0.0))
            tl.store(out_ptr + offsets, gate * tl.sigmoid(gate) * up, mask=mask)
        """),
    },
)  # fmt: skip

BIAS = Exercise(
    "03_fused_swiglu",
    "bias-kernel",
    wrong={
        "bias by element": ("x", "offsets % N", "offsets"),
        "bias by row": ("x", "offsets % N", "offsets // N"),
        "one bias for all": ("x", "bias_ptr + offsets % N", "bias_ptr"),
        "bias by lane": ("x", "offsets % N", "tl.arange(0, BLOCK_SIZE)"),
        "bias by block": ("x", "offsets % N", "offsets % BLOCK_SIZE"),
        "added afterwards": ("x", "silu(x + bias)", "silu(x) + bias"),
        "no bias": ("x", "silu(x + bias)", "silu(x)"),
        "not widened": ("x", "widen(tl.load(x_ptr + offsets, mask=mask))", "tl.load(x_ptr + offsets, mask=mask)",
                        "widen(tl.load(bias_ptr + offsets % N, mask=mask))", "tl.load(bias_ptr + offsets % N, mask=mask)"),
        "added in 16 bits": ("x", "widen(tl.load(x_ptr + offsets, mask=mask))", "tl.load(x_ptr + offsets, mask=mask)",
                        "widen(tl.load(bias_ptr + offsets % N, mask=mask))", "tl.load(bias_ptr + offsets % N, mask=mask)", "silu(x + bias)", "silu(widen(x + bias))"),
        "expanded first": ("x", "offsets % N", "offsets", "](x, bias,", "](x, bias.expand_as(x).contiguous(),"),
    },
    right={
        "the column by subtraction": ("offsets % N", "(offsets - offsets // N * N)"),
        "bias without a mask": ("tl.load(bias_ptr + offsets % N, mask=mask)", "tl.load(bias_ptr + offsets % N)"),
        "exp by hand": ("silu(x + bias)", "(x + bias) / (1 + tl.exp(-(x + bias)))"),
    },
)  # fmt: skip

EXERCISES = [SCALE, SUBTRACT, RELU, NEGATE, MULTIPLY, CLAMP, GELU, PACKED, BIAS]
