"""Every deck opens without a network, shows all its slides, and none is too long for the screen."""

from helpers.course import notebooks, slides
from helpers.tests.synthetic import code, markdown, notebook, picture, stream

import pytest

READY = "window.Reveal && Reveal.isReady()"
SIZES = """() => Reveal.getSlides().map(slide => {
  const {h, v} = Reveal.getIndices(slide);
  Reveal.slide(h, v, 99);
  const images = [...slide.querySelectorAll('img')];
  return {page: h + 1, width: slide.scrollWidth, height: slide.scrollHeight, text: slide.innerText.trim(),
          blank: images.filter(image => !image.naturalWidth || !image.alt).length,
          hidden: slide.querySelectorAll('.fragment:not(.visible)').length, inner: v,
          small: [...slide.querySelectorAll('p, li, td, th, pre')].filter(
            e => e.offsetParent && e.innerText.trim() && parseFloat(getComputedStyle(e).fontSize) < 21.5).length};
})"""


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


def test_a_deck_is_readable_and_asks_for_nothing_outside_its_folder(lecture, page, folder):
    found = page.evaluate(SIZES)
    assert 10 <= len(found) <= 80 and page.locator("aside.notes").count() >= 3
    for one in found:
        assert one["height"] <= 720 and one["width"] <= 1280, one
        assert one["text"] and one["blank"] == one["small"] == one["hidden"] == one["inner"] == 0, one
    assert [url for url in page.requests if not url.startswith(folder.as_uri())] == []
    assert page.errors == []


def test_a_deck_prints_one_page_a_slide(page, folder):
    page.goto((folder / "02_vector_add.html").as_uri())
    page.wait_for_function(READY)
    count = page.evaluate("Reveal.getTotalSlides()")
    page.goto((folder / "02_vector_add.html").as_uri() + "?print-pdf")
    page.wait_for_selector(".pdf-page")
    assert page.locator(".pdf-page").count() == count
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_a_deck_without_reveal_is_noticed(page, folder, tmp_path):
    """The tests above would see a deck that does not start."""
    alone = tmp_path / "deck.html"
    alone.write_text((folder / "00_start_here.html").read_text(encoding="utf-8"), encoding="utf-8")
    page.goto(alone.as_uri())
    assert page.errors and not page.evaluate("Boolean(window.Reveal)")


@pytest.fixture
def shown(page, folder):
    """Shows a deck of these cells; returns its slides."""

    def show(*cells):
        (folder / "try.html").write_text(slides.render(notebook(*cells)), encoding="utf-8")
        page.goto((folder / "try.html").as_uri())
        page.wait_for_function(READY)
        return page.evaluate(SIZES)

    yield show
    (folder / "try.html").unlink()


SLIDE = {"slideshow": {"slide_type": "slide"}}


def test_a_slide_that_is_too_long_is_noticed(shown):
    """One statement is not cut."""
    found = shown(markdown("a", "## Long", **SLIDE), code("b", "x = [\n" + "    1,\n" * 40 + "]"))
    assert len(found) == 1 and found[0]["height"] > 720


def test_what_does_not_fit_goes_on_under_the_same_heading(shown):
    lines = [f"x{i} = {i}" for i in range(40)]
    parts = ["\n".join(lines[i : i + 8]) for i in range(0, 40, 8)]
    prose = "## 长标题\n\n" + "\n\n".join(f"第{i}段。" * 60 for i in range(6)) + "\n\n### Then\n\nMore."
    found = shown(markdown("a", prose, **SLIDE), code("b", "\n\n".join(parts)), markdown("c", "Last."))
    text = [one["text"] for one in found]
    assert all(one["height"] <= 720 for one in found)
    heads = [one.split()[0] for one in text]  # how many slides each takes depends on the fonts
    assert heads.count("长标题") > 1 < heads.count("Then") and sorted(heads) == heads[::-1]
    assert sum(f"第{i}段" in one for i in range(6) for one in text) == 6
    shown_lines = [line for one in text for line in one.splitlines()]
    assert [line for line in shown_lines if line.startswith("x")] == lines and shown_lines[-1] == "Last."


def test_of_an_output_that_is_too_long_the_beginning_is_shown(shown):
    import pandas

    html = pandas.DataFrame({"a": range(100, 130)}).to_html()
    table = {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}}
    found = shown(
        markdown("a", "## Long", **SLIDE),
        code("b", "f()", 1, [stream("\n".join(f"line {i}" for i in range(50))), table, picture("Three programs")]),
    )
    assert len(found) == 4 and all(one["height"] <= 720 for one in found)
    assert found[1]["text"].endswith("…") and "line 0" in found[1]["text"] and "line 49" not in found[1]["text"]
    rows = found[2]["text"].split()
    assert rows[:3] == ["Long", "a", "100"] and rows[-1] == "…" and "129" not in rows


def test_an_answer_waits_for_a_click_or_for_the_next_slide(shown, page):
    asks = markdown("a", "## Asks\n\nHow many?", tags=["predict"], **SLIDE)
    (found,) = shown(asks, code("b", "f()", 1, [stream("24\n")]), markdown("c", "All of them."))
    assert page.locator(".fragment").count() == 1 and "24" in page.locator(".fragment").inner_text()
    assert "All of them." in page.locator(".fragment").inner_text()
    page.evaluate("Reveal.slide(0, 0, -1)")
    page.locator("pre", has_text="24").wait_for(state="hidden")
    assert page.locator("pre", has_text="f()").is_visible()
    found = shown(asks, code("b", "\n".join(["f()"] * 16), 1, [stream("24\n" * 9)]))
    assert len(found) == 2 and "24" in found[1]["text"] and page.locator(".fragment").count() == 0
