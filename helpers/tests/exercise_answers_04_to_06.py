"""Answers to the exercises of *Correctness*, *Benchmarking* and *Explaining a number*."""

from helpers.tests.exercise_answers import Exercise

X, Y = "rows * x_row_stride + cols * x_col_stride", "rows * y_row_stride + cols * y_col_stride"
STRIDED = Exercise(
    "04_correctness",
    "strided-kernel",
    wrong={
        "inputs as if contiguous": ("x", X, "rows * N + cols", Y, "rows * N + cols"),
        "y by x's strides": ("x", Y, X),
        "rows and columns swapped": ("x", X, "rows * x_col_stride + cols * x_row_stride"),
        "column stride left out": ("x", X, "rows * x_row_stride + cols"),
        "out by x's strides": ("x", "out_ptr + rows * N + cols", f"out_ptr + {X}"),
        "out by rows": ("x", "rows * N + cols, x * y", "rows * M + cols, x * y"),
        "not widened": ("x", "widen(tl.load(x_ptr", "(tl.load(x_ptr", "widen(tl.load(y_ptr", "(tl.load(y_ptr"),
        "no mask on the store": ("x", "x * y, mask=mask", "x * y"),
        "no masks on the loads": ("x", "_stride, mask=mask", "_stride"),
        "a copy": ("x", "    M, N = x.shape", "    x, y = x.contiguous(), y.contiguous()\n    M, N = x.shape"),
        "a rejection": ("x", "    M, N = x.shape", '    if not x.is_contiguous() or not y.is_contiguous():\n        raise ValueError("x and y must be contiguous")\n    M, N = x.shape'),
        "stride 0 copied": ("x", "    M, N = x.shape", "    x, y = (t.clone() if 0 in t.stride() else t for t in (x, y))\n    M, N = x.shape"),
    },
    right={
        "pointers first": (1, f"""
            x_ptrs, y_ptrs = x_ptr + ({X}), y_ptr + ({Y})
            x, y = tl.load(x_ptrs, mask=mask, other=0.0), tl.load(y_ptrs, mask=mask, other=0.0)
            tl.store(out_ptr + (rows * N + cols), widen(x) * widen(y), mask)
        """),
        "row by row of pointers": (1, """
            x = tl.load(x_ptr + rows * x_row_stride + cols * x_col_stride, mask).to(tl.float32)
            y = tl.load(y_ptr + rows * y_row_stride + cols * y_col_stride, mask).to(tl.float32)
            tl.store(out_ptr + rows * N + cols, (x * y).to(out_ptr.dtype.element_ty), mask)
        """),
        "other tiles": ("triton.cdiv(M, 16), triton.cdiv(N, 64)", "triton.cdiv(M, 8), triton.cdiv(N, 32)", "BLOCK_M=16, BLOCK_N=64", "BLOCK_M=8, BLOCK_N=32"),
    },
)  # fmt: skip

