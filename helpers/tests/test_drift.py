"""Drift finds a benchmark that became slower, or that is no longer timed, and nothing else."""

from helpers.course import drift
from helpers.tests.children import python

import pandas
import pytest

NOT_TIMED = "not timed: wrong, 3 of 8 elements"
TOO_LARGE = "not timed: the case does not fit into this card's free memory"


def table(speedups, note=""):
    rows = [
        {"case": "(8,)", "dtype": "float32", "impl": name, "speedup": s, "note": note} for name, s in speedups.items()
    ]
    return pandas.DataFrame(rows)


def ratios(now, then, note=""):
    return drift.ratios(table(now, note), table(then)).set_index("row")


def test_a_ratio_is_now_by_then_and_only_of_what_was_recorded():
    found = ratios({"eager": 1.0, "triton": 1.4, "liger": 2}, {"eager": 1.0, "triton": 1.75, "liger": None})
    assert found["ratio"].to_dict() == {"(8,) float32 eager": 1.0, "(8,) float32 triton": pytest.approx(0.8)}
    assert found["judged"].all() and not found["lost"].any()
    assert not ratios({"triton": 0.2}, {"triton": 1.7}, "launch-bound; fits in L2")["judged"].any()


def test_what_is_no_longer_timed_is_lost_unless_it_does_not_fit():
    assert ratios({"triton": None}, {"triton": 1.7}, NOT_TIMED)["lost"].all()
    assert not ratios({"triton": None}, {"triton": 1.7}, TOO_LARGE)["lost"].any()
    assert not ratios({"triton": 1.0}, {"triton": 1.7})["lost"].any()


@pytest.fixture
def judged(tmp_path):
    """Judges tables now and then (name to table): what is wrong, and the report."""

    def judge(now, then, card="H200"):
        for folder, tables, about in ((tmp_path / "tables", now, card), (tmp_path / "records", then, "H200")):
            for name, rows in tables.items():
                path = folder / f"{name}.csv"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"# card: {about}\n# driver: driver 1\n" + rows.to_csv(index=False))
        return drift.judge(tmp_path, tmp_path / "records"), (tmp_path / "report.md").read_text(encoding="utf-8")

    return judge


def test_the_report_says_what_became_slower(judged):
    slow, fast = table({"eager": 1.0, "triton": 1.52}), table({"eager": 1.0, "triton": 1.7})
    within = table({"eager": 1.0, "triton": 1.54})
    wrong, text = judged({"a/swiglu": slow, "a/add": within}, {"a/swiglu": fast, "a/add": fast})
    assert wrong == ["a/swiglu, (8,) float32 triton: speed-up 1.70, now 1.52"] and f"- {wrong[0]}" in text
    assert "Here: H200, driver 1. Recorded: H200, driver 1." in text and "- a/add: 2 rows judged, 0 not" in text


def test_on_another_card_a_smaller_speedup_is_listed_and_not_wrong(judged):
    wrong, text = judged({"a/x": table({"triton": 1.2})}, {"a/x": table({"triton": 1.7})}, card="L40S")
    assert wrong == [] and "speed-up 1.70, now 1.20" in text and "Nothing is wrong." in text


def test_what_is_lost_not_measured_or_not_judged_is_wrong(judged):
    lost = table({"triton": None}, NOT_TIMED)
    wrong, text = judged({"a/new": lost, "a/x": lost}, {"a/old": lost, "a/x": table({"triton": 1.0})})
    missing = "a/old: recorded, and not measured now"
    assert wrong == [missing, f"a/x, (8,) float32 triton: {NOT_TIMED}", "no row could be judged"]
    assert "- a/new: not recorded yet" in text


def test_without_a_gpu_drift_says_so():
    done = python("-m", "helpers.course.drift", TRITON_INTERPRET="1")
    assert done.returncode == 1 and done.stdout == "there is no GPU to measure on\n"
