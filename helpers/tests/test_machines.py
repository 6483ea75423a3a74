"""What tests the course on other machines: drift of benchmarks, the canary, the wheels for one without internet."""

from helpers.course import ROOT, canary, drift, wheelhouse

import json
import os
import subprocess
import sys
import zipfile

import pandas
import pytest

LECTURE = ROOT / "notebooks" / "04_correctness.ipynb"
JUNIT = """<testsuites><testsuite>
<testcase classname="helpers.tests.test_x" name="test_a"><failure message="assert 1 == 2&#10;more"/></testcase>
<testcase classname="notebooks.04_correctness.ipynb" name="Cell 1"><failure message="#x1B[91mNotebook cell#x1B[0m">
#x1B[91mNotebook cell execution failed#x1B[0m
#x1B[94mCell 1: Cell execution caused an exception
#x1B[31mNotImplementedError#x1B[39m: moved
</failure></testcase>
<testcase classname="notebooks.04_correctness.ipynb" name="Cell 2"><failure message="Notebook cell execution failed">
Notebook cell execution failed
Cell 2: Cell outputs differ
and more
</failure></testcase>
<testcase classname="notebooks.04_correctness.ipynb" name="Cell 3"/>
</testsuite></testsuites>"""


def table(speedups, note=""):
    rows = [{"shape": "(8,)", "dtype": "float32", "impl": name, "speedup": s, "note": note} for name, s in speedups]
    return pandas.DataFrame(rows)


def test_a_slower_kernel_is_found_and_a_faster_one_is_not():
    found = drift.compare(table([("eager", 1.0), ("triton", 1.4)]), table([("eager", 1.0), ("triton", 1.7)]))
    assert drift.slower(found)["impl"].tolist() == ["triton"]
    found = drift.compare(table([("triton", 1.9)]), table([("triton", 1.7)]))
    assert drift.slower(found).empty and found["judged"].all()


def test_what_the_launch_dominates_is_not_judged():
    found = drift.compare(table([("triton", 0.2)], "launch-bound; fits in L2"), table([("triton", 1.7)]))
    assert drift.slower(found).empty and not found["judged"].any()


def test_only_what_both_runs_have_is_compared():
    assert len(drift.compare(table([("liger", 1.0), ("triton", 1.0)]), table([("triton", float("nan"))]))) == 0


def test_what_is_no_longer_timed_counts_unless_it_does_not_fit():
    recorded = table([("eager", 1.0), ("triton", 1.7)])
    wrong = table([("eager", 1.0), ("triton", float("nan"))], "not timed: wrong, 3 of 8 elements")
    assert drift.lost(wrong, recorded)["impl"].tolist() == ["triton"]
    small = table([("eager", float("nan"))], "not timed: the case does not fit into this card's free memory")
    assert drift.lost(small, recorded).empty and drift.lost(table([("triton", 1.0)]), recorded).empty


@pytest.fixture
def report(tmp_path, monkeypatch):
    """Reports what tables now and then (name to table) come to: what is wrong, and the report."""
    monkeypatch.setattr(drift, "RECORDS", tmp_path / "records")

    def run(now, then, card="H200"):
        for folder, tables, about in ((tmp_path / "tables", now, card), (tmp_path / "records", then, "H200")):
            folder.mkdir()
            for name, rows in tables.items():
                (folder / f"{name}.csv").write_text(f"# card: {about}\n# driver: driver 1\n" + rows.to_csv(index=False))
        return drift.report(tmp_path), (tmp_path / "report.md").read_text(encoding="utf-8")

    return run


def test_the_report_says_what_became_slower(report):
    slow, fast = table([("eager", 1.0), ("triton", 1.2)]), table([("eager", 1.0), ("triton", 1.7)])
    wrong, text = report({"swiglu": slow, "add": fast}, {"swiglu": fast, "add": fast})
    assert wrong == ["swiglu (8,) float32 triton: speed-up 1.70, now 1.20"] and f"- {wrong[0]}" in text
    assert "Here: H200, driver 1. Recorded: H200, driver 1." in text and "- add: 2 rows judged, 0 launch-bound" in text


def test_on_another_card_a_smaller_speedup_is_listed_and_not_wrong(report):
    slow, fast = table([("triton", 1.2)]), table([("triton", 1.7)])
    wrong, text = report({"swiglu": slow}, {"swiglu": fast}, card="L40S")
    assert wrong == [] and "speed-up 1.70, now 1.20" in text and "Nothing is wrong." in text


def test_nothing_judged_and_nothing_measured_are_wrong(report):
    wrong, text = report({"new": table([("triton", 1.0)])}, {"old": table([("triton", 1.0)])})
    assert wrong == ["old: recorded, and not measured now", "no row could be judged"]
    assert "- new: not recorded yet" in text