LEAKY = Exercise(
    "04_correctness",
    "leaky-kernel",
    wrong={
        "as it was": ("x", "y = tl.where(x > 0, x, 0.01 * x)", "positive = (x > 0).to(tl.float32)\n    y = positive * x + (1 - positive) * 0.01 * x",
                      "out = torch.empty_like(x)", "out = x"),
        "products of zero": ("x", "y = tl.where(x > 0, x, 0.01 * x)", "positive = (x > 0).to(tl.float32)\n    y = positive * x + (1 - positive) * 0.01 * x"),
        "in place": ("x", "out = torch.empty_like(x)", "out = x"),
        "out made before the copy": ("x", "    x = x.contiguous()\n    out = torch.empty_like(x)", "    out = torch.empty_like(x)\n    x = x.contiguous()"),
        "0 for nan": ("x", "tl.where(x > 0, x, 0.01 * x)", "tl.where(x > 0, x, tl.where(x <= 0, 0.01 * x, 0.0))"),
        "slope 0.1": ("x", "0.01 * x", "0.1 * x"),
        "relu": ("x", "0.01 * x", "0.0"),
        "the other way round": ("x", "x > 0", "x < 0"),
        "minimum": ("x", "tl.where(x > 0, x, 0.01 * x)", "tl.minimum(x, 0.01 * x)"),
        "maximum and minimum": ("x", "tl.where(x > 0, x, 0.01 * x)", "tl.maximum(x, 0.0) + 0.01 * tl.minimum(x, 0.0)"),
        "not widened": ("x", "widen(tl.load(x_ptr + offsets, mask=mask))", "tl.load(x_ptr + offsets, mask=mask)"),
        "nothing for views": ("x", "    x = x.contiguous()\n", ""),
        "grid rounded down": ("x", "triton.cdiv(x.numel(), 256)", "x.numel() // 256"),
        "if": ("x", "y = tl.where(x > 0, x, 0.01 * x)", "y = x\n    if x < 0:\n        y = 0.01 * x"),
    },
    right={
        "maximum": ("tl.where(x > 0, x, 0.01 * x)", "tl.maximum(x, 0.01 * x)"),
        "a factor": ("tl.where(x > 0, x, 0.01 * x)", "x * tl.where(x < 0, 0.01, 1.0)"),
        "a rejection": ("x = x.contiguous()", 'if not x.is_contiguous():\n        raise ValueError("leaky_relu: x must be contiguous")'),
    },
)  # fmt: skip

LOADED, STORED = "rows * row_stride + cols * col_stride", "cols * M + rows"
TRANSPOSE = Exercise(
    "04_correctness",
    "transpose-kernel",
    wrong={
        "stored as loaded": ("x", STORED, "rows * N + cols"),
        "rows of N": ("x", STORED, "cols * N + rows"),
        "x as if contiguous": ("x", LOADED, "rows * N + cols"),
        "strides swapped": ("x", LOADED, "rows * col_stride + cols * row_stride"),
        "only the rows masked": ("x", "(rows < M) & (cols < N)", "(rows < M) & (cols >= 0)"),
        "M and N swapped in the mask": ("x", "(rows < M) & (cols < N)", "(rows < N) & (cols < M)"),
        "and": ("x", "(rows < M) & (cols < N)", "(rows < M) and (cols < N)"),
        "no mask on the store": ("x", "rows, x, mask=mask", "rows, x"),
        "no mask on the load": ("x", "col_stride, mask=mask", "col_stride"),
        "grid rounded down": ("x", "(triton.cdiv(M, 32), triton.cdiv(N, 32))", "(M // 32, N // 32)"),
        "grid for the result": ("x", "(triton.cdiv(M, 32), triton.cdiv(N, 32))", "(triton.cdiv(N, 32), triton.cdiv(M, 32))"),
        "one axis for both": ("x", "tl.program_id(1)", "tl.program_id(0)"),
        "a copy": ("x", "    M, N = x.shape", "    x = x.contiguous()\n    M, N = x.shape"),
        "a rejection": ("x", "    M, N = x.shape", '    assert x.is_contiguous(), "x must be contiguous"\n    M, N = x.shape'),
        "PyTorch's transpose, then a copy": ("x", LOADED, "cols * M + rows", "transpose_kernel[grid](x,", "transpose_kernel[grid](x.mT.contiguous(),"),
        "PyTorch": ("x", "    return out", "    return x.mT.contiguous()"),
    },
    right={
        "a block turned": ("    tl.store(out_ptr + cols * M + rows, x, mask=mask)", """
    rows, cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + cols[:, None] * M + rows[None, :], tl.trans(x), mask=(cols[:, None] < N) & (rows[None, :] < M))"""),
        "out's own strides": (STORED, "cols * M + rows * 1", "32", "16"),
        "axes of the grid exchanged": ("program_id(0) * BLOCK + tl.arange(0, BLOCK)[:", "program_id(1) * BLOCK + tl.arange(0, BLOCK)[:",
                                       "program_id(1) * BLOCK + tl.arange(0, BLOCK)[N", "program_id(0) * BLOCK + tl.arange(0, BLOCK)[N",
                                       "(triton.cdiv(M, 32), triton.cdiv(N, 32))", "(triton.cdiv(N, 32), triton.cdiv(M, 32))"),
    },
)  # fmt: skip

