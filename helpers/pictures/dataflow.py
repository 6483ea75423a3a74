"""Draws which tensors travel between device memory and kernels."""

import textwrap

import numpy as np

from .drawing import ARROW, BLUE, FRAME, ON, VERMILLION, box, picture, plural, size_of, text

TRIPS = {"read": {"color": BLUE, "linestyle": "-"}, "write": {"color": VERMILLION, "linestyle": (0, (3, 2))}}
PITCH = 36  # from one arrow to the next


def show_dataflow(flows: dict[str, list[tuple[str, dict[str, int], dict[str, int]]]]) -> None:
    """Shows, one panel a flow, which tensors travel between device memory and the kernels, and how many bytes.

    A flow is a list of launches: (the kernel's name, bytes read of each tensor, bytes written of each tensor).
    Raises ValueError if there is no flow, a flow without launches, or a launch without tensors.
    """
    if not flows or not all(steps and all(map(_trips, steps)) for steps in flows.values()):
        raise ValueError("flows must have a flow, each flow a launch, and each launch a tensor that it reads or writes")
    bands = [sum(PITCH * len(_trips(step)) + 20 for step in steps) for steps in flows.values()]
    with picture(500 * min(2, len(flows)), (max(bands) + 104) * -(-len(flows) // 2)) as (axes, say):
        axes.axvline(500, color="#999999", linewidth=0.8)
        say("Device memory on the left, kernels on the right; solid arrows are reads, dashed ones writes.")
        for i, (name, steps) in enumerate(flows.items()):
            left, top = 500 * (i % 2) + 10, (max(bands) + 104) * (i // 2)
            sizes = [size for step in steps for _, _, size in _trips(step)]
            totals = f"{plural(len(steps), 'launch')} · {plural(len(sizes), 'tensor trip')} · {size_of(sum(sizes))}"
            say(f"{name}: {totals}.")
            text(axes, left, top + 20, name, fontsize=13, weight="bold")
            text(axes, left, top + 44, totals, fontsize=12)
            text(axes, left, top + 74, "device memory")
            text(axes, left + 330, top + 74, "kernels")
            box(axes, left, top + 90, 130, max(bands), **FRAME)
            _flow(axes, say, left, top + 100 + (max(bands) - bands[i]) / 2, steps)


def _trips(step) -> list[tuple[str, str, int]]:
    return [(kind, *item) for kind, part in zip(TRIPS, step[1:], strict=True) for item in part.items()]


def _flow(axes, say, left, y, steps) -> None:
    """Draws the launches of one flow from `y` on, then the tensors beside them, with an arrow for each trip."""
    trips = {tensor: [] for step in steps for _, tensor, _ in _trips(step)}
    for number, step in enumerate(steps, 1):
        ports, order = _trips(step), list(trips)
        lines = textwrap.fill(f"{number}. {step[0]}".replace("_", "_ "), 17).replace("_ ", "_")
        box(axes, left + 330, y + 3, 150, PITCH * len(ports) - 6, lines, facecolor="white", edgecolor="black")
        say(f"Launch {number}, {step[0]}: {', '.join(f'{kind} {tensor} {size_of(n)}' for kind, tensor, n in ports)}.")
        for i, (kind, tensor, size) in enumerate(sorted(ports, key=lambda port: order.index(port[1]))):
            trips[tensor].append((y + PITCH * (i + 0.5), kind, size))
        y += PITCH * len(ports) + 20
    middles, at = {tensor: np.mean([port[0] for port in ports]) for tensor, ports in trips.items()}, 0
    for tensor in sorted(trips, key=middles.get):
        at = max(middles[tensor], at + PITCH)  # as near to the middle of its trips as the tensor above allows
        box(axes, left + 10, at - 14, 110, 28, tensor if len(tensor) <= 12 else f"{tensor[:11]}…", **ON)
        shifts = np.linspace(-15, 15, len(trips[tensor]) + 2)[1:-1]
        for shift, (y, kind, size) in zip(shifts, trips[tensor], strict=True):
            route = [(left + 120, at + shift), (left + 190, y), (left + 330, y)]
            start, bend, end = route if kind == "read" else reversed(route)
            axes.plot(*zip(start, bend, strict=True), **TRIPS[kind])
            axes.annotate("", end, bend, arrowprops=ARROW | TRIPS[kind])
            text(axes, left + 258, y, f"{kind} {size_of(size)}", "white", ha="center", color=TRIPS[kind]["color"])
