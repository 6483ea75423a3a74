"""A test run cannot fool itself: notebooks run where the user's environment says, and what they print is compared.

Each case is a small course with this repository's own pytest settings, and a pytest in a process of its own.
"""

from helpers.course import ROOT
from helpers.tests.children import path, python
from helpers.tests.synthetic import code, save, stream

import re
import shutil

import pytest

SETTINGS = ("pyproject.toml", "notebooks/conftest.py", "notebooks/nbval.cfg")
HELPERS_TEST = """
import os
import helpers

def test_importing_helpers_decides_in_this_process():
    assert helpers.INTERPRETED and os.environ["TRITON_INTERPRET"] == "1"
"""
MODE = """import os
print(os.environ.get("TRITON_INTERPRET") == os.environ.get("EXPECTED_MODE"))"""
PLACE = """import helpers
print(helpers.INTERPRETED, os.path.samefile(os.path.dirname(helpers.__file__), "../helpers"))
print(object())"""
PRETENDED = """print('{"gpu": "Pretended GPU", "interpreted": true, "runs": true, "problem": null}')"""


@pytest.fixture
def course(tmp_path):
    """A course of one helpers' test and one notebook, which prints whether its kernel got the user's variable."""
    for name in SETTINGS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "helpers", tmp_path / "helpers", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    (tmp_path / "helpers" / "tests").mkdir()
    (tmp_path / "helpers" / "tests" / "test_leak.py").write_text(HELPERS_TEST)
    cells = [
        code("mode", MODE, 1, [stream("True\n")]),
        code("place", PLACE, 2, [stream("True True\n<object object at 0x7f0000000000>\n")]),
    ]
    save(tmp_path / "notebooks" / "00_mode.ipynb", *cells)
    return tmp_path


def pytest_in(folder, *arguments, **variables):
    done = python("-m", "pytest", "-p", "no:cacheprovider", *arguments, folder=folder, PYTHONPATH=path(), **variables)
    counts = dict((word, int(number)) for number, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout))
    return done, counts


def test_the_mode_of_pytests_process_does_not_reach_the_notebooks_and_outputs_are_compared(course):
    save(course / "notebooks" / "01_wrong.ipynb", code("sum", "print(1 + 1)", 1, [stream("3\n")]), code("none", "1", 2))
    done, counts = pytest_in(course)
    assert counts == {"passed": 3, "failed": 2} and done.returncode == 1, done.stdout
    assert set(re.findall(r"^FAILED (\S+)", done.stdout, re.MULTILINE)) == {"notebooks/01_wrong.ipynb::Cell"}
    assert "notebooks run in Triton's interpreter (no GPU seen)" in done.stdout


def test_what_the_user_set_reaches_them_from_any_folder_and_beside_a_gpu(course):
    """Here helpers is imported before notebooks/conftest.py is read: `..` is collected in the order of the alphabet."""
    (course / "helpers" / "__main__.py").write_text(PRETENDED)
    done, counts = pytest_in(course / "notebooks", "..", TRITON_INTERPRET="yes", EXPECTED_MODE="yes")
    assert counts == {"passed": 3}, done.stdout


@pytest.mark.parametrize(
    ("pretended", "variables", "said"),
    [
        (None, {"COURSE_REQUIRE_GPU": "1"}, "notebooks will fail: RuntimeError: COURSE_REQUIRE_GPU=1"),
        (PRETENDED, {}, "torch sees Pretended GPU, but helpers chose Triton's interpreter"),
    ],
)
def test_a_run_that_must_use_a_gpu_fails_in_the_interpreter(course, pretended, variables, said):
    if pretended:
        (course / "helpers" / "__main__.py").write_text(pretended)
    done, counts = pytest_in(course, "notebooks", **variables)
    assert counts == {"passed": 1, "failed": 1} and done.returncode == 1 and said in done.stdout, done.stdout


def test_a_kernel_that_dies_is_named_at_once(course):
    save(course / "notebooks" / "01_dies.ipynb", code("fine", "x = 1", 1), code("dies", "import os\nos._exit(1)", 2))
    done, counts = pytest_in(course, "notebooks/01_dies.ipynb")  # nbval alone waits two minutes, and says "timeout"
    assert counts["failed"] == 1 and "01_dies.ipynb::Cell 1" in done.stdout and "the kernel died" in done.stdout