RATE = Exercise(
    "05_benchmarking",
    "rate",
    wrong={
        "a million": ("x", "/ 1000", "/ 1e6"),
        "GiB": ("x", "/ us / 1000", "/ (us * 1e-6) / 2**30"),
        "reads only": ("x", "(read + written)", "read"),
        "elements, not bytes": ("x", " * itemsize", ""),
        "bits": ("x", " * itemsize", " * itemsize * 8"),
        "upside down": ("x", "gb_per_s / copy_rate", "copy_rate / gb_per_s"),
        "per cent": ("x", "gb_per_s / copy_rate", "100 * gb_per_s / copy_rate"),
        "the rate itself": ("x", "gb_per_s / copy_rate", "gb_per_s"),
        "never above one": ("x", "gb_per_s / copy_rate", "min(1.0, gb_per_s / copy_rate)"),
        "whole numbers": ("x", "gb_per_s / copy_rate", "gb_per_s // copy_rate"),
        "no return": ("x", "return gb_per_s / copy_rate", "gb_per_s / copy_rate"),
        "printed": ("x", "return gb_per_s / copy_rate", "print(gb_per_s / copy_rate)"),
    },
    right={
        "in seconds": (1, "return (read + written) * itemsize / (us * 1e-6) / (copy_rate * 1e9)"),
        "the time a copy takes": (1, "return (read + written) * itemsize / (1000 * copy_rate) / us"),
        "step by step": (1, """
            moved = itemsize * read + itemsize * written
            bytes_per_us = moved / us
            return bytes_per_us / (copy_rate * 1e9 / 1e6)
        """),
    },
)  # fmt: skip

BENCH = Exercise(
    "05_benchmarking",
    "bench",
    wrong={
        "as it was": ("x", 1, """
            start = gpu.clock()
            for _ in range(repeats):
                gpu.launch()
            return (gpu.clock() - start) / repeats
        """),
        "host's clock, waited for": ("x", 1, """
            gpu.launch()
            times = []
            for _ in range(repeats):
                gpu.empty_cache()
                gpu.synchronize()
                start = gpu.clock()
                gpu.launch()
                gpu.synchronize()
                times.append(gpu.clock() - start)
            return statistics.median(times)
        """),
        "minimum": ("x", "statistics.median(times)", "min(times)"),
        "mean": ("x", "statistics.median(times)", "statistics.mean(times)"),
        "the last one": ("x", "statistics.median(times)", "times[-1]"),
        "warm": ("x", "        gpu.empty_cache()", "        pass"),
        "the cache's time in it": ("x", "start = gpu.event()", "pass", "gpu.empty_cache()", "start = gpu.event()\n        gpu.empty_cache()"),
        "no first launch": ("x", "    gpu.launch()  # why: compiles, outside the time\n", ""),
        "emptied once": ("x", "        gpu.empty_cache()", "        pass", "    times = []", "    times = []\n    gpu.empty_cache()"),
        "device idle": ("x", "start = gpu.event()", "gpu.synchronize(); start = gpu.event()"),
        "private": ("x", 1, "return gpu._kernel_us"),
        "one pair of events": ("x", 1, """
            gpu.launch()
            start = gpu.event()
            for _ in range(repeats):
                gpu.empty_cache()
                gpu.launch()
            return (gpu.event() - start) / repeats - 100
        """),
    },
    right={
        "sorted": ("statistics.median(times)", "sorted(times)[len(times) // 2]"),
        "all events first": (1, """
            gpu.empty_cache()
            gpu.launch()
            gpu.synchronize()
            starts, ends = [], []
            for _ in range(repeats):
                gpu.empty_cache()
                starts.append(gpu.event())
                gpu.launch()
                ends.append(gpu.event())
            gpu.synchronize()
            return statistics.median([end - start for start, end in zip(starts, ends)])
        """),
        "more warm-up, lower median": ("    gpu.launch()  # why", "    for _ in range(10):\n        gpu.launch()\n    gpu.launch()  # why", "statistics.median(", "statistics.median_low("),
    },
)  # fmt: skip

