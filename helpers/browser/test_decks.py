"""Every deck opens without a network, shows all its slides, and none is too long for the screen."""

from helpers.course import deck, notebooks, slides

import nbformat
import pytest

READY = "window.Reveal && Reveal.isReady()"
SIZE = """() => {
  const slide = Reveal.getCurrentSlide();
  const images = [...slide.querySelectorAll('img')];
  return {width: slide.scrollWidth, height: slide.scrollHeight, text: slide.innerText,
          blank: images.filter(image => !image.naturalWidth || !image.alt).length,
          small: [...slide.querySelectorAll('p, li, td, th, pre')].filter(
            e => e.offsetParent && e.innerText.trim() && parseFloat(getComputedStyle(e).fontSize) < 21.5).length};
}"""


@pytest.fixture(scope="session")
def folder():
    return slides.build()


@pytest.fixture(params=notebooks.lectures(), ids=lambda path: path.stem)
def lecture(request, page, folder):
    """A lecture, with its deck open; what is not a file cannot be reached."""
    page.context.set_offline(True)
    page.goto((folder / f"{request.param.stem}.html").as_uri())
    page.wait_for_function(READY)
    return request.param


def test_a_deck_has_its_slides_and_none_overflows(lecture, page):
    expected = deck.slides(notebooks.read(lecture))
    assert page.evaluate("Reveal.getTotalSlides()") == len(expected)
    for number in range(len(expected)):
        page.evaluate(f"Reveal.slide({number})")
        page.wait_for_function(f"Reveal.getIndices().h === {number}")
        found = page.evaluate(SIZE)
        assert found["height"] <= slides.HEIGHT and found["width"] <= slides.WIDTH, (number + 1, found)
        assert found["blank"] == 0 and found["small"] == 0, (number + 1, found)
        assert found["text"].strip(), number + 1


def test_a_deck_asks_for_nothing_outside_its_folder(lecture, page, folder):
    assert [url for url in page.requests if not url.startswith(folder.as_uri())] == []
    assert page.errors == []


def test_a_deck_has_speaker_notes(lecture, page):
    assert page.locator("aside.notes").count() >= 3


def test_a_deck_prints_one_page_a_slide(page, folder):
    page.goto((folder / "02_vector_add.html").as_uri() + "?print-pdf")
    page.wait_for_function(READY)
    page.wait_for_selector(".pdf-page")
    assert page.locator(".pdf-page").count() == len(deck.slides(notebooks.read(notebooks.lectures()[2])))
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_a_deck_without_reveal_is_noticed(page, folder, tmp_path):
    """The tests above would see a deck that does not start."""
    alone = tmp_path / "deck.html"
    alone.write_text((folder / "00_start_here.html").read_text(encoding="utf-8"), encoding="utf-8")
    page.goto(alone.as_uri())
    assert page.errors and not page.evaluate("Boolean(window.Reveal)")


def test_a_slide_that_is_too_long_is_noticed(page, folder):
    long = deck.Slide("## Too long", [nbformat.v4.new_code_cell("x = 1\n" * 40)])
    (folder / "too_long.html").write_text(slides.render([long], "Too long"), encoding="utf-8")
    page.goto((folder / "too_long.html").as_uri())
    page.wait_for_function(READY)
    assert page.evaluate(SIZE)["height"] > slides.HEIGHT
    (folder / "too_long.html").unlink()
