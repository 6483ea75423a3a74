"""`helpers.check` judged by the zoo, and by random kernels. `CHECKER_SLOW=1` also runs what takes a minute."""

from helpers.device import INTERPRETED
from helpers.tests import random_kernels, zoo

import os
import subprocess
import sys

import pytest

WRONG = [e for e in zoo.WRONG if INTERPRETED or not e.fatal]
IN_ANOTHER_PROCESS = [e for e in zoo.WRONG if e.fatal and not INTERPRETED]


def skip_unless_here(entry: zoo.Entry) -> None:
    if not entry.applies():
        pytest.skip(f"its fault shows only: {entry.only}")
    if entry.slow and os.environ.get("CHECKER_SLOW") != "1":
        pytest.skip("slow; CHECKER_SLOW=1 runs it")


def test_names_are_unique_and_most_faults_have_a_cause():
    names = [e.name for e in [*zoo.WRONG, *zoo.RIGHT]]
    assert len(set(names)) == len(names)
    explained = [e for e in zoo.WRONG if e.cause or (e.says and "Cause unknown" not in e.says)]
    assert len(explained) >= 0.8 * len(zoo.WRONG)


@pytest.mark.parametrize("entry", WRONG, ids=lambda e: e.name)
def test_wrong_kernels_are_seen_through(entry: zoo.Entry):
    skip_unless_here(entry)
    report = entry.check()
    assert report.status == entry.verdict(), str(report)
    if entry.row:
        assert report.problems[0].row == entry.row, str(report)
    causes = {problem.cause for problem in report.problems} - {None}
    assert causes == ({entry.cause} if entry.cause else set()), str(report)
    assert entry.says in report.text, str(report)


@pytest.mark.parametrize("entry", zoo.RIGHT, ids=lambda e: e.name)
def test_right_kernels_pass(entry: zoo.Entry):
    skip_unless_here(entry)
    report = entry.check()
    assert report.passed and not report.problems, str(report)


@pytest.mark.parametrize("kind", random_kernels.KINDS)
def test_right_kernels_at_random_pass(kind: str):
    """A few of each kind; `python -m helpers.tests.random_kernels` tries as many as one likes."""
    outcomes = [random_kernels.attempt(kind, seed) for seed in range(3)]
    assert [(one.status, one.call.breaches, one.call.overwritten) for one in outcomes] == [("right", [], [])] * 3


@pytest.mark.skipif(INTERPRETED, reason="needs a GPU, whose context the kernel ends")
@pytest.mark.parametrize("entry", IN_ANOTHER_PROCESS, ids=lambda e: e.name)
def test_an_illegal_access_is_reported(entry: zoo.Entry):
    command = [sys.executable, "-m", "helpers.tests.zoo", entry.name]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "context is dead: restart the kernel" in done.stdout, done.stdout + done.stderr
