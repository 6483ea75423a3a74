"""There is one list of packages, environment.yml, and everything that installs the course reads that list."""

from helpers.course import ROOT, notebooks
from helpers.machine import pair_is_known

import ast
import itertools
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

COMES_WITH = {
    "IPython": "ipykernel",
    "PIL": "matplotlib",
    "bs4": "nbconvert",
    "yaml": "PyYAML",
    "traitlets": "ipykernel",
}  # in another's package
OPTIONAL = {"liger_kernel"}  # takes part in benchmarks where somebody has installed it
OTHERS = ("*requirements*.txt", "setup.*", "Pipfile", "*.lock", "postBuild", "apt.txt")  # lists that must not be
BLOCK_POINTERS = {"make_block_ptr", "advance", "boundary_check", "padding_option"}
POINTED = ("load", "store")  # of these everything after the third argument must be named, `cache_modifier` first
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str) -> str:
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True).stdout


def listed() -> list[str]:
    """The pip list of environment.yml, as a YAML parser reads it, without the line that names the constraints."""
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    first, *entries = next(entry["pip"] for entry in found if isinstance(entry, dict))
    assert first == "-c constraints.txt"
    return entries


def pins() -> dict[str, str]:
    """Package and pinned version for each entry that is not this repository."""
    matches = [re.fullmatch(r"([\w.-]+)==([\w.+]+)(?:; .+)?", line) for line in listed() if line != "-e ."]
    assert all(matches), "every package is pinned with =="
    return {match[1]: match[2] for match in matches}


def imports(source: str) -> set[str]:
    """Top-level names of the packages that a piece of code imports, inside functions too."""
    nodes = [node for statement in notebooks.statements(source) for node in ast.walk(statement)]
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in found} - set(sys.stdlib_module_names) - {"helpers"}


def test_there_is_one_list_and_make_reads_it():
    command = re.search(r"^LIST := (.+)$", MAKEFILE, re.MULTILINE)[1]
    done = subprocess.run(command, cwd=ROOT, shell=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == listed() and listed()[-1] == "-e ."
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert not {"dependencies", "optional-dependencies"} & {*project["project"], *project}
    assert "dependency-groups" not in project and not [path for name in OTHERS for path in ROOT.glob(name)]


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


def test_the_pinned_pair_is_one_that_the_doctor_knows():
    assert pair_is_known(pins()["torch"], pins()["triton"])


def sources() -> list[str]:
    """All Python of the repository: modules, and the code cells of notebooks."""
    paths = [*ROOT.glob("helpers/**/*.py"), ROOT / "notebooks" / "conftest.py"]
    cells = [cell for path in notebooks.every_notebook() for cell in notebooks.code_cells(notebooks.read(path))]
    return [*(path.read_text(encoding="utf-8") for path in paths), *(cell.source for cell in cells)]


def test_whatever_is_imported_is_listed():
    names = {name for source in sources() for name in imports(source)}
    assert {"torch", "triton", "nbformat"} <= names, "the search finds imports"
    assert {COMES_WITH.get(name, name) for name in names} - set(pins()) - OPTIONAL == set()


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


@needs_make
def test_a_bare_make_explains_every_command():
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)) - {"again"}
    assert {"lab", "test", "doctor"} <= targets == set(re.findall(r"^  make ([a-z]+) +\S", make(), re.MULTILINE))


@needs_make
def test_wheels_and_canary_leave_to_others_what_is_theirs():
    """torch and triton are the other machine's; the newest pair and numpy are unpinned, and nothing else."""
    shown = make("-n", "wheelhouse", "FOR=3.12")
    left_out = re.search(r"grep -vE '(.+?)' > build/wheels", shown)[1]
    kept = [line for line in listed() if not re.match(left_out, line)]
    assert "numpy" in str(kept) and not [line for line in kept if line.startswith(("torch", "triton", "-e"))]
    edit = re.search(r"sed '(.+?)' build/canary", make("-n", "canary"))[1]
    pinned = "\n".join(line for line in listed() if line != "-e .")
    newest = subprocess.run(["sed", edit], input=pinned, capture_output=True, text=True).stdout.splitlines()
    assert newest[:3] == ["torch", "triton", "numpy"] and newest[3:] == pinned.splitlines()[4:]
