"""Draws programs and their lanes, in one dimension and in two, a fold of lanes, and CUDA's grid beside Triton's."""

import functools
import numbers

import numpy as np

from .drawing import ARROW, BLUE, FRAME, OFF, ON, ORANGE, VERMILLION, box, picture, plural, require, span, text

YOURS = {"facecolor": ORANGE, "edgecolor": "black", "linewidth": 3, "zorder": 2}
INDEX, MASK = "i = blockIdx.x * blockDim.x + threadIdx.x", "mask = offsets < n_elements"
OFFSETS = "offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)"
CUDA = ("block", "thread", "CUDA: add<<<{}, {}>>>", "your code is this one thread:", INDEX, "if (i < n)")
TRITON = ("program", "lane", "Triton: add_kernel[({},)]", "your code is this whole program:", OFFSETS, MASK)
RESULT = ON | {"facecolor": ORANGE}
KEPT, SENT = ARROW | {"color": BLUE}, ARROW | {"color": VERMILLION, "linestyle": (0, (3, 2))}


def show_programs(n_elements: int, block_size: int) -> None:
    """Shows which program owns which of `n_elements` elements, and which of its `block_size` lanes are masked off.

    Raises ValueError if an argument is not a positive integer, or if `block_size` is not a power of two up to 2**20.
    """
    require(n_elements=n_elements)
    require(2**20, block_size=block_size)  # Triton allows no larger block
    n_programs = -(-n_elements // block_size)
    small = block_size <= 16 and n_programs <= 8
    pids = range(n_programs) if small or n_programs <= 6 else [0, 1, 2, None, n_programs - 2, n_programs - 1]
    more = f"…  {plural(n_programs - 5, 'more program')}: {span(range(3, n_programs - 2), 'pid')}"
    rows = [(pid, [more] if pid is None else _describe(pid, n_elements, block_size)) for pid in pids]
    left, right = 24 + 10 * len(rows[-1][1][0]), 30 + 9 * max(len(line) for _, lines in rows for line in lines[1:])
    bar = min(960 - left - right, 64 * block_size if small else 960)
    with picture(max(left + bar + right, 520), 70 + 46 * len(rows)) as (axes, say):
        title = f"n_elements = {n_elements} · BLOCK_SIZE = {block_size} · {plural(n_programs, 'program')}"
        text(axes, 10, 20, title, fontsize=13, weight="bold")
        text(axes, left, 50, "lane 0")
        text(axes, left + bar, 50, f"lane {block_size - 1}" if block_size > 1 else "", ha="right")
        say(f"{title}, one row each; {plural(n_programs * block_size - n_elements, 'lane')} masked off (hatched).")
        for row, (pid, lines) in enumerate(rows):
            y = 66 + 46 * row
            text(axes, left if pid is None else 10, y + 17, lines[0], fontsize=12)
            text(axes, left + bar + 14, y + 17, "\n".join(lines[1:]))
            if pid is not None:
                (_cells if small else _bar)(axes, left, y, bar, *_lanes(pid, n_elements, block_size))
            say(" · ".join(lines) + ".")


def show_tile(shape: tuple, strides: tuple, block: tuple, pid: tuple) -> None:
    """Shows the lanes of a 2-D grid, each with its element's offset or hatched; those of program `pid` stand out.

    All are (rows, columns). Raises ValueError beyond 16 lanes a side, and if a block's side is not a power of two.
    """
    sides = [-(-size // step) * step for size, step in zip(shape, block, strict=True)]
    for side, step in zip(sides, block, strict=True):
        require(16, lanes=side, block_size=step)
    on, own = [], [range(number * step, (number + 1) * step) for number, step in zip(pid, block, strict=True)]
    with picture(90 + 54 * sides[1], 90 + 40 * sides[0]) as (axes, say):
        title = f"program {tuple(pid)}: {span(own[0], 'row')}, {span(own[1], 'column')}"
        text(axes, 10, 20, title, fontsize=13, weight="bold")
        for row, col in np.ndindex(*sides):
            inside, mine = row < shape[0] and col < shape[1], row in own[0] and col in own[1]
            on += [row * strides[0] + col * strides[1]] if inside and mine else []
            x, y = 70 + 52 * col + 8 * (col // block[1]), 66 + 38 * row + 8 * (row // block[0])
            label = str(row * strides[0] + col * strides[1]) if inside else ""
            box(axes, x, y, 48, 34, label, **(OFF if not inside else YOURS if mine else ON))
            text(axes, 10, y + 17, f"row {row}" if col == 0 else "")
            text(axes, x + 24, 52, f"col {col}" if row == 0 else "", ha="center")
        say(f"{title}; on are the {plural(len(on), 'lane')} with offsets {', '.join(map(str, on))}.")
        say(f"{sides[0]} × {sides[1]} lanes in all; hatched, those outside of the {shape[0]} × {shape[1]} elements.")


def show_fold(values, combine, threads: int = 4) -> None:
    """Shows how a program folds the lanes of a block into one number by `combine`, a named function of two numbers.

    Each thread combines neighbouring `values` from left to right, as Triton 3.7 does, then thread t its own number with
    that of thread t + half. Raises ValueError unless there are 4, 8 or 16 numbers that fit their boxes, and a power of
    two of `threads`, at most one a lane.
    """
    n, name = len(values), getattr(combine, "__name__", None)
    if n not in (4, 8, 16) or not all(isinstance(value, numbers.Real) for value in values):
        raise ValueError(f"values is {values!r}: pass 4, 8 or 16 numbers")
    if name is None:
        raise ValueError(f"combine is {combine!r}: pass a function of two numbers that has a name, such as max")
    require(n, threads=threads)
    if n % threads:
        raise ValueError(f"threads is {threads}: pass a power of two, such as {1 << threads.bit_length() - 1}")
    plan, rows = _fold_plan(n, threads), [dict(enumerate(values))]
    for _, step in plan[1:]:
        rows += [{lane: functools.reduce(combine, [rows[above][k] for above, k in step[lane]]) for lane in step}]
    if long := [one for row in rows for one in map(_number, row.values()) if len(one) > (5 if n == 16 else 7)]:
        raise ValueError(f"values is {values!r}: they give {long[0]}, too long for its box; pass rounder numbers")
    title = f"{name} of {n} lanes in {plural(threads, 'thread')}: {plural(n // threads - 1, 'step')} inside the threads"
    title += f", {threads.bit_length() - 1} between them"
    with picture(960, 84 * len(rows) + 50) as (axes, say):
        text(axes, 10, 20, title, fontsize=13, weight="bold")
        say(f"{title}. Dashed arrows go from one thread to another.")
        for thread, width in enumerate([800 / threads] * threads):
            box(axes, 152 + width * thread, 72, width - 4, 84 * len(rows) - 30, **FRAME)
            label = f"thread {thread}" if threads < 16 else str(thread)
            text(axes, 150 + width * (thread + 0.5), 58, label, ha="center")
        for number, (label, step) in enumerate(plan):
            text(axes, 10, 99 + 84 * number, label)
            say(f"{label}: {', '.join(map(_number, rows[number].values()))}.".replace("\n", " ").capitalize())
            _fold_row(axes, n, threads, number, rows[number], step, ON if number < len(plan) - 2 else RESULT)


def show_grids(n_elements: int, threads_per_block: int, block_size: int) -> None:
    """Shows CUDA's grid beside Triton's for the same elements: one cell a thread, one bar a program.

    Raises ValueError beyond 64 elements, 8 blocks or 16 to a block, and if `block_size` is not a power of two.
    """
    require(64, n_elements=n_elements)
    require(16, -(-n_elements // 8), threads_per_block=threads_per_block, block_size=block_size)
    blocks, programs = (-(-n_elements // size) for size in (threads_per_block, block_size))
    pid, end = min(2, blocks - 1, programs - 1), 74 + 44 * max(blocks, programs)
    exact = blocks * threads_per_block == programs * block_size == n_elements
    with picture(1000, end + (60 if exact else 100)) as (axes, say):
        axes.axvline(500, color="#999999", linewidth=0.8)
        say("CUDA's grid on the left, Triton's on the right.")
        _grid(axes, say, 10, end, pid, n_elements, threads_per_block, blocks, *CUDA)
        _grid(axes, say, 514, end, pid, n_elements, block_size, programs, *TRITON)


def _grid(axes, say, left, end, pid, n_elements, size, count, unit, part, title, yours, code, guard) -> None:
    """Draws one grid and, from `end` on, what one writes for it; the learner's part of number `pid` is marked."""
    x, width, off = left + 92, min(92 * size, 388), range(n_elements - (count - 1) * size, size)
    offsets, mask = _lanes(pid, n_elements, size)
    own = offsets[mask][:2][-1:] if unit == "block" else offsets[mask]
    title, counts = title.format(count, size), f"{plural(count, unit)} of {plural(size, part)}"
    say(f"{title}, {counts}; {yours} {unit} {pid}, {span(own - pid * size, part)}, {span(own, 'element')}; {code}.")
    text(axes, left, 20, title, fontsize=13, weight="bold", family="monospace")
    text(axes, left, 46, counts)
    for row in range(count):
        text(axes, left, 81 + 44 * row, f"{unit} {row}")
        box(axes, x - 4, 61 + 44 * row, width + 8, 40, **FRAME)
        (_cells if unit == "block" else _bar)(axes, x, 64 + 44 * row, width, *_lanes(row, n_elements, size), own)
    box(axes, left + 2, end + 2, 22, 18, **YOURS)
    text(axes, left + 36, end + 11, yours, fontsize=12, weight="bold")
    text(axes, left, end + 38, code, family="monospace")
    if off:
        box(axes, left + 2, end + 66, 22, 18, **OFF)
        switched_off = f"switched off by {guard}: {span(off, part)} of {unit} {count - 1}"
        text(axes, left + 36, end + 75, switched_off)
        say(f"Hatched, {switched_off}.")


def _cells(axes, x, y, width, offsets, mask, own=()) -> None:
    """Draws one cell for each lane, with its offset; the offsets in `own` stand out."""
    step = width / len(offsets)
    for lane, (offset, owned) in enumerate(zip(offsets, mask, strict=True)):
        look = OFF if not owned else YOURS if offset in own else ON
        box(axes, x + step * lane + 0.5, y, step - 1, 34, str(offset), **look)


def _bar(axes, x, y, width, offsets, mask, own=()) -> None:
    """Draws all lanes as one bar, the masked part hatched, neither part too thin to be seen; it stands out if `own`."""
    least = 0 if mask.all() else 8
    for part, look in (offsets[mask], YOURS if offsets[0] in own else ON), (offsets[~mask], OFF):
        length = min(max(width * len(part) / len(offsets), least), width - least)
        label = span(part) if len(offsets) <= 16 and 9 * len(span(part)) < length else ""
        ticks = np.linspace(x, x + length, len(part) + 1)[1:-1] if len(offsets) <= 16 else []
        box(axes, x, y, length, 34, label, **look, visible=length > 0)
        axes.vlines(ticks, y, y + 34, color="#444444", linewidth=0.5, zorder=3)
        x += length


def _lanes(pid: int, n_elements: int, block_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets of program `pid` and its mask, as a kernel computes them."""
    offsets = pid * block_size + np.arange(block_size)
    return offsets, offsets < n_elements


def _describe(pid: int, n_elements: int, block_size: int) -> list[str]:
    """In words: the program, its elements, and, if there are any, its masked lanes."""
    offsets, mask = _lanes(pid, n_elements, block_size)
    off = [f"masked off: {span(np.arange(block_size)[~mask], 'lane')}"] if not mask.all() else []
    return [f"pid {pid}", span(offsets[mask], "element"), *off]


def _fold_plan(n: int, threads: int) -> list[tuple[str, dict[int, list[tuple[int, int]]]]]:
    """The rows of a fold: a label and, for each lane with a number, the (row, lane) of all that it is combined from."""
    size = n // threads
    plan = [(f"lanes, {size} in each\nthread", {lane: [] for lane in range(n)})]
    for row in range(1, size):
        step = {lane: [(row - 1, lane - 1), (0, lane)] for lane in range(row, n, size)}
        plan.append(("in the thread's\nregisters", step))
    for apart in [threads >> halvings for halvings in range(1, threads.bit_length())]:
        above, lanes = len(plan) - 1, range(size - 1, apart * size, size)
        step = {lane: [(above, lane), (above, lane + apart * size)] for lane in lanes}
        plan.append((f"between threads,\n{apart} apart", step))
    return [*plan, ("every lane gets\nthe result", {lane: [(len(plan) - 1, size - 1)] for lane in range(n)})]


def _fold_row(axes, n, threads, number, held, step, look) -> None:
    """Draws row `number` of a fold of `n` lanes: the numbers that lanes hold, and arrows from what `step` combines."""
    pitch, y = 800 / n, 82 + 84 * number
    width = min(pitch - 6, 64)
    for lane, value in held.items():
        x = 150 + pitch * (lane + 0.5)
        box(axes, x - width / 2, y, width, 34, _number(value), **look)
        for i, (above, source) in enumerate(step[lane]):
            end = x + 8 * (2 * i + 1 - len(step[lane]))  # arrows to one box end side by side
            start = end + pitch * (source - lane), 116 + 84 * above
            style = KEPT if source * threads // n == lane * threads // n else SENT
            axes.annotate("", (end, y), start, arrowprops=style)


def _number(value) -> str:
    return f"{value:.0f}" if 100 <= abs(value) < 100_000 else f"{value:.3g}"
