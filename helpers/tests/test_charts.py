"""The charts: where each point lies, what stands beside it and in the alt text; rows not timed are left out."""

from helpers.measure import charts

import itertools

import pandas
import pytest

US = {"eager": 12.0, "triton": 6.0, "wrong": float("nan")}
SAID = (
    "GB/s of add; higher is faster. float32, eager: 0.5 at tall to 5 at wide. float32, triton: 1000 at tall to 2000 at "
    "wide. float32, wrong: 7 at wide. The copy rate, a dashed line, is 2500."
)


def rows(shape, dtype="float32", copy=2500.0, **rates):
    return [
        {"op": "add", "shape": shape, "dtype": dtype, "impl": impl, "GB/s": rate, "of_copy": rate / copy,
         "device_us": US[impl], "p20_us": US[impl] / 1.25, "p80_us": US[impl] * 2,
         "host_us": US[impl] + 1, "graph_us": US[impl] / 2}
        for impl, rate in rates.items()
    ]  # fmt: skip


@pytest.fixture
def shown(monkeypatch):
    """Draws with `draw`; returns the axes, and the alt text."""
    found = []
    monkeypatch.setattr(charts, "show", lambda figure, alt: found.append((figure, alt)))

    def draw(chart, *arguments):
        chart(*arguments)
        return (found[-1][0].axes, found[-1][1]) if found else None

    return draw


def points(line):
    return [(float(x), float(y)) for x, y in line.get_xydata()]


def drawn(axes):
    """The lines of a panel by what the legend calls them: their points."""
    handles, labels = axes.get_legend_handles_labels()
    return {label: points(handle) for label, handle in zip(labels, handles, strict=True)}


def labels(axes):
    return [one.get_text() for one in axes.get_xticklabels()]


def table(*cases):
    return pandas.DataFrame([row for case in cases for row in case])


def test_rates_over_cases(shown):
    nan = float("nan")
    tall, wide = rows("tall", eager=0.5, triton=1000.0, wrong=nan), rows("wide", eager=5.0, triton=2000.0, wrong=7.0)
    (axes,), alt = shown(charts.show_rates, table(tall, wide))
    assert drawn(axes) == {"eager": [(0, 0.5), (1, 5)], "triton": [(0, 1000), (1, 2000)], "wrong": [(1, 7)]}
    assert labels(axes) == ["tall", "wide"] and axes.get_title("left") == "add, float32" and alt == SAID
    copy = axes.lines[-1]
    assert copy.get_ydata() == [2500, 2500] and copy.get_linestyle() == "--"
    assert (
        axes.get_ylabel() == "GB/s (dashed: the copy rate, 2500)"
        and axes.get_ylim()[0] == 0 < 2500 < axes.get_ylim()[1]
    )
    assert [line.get_marker() for line in axes.lines[:3]] == ["s", "^", "o"] and len(axes.figure.legends) == 1


def test_rates_of_one_case(shown):
    (axes,), alt = shown(charts.show_rates, table(rows("(8, 16)", eager=0.5, triton=1234.5, wrong=float("nan"))))
    found = [
        (one.lines[0].get_xydata().tolist(), one.lines[2][0].get_segments()[0].tolist()) for one in axes.containers
    ]
    assert found == [([[0.5, 0]], [[0.25, 0], [0.625, 0]]), ([[1234.5, 1]], [[617.25, 1], [1543.125, 1]])]
    assert [one.get_text() for one in axes.get_yticklabels()] == ["eager", "triton"] and axes.yaxis_inverted()
    assert [(one.xy, one.get_text()) for one in axes.texts] == [((0.5, 0), "0.5"), ((1234.5, 1), "1234")]
    assert (
        axes.lines[-1].get_xdata() == [2500, 2500]
        and axes.get_xlabel() == "GB/s at (8, 16) (dashed: the copy rate, 2500)\n(an axis that need not begin at 0)"
    )
    assert "float32, eager: 0.5 at (8, 16). float32, triton: 1234 at (8, 16). The copy" in alt and "wrong" not in alt
    assert not axes.figure.legends


def test_a_panel_for_each_dtype_and_one_look_for_each_implementation(shown):
    first, second = rows("a", eager=1.0, triton=2.0), rows("b", eager=3.0, triton=4.0)
    third, fourth = (rows(shape, "bfloat16", 100.0, triton=rate) for shape, rate in (("a", 5.0), ("b", 6.0)))
    (one, two), alt = shown(charts.show_rates, table(first, second, third, fourth))
    assert (one.get_title("left"), two.get_title("left")) == ("add, float32", "add, bfloat16")
    assert drawn(two) == {"eager": [], "triton": [(0, 5), (1, 6)]}
    assert [line.get_color() for line in one.lines[:2]] == [line.get_color() for line in two.lines[:2]]
    assert two.lines[-1].get_ydata() == [100, 100] and "bfloat16, triton: 5 at a to 6 at b. The copy rate" in alt


def test_rates_of_operations_have_no_copy_rate(shown):
    flops = table(rows("a", eager=1.0), rows("b", eager=2.0)).drop(columns=["GB/s", "of_copy"])
    (axes,), alt = shown(charts.show_rates, flops.assign(**{"TFLOP/s": [600.0, 700.0]}))
    assert drawn(axes) == {"eager": [(0, 600), (1, 700)]} and len(axes.lines) == 1
    assert (
        axes.get_ylabel() == "TFLOP/s"
        and alt == "TFLOP/s of add; higher is faster. float32, eager: 600 at a to 700 at b."
    )


