"""Drift finds a benchmark that became slower, or that is no longer timed, and nothing else."""

from helpers.course import drift
from helpers.tests.children import python

import pandas
import pytest

NOT_TIMED = "not timed: wrong, 3 of 8 elements"
TOO_LARGE = "not timed: the case does not fit into this card's free memory"


def table(note="", **speedups):
    rows = [{"case": "(8,)", "dtype": "float32", "impl": name, "speedup": value} for name, value in speedups.items()]
    return pandas.DataFrame(rows).assign(note=note)


def test_a_ratio_is_now_by_then_and_only_of_what_was_recorded():
    found = drift.ratios(table(eager=1.0, triton=1.4, liger=2), table(eager=1.0, triton=1.75, liger=None))
    assert found["row"].tolist() == ["(8,) float32 eager", "(8,) float32 triton"]
    assert found["ratio"].tolist() == [1.0, pytest.approx(0.8)]
    assert found["judged"].all() and not found["lost"].any()


@pytest.mark.parametrize(
    ("now", "note", "judged", "lost"),
    [(1.0, "", True, False), (0.2, "launch-bound", False, False), (None, NOT_TIMED, False, True),
     (None, TOO_LARGE, False, False)],
)  # fmt: skip
def test_what_is_not_judged_and_what_is_lost(now, note, judged, lost):
    (row,) = drift.ratios(table(note, triton=now), table(triton=1.7)).itertuples()
    assert (row.judged, row.lost) == (judged, lost)
    assert not drift.ratios(table(triton=1.0), table("launch-bound", triton=1.7))["judged"].any()


@pytest.fixture
def judged(tmp_path):
    """Judges tables now and then (name to table): what is wrong, and the report."""

    def judge(now, then, card="H200"):
        for folder, tables, about in (("tables", now, card), ("records", then, "H200")):
            for name, rows in tables.items():
                path = tmp_path / folder / f"{name}.csv"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"# card: {about}\n# driver: driver 1\n" + rows.to_csv(index=False))
        return drift.judge(tmp_path, tmp_path / "records"), (tmp_path / "report.md").read_text(encoding="utf-8")

    return judge


def test_the_report_says_what_became_slower(judged):
    recorded = table(eager=1.0, triton=1.7)
    now = {"a/swiglu": table(eager=1.0, triton=1.52), "a/add": table(eager=1.0, triton=1.54)}
    wrong, text = judged(now, {"a/swiglu": recorded, "a/add": recorded})
    assert wrong == ["a/swiglu, (8,) float32 triton: speed-up 1.70, now 1.52"] and f"- {wrong[0]}" in text
    assert "Here: H200, driver 1. Recorded: H200, driver 1." in text and "- a/add: 2 rows judged, 0 not" in text


def test_on_another_card_a_smaller_speedup_is_listed_and_not_wrong(judged):
    wrong, text = judged({"a/x": table(triton=1.2)}, {"a/x": table(triton=1.7)}, card="L40S")
    assert wrong == [] and "speed-up 1.70, now 1.20" in text and "Nothing is wrong." in text


def test_what_is_lost_not_measured_or_not_judged_is_wrong(judged):
    lost = table(NOT_TIMED, triton=None)
    wrong, text = judged({"a/new": lost, "a/x": lost}, {"a/old": lost, "a/x": table(triton=1.0)})
    missing = "a/old: recorded, and not measured now"
    assert wrong == [missing, f"a/x, (8,) float32 triton: {NOT_TIMED}", "no row could be judged"]
    assert "- a/new: not recorded yet" in text


def test_without_a_gpu_drift_says_so():
    done = python("-m", "helpers.course.drift", TRITON_INTERPRET="1")
    assert done.returncode == 1 and done.stdout == "there is no GPU to measure on\n"
