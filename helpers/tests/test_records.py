"""Records: what is written is read back, a change of code is noticed, and nothing is shown that was not measured."""

from helpers.course import notebooks
from helpers.kernels import fused_swiglu
from helpers.measure import records
from helpers.tests import recorded_twins as twins

import pandas
import pytest
import torch

ABOUT = {"card": "A Card", "driver": "driver 1", "torch": "torch 2", "triton": "triton 3", "date": "2026-01-01"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "FOLDER", tmp_path / "benchmarks")
    monkeypatch.setattr(records, "DATA", tmp_path / "data")
    monkeypatch.delenv(records.STRICT, raising=False)
    return tmp_path / "benchmarks"


def test_a_table_is_read_back_as_it_was_written(folder):
    table = pandas.DataFrame([{"impl": "a", "µs": 1.25, "note": "# odd, text"}, {"impl": "b", "µs": None, "note": ""}])
    records.write("speed", table, {**ABOUT, "code": "c0de"})
    back, about = records.read("speed")
    assert about == {**ABOUT, "code": "c0de"}
    pandas.testing.assert_frame_equal(back, table, check_dtype=False)
    assert [path.name for path in folder.iterdir()] == ["speed.csv"]


def test_text_is_read_back_as_it_was_written(folder):
    records.write("code", "# not a header: it is text\ndef f():\n    pass", {**ABOUT, "code": "c0de"})
    assert records.read("code")[0].endswith("def f():\n    pass")


def test_nothing_recorded_is_one_clear_sentence(folder):
    with pytest.raises(records.NotRecorded, match=r"interpreter.*'speed'"):
        records.read("speed")


def test_a_changed_record_says_so_and_fails_the_tests(folder, monkeypatch, capsys):
    about = {**ABOUT, "code": "old"}
    records.shown("table", about, "old")
    assert capsys.readouterr().out == "Recorded, not measured here: A Card, driver 1, torch 2, triton 3, 2026-01-01\n"
    records.shown("table", about, "new")
    assert records.CHANGED in capsys.readouterr().out
    monkeypatch.setenv(records.STRICT, "1")
    with pytest.raises(RuntimeError, match="make benchmarks"):
        records.shown("table", about, "new")


@pytest.mark.parametrize("same", [twins.commented, twins.documented])
def test_comments_layout_and_docstrings_do_not_count(same):
    assert records._code(same).partition("\n")[2] == records._code(twins.plain).partition("\n")[2]


def test_a_change_in_a_device_function_counts():
    """`first` and `second` differ only in the device function that their kernels call."""
    assert records.kernel_fingerprint([twins.first]) != records.kernel_fingerprint([twins.second])


def test_a_launcher_leads_to_its_kernel_and_its_device_functions():
    found = records._kernels([fused_swiglu.swiglu])
    assert set(found) == {"swiglu", "swiglu_kernel", "widen", "silu"}


def test_a_function_without_a_kernel_has_no_kernel_fingerprint():
    assert records.kernel_fingerprint([twins.plain]) == records.kernel_fingerprint([])
    assert records.fingerprint([twins.plain]) != records.fingerprint([])


def test_a_lambda_around_a_launcher_leads_to_its_kernel():
    assert set(records._kernels([twins.around])) == {"<lambda>", "swiglu", "swiglu_kernel", "widen", "silu"}


def test_recorded_shows_the_record_where_kernels_are_interpreted(folder, monkeypatch, capsys):
    monkeypatch.setattr(records, "INTERPRETED", True)
    shown = records.recorded(twins.plain)
    records.write("plain", pandas.DataFrame([{"µs": 3}]), {**ABOUT, "code": records.fingerprint([twins.plain])})
    assert shown(1)["µs"].tolist() == [3]
    assert "A Card" in capsys.readouterr().out


def test_a_tool_that_is_missing_on_a_gpu_machine_shows_the_record(folder, monkeypatch, capsys):
    monkeypatch.setattr(records, "INTERPRETED", False)
    about = {**ABOUT, "code": records.fingerprint([twins.unavailable])}
    records.write("unavailable", pandas.DataFrame([{"µs": 3}]), about)
    assert records.recorded(twins.unavailable)()["µs"].tolist() == [3]
    assert "Cannot be measured here: no such tool\nRecorded, not measured here" in capsys.readouterr().out


def test_a_run_that_writes_elsewhere_still_shows_what_travels_with_the_course(folder, monkeypatch, capsys):
    """As `make drift` does on a machine without ncu."""
    monkeypatch.setattr(records, "INTERPRETED", False)
    records.write("unavailable", pandas.DataFrame([{"µs": 3}]), {**ABOUT, "code": "c0de"})
    monkeypatch.setattr(records, "DATA", folder)
    monkeypatch.setattr(records, "FOLDER", folder / "elsewhere")
    assert records.recorded(twins.unavailable)()["µs"].tolist() == [3]
    assert "Cannot be measured here: no such tool" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (twins.too_large, "CUDA out of memory. Tried to allocate 20.00 GiB."),
        (twins.spills_too_much, "Triton Error [CUDA]: out of memory"),
    ],
)
def test_what_does_not_fit_on_the_card_shows_the_record(measure, reason, folder, monkeypatch, capsys):
    monkeypatch.setattr(records, "INTERPRETED", False)
    records.write(measure.__name__, pandas.DataFrame([{"µs": 3}]), {**ABOUT, "code": records.fingerprint([measure])})
    assert records.recorded(measure)()["µs"].tolist() == [3]
    said = f"Cannot be measured here: {reason}\nRecorded, not measured here"
    assert said in capsys.readouterr().out


def test_any_other_error_stands(folder, monkeypatch):
    monkeypatch.setattr(records, "INTERPRETED", False)
    records.write("breaks", pandas.DataFrame([{"µs": 3}]), {**ABOUT, "code": records.fingerprint([twins.breaks])})
    with pytest.raises(RuntimeError, match="illegal memory access"):
        records.recorded(twins.breaks)()


def test_what_does_not_fit_and_was_never_recorded_is_an_error(folder, monkeypatch):
    monkeypatch.setattr(records, "INTERPRETED", False)
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate"):
        records.recorded(twins.too_large)()


def test_recorded_measures_and_writes_on_a_gpu(folder, monkeypatch, capsys):
    monkeypatch.setattr(records, "INTERPRETED", False)
    monkeypatch.setattr(records, "provenance", lambda: ABOUT)
    shown = records.recorded(twins.rows)
    assert shown()["µs"].tolist() == [1, 2]
    assert not folder.exists()
    monkeypatch.setenv(records.RECORD, "1")
    shown()
    assert records.read("rows")[0]["µs"].tolist() == [1, 2]
    assert "Measured here: A Card" in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted(records.FOLDER.iterdir()), ids=lambda path: path.name)
def test_every_record_says_where_it_comes_from_and_a_lecture_shows_it(path):
    _, about = records.read(path.stem)
    assert list(about) == ["card", "driver", "torch", "triton", "date", "code"] and all(about.values())
    sources = [cell.source for lecture in notebooks.lectures() for cell in notebooks.read(lecture).cells]
    assert any(f"def {path.stem}(" in source or f'name="{path.stem}"' in source for source in sources)


def test_the_shapes_are_those_of_at_least_eight_models_over_all_token_counts():
    table = pandas.read_csv(records.FOLDER.parent / "llm_shapes.csv", comment="#")
    assert table["model"].nunique() >= 8
    assert all(set(part["tokens"]) == {1, 8, 64, 512, 4096, 8192} for _, part in table.groupby("model"))
    assert (table["intermediate"] > table["hidden"]).all() and table["source"].str.contains("/").all()
