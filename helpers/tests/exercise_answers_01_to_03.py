"""Answers to the exercises of *From CUDA to Triton*, *Vector add* and *A fused SwiGLU*: see `exercise_answers.py`."""

# fmt: off
MASKED = "tl.load(x_ptr + offsets, mask=mask)"
CLAMPED, REJECTS = "tl.where(x < 0, 0.0, tl.where(x > 1, 1.0, x))", 'check_elementwise("clamp", FLOATS, x=x)'
DIFFERENCE = "tl.load(x_ptr + offsets) - tl.load(y_ptr + offsets)"
EVEN = "BLOCK_SIZE // (32 * num_warps)"
RELU = "tl.where(y < 0, 0.0, y)"
NO_NAN = "only where input 0 is nan"
WHOLE_BLOCKS = "grid rounded down: the last, partial block is left out"

ANSWERS = {
    "scale-kernel": ({
        "no program id": ("768 of 1024 wrong: every element from 256 on", "pid * BLOCK_SIZE + ", ""),
        "steps of 128 threads": ("384 of 1024 wrong: every element from 640 on", "pid * BLOCK_SIZE", "pid * 128"),
        "in bytes": ("pointers step in elements, not in bytes", "+ tl.arange(0, BLOCK_SIZE)",
                     "+ tl.arange(0, BLOCK_SIZE)\n    offsets *= 4"),
        "counts from one": ("only element 0", "pid * BLOCK_SIZE + ", "pid * BLOCK_SIZE + 1 + "),
        "how many, not which": ("elements 1024 to 1279", "tl.program_id(0)", "tl.num_programs(0)"),
    }, {
        "one line": (1, "offsets = tl.arange(0, BLOCK_SIZE) + tl.program_id(axis=0) * BLOCK_SIZE"),
        "last block first": ("pid * BLOCK_SIZE", "(tl.num_programs(0) - 1 - pid) * BLOCK_SIZE"),
        "every nth element": (1, "offsets = tl.program_id(0) + tl.num_programs(0) * tl.arange(0, BLOCK_SIZE)"),
    }),
    "subtract-kernel": ({
        "every element twice": ("programs_too_many(1024) gave 3; the answer is 0", "(0) * BLOCK_SIZE", "(0) * 128",
                                "x.numel() // 256", "x.numel() // 128 - 1"),
        "as it was": ("384 of 1024 wrong: every element from 640 on", "(0) * BLOCK_SIZE", "(0) * 128"),
        "PyTorch": ("subtract_kernel was never launched", 2, "out = x - y"),
        "PyTorch after a launch": ("PyTorch", "    return out", "    return x - y"),
        "twice the programs": ("elements 1024 to 2047", "// 256", "// 128"),
        "one program an element": ("reached far outside its tensors", " // 256", ""),
        "a block of 128": ("the last elements have no program", "BLOCK_SIZE=256", "BLOCK_SIZE=128"),
        "y - x": ("got -1.25, expected 1.25", DIFFERENCE, f"-({DIFFERENCE})"),
        "no spare threads": ("elements_a_thread(64, 4) gave 0", "max(1, BLOCK_SIZE // (32 * num_warps))", EVEN),
        "one element a thread": ("elements_a_thread(256, 4) gave 1", 3, "return 1"),
        "always 128 threads": ("elements_a_thread(256, 1) gave 2", "32 * num_warps", "128"),
    }, {
        "rounded up": ("max(1, BLOCK_SIZE // (32 * num_warps))", "triton.cdiv(BLOCK_SIZE, 32 * num_warps)"),
        "blocks of 128": ("x.numel() // 256", "x.numel() // 128", "BLOCK_SIZE=256", "BLOCK_SIZE=128"),
        "two halves": (1, f"""
            for half in range(2):
                offsets = tl.program_id(0) * BLOCK_SIZE + half * 128 + tl.arange(0, 128)
                tl.store(out_ptr + offsets, {DIFFERENCE})
        """),
        "the grid as a function": ("[(programs,)]", '[lambda meta: (x.numel() // meta["BLOCK_SIZE"],)]'),
    }),
    "relu-kernel": ({
        "nan becomes 0": (NO_NAN, RELU, "tl.where(y > 0, y, 0.0)"),
        "through memory": ("trips() gave 6.0; the answer is 4.0", "y = x * w + b",
                           "tl.store(out_ptr + offsets, x * w)\n    y = tl.load(out_ptr + offsets) + b"),
        "maximum": (NO_NAN, RELU, "tl.maximum(y, 0.0)"),
        "relu in PyTorch": ("PyTorch", RELU, "y", "return out", "return torch.relu(out)"),
        "no relu": ("got -10.2, expected 0.0", RELU, "y"),
        "relu before b": ("got -10.2, expected 0.0", "x * w + b", "x * w", RELU, f"{RELU} + b"),
        "stub left": ("NotImplementedError` still stands above", "    ###", "    raise NotImplementedError()  ###"),
        "t1 and t2 forgotten": ("bytes_moved(1024) gave (16384, 16384)", "8 * 4 * n", "4 * 4 * n"),
        "elements": ("bytes_moved(1024) gave (8192, 4096)", "8 * 4 * n", "8 * n", "4 * 4 * n", "4 * n"),
        "results not counted": ("gave (20480, 12288)", "8 * 4 * n", "5 * 4 * n", "4 * 4 * n", "12 * n"),
    }, {
        "nan asked for": (RELU, "tl.where((y > 0) | (y != y), y, 0.0)"),
        "maximum that keeps nan": (RELU, "tl.maximum(y, 0.0, propagate_nan=tl.PropagateNan.ALL)"),
        "fused multiply-add": ("x * w + b", "tl.fma(x, w, b)"),
    }),
    "negate-kernel": ({
        "no mask": ("`x = tl.load(x_ptr + offsets)` has no mask", ", mask=mask", ""),
        "one too many": ("stored outside an output of 257 elements: element 257", "< n_elements", "<= n_elements"),
        "load not masked": ("`x = tl.load(x_ptr + offsets)` has no mask", MASKED, "tl.load(x_ptr + offsets)"),
        "store not masked": ("`tl.store(out_ptr + offsets, -x)`); pass mask=mask", "-x, mask=mask", "-x"),
        "lanes instead of offsets": ("lanes past the end pass the mask", "= offsets <", "= tl.arange(0, BLOCK_SIZE) <"),
        "not negated": ("got -0.15, expected 0.15", "-x", "x"),
        "and": ("write & for and", "offsets < n_elements", "(offsets < n_elements) and (offsets >= 0)"),
    }, {
        "zero minus x": ("-x", "0.0 - x", "offsets < n_elements", "~(offsets >= n_elements)"),
        "a branch for whole blocks": (1, """
            if tl.program_id(0) * BLOCK_SIZE + BLOCK_SIZE <= n_elements:
                tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets))
            else:
                mask = offsets < n_elements
                tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets, mask), mask)
        """),
        "the last one again and again": (1, """
            inside = tl.minimum(offsets, n_elements - 1)
            tl.store(out_ptr + inside, -tl.load(x_ptr + inside))
        """),
    }),
    "multiply-kernel": ({
        "as it was": (WHOLE_BLOCKS, 1, """
            mask = offsets <= n_elements
            tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * tl.load(y_ptr + offsets))
        """, "triton.cdiv(x.numel(), 256)", "x.numel() // 256"),
        "every element twice": ("programs_too_many(1000) gave 4; the answer is 0", "(0) * BLOCK_SIZE", "(0) * 128",
                                "cdiv(x.numel(), 256)", "cdiv(x.numel(), 128)"),
        "y not masked": ("`y = tl.load(y_ptr + offsets)` has no mask", "y_ptr + offsets, mask=mask", "y_ptr + offsets"),
        "PyTorch after a launch": ("PyTorch", "    return out", "    return x * y"),
        "one program an element": ("programs_too_many(1000) gave 996; the answer is 0", "numel(), 256", "numel(), 1"),
        "one program more": ("programs_too_many(1024) gave 1", "triton.cdiv(x.numel(), 256)", "x.numel() // 256 + 1"),
        "<=": ("lanes past the end pass the mask", "offsets < n_elements", "offsets <= n_elements"),
        "store not masked": ("`tl.store(out_ptr + offsets, x * y)`); pass mask=mask", "x * y, mask=mask", "x * y"),
        "all loads": ("unmasked_loads_of(as it was) gave", ' and not line.startswith("@")', ""),
        "stores, too": ("unmasked_loads_of(as it was) gave 7", '"ld.global" in line', '".global" in line'),
        "the masked ones": ("unmasked_loads_of(add_kernel) gave 2", "and not line", "and line"),
    }, {
        "what begins with ld": (3, 'return sum(line.strip().startswith("ld.global") for line in ptx.splitlines())'),
        "a larger block": ("numel(), 256)", "numel(), 1024)", "BLOCK_SIZE=256)", "BLOCK_SIZE=1024)"),
        "rounded up by hand": ("triton.cdiv(x.numel(), 256)", "(x.numel() + 255) // 256"),
        "the grid as a function": ("[(programs,)]", '[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)]'),
    }),
    "clamp-kernel": ({
        "a copy": ("clamp_of(transposed) gave 'no error'", REJECTS, "x = x.contiguous()"),
        "no rejection": ("use the strides, or reject tensors", REJECTS, "pass"),
        "tl.clamp": (NO_NAN, CLAMPED, "tl.clamp(x, 0.0, 1.0)"),
        "any type": ("clamp_of(integers) gave 'no error'", REJECTS, 'assert x.is_contiguous(), "make x contiguous"'),
        "PyTorch after a launch": ("PyTorch", "    return out", "    return x.clamp(0, 1)"),
        "in place": ("return a new tensor", "torch.empty_like(x)", "x"),
        "programs of 32": ("programs_too_many(1000) gave 28; the answer is 0", "numel(), 256", "numel(), 32"),
        "a chain": ("write & for and", CLAMPED, "tl.where(0 < x < 1, x, 0.0)"),
    }, {
        "its own errors": (REJECTS, "if x.dtype not in FLOATS or not x.is_contiguous():\n"
                           '        raise ValueError(f"clamp: x must be contiguous, and one of {FLOATS}")'),
        "tl.clamp that keeps nan": (CLAMPED, "tl.clamp(x, 0.0, 1.0, propagate_nan=tl.PropagateNan.ALL)"),
        "in two steps": (CLAMPED, "tl.where(x > 1, 1.0, x)\n    x = tl.where(x < 0, 0.0, x)", "256", "512"),
    }),
    "gelu-kernel": ({
        "not widened": ("Expected dtype ['fp32', 'fp64'] but got fp16", f"widen({MASKED})", MASKED),
        "float32 for all": ("float64: first wrong element 0", f"widen({MASKED})", MASKED + ".to(tl.float32)"),
        "1.7": ("got -0.0828, expected -0.0826", "1.702", "1.7"),
        "narrowed on the way": ("narrowed too early", "tl.sigmoid(1.702 * x)", "tl.sigmoid(1.702 * x).to(tl.float16)"),
        "not stored": ("end it with tl.store", "tl.store(out_ptr + offsets, x", "y = (x", " x), mask=mask", " x)"),
    }, {
        "the lecture's silu": ("x * tl.sigmoid(1.702 * x)", "silu(1.702 * x) / 1.702"),
        "exp by hand": ("x * tl.sigmoid(1.702 * x)", "x / (1 + tl.exp(-1.702 * x))"),
        "narrowed by hand": ("x * tl.sigmoid(1.702 * x)", "(x * tl.sigmoid(1.702 * x)).to(out_ptr.dtype.element_ty)"),
    }),
    "packed-kernel": ({
        "as it was": ("first wrong element (0, 0)", "rows * 2 * N + cols", "offsets", "ptrs + N", "ptrs + n_elements"),
        "rearranged first": ("packed_that_the_kernel_gets(4, 128) gave (8, 64)", "rows * 2 * N + cols", "offsets",
                             "ptrs + N", "ptrs + n_elements", "](packed,", "](torch.cat(packed.chunk(2, -1)),"),
        "ups first": ("got -1.64, expected -0.761", "silu(gate) * up", "silu(up) * gate"),
        "rows and columns swapped": ("first wrong element (0, 1)", "rows, cols = ", "cols, rows = "),
        "ups without a mask": ("`up = widen(tl.load(gate_ptrs + N))` has no mask", "ptrs + N, mask=mask", "ptrs + N"),
    }, {
        "offsets and the ups before": ("rows * 2 * N + cols", "offsets + rows * N"),
        "the ups on their own": ("gate_ptrs + N", "packed_ptr + (2 * rows + 1) * N + cols"),
        "no names": ("packed_ptr + rows * 2 * N + cols", "packed_ptr + (offsets // N) * (N + N) + offsets % N"),
    }),
    "bias-kernel": ({
        "bias by element": ("every element from row 1 on", "offsets % N", "offsets"),
        "expanded first": ("bias_that_the_kernel_gets(33, 17) gave (33, 17); the answer is (17,)",
                           "offsets % N", "offsets", "](x, bias,", "](x, bias.expand_as(x).contiguous(),"),
        "bias by row": ("first wrong element (0, 1)", "offsets % N", "offsets // N"),
        "one bias for all": ("Mask argument cannot be block type", "bias_ptr + offsets % N", "bias_ptr"),
        "added afterwards": ("got -0.315, expected -0.277", "silu(x + bias)", "silu(x) + bias"),
        "added in 16 bits": ("widen before the arithmetic", f"widen({MASKED})", MASKED, "bias = widen(", "bias = (",
                             "silu(x + bias)", "silu(widen(x + bias))"),
    }, {
        "the column by subtraction": ("offsets % N", "(offsets - offsets // N * N)"),
        "bias without a mask": ("tl.load(bias_ptr + offsets % N, mask=mask)", "tl.load(bias_ptr + offsets % N)"),
        "exp by hand": ("silu(x + bias)", "(x + bias) / (1 + tl.exp(-(x + bias)))"),
    }),
}
