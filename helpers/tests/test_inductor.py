"""What `torch.compile` did: the one home of private names of PyTorch, so a release that moves one fails here."""

from helpers.compiler.functions import is_compiled
from helpers.measure import inductor

import logging
import sys
import warnings

import pytest
import torch
from torch._inductor import utils

SOURCE = """
async_compile = AsyncCompile()

triton_poi_{0} = async_compile.triton('triton_poi_{0}', '''
import triton

@triton_heuristics.pointwise(size_hints={{'x': 64}})
@triton.jit
def triton_poi_{0}(in_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 64

    tl.store(in_ptr0, 0)

''', device_str='cuda')
"""
HEAD = "@triton.jit\ndef triton_poi_{0}(in_ptr0, xnumel, XBLOCK : tl.constexpr):\n"
KERNEL = HEAD + "    xnumel = 64\n\n    tl.store(in_ptr0, 0)"


def test_what_torch_compile_returned_is_told_from_other_functions():
    assert is_compiled(torch.compile(torch.add)) and is_compiled(torch.compile(torch.nn.Linear(2, 2)))
    assert not is_compiled(torch.add) and not is_compiled(torch.nn.Linear(2, 2))


def test_the_code_is_cut_to_the_kernels(monkeypatch):
    x, done = torch.ones(4), []
    monkeypatch.setattr(torch.compiler, "reset", lambda: done.append("reset"))
    monkeypatch.setattr(torch, "compile", lambda function, dynamic: (function, dynamic))

    def run(function, *inputs):
        assert (function, inputs, done) == ((torch.add, False), (x, x), ["reset"])
        return None, [SOURCE.format(0) + SOURCE.format(1), SOURCE.format(2)]

    monkeypatch.setattr(utils, "run_and_get_code", run)
    assert inductor.triton_code(torch.add, x, x) == "\n\n".join(KERNEL.format(i) for i in range(3))


@pytest.mark.parametrize("fails", [False, True])
def test_compiling_is_quiet_and_says_afterwards_what_else_there_is_to_say(capsys, caplog, recwarn, fails):
    compiled = torch.compile(lambda x: x + 1, backend="eager")

    def prepare():
        print("pages", file=sys.stderr)
        logging.getLogger("torch").error("more pages")
        warnings.warn("and more", stacklevel=1)
        if fails:
            raise ValueError("no")
        return lambda: compiled(torch.ones(4))

    torch.compiler.reset()
    if fails:
        with pytest.raises(ValueError, match="no"):
            inductor.require_compiled(prepare)
    else:
        assert torch.equal(inductor.require_compiled(prepare)(), torch.full((4,), 2.0))
    logging.getLogger("torch").error("heard")
    assert capsys.readouterr().err == "" and not any("and more" in str(one.message) for one in recwarn)
    assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == ["heard"]
