"""Draws measured numbers: what `compare` returns. Colours are Okabe and Ito's, and no line depends on colour alone."""

import math

from .plotting import BLUE, ORANGE, SKY, VERMILLION, show

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
    kinds, names = list(dict.fromkeys(timed["dtype"])), list(dict.fromkeys(table["impl"]))
    figure = _figure(len(kinds))
    said = [f"{rate} of {table['op'].iloc[0]}, one panel for each dtype; higher is faster."]
    for panel, kind in enumerate(kinds):
        axes, part = figure.axes[panel], timed[timed["dtype"] == kind]
        shapes = list(dict.fromkeys(part["shape"]))
        axes.set_title(f"{table['op'].iloc[0]}, {kind}", loc="left", fontsize=13, weight="bold")
        for name, look in zip(names, LOOKS * 3, strict=False):
            rows = part[part["impl"] == name]
            axes.plot([shapes.index(s) for s in rows["shape"]], rows[rate], label=name, linewidth=2, ms=8, **look)
            said += [f"{name} at {s} {kind}: {_round(v)}." for s, v in zip(rows["shape"], rows[rate], strict=True)]
        if "of_copy" in part:
            copy = (part["GB/s"] / part["of_copy"]).median()
            axes.axhline(copy, **GREY)
            axes.text(0.01, copy, "copy rate", transform=axes.get_yaxis_transform(), va="bottom", color="#444444")
            said.append(f"The copy rate is {_round(copy)}.")
        axes.set_xticks(range(len(shapes)), [s.strip("(),").replace(", ", " × ") for s in shapes])
        axes.tick_params(axis="x", rotation=30 if len(shapes) > 4 else 0)
        axes.set_ylabel(rate, fontsize=12)
        axes.margins(x=0.08)
        axes.set_ylim(0, axes.get_ylim()[1] * 1.08)
    figure.axes[0].legend(fontsize=11, loc="best")
    show(figure, " ".join(said))


def show_clocks(table) -> None:
    """Shows the clocks of a table from `compare(…, graph=True)` in µs, a panel a clock, cases from left to right."""
    clocks = {"host_us": "the host, a call", "device_us": "do_bench", "graph_us": "inside a CUDA graph"}
    names, shapes = list(dict.fromkeys(table["impl"])), list(dict.fromkeys(table["shape"]))
    figure = _figure(len(clocks), share=True)
    said = [f"Microseconds of {table['op'].iloc[0]} by three clocks, logarithmic; lower is faster."]
    for axes, (clock, title) in zip(figure.axes, clocks.items(), strict=True):
        axes.set_title(title, loc="left", fontsize=13, weight="bold")
        for name, look in zip(names, LOOKS * 3, strict=False):
            rows = table[table["impl"] == name]
            axes.plot([shapes.index(s) for s in rows["shape"]], rows[clock], label=name, linewidth=2, ms=8, **look)
            said += [f"{title}, {name} at {s}: {_round(v)}." for s, v in zip(rows["shape"], rows[clock], strict=True)]
        axes.set_yscale("log")
        axes.set_xticks(range(len(shapes)), [s.strip("()").partition(",")[0] for s in shapes])
        axes.set_xlabel("rows (tokens)", fontsize=12)
        axes.grid(axis="y", color="#DDDDDD")
    figure.axes[0].set_ylabel("µs", fontsize=12)
    figure.axes[0].legend(fontsize=11, loc="best")
    show(figure, " ".join(said))


def _figure(panels: int, share: bool = False):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(min(5.2 * panels, 10.4) if panels < 3 else 10.4, 3.9), layout="constrained")
    figure.subplots(1, panels, sharey=share)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=11)
    return figure


def _round(value: float) -> str:
    return "none" if math.isnan(value) else f"{value:.3g}" if value < 1000 else f"{value:.0f}"
