"""The registered SwiGLU: its gradients, and what autocast, the counter of operations, export and compile make of it."""

from helpers import DEVICE
from helpers.kernels.fused_swiglu import swiglu
from helpers.kernels.training import swiglu_backward, swiglu_op

import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode


def reference(gate, up):
    return F.silu(gate) * up


def pair(*shape, dtype=torch.float32):
    torch.manual_seed(0)
    return [torch.randn(shape, dtype=dtype).to(DEVICE).requires_grad_() for _ in range(2)]


class Block(torch.nn.Module):
    """Two products and an activation of both."""

    def __init__(self, activation):
        super().__init__()
        torch.manual_seed(0)
        self.gate, self.up = (torch.nn.Linear(8, 24, device=DEVICE, bias=False) for _ in range(2))
        self.activation = activation

    def forward(self, x):
        return self.activation(self.gate(x), self.up(x))


def x():
    return torch.linspace(-2, 2, 40).view(5, 8).to(DEVICE)


LOSSES = {
    "contiguous": lambda out: out.square().sum(),
    "transposed": lambda out: (out.T * torch.arange(out.numel(), device=DEVICE).view(out.T.shape)).sum(),
    "a column slice": lambda out: torch.cat([out, torch.ones_like(out)], 1).square().sum(),
    "of stride 0": lambda out: out.sum(),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("shape", [(17, 61), (1, 1), (0, 7), (3, 1024)], ids=str)
def test_gradients_are_right_in_every_layout_and_shape(shape, loss):
    inputs = pair(*shape)
    got, expected = (torch.autograd.grad(loss(function(*inputs)), inputs) for function in (swiglu_op, reference))
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


def test_gradcheck():
    assert torch.autograd.gradcheck(swiglu_op, pair(3, 5, dtype=torch.float64))


@pytest.mark.parametrize("alone", [0, 1])
def test_one_input_alone_can_need_a_gradient(alone):
    inputs = pair(4, 6)
    inputs[1 - alone].requires_grad_(False)
    swiglu_op(*inputs).sum().backward()
    expected = torch.autograd.grad(reference(*inputs).sum(), inputs[alone])[0]
    torch.testing.assert_close(inputs[alone].grad, expected)
    assert inputs[1 - alone].grad is None


def test_a_second_derivative_is_refused_even_of_a_sum():
    gate, up = pair(4, 6)
    (d_gate,) = torch.autograd.grad(swiglu_op(gate, up).sum(), gate, create_graph=True)
    with pytest.raises(RuntimeError, match=r"course\.swiglu_backward"):
        d_gate.sum().backward()


def test_what_the_backward_cannot_take_is_rejected():
    gate, up = (one.detach() for one in pair(4, 6))
    with pytest.raises(ValueError, match="swiglu_backward: gate is not contiguous"):
        swiglu_backward(torch.ones_like(gate), gate.T.contiguous().T, up)
    with pytest.raises(TypeError, match=r"gate is torch\.float32 but grad_output is"):
        swiglu_backward(torch.ones_like(gate).double(), gate, up)
    with pytest.raises(ValueError, match=r"gate has shape \(4, 6\) but grad_output has \(4, 1\)"):
        swiglu_backward(torch.ones_like(gate[:, :1]), gate, up)


def test_it_computes_in_the_type_that_autocast_gives_it():
    block = Block(swiglu_op)
    with torch.autocast(DEVICE.type, torch.bfloat16):
        out = block(x())
    out.sum().backward()
    assert out.dtype == torch.bfloat16 and block.gate.weight.grad.dtype == torch.float32
    with pytest.raises(TypeError, match="both must match"):
        swiglu_op(torch.ones(4, device=DEVICE), torch.ones(4, device=DEVICE, dtype=torch.bfloat16))


def test_operations_are_counted_as_those_of_plain_pytorch():
    counts = []
    for activation in (swiglu_op, reference):
        with FlopCounterMode(display=False) as counter:
            Block(activation)(x()).sum().backward()
        counts.append(counter.get_total_flops())
    assert counts == [2 * 2 * 2 * 5 * 8 * 24] * 2  # two products, forward and backward


def test_an_exported_model_holds_the_operator_and_gives_the_same():
    block = Block(swiglu_op)
    exported = torch.export.export(block, (x(),))
    called = [node.target for node in exported.graph.nodes if node.op == "call_function"]
    assert torch.ops.course.swiglu.default in called
    torch.testing.assert_close(exported.module()(x()), Block(swiglu)(x()))


def test_it_is_registered_as_it_is_and_compiles_without_a_break():
    inputs = pair(4, 6)
    assert set(torch.library.opcheck(swiglu_op, inputs).values()) == {"SUCCESS"}
    compiled = torch.compile(lambda gate, up: swiglu_op(gate, up).square(), fullgraph=True, backend="aot_eager")
    got, expected = (
        torch.autograd.grad(function(*inputs).sum(), inputs)
        for function in (compiled, lambda *two: reference(*two).square())
    )
    torch.testing.assert_close(got, expected)
