"""The pages hold the course offline, and their links lead somewhere."""

from helpers.course import ROOT, notebooks, pages
from helpers.tests.synthetic import code, markdown, picture, save, slide

import re
import shutil

import pytest
from bs4 import BeautifulSoup

LINKS = """## Links
[next](03_fused_swiglu.ipynb#idea) [readme](../README.md#macos) [self](#links)
[site](https://triton-lang.org) [exercise](exercises/02_vector_add.ipynb)"""
TITLE = markdown("title", "# Vector add\nWe add *two* vectors. Then again.\n\nMore.")


def links(page) -> dict[str, str]:
    return {link.text: link["href"] for link in page.find_all("a")}


def fetched(page) -> list[str]:
    """What a browser would fetch for the page."""
    found = [tag.get(name) for tag in page.find_all(["img", "script", "link", "iframe"]) for name in ("src", "href")]
    found += re.findall(r"(?:url\(|@import\s)[\"']?(?!data:|#)([^\s\"')]*)", str(page))
    return [address for address in found if address and not address.startswith("data:")]


def opened(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def test_pages_are_offline_and_linked(course):
    folder = course / "notebooks"
    show = code("plot", "show()", 1, [picture('Two "programs" & <masks>')])
    notes = markdown("notes", "say this", **slide("notes"))
    save(folder / "02_vector_add.ipynb", TITLE, notes, markdown("links", LINKS), show)
    save(folder / "03_fused_swiglu.ipynb", markdown("title", "# A `fused` SwiGLU\n\nOne kernel."))
    save(folder / "exercises" / "02_vector_add.ipynb", markdown("task", "# Gap\nOf [this](../02_vector_add.ipynb)."))
    built = pages.build(course)
    lecture, index = opened(built / "02_vector_add.html"), opened(built / "index.html")
    assert links(lecture).items() >= {
        ("next", "03_fused_swiglu.html#idea"),
        ("self", "#links"),
        ("site", "https://triton-lang.org"),
        ("exercise", "exercises/02_vector_add.html"),
        ("A fused SwiGLU →", "03_fused_swiglu.html"),
        ("Triton, Cell by Cell", "index.html"),
    }
    assert "readme" not in links(lecture) and "readme" in lecture.text and "say this" not in lecture.text
    assert [image["alt"] for image in lecture.find_all("img")] == ['Two "programs" & <masks>']
    exercise = links(opened(built / "exercises" / "02_vector_add.html"))
    assert exercise == {"this": "../02_vector_add.html", "Triton, Cell by Cell": "../index.html", "¶": "#Gap"}
    assert links(index)["A fused SwiGLU"] == "03_fused_swiglu.html" and links(index)["Gap"].startswith("exercises/")
    assert "We add two vectors. Then again.</li>" in str(index)
    assert fetched(lecture) == fetched(index) == []


def test_pages_of_the_real_lectures_are_offline_and_their_links_lead_somewhere(tmp_path):
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    folder = pages.build(tmp_path)
    assert {path.stem for path in folder.glob("[0-9]*.html")} == {path.stem for path in notebooks.lectures()}
    for path in folder.rglob("*.html"):
        page = opened(path)
        assert fetched(page) == [] and all(image["alt"] for image in page.find_all("img")), path.name
        inside = [link.partition("#")[0] for link in links(page).values() if not re.match("https?:|#", link)]
        assert [link for link in inside if not (path.parent / link).exists()] == [], path.name


def test_a_failing_page_leaves_the_earlier_pages(course, monkeypatch):
    folder = pages.build(course)
    (folder / "mark").write_text("earlier")
    save(course / "notebooks" / "03_fused_swiglu.ipynb", TITLE)
    monkeypatch.setattr(pages, "_index", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pages.build(course)
    assert (folder / "mark").read_text() == "earlier" and not (folder / "03_fused_swiglu.html").exists()
    monkeypatch.undo()
    pages.build(course)
    assert not (folder / "mark").exists() and (folder / "03_fused_swiglu.html").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["html"]
