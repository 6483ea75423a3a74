"""The workflows: two linters have nothing to say, each step is a make target, and no stranger reaches the GPU."""

from helpers.course import ROOT

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
PATHS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
WORKFLOWS = {  # YAML 1.1 reads a bare `on` as true
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8").replace("\non:", "\n'on':")) for path in PATHS
}


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize(
    "linter",
    ["zizmor --offline --no-progress", "check-jsonschema --builtin-schema vendor.github-workflows"],
    ids=lambda linter: linter.partition(" ")[0],
)
def test_the_linters_have_nothing_to_say(linter):
    name, *arguments = linter.split()
    program = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([program, *arguments, *PATHS], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("workflow", WORKFLOWS.values(), ids=WORKFLOWS)
def test_a_workflow_is_pinned_limited_and_made_of_make_targets(workflow):
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name) for name in used)
    assert workflow["permissions"] == {"contents": "read"} and "concurrency" in workflow
    assert all(0 < job["timeout-minutes"] <= 90 and "permissions" not in job for job in workflow["jobs"].values())
    checkouts = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout")]
    assert checkouts and all(step["with"]["persist-credentials"] is False for step in checkouts)
    commands = [step["run"] for step in steps(workflow) if "run" in step]
    made = [name for command in commands for name in re.findall(r"\bmake ([a-z]+)", command)]
    assert made and set(made) <= TARGETS
    assert not any(word in command for command in commands for word in ("pytest", "python", "${{"))


def test_no_pull_request_reaches_the_gpu():
    assert set(WORKFLOWS) == {"canary", "cpu", "gpu"}
    for name, workflow in WORKFLOWS.items():
        own = [job for job in workflow["jobs"].values() if "self-hosted" in job["runs-on"]]
        assert bool(own) == (name == "gpu") and all(job["environment"] == "gpu" for job in own)
    assert WORKFLOWS["gpu"]["on"].keys() == {"push", "workflow_dispatch"}
    assert WORKFLOWS["gpu"]["on"]["push"] == {"branches": ["main"]}
