"""A test run cannot fool itself: notebooks run where the user's environment says, and what they print is compared.

Each case is a small course with this repository's own pytest settings, and a pytest in a process of its own.
"""

from helpers.course import ROOT
from helpers.tests.children import path, python
from helpers.tests.synthetic import code, save, stream

import re
import shutil

import pytest

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
PRINTED = "True True\n<object object at 0x7f0000000000>\n"
PRETENDED = """print('{"gpu": "Pretended GPU", "interpreted": true, "runs": true, "problem": null}')"""


@pytest.fixture
def pytest_in(tmp_path):
    """Runs pytest in a course of one helpers' test and one notebook, which prints whether it got the user's mode.

    Returns what pytest printed, and how many passed and failed. `pretended` is what `python -m helpers` would find.
    """
    shutil.copytree(ROOT / "helpers", tmp_path / "helpers", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    for name in ("pyproject.toml", "notebooks/conftest.py", "notebooks/nbval.cfg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "helpers" / "tests").mkdir()
    (tmp_path / "helpers" / "tests" / "test_leak.py").write_text(HELPERS_TEST)
    cells = [code("mode", MODE, 1, [stream("True\n")]), code("place", PLACE, 2, [stream(PRINTED)])]
    save(tmp_path / "notebooks" / "00_mode.ipynb", *cells)

    def run(*arguments, folder=tmp_path, pretended=None, **variables):
        if pretended:
            (tmp_path / "helpers" / "__main__.py").write_text(pretended)
        command = ("-m", "pytest", "-p", "no:cacheprovider", *arguments)
        text = python(*command, folder=folder, PYTHONPATH=path(), **variables).stdout
        return text, {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", text)}

    return run


def test_the_mode_of_pytests_process_does_not_reach_the_notebooks_and_outputs_are_compared(pytest_in, tmp_path):
    wrong = [code("sum", "print(1 + 1)", 1, [stream("3\n")]), code("none", "1", 2)]
    save(tmp_path / "notebooks" / "01_wrong.ipynb", *wrong)
    text, counts = pytest_in()
    assert counts == {"passed": 3, "failed": 2}, text
    assert set(re.findall(r"^FAILED (\S+)", text, re.MULTILINE)) == {"notebooks/01_wrong.ipynb::Cell"}
    assert "notebooks run in Triton's interpreter (no GPU seen)" in text


def test_what_the_user_set_reaches_them_from_any_folder_and_beside_a_gpu(pytest_in, tmp_path):
    """Here helpers is imported before notebooks/conftest.py is read: `..` is collected in the order of the alphabet."""
    mode = {"TRITON_INTERPRET": "yes", "EXPECTED_MODE": "yes"}
    text, counts = pytest_in("..", folder=tmp_path / "notebooks", pretended=PRETENDED, **mode)
    assert counts == {"passed": 3}, text


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"COURSE_REQUIRE_GPU": "1"}, "notebooks will fail: RuntimeError: COURSE_REQUIRE_GPU=1"),
        ({"pretended": PRETENDED}, "torch sees Pretended GPU, but helpers chose Triton's interpreter"),
    ],
)
def test_a_run_that_must_use_a_gpu_fails_in_the_interpreter(pytest_in, variables, said):
    text, counts = pytest_in("notebooks", **variables)
    assert counts == {"passed": 1, "failed": 1} and said in text, text


def test_a_kernel_that_dies_is_named_at_once(pytest_in, tmp_path):
    """nbval alone waits two minutes, and says "timeout"."""
    dies = [code("fine", "x = 1", 1), code("dies", "import os\nos._exit(1)", 2)]
    save(tmp_path / "notebooks" / "01_dies.ipynb", *dies)
    text, counts = pytest_in("notebooks/01_dies.ipynb")
    assert counts["failed"] == 1 and "01_dies.ipynb::Cell 1" in text and "the kernel died" in text
