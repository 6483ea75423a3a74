"""Draws measured numbers: what `compare` returns, and a roofline.

Colours are Okabe and Ito's, and no line depends on its colour alone.
"""

import math

from ..pictures.drawing import BLUE, ORANGE, SKY, VERMILLION, show

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


def show_rates(table) -> None:
    """Shows the rates of a table from `compare`: a panel a dtype, a line an implementation, the cases side by side.

    A dashed line is the copy rate of the card. Cases that were not timed are left out.
    """
    rate = "GB/s" if "GB/s" in table else "TFLOP/s"
    timed = table[table[rate].notna()]
    if not len(timed):
        return
    kinds = list(dict.fromkeys(timed["dtype"]))
    figure = _figure(len(kinds))
    said = [f"{rate} of {table['op'].iloc[0]}; higher is faster."]
    for axes, kind in zip(figure.axes, kinds, strict=True):
        part = timed[timed["dtype"] == kind]
        axes.set_title(f"{table['op'].iloc[0]}, {kind}", loc="left", fontsize=13, weight="bold")
        (_lines if part["shape"].nunique() > 1 else _bars)(axes, part, rate, list(dict.fromkeys(table["impl"])))
        said += [f"{kind}, {_ends(part[part['impl'] == name], rate)}." for name in dict.fromkeys(part["impl"])]
        if "of_copy" in part:
            said.append(f"The copy rate, a dashed line, is {_round(_copy_rate(part))}.")
    _legend(figure)
    show(figure, " ".join(said))


def _lines(axes, part, rate: str, names: list[str]) -> None:
    """Draws one line for each implementation, over the shapes."""
    shapes = list(dict.fromkeys(part["shape"]))
    for name, look in zip(names, LOOKS * 3, strict=False):
        rows = part[part["impl"] == name]
        axes.plot([shapes.index(s) for s in rows["shape"]], rows[rate], label=name, linewidth=2, ms=8, **look)
    if "of_copy" in part:
        axes.axhline(_copy_rate(part), **GREY)
        axes.text(0.01, _copy_rate(part), "copy rate", transform=axes.get_yaxis_transform(), va="bottom")
    labels = [s.strip("(),").replace(", ", " × ") for s in shapes]
    tilt = {"rotation": 20, "ha": "right"} if sum(map(len, labels)) > 36 else {}
    axes.set_xticks(range(len(shapes)), labels, **tilt)
    axes.set_ylabel(rate, fontsize=12)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.08)


def _bars(axes, part, rate: str, names: list[str]) -> None:
    """Draws one bar for each implementation, of the only shape."""
    rows = part.set_index("impl")[rate].reindex([name for name in names if name in set(part["impl"])])
    axes.barh(list(rows.index), rows, color=SKY, edgecolor="black", height=0.6)
    for place, value in enumerate(rows):
        axes.text(0, place, f"  {_round(value)}", va="center", fontsize=12)
    axes.invert_yaxis()
    label = f"{rate} at {part['shape'].iloc[0].strip('(),').replace(', ', ' × ')}"
    if "of_copy" in part:
        axes.axvline(_copy_rate(part), **GREY)
        label += f" (dashed: the copy rate, {_round(_copy_rate(part))})"
    axes.set_xlabel(label, fontsize=12)


def _ends(rows, column: str) -> str:
    """In words: what one implementation does at the first shape, and at the last if there are several."""
    ends = dict.fromkeys([0, len(rows) - 1])
    places = [f"{_round(rows[column].iloc[i])} at {rows['shape'].iloc[i]}" for i in ends]
    return f"{rows['impl'].iloc[0]}: {' to '.join(places)}"


def _copy_rate(part) -> float:
    return (part["GB/s"] / part["of_copy"]).median()


def _legend(figure) -> None:
    """One legend beside the panels, if there is anything to tell apart."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right upper", fontsize=11, frameon=False)


def show_clocks(table) -> None:
    """Shows the clocks of a table from `compare(…, graph=True)` in µs, a panel a clock, cases from left to right.

    Cases that were not timed are left out.
    """
    table = table[table["device_us"].notna()]
    if not len(table):
        return
    clocks = {"host_us": "the host, a call", "device_us": "do_bench", "graph_us": "inside a CUDA graph"}
    names, shapes = list(dict.fromkeys(table["impl"])), list(dict.fromkeys(table["shape"]))
    figure = _figure(len(clocks), share=True)
    said = [f"Microseconds of {table['op'].iloc[0]} by three clocks, logarithmic; lower is faster."]
    for axes, (clock, title) in zip(figure.axes, clocks.items(), strict=True):
        axes.set_title(title, loc="left", fontsize=13, weight="bold")
        for name, look in zip(names, LOOKS * 3, strict=False):
            rows = table[table["impl"] == name]
            axes.plot([shapes.index(s) for s in rows["shape"]], rows[clock], label=name, linewidth=2, ms=8, **look)
            said.append(f"{title}, {_ends(rows, clock)}.")
        axes.set_yscale("log")
        axes.set_xticks(range(len(shapes)), [s.strip("()").partition(",")[0] for s in shapes])
        axes.set_xlabel("rows (tokens)", fontsize=12)
        axes.grid(axis="y", color="#DDDDDD")
    figure.axes[0].set_ylabel("µs", fontsize=12)
    _legend(figure)
    show(figure, " ".join(said))


def show_roofline(points, copy_rate: float, matmul_rate: float) -> None:
    """Shows operations a second over operations a byte, both logarithmic, under the roof of two measured rates.

    `points` is a DataFrame with `op`, `operations per byte` and `TFLOP/s`; `copy_rate` is in GB/s, `matmul_rate` in
    TFLOP/s. The roof: Williams, Waterman and Patterson, Roofline, Communications of the ACM 52(4), 2009.
    """
    figure = _figure(1)
    (axes,) = figure.axes
    ridge = matmul_rate / copy_rate * 1e3
    axes.plot([0.02, ridge, 1e4], [0.02 * copy_rate / 1e3, matmul_rate, matmul_rate], color="black", linewidth=2)
    said = [f"A roof that rises with the copy rate, {_round(copy_rate)} GB/s, up to {_round(ridge)} operations a byte,"]
    said.append(f"and is flat beyond, at {_round(matmul_rate)} TFLOP/s.")
    for row, look in zip(points.to_dict("records"), LOOKS[1:] * 3, strict=False):
        x, y = row["operations per byte"], row["TFLOP/s"]
        axes.plot([x], [y], **{**look, "linestyle": "none"}, ms=10, label=row["op"])
        share = y / min(matmul_rate, x * copy_rate / 1e3)
        said.append(f"{row['op']}: {_round(x)} operations a byte, {_round(y)} TFLOP/s, {share:.0%} of the roof.")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operations per byte", fontsize=12)
    axes.set_ylabel("TFLOP/s", fontsize=12)
    _legend(figure)
    show(figure, " ".join(said))


def _figure(panels: int, share: bool = False):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4 if panels == 1 else 10.4, 3.9), layout="constrained")
    figure.subplots(1, panels, sharey=share)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=11)
    return figure


def _round(value: float) -> str:
    return "none" if math.isnan(value) else f"{value:.3g}" if value < 1000 else f"{value:.0f}"