DECIDE = Exercise(
    "05_benchmarking",
    "decide",
    wrong={
        "rules 1 and 2 swapped": ("x", 1, """
            speedup = eager_us / min(compiled_us, kernel_us)
            if 1 / ((1 - fraction) + fraction / speedup) < 1.02:
                return "leave it"
            if host_us > eager_us:
                return "CUDA graph"
            return "torch.compile" if compiled_us / kernel_us < 1.1 else "Triton"
        """),
        "rules 2 and 3 swapped": ("x", 1, """
            if host_us > eager_us:
                return "CUDA graph"
            if compiled_us / kernel_us < 1.1:
                return "torch.compile"
            speedup = eager_us / min(compiled_us, kernel_us)
            return "leave it" if 1 / ((1 - fraction) + fraction / speedup) < 1.02 else "Triton"
        """),
        "rules 1 and 3 swapped": ("x", 1, """
            speedup = eager_us / min(compiled_us, kernel_us)
            if compiled_us / kernel_us < 1.1 and 1 / ((1 - fraction) + fraction / speedup) >= 1.02:
                return "torch.compile"
            if host_us > eager_us:
                return "CUDA graph"
            return "leave it" if 1 / ((1 - fraction) + fraction / speedup) < 1.02 else "Triton"
        """),
        "host against compiled": ("x", "host_us > eager_us", "host_us > compiled_us"),
        "host against the kernel": ("x", "host_us > eager_us", "host_us > kernel_us"),
        "the kernel's gain only": ("x", "min(compiled_us, kernel_us)", "kernel_us"),
        "the compiler's gain only": ("x", "min(compiled_us, kernel_us)", "compiled_us"),
        "the slower one": ("x", "min(compiled_us", "max(compiled_us"),
        "the operator's speedup": ("x", "1 / ((1 - fraction) + fraction / speedup) < 1.02", "speedup < 1.02"),
        "time saved": ("x", "1 / ((1 - fraction) + fraction / speedup) < 1.02", "fraction - fraction / speedup < 0.02"),
        "fraction times speedup": ("x", "1 / ((1 - fraction) + fraction / speedup) < 1.02", "1 + fraction * (speedup - 1) < 1.02"),
        "p and s swapped": ("x", "1 / ((1 - fraction) + fraction / speedup)", "1 / (fraction + (1 - fraction) / speedup)"),
        "20 per cent": ("x", "< 1.02", "< 1.2"),
        "nine tenths": ("x", "compiled_us / kernel_us < 1.1", "kernel_us > 0.9 * compiled_us"),
        "against eager": ("x", "compiled_us / kernel_us < 1.1", "eager_us / kernel_us < 1.1"),
        "another spelling": ("x", '"CUDA graph"', '"cuda graph"'),
    },
    right={
        "times of a whole step": (1, """
            if host_us > eager_us:
                return "CUDA graph"
            step = eager_us / fraction
            better = step - eager_us + min(compiled_us, kernel_us)
            if step / better < 1.02:
                return "leave it"
            if 1.1 * kernel_us > compiled_us:
                return "torch.compile"
            return "Triton"
        """),
        "elif": (1, """
            after = 1 - fraction + fraction * min(compiled_us, kernel_us) / eager_us
            if eager_us < host_us:
                answer = "CUDA graph"
            elif after > 1 / 1.02:
                answer = "leave it"
            elif kernel_us > compiled_us / 1.1:
                answer = "torch.compile"
            else:
                answer = "Triton"
            return answer
        """),
        "a list of rules": (1, """
            saved = fraction * (1 - min(compiled_us, kernel_us) / eager_us)
            rules = [
                (host_us > eager_us, "CUDA graph"),
                (1 / (1 - saved) < 1.02, "leave it"),
                (compiled_us < 1.1 * kernel_us, "torch.compile"),
                (True, "Triton"),
            ]
            return next(answer for fits, answer in rules if fits)
        """),
    },
)  # fmt: skip

