"""Builds the course as pages to read offline, with the stored outputs: `python -m helpers.course.pages`.

The pages are built beside build/html and take its place when all of them are there.
"""

import html
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from nbconvert import HTMLExporter

from . import ROOT, derived, notebooks

COURSE = "Triton, Cell by Cell"
INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<title>{course}</title>
<style>body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font-family: sans-serif; }}</style>
</head>
<body><main><h1>{course}</h1>
{lists}
</main></body>
</html>
"""
LISTS = {"lecture": "Lectures", "exercises": "Exercises", "solutions": "Solutions"}
ANCHOR = re.compile(r'<a\b([^>]*?)\bhref="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)


class Page:
    """One notebook on its way to a page: `name` is the page's path below build/html."""

    def __init__(self, path: Path, folder: Path):
        self.name = path.relative_to(folder).with_suffix(".html").as_posix()
        self.path, self.kind, self.notebook = path, notebooks.kind(path), notebooks.read(path)
        self.notebook.cells = [cell for cell in self.notebook.cells if not notebooks.is_notes(cell)]
        first = self.notebook.cells[0].source if self.notebook.cells else ""
        heading = re.search(r"^# +(.+)$", first, re.MULTILINE)
        self.title = _plain(heading.group(1)) if heading else path.stem
        self.sentence = _first_sentence(first[heading.end() :] if heading else first)


def _plain(markdown: str) -> str:
    """The text of one line of markdown: links become their words, and emphasis and code lose their marks."""
    return re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda match: match.group(1) or "", markdown).strip()


def _first_sentence(markdown: str) -> str:
    paragraph = _plain(" ".join(markdown.strip().partition("\n\n")[0].split()))
    return re.split(r"(?<=[.!?])\s+(?=[A-Z\"“])", paragraph)[0]


def build(root: Path = ROOT) -> Path:
    """Writes all pages and returns the folder. If anything fails, the pages of an earlier run stay as they are."""
    pages = [Page(path, root / "notebooks") for path in notebooks.every_notebook(root)]
    target = root / "build" / "html"
    target.parent.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="html-", dir=target.parent))
    try:
        for page in pages:
            _write(fresh / page.name, _render(page, pages))
        _write(fresh / "index.html", _index(pages))
        fresh.chmod(0o755)
        derived.swap(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _render(page: Page, pages: list[Page]) -> str:
    exporter = HTMLExporter(
        template_name="page", extra_template_basedirs=[str(Path(__file__).parent)], embed_images=True, theme="light"
    )
    resources = {
        "metadata": {"name": f"{page.title} · {COURSE}", "path": str(page.path.parent)},
        "navigation": _navigation(page, pages),
    }
    text, _ = exporter.from_notebook_node(page.notebook, resources=resources)
    return relink(text, page.name, {other.name for other in pages})


def _navigation(page: Page, pages: list[Page]) -> str:
    """Links to the page before, the index and the page after, among those of the same kind."""
    same = [other for other in pages if other.kind == page.kind]
    at = same.index(page)
    before, after = same[at - 1] if at else None, same[at + 1] if at + 1 < len(same) else None
    up = "../" * page.name.count("/")

    def link(other: Page | None, text: str) -> str:
        return f'<a href="{PurePosixPath(other.name).name}">{text}</a>' if other else "<span></span>"

    left = link(before, f"← {html.escape(before.title)}" if before else "")
    right = link(after, f"{html.escape(after.title)} →" if after else "")
    return f'<nav class="course">{left}<a href="{up}index.html">{COURSE}</a>{right}</nav>'


def relink(text: str, name: str, names: set[str]) -> str:
    """Points the links of the page `name` at the pages `names`.

    A link to a notebook leads to its page, one to the README or CONTRIBUTING to the index. Any other file of the
    repository is no page: of such a link the words stay.
    """

    def replace(match: re.Match) -> str:
        before, href, after, words = match.groups()
        target, hash_sign, fragment = html.unescape(href).partition("#")
        if not target or re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
            return match.group()
        place = os.path.normpath(f"{PurePosixPath(name).parent}/{unquote(target)}").replace(os.sep, "/")
        page = re.sub(r"\.ipynb$", ".html", place)
        if PurePosixPath(place).name in ("README.md", "CONTRIBUTING.md"):
            page, hash_sign, fragment = "index.html", "", ""
        if page not in names | {"index.html"}:
            return words
        link = os.path.relpath(page, PurePosixPath(name).parent).replace(os.sep, "/")
        return f'<a{before}href="{html.escape(link + hash_sign + fragment)}"{after}>{words}</a>'

    return ANCHOR.sub(replace, text)


def _index(pages: list[Page]) -> str:
    lists = []
    for kind, heading in LISTS.items():
        items = "\n".join(_item(page) for page in pages if page.kind == kind)
        if items:
            lists.append(f"<h2>{heading}</h2>\n<ul>\n{items}\n</ul>")
    return INDEX.format(course=COURSE, lists="\n".join(lists))


def _item(page: Page) -> str:
    return f'<li><a href="{page.name}">{html.escape(page.title)}</a><br>{html.escape(page.sentence)}</li>'


def main() -> int:
    try:
        target = build()
    except (FileNotFoundError, ValueError) as error:
        print(error)
        return 1
    print(f"open {notebooks.shown(target / 'index.html')} in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(main())
