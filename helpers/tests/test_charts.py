"""The charts: what they show is in their alt text, and rows that were not timed are left out."""

from helpers.measure import charts

import pandas
import pytest

ROWS = [
    {"op": "add", "shape": "(8, 16)", "dtype": "float32", "impl": impl, "GB/s": rate, "of_copy": share,
     "device_us": us, "host_us": 9.0, "graph_us": 1.5, "note": ""}
    for impl, rate, share, us in [("eager", 1234.5, 0.5, 12.0), ("triton", 2469.0, 1.0, 6.0),
                                  ("wrong", float("nan"), float("nan"), float("nan"))]
]  # fmt: skip


@pytest.fixture
def shown(monkeypatch):
    found = []
    monkeypatch.setattr(charts, "show", lambda figure, alt: found.append((figure, alt)))
    return found


def test_rates(shown):
    charts.show_rates(pandas.DataFrame(ROWS))
    ((figure, alt),) = shown
    assert "float32, triton: 2469 at (8, 16)." in alt and "dashed line, is 2469." in alt and "wrong" not in alt
    assert figure.axes[0].get_xlim()[0] == 0


def test_rates_over_shapes(shown):
    charts.show_rates(pandas.DataFrame([*ROWS, *[{**row, "shape": "(9, 16)"} for row in ROWS]]))
    ((figure, alt),) = shown
    assert "triton: 2469 at (8, 16) to 2469 at (9, 16)." in alt and figure.axes[0].get_ylim()[0] == 0
    assert len(figure.legends) == 1


def test_rates_of_operations(shown):
    rows = [{k: v for k, v in row.items() if k not in ("GB/s", "of_copy")} | {"TFLOP/s": 600.0} for row in ROWS]
    charts.show_rates(pandas.DataFrame(rows))
    assert "TFLOP/s of add" in shown[0][1]


def test_nothing_timed_draws_nothing(shown):
    charts.show_rates(pandas.DataFrame(ROWS[2:]))
    charts.show_clocks(pandas.DataFrame([{k: v for k, v in row.items() if k != "graph_us"} for row in ROWS[2:]]))
    assert shown == []


def test_clocks(shown):
    charts.show_clocks(pandas.DataFrame(ROWS))
    ((figure, alt),) = shown
    assert "inside a CUDA graph, eager: 1.5 at (8, 16)." in alt and len(figure.axes) == 3


def test_a_roofline(shown):
    points = pandas.DataFrame([{"op": "add", "operations per byte": 0.1, "TFLOP/s": 0.2}])
    charts.show_roofline(points, copy_rate=4000.0, matmul_rate=700.0)
    ((_, alt),) = shown
    assert "up to 175 operations a byte" in alt and "add: 0.1 operations a byte, 0.2 TFLOP/s, 50% of the roof." in alt


def test_no_two_implementations_look_alike(shown):
    looks = {(look["color"], look["marker"], str(look["linestyle"])) for look in charts.LOOKS}
    markers = [look["marker"] for look in charts.LOOKS]
    assert len(looks) == len(charts.LOOKS) and len(set(markers)) == len(markers)