OCCUPANCY = Exercise(
    "06_explaining_a_number",
    "occupancy",
    wrong={
        "not rounded to 8": ("x", "-(-registers // 8) * 8", "registers"),
        "rounded down to 8": ("x", "-(-registers // 8)", "(registers // 8)"),
        "warps not rounded to 4": ("x", " // 4 * 4", ""),
        "half programs": ("x", "min(warps // num_warps, 64 // num_warps, 32)", "min(warps / num_warps, 64 / num_warps, 32)"),
        "no limit of programs": ("x", "64 // num_warps, 32)", "64 // num_warps)"),
        "no limit of warps": ("x", "64 // num_warps, 32)", "32)"),
        "registers of one thread": ("x", " * 8 * 32)", " * 8)"),
        "programs instead of warps": ("x", "programs * num_warps / 64", "programs / 32"),
        "warps that are held": ("x", "programs * num_warps / 64", "programs * num_warps"),
        "per cent": ("x", "programs * num_warps / 64", "100 * programs * num_warps / 64"),
        "rounded for a program": ("x", "-(-registers // 8) * 8 * 32) // 4 * 4", "-(-registers * num_warps * 32 // 256) * 256) * num_warps"),
    },
    right={
        "math.ceil": (1, """
            import math
            of_a_warp = 8 * math.ceil(registers / 8) * 32
            warps = math.floor(65536 / of_a_warp / 4) * 4
            return min(int(warps / num_warps), int(64 / num_warps), 32) * num_warps / 64
        """),
        "a loop": (1, """
            while registers % 8:
                registers += 1
            warps = min(65536 // (registers * 32), 64)
            warps -= warps % 4
            held, programs = 0, 0
            while held + num_warps <= warps and programs < 32:
                held, programs = held + num_warps, programs + 1
            return held / 64
        """),
        "in groups of four": (1, """
            groups = 65536 // ((registers + 7) // 8 * 8 * 32 * 4)
            return min(4 * groups // num_warps, 64 // num_warps, 32) * num_warps / 64
        """),
    },
)  # fmt: skip

MASKED = """
x = widen(tl.load(x_ptr + offsets, mask=mask))
y = widen(tl.load(y_ptr + offsets, mask=mask))
tl.store(out_ptr + offsets, alpha * x + y, mask=mask)
"""
WIDE = Exercise(
    "06_explaining_a_number",
    "wide-kernel",
    wrong={
        "as it was": ("x", 1, "mask = offsets < n_elements" + MASKED),
        "max_constancy": ("x", 1, "mask = tl.max_constancy(offsets < n_elements, 16)" + MASKED),
        "multiple_of": ("x", 1, "n_elements = tl.multiple_of(n_elements, 16)\nmask = offsets < n_elements" + MASKED),
        "no mask": ("x", 1, MASKED.replace(", mask=mask", "")),
        "rounded up to 16": ("x", 1, "mask = offsets < tl.cdiv(n_elements, 16) * 16" + MASKED),
        "rounded down to 16": ("x", 1, "mask = offsets < n_elements // 16 * 16" + MASKED),
        "full programs only": ("x", "    else:\n", "    elif start < 0:\n"),
        "< instead of <=": ("x", "start + BLOCK_SIZE <= n_elements", "start <= n_elements"),
        "the first lane decides": ("x", "start + BLOCK_SIZE <= n_elements", "start < n_elements"),
        "2.5 for alpha": ("x", "alpha * x", "2.5 * x"),
        "alpha forgotten": ("x", "alpha * x", "x"),
        "loads only": ("x", 1, """
            mask = offsets < n_elements
            if start + BLOCK_SIZE <= n_elements:
                x, y = widen(tl.load(x_ptr + offsets)), widen(tl.load(y_ptr + offsets))
            else:
                x, y = widen(tl.load(x_ptr + offsets, mask=mask)), widen(tl.load(y_ptr + offsets, mask=mask))
            tl.store(out_ptr + offsets, alpha * x + y, mask=mask)
        """),
        "a branch in Python": ("x", "start + BLOCK_SIZE <= n_elements", "n_elements % 16 == 0"),
        "not widened": ("x", "widen(", "("),
    },
    right={
        "return early": ("    else:\n        mask = offsets < n_elements", "        return\n    if True:\n        mask = offsets < n_elements"),
        "whole 16s by a mask, the rest by another": (1, """
            whole = n_elements // 16 * 16
            mask = offsets < whole
        """ + MASKED.replace("\n", "\n            ") + """
            mask = (offsets >= whole) & (offsets < n_elements)
        """ + MASKED.replace("\n", "\n            ")),
        "the last program's number": ("start + BLOCK_SIZE <= n_elements", "tl.program_id(0) < n_elements // BLOCK_SIZE"),
    },
)  # fmt: skip

