"""Records: what is written is read back, a change of code is said, and nothing is shown that was not measured."""

from helpers.course import notebooks
from helpers.measure import recording, records
from helpers.measure.fingerprint import fingerprint
from helpers.tests import recorded_twins as twins

import ast
import datetime
from pathlib import Path

import pandas
import pytest
import torch
import triton

ABOUT = {"card": "A: B: C", "driver": "driver 1", "torch": "torch 2", "triton": "triton 3", "date": "2026-01-01"}
HEAD = "# card: A: B: C\n# driver: driver 1\n# torch: torch 2\n# triton: triton 3\n# date: 2026-01-01\n# code: c0de\n"
SAID = "Recorded, not measured here: A: B: C, driver 1, torch 2, triton 3, 2026-01-01\n"
TABLE = pandas.DataFrame([{"µs": 3}])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of one topic, empty; here the machine is one with a GPU, and nothing is asked for."""
    monkeypatch.setattr(records, "DATA", tmp_path / "benchmarks")
    monkeypatch.setattr(records, "_written", {})
    monkeypatch.setattr(recording, "INTERPRETED", False)
    monkeypatch.setattr(recording, "provenance", lambda: dict(ABOUT))
    monkeypatch.delenv("COURSE_RECORD", raising=False)
    monkeypatch.delenv("COURSE_STRICT_RECORDS", raising=False)
    return tmp_path / "benchmarks" / "topic"


def save(folder, name, table, code="c0de", author="me"):
    records.save(folder, name, table, {**ABOUT, "code": code}, author)


def test_a_table_is_read_back_as_it_was_written(folder):
    rows = [("1024", "2", 123456.7, "# odd, text"), ("08", "3", None, "")]
    table = pandas.DataFrame(rows, columns=["shape", "impl", "µs", "note"])
    save(folder, "speed", table)
    body = 'shape,impl,µs,note\n1024,2,1.2346e+05,"# odd, text"\n08,3,,\n'
    assert (folder / "speed.csv").read_bytes().decode() == HEAD + body
    back, about = records.load("speed")
    assert about == {**ABOUT, "code": "c0de"} and back["µs"].tolist()[0] == 123460
    assert back.drop(columns="µs").values.tolist() == table.drop(columns="µs").values.tolist()
    assert [path.name for path in folder.iterdir()] == ["speed.csv"]


def test_text_is_read_back_as_it_was_written_and_notes_that_are_all_empty_stay_empty(folder):
    save(folder, "speed", pandas.DataFrame([{"µs": 1, "note": ""}]))
    assert records.load("speed")[0]["note"].tolist() == [""]
    text = "# not a header: it is text\n\ndef f():\n    # nor this: one\n    pass\n"
    save(folder, "code", text)
    assert (folder / "code.txt").read_bytes().decode() == HEAD + text + "\n"
    assert records.load("code")[0] == text


def test_nothing_recorded_is_one_clear_sentence(folder):
    folder.mkdir(parents=True)
    (folder / "speed.new").write_text("")  # as a crash leaves it
    with pytest.raises(records.NotRecorded, match=r"^Kernels run .* about a GPU; of 'speed' no measurement"):
        records.load("speed")


def test_a_name_that_two_topics_have_names_both(folder):
    save(folder, "speed", TABLE)
    save(folder.with_name("other"), "speed", "text")
    with pytest.raises(ValueError, match=r"two records are called 'speed': other/speed.txt and topic/speed.csv"):
        records.load("speed")


def test_a_second_measurement_of_a_name_is_refused(folder):
    save(folder, "speed", TABLE)
    save(folder, "speed", pandas.DataFrame([{"µs": 4}]))  # the same cell, run again
    save(folder.with_name("other"), "speed", TABLE, author="you")
    save(folder, "fast", TABLE, author="you")
    with pytest.raises(RuntimeError, match=r"two measurements of this notebook are called 'speed'"):
        save(folder, "speed", TABLE, author="you")
    assert (folder / "speed.csv").read_text().endswith("4\n")


@pytest.mark.parametrize("failing", ["write_bytes", "replace"])
def test_a_file_that_cannot_be_written_leaves_the_old_one(folder, monkeypatch, failing):
    save(folder, "speed", TABLE)

    def fail(self, *args):
        self.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(Path, failing, fail)
    with pytest.raises(OSError, match="disk full"):
        save(folder, "speed", pandas.DataFrame([{"µs": 4}]))
    assert (folder / "speed.csv").read_text().endswith("3\n")


def test_a_changed_record_says_so_and_fails_the_tests(folder, monkeypatch, capsys):
    save(folder, "speed", "text")
    monkeypatch.setenv("COURSE_STRICT_RECORDS", "1")
    assert recording.shown("speed", "c0de") == "text" and capsys.readouterr().out == SAID
    with pytest.raises(RuntimeError, match="'speed' is stale"):
        recording.shown("speed", "new")
    monkeypatch.setenv("COURSE_STRICT_RECORDS", "0")
    assert recording.shown("speed", "new") == "text"
    assert capsys.readouterr().out == f"{SAID}{recording.CHANGED}\n"


def test_without_a_gpu_the_record_is_shown(folder, monkeypatch, capsys):
    monkeypatch.setattr(recording, "INTERPRETED", True)
    save(folder, "plain", TABLE, fingerprint([twins.plain]))
    assert recording.recorded(twins.plain)(1)["µs"].tolist() == [3]
    assert capsys.readouterr().out == SAID


def test_what_was_measured_is_returned_and_written_only_if_asked_and_once_under_a_name(folder, monkeypatch, capsys):
    measure = recording.recorded(twins.rows)
    assert measure()["µs"].tolist() == [1, 2] and not folder.exists()
    monkeypatch.setenv("COURSE_RECORD", str(folder))
    measure()
    assert capsys.readouterr().out == 2 * f"Measured here: {', '.join(ABOUT.values())}\n"
    table, about = records.load("rows")
    assert table["µs"].tolist() == [1, 2] and about == {**ABOUT, "code": fingerprint([twins.rows])}
    assert recording.recorded(twins.told)("a", end="b") == "ab" and records.load("told")[0] == "ab"
    assert measure.__name__ == "rows"
    other = lambda: [{"µs": 7}]  # noqa: E731
    other.__name__ = "rows"
    with pytest.raises(RuntimeError, match="'rows'"):
        recording.recorded(other)()


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (twins.unavailable, "no such tool"),
        (twins.too_large, "CUDA out of memory. Tried to allocate 20.00 GiB."),
        (twins.spills_too_much, "Triton Error [CUDA]: out of memory"),
    ],
)
def test_what_cannot_be_measured_on_this_card_shows_the_record(measure, reason, folder, capsys):
    with pytest.raises((recording.Unavailable, RuntimeError), match=r"such tool|out of memory"):
        recording.recorded(measure)()
    save(folder, measure.__name__, TABLE, fingerprint([measure]))
    assert recording.recorded(measure)()["µs"].tolist() == [3]
    assert capsys.readouterr().out == f"Cannot be measured here: {reason}\n{SAID}"


def test_any_other_error_stands(folder):
    save(folder, "breaks", TABLE, fingerprint([twins.breaks]))
    with pytest.raises(RuntimeError, match="illegal memory access"):
        recording.recorded(twins.breaks)()


def test_a_record_says_what_measured_it(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "A Card")
    monkeypatch.setattr(recording, "driver", lambda: {"driver": "580.1", "driver_cuda": "13.0"})
    assert recording.provenance() == {
        "card": "A Card",
        "driver": "driver 580.1",
        "torch": f"torch {torch.__version__}",
        "triton": f"triton {triton.__version__}",
        "date": datetime.date.today().isoformat(),
    }
    assert [*recording.provenance(), "code"] == list(records.HEADER)


RECORDED, COMPARE = {"recorded", "helpers.recorded"}, {"compare", "helpers.compare"}


def names_in(path):
    """The records that a notebook shows: its functions marked `@recorded`, and the names of its comparisons."""
    for cell in notebooks.read(path).cells:
        for node in ast.walk(ast.parse(cell.source)) if cell.cell_type == "code" else ():
            if isinstance(node, ast.FunctionDef) and RECORDED & set(map(ast.unparse, node.decorator_list)):
                yield node.name
            if isinstance(node, ast.Call) and ast.unparse(node.func) in COMPARE:
                yield from (ast.literal_eval(one.value) for one in node.keywords if one.arg == "name")


def test_every_record_lies_in_the_folder_of_the_one_notebook_that_shows_it():
    shown = [(name, notebooks.topic(path)) for path in notebooks.executed() for name in names_in(path)]
    there = [(path.stem, path.parent.name) for path in records.DATA.rglob("*") if path.is_file()]
    assert sorted(shown) == sorted(there) and len({name for name, _ in shown}) == len(shown)


@pytest.mark.parametrize("path", sorted(records.DATA.glob("*/*")), ids=lambda path: path.name)
def test_every_record_says_where_it_comes_from(path):
    _, about = records.load(path.stem)
    assert list(about) == list(records.HEADER) and all(about.values())


def test_the_shapes_are_those_of_ten_models_over_all_token_counts():
    table = pandas.read_csv(records.DATA.parent / "llm_shapes.csv", comment="#")
    assert table["model"].nunique() == 10
    assert all(set(part["tokens"]) == {1, 8, 64, 512, 4096, 8192} for _, part in table.groupby("model"))
    assert (table["intermediate"] > table["hidden"]).all() and table["source"].str.contains("/").all()
