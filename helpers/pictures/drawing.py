"""Draws what the lectures talk about: programs and their lanes, CUDA's grid beside Triton's, trips to memory.

Each picture is an image whose alternative text says what there is to see. Lengths are displayed pixels; y grows down.
"""

import contextlib
import io
import textwrap

import numpy as np

SKY, BLUE, ORANGE, VERMILLION = "#56B4E9", "#0072B2", "#E69F00", "#D55E00"  # from Okabe and Ito's palette
ON = {"facecolor": SKY, "edgecolor": "black", "linewidth": 0.8}
OFF = {"facecolor": "white", "edgecolor": VERMILLION, "linewidth": 1.2, "hatch": "////"}
YOURS = {"facecolor": ORANGE, "edgecolor": "black", "linewidth": 3, "zorder": 2}
FRAME = {"facecolor": "#EEEEEE", "edgecolor": "#666666", "linewidth": 0.8}
ARROW = {"arrowstyle": "-|>", "mutation_scale": 14, "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
TRIPS = {"read": {"color": BLUE, "linestyle": "-"}, "write": {"color": VERMILLION, "linestyle": (0, (3, 2))}}
PITCH = 36  # from one arrow to the next
INDEX, MASK = "i = blockIdx.x * blockDim.x + threadIdx.x", "mask = offsets < n_elements"
OFFSETS = "offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)"
CUDA = ("block", "thread", "CUDA: add<<<{}, {}>>>", "your code is this one thread:", INDEX, "if (i < n)")
TRITON = ("program", "lane", "Triton: add_kernel[({},)]", "your code is this whole program:", OFFSETS, MASK)


def show_programs(n_elements: int, block_size: int) -> None:
    """Shows which program owns which of `n_elements` elements, and which of its `block_size` lanes are masked off.

    Raises ValueError if an argument is not a positive integer, or if `block_size` is not a power of two up to 2**20.
    """
    _require(n_elements=n_elements)
    _require(2**20, block_size=block_size)  # Triton allows no larger block
    n_programs = -(-n_elements // block_size)
    small = block_size <= 16 and n_programs <= 8
    pids = range(n_programs) if small or n_programs <= 6 else [0, 1, 2, None, n_programs - 2, n_programs - 1]
    more = f"…  {_count(n_programs - 5, 'more program')}: {_span(range(3, n_programs - 2), 'pid')}"
    rows = [(pid, [more] if pid is None else _describe(pid, n_elements, block_size)) for pid in pids]
    left, right = 24 + 10 * len(rows[-1][1][0]), 30 + 9 * max(len(line) for _, lines in rows for line in lines[1:])
    bar = min(960 - left - right, 64 * block_size if small else 960)
    with _picture(max(left + bar + right, 520), 70 + 46 * len(rows)) as (axes, say):
        title = f"n_elements = {n_elements} · BLOCK_SIZE = {block_size} · {_count(n_programs, 'program')}"
        _text(axes, 10, 20, title, fontsize=13, weight="bold")
        _text(axes, left, 50, "lane 0")
        _text(axes, left + bar, 50, f"lane {block_size - 1}" if block_size > 1 else "", ha="right")
        say(f"{title}, one row each; {_count(n_programs * block_size - n_elements, 'lane')} masked off (hatched).")
        for row, (pid, lines) in enumerate(rows):
            y = 66 + 46 * row
            _text(axes, left if pid is None else 10, y + 17, lines[0], fontsize=12)
            _text(axes, left + bar + 14, y + 17, "\n".join(lines[1:]))
            if pid is not None:
                (_cells if small else _bar)(axes, left, y, bar, *_lanes(pid, n_elements, block_size))
            say(" · ".join(lines) + ".")


def show_grids(n_elements: int, threads_per_block: int, block_size: int) -> None:
    """Shows CUDA's grid beside Triton's for the same elements: one cell a thread, one bar a program.

    Raises ValueError beyond 64 elements, 8 blocks or 16 to a block, and if `block_size` is not a power of two.
    """
    _require(64, n_elements=n_elements)
    _require(16, -(-n_elements // 8), threads_per_block=threads_per_block, block_size=block_size)
    blocks, programs = (-(-n_elements // size) for size in (threads_per_block, block_size))
    pid, end = min(2, blocks - 1, programs - 1), 74 + 44 * max(blocks, programs)
    exact = blocks * threads_per_block == programs * block_size == n_elements
    with _picture(1000, end + (60 if exact else 100)) as (axes, say):
        axes.axvline(500, color="#999999", linewidth=0.8)
        say("CUDA's grid on the left, Triton's on the right.")
        _grid(axes, say, 10, end, pid, n_elements, threads_per_block, blocks, *CUDA)
        _grid(axes, say, 514, end, pid, n_elements, block_size, programs, *TRITON)


def show_dataflow(flows: dict[str, list[tuple[str, dict[str, int], dict[str, int]]]]) -> None:
    """Shows, one panel a flow, which tensors travel between device memory and the kernels, and how many bytes.

    A flow is a list of launches: (the kernel's name, bytes read of each tensor, bytes written of each tensor).
    Raises ValueError if there is no flow, a flow without launches, or a launch without tensors.
    """
    if not flows or not all(steps and all(map(_trips, steps)) for steps in flows.values()):
        raise ValueError("flows must have a flow, each flow a launch, and each launch a tensor that it reads or writes")
    bands = [sum(PITCH * len(_trips(step)) + 20 for step in steps) for steps in flows.values()]
    with _picture(500 * min(2, len(flows)), (max(bands) + 104) * -(-len(flows) // 2)) as (axes, say):
        axes.axvline(500, color="#999999", linewidth=0.8)
        say("Device memory on the left, kernels on the right; solid arrows are reads, dashed ones writes.")
        for i, (name, steps) in enumerate(flows.items()):
            left, top = 500 * (i % 2) + 10, (max(bands) + 104) * (i // 2)
            sizes = [size for step in steps for _, _, size in _trips(step)]
            totals = f"{_count(len(steps), 'launch')} · {_count(len(sizes), 'tensor trip')} · {_bytes(sum(sizes))}"
            say(f"{name}: {totals}.")
            _text(axes, left, top + 20, name, fontsize=13, weight="bold")
            _text(axes, left, top + 44, totals, fontsize=12)
            _text(axes, left, top + 74, "device memory")
            _text(axes, left + 330, top + 74, "kernels")
            _box(axes, left, top + 90, 130, max(bands), **FRAME)
            _flow(axes, say, left, top + 100 + (max(bands) - bands[i]) / 2, steps)


def _trips(step) -> list[tuple[str, str, int]]:
    return [(kind, *item) for kind, part in zip(TRIPS, step[1:], strict=True) for item in part.items()]


def _flow(axes, say, left, y, steps) -> None:
    """Draws the launches of one flow from `y` on, then the tensors beside them, with an arrow for each trip."""
    trips = {tensor: [] for step in steps for _, tensor, _ in _trips(step)}
    for number, step in enumerate(steps, 1):
        ports, order = _trips(step), list(trips)
        lines = textwrap.fill(f"{number}. {step[0]}".replace("_", "_ "), 17).replace("_ ", "_")
        _box(axes, left + 330, y + 3, 150, PITCH * len(ports) - 6, lines, facecolor="white", edgecolor="black")
        say(f"Launch {number}, {step[0]}: {', '.join(f'{kind} {tensor} {_bytes(n)}' for kind, tensor, n in ports)}.")
        for i, (kind, tensor, size) in enumerate(sorted(ports, key=lambda port: order.index(port[1]))):
            trips[tensor].append((y + PITCH * (i + 0.5), kind, size))
        y += PITCH * len(ports) + 20
    middles, at = {tensor: np.mean([port[0] for port in ports]) for tensor, ports in trips.items()}, 0
    for tensor in sorted(trips, key=middles.get):
        at = max(middles[tensor], at + PITCH)  # as near to the middle of its trips as the tensor above allows
        _box(axes, left + 10, at - 14, 110, 28, tensor if len(tensor) <= 12 else f"{tensor[:11]}…", **ON)
        shifts = np.linspace(-15, 15, len(trips[tensor]) + 2)[1:-1]
        for shift, (y, kind, size) in zip(shifts, trips[tensor], strict=True):
            route = [(left + 120, at + shift), (left + 190, y), (left + 330, y)]
            start, bend, end = route if kind == "read" else reversed(route)
            axes.plot(*zip(start, bend, strict=True), **TRIPS[kind])
            axes.annotate("", end, bend, arrowprops=ARROW | TRIPS[kind])
            _text(axes, left + 258, y, f"{kind} {_bytes(size)}", "white", ha="center", color=TRIPS[kind]["color"])


def _grid(axes, say, left, end, pid, n_elements, size, count, unit, part, title, yours, code, guard) -> None:
    """Draws one grid and, from `end` on, what one writes for it; the learner's part of number `pid` is marked."""
    x, width, off = left + 92, min(92 * size, 388), _span(range(n_elements, count * size))
    offsets, mask = _lanes(pid, n_elements, size)
    own = offsets[mask][:2][-1:] if unit == "block" else offsets[mask]
    title, counts = title.format(count, size), f"{_count(count, unit)} of {_count(size, part)}"
    say(f"{title}, {counts}; {yours} {unit} {pid}, {_span(own - pid * size, part)}, {_span(own, 'element')}; {code}.")
    _text(axes, left, 20, title, fontsize=13, weight="bold", family="monospace")
    _text(axes, left, 46, counts)
    for row in range(count):
        _text(axes, left, 81 + 44 * row, f"{unit} {row}")
        _box(axes, x - 4, 61 + 44 * row, width + 8, 40, **FRAME)
        (_cells if unit == "block" else _bar)(axes, x, 64 + 44 * row, width, *_lanes(row, n_elements, size), own)
    _box(axes, left + 2, end + 2, 22, 18, **YOURS)
    _text(axes, left + 36, end + 11, yours, fontsize=12, weight="bold")
    _text(axes, left, end + 38, code, family="monospace")
    if off:
        _box(axes, left + 2, end + 66, 22, 18, **OFF)
        _text(axes, left + 36, end + 75, f"switched off by {guard}: {off}")
        say(f"Hatched, switched off by {guard}: {off}.")


def _cells(axes, x, y, width, offsets, mask, own=()) -> None:
    """Draws one cell for each lane, with its offset; the offsets in `own` stand out."""
    step = width / len(offsets)
    for lane, (offset, owned) in enumerate(zip(offsets, mask, strict=True)):
        look = OFF if not owned else YOURS if offset in own else ON
        _box(axes, x + step * lane + 0.5, y, step - 1, 34, str(offset), **look)


def _bar(axes, x, y, width, offsets, mask, own=()) -> None:
    """Draws all lanes as one bar, the masked part hatched, neither part too thin to be seen; it stands out if `own`."""
    least = 0 if mask.all() else 8
    for part, look in (offsets[mask], YOURS if offsets[0] in own else ON), (offsets[~mask], OFF):
        length = min(max(width * len(part) / len(offsets), least), width - least)
        label = _span(part) if len(offsets) <= 16 and 9 * len(_span(part)) < length else ""
        ticks = np.linspace(x, x + length, len(part) + 1)[1:-1] if len(offsets) <= 16 else []
        _box(axes, x, y, length, 34, label, **look, visible=length > 0)
        axes.vlines(ticks, y, y + 34, color="#444444", linewidth=0.5, zorder=3)
        x += length


def _lanes(pid: int, n_elements: int, block_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets of program `pid` and its mask, as a kernel computes them."""
    offsets = pid * block_size + np.arange(block_size)
    return offsets, offsets < n_elements


def _describe(pid: int, n_elements: int, block_size: int) -> list[str]:
    """In words: the program, its elements, and, if there are any, its masked lanes."""
    offsets, mask = _lanes(pid, n_elements, block_size)
    off = [f"{_count((~mask).sum(), 'lane')} masked off: {_span(offsets[~mask])}"] if not mask.all() else []
    return [f"pid {pid}", _span(offsets[mask], "element"), *off]


def _span(numbers, noun: str = "") -> str:
    ends = " – ".join(str(number) for number in dict.fromkeys((*numbers[:1], *numbers[-1:])))
    return f"{noun}{'s' * (len(numbers) > 1)} {ends}" if noun else ends


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "es" if noun.endswith("ch") else "s")


def _bytes(number: int) -> str:
    power = min((number.bit_length() - 1) // 10, 3) if number else 0
    return f"{number / 1024**power:.4g} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def _require(most: int = 2**31 - 1, least: int = 1, **sizes: int) -> None:
    for name, value in sizes.items():
        if not isinstance(value, int) or not least <= value <= most:
            why = "there is nothing to draw; " if value == 0 else ""
            raise ValueError(f"{name} is {value!r}: {why}pass an integer from {least} to {most}")
        if name == "block_size" and value & (value - 1):
            raise ValueError(f"{name} is {value}: tl.arange takes powers of two, such as {1 << value.bit_length()}")


def _box(axes, x, y, width, height, label="", **style) -> None:
    axes.fill([x, x + width, x + width, x], [y, y, y + height, y + height], **style)
    _text(axes, x + width / 2, y + height / 2, label, style["facecolor"], 0.5, ha="center")


def _text(axes, x, y, text, behind="none", pad=2, **style) -> None:
    bbox = {"facecolor": behind, "edgecolor": "none", "pad": pad}  # keeps lines and hatches off the text
    axes.text(x, y, text, **{"va": "center", "fontsize": 11, "zorder": 5, "parse_math": False, "bbox": bbox, **style})


@contextlib.contextmanager
def _picture(width: float, height: float):
    """Yields (axes, say): what is drawn on the axes is shown on leaving, with all that was said as its alt text."""
    from matplotlib import style
    from matplotlib.figure import Figure

    said = []
    with style.context("default"):
        figure = Figure(figsize=(width / 96, height / 96))  # a browser's 96 pixels to the inch
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        yield axes, said.append
        show(figure, " ".join(said).replace(" – ", " to "))


def show(figure, alt: str) -> None:
    """Displays a matplotlib figure as a small PNG, twice as sharp as a screen's pixels, with its alternative text."""
    import PIL.Image
    from IPython.display import Image, display

    drawn, png = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, dpi=192, metadata={"Software": None})
    PIL.Image.open(drawn).convert("RGB").quantize(32).save(png, "png", optimize=True)  # a third of the bytes
    display(Image(png.getvalue(), width=round(96 * figure.get_figwidth()), alt=alt))
