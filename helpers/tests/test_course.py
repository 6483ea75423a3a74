"""What builds the course finds the faults it is there for, and leaves nothing half-written."""

from helpers.course import ROOT, execute, kernels, machine, notebooks, pages
from helpers.course import picture as readme_picture
from helpers.course.rules import findings
from helpers.tests.synthetic import GPU, code, markdown, notebook, picture, save, stream

import copy
import importlib
import importlib.util
import re
import shutil
import sys
from html.parser import HTMLParser

import pytest

needs_ruff = pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff is not installed")
TITLE = markdown("title", "# Vector add\nWe add two vectors. Then we do it again.")
GOOD = [
    TITLE,
    markdown("setup-text", "## Set-up\nSee [the readme](../README.md#install), [below](#end) and [x](https://x.org)."),
    code("setup", "import math", 1),
    code("pi", "print(math.pi > 3)", 2, [stream("True\n")], tags=["show"]),
    code("plot", "show()", 3, [picture("Three programs, the last one masked")]),
    markdown("end", "### End\nThat was `/tmp` but no path below it.\n```\n# no heading\n```"),
]


@pytest.fixture
def course(tmp_path):
    """A folder with a good lecture and what it links to; returns the folder."""
    save(tmp_path / "notebooks" / "02_vector_add.ipynb", *copy.deepcopy(GOOD), course=GPU)
    (tmp_path / "README.md").write_text("# Read me")
    (tmp_path / "helpers" / "kernels").mkdir(parents=True)
    (tmp_path / "helpers" / "kernels" / "__init__.py").write_text("")
    return tmp_path


def changed(number: int, **entries):
    """A fault: the cell of that number gets other entries."""
    return lambda cells: cells[number].update(entries)


def png(**entries):
    return changed(4, outputs=[{**picture("Three"), **entries}])


FAULTS = {
    "not executed": (changed(3, execution_count=None, outputs=[]), "cell pi: it was not executed"),
    "output without count": (changed(3, execution_count=None), "cell pi: it has outputs but no execution count"),
    "run out of order": (changed(3, execution_count=7), "cell pi: it was executed as number 7 and is number 2"),
    "empty cell": (changed(3, source=" ", outputs=[]), "cell pi: it is an empty code cell"),
    "error": (
        changed(3, outputs=[{"output_type": "error", "ename": "KeyError", "evalue": "x", "traceback": []}]),
        "cell pi: it raised KeyError",
    ),
    "stderr": (changed(3, outputs=[stream("a warning\n", "stderr")]), "cell pi: it wrote to stderr ('a warning')"),
    "svg": (changed(4, outputs=[picture("A", "image/svg+xml", "<svg/>")]), "cell plot: it stores an SVG picture"),
    "no alt text": (changed(4, outputs=[picture(None)]), "cell plot: its picture has no alt text"),
    "expected exception": (
        changed(3, metadata={"tags": ["raises-exception"]}),
        "cell pi: it is tagged raises-exception",
    ),
    "path in code": (changed(2, source="open('/home/me/x')"), "cell setup: it names a folder of one machine (/home/…)"),
    "path in output": (changed(3, outputs=[stream('File "/root/x.py"')]), "cell pi: it names a folder of one machine"),
    "path in prose": (
        changed(5, source="Look into /work/course."),
        "cell end: it names a folder of one machine",
    ),
    "path in html": (
        png(data={"text/html": "<p>/opt/x</p>", "text/plain": "x"}),
        "cell plot: it names a folder of one machine (/opt/…)",
    ),
    "no title": (changed(0, source="Vector add"), "cell title: the first cell is not a title"),
    "title as code": (lambda cells: cells.insert(0, cells.pop(2)), "cell setup: the first cell is not a title"),
    "two titles": (changed(5, source="# End"), 'cell end: it holds a second "# " heading'),
    "heading jumps": (changed(1, source="### Set-up"), "cell setup-text: its heading jumps from level 1 to 3"),
    "long code": (changed(2, source="x = 1\n" * 41), "cell setup: it has 41 lines, and 40 are the most"),
    "long prose": (changed(5, source="word " * 181), "cell end: it has 181 words, and 180 are the most"),
    "dead link": (
        changed(5, source="[x](03_gone.ipynb#a)"),
        "cell end: it links to 03_gone.ipynb#a, which does not exist",
    ),
    "dead picture": (changed(5, source='<img src="gone.png">'), "cell end: it links to gone.png"),
    "too large": (changed(4, outputs=[picture("A", data="A" * 10**6)]), "it has 1.0 MB, and a notebook stays under 1"),
}


