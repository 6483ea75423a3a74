"""Answers to the exercises of *From forward to training*: see `exercise_answers.py`."""

# fmt: off
GRAD = "grad_ptr + rows * grad_row_stride + cols * grad_col_stride"
SIX = "*grad_output.stride(), *gate.stride(), *up.stride()"
STRIDES, SLOPE, FAKE = f"    strides = {SIX}", "(normal + gate * density)", "return torch.empty_like(x.contiguous())"
BOTH, FLAT = "grad_output, x = grad_output.contiguous(), x.contiguous()", "result 0: first wrong element (0, "

ANSWERS = {
    "geglu-kernel": ({
        "no product rule": (f"{FLAT}3)", SLOPE, "normal"),
        "the density alone": (f"{FLAT}1)", SLOPE, "gate * density"),
        "up forgotten": (f"{FLAT}1)", "grad * up * (", "grad * ("),
        "the gradients swapped": ("result 0 is right as result 1", "return d_gate, d_up", "return d_up, d_gate"),
        "a constant of four digits": ("mostly right to 12 bits", "0.3989422804014327", "0.3989"),
        "an approximation": (f"{FLAT}0)", "0.5 * (1 + tl.erf(0.7071067811865476 * gate))", "tl.sigmoid(1.702 * gate)"),
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
        "gate's strides for all": ("input 0 only", SIX, "*gate.stride(), *gate.stride(), *up.stride()"),
        "gate and up exchanged": ("a stride of each input is ignored or swapped", SIX,
                                  "*grad_output.stride(), *up.stride(), *gate.stride()"),
        "columns side by side": ("a stride of input 0 is ignored", GRAD, "grad_ptr + rows * grad_row_stride + cols"),
        "load not masked": ("has no mask", f"widen(tl.load({GRAD}, mask=mask))", f"widen(tl.load({GRAD}))"),
    }, {
        "sums of tuples": (SIX, "grad_output.stride() + gate.stride() + up.stride()"),
        "zeros where the mask is off": (f"{GRAD}, mask=mask", f"{GRAD}, mask=mask, other=0.0"),
        "pointers first": (f"    grad = widen(tl.load({GRAD}, mask=mask))",
                           f"    grad_ptrs = {GRAD}\n    grad = widen(tl.load(grad_ptrs, mask=mask))"),
    }),
    "squared-relu-kernel": ({
        "0 for nan": ("only where input 0 is nan", "x = tl.where(x < 0, 0.0, x)", "x = tl.where(x > 0, x, 0.0)"),
        "no factor of two": ("squared_relu_backward: failed", "2 * grad * x", "grad * x"),
        "the gradient of relu": ("squared_relu_backward: failed", "2 * grad * x", "grad"),
        "as it lies": ("a stride of input 0 is ignored", BOTH, "x = x.contiguous()"),
        "PyTorch": ("PyTorch made it", "    return d_x", "    return 2 * grad_output * x.relu()"),
        "not widened": ("widen before the arithmetic", "x = widen(tl.load(x_ptr + offsets, mask=mask))",
                        "x = tl.load(x_ptr + offsets, mask=mask)"),
    }, {
        "tl.maximum that keeps nan": ("x = tl.where(x < 0, 0.0, x)",
                                      "x = tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)"),
        "relu first": ("tl.where(x < 0, 0.0, 2 * grad * x)", "2 * grad * tl.where(x < 0, 0.0, x)"),
        "larger blocks": ("256", "512"),
    }),
    "op": ({
        "flat fakes": ("tests_that_fail(17, 5) gave ['test_", FAKE, "return x.new_empty(x.numel())"),
        "fakes with x's strides": ("tests_that_fail(17, 5) gave ['test_", FAKE, "return torch.empty_like(x)"),
        "fakes of float32": ("tests_that_fail(17, 5) gave ['test_", FAKE, "return torch.empty(x.shape)"),
        "the result kept": ("gradient: failed", "*inputs", "output"),
        "nothing kept": ("gradient: failed", "ctx.save_for_backward(*inputs)", "pass"),
        "the launcher": ("tests_that_fail(17, 5) gave ['test_aot", "return squared_relu_backward_op(",
                         "return squared_relu_backward("),
        "no gradient": ("gradient: failed", "return squared_relu_backward_op(grad_output, *ctx.saved_tensors)",
                        "return None"),
    }, {
        "fakes by new_empty": (FAKE, "return x.new_empty(x.shape)"),
        "x by name": ("ctx.save_for_backward(*inputs)", "(x,) = inputs\n    ctx.save_for_backward(x)"),
        "unpacked": ("return squared_relu_backward_op(grad_output, *ctx.saved_tensors)",
                     "(x,) = ctx.saved_tensors\n    return squared_relu_backward_op(grad_output, x)"),
    }),
}
