"""What is made from notebooks is fresh, holds what it needs, and a cell that cannot be part of it is named."""

from helpers.course import ROOT, derived, exercises, kernels
from helpers.tests.synthetic import code, markdown, notebook, picture, save

import pytest

pytest.importorskip("nbgrader")
pytest.importorskip("ruff")

SETUP = code(
    "setup", "import math, sys\nfrom helpers import DEVICE, INTERPRETED\nimport numpy as np\n%matplotlib inline"
)
SPEC = {"area": {"types": {"r": "i32"}, "constexprs": {"LIMIT": 10}}}
KERNEL = code("area", "LIMIT = 10\n\n\ndef area(r):\n    return min(LIMIT, math.pi * r)", tags=["export"], compile=SPEC)
PLACE = code("place", "def place():\n    return DEVICE, area(1)\n", tags=["export"])
MODULE = '''"""Generated from notebooks/02_vector_add.ipynb by `make derived`: edit the notebook, not this file."""

from helpers import DEVICE

import math

LIMIT = 10


def area(r):
    return min(LIMIT, math.pi * r)


def place():
    return DEVICE, area(1)


COMPILE = {"area": {"constexprs": {"LIMIT": 10}, "types": {"r": "i32"}}}
'''


def test_the_repositorys_derived_files_are_fresh_and_shown():
    assert derived.refresh(check=True) == []
    assert derived.PICTURE[0] in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def sources(course):
    """A course with an exported kernel, a solution and a picture; returns its folder."""
    save(course / "notebooks" / "02_vector_add.ipynb", SETUP, KERNEL, code("call", "area(2)"), PLACE)
    drawn = code("dataflow", "show()", 1, [picture("Two kernels")])
    save(course / "notebooks" / derived.PICTURE[1], markdown("title", "# A fused SwiGLU"), drawn)
    solved = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
    save(course / "notebooks" / "solutions" / "02_vector_add.ipynb", code("f", solved, 1, nbgrader=SOLUTION))
    return course


SOLUTION = {"grade": False, "grade_id": "f", "locked": False, "schema_version": 3, "solution": True, "task": False}


def test_derived_files_are_written_when_they_differ_and_nothing_is_removed(sources, capsys):
    made = ["helpers/kernels/vector_add.py", "notebooks/exercises/02_vector_add.ipynb", derived.PICTURE[0]]
    todo = derived.refresh(check=True, root=sources)
    assert todo == [f"{name}: it is not what its notebook makes: run `make derived`" for name in made]
    assert not (sources / made[0]).exists()
    assert derived.refresh(root=sources) == []
    assert capsys.readouterr().out.split() == [word for name in made for word in ("wrote", name)]
    assert (sources / made[0]).read_text() == MODULE and (sources / made[2]).read_bytes() == b"hi"
    exercise = (sources / made[1]).read_text()
    assert "raise NotImplementedError" in exercise and "return 1" not in exercise
    (sources / "helpers" / "kernels" / "gone.py").write_text("x = 1\n")
    todo = ["helpers/kernels/gone.py: no notebook makes it any more: remove it"]
    assert derived.refresh(check=True, root=sources) == derived.refresh(root=sources) == todo
    assert (sources / "helpers" / "kernels" / "gone.py").exists() and capsys.readouterr().out == ""


def test_a_missing_picture_or_a_solution_that_clears_nothing_is_an_error(sources):
    save(sources / "notebooks" / derived.PICTURE[1], code("dataflow", "show()"))
    with pytest.raises(LookupError, match="cell dataflow has no stored picture"):
        derived.refresh(root=sources)
    with pytest.raises(ValueError, match="nothing stands between"):
        exercises.cleared(notebook(code("x", "x = 1")), "01_topic.ipynb")


def test_two_lectures_of_one_topic_are_an_error(sources):
    save(sources / "notebooks" / "04_vector_add.ipynb", PLACE, SETUP, KERNEL)
    with pytest.raises(kernels.ExportError, match=r"another lecture of this name exports to vector_add\.py"):
        kernels.generate(sources)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x):\n    return torch.exp(x)", "Undefined name `torch`"),
        ("@jit\ndef f(x):\n    return x", "Undefined name `jit`"),
        ("def f(x: Size):\n    return x", "Undefined name `Size`"),
        ("def area(x):\n    return x", "Redefinition of unused `area`"),
        ("def f(x:\n    return x", "cell bad: line 1 is not plain Python"),
        ("%time f = 1", "cell bad: line 1 is not plain Python"),
        ("import os\nx = os.sep", "cell bad: it imports something: move the import to the set-up cell"),
        ("x = 1\nprint(x)", "cell bad: line 2 would run at import"),
    ],
)
def test_a_cell_that_cannot_be_exported_is_named(source, expected):
    with pytest.raises(kernels.ExportError) as error:
        kernels.module("02_vector_add.ipynb", notebook(SETUP, KERNEL, code("bad", source, tags=["export"])))
    assert str(error.value).startswith("02_vector_add.ipynb: ") and expected in str(error.value)