def lint(folder, cells, entry=GPU):
    return findings(save(folder / "notebooks" / "02_vector_add.ipynb", *cells, course=entry))


def test_a_good_lecture_has_no_findings(course):
    assert lint(course, GOOD) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_the_lint_finds(course, fault):
    spoil, expected = FAULTS[fault]
    cells = copy.deepcopy(GOOD)
    spoil(cells)
    found = lint(course, cells)
    assert len([line for line in found if expected in line]) == 1, found
    assert len(found) == 1 or fault in ("no title", "title as code"), found


def test_the_lint_finds_where_a_lecture_was_executed(course):
    assert "nothing says where it was executed" in lint(course, GOOD, {})[0]
    assert "come from the interpreter" in lint(course, GOOD, {"executed": "interpreter · torch 2"})[0]


def test_the_lint_finds_a_lecture_that_was_never_executed(course):
    cells = [{**cell, "execution_count": None, "outputs": []} if "outputs" in cell else cell for cell in GOOD]
    assert ": it was not executed: run `make execute` on a GPU" in lint(course, cells)[0]


def test_the_lint_finds_other_bytes_and_names(course):
    path = course / "notebooks" / "02_vector_add.ipynb"
    path.write_text(path.read_text().replace('"# Vector add', '"# Vektor add').replace("\n ", "\n  "))
    assert "its bytes are not canonical: run `make fix`" in findings(path)[0]
    assert "not named like a lecture" in findings(path.rename(path.with_name("Scratch.ipynb")))[1]


@pytest.mark.parametrize("text", ["", "[]", '{"nbformat": 3, "worksheets": []}'])
def test_the_lint_finds_what_is_no_notebook(course, text):
    path = course / "notebooks" / "03_broken.ipynb"
    path.write_text(text)
    assert len(findings(path)) == 1 and "not a notebook of nbformat 4" in findings(path)[0]


def test_an_exercise_is_handed_out_without_outputs(course):
    cells = [markdown("task", "## Fill the gap"), code("gap", "...", 1, [stream("x")]), code("more", "...")]
    found = findings(save(course / "notebooks" / "exercises" / "Gap.ipynb", *cells))
    assert len(found) == 2 and "it is not named like a lecture" in found[0]
    assert "cell gap: an exercise is handed out without outputs" in found[1]


def test_a_solution_is_executed_anywhere(course):
    path = course / "notebooks" / "solutions" / "02_vector_add.ipynb"
    assert findings(save(path, markdown("task", "## Fill the gap"), code("gap", "1", 1))) == []
    assert "executed as number 2" in findings(save(path, code("gap", "1", 2)))[0]


def test_canonical_bytes_are_stable_and_hold_no_trace_of_an_editor():
    raw = notebook(
        code("Cell_A", "x", 1, editable=True, execution={"shell": 1}, slideshow={"slide_type": ""}, tags=[]),
        code("same", "y", tags=["export"], slideshow={"slide_type": "slide"}, nbgrader={"grade": True}),
        code("same", "z", jupyter={"source_hidden": True, "outputs_hidden": True}),
        {"cell_type": "code", "metadata": {}, "source": "é", "execution_count": None, "outputs": []},
        kernelspec={"name": "mine"}, language_info={"name": "python", "version": "3.11.7"}, widgets={}, course=GPU,
    )  # fmt: skip
    text = notebooks.canonical(raw)
    result = notebooks.parse(text)
    ids = [cell.id for cell in result.cells]
    assert ids[:2] == ["cell-a", "same"] and ids[2].startswith("same-") and re.fullmatch("[0-9a-f]{8}", ids[3])
    assert [dict(cell.metadata) for cell in result.cells] == [
        {},
        {"tags": ["export"], "slideshow": {"slide_type": "slide"}, "nbgrader": {"grade": True}},
        {},
        {},
    ]
    assert result.metadata == {
        "kernelspec": notebooks.KERNELSPEC,
        "language_info": {"name": "python"},
        "course": GPU,
    }
    assert "é" in text and text.endswith("}\n") and not text.endswith("\n\n")
    assert notebooks.canonical(result) == text == notebooks.canonical(raw)


