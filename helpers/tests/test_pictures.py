"""The pictures say the right numbers, in the picture and in the alternative text, and leave nothing behind."""

from helpers import show_dataflow, show_grids, show_programs, show_tile
from helpers.pictures import dataflow, drawing, programs
from helpers.tests.children import run

import io
import itertools
import sys

import IPython.display
import PIL.Image
import pytest
from matplotlib.figure import Figure

KIB = 1024
SWIGLU = {
    "eager": [("silu", {"gate": 32 * KIB}, {"a": 32 * KIB}), ("mul", {"a": 32 * KIB, "up": 32 * KIB}, {"out": 32768})],
    "fused": [("swiglu_kernel", {"gate": 32 * KIB, "up": 32 * KIB}, {"out": 32 * KIB})],
}
SIZES = [(1, 1), (10, 4), (16, 4), (30, 8), (128, 16), (130, 16), (1000, 256), (1024, 256), (1025, 256), (98432, 1024)]


@pytest.fixture
def shown(monkeypatch):
    """Every image that a picture displays."""
    images = []
    monkeypatch.setattr(IPython.display, "display", images.append)
    return images


@pytest.fixture
def drawn(monkeypatch):
    """Every text and every hatched box that a picture draws: a list of texts, a list of (left, right).

    The picture itself is not rendered, which takes most of the time.
    """
    texts, hatched, box, text = [], [], drawing.box, drawing.text

    def record_box(axes, x, y, width, height, label="", **style):
        if "hatch" in style and style.get("visible", True):
            hatched.append((x, x + width))
        box(axes, x, y, width, height, label, **style)

    def record_text(axes, x, y, words, *rest, **style):
        texts.append(words)
        text(axes, x, y, words, *rest, **style)

    for module in (drawing, programs, dataflow):
        monkeypatch.setattr(module, "box", record_box)
        monkeypatch.setattr(module, "text", record_text)
    monkeypatch.setattr(Figure, "savefig", lambda self, file, **_: PIL.Image.new("RGB", (1, 1)).save(file, "png"))
    return texts, hatched


def brute_force(n_elements, block_size):
    """Offsets of each program, one program after the other, until every element has a lane."""
    programs = []
    while len(programs) * block_size < n_elements:
        programs.append([len(programs) * block_size + lane for lane in range(block_size)])
    return programs


@pytest.mark.parametrize(("n_elements", "block_size"), SIZES)
def test_programs_show_the_lanes_that_counting_finds(shown, drawn, n_elements, block_size):
    for pid, expected in enumerate(brute_force(n_elements, block_size)):
        offsets, mask = programs._lanes(pid, n_elements, block_size)
        assert offsets.tolist() == expected
        assert mask.tolist() == [offset < n_elements for offset in expected]
    show_programs(n_elements, block_size)
    texts, hatched = drawn
    off = [offset for program in brute_force(n_elements, block_size) for offset in program if offset >= n_elements]
    said = [text for text in "\n".join(texts).splitlines() if "masked off" in text]
    assert bool(hatched) == bool(said) == bool(off)
    assert f"; {len(off)} lane{'' if len(off) == 1 else 's'} masked off" in shown[0].alt
    if off:
        lanes = [offset % block_size for offset in off]
        ends = f"lanes {lanes[0]} – {lanes[-1]}" if len(off) > 1 else f"lane {lanes[0]}"
        assert said == [f"masked off: {ends}"]


def test_programs_alt_text_names_the_masked_lanes(shown):
    show_programs(n_elements=1000, block_size=256)
    assert "24 lanes masked off (hatched)" in shown[0].alt and "masked off: lanes 232 to 255." in shown[0].alt
    assert "pid 3 · elements 768 to 999" in shown[0].alt


def test_masked_part_of_a_bar_is_drawn_to_scale(shown, drawn):
    show_programs(896, 256)
    assert "lane 255" in drawn[0]
    (left, right), bar_left = drawn[1][0], 24 + 10 * len("pid 3")
    assert (right - left) / (right - bar_left) == pytest.approx(128 / 256)


def test_a_single_masked_lane_among_many_is_visible(shown, drawn):
    show_programs(1023, 1024)
    ((left, right),) = drawn[1]
    assert right - left >= 8


def test_small_programs_are_drawn_lane_by_lane(shown, drawn):
    show_programs(10, 4)
    assert [text for text in drawn[0] if text.isdigit()] == [str(offset) for offset in range(12)]
    assert len(drawn[1]) == 2


def test_many_programs_are_abridged(shown, drawn):
    show_programs(98432, 1024)
    assert [text for text in drawn[0] if text.startswith("pid")] == ["pid 0", "pid 1", "pid 2", "pid 95", "pid 96"]
    assert "…  92 more programs: pids 3 – 94" in drawn[0]


def test_grids_hatch_what_has_no_element_on_both_sides(shown, drawn):
    show_grids(14, 4, 4)
    (middle, in_legend) = 500, 24
    cells = [box for box in drawn[1] if box[1] - box[0] > in_legend]
    assert [box[0] < middle for box in cells] == [True, True, False]  # two threads, one part of a program
    assert "switched off by mask = offsets < n_elements: lanes 2 to 3 of program 3." in shown[0].alt
    assert {"CUDA: add<<<4, 4>>>", "Triton: add_kernel[(4,)]", "14 – 15"} <= set(drawn[0])
    assert "block 2, thread 1, element 9" in shown[0].alt
    assert "program 2, lanes 0 to 3, elements 8 to 11" in shown[0].alt


