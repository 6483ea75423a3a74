"""Answers to the exercises of *Correctness*, *Benchmarking* and *Explaining a number*: see `exercise_answers.py`."""

# fmt: off
X, Y = "rows * x_row_stride + cols * x_col_stride", "rows * y_row_stride + cols * y_col_stride"
SHAPE, TRANSPOSED = "    M, N = x.shape", "(triton.cdiv(M, 32), triton.cdiv(N, 32))"
FIRST, ONLY_INPUT_NAN = "    gpu.launch()  # why: compiles, outside the time\n", "only where input 0 is nan"
GAIN, SPILLS = "1 / ((1 - fraction) + fraction / speedup)", "slow.report.spill_bytes > fast.report.spill_bytes"
MASK = "mask = offsets < n_elements"
BODY = """
x, y = widen(tl.load(x_ptr + offsets, mask=mask)), widen(tl.load(y_ptr + offsets, mask=mask))
tl.store(out_ptr + offsets, alpha * x + y, mask=mask)
"""

ANSWERS = {
    "strided-kernel": ({
        "a copy": ("made a copy (contiguous of input 0)", SHAPE, f"    x, y = x.contiguous(), y.contiguous()\n{SHAPE}"),
        "a rejection": ("rejected a view", SHAPE, f'    assert x.is_contiguous(), "x is not contiguous"\n{SHAPE}'),
        "as if contiguous": ("strides ignored", X, "rows * N + cols", Y, "rows * N + cols"),
        "y by x's strides": ("a stride of input 1 is ignored or swapped", Y, X),
        "store not masked": ("stored outside an output of 1105 elements", "x * y, mask=mask", "x * y"),
        "not widened": ("widen before the arithmetic", "widen(", "("),
    }, {
        "zeros where the mask is off": ("x * y, mask", "tl.where(mask, x * y, 0.0), mask"),
        "pointers first": (1, f"""
            x_ptrs, y_ptrs = x_ptr + ({X}), y_ptr + ({Y})
            x, y = tl.load(x_ptrs, mask=mask, other=0.0), tl.load(y_ptrs, mask=mask, other=0.0)
            tl.store(out_ptr + (rows * N + cols), widen(x) * widen(y), mask)
        """),
        "other tiles": ("(M, 16)", "(M, 8)", "(N, 64)", "(N, 32)", "BLOCK_M=16, BLOCK_N=64", "BLOCK_M=8, BLOCK_N=32"),
    }),
    "leaky-kernel": ({
        "as it was": ("return a new tensor", "tl.where(x > 0, x, 0.01 * x)", "(x > 0) * x + (x <= 0) * 0.01 * x",
                      "torch.empty_like(x)", "x"),
        "products with zero": ("only where input 0 is inf or -inf", "tl.where(x > 0, x, 0.01 * x)",
                               "(x > 0).to(tl.float32) * x + (x <= 0).to(tl.float32) * 0.01 * x"),
        "out before the copy": ("its tensor has strides (torch.empty_like)", "    x = x.contiguous()\n", "",
                                "torch.empty_like(x)\n", "torch.empty_like(x)\n    x = x.contiguous()\n"),
        "0 for nan": (ONLY_INPUT_NAN, "tl.where(x > 0, x, 0.01 * x)", "tl.maximum(x, 0.0) + 0.01 * tl.minimum(x, 0.0)"),
        "views as they are": ("strides ignored", "    x = x.contiguous()\n", ""),
        "if": ("only where input 0 is positive", "y = tl.where(x > 0, x, 0.01 * x)", "y = 0.01 * x if x < 0 else x"),
    }, {
        "maximum": ("tl.where(x > 0, x, 0.01 * x)", "tl.maximum(x, 0.01 * x)"),
        "a factor": ("tl.where(x > 0, x, 0.01 * x)", "x * tl.where(x < 0, 0.01, 1.0)"),
        "a rejection": ("x = x.contiguous()", 'assert x.is_contiguous(), "leaky_relu: x must be contiguous"'),
    }),
    "transpose-kernel": ({
        "a copy": ("made a copy (contiguous of input 0)", SHAPE, f"    x = x.contiguous()\n{SHAPE}"),
        "a rejection": ("rejected a view", SHAPE, f'    assert x.is_contiguous(), "x is not contiguous"\n{SHAPE}'),
        "as if contiguous": ("strides ignored", "rows * row_stride + cols * col_stride", "rows * N + cols"),
        "PyTorch": ("the result lies in the memory of input 0", "    return out", "    return x.mT.contiguous()"),
        "rows of N": ("stored outside an output of 2145 elements", "cols * M + rows", "cols * N + rows"),
        "a mask for the rows": ("stored outside an output of 2145 elements", "(rows < M) & (cols < N)", "rows < M"),
        "and": ("write & for and", "(rows < M) & (cols < N)", "(rows < M) and (cols < N)"),
        "grid rounded down": ("first wrong element (0, 32)", TRANSPOSED, "(M // 32, N // 32)"),
    }, {
        "a smaller tile": (TRANSPOSED, "(triton.cdiv(M, 16), (N + 15) // 16)", "BLOCK=32", "BLOCK=16"),
        "a block turned": ("    tl.store(out_ptr + cols * M + rows, x, mask=mask)",
                           "    tl.store(out_ptr + tl.trans(cols * M + rows), tl.trans(x), mask=tl.trans(mask))"),
        "axes exchanged": ("_id(0)", "_id(2)", "_id(1)", "_id(0)", "_id(2)", "_id(1)",
                           TRANSPOSED, "(triton.cdiv(N, 32), triton.cdiv(M, 32))"),
    }),
    "rate": ({
        "a million": ("gave 0.001; the answer is 1.0", "/ 1000", "/ 1e6"),
        "elements": ("gave 0.25; the answer is 1.0", " * itemsize", ""),
        "upside down": ("gave 1.7", "gb_per_s / copy_rate", "copy_rate / gb_per_s"),
        "never above 1": ("gave 1.0; the answer is 1.0492", "gb_per_s / copy_rate", "min(1.0, gb_per_s / copy_rate)"),
        "printed": ("gave None", "return gb_per_s / copy_rate", "print(gb_per_s / copy_rate)"),
    }, {
        "in seconds": (1, "return (read + written) * itemsize / (us * 1e-6) / (copy_rate * 1e9)"),
        "time of a copy": (1, "return (read + written) * itemsize / (1000 * copy_rate) / us"),
        "step by step": (1, "moved = itemsize * read + itemsize * written\nreturn moved / us / (copy_rate * 1000)"),
    }),
    "bench": ({
        "as it was": ("gave 2504.75; the answer is 167.0", 1, """
            start = gpu.clock()
            for _ in range(repeats):
                gpu.launch()
            return (gpu.clock() - start) / repeats
        """),
        "minimum": ("gave 133.6", "statistics.median(times)", "round(min(times), 3)"),
        "private name": ("no attribute '_kernel_us'", 1, "return gpu._kernel_us"),
        "host's clock": ("gave 172.0", "gpu.event()", "(gpu.synchronize(), gpu.clock())[1]"),
        "mean": ("gave 480.9", "statistics.median", "statistics.mean"),
        "the last one": ("gave 100000; the answer is 5000.0", "statistics.median(times)", "round(times[-1])"),
        "warm": ("gave 55.6", "gpu.empty_cache()", "pass"),
        "no first launch": ("(simulated_gpu(20.0, slow=None), 1) gave 49920.0", FIRST, ""),
    }, {
        "sorted": ("statistics.median(times)", "sorted(times)[len(times) // 2]"),
        "subtracted at the end": ("append(gpu.event() - start)", "append((start, gpu.event()))",
                                  "median(times)", "median(end - start for start, end in times)"),
        "a longer warm-up": (FIRST, "    for _ in range(9):\n        gpu.launch()\n    gpu.synchronize()\n"),
    }),
    "decide": ({
        "rules 1 and 2 swapped": ("(7.4, 47.8, 11.5, 21.2, 0.3) gave 'leave it'", "host_us > eager_us",
                                  "host_us > eager_us and min(compiled_us, kernel_us) < 0.93 * eager_us"),
        "rules 2 and 3 swapped": ("gave 'torch.compile'; the answer is 'leave it'", f"{GAIN} < 1.02",
                                  f"{GAIN} < 1.02 and compiled_us / kernel_us >= 1.1"),
        "rules 1 and 3 swapped": ("(7.4, 3.9, 3.9, 21.2, 0.3) gave 'torch.compile'", "host_us > eager_us",
                                  "host_us > eager_us and (compiled_us > 1.1 * kernel_us or kernel_us == eager_us)"),
        "host against the kernel": ("gave 'CUDA graph'; the answer is 'Triton'", "host_us > eager", "host_us > kernel"),
        "the operator's speedup": ("gave 'Triton'; the answer is 'leave it'", GAIN, "speedup"),
        "time saved": ("0.0395) gave 'leave it'; the answer is 'torch.compile'", f"{GAIN} < 1.02",
                       "fraction - fraction / speedup < 0.02"),
        "nine tenths": ("gave 'torch.compile'; the answer is 'Triton'", "compiled_us / kernel_us < 1.1",
                        "kernel_us > 0.9 * compiled_us"),
    }, {
        "the whole step": (GAIN, "eager_us / (eager_us - fraction * (eager_us - eager_us / speedup))"),
        "times, not ratios": ("compiled_us / kernel_us < 1.1", "1.1 * kernel_us > compiled_us"),
        "a list of rules": (1, """
            left = 1 - fraction * (1 - min(compiled_us, kernel_us) / eager_us)
            rules = {"CUDA graph": host_us > eager_us, "leave it": left > 1 / 1.02}
            rules |= {"torch.compile": compiled_us < 1.1 * kernel_us, "Triton": True}
            return next(answer for answer, fits in rules.items() if fits)
        """),
    }),
    "most": ({
        "eager's bytes": ("the answer is 1.2498", "3 * tokens", "7 * tokens"),
        "no residual": ("the answer is 1.2498", "3 * tokens", "2 * tokens"),
        "no bias": ("the answer is 1.4925", " + wide)", ")"),
        "elements": ("the answer is 1.2498", "2 * (3", "(3"),
        "the operator": ("the answer is 1.2498", "step_us / (step_us - eager_us + least_us)", "eager_us / least_us"),
        "for nothing": ("the answer is 1.2498", " + least_us)", ")"),
        "time saved": ("the answer is 1.2498", "step_us / (step_us - eager_us + least_us)",
                       "1 + (eager_us - least_us) / step_us"),
    }, {
        "in seconds": ("n_bytes / copy_rate / 1000", "1e6 * n_bytes / (1e9 * copy_rate)"),
        "Amdahl's words": ("step_us / (step_us - eager_us + least_us)",
                           "1 / (1 - eager_us / step_us + eager_us / step_us * least_us / eager_us)"),
        "tensor by tensor": (1, """
            x = residual = out = tokens * wide
            least = 2 * (x + residual + wide + out) / (1e3 * copy_rate)
            return step_us / (step_us - (eager_us - least))
        """),
    }),
    "fastest": ({
        "no name": ("missing 1 required keyword-only argument", ', name="gelu_chain"', ""),
        "another name": ("no measurement is recorded", 'name="gelu_chain"', 'name="my_chain"'),
        "the slowest": ("gave 'eager'", "idxmin", "idxmax"),
        "the host's clock": ("gave 'eager'", 'table["device_us"].idxmin', 'table["host_us"].idxmin'),
        "a row's number": ("gave 1; the answer is", 'table["impl"][table["device_us"].idxmin()]',
                           'int(table["device_us"].idxmin())'),
    }, {
        "sorted": ('table["impl"][table["device_us"].idxmin()]', 'table.sort_values("device_us")["impl"].iloc[0]'),
        "the largest speed-up": ('["device_us"].idxmin', '["speedup"].idxmax'),
        "by name": ('table["impl"][table["device_us"].idxmin()]', 'table.set_index("impl")["device_us"].idxmin()'),
    }),
    "loads": ({
        "one warp": ("(1024, 4, 16, 32) gave (32, 8, 128)", "num_warps * warp_size", "warp_size"),
        "NVIDIA's warps": ("(1024, 4, 8, 64) gave (8, 8, 64)", "num_warps * warp_size", "num_warps * 32"),
        "all of a thread's": ("(1024, 1, 32, 32) gave (32, 32, 1024)", "min(elements, 128 // bits)", "elements"),
        "as wide as can be": ("(256, 4, 16, 32) gave (2, 2, 128)", "neighbours * bits", "128"),
        "nothing for the spare": ("(64, 4, 32, 32) gave (0, 0, 0)", "warp_size), 1)", "warp_size), 0)"),
        "eight, whatever the type": ("(1024, 1, 32, 32) gave (32, 8, 256)", "128 // bits", "8"),
    }, {
        "rounded up": ("max(BLOCK_SIZE // (num_warps * warp_size), 1)", "-(-BLOCK_SIZE // (num_warps * warp_size))"),
        "bits first": ("neighbours = min(elements, 128 // bits)", "neighbours = min(elements * bits, 128) // bits"),
        "two limits": (1, """
            threads = num_warps * warp_size
            width = min(128, max(bits, BLOCK_SIZE * bits // threads))
            return max(1, BLOCK_SIZE // threads), width // bits, width
        """),
    }),
    "occupancy": ({
        "not rounded to 8": ("(37, 4) gave 0.8125", "-(-registers // 8) * 8", "registers"),
        "rounded down to 8": ("(37, 4) gave 1.0", "-(-registers // 8)", "(registers // 8)"),
        "not rounded to 4": ("(40, 2) gave 0.78125", " // 4 * 4", ""),
        "no limit of programs": ("(32, 1) gave 1.0", "num_warps, 32)", "num_warps)"),
        "no limit of warps": ("(16, 8) gave 2.0", "64 // num_warps, 32)", "32)"),
    }, {
        "remainders": ("-(-registers // 8) * 8", "(registers + -registers % 8)"),
        "in groups of four warps": (1, """
            groups = 65536 // ((registers + 7) // 8 * 8 * 32 * 4)
            return min(4 * groups // num_warps, 64 // num_warps, 32) * num_warps / 64
        """),
        "counted": ("min(warps // num_warps, 64 // num_warps, 32)",
                    "sum(k * num_warps <= min(warps, 64) for k in range(1, 33))"),
    }),
    "wide-kernel": ({
        "max_constancy": ("the narrowest of 128'", 1, f"{MASK}\nmask = tl.max_constancy(mask, 16){BODY}"),
        "2.5 for alpha": ("got -4.93, expected -3.81", "alpha * x", "2.5 * x"),
        "as it was": ("gave '0 of 128 bits, the narrowest of 16'", 1, MASK + BODY),
        "multiple_of": ("gave '0 of 128 bits", 1, "n_elements = tl.multiple_of(n_elements, 16)\n" + MASK + BODY),
        "rounded down to 16": ("first wrong element 1024", 1, f"{MASK} // 16 * 16{BODY}"),
        "where 16 divides the size": ("n=1040", "start + BLOCK_SIZE <= n_elements", "n_elements % 16 == 0"),
        "the first lane decides": ("elements 1040 to 2047", "start + BLOCK_SIZE <= n_elements", "start < n_elements"),
    }, {
        "no else": ("    else:\n", "    if start + BLOCK_SIZE > n_elements:\n"),
        "the program's number": ("start + BLOCK_SIZE <= n_elements", "tl.program_id(0) < n_elements // BLOCK_SIZE"),
        "whole 16s, then the rest": (1, "whole = n_elements // 16 * 16\nmask = offsets < whole" + BODY
                                     + "mask = (offsets >= whole) & (offsets < n_elements)" + BODY),
    }),
    "cause": ({
        "registers": ("(one warp, one warp, float32) gave 'spills'", SPILLS, "slow.report.registers >= 40"),
        "occupancy": ("(one warp, one warp, float32) gave 'spills'", SPILLS,
                      "slow.report.occupancy < fast.report.occupancy"),
        "bytes of one program": ("the answer is 'more bytes'", " * slow.programs", "", " * fast.programs", ""),
        "width first": ("(normal, another small block) gave 'narrow access'", f"    if {SPILLS}",
                        f'    if slow.report.load_bits < 128:\n        return "narrow access"\n    if {SPILLS}'),
        "programs first": ("(normal, float32, smaller block) gave 'small programs'", f"    if {SPILLS}",
                           f'    if slow.programs > fast.programs:\n        return "small programs"\n    if {SPILLS}'),
        "by name": ("raised KeyError: 'short'", 1, 'return {"odd size": "narrow access", "float32": "more bytes", '
                    '"small block": "small programs", "large block": "spills"}[slow.name]'),
    }, {
        "any spill": (SPILLS, "slow.report.spill_bytes"),
        "stores, too": ("slow.report.load_bytes *", "(slow.report.load_bytes + slow.report.store_bytes) *",
                        "fast.report.load_bytes *", "(fast.report.load_bytes + fast.report.store_bytes) *"),
        "programs as a ratio": ("slow.programs > fast.programs else", "slow.programs / fast.programs > 1.5 else"),
    }),
}
