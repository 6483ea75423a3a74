"""The palette under colour-blind simulation, and that stored pictures keep to it."""

from helpers.course import notebooks, pages, slides
from helpers.measure import charts
from helpers.pictures import drawing as plotting
from helpers.tests.synthetic import code, markdown, save

import base64
import io
import itertools
import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

# Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency, IEEE TVCG
# 15(6), 2009, severity 1.0, on linear RGB.
SIMULATIONS = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(rgb):
    """CIE L*a*b* (D65) of a linear RGB colour."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = matrix @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def linear(colour):
    return np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)])


@pytest.mark.parametrize("kind", SIMULATIONS)
def test_colours_that_stand_side_by_side_stay_apart(kind):
    """ΔE*ab of 10 is seen at a glance; 2.3 is the just noticeable difference (Mahy et al. 1994)."""
    beside = [look["color"] for look in charts.LOOKS[:5]]
    pairs = (plotting.BLUE, plotting.VERMILLION), (plotting.SKY, plotting.ORANGE)
    for one, other in [*itertools.combinations(beside, 2), *pairs]:
        a, b = (lab(np.array(SIMULATIONS[kind]) @ linear(colour)) for colour in (one, other))
        assert np.linalg.norm(a - b) > 10, (one, other)


def pictures():
    for path in notebooks.executed():
        for one in notebooks.read(path).cells:
            for output in one.get("outputs", []):
                if "image/png" in output.get("data", {}):
                    yield path.stem, one.id, output


PICTURES = list(pictures())


@pytest.mark.parametrize("output", [one[2] for one in PICTURES], ids=["-".join(one[:2]) for one in PICTURES])
def test_a_stored_picture_uses_the_palette_only(output):
    """Colours that are far from grey and cover more than a thousandth of the picture are the palette's."""
    names = (plotting.SKY, plotting.BLUE, plotting.ORANGE, plotting.VERMILLION, charts.GREEN, charts.PURPLE)
    palette = np.array([to_rgb(colour) for colour in names])
    data = base64.b64decode("".join(output.data["image/png"]))
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).reshape(-1, 3) / 255
    colours, counts = np.unique(pixels, axis=0, return_counts=True)
    for colour, count in zip(colours, counts, strict=True):
        if count > len(pixels) / 1000 and np.ptp(colour) > 0.35:
            fading = np.linspace(0, 0.6, 13)[None, :, None]
            tints = palette[:, None] + (1 - palette[:, None]) * fading  # edges fade to white
            shades = palette[:, None] * (1 - fading)
            distance = np.abs(np.concatenate([tints, shades], axis=1) - colour).max(axis=-1).min()
            assert distance < 0.12, (colour, count)


def test_the_search_finds_pictures():
    assert len(PICTURES) >= 10


def contrast(one, other):
    """The contrast of two colours, 1 to 21: WCAG 2.2, section 1.4.3."""
    low, high = sorted(linear(colour) @ np.array([0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def colour_of(value, css):
    """A colour of a page: where it is a variable, its value on <body>, else on the root."""
    while name := re.search(r"var\((--[\w-]+)\)", value):
        on_body = re.findall(rf"body {{[^}}]*?{name[1]}: ([^;]+);", css)
        value = (on_body or re.findall(rf"{name[1]}: ([^;]+);", css))[-1]
    rgb = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", value)
    return [int(part) / 255 for part in rgb.groups()] if rgb else value


@pytest.mark.parametrize("kind", ["page", "deck"])
def test_code_stands_out_from_the_grey_behind_it(kind, tmp_path):
    path = save(tmp_path / "notebooks" / "02_a.ipynb", markdown("title", "# A"), code("c", "x = 1 + 2  # why"))
    css = slides.render(notebooks.read(path)) if kind == "deck" else (pages.build(tmp_path) / "02_a.html").read_text()
    behind = [colour_of("var(--jp-cell-editor-background)", css), "#f5f7f9"]  # the second is a deck's own
    found = dict(re.findall(r"\.highlight (\.\w+) \{ color: ([^;}]+?) ?[;}]", css))
    assert {".c1", ".mi", ".o", ".k", ".s2"} <= set(found) and behind[1] in slides.render(notebooks.read(path))
    weak = {one: value for one, value in found.items() if min(contrast(colour_of(value, css), b) for b in behind) < 4.5}
    assert weak == {}
    assert round(contrast("#000000", "#ffffff"), 3) == 21 and round(contrast("#ffffff", "#777777"), 2) == 4.48
