"""The lint finds the faults it is there for, in any language, and `make fix` mends bytes and nothing else."""

from helpers.course import notebooks
from helpers.tests.synthetic import GPU, code, markdown, notebook, picture, save, stream

import copy

import pytest

GOOD = [
    markdown("title", "# Vector add\nWe add two vectors."),
    markdown("setup-text", "## Set-up\nSee [the readme](../README.md#install), [below](#end) and [x](https://x.org)."),
    code("setup", "import math", 1),
    code("pi", "print(math.pi > 3)", 2, [stream("True\n")], tags=["show"]),
    code("plot", "show()", 3, [picture("Three programs, the last one masked")]),
    markdown("end", "### End\nThat was `/tmp` but no path below it.\n```\n# no heading\n```\n" + "字" * 1000),
]
EXECUTED_AS = "cell pi: it was executed as number 7 and is number 2"
TO_PATH = "it names a folder of one machine"


def changed(number: int, **entries):
    """A fault: the cell of that number gets other entries."""
    return lambda cells: cells[number].update(entries)


def drawn(output):
    return changed(4, outputs=[output])


ERROR = {"output_type": "error", "ename": "KeyError", "evalue": "x", "traceback": []}
FAULTS = {
    "not executed": (changed(3, execution_count=None, outputs=[]), "cell pi: it was not executed"),
    "no count": (changed(3, execution_count=None), "cell pi: it has outputs but no execution count"),
    "order": (changed(3, execution_count=7), EXECUTED_AS),
    "empty cell": (changed(3, source=" ", outputs=[]), "cell pi: it is an empty code cell"),
    "error": (drawn(ERROR), "cell plot: it raised KeyError"),
    "stderr": (drawn(stream("a warning\n", "stderr")), "cell plot: it wrote to stderr ('a warning')"),
    "svg": (drawn(picture("A", "image/svg+xml", "<svg/>")), "cell plot: it stores an SVG picture"),
    "no alt text": (drawn(picture(None)), "cell plot: its picture has no alt text"),
    "exception": (changed(3, metadata={"tags": ["raises-exception"]}), "cell pi: it is tagged raises-exception"),
    "path in code": (changed(2, source="open('/home/me/x')"), f"cell setup: {TO_PATH} (/home/…)"),
    "path in output": (drawn(stream('File "/root/x.py"')), f"cell plot: {TO_PATH} (/root/…)"),
    "path in prose": (changed(5, source="Look into /work/course."), f"cell end: {TO_PATH} (/work/…)"),
    "path in html": (drawn(picture("A", "text/html", "<p>/opt/x</p>")), f"cell plot: {TO_PATH} (/opt/…)"),
    "no title": (changed(0, source="Vector add"), "cell title: the first cell is not a title"),
    "two titles": (changed(5, source="# End"), 'cell end: it holds a second "# " heading'),
    "heading jumps": (changed(1, source="### Set-up"), "cell setup-text: its heading jumps from level 1 to 3"),
    "long code": (changed(2, source="x = 1\n" * 41), "cell setup: it has 41 lines, and 40 are the most"),
    "long prose": (changed(5, source="字" * 1101), "cell end: it has 1101 characters of prose, and 1100 are the most"),
    "dead link": (changed(5, source="[x](03_gone.ipynb#a)"), "cell end: it links to 03_gone.ipynb#a, which does not"),
    "dead picture": (changed(5, source='<img src="gone.png">'), "cell end: it links to gone.png"),
    "too large": (drawn(picture("A", data="A" * 10**6)), "it has 1.0 MB, and a notebook stays under 1"),
}


def lint(course, cells, entry=GPU, folder=""):
    return notebooks.findings(save(course / "notebooks" / folder / "02_vector_add.ipynb", *cells, course=entry))


@pytest.mark.parametrize("fault", FAULTS)
def test_the_lint_finds(course, fault):
    assert lint(course, GOOD) == []
    spoil, expected = FAULTS[fault]
    cells = copy.deepcopy(GOOD)
    spoil(cells)
    (found,) = lint(course, cells)
    assert expected in found


