"""A user's own settings and a home that holds no files: tests do not read them, and lectures survive them."""

from helpers import caches
from helpers.course import execute, notebooks
from helpers.measure import comparison
from helpers.tests.children import run
from helpers.tests.synthetic import code, markdown, save, stream
from helpers.tests.test_modes import pytest_in  # noqa: F401

import os
import shutil
from pathlib import Path

import pytest

pytest_plugins = ["helpers.tests.fake_clocks"]

CELL = """import matplotlib.pyplot
x = 1
x
print(x, matplotlib.rcParams["text.usetex"])"""
PRINTED = "1 False\n"
COMPILES = """
from helpers import compiled
from helpers.kernels.vector_add import add_kernel
types = dict.fromkeys(("x_ptr", "y_ptr", "out_ptr"), "*fp32") | {"n_elements": "i32"}
print(compiled(add_kernel, types, {"BLOCK_SIZE": 128}).spill_bytes, os.path.exists(os.environ["TRITON_CACHE_DIR"]))
"""


@pytest.fixture
def settings(tmp_path):
    """The variables of a user with an IPython profile, a Python start-up file and settings of matplotlib."""
    home = tmp_path / "home"
    files = {
        ".ipython/profile_default/ipython_config.py": "get_config().InteractiveShell.ast_node_interactivity = 'all'",
        ".ipython/profile_default/startup/00.py": "import triton",
        ".config/matplotlib/matplotlibrc": "text.usetex: True\naxes.facecolor: black\nno.such: 3",
        "startup.py": "print('hello')",
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    startup = str(home / "startup.py")
    return {"HOME": str(home), "IPYTHONDIR": str(home / ".ipython"), "PYTHONSTARTUP": startup} | {
        "MPLCONFIGDIR": str(home / ".config" / "matplotlib"), "MATPLOTLIBRC": str(home / ".config" / "matplotlib")
    }  # fmt: skip


def test_notebooks_are_tested_without_the_users_settings(pytest_in, settings, tmp_path):  # noqa: F811
    save(tmp_path / "notebooks" / "01_set.ipynb", code("set", CELL, 1, [stream(PRINTED)]))
    text, counts = pytest_in("notebooks", **settings)
    assert counts == {"passed": 3}, text


def test_notebooks_are_tested_in_a_home_that_holds_no_files(pytest_in, tmp_path):  # noqa: F811
    (tmp_path / "file").touch()
    save(tmp_path / "notebooks" / "01_set.ipynb", code("set", "import helpers\n" + CELL, 1, [stream(PRINTED)]))
    text, counts = pytest_in("notebooks", HOME=str(tmp_path / "file"))
    assert counts == {"passed": 3}, text


def test_stored_outputs_are_made_without_the_users_settings(settings, tmp_path, monkeypatch):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    path = save(tmp_path / "notebooks" / "01_set.ipynb", markdown("title", "# Set"), code("set", CELL))
    execute.execute(path, "here")
    assert notebooks.read(path).cells[1].outputs == [stream(PRINTED)]


@pytest.mark.parametrize("in_the_way", [".", ".triton"])
def test_kernels_compile_where_home_cannot_hold_triton_s_cache(in_the_way, tmp_path):
    """A file lies where the home, or its folder for Triton, should be."""
    home = tmp_path / "home"
    (home / in_the_way).parent.mkdir(exist_ok=True)
    (tmp_path / "home" / in_the_way).touch()
    printed, error = run("import os" + COMPILES, HOME=str(home))
    assert printed == "0 True", error


def test_what_the_user_named_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", {"HOME": str(tmp_path), "TRITON_CACHE_DIR": "/mine"})
    caches.find_room()
    assert os.environ == {"HOME": str(tmp_path), "TRITON_CACHE_DIR": "/mine"}
    assert (tmp_path / ".config" / "matplotlib").is_dir() and not (tmp_path / ".triton").exists()
    shutil.rmtree(tmp_path / ".config")
    (tmp_path / ".config").touch()
    caches.find_room()
    assert Path(os.environ["MPLCONFIGDIR"]).is_dir() and os.environ["TRITON_CACHE_DIR"] == "/mine"


def test_triton_is_told_to_fuse_products_and_sums_unless_the_user_says_else():
    told = "import os, helpers; print(os.environ['TRITON_DEFAULT_FP_FUSION'])"
    assert run(told)[0] == "1" and run(told, TRITON_DEFAULT_FP_FUSION="0")[0] == "0"


def test_a_chart_that_fails_does_not_cost_the_table(clocks, monkeypatch, capsys):
    monkeypatch.setattr(comparison, "show_rates", lambda table: 1 / 0)
    table = comparison.compare({"eager": lambda x, y: x + y}, [((4,), comparison.torch.float32)], name="add")
    assert (
        len(table) == 1 and "The chart cannot be drawn: ZeroDivisionError: division by zero" in capsys.readouterr().out
    )