def test_without_a_gpu_drift_says_so(capsys):
    environment = {**os.environ, "TRITON_INTERPRET": "1", "COURSE_REQUIRE_GPU": "0"}
    command = [sys.executable, "-m", "helpers.course.drift"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and done.stdout == "there is no GPU to measure on\n"


def test_the_first_failure_is_a_notebooks_cell_with_its_id_and_its_error():
    cells = json.loads(LECTURE.read_text(encoding="utf-8"))["cells"]
    ids = [cell["id"] for cell in cells if cell["cell_type"] == "code"]
    assert canary.failures(JUNIT) == [
        f"notebooks/04_correctness.ipynb Cell 1 ({ids[1]}): NotImplementedError: moved",
        f"notebooks/04_correctness.ipynb Cell 2 ({ids[2]}): Cell 2: Cell outputs differ",
        "helpers.tests.test_x test_a: assert 1 == 2",
    ]


@pytest.mark.parametrize(
    ("pinned", "newest", "said"),
    [
        ([], [], "Both pairs pass."),
        ([], ["b 2: x"], "a release of torch or triton broke it. First failure: b 2: x"),
        (["a 1: 0x1"], ["a 1: 0x2"], "the break is ours, or another package's release. First failure: a 1: 0x1"),
        (["a 1: x"], ["a 1: x", "b 2: y"], "Only with the newest: b 2: y"),
        (["a 1: x"], [], "the pin is wrong, or a mirror outdated. First failure: a 1: x"),
        ([], None, "Not installed: newest. Is it the network, the index, the disk? The pinned pair passes."),
        (None, None, "Nothing was tested."),
    ],
)
def test_whose_break_it_is(pinned, newest, said):
    assert canary.verdict({"pinned": pinned, "newest": newest}).endswith(said)


def test_a_pair_that_cannot_be_installed_is_nobodys_break(tmp_path, monkeypatch):
    def fails(*arguments):
        raise subprocess.CalledProcessError(1, ["pip", "install"])

    monkeypatch.setattr(canary, "install", fails)
    assert canary.run("newest", tmp_path) == ("not installed (pip ended with 1)", None)


def test_a_pytest_that_ends_badly_without_a_failed_test_is_a_failure(tmp_path):
    """Such as one that finds no tests."""
    python = tmp_path / "pinned" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 5\n")
    python.chmod(0o755)
    assert canary.test(tmp_path / "pinned") == ["pytest: ended with 5, and no test failed"]


def test_the_report_is_written_when_the_first_pair_is_done():
    text = canary.report({"pinned": ("torch 2", ["a 1: x"])})
    assert "| pinned | torch 2 | 1 |" in text and "- a 1: x" in text and "break" not in text


def test_the_newest_pair_is_unpinned_and_nothing_else():
    pinned, newest = canary.requirements(False), canary.requirements(True)
    assert newest[:2] == ["torch", "triton"]
    assert set(newest[2:]) == {line for line in pinned if not line.startswith(("torch==", "triton"))}
    assert len(newest) == len(pinned) - 1  # triton-windows has no newest here


def test_the_wheelhouse_leaves_out_torch_and_triton():
    lines = wheelhouse.wanted()
    assert {"numpy", "nbval", "pytest"} <= {wheelhouse._name(line) for line in lines}
    assert not [line for line in lines if line.startswith(("torch", "triton", "-e"))]


def test_the_documented_command_finds_the_wheels_from_a_notebooks_folder(tmp_path):
    assert wheelhouse.TEST in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"\n  {wheelhouse.TEST}\n" in wheelhouse.INSTALL
    shown = wheelhouse.TEST.replace("python3 -m pytest", "sh -c 'cd notebooks && echo $PYTHONPATH:$JUPYTER_PATH'")
    (tmp_path / "notebooks").mkdir()
    said = subprocess.run(["sh", "-c", shown], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.strip() == f"{tmp_path}/build/site:{tmp_path}:{tmp_path}/build/site/share/jupyter"


def wheel(folder, name, *requires):
    metadata = "\n".join(["Metadata-Version: 2.1", f"Name: {name}", *[f"Requires-Dist: {line}" for line in requires]])
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as files:
        files.writestr(f"{name}-1.0.dist-info/METADATA", metadata + "\n")


def test_what_only_the_other_python_requires_is_gathered_too(tmp_path):
    conditions = 'old>=2; python_version < "3.12"', "torch>2", 'extra; extra == "all"', 'win; os_name == "nt"', "There"
    wheel(tmp_path, "server", *conditions)
    wheel(tmp_path, "there")
    assert wheelhouse.missing("3.11", tmp_path) == ["old>=2"]
    assert wheelhouse.missing("3.12", tmp_path) == []


def test_wheels_for_another_python_are_refused_before_anything_is_installed(tmp_path):
    install = tmp_path / "install"
    install.write_text(wheelhouse.INSTALL.replace("WANTED", "3.99"), encoding="utf-8")
    environment = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run(["bash", install], capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and done.stdout.startswith("these wheels are for Python 3.99, and ")
    assert list(tmp_path.parent.glob("site")) == []


def test_the_version_of_the_other_python_is_not_run_here():
    shown = subprocess.run(["make", "-n", "wheelhouse", "PYTHON=3.12"], cwd=ROOT, capture_output=True, text=True)
    assert "-m helpers.course.wheelhouse 3.12\n" in shown.stdout and "3.12 -" not in shown.stdout


@pytest.mark.parametrize("arguments", [[], ["python3"], ["3.12", "3.13"]])
def test_a_wheelhouse_needs_the_version_of_a_python(arguments, capsys):
    assert wheelhouse.main(arguments) == 1
    assert "make wheelhouse PYTHON=3.12" in capsys.readouterr().out


def test_a_wheel_that_cannot_be_had_leaves_an_older_wheelhouse(tmp_path, monkeypatch):
    kept = tmp_path / "build" / "wheelhouse" / "a.whl"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"1")
    monkeypatch.setattr(wheelhouse, "wanted", lambda root: ["no-such-package-as-this==0"])
    with pytest.raises(subprocess.CalledProcessError):
        wheelhouse.gather("3.12", tmp_path)
    assert kept.exists() and [path.name for path in kept.parent.parent.iterdir()] == ["wheelhouse"]