def test_a_lecture_is_executed_on_a_gpu_a_solution_anywhere_and_an_exercise_nowhere(course):
    assert "nothing says where it was executed" in lint(course, GOOD, {})[0]
    assert "come from the interpreter" in lint(course, GOOD, {"executed": "interpreter · torch 2"})[0]
    never = [code(cell.id, cell.source) if cell.cell_type == "code" else cell for cell in GOOD]
    assert lint(course, never)[0].endswith(": it was not executed: run `make execute` on a GPU")
    task = markdown("task", "## Fill the gap")
    assert lint(course, [task, code("gap", "1", 1)], {}, "solutions") == []
    assert "executed as number 2" in lint(course, [task, code("gap", "1", 2)], {}, "solutions")[0]
    assert lint(course, [task, code("gap", "...")], {}, "exercises") == []


def test_the_lint_finds_other_bytes_and_names_and_mends_the_bytes(course, capsys):
    path = save(course / "notebooks" / "02_vector_add.ipynb", *GOOD, course=GPU)
    text = path.read_text()
    path.write_text(text.replace("\n ", "\n    "))
    assert "its bytes are not canonical: run `make fix`" in notebooks.findings(path)[0]
    assert notebooks.main(["--fix", str(path)]) == 0
    assert path.read_text() == text and "rewrote" in capsys.readouterr().out
    assert notebooks.main(["--fix", str(path)]) == 0 and "rewrote" not in capsys.readouterr().out
    assert "not named like a lecture" in notebooks.findings(path.rename(path.with_name("Scratch.ipynb")))[0]


@pytest.mark.parametrize("text", ["", "[]", '{"nbformat": 3, "worksheets": []}'])
def test_the_lint_finds_what_is_no_notebook(course, text):
    path = course / "notebooks" / "03_broken.ipynb"
    path.write_text(text)
    assert len(notebooks.findings(path)) == 1 and "not a notebook of nbformat 4" in notebooks.findings(path)[0]


def test_canonical_bytes_are_stable_and_hold_no_trace_of_an_editor():
    kept = {"tags": ["export"], "slideshow": {"slide_type": "slide"}, "nbgrader": {"grade": True}, "slide": ""}
    raw = notebook(
        code("a", "x", 1, editable=True, execution={"iopub.execute_input": "x"}, slideshow={"slide_type": ""}, tags=[], compile={}),
        code("same", "y", **kept, compile={"f": 1}),
        code("same", "é", jupyter={"source_hidden": True}),
        kernelspec={"name": "mine", "display_name": "x"}, language_info={"name": "python", "version": "3.11.7"}, widgets={}, course=GPU,
    )  # fmt: skip
    del raw.cells[0]["id"]
    text = notebooks.canonical(raw)
    result = notebooks.parse(text)
    assert len({cell.id for cell in result.cells} - {"same"}) == 2
    assert [dict(cell.metadata) for cell in result.cells] == [{}, {**kept, "compile": {"f": 1}}, {}]
    assert result.metadata == {
        "kernelspec": notebooks.KERNELSPEC, "language_info": {"name": "python"}, "course": GPU,
    }  # fmt: skip
    assert "é" in text and text.endswith("}\n") and not text.endswith("\n\n")
    assert notebooks.canonical(result) == text == notebooks.canonical(raw)


def test_the_repositorys_notebooks_are_as_they_should_be():
    assert [line for path in notebooks.every_notebook() for line in notebooks.findings(path)] == []


def test_which_lectures_measure_is_read_from_their_code(tmp_path):
    sources = {"01_a": "@recorded\ndef f(): ...", "02_b": "helpers.compare({}, [])", "03_c": "from x import recorded"}
    for name, source in sources.items():
        save(tmp_path / "notebooks" / f"{name}.ipynb", markdown("title", "# compare(x)"), code("a", source))
    assert [path.stem for path in notebooks.measuring(tmp_path)] == ["01_a", "02_b"]
    assert [path.stem for path in notebooks.measuring()] == ["05_benchmarking", "06_explaining_a_number"]


def test_a_course_without_lectures_is_an_error(tmp_path):
    for tool in (notebooks.lectures, notebooks.solutions, notebooks.every_notebook):
        with pytest.raises(FileNotFoundError, match="holds no notebook NN_topic"):
            tool(tmp_path)