@pytest.mark.parametrize("n_elements", range(1, 18))
def test_the_marked_thread_has_an_element_and_what_fits_is_not_hatched(shown, drawn, n_elements):
    show_grids(n_elements, 4, 8)
    assert n_elements != 16 or (drawn[1] == [] and "Hatched" not in shown[0].alt)
    marked = int(shown[0].alt.split("element ")[1].split(";")[0])
    assert marked < n_elements


def test_a_tile_shows_each_offset_once_and_names_those_of_its_program(shown, drawn):
    show_tile((6, 7), (1, 6), (4, 8), (1, 0))
    assert sorted(int(text) for text in drawn[0] if text.isdigit()) == list(range(42))
    assert len(drawn[1]) == 8 * 8 - 42 and {"row 7", "col 7"} <= set(drawn[0])
    assert "rows 4 to 7, columns 0 to 7; on are the 14 lanes with offsets 4, 10, 16, 22, 28, 34" in shown[0].alt


def test_dataflow_totals_and_a_small_tensor_with_its_own_bytes(shown, drawn):
    show_dataflow(SWIGLU)
    assert "2 launches · 5 tensor trips · 160 KiB" in drawn[0]
    assert "1 launch · 3 tensor trips · 96 KiB" in drawn[0]
    assert "eager: 2 launches · 5 tensor trips · 160 KiB." in shown[0].alt
    assert "Launch 2, mul: read a 32 KiB, read up 32 KiB, write out 32 KiB." in shown[0].alt
    show_dataflow({"fused": [("scale_kernel", {"x": KIB * KIB, "w": 512}, {"out": KIB * KIB})]})
    assert {"1 launch · 3 tensor trips · 2 MiB", "read 1 MiB", "read 512 B", "write 1 MiB"} <= set(drawn[0])


def test_dataflow_draws_each_tensor_once_and_apart_from_the_others(shown, drawn, monkeypatch):
    tops, box = {}, dataflow.box

    def record(axes, x, y, width, height, label="", **style):
        tops.setdefault(label, []).append(y)
        box(axes, x, y, width, height, label, **style)

    monkeypatch.setattr(dataflow, "box", record)
    show_dataflow({"one": [("f", {"x": 1, "y": 1}, {"t": 1}), ("g", {"y": 1, "t": 1, "x": 1}, {"x": 1, "out": 1})]})
    ys = sorted(y for name in ("x", "y", "t", "out") for y in tops[name])
    assert len(ys) == 4 and min(b - a for a, b in itertools.pairwise(ys)) >= 36 - 1e-6


def test_bytes():
    sizes = {0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 3 << 20: "3 MiB", 5 << 40: "5120 GiB"}
    assert {size: drawing.size_of(size) for size in sizes} == sizes


@pytest.mark.parametrize(
    ("show", "arguments"), [(show_programs, (1000, 256)), (show_grids, (62, 8, 8)), (show_dataflow, (SWIGLU,))]
)
def test_image_is_reproducible_small_sharp_and_described(shown, show, arguments):
    import matplotlib

    assert show(*arguments) is None
    with matplotlib.rc_context({"figure.facecolor": "black", "font.size": 30, "savefig.dpi": 30, "text.color": "red"}):
        show(*arguments)
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []
    first, second = shown
    assert first.data == second.data and first.alt == second.alt
    assert len(first.data) < 60_000
    image = PIL.Image.open(io.BytesIO(first.data))
    assert image.width == 2 * first.width <= 2000
    assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    _data, metadata = first._repr_mimebundle_()
    assert metadata["image/png"]["alt"] == first.alt and metadata["image/png"]["width"] == first.width


def test_a_backend_that_is_not_there_is_named():
    _, error = run("import helpers; helpers.show_programs(4, 4)", MPLBACKEND="module://no_such_backend.at_all")
    assert (
        error.startswith("RuntimeError: matplotlib cannot start with MPLBACKEND='module://no_such_backend.at_all'")
        or not error
    )


@pytest.mark.parametrize(
    ("show", "arguments", "message"),
    [
        (show_programs, (0, 4), "n_elements is 0: there is nothing to draw"),
        (show_tile, ((6, 7), (7, 1), (4, 3), (0, 0)), "block_size is 3: tl.arange takes powers of two, such as 4"),
        (show_tile, ((17, 7), (7, 1), (4, 4), (0, 0)), "lanes is 20: pass an integer from 1 to 16"),
        (show_programs, (-1, 4), "n_elements is -1"),
        (show_programs, (10.0, 4), "n_elements is 10.0"),
        (show_programs, (10, 0), "block_size is 0"),
        (show_programs, (10, 3), "block_size is 3: tl.arange takes powers of two, such as 4"),
        (show_programs, (10, 2**21), "block_size is 2097152: pass an integer from 1 to 1048576"),
        (show_grids, (65, 16, 16), "n_elements is 65: pass an integer from 1 to 64"),
        (show_grids, (16, 0, 4), "threads_per_block is 0"),
        (show_grids, (16, 17, 4), "threads_per_block is 17: pass an integer from 2 to 16"),
        (show_grids, (64, 4, 16), "threads_per_block is 4: pass an integer from 8 to 16"),
        (show_grids, (16, 4, 6), "block_size is 6"),
        (show_dataflow, ({},), "flows must have a flow"),
        (show_dataflow, ({"eager": []},), "each flow a launch"),
        (show_dataflow, ({"eager": [("f", {}, {})]},), "each launch a tensor"),
    ],
)
def test_what_cannot_be_drawn_is_named(shown, show, arguments, message):
    with pytest.raises(ValueError, match=message):
        show(*arguments)
    assert shown == []
