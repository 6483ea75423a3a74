"""Answers to the exercises of *Softmax*: see `exercise_answers.py`."""

# fmt: off
X = "rows * row_stride + cols * col_stride"
HIGHEST = "tl.max(x, axis=1, keep_dims=True)"
KEPT = f"x -= {HIGHEST}", f"highest = {HIGHEST}", "tl.exp(x)", "tl.exp(x - highest)"
INF, LOG_SUM = ', other=-float("inf")', "tl.log(tl.sum(tl.exp(x), axis=1, keep_dims=True))"
SHIFT, FACTOR = 'tl.where(highest == -float("inf"), 0.0, highest)', "total * tl.exp(before - shift) + "
NEGATIVE, LOWEST = 'highest, total = -float("inf"), 0.0', "highest, total = -3.4028234663852886e38, 0.0"
TILE, M_N = "tl.load(x_ptr + (start + cols) * col_stride, mask=mask", "    M, N = logits.shape"
PLACE = "target = tl.load(target_ptr + row * target_stride)"
AT_TARGET = f"    {PLACE}\n    at_target = widen(tl.load(logits_ptr + target * col_stride))\n"
PICKED = "        at_target += tl.sum(tl.where(start + cols == target, x, 0.0), axis=0)"
NEW = "torch.empty(M, N, dtype=logits.dtype, device=logits.device)"
NOT_WIDENED = "x = widen(", "x = ("