def test_nothing_timed_draws_nothing(shown):
    nothing = table(rows("a", wrong=float("nan")))
    assert shown(charts.show_rates, nothing) is None and shown(charts.show_clocks, nothing) is None


def test_clocks(shown):
    clocks = table(rows("long label", eager=1.0, triton=1.0, wrong=1.0), rows("b" * 27, eager=1.0))
    clocks.loc[3, "graph_us"] = float("nan")
    axes, alt = shown(charts.show_clocks, clocks)
    assert [one.get_title("left") for one in axes] == ["the host, a call", "do_bench", "inside a CUDA graph"]
    host, device, graph = map(drawn, axes)
    assert host == {"eager": [(0, 13), (1, 13)], "triton": [(0, 7)]} and device["eager"] == [(0, 12), (1, 12)]
    assert graph["eager"][0] == (0, 6) and graph["triton"] == [(0, 3)]
    assert labels(axes[0]) == ["long label", "b" * 27] and axes[0].get_xticklabels()[0].get_rotation() == 45
    assert axes[0].get_ylabel() == "µs" and {one.get_yscale() for one in axes} == {"log"}
    assert alt.startswith(
        "Microseconds of add by three clocks, logarithmic; lower is faster. the host, a call, eager: 13 at"
    )
    assert f"inside a CUDA graph, eager: 6 at long label to none at {'b' * 27}." in alt and "wrong" not in alt


def test_short_labels_lie_flat(shown):
    axes, _ = shown(charts.show_clocks, table(rows("a" * 18, eager=1.0), rows("b" * 18, eager=1.0)))
    assert {one.get_rotation() for one in axes[0].get_xticklabels()} == {0}


def test_a_roofline(shown):
    two = [
        {"op": "add", "operations per byte": 0.1, "TFLOP/s": 0.2},
        {"op": "mm", "operations per byte": 1e3, "TFLOP/s": 679.0},
    ]
    (axes,), alt = shown(charts.show_roofline, pandas.DataFrame(two), 4000.0, 700.0)
    left, right = axes.get_xlim()
    roof, half, *rest = [points(line) for line in axes.lines]
    assert roof == [(left, pytest.approx(4 * left)), (175, 700), (right, 700)] and axes.lines[1].get_linestyle() == "--"
    assert half == [(left, pytest.approx(2 * left)), (175, 350), (right, 350)] and left < 0.1 and right > 1e3
    assert rest == [[(0.1, 0.2)], [(1000, 679)]]
    up = [one.get_segments()[0].tolist() for one in axes.collections]
    assert up == [[[0.1, 0.2], [0.1, pytest.approx(0.4)]], [[1000, 679], [1000, 700]]]
    texts = {one.get_text(): one for one in axes.texts}
    assert list(texts)[:3] == ["copy rate, 4000 GB/s", "matmul rate, 700 TFLOP/s", "half of the roof"]
    assert list(texts)[3:] == ["mm: 97%", "add: 50%"] and texts["add: 50%"].xy == (0.1, 0.2)
    assert (texts["mm: 97%"].get_ha(), texts["add: 50%"].get_ha()) == ("right", "left")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("operations per byte", "TFLOP/s")
    assert alt == (
        "A roof that rises with the copy rate, 4000 GB/s, up to 175 operations a byte, and is flat beyond, at 700 "
        "TFLOP/s. add: 0.1 operations a byte, 0.2 TFLOP/s, 50% of the roof. "
        "mm: 1000 operations a byte, 679 TFLOP/s, 97% of the roof."
    )


def test_bars(shown):
    two = pandas.DataFrame({"impl": ["eager", "triton"], "kept": [4.0, 3.0]})
    (axes,), alt = shown(charts.show_bars, two, "kept")
    assert [(bar.get_y() + bar.get_height() / 2, bar.get_width()) for bar in axes.patches] == [(0, 4), (1, 3)]
    assert axes.get_xlabel() == "kept" and alt == "kept. eager: 4, triton: 3."


def test_curves_on_top_of_each_other(shown):
    index = pandas.Index([0, 10], name="step")
    (axes,), alt = shown(charts.show_curves, pandas.DataFrame({"a": [3.0, 1.0], "b": [3.0, 0.5]}, index), "loss")
    assert drawn(axes) == {"a": [(0, 3), (10, 1)], "b": [(0, 3), (10, 0.5)]}
    assert [(line.get_linewidth(), line.get_marker()) for line in axes.lines] == [(4, ""), (2, "")]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("step", "loss")
    assert alt == "loss by step. a: 3 to 1. b: 3 to 0.5."


def test_no_two_labels_of_a_roofline_overlap(shown):
    """Points as close as those of *Explaining a number*, at the roof and then, but for a product, below it."""
    places = [(0.17, 0.7), (0.83, 3.5), (1.25, 2.6), (1.0, 3.0), (1.1, 2.5)]
    for part in (1, 0.6):
        close = [(2731, 700), *((x, y * part) for x, y in places)]
        rows = [{"op": f"op {i}", "operations per byte": x, "TFLOP/s": y} for i, (x, y) in enumerate(close)]
        (axes,), _ = shown(charts.show_roofline, pandas.DataFrame(rows), 4225.0, 700.0)
        axes.figure.draw_without_rendering()
        boxes = [one.get_window_extent() for one in axes.texts]
        assert len(boxes) == 9 and not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
        assert all(axes.figure.bbox.contains(*corner) for box in boxes for corner in (box.min, box.max))


def test_no_two_implementations_look_alike():
    looks = {(look["color"], look["marker"], str(look["linestyle"])) for look in charts.LOOKS}
    assert len(looks) == len(charts.LOOKS) == len({look["marker"] for look in charts.LOOKS})
