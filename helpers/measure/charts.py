"""Draws measured numbers: what `compare` returns, and a roofline. What was not timed is left out.

Colours are Okabe and Ito's, and no line depends on its colour alone.
"""

import contextlib

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
            said += [f"{dtype}, {ends}." for ends in (_bars if one else _lines)(axes, part, rate, names)]
            label = f"{rate} at {part['shape'].iloc[0]}" if one else rate
            if "of_copy" in part:
                copy = (part["GB/s"] / part["of_copy"]).median()
                (axes.axvline if one else axes.axhline)(copy, **GREY)
                said.append(f"The copy rate, a dashed line, is {_round(copy)}.")
                label += f" (dashed: the copy rate, {_round(copy)})"
            (axes.set_xlabel if one else axes.set_ylabel)(label)
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
    TFLOP/s. The roof: Williams, Waterman and Patterson, Roofline, Communications of the ACM 52(4), 2009.
    """
    ridge = matmul_rate / copy_rate * 1e3
    roof = f"A roof that rises with the copy rate, {_round(copy_rate)} GB/s, up to {_round(ridge)} operations a byte,"
    with _chart(1, f"{roof} and is flat beyond, at {_round(matmul_rate)} TFLOP/s.") as ((axes,), said):
        axes.plot([0.02, ridge, 1e4], [0.02 * copy_rate / 1e3, matmul_rate, matmul_rate], color="black")
        for row, look in zip(points.to_dict("records"), LOOKS[1:] * 3, strict=False):
            x, y = row["operations per byte"], row["TFLOP/s"]
            axes.plot([x], [y], **{**look, "linestyle": "none"}, ms=10, label=row["op"])
            share = y / min(matmul_rate, x * copy_rate / 1e3)
            said.append(f"{row['op']}: {_round(x)} operations a byte, {_round(y)} TFLOP/s, {share:.0%} of the roof.")
        axes.set(xscale="log", yscale="log", xlabel="operations per byte", ylabel="TFLOP/s")


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


def _bars(axes, rows, column: str, names) -> list[str]:
    """Draws a bar for each implementation of the only case; says how long each is."""
    axes.barh(rows["impl"], rows[column], color=SKY, edgecolor="black", height=0.6)
    for place, value in enumerate(rows[column]):
        axes.text(0, place, f"  {_round(value)}", va="center", fontsize=12)
    axes.invert_yaxis()
    return [f"{row['impl']}: {_round(row[column])} at {row['shape']}" for row in rows.to_dict("records")]


@contextlib.contextmanager
def _chart(panels: int, first: str, **options):
    """Yields axes to draw on, and a list to say on what: shown on leaving, as alt text. Without panels nothing is."""
    with default_style(STYLE):
        from matplotlib.figure import Figure

        figure, said = Figure(figsize=(6.4 if panels == 1 else 10.4, 3.9), layout="constrained"), [first]
        yield figure.subplots(1, panels, squeeze=False, **options)[0] if panels else [], said
        if panels:
            handles, labels = figure.axes[0].get_legend_handles_labels()
            if handles:
                figure.legend(handles, labels, loc="outside right upper")
            show(figure, " ".join(said))


def _round(value: float) -> str:
    return "none" if value != value else f"{value:.3g}" if value < 1000 else f"{value:.0f}"
