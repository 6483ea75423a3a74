"""The pages hold the course offline, their links lead somewhere, and a page that fails leaves what was there."""

from helpers.course import ROOT, notebooks, pages
from helpers.tests.synthetic import code, markdown, picture, save

import re
import shutil

import pytest
from bs4 import BeautifulSoup


def opened(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def links(page) -> dict[str, str]:
    return {link.text: link["href"] for link in page.find_all("a")}


def fetched(page) -> list[str]:
    """What a browser would fetch for the page."""
    found = [tag.get(name) for tag in page.find_all(["img", "script", "link", "iframe"]) for name in ("src", "href")]
    found += re.findall(r"(?:url\(|@import\s)[\"']?(?!data:|#)([^\s\"')]*)", str(page))
    return [address for address in found if address and not address.startswith("data:")]


def test_links_lead_to_pages_and_to_what_is_no_page_there_is_none():
    hrefs = ["b.ipynb#x", "../a.ipynb", "../../README.md", "#y", "https://z.org", "gone.ipynb"]
    text = " ".join(f'<a class="c" href="{href}">{href}</a>' for href in hrefs)
    found = pages.relink(text, "exercises/a.html", ["a.html", "exercises/b.html"])
    assert re.findall(r'class="c" href="(.+?)"', found) == ["b.html#x", "../a.html", "#y", "https://z.org"]
    assert found.endswith(" gone.ipynb") and " ../../README.md " in found


def test_a_header_says_whether_it_is_one_of_a_column_or_of_a_row():
    rows = '<table><thead><tr style="x"><th></th><th>a</th></tr></thead><tbody><tr><th>0</th><td>1</td></tr></tbody>'
    found = pages.relink(f'<a href="b.ipynb">b</a>{rows}</table><p><th', "a.html", ["b.html"])
    assert re.findall("<t[hd](?!e)[^>]*>", found) == [
        '<th scope="col">',
        '<th scope="col">',
        '<th scope="row">',
        "<td>",
    ]


def test_pages_of_the_lectures_are_offline_and_their_links_lead_somewhere(tmp_path):
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    folder = pages.build(tmp_path)
    assert {path.stem for path in folder.glob("[0-9]*.html")} == {path.stem for path in notebooks.lectures()}
    index = [link["href"] for link in opened(folder / "index.html").find_all("a")]
    for path in folder.rglob("*.html"):
        page = opened(path)
        assert fetched(page) == [] and all(image["alt"] for image in page.find_all("img")), path.name
        inside = [link.partition("#")[0] for link in links(page).values() if not re.match("https?:|#", link)]
        assert [link for link in inside if not (path.parent / link).exists()] == [], path.name
        assert path.relative_to(folder).as_posix() in ["index.html", *index]


def test_a_failing_page_leaves_the_earlier_pages(tmp_path, monkeypatch):
    show = code("plot", "show()", 1, [picture('Two "programs" & <masks>')])
    title = markdown("title", "# `Vector` [add](x)\nWe add *two* vectors. Then again.\n\nMore.")
    save(tmp_path / "notebooks" / "02_add.ipynb", title, markdown("notes", "One.", notes="say this"), show)
    folder = pages.build(tmp_path)
    (item,) = opened(folder / "index.html").find_all("li")
    assert str(item) == '<li><a href="02_add.html">Vector add</a><br/>We add two vectors. Then again.</li>'
    page = opened(folder / "02_add.html")
    assert [image["alt"] for image in page.find_all("img")] == ['Two "programs" & <masks>'] and "say" not in page.text
    (folder / "mark").write_text("earlier")
    save(tmp_path / "notebooks" / "03_more.ipynb", markdown("title", "# More"))
    monkeypatch.setattr(pages, "_index", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pages.build(tmp_path)
    assert (folder / "mark").exists() and not (folder / "03_more.html").exists()
    monkeypatch.undo()
    assert links(opened(pages.build(tmp_path) / "02_add.html"))["More →"] == "03_more.html"
    assert not (folder / "mark").exists() and [path.name for path in folder.parent.iterdir()] == ["html"]
