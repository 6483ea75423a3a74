"""The workflows: two linters have nothing to say, each step is a make target, and no stranger reaches the GPU."""

from helpers.course import ROOT

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
ZIZMOR = shutil.which("zizmor", path=str(Path(sys.executable).parent)) or shutil.which("zizmor")


def load(path):
    text = path.read_text(encoding="utf-8")
    return yaml.safe_load(text.replace("\non:", "\n'on':"))  # YAML 1.1 reads a bare `on` as true


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def workflow(request):
    return load(request.param)


def test_there_are_three():
    assert [path.stem for path in WORKFLOWS] == ["canary", "cpu", "gpu"]


@pytest.mark.skipif(ZIZMOR is None, reason="zizmor is not installed")
def test_zizmor_has_nothing_to_say():
    done = subprocess.run([ZIZMOR, "--offline", "--no-progress", *WORKFLOWS], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(ZIZMOR is None, reason="zizmor is not installed")
def test_zizmor_would_speak_up(tmp_path):
    text = (ROOT / ".github" / "workflows" / "cpu.yml").read_text(encoding="utf-8")
    bad = tmp_path / ".github" / "workflows" / "cpu.yml"
    bad.parent.mkdir(parents=True)
    bad.write_text(re.sub(r"@[0-9a-f]{40} # v6\.0\.2", "@v6", text, count=1), encoding="utf-8")
    assert subprocess.run([ZIZMOR, "--offline", "--no-progress", bad], capture_output=True).returncode != 0


def test_they_are_what_github_understands():
    pytest.importorskip("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_actions_are_pinned_permissions_least_and_time_is_limited(workflow):
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name) for name in used)
    assert workflow["permissions"] == {"contents": "read"} and "concurrency" in workflow
    assert all(0 < job["timeout-minutes"] <= 90 and "permissions" not in job for job in workflow["jobs"].values())
    checkouts = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout")]
    assert checkouts and all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_what_a_workflow_does_is_a_make_target(workflow):
    made = [name for step in steps(workflow) for name in re.findall(r"\bmake ([a-z]+)", step.get("run", ""))]
    assert made and set(made) <= TARGETS
    assert not any("pytest" in step.get("run", "") or "python" in step.get("run", "") for step in steps(workflow))


def test_no_pull_request_reaches_the_gpu():
    for path in WORKFLOWS:
        workflow = load(path)
        own = [job for job in workflow["jobs"].values() if "self-hosted" in job["runs-on"]]
        assert bool(own) == (path.stem == "gpu")
        if own:
            assert set(workflow["on"]) == {"push", "workflow_dispatch"}
            assert workflow["on"]["push"] == {"branches": ["main"]}
            assert all(job["environment"] == "gpu" for job in own)


def test_nothing_from_outside_is_pasted_into_a_command(workflow):
    assert not any("${{" in step.get("run", "") for step in steps(workflow))
