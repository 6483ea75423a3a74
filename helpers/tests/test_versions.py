"""One version of each package on every Python and system, hashes where wheels are carried, and the newest Triton."""

from helpers.course import ROOT, notebooks
from helpers.tests.test_environment import make, needs_make, pins, sources

import ast
import itertools
import re

import pytest

BLOCK_POINTERS = {"make_block_ptr", "advance", "boundary_check", "padding_option"}
POINTED = ("load", "store")  # of these everything after the third argument must be named, `cache_modifier` first
LOCKED = [
    re.fullmatch(r"([a-z0-9-]+)==([\w.]+)( ; .+)?", line)  # no hash, no extra, no local version, no address
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_package_has_one_version_on_each_python_and_system():
    assert all(LOCKED)
    found = {name: {line[2] for line in LOCKED if line[1] == name} for name in [line[1] for line in LOCKED]}
    assert {name: found[canonical(name)] for name in pins()} == {name: {pin} for name, pin in pins().items()}, (
        "make lock"
    )
    assert {"triton", "triton-windows", "appnope", "pywinpty", "nvidia-cudnn-cu13", "ipython"} <= set(found)
    markers = pytest.importorskip("packaging.markers")  # pytest brings it
    for python, system in itertools.product(("3.11.0", "3.12.3", "3.13.9"), ("linux", "darwin", "win32")):
        here = {"python_full_version": python, "python_version": python[:4], "sys_platform": system}
        used = [line[1] for line in LOCKED if not line[3] or markers.Marker(line[3][3:]).evaluate(here)]
        assert len(used) == len(set(used)) and ("triton" in used) == (system == "linux") and "torch" in used


@needs_make
def test_make_installs_and_gathers_what_is_locked():
    for target, word in ((".venv/installed", "install --disable"), ("wheelhouse", "compile")):
        shown = make("-n", "-B", target, "FOR=3.12").replace("\\\n", " ").splitlines()
        commands = [line for line in shown if f"pip {word}" in line]
        assert commands and all("--constraint constraints.txt" in line for line in commands)
    assert "--generate-hashes" in commands[0]
    assert "--require-hashes" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "a changed wheel is refused"
    assert "constraint" not in make("-n", "canary")  # it shall find what a release breaks


def gone(source: str) -> list[str]:
    """What a piece of code uses that Triton 3.9 has no more."""
    nodes = [node for statement in notebooks.statements(source) for node in ast.walk(statement)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    calls = [call for call in calls if ast.unparse(call.func.value) in ("tl", "triton.language")]
    found = {keyword.arg for call in calls for keyword in call.keywords} | {call.func.attr for call in calls}
    many = [f"{one.func.attr}({len(one.args)})" for one in calls if len(one.args) > 3 and one.func.attr in POINTED]
    return sorted(found & BLOCK_POINTERS) + many


def test_nothing_uses_what_triton_3_9_has_no_more():
    assert gone("tl.load(tl.make_block_ptr(x), boundary_check=(0,))") == ["boundary_check", "make_block_ptr"]
    assert gone("triton.language.store(p, x, m, '.cg')\ntl.load(p, m, 0, cache_modifier='.cg')") == ["store(4)"]
    assert [found for source in sources() if (found := gone(source))] == []
