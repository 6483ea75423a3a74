"""There is one list of packages, environment.yml, and everything that installs the course reads that list."""

from helpers.course import ROOT, kernels, notebooks
from helpers.machine import pair_is_known

import ast
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

COMES_WITH = {"IPython": "ipykernel", "PIL": "matplotlib", "bs4": "nbconvert", "yaml": "PyYAML"}  # in another's package
OPTIONAL = {"liger_kernel"}  # takes part in benchmarks where somebody has installed it
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def listed() -> list[str]:
    """The pip list of environment.yml, as a YAML parser reads it."""
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    return next(entry["pip"] for entry in found if isinstance(entry, dict))


def pins() -> dict[str, str]:
    """Package and pinned version for each entry that is not this repository."""
    matches = [re.fullmatch(r"([\w.-]+)==([\w.+]+)(?:; .+)?", line) for line in listed() if line != "-e ."]
    assert all(matches), "every package is pinned with =="
    return {match[1]: match[2] for match in matches}


def imports(source: str) -> set[str]:
    """Top-level names of the packages that a piece of code imports, inside functions too."""
    found = set()
    for statement in kernels.plain_body(source):
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"helpers"}


def test_make_installs_the_list_that_conda_installs():
    command = re.search(r"sed -n '([^']+)' environment\.yml > \S+requirements\.txt", MAKEFILE)
    done = subprocess.run(["sed", "-n", command[1], "environment.yml"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines() == listed()
    assert listed()[-1] == "-e ."


def test_everything_is_pinned():
    assert {"torch", "triton", "numpy", "jupyterlab", "nbval"} <= set(pins())


def test_the_pinned_pair_is_one_that_the_doctor_knows():
    assert pair_is_known(pins()["torch"], pins()["triton"])


def test_there_is_no_second_list():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert not {"dependencies", "optional-dependencies"} & set(project["project"])
    assert "dependency-groups" not in project
    others = (
        "*requirements*.txt",
        "setup.py",
        "setup.cfg",
        "Pipfile",
        "poetry.lock",
        "uv.lock",
        "postBuild",
        "apt.txt",
    )
    assert not [path.name for pattern in others for path in ROOT.glob(pattern)]


def test_whatever_is_imported_is_listed():
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "helpers").rglob("*.py")}
    sources[ROOT / "conftest"] = (ROOT / "notebooks" / "conftest.py").read_text(encoding="utf-8")
    for path in notebooks.every_notebook():
        cells = [cell.source for cell in notebooks.read(path).cells if cell.cell_type == "code"]
        sources |= {path / str(number): source for number, source in enumerate(cells)}
    names = {name for source in sources.values() for name in imports(source)}
    assert {"torch", "triton", "nbformat"} <= names, "the search finds imports"
    assert {COMES_WITH.get(name, name) for name in names} - set(pins()) - OPTIONAL == set()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_bare_make_explains_every_command():
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)) - {"again"}
    assert {"lab", "test", "doctor", "execute", "html", "kernels", "lint", "fix", "clean"} <= targets
    assert targets == set(re.findall(r"^  make ([a-z]+) +\S", shown, re.MULTILINE))
