"""Execution stores what the cells print, or nothing; and it says where the notebooks run."""

from helpers.course import ROOT, execute, notebooks
from helpers.tests.synthetic import code, markdown, save, stream

import datetime
import sys

import pytest

TITLE = markdown("title", "# Run")
FOUND = {"gpu": None, "interpreted": True, "torch": "2.13.0", "triton": "3.7.1"}
RUNS = """import importlib.util, os, sys
print(sys.executable)
print(importlib.util.find_spec("helpers").origin)
print(os.environ.get("TRITON_INTERPRET"), os.environ.get("COURSE_RECORD"), os.path.basename(os.getcwd()))"""


@pytest.fixture
def another_python3(tmp_path, monkeypatch):
    """A kernel of the same name that belongs to another Python, as conda and Colab machines have."""
    folder = tmp_path / "jupyter" / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text('{"argv": ["no-such-python"], "display_name": "x", "language": "python"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))


@pytest.mark.usefixtures("another_python3")
def test_execution_stores_what_the_cells_print(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "on")
    path = tmp_path / "notebooks" / "01_run.ipynb"
    cells = [TITLE, code("one", "x = 1\nprint(x)", 9, [stream("old")]), code("two", "x + 1", tags=["show"])]
    save(path, *cells, code("three", RUNS), course={"note": "kept"})
    assert execute.execute(path, "NVIDIA H200 · today", COURSE_RECORD="here") == 3
    found = notebooks.read(path)
    assert [cell.execution_count for cell in found.cells[1:]] == [1, 2, 3]
    assert found.cells[1].outputs == [stream("1\n")]
    assert found.cells[2].outputs[0].data == {"text/plain": "2"}
    place = [sys.executable, str(ROOT / "helpers" / "__init__.py"), "on here notebooks"]
    assert found.cells[3].outputs[0].text.splitlines() == place
    assert found.metadata.course == {"note": "kept", "executed": "NVIDIA H200 · today"}
    assert path.read_text() == notebooks.canonical(found)
    assert not list(path.parent.glob(".*"))


@pytest.mark.parametrize(
    ("source", "reason"),
    [("raise KeyError('gone')", "cell two: KeyError: 'gone'"), ("import os; os._exit(3)", "cell two: DeadKernelError")],
)
def test_a_failing_cell_leaves_the_notebook_as_it_was(tmp_path, source, reason, monkeypatch, capsys):
    path = tmp_path / "notebooks" / "01_run.ipynb"
    save(path, TITLE, code("one", "print(1)"), code("two", source), code("three", "print(3)"))
    before = path.read_bytes()
    monkeypatch.setattr(execute, "machine", lambda: FOUND)
    assert execute.main([str(path)]) == 1
    printed = capsys.readouterr().out
    assert f"01_run.ipynb: {reason}" in printed and "do not commit them" in printed
    assert printed.startswith("running on: interpreter · torch 2.13.0")
    assert path.read_bytes() == before and not list(path.parent.glob(".*"))


def test_benchmarks_are_the_notebooks_that_measure_each_with_a_folder_of_records(monkeypatch, capsys):
    ran = {}
    remember = lambda path, executed, **variables: ran.setdefault(notebooks.shown(path), variables) and 1  # noqa: E731
    monkeypatch.setattr(execute, "execute", remember)
    monkeypatch.setattr(execute, "machine", lambda: FOUND)
    assert execute.main(["--benchmarks"]) == 1 and not ran
    assert capsys.readouterr().out == "there is no GPU to measure on\n"
    monkeypatch.setattr(execute, "machine", lambda: {**FOUND, "gpu": "NVIDIA H200", "interpreted": False})
    assert execute.main(["--benchmarks"]) == 0 and list(ran) == [*map(notebooks.shown, notebooks.measuring())]
    folder = str(ROOT / "data" / "benchmarks" / "benchmarking")
    expected = {"COURSE_REQUIRE_GPU": "1", "COURSE_RECORD": folder, "COURSE_SWEEP": "1"}
    assert ran["notebooks/05_benchmarking.ipynb"] == ran["notebooks/solutions/05_benchmarking.ipynb"] == expected
    today = datetime.date.today().isoformat()
    assert f"running on: NVIDIA H200 · torch 2.13.0 · triton 3.7.1 · {today}" in capsys.readouterr().out
    assert (
        execute.main([str(ROOT / "notebooks" / "00_start_here.ipynb")]) == 0
        and ran["notebooks/00_start_here.ipynb"] == {}
    )


def test_a_fresh_python_says_why_the_course_cannot_run(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert execute.machine()["interpreted"] is True
    monkeypatch.setenv("COURSE_REQUIRE_GPU", "1")
    with pytest.raises(RuntimeError, match="COURSE_REQUIRE_GPU=1"):
        execute.machine()
