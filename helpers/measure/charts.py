"""Draws measured numbers: what `compare` returns, and a roofline. What was not timed is left out.

Colours are Okabe and Ito's, and no line depends on its colour alone.
"""

import contextlib
import math

from ..pictures.drawing import BLUE, ORANGE, SKY, VERMILLION, default_style, show

GREEN, PURPLE = "#009E73", "#CC79A7"
LOOKS = [
    {"color": "black", "marker": "s", "linestyle": ":"},
    {"color": ORANGE, "marker": "^", "linestyle": "--"},
    {"color": BLUE, "marker": "o", "linestyle": "-"},
    {"color": GREEN, "marker": "D", "linestyle": "-."},
    {"color": PURPLE, "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
    {"color": SKY, "marker": "P", "linestyle": "-"},
    {"color": VERMILLION, "marker": "X", "linestyle": "--"},
]
GREY = {"color": "#666666", "linewidth": 1.2, "linestyle": "--"}
CLOCKS = {"host_us": "the host, a call", "device_us": "do_bench", "graph_us": "inside a CUDA graph"}
STYLE = {
    **{"axes.titlelocation": "left", "axes.titlesize": 13, "axes.titleweight": "bold", "axes.labelsize": 12},
    **{"xtick.labelsize": 11, "ytick.labelsize": 11, "axes.spines.top": False, "axes.spines.right": False},
    **{"legend.fontsize": 11, "legend.frameon": False, "lines.linewidth": 2, "lines.markersize": 8},
}


def show_rates(table) -> None:
    """Shows the rates of a table from `compare`: a panel a dtype, a line an implementation, the cases side by side.

    A dashed line is the copy rate of the card.
    """
    rate, op, names = "GB/s" if "GB/s" in table else "TFLOP/s", table["op"].iloc[0], table["impl"].unique()
    parts = dict(list(table[table[rate].notna()].groupby("dtype", sort=False)))
    with _chart(len(parts), f"{rate} of {op}; higher is faster.") as (panels, said):
        for axes, (dtype, part) in zip(panels, parts.items(), strict=True):
            one = part["shape"].nunique() == 1
            said += [f"{dtype}, {ends}." for ends in (_points if one else _lines)(axes, part, rate, names)]
            label = f"{rate} at {part['shape'].iloc[0]}" if one else rate
            if "of_copy" in part:
                copy = (part["GB/s"] / part["of_copy"]).median()
                (axes.axvline if one else axes.axhline)(copy, **GREY)
                said.append(f"The copy rate, a dashed line, is {_round(copy)}.")
                label += f" (dashed: the copy rate, {_round(copy)})"
            (axes.set_xlabel if one else axes.set_ylabel)(label + "\n(an axis that need not begin at 0)" * one)
            axes.set(title=f"{op}, {dtype}", **({} if one else {"ylim": (0, 1.08 * axes.get_ylim()[1])}))


def show_clocks(table) -> None:
    """Shows the clocks of a table from `compare(…, graph=True)` in µs, a panel a clock, the cases side by side."""
    timed, op = table[table["device_us"].notna()], table["op"].iloc[0]
    said = f"Microseconds of {op} by three clocks, logarithmic; lower is faster."
    with _chart(len(CLOCKS) if len(timed) else 0, said, sharey=True) as (panels, said):
        for axes, (clock, title) in zip(panels, CLOCKS.items(), strict=False):
            said += [f"{title}, {ends}." for ends in _lines(axes, timed, clock, timed["impl"].unique())]
            axes.set(title=title, yscale="log", ylabel="µs" if axes is panels[0] else "")
            axes.grid(axis="y", color="#DDDDDD")


def show_roofline(points, copy_rate: float, matmul_rate: float) -> None:
    """Shows operations a second over operations a byte, both logarithmic, under the roof of two measured rates.

    `points` is a DataFrame with `op`, `operations per byte` and `TFLOP/s`; `copy_rate` is in GB/s, `matmul_rate` in
    TFLOP/s. A dotted line leads from each point up to the roof; the dashed line is half of the roof. The roof:
    Williams, Waterman and Patterson, Roofline, Communications of the ACM 52(4), 2009.
    """
    ridge = matmul_rate / copy_rate * 1e3
    left, right = points["operations per byte"].min() / 6, 3 * max(points["operations per byte"].max(), ridge)
    roof = f"A roof that rises with the copy rate, {_round(copy_rate)} GB/s, up to {_round(ridge)} operations a byte,"
    with _chart(1, f"{roof} and is flat beyond, at {_round(matmul_rate)} TFLOP/s.", (8.6, 5)) as ((axes,), said):
        axes.set(xscale="log", yscale="log", xlabel="operations per byte", ylabel="TFLOP/s", xlim=(left, right))
        axes.set_ylim(points["TFLOP/s"].min() / 2, 2.5 * matmul_rate)
        for part, look in ((1, {"color": "black"}), (0.5, GREY)):
            heights = [part * left * copy_rate / 1e3, part * matmul_rate, part * matmul_rate]
            axes.plot([left, ridge, right], heights, **look)
        slope = {"rotation": math.degrees(math.atan(copy_rate / 1e3)), "transform_rotates_text": True, "ha": "right"}
        slope |= {"rotation_mode": "anchor", "fontsize": 11}
        axes.text(ridge / 2.3, 1.2 * matmul_rate / 2, f"copy rate, {_round(copy_rate)} GB/s", **slope)
        _label(axes, f"matmul rate, {_round(matmul_rate)} TFLOP/s", (right, matmul_rate), -4, -12, "right")
        _label(axes, "half of the roof", (right, matmul_rate / 2), -4, -12, "right")
        said += _under_the_roof(axes, points, copy_rate, matmul_rate)


def _under_the_roof(axes, points, copy_rate: float, matmul_rate: float) -> list[str]:
    """Draws a roofline's points, each with its share of the roof, no label over another; says where they lie."""
    rows, said, low, high = [], [], *axes.get_ylim()
    places = zip(points["op"], points["operations per byte"], points["TFLOP/s"], LOOKS[1:] * 3, strict=False)
    for op, x, y, look in places:
        height = min(matmul_rate, x * copy_rate / 1e3)
        axes.vlines(x, y, height, color=BLUE, linestyle=":", linewidth=2)
        axes.plot([x], [y], color=BLUE, marker=look["marker"], linestyle="none")
        said.append(f"{op}: {_round(x)} operations a byte, {_round(y)} TFLOP/s, {y / height:.0%} of the roof.")
        rows.append((y, x, y > 0.9 * height, f"{op}: {y / height:.0%}"))
    for near, sign in [(True, 1), (False, -1)]:  # at the roof: left, upwards; others: right, downwards
        last = -math.inf
        for y, x, _, text in sorted((row for row in rows if row[2] == near), key=lambda row: sign * row[0]):
            own = sign * math.log10(y) * 310 / math.log10(high / low)  # the axes are about 310 points high
            last = max(own + 8 * near, last + 16)
            beside = x if near else max(row[1] for row in rows if row[1] < 2 * x)
            _label(axes, text, (beside, y), -12 * sign, sign * (last - own), "right" if near else "left")
    return said


def _label(axes, text: str, at: tuple, dx: float, dy: float, side: str) -> None:
    """Writes beside a place, `dx` and `dy` points (of 1/72 inch) away from it."""
    axes.annotate(text, at, (dx, dy), textcoords="offset points", va="center", ha=side, fontsize=11)


def show_bars(table, column: str) -> None:
    """Shows a column of a table over its column `impl`: a bar a row, with its value."""
    with _chart(1, f"{column}.", (6.4, 1.2 + 0.5 * len(table))) as ((axes,), said):
        axes.barh(table["impl"], table[column], color=SKY, edgecolor="black", height=0.6)
        for place, value in enumerate(table[column]):
            axes.text(0, place, f"  {_round(value)}", va="center", fontsize=12)
        said.append(f"{', '.join(f'{i}: {_round(v)}' for i, v in zip(table['impl'], table[column], strict=True))}.")
        axes.invert_yaxis()
        axes.set(xlabel=column)


def show_curves(table, label: str) -> None:
    """Shows the columns of a table over its index, a line each, the first ones wide: so one below another is seen."""
    with _chart(1, f"{label} by {table.index.name}.") as ((axes,), said):
        for number, (name, look) in enumerate(zip(table, LOOKS, strict=False)):
            width = 2 * (len(table.columns) - number)
            axes.plot(table.index, table[name], label=name, **{**look, "marker": "", "linewidth": width})
            said.append(f"{name}: {_round(table[name].iloc[0])} to {_round(table[name].iloc[-1])}.")
        axes.set(xlabel=table.index.name, ylabel=label)


def _lines(axes, rows, column: str, names) -> list[str]:
    """Draws a line for each implementation over the cases; says where each begins and ends."""
    cases, said = list(rows["shape"].unique()), []
    for name, look in zip(names, LOOKS * 3, strict=False):
        own = rows[rows["impl"] == name]
        axes.plot([cases.index(case) for case in own["shape"]], own[column], label=name, **look)
        places = [f"{_round(value)} at {case}" for case, value in zip(own["shape"], own[column], strict=True)]
        said += [f"{name}: {' to '.join(dict.fromkeys([places[0], places[-1]]))}"] if places else []
    tilt = {"rotation": 45, "ha": "right"} if sum(map(len, cases)) > 36 else {}
    axes.set_xticks(range(len(cases)), cases, **tilt)
    return said


def _points(axes, rows, column: str, names) -> list[str]:
    """Draws a point for each implementation of the only case, on an axis that need not begin at 0, so that a tie and a
    few per cent look different; a whisker from the 80th to the 20th percentile of its times. Says where each lies.
    """
    for place, row in enumerate(rows.to_dict("records")):
        value = row[column]
        slow, fast = (value * row["device_us"] / row[name] for name in ("p80_us", "p20_us"))
        axes.errorbar([value], [place], xerr=[[value - slow], [fast - value]], fmt="o", color=BLUE, capsize=4)
        white = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        at = {"xytext": (0, 9), "textcoords": "offset points", "ha": "center", "fontsize": 12, "bbox": white}
        axes.annotate(_round(value), (value, place), **at)
    axes.set_yticks(range(len(rows)), rows["impl"])
    axes.set_ylim(len(rows) - 0.5, -0.6)
    axes.margins(x=0.12)
    axes.grid(axis="x", color="#DDDDDD")
    return [f"{row['impl']}: {_round(row[column])} at {row['shape']}" for row in rows.to_dict("records")]


@contextlib.contextmanager
def _chart(panels: int, first: str, size: tuple = (), **options):
    """Yields axes to draw on, and a list to say on what: shown on leaving, as alt text. Without panels nothing is."""
    with default_style(STYLE):
        from matplotlib.figure import Figure

        figure, said = Figure(figsize=size or (6.4 if panels == 1 else 10.4, 3.9), layout="constrained"), [first]
        yield figure.subplots(1, panels, squeeze=False, **options)[0] if panels else [], said
        if panels:
            handles, labels = figure.axes[0].get_legend_handles_labels()
            if handles:
                figure.legend(handles, labels, loc="outside right upper")
            show(figure, " ".join(said))


def _round(value: float) -> str:
    return "none" if value != value else f"{value:.3g}" if value < 1000 else f"{value:.0f}"
