"""Answers to the exercises of *From forward to training*: see `exercise_answers.py`."""

# fmt: off
GRAD, SIX = "grad_ptr + rows * grad_row_stride + cols * grad_col_stride", "*grad_output.stride(), *gate.stride(), *up.stride()"
STRIDES, SLOPE, BOTH = f"    strides = {SIX}", "(normal + gate * density)", "    grad_output, x = grad_output.contiguous(), x.contiguous()"
FAKE, OPERATOR = "    return torch.empty_like(x.contiguous())", "    x = x.contiguous()\n    out = torch.empty_like(x)\n"

ANSWERS = {
    "geglu-kernel": ({
        "no product rule": ("result 0", SLOPE, "normal"),
        "the density alone": ("result 0", SLOPE, "gate * density"),
        "up forgotten": ("result 0", "grad * up * (", "grad * ("),
        "the gradients swapped": ("results 0 and 1", "d_gate_ptr + offsets", "d_x_ptr + offsets", "d_up_ptr + offsets",
                                  "d_gate_ptr + offsets", "d_x_ptr + offsets", "d_up_ptr + offsets"),
        "a constant of four digits": ("result 0", "0.3989422804014327", "0.3989"),
        "an approximation": ("result 0", "0.5 * (1 + tl.erf(0.7071067811865476 * gate))", "tl.sigmoid(1.702 * gate)"),
        "store not masked": ("pass mask=mask", "grad * gate * normal, mask=mask", "grad * gate * normal"),
    }, {
        "half and half": ("0.5 * (1 + tl.erf(0.7071067811865476 * gate))",
                          "0.5 + 0.5 * tl.erf(gate * 0.7071067811865476)"),
        "a power of two": ("tl.exp(-0.5 * gate * gate)", "tl.exp2(-0.7213475204444817 * gate * gate)"),
        "gelu first": ("grad * gate * normal", "gate * normal * grad", SLOPE, "(gate * density + normal)"),
    }),
    "views-kernel": ({
        "as it was": ("a stride of input 0 is ignored or swapped", GRAD, "grad_ptr + rows * N + cols"),
        "a copy": ("made a copy (contiguous of input 0)", STRIDES,
                   f"    grad_output = grad_output.contiguous()\n{STRIDES}"),
        "a rejection": ("rejected a view", STRIDES,
                        f'    assert grad_output.is_contiguous(), "grad_output is not contiguous"\n{STRIDES}'),
        "gate's strides for all": ("input 0", SIX, "*gate.stride(), *gate.stride(), *up.stride()"),
        "gate and up exchanged": ("input 1", SIX, "*grad_output.stride(), *up.stride(), *gate.stride()"),
        "columns side by side": ("input 0", GRAD, "grad_ptr + rows * grad_row_stride + cols"),
        "load not masked": ("has no mask", f"widen(tl.load({GRAD}, mask=mask))", f"widen(tl.load({GRAD}))"),
    }, {
        "sums of tuples": (SIX, "grad_output.stride() + gate.stride() + up.stride()"),
        "zeros where the mask is off": (f"{GRAD}, mask=mask", f"{GRAD}, mask=mask, other=0.0"),
        "pointers first": (f"    grad = widen(tl.load({GRAD}, mask=mask))",
                           f"    grad_ptrs = {GRAD}\n    grad = widen(tl.load(grad_ptrs, mask=mask))"),
    }),
    "relu-kernel": ({
        "0 for nan": ("only where input 0 is nan", "x = tl.where(x < 0, 0.0, x)", "x = tl.where(x > 0, x, 0.0)"),
        "no factor of two": ("gradient: failed", "2 * grad * x", "grad * x"),
        "the gradient of relu": ("gradient: failed", "2 * grad * x", "grad"),
        "as it lies": ("gradient: failed", BOTH, "    x = x.contiguous()"),
        "a flat fake": ("amiss(17, 5) gave ['test_", FAKE, "    return torch.empty(x.numel(), device=x.device)"),
        "a fake with x's strides": ("amiss(17, 5) gave ['test_", FAKE, "    return torch.empty_like(x)"),
        "PyTorch": ("amiss(17, 5) gave ['no forward kernel']", OPERATOR, f"    return x.relu().square()\n{OPERATOR}"),
        "not widened": ("widen before the arithmetic", "widen(tl.load(x_ptr + offsets, mask=mask))",
                        "tl.load(x_ptr + offsets, mask=mask)"),
    }, {
        "tl.maximum that keeps nan": ("x = tl.where(x < 0, 0.0, x)",
                                      "x = tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)"),
        "relu first": ("tl.where(x < 0, 0.0, 2 * grad * x)", "2 * grad * tl.where(x < 0, 0.0, x)"),
        "fakes by new_empty": (FAKE, "    return x.new_empty(x.shape)", "256", "512"),
    }),
}