ANSWERS = {
    "log-softmax-kernel": ({
        "the logarithm of a softmax": ("got -inf", "x - log_sum", "tl.log(tl.exp(x) / tl.exp(log_sum))"),
        "zeros where the mask is off": ("padding in a reduction", INF, ", other=0.0"),
        "no maximum": ("maximum not subtracted", f"    x -= {HIGHEST}\n", ""),
        "the maximum of the block": ("one huge, the rest tiny: first wrong element", HIGHEST, "tl.max(x)"),
        "the sum forgotten": ("512 of 512 wrong", "x - log_sum", "x"),
        "columns side by side": ("a stride of input 0 is ignored", X, "rows * row_stride + cols"),
        "a copy": ("made a copy (contiguous of input 0)", "    n_rows, N", "    x = x.contiguous()\n    n_rows, N"),
        "a small result rounded away": ("within ±1000: first wrong element (2, 72)", *KEPT,
                                        "x - log_sum", "x - (highest + log_sum)"),
    }, {
        "the maximum kept": (*KEPT, "x - log_sum", "x - highest - log_sum"),
        "powers of two": (LOG_SUM, LOG_SUM.replace("tl.exp(x)", "tl.exp2(x * 1.4426950408889634)")),
        "axes put back by hand": (HIGHEST, "tl.max(x, axis=1)[:, None]",
                                  LOG_SUM, "tl.log(tl.sum(tl.exp(x), axis=1))[:, None]"),
    }),
    "online-kernel": ({
        "as it was": ("shape (3, 130), float32: first wrong", SHIFT, "highest", FACTOR, "total + "),
        "nan not mended": ("first wrong element (0, 0): got nan", SHIFT, "highest"),
        "not corrected": ("shape (3, 130), float32: first wrong", FACTOR, "total + "),
        "upside down": ("256 of 256 wrong", "tl.exp(before - shift)", "tl.exp(shift - before)"),
        "corrected too late": ("got inf", f"{FACTOR}tl.sum(tl.exp(x - shift), axis=0)",
                               "(total + tl.sum(tl.exp(x - shift), axis=0)) * tl.exp(before - shift)"),
        "zeros where the mask is off": ("all negative: first wrong element (0, 0)", INF, ", other=0.0"),
        "0 for nan": ("got 0.0, expected nan", "tl.exp(x - highest) / total",
                      "tl.where(total > 0, tl.exp(x - highest) / total, 0.0)"),
        "columns side by side": ("a stride of input 0 is ignored", TILE, TILE.replace(" * col_stride", "")),
    }, {
        "the lowest number": (NEGATIVE, LOWEST, SHIFT, "highest"),
        "where, twice": ("tl.exp(before - shift)", 'tl.where(before == -float("inf"), 0.0, tl.exp(before - highest))',
                         "tl.exp(x - shift)", 'tl.where(x == -float("inf"), 0.0, tl.exp(x - highest))'),
        "three walks": (1, f"""
            highest, total = -float("inf"), 0.0
            for start in range(0, N, BLOCK_N):
                mask = start + cols < N
                highest = tl.maximum(highest, tl.max(widen({TILE}{INF})), axis=0))
            for start in range(0, N, BLOCK_N):
                mask = start + cols < N
                total += tl.sum(tl.exp(widen({TILE}{INF})) - {SHIFT}), axis=0)
        """),
    }),
    "cross-entropy-kernel": ({
        "not corrected": ("result 0: first wrong element 1", FACTOR, "total + "),
        "nan where a tile is all -inf": ("first wrong element 0: got nan", SHIFT, "highest"),
        "no maximum in lse": ("result 1: first wrong element 0", "highest + tl.log(total)", "tl.log(total)"),
        "results exchanged": ("result 0 is right as result 1", "lse_ptr +", "_ptr +", "loss_ptr +", "lse_ptr +",
                              "(_ptr +", "(loss_ptr +"),
        "upside down": ("4 of 4 wrong", "highest - at_target + ", "at_target - highest - "),
        "the target's column": ("Only layouts of input 0 come out wrong", "target * col_stride", "target"),
        "the target's row": ("Only layouts of input 1 come out wrong", "row * target_stride", "row"),
        "a copy": ("made a copy (contiguous of input 0)", M_N, f"    logits = logits.contiguous()\n{M_N}"),
    }, {
        "as the text has it": ("highest - at_target + tl.log(total)", "highest + tl.log(total) - at_target"),
        "picked on the walk": (AT_TARGET, "", NEGATIVE, f"{PLACE}\n    at_target = 0.0\n    {NEGATIVE}",
                               "        before,", f"{PICKED}\n        before,"),
        "the lowest number": (NEGATIVE, LOWEST, SHIFT, "highest"),
        "a smaller tile": ("BLOCK_N=256", "BLOCK_N=32"),
    }),
    "cross-entropy-backward-kernel": ({
        "nothing at the target": ("4 of 256 wrong", "(softmax - (cols == target))", "softmax"),
        "no chain rule": ("every element from (0, 32) on", " * grad, mask", ", mask"),
        "a target in each tile": ("shape (3, 300), float32: first wrong element", "(cols == target)",
                                  "(cols % BLOCK_N == target % BLOCK_N)"),
        "gradients side by side": ("a stride of input 0 is ignored", "row * grad_stride", "row"),
        "strides of the logits": ("its tensor has strides (torch.empty_like)", NEW, "torch.empty_like(logits)"),
        "float32": ("the result is float32", "dtype=logits.dtype", "dtype=torch.float32"),
        "PyTorch": ("PyTorch made it", "    return d_logits", "    return d_logits * 1"),
        "store not masked": ("pass mask=mask to tl.store", "grad, mask=mask", "grad"),
    }, {
        "where": ("softmax - (cols == target)", "tl.where(cols == target, softmax - 1, softmax)"),
        "other tiles": ("(N, 256)", "(N, 64)", "BLOCK_N=256", "BLOCK_N=64"),
        "a program a row": (1, """
            lse, grad = tl.load(lse_ptr + row * lse_stride), tl.load(grad_ptr + row * grad_stride)
            target = tl.load(target_ptr + row * target_stride)
            for start in range(0, N, BLOCK_N):
                cols = start + tl.arange(0, BLOCK_N)
                mask = cols < N
                x = widen(tl.load(logits_ptr + row * row_stride + cols * col_stride, mask=mask))
                minus = tl.where(cols == target, 1.0, 0.0)
                tl.store(d_logits_ptr + row * N + cols, grad * (tl.exp(x - lse) - minus), mask=mask)
        """, "(M, triton.cdiv(N, 256))", "(M,)"),
    }),
}