def test_fix_rewrites_bytes_only(course, capsys):
    path = course / "notebooks" / "02_vector_add.ipynb"
    text = path.read_text()
    path.write_text(text.replace("\n ", "\n    "))
    assert notebooks.main(["--fix", str(path)]) == 0
    assert path.read_text() == text and "rewrote" in capsys.readouterr().out
    assert notebooks.main([str(path)]) == 0
    assert notebooks.main(["--fix", str(path)]) == 0 and "rewrote" not in capsys.readouterr().out


def test_the_repositorys_notebooks_are_as_they_should_be():
    assert [line for path in notebooks.every_notebook() for line in findings(path)] == []


@pytest.mark.parametrize("tool", [notebooks.lectures, notebooks.every_notebook, kernels.generate, pages.build])
def test_a_course_without_lectures_is_an_error(tool, tmp_path):
    (tmp_path / "notebooks").mkdir()
    with pytest.raises(FileNotFoundError, match="no lecture found"):
        tool(tmp_path)


# Kernels

SETUP = code(
    "setup", "import math, sys\nfrom helpers import DEVICE, INTERPRETED\nimport numpy as np\n%matplotlib inline"
)
KERNEL = code("area", "LIMIT = 10\n\n\ndef area(r):\n    return min(LIMIT, math.pi * r)", tags=["export"])
MODULE = '''"""Generated from notebooks/02_vector_add.ipynb by `make kernels`: edit the notebook, not this file."""

from helpers import DEVICE

import math

LIMIT = 10


def area(r):
    return min(LIMIT, math.pi * r)


def place():
    return DEVICE, area(1)
'''


@needs_ruff
def test_the_repositorys_kernels_are_fresh():
    assert kernels.check() == []


def test_the_readmes_picture_is_the_lectures():
    assert readme_picture.TARGET.read_bytes() == readme_picture.stored()
    assert ".github/dataflow.png" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_repositorys_kernels_can_be_imported():
    for path in sorted((ROOT / "helpers" / "kernels").glob("*.py")):
        importlib.import_module(f"helpers.kernels.{path.stem}".removesuffix(".__init__"))


@needs_ruff
def test_a_module_holds_the_exported_cells_and_the_imports_they_use(course):
    second = code("place", "def place():\n    return DEVICE, area(1)\n", tags=["export"])
    save(course / "notebooks" / "02_vector_add.ipynb", TITLE, SETUP, KERNEL, code("call", "area(2)"), second)
    target = course / "helpers" / "kernels" / "vector_add.py"
    assert "differs from its notebook" in kernels.check(course)[0] and not target.exists()
    kernels.update(course)
    assert target.read_text() == MODULE
    assert kernels.check(course) == []
    target.write_text(MODULE.replace("10", "11"))
    assert "+LIMIT = 10" in kernels.check(course)[0]


@needs_ruff
def test_a_module_that_nobody_exports_is_removed(course):
    there = course / "helpers" / "kernels" / "gone.py"
    there.write_text(MODULE)
    assert kernels.check(course) == ["helpers/kernels/gone.py: no lecture exports it"]
    kernels.update(course)
    assert not there.exists()
    there.write_text("x = 1\n")
    with pytest.raises(kernels.ExportError, match=r"gone\.py was not generated"):
        kernels.update(course)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x):\n    return torch.exp(x)", "cell bad: it uses torch, which the module would not have"),
        ("@jit\ndef f(x):\n    return x", "cell bad: it uses jit, which"),
        ("def f(x: Size):\n    return x", "cell bad: it uses Size, which"),
        ("def f(x):\n    return [y + z for y in x]", "cell bad: it uses z, which"),
        ("def f(x:\n    return x", "cell bad: line 1 is not plain Python"),
        ("%time f = 1", "cell bad: line 1 is not plain Python"),
        ("import os\nx = os.sep", "cell bad: it imports something: move the import to the set-up cell"),
        ("x = 1\nprint(x)", "cell bad: line 2 would run at import"),
    ],
)
def test_a_cell_that_cannot_be_exported_is_named(source, expected):
    cells = notebook(SETUP, KERNEL, code("bad", source, tags=["export"]))
    with pytest.raises(kernels.ExportError) as error:
        kernels.module("02_vector_add.ipynb", cells)
    assert f"02_vector_add.ipynb: {expected}" in str(error.value)


