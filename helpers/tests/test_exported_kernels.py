"""Every exported kernel compiles for cards that are not here, in every type it takes, and keeps to its registers."""

from helpers.compiler.compiling import compiled

import importlib
import inspect
from pathlib import Path

import pytest

TARGETS = ("sm_75", "sm_80", "sm_90", "gfx942")
TYPES = ("fp16", "bf16", "fp32", "fp64")
CONSTEXPRS = {"BLOCK_SIZE": 1024}  # what the launchers use
NOT_ADDED = {"add_kernel": ("bf16",)}  # its launcher refuses them


def exported():
    """Each `<op>_kernel` of helpers/kernels, with its module's name."""
    folder = Path(__file__).resolve().parents[1] / "kernels"
    for path in sorted(folder.glob("[a-z]*.py")):
        module = importlib.import_module(f"helpers.kernels.{path.stem}")
        for name, value in vars(module).items():
            if name.endswith("_kernel") and hasattr(value, "fn") and value.fn.__module__ == module.__name__:
                yield f"{path.stem}.{name}", value


KERNELS = list(exported())


def test_there_are_exported_kernels():
    assert {"fused_swiglu.swiglu_kernel", "vector_add.add_kernel"} <= {name for name, _ in KERNELS}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "kernel"), KERNELS, ids=[name for name, _ in KERNELS])
def test_an_exported_kernel_compiles_and_does_not_spill(name, kernel, target):
    parameters = inspect.signature(kernel.fn).parameters
    constexprs = {p: CONSTEXPRS[p] for p, value in parameters.items() if "constexpr" in str(value.annotation)}
    for kind in TYPES:
        if kind in NOT_ADDED.get(kernel.fn.__name__, ()):
            continue
        types = {p: f"*{kind}" if p.endswith("_ptr") else "i32" for p in parameters if p not in constexprs}
        result = compiled(kernel, types, constexprs, target=target)
        assert result.spill_bytes == 0, f"{name} for {target} in {kind} spills {result.spill_bytes} B a thread"
        assert result.fits, f"{name} for {target} in {kind} takes too much shared memory"
