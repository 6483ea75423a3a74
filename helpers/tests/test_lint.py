"""The lint finds the faults it is there for, in any language, and `make fix` mends bytes and nothing else."""

from helpers.course import notebooks
from helpers.tests.synthetic import GPU, code, markdown, notebook, picture, save, slide, stream

import copy

import pytest

GOOD = [
    markdown("title", "# Vector add\nWe add two vectors."),
    markdown("setup-text", "## Set-up\nSee [this](02_vector_add.ipynb#title), [below](#end) and [x](https://x.org)."),
    code("setup", "import math  # a; b;", 1),
    code("pi", "print(math.pi > 3)", 2, [stream("True\n")], tags=["show"]),
    code("plot", "show()", 3, [picture("Three programs, the last one masked")]),
    markdown("end", "### End\nThat was `/tmp` but no path below it.\n```\n# no heading\n```\n" + "字" * 1000),
]
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
    "order": (changed(3, execution_count=7), "cell pi: it was executed as number 7 and is number 2"),
    "empty cell": (changed(3, source=" ", outputs=[]), "cell pi: it is an empty code cell"),
    "error": (drawn(ERROR), "cell plot: it raised KeyError"),
    "stderr": (drawn(stream("a warning\n", "stderr")), "cell plot: it wrote to stderr ('a warning')"),
    "svg": (drawn(picture("A", "image/svg+xml", "<svg/>")), "cell plot: it stores an SVG picture"),
    "no alt text": (drawn(picture(None)), "cell plot: its picture has no alt text"),
    "semicolon": (changed(2, source="'# ;' # no\nplot();  # it"), 'cell setup: it ends with ";"'),
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


def lint(folder, cells, entry=GPU):
    return notebooks.findings(save(folder / "02_vector_add.ipynb", *cells, course=entry))


@pytest.mark.parametrize("fault", FAULTS)
def test_the_lint_finds(tmp_path, fault):
    assert lint(tmp_path, GOOD) == []
    spoil, expected = FAULTS[fault]
    cells = copy.deepcopy(GOOD)
    spoil(cells)
    (found,) = lint(tmp_path, cells)
    assert expected in found


def test_a_lecture_is_executed_on_a_gpu_a_solution_anywhere_and_an_exercise_nowhere(tmp_path):
    assert "nothing says where it was executed" in lint(tmp_path, GOOD, {})[0]
    assert "come from the interpreter" in lint(tmp_path, GOOD, {"executed": "interpreter · torch 2"})[0]
    never = [code(cell.id, cell.source) if cell.cell_type == "code" else cell for cell in GOOD]
    assert lint(tmp_path, never)[0].endswith(": it was not executed: run `make execute` on a GPU")
    assert lint(tmp_path / "solutions", [code("gap", "1", 1)], {}) == []
    assert "executed as number 2" in lint(tmp_path / "solutions", [code("gap", "1", 2)], {})[0]
    assert lint(tmp_path / "exercises", [code("gap", "...")], {}) == []


def test_the_lint_finds_other_bytes_and_names_and_mends_the_bytes(tmp_path, capsys):
    path = save(tmp_path / "02_vector_add.ipynb", *GOOD, course=GPU)
    text = path.read_text()
    path.write_text(text.replace("\n ", "\n    "))
    assert "its bytes are not canonical: run `make fix`" in notebooks.findings(path)[0]
    assert notebooks.main(["--fix", str(path)]) == 0
    assert path.read_text() == text and "rewrote" in capsys.readouterr().out
    assert notebooks.main(["--fix", str(path)]) == 0 and "rewrote" not in capsys.readouterr().out
    assert "not named like a lecture" in notebooks.findings(path.rename(tmp_path / "Scratch.ipynb"))[0]
    for broken in ("", "[]", '{"nbformat": 3, "worksheets": []}'):
        path.write_text(broken)
        assert "not a notebook of nbformat 4" in notebooks.findings(path)[0]


def test_canonical_bytes_are_stable_and_hold_no_trace_of_an_editor():
    kept = slide("slide", "export", nbgrader={"grade": True}, slide="", compile={"f": 1})
    left_behind = slide("", execution={"iopub.execute_input": "x"}, compile={})
    python = {"name": "python", "version": "3.11.7"}
    cells = code("a", "x", **left_behind), code("same", "y", **kept), code("other", "é")
    raw = notebook(*cells, language_info=python, course=GPU)
    del raw.cells[0]["id"]
    raw.cells[2]["id"] = "same"
    text = notebooks.canonical(raw)
    result = notebooks.parse(text)
    assert len({cell.id for cell in result.cells} - {"same"}) == 2
    assert [dict(cell.metadata) for cell in result.cells] == [{}, kept, {}]
    python = {"kernelspec": notebooks.KERNELSPEC, "language_info": {"name": "python"}}
    assert result.metadata == {**python, "course": GPU}
    assert "é" in text and text.endswith("}\n") and not text.endswith("\n\n")
    assert notebooks.canonical(result) == text == notebooks.canonical(raw)


def test_the_repositorys_notebooks_are_as_they_should_be():
    assert [line for path in notebooks.every_notebook() for line in notebooks.findings(path)] == []


def test_which_lectures_measure_is_read_from_their_code(tmp_path):
    sources = {"01_a": "@recorded\ndef f(): ...", "02_b": "helpers.compare({}, [])", "03_c": "from x import recorded"}
    for name, source in sources.items():
        save(tmp_path / "notebooks" / f"{name}.ipynb", markdown("title", "# compare(x)"), code("a", source))
    for name, source in {"02_b": "recorded", "03_c": "check"}.items():
        save(tmp_path / "notebooks" / "solutions" / f"{name}.ipynb", code("a", source))
    assert [path.stem for path in notebooks.measuring(tmp_path)] == ["01_a", "02_b", "02_b"]
    assert notebooks.measuring(tmp_path)[-1].parent.name == "solutions"
    assert {"05_benchmarking", "06_explaining_a_number"} <= {path.stem for path in notebooks.measuring()}


def test_a_course_without_lectures_is_an_error(tmp_path):
    for tool in (notebooks.lectures, notebooks.solutions, notebooks.every_notebook):
        with pytest.raises(FileNotFoundError, match="holds no notebook NN_topic"):
            tool(tmp_path)