def test_a_name_of_another_exported_cell_needs_no_import():
    cells = notebook(KERNEL, code("twice", "def twice(r):\n    return 2 * area(r)", tags=["export"]), SETUP)
    assert "def twice" in kernels.module("02_vector_add.ipynb", cells)


# Execution

RUNS = """import importlib.util, os, sys
print(sys.executable)
print(importlib.util.find_spec("helpers").origin)
print(os.environ.get("TRITON_INTERPRET"), os.path.basename(os.getcwd()))"""


@pytest.fixture
def another_python3(tmp_path, monkeypatch):
    """A kernel of the same name that belongs to another Python, as conda and Colab machines have."""
    folder = tmp_path / "jupyter" / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text('{"argv": ["no-such-python"], "display_name": "x", "language": "python"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))


@pytest.mark.usefixtures("another_python3")
def test_execution_stores_what_the_cells_print(course, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "on")
    path = course / "notebooks" / "01_run.ipynb"
    cells = [TITLE, code("one", "x = 1\nprint(x)", 9, [stream("old")]), code("two", "x + 1", tags=["show"])]
    save(path, *cells, code("three", RUNS), course={"note": "kept"})
    assert execute.execute(path, "NVIDIA H200 · today") == 3
    found = notebooks.read(path)
    assert [cell.execution_count for cell in found.cells[1:]] == [1, 2, 3]
    assert found.cells[1].outputs == [stream("1\n")]
    assert found.cells[2].outputs[0].data == {"text/plain": "2"}
    place = [sys.executable, str(ROOT / "helpers" / "__init__.py"), "on notebooks"]
    assert found.cells[3].outputs[0].text.splitlines() == place
    assert found.metadata.course == {"note": "kept", "executed": "NVIDIA H200 · today"}
    assert path.read_text() == notebooks.canonical(found)
    assert not list(path.parent.glob(".*"))


@pytest.mark.parametrize(
    ("source", "reason"),
    [("raise KeyError('gone')", "cell two: KeyError: 'gone'"), ("import os; os._exit(3)", "cell two: DeadKernelError")],
)
def test_a_failing_cell_leaves_the_notebook_as_it_was(course, source, reason, monkeypatch, capsys):
    path = course / "notebooks" / "01_run.ipynb"
    save(path, TITLE, code("one", "print(1)"), code("two", source), code("three", "print(3)"))
    before = path.read_bytes()
    found = {"gpu": None, "interpreted": True, "torch": "2.13.0", "triton": "3.7.1"}
    monkeypatch.setattr(machine, "ask", lambda: found)
    assert execute.main([str(path)]) == 1
    printed = capsys.readouterr().out
    assert f"01_run.ipynb: {reason}" in printed and "do not commit them" in printed
    assert path.read_bytes() == before and not list(path.parent.glob(".*"))


def test_the_description_names_the_gpu_or_the_interpreter():
    found = {"gpu": "NVIDIA H200", "interpreted": False, "torch": "2.11.0+cu130", "triton": "3.6.0"}
    assert re.fullmatch(
        r"NVIDIA H200 · torch 2\.11\.0\+cu130 · triton 3\.6\.0 · \d{4}-\d\d-\d\d", execute.description(found)
    )
    assert execute.description({**found, "interpreted": True}).startswith("interpreter · torch 2.11.0+cu130 · ")


def test_a_fresh_python_says_where_it_runs():
    import torch
    import triton

    found = machine.ask()
    assert (found["torch"], found["triton"]) == (torch.__version__, triton.__version__)
    assert (found["gpu"] is not None) == torch.cuda.is_available()


# Pages

LINKS = """## Links
[next](03_fused_swiglu.ipynb#idea) [readme](../README.md#macos) [code](../helpers/device.py) [self](#links)
[site](https://triton-lang.org) [exercise](exercises/02_vector_add.ipynb)"""


def read(folder, name):
    return (folder / name).read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Reads a page: its links by their words, what a browser would fetch for it, and its pictures' alt texts."""

    def __init__(self, text):
        super().__init__()
        self.links, self.fetched, self.alts, self._href = {}, [], [], None
        self.feed(text)
        self.fetched += re.findall(r"(?:url\(|@import\s)[\"']?(?!data:|#)[^\s\"')]*", text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "a":
            self._href = found.get("href")
        else:
            addresses = [found[name] for name in ("src", "href") if name in found]
            self.fetched += [address for address in addresses if not address.startswith("data:")]
        if tag == "img":
            self.alts.append(found.get("alt"))

    def handle_data(self, data):
        if self._href is not None:
            self.links[data] = self._href

    def handle_endtag(self, tag):
        if tag == "a":
            self._href = None


def test_pages_are_offline_and_linked(course):
    folder = course / "notebooks"
    show = code("plot", "show()", 1, [picture('Two "programs" & <masks>')])
    save(folder / "02_vector_add.ipynb", TITLE, markdown("links", LINKS), show)
    save(folder / "03_fused_swiglu.ipynb", markdown("title", "# A `fused` SwiGLU\n\nOne kernel. Fast."))
    save(folder / "exercises" / "02_vector_add.ipynb", markdown("task", "# Gap\nOf [this](../02_vector_add.ipynb)."))
    built = pages.build(course)
    lecture, index = Reader(read(built, "02_vector_add.html")), Reader(read(built, "index.html"))
    exercise = Reader(read(built, "exercises/02_vector_add.html"))
    assert lecture.links.items() >= {
        ("next", "03_fused_swiglu.html#idea"),
        ("readme", "index.html"),
        ("self", "#links"),
        ("site", "https://triton-lang.org"),
        ("exercise", "exercises/02_vector_add.html"),
        ("A fused SwiGLU →", "03_fused_swiglu.html"),
        ("Triton, Cell by Cell", "index.html"),
    }
    assert "code" not in lecture.links and " code " in read(built, "02_vector_add.html")
    assert lecture.alts == ['Two "programs" & <masks>']
    assert exercise.links == {"this": "../02_vector_add.html", "Triton, Cell by Cell": "../index.html", "¶": "#Gap"}
    assert index.links["A fused SwiGLU"] == "03_fused_swiglu.html" and index.links["Gap"].startswith("exercises/")
    assert "We add two vectors.</li>" in read(built, "index.html")
    assert lecture.fetched == exercise.fetched == index.fetched == []


def test_pages_of_the_real_lectures_are_offline_and_their_links_lead_somewhere(tmp_path):
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    folder = pages.build(tmp_path)
    assert {path.stem for path in folder.glob("[0-9]*.html")} == {path.stem for path in notebooks.lectures()}
    for path in folder.rglob("*.html"):
        page = Reader(path.read_text(encoding="utf-8"))
        assert page.fetched == [] and all(page.alts), path.name
        inside = [link.partition("#")[0] for link in page.links.values() if not re.match("https?:|#", link)]
        assert [link for link in inside if not (path.parent / link).exists()] == [], path.name


def test_a_failing_page_leaves_the_earlier_pages(course, monkeypatch):
    folder = pages.build(course)
    (folder / "mark").write_text("earlier")
    save(course / "notebooks" / "03_fused_swiglu.ipynb", TITLE)
    monkeypatch.setattr(pages, "_index", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pages.build(course)
    assert read(folder, "mark") == "earlier" and not (folder / "03_fused_swiglu.html").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["html"]
    monkeypatch.undo()
    pages.build(course)
    assert not (folder / "mark").exists() and (folder / "03_fused_swiglu.html").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["html"]
