"""The workflows: each step is a make target, and no stranger reaches the GPU. `make lint` runs their linters."""

from helpers.course import ROOT

import re

import pytest

yaml = pytest.importorskip("yaml")
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
WORKFLOWS = {  # YAML 1.1 reads a bare `on` as true
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8").replace("\non:", "\n'on':"))
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
}


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


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


def test_updates_of_actions_and_pins_wait_until_others_have_looked():
    found = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert {one["package-ecosystem"] for one in found} == {"github-actions", "conda"}
    assert all(one["cooldown"]["default-days"] >= 7 and one["directory"] == "/" for one in found)
