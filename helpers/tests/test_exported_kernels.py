"""Every exported kernel compiles for cards that are not here, as its cell's metadata says, and does not spill."""

from helpers.compiler.compiling import compiled
from helpers.compiler.functions import is_kernel, jitted
from helpers.course import ROOT

import importlib
import inspect

import pytest

TARGETS = ("sm_75", "sm_80", "sm_90", "gfx942")
NAMES = [f"helpers.kernels.{path.stem}" for path in sorted((ROOT / "helpers" / "kernels").glob("[a-z]*.py"))]
MODULES = {name: importlib.import_module(name) for name in NAMES}
CASES = [
    pytest.param(getattr(module, kernel), entry, dtype, target, id=f"{name[16:]}.{kernel}-{dtype}-{target}")
    for name, module in MODULES.items()
    for kernel, entry in getattr(module, "COMPILE", {}).items()
    for target in entry.get("targets", TARGETS)
    for dtype in entry.get("dtypes", ["fp32"])
]


@pytest.mark.parametrize("name", NAMES)
def test_an_exported_kernel_says_for_what_it_is_compiled(name):
    own = {key: value for key, value in vars(MODULES[name]).items() if key.endswith("_kernel") and is_kernel(value)}
    own = {key: jitted(value).fn for key, value in own.items() if jitted(value).fn.__module__ == name}
    entries = getattr(MODULES[name], "COMPILE", {})
    assert set(own) == set(entries), "name each kernel in the metadata `compile` of its exported cell (CONTRIBUTING)"
    for key, function in own.items():
        assert {*entries[key]["types"], *entries[key]["constexprs"]} == set(inspect.signature(function).parameters), key


@pytest.mark.parametrize(("kernel", "entry", "dtype", "target"), CASES)
def test_an_exported_kernel_compiles_and_does_not_spill(kernel, entry, dtype, target):
    types = {name: kind.replace("dtype", dtype) for name, kind in entry["types"].items()}
    result = compiled(kernel, types, entry["constexprs"], target=target)
    assert result.spill_bytes == 0 and result.fits, str(result)
