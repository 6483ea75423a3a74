"""Every deck opens without a network, shows all its slides, and none is too long for the screen."""

from helpers.course import notebooks, slides
from helpers.tests.synthetic import code, markdown, notebook, picture, slide, stream

import pytest
from nbformat import v4

READY = "window.Reveal && Reveal.isReady()"
SLIDES = """() => Reveal.getSlides().map(slide => {
  const {h, v} = Reveal.getIndices(slide);
  Reveal.slide(h, v, 99);
  const texts = [...slide.querySelectorAll('p, li, td, th, pre')].filter(e => e.offsetParent && e.innerText.trim());
  return {page: h + 1, width: slide.scrollWidth, height: slide.scrollHeight, text: slide.innerText.trim(), wrong: {
    below: v, hidden: slide.querySelectorAll('.fragment:not(.visible)').length,
    blank: [...slide.querySelectorAll('img')].filter(image => !image.naturalWidth || !image.alt).length,
    small: texts.filter(e => parseFloat(getComputedStyle(e).fontSize) < 21.5).length},
    said: texts.filter(e => /^(P|LI)$/.test(e.tagName)).map(e => e.innerText.trim()),
    code: [...slide.querySelectorAll('.jp-InputArea')].some(e => e.offsetParent && e.innerText.trim()),
    shown: [...slide.querySelectorAll('.jp-OutputArea-output')].some(e => e.offsetParent)};
})"""
TERMS = """() => ['.notes strong', '.slides strong:not(.notes strong)'].map(
  where => [...document.querySelectorAll(where)].map(e => e.textContent.toLowerCase().replace(/[.:]$/, '')))"""


@pytest.fixture(scope="session")
def folder():
    return slides.build()


def opened(page, address: str) -> list[dict]:
    """The slides of a deck, each shown once with all its fragments."""
    page.goto(address)
    page.wait_for_function(READY)
    return page.evaluate(SLIDES)


@pytest.mark.parametrize("path", notebooks.lectures(), ids=lambda path: path.stem)
def test_a_deck_is_readable_and_asks_for_nothing_outside_its_folder(path, page, folder):
    page.context.set_offline(True)
    found = opened(page, (folder / f"{path.stem}.html").as_uri())
    assert 10 <= len(found) <= 80 and page.locator("aside.notes").count() >= 3
    for one in found:
        assert one["height"] <= 720 and one["width"] <= 1280 and one["text"] and not any(one["wrong"].values()), one
    assert [url for url in page.requests if not url.startswith(folder.as_uri())] == page.errors == []


@pytest.mark.parametrize("path", notebooks.lectures(), ids=lambda path: path.stem)
def test_a_slide_says_something_and_ends_what_it_begins(path, page, folder):
    for one in opened(page, (folder / f"{path.stem}.html").as_uri()):
        listing = "@triton.jit" in one["text"]  # an output that is code may fill a slide
        assert len(one["text"].split()) >= 8 and (one["said"] or one["code"] or listing), f"an output alone: {one}"
        assert one["said"] or one["code"] or one["shown"], f"a heading alone: {one}"
        assert not [text for text in one["said"] if text.count("(") != text.count(")")], one
        assert not one["said"] or not one["text"].endswith(":"), one


@pytest.mark.parametrize("path", notebooks.lectures(), ids=lambda path: path.stem)
def test_a_term_in_bold_stands_on_a_slide_and_not_in_the_notes_alone(path, page, folder):
    opened(page, (folder / f"{path.stem}.html").as_uri())
    noted, shown = page.evaluate(TERMS)
    labels = {"predict", "say", "pause", "usual wrong answer", "usual wrong answers"}
    assert sorted(set(noted) - set(shown) - labels) == []


def test_a_deck_prints_one_page_a_slide(page, folder):
    address = (folder / "02_vector_add.html").as_uri()
    count = len(opened(page, address))
    page.goto(f"{address}?print-pdf")
    page.wait_for_selector(".pdf-page")
    assert page.locator(".pdf-page").count() == count
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


@pytest.fixture
def shown(page, folder):
    """Shows a deck of these cells; returns its slides."""

    def show(*cells):
        (folder / "try.html").write_text(slides.render(notebook(*cells)), encoding="utf-8")
        return opened(page, (folder / "try.html").as_uri())

    yield show
    (folder / "try.html").unlink()


def test_a_slide_that_is_too_long_is_noticed(shown):
    """One statement is not cut."""
    (found,) = shown(markdown("a", "## Long", **slide()), code("b", "x = [\n" + "    1,\n" * 40 + "]"))
    assert found["height"] > 720


def test_what_does_not_fit_goes_on_under_the_same_heading(shown):
    lines = [f"x{i} = {i}" for i in range(40)]
    parts = ["\n".join(lines[i : i + 8]) for i in range(0, 40, 8)]
    prose = "## 长标题\n\n" + "\n\n".join(f"第{i}段。" * 60 for i in range(6)) + "\n\n### Then\n\nMore."
    found = shown(markdown("a", prose, **slide()), code("b", "\n\n".join(parts)), markdown("c", "Last."))
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
    outputs = [stream("\n".join(f"line {i}" for i in range(50))), v4.new_output("display_data", {"text/html": html})]
    found = shown(markdown("a", "## Long", **slide()), code("b", "f()", 1, [*outputs, picture("Three programs")]))
    assert len(found) == 4 and all(one["height"] <= 720 for one in found)
    assert found[1]["text"].endswith("…") and "line 0" in found[1]["text"] and "line 49" not in found[1]["text"]
    rows = found[2]["text"].split()
    assert rows[:3] == ["Long", "a", "100"] and rows[-1] == "…" and "129" not in rows


def test_an_answer_waits_for_a_click_or_for_the_next_slide(shown, page):
    asks = markdown("a", "## Asks\n\nHow many?", **slide("slide", "predict"))
    shown(asks, code("b", "f()", 1, [stream("24\n")]), markdown("c", "All of them."))
    assert page.locator(".fragment").inner_text().split() == ["24", "All", "of", "them."]
    page.evaluate("Reveal.slide(0, 0, -1)")
    page.locator("pre", has_text="24").wait_for(state="hidden")
    assert page.locator("pre", has_text="f()").is_visible()
    found = shown(asks, code("b", "\n".join(["f()"] * 16), 1, [stream("24\n" * 9)]))
    assert len(found) == 2 and "24" in found[1]["text"] and page.locator(".fragment").count() == 0
