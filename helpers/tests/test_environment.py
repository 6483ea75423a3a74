"""There is one list of packages, environment.yml, and everything that installs the course reads that list."""

from helpers.course import ROOT, notebooks
from helpers.machine import pair_is_known
from helpers.tests.children import without_make

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

COMES_WITH = {  # in another's package
    "IPython": "ipykernel", "PIL": "matplotlib", "bs4": "nbconvert", "jupyter_server": "jupyterlab",
    "traitlets": "ipykernel", "yaml": "PyYAML",
}  # fmt: skip
OPTIONAL = {"liger_kernel"}  # takes part in benchmarks where somebody has installed it
OTHERS = ("*requirements*.txt", "setup.*", "Pipfile", "*.lock", "postBuild", "apt.txt")  # lists that must not be
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str) -> str:
    return subprocess.run(["make", *arguments], cwd=ROOT, env=without_make(), capture_output=True, text=True).stdout


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
    edit = re.search(r"sed '(.+?)' ", make("-n", "canary"))[1]
    pinned = "\n".join(line for line in listed() if line != "-e .")
    newest = subprocess.run(["sed", edit], input=pinned, capture_output=True, text=True).stdout.splitlines()
    assert newest[:3] == ["torch", "triton", "numpy"] and newest[3:] == pinned.splitlines()[4:]


PYTHON = '#!/bin/sh\n[ "$1" = -c ] || echo "$PYTHONPATH: $*"\n'  # says what it was to run


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]  # whom permissions bind, unlike root


def own_copy(folder):
    """A copy of what make needs, and beside it a finished environment, made elsewhere; returns both folders."""
    copy, environment = folder / "a copy", folder / "environment"
    (environment / "bin").mkdir(parents=True)
    copy.mkdir()
    for name in ("Makefile", "environment.yml", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    (environment / "bin" / "python").write_text(PYTHON)
    (environment / "bin" / "python").chmod(0o755)
    (environment / "installed").write_text("/somewhere/else\n")
    (environment / "requirements.txt").write_text("".join(f"{line}\n" for line in listed()))
    return copy, environment


def doctor(copy, *before):
    """What `make doctor` prints in a copy of the course, its exit status, and the environment's files after it."""
    clean = {name: value for name, value in without_make().items() if name != "PYTHONPATH"}
    done = subprocess.run([*before, "make", "doctor"], cwd=copy, env=clean, capture_output=True, text=True)
    held = {path: path.read_bytes() for path in (copy / ".venv").resolve().rglob("*") if path.is_file()}
    return done.stdout + done.stderr, done.returncode, held


@needs_make
def test_a_linked_environment_is_used_and_never_written_through(tmp_path):
    copy, environment = own_copy(tmp_path)
    before = {path: path.read_bytes() for path in environment.rglob("*") if path.is_file()}
    (copy / ".venv").symlink_to(environment)
    assert doctor(copy) == (f"{copy}: -m helpers\n", 0, before), "its own helpers, and nothing installed"
    with (copy / "environment.yml").open("a") as more:
        more.write("      - newer==1\n")
    said, status, held = doctor(copy)
    assert held == before and status == 0 and said.startswith("note: .venv was made by another environment.yml")
    (environment / "bin" / "python").unlink()
    said, status, _ = doctor(copy)
    assert status and "no Python starts in it" in said
    assert sorted(os.listdir(environment)) == ["bin", "installed", "requirements.txt"]


@needs_make
@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may write everywhere")
def test_an_environment_that_is_not_ours_to_write_is_only_used():
    with tempfile.TemporaryDirectory() as place:  # pytest's own folder is closed to others
        copy, environment = own_copy(Path(place))
        environment.rename(copy / ".venv")
        held = {path: path.read_bytes() for path in (copy / ".venv").rglob("*") if path.is_file()}
        (copy / ".venv").chmod(0o555)
        Path(place).chmod(0o755)
        assert doctor(copy, *(NOBODY if os.geteuid() == 0 else [])) == (f"{copy}: -m helpers\n", 0, held)


@needs_make
def test_an_environment_of_ours_follows_its_folder(tmp_path):
    copy, environment = own_copy(tmp_path)
    environment.rename(copy / ".venv")
    said, status, _ = doctor(copy)
    lines = said.splitlines()
    assert status == 0 and "-m pip install" in lines[1] and lines[-1] == f"{copy}: -m helpers"
    assert (copy / ".venv" / "installed").read_text() == f"{copy.resolve()}\n"
    assert doctor(copy)[0] == f"{copy}: -m helpers\n"
