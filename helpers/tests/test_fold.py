"""The picture of a fold: each number is what its arrows bring, in Triton's order, and fits where it stands."""

from helpers import show_fold
from helpers.pictures import drawing

import functools
import itertools
import operator

import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Annotation

INF = float("inf")
LANES = [3.0, -1.0, 7.0, 2.0, -INF, 0.0, 5.0, 4.0]
FOLDS = [
    (LANES, max, 4),
    ([1] * 8, operator.add, 2),
    (range(16), operator.sub, 16),
    ([-1000] * 8, operator.add, 8),
    ([-0.0125] * 4, min, 1),
]


@pytest.fixture
def shown(monkeypatch):
    """Every (axes, alternative text) that a picture would show."""
    found = []
    monkeypatch.setattr(drawing, "show", lambda figure, alt: found.append((figure.axes[0], alt)))
    return found


def edges(patch):
    """Left, top, right and bottom of a box."""
    return (*patch.get_xy().min(axis=0), *patch.get_xy().max(axis=0))


def inside(x, y, box):
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def test_alt_text_has_the_numbers_of_each_step(shown):
    show_fold(LANES, max)
    assert shown[0][1] == (
        "max of 8 lanes in 4 threads: 1 step inside the threads, 2 between them. Dashed arrows go from one thread to "
        "another. Lanes, 2 in each thread: 3, -1, 7, 2, -inf, 0, 5, 4. In the thread's registers: 3, 7, 0, 5. Between "
        "threads, 2 apart: 3, 7. Between threads, 1 apart: 7. Every lane gets the result: 7, 7, 7, 7, 7, 7, 7, 7."
    )
    show_fold([100_000, 99_999, 3, 4, 50, 0.125, 7, 8], operator.sub, threads=2)
    assert shown[1][1].startswith("sub of 8 lanes in 2 threads: 3 steps inside the threads, 1 between them. ")
    assert shown[1][1].endswith(
        " Lanes, 4 in each thread: 1e+05, 99999, 3, 4, 50, 0.125, 7, 8. In the thread's registers: 1, 49.9. In the "
        "thread's registers: -2, 42.9. In the thread's registers: -6, 34.9. Between threads, 1 apart: -40.9. Every "
        "lane gets the result: -40.9, -40.9, -40.9, -40.9, -40.9, -40.9, -40.9, -40.9."
    )


@pytest.mark.parametrize(("values", "combine", "threads"), FOLDS)
def test_each_number_is_what_its_arrows_bring_from_left_to_right(shown, values, combine, threads):
    show_fold(values, combine, threads)
    axes, _ = shown[0]
    frames, boxes = ([edges(patch) for patch in part] for part in (axes.patches[:threads], axes.patches[threads:]))
    said = {text.get_position(): text.get_text() for text in axes.texts if text.get_text()}
    numbers = {box: float(words) for box in boxes for at, words in said.items() if inside(*at, box)}
    brought = {box: {} for box in boxes}
    for arrow in (text for text in axes.texts if isinstance(text, Annotation)):
        (end,) = (box for box in boxes if inside(*arrow.xy, box) and arrow.xy[1] == box[1])
        (start,) = (box for box in boxes if inside(*arrow.xyann, box) and arrow.xyann[1] == box[3])
        brought[end][arrow.xy[0]] = numbers[start]
        stays = any(inside(*arrow.xy, frame) and inside(*arrow.xyann, frame) for frame in frames)
        colour, style = arrow.arrow_patch.get_edgecolor(), arrow.arrow_patch.get_linestyle()
        assert (to_hex(colour).upper(), style == "solid") == (drawing.BLUE if stays else drawing.VERMILLION, stays)
    lanes, others = boxes[: len(values)], boxes[len(values) :]
    assert [numbers[box] for box in lanes] == list(values) and not any(brought[box] for box in lanes)
    assert sum(len(brought[box]) == 2 for box in others) == len(values) - 1  # that many numbers are combined away
    for box in others:
        assert numbers[box] == functools.reduce(combine, [number for _, number in sorted(brought[box].items())])


@pytest.mark.parametrize(("values", "combine", "threads"), FOLDS)
def test_each_text_fits_and_can_be_read_from_afar(shown, values, combine, threads):
    show_fold(values, combine, threads)
    axes, _ = shown[0]
    assert axes.get_xlim() == (0, 960) and axes.figure.get_figwidth() == 10
    for text in (text for text in axes.texts if text.get_text()):
        around = [edges(patch) for patch in axes.patches if inside(*text.get_position(), edges(patch))]
        left, top, right, bottom = around[-1] if around else (0, 0, 960, axes.get_ylim()[0])
        ends = text.get_window_extent().transformed(axes.transData.inverted())
        assert left <= ends.x0 and ends.x1 <= right and top <= ends.y1 and ends.y0 <= bottom, text
        assert text.get_fontsize() >= 11


@pytest.mark.parametrize(("values", "combine", "threads"), FOLDS)
def test_lanes_stand_apart_and_in_the_middle_of_their_threads(shown, values, combine, threads):
    show_fold(values, combine, threads)
    axes, _ = shown[0]
    frames, boxes = ([edges(patch) for patch in part] for part in (axes.patches[:threads], axes.patches[threads:]))
    names = {text.get_position()[0]: text.get_text() for text in axes.texts if text.get_position()[1] == 58}
    for thread, (left, top, right, bottom) in enumerate(frames):
        own = boxes[: len(values)][thread * len(values) // threads :][: len(values) // threads]
        assert own[0][0] - left == pytest.approx(right - own[-1][2]) and own[0][0] > left
        assert own[0][1] - top == pytest.approx(bottom - boxes[-1][3]) and own[0][1] > top
        assert names[(left + right) / 2] == (f"thread {thread}" if threads < 16 else str(thread))
    assert all(one[2] < other[0] for one, other in itertools.pairwise(boxes[: len(values)]))


@pytest.mark.parametrize(
    ("values", "combine", "threads", "message"),
    [
        ([1, 2, 3], max, 1, r"values is \[1, 2, 3\]: pass 4, 8 or 16 numbers"),
        ([1, 2, 3, 4, 5, 6], max, 2, "pass 4, 8 or 16 numbers"),
        (["1", 2, 3, 4], max, 2, "pass 4, 8 or 16 numbers"),
        ([1, 2, 3, 4], "max", 2, "combine is 'max': pass a function of two numbers that has a name"),
        ([1, 2, 3, 4], max, 0, "threads is 0"),
        ([1, 2, 3, 4], max, 8, "threads is 8: pass an integer from 1 to 4"),
        ([1, 2, 3, 4], max, 3, "threads is 3: pass a power of two, such as 2"),
        ([1, -1.5e10, 2, -2.5e10], max, 4, r"they give -1.5e\+10, too long for its box; pass rounder numbers"),
        ([-0.25] * 16, operator.mul, 4, "they give 0.0625, too long"),
    ],
)
def test_what_cannot_be_drawn_is_named(shown, values, combine, threads, message):
    with pytest.raises(ValueError, match=message):
        show_fold(values, combine, threads)
    assert shown == []