CAUSE = Exercise(
    "06_explaining_a_number",
    "cause",
    wrong={
        "registers": ("x", "slow.report.spill_bytes > fast.report.spill_bytes", "slow.report.registers >= 40"),
        "more registers": ("x", "slow.report.spill_bytes > fast.report.spill_bytes", "slow.report.registers > fast.report.registers"),
        "lower occupancy": ("x", "slow.report.spill_bytes > fast.report.spill_bytes", "slow.report.occupancy < fast.report.occupancy"),
        "bytes of one program": ("x", "slow.report.load_bytes * slow.programs > fast.report.load_bytes * fast.programs", "slow.report.load_bytes > fast.report.load_bytes"),
        "width first": ("x", "    if slow.report.spill", '    if slow.report.load_bits < fast.report.load_bits:\n        return "narrow access"\n    if slow.report.spill'),
        "programs first": ("x", "    if slow.report.spill", '    if slow.programs > fast.programs:\n        return "small programs"\n    if slow.report.spill'),
        "bytes first": ("x", 1, """
            if slow.report.load_bytes > fast.report.load_bytes:
                return "more bytes"
            if slow.report.spill_bytes:
                return "spills"
            return "small programs" if slow.programs > fast.programs else "narrow access"
        """),
        "by name": ("x", 1, 'return {"odd size": "narrow access", "float32": "more bytes", "small block": "small programs", "large block": "spills"}[slow.name]'),
        "fast and slow swapped": ("x", "slow.programs > fast.programs else", "slow.programs < fast.programs else"),
        "no narrow access": ("x", ' if slow.programs > fast.programs else "narrow access"', ""),
    },
    right={
        "any spill": ("slow.report.spill_bytes > fast.report.spill_bytes", "slow.report.spill_bytes"),
        "bytes of all, stores too": (1, """
            def moved(twin):
                return twin.programs * (twin.report.load_bytes + twin.report.store_bytes)

            if moved(slow) > 1.5 * moved(fast):
                return "more bytes"
            if slow.report.spill_bytes and not fast.report.spill_bytes:
                return "spills"
            if slow.programs > fast.programs:
                return "small programs"
            return "narrow access"
        """),
        "by bytes of a program": (1, """
            a, b = fast.report, slow.report
            if b.spill_bytes > 0:
                return "spills"
            if b.load_bytes * slow.programs / (a.load_bytes * fast.programs) >= 2:
                return "more bytes"
            if b.load_bytes < a.load_bytes:
                return "small programs"
            return "narrow access"
        """),
    },
)  # fmt: skip

EXERCISES = [STRIDED, LEAKY, TRANSPOSE, RATE, BENCH, DECIDE, OCCUPANCY, WIDE, CAUSE]
