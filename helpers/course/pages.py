"""Builds the course as pages to read offline, with the stored outputs: `python -m helpers.course.pages`."""

import html
import posixpath
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import unquote

from nbconvert import HTMLExporter

from . import ROOT, files, notebooks

COURSE = "Triton, Cell by Cell"
INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<title>{title}</title>
<style>body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.6 sans-serif; }}</style>
</head>
<body><main><h1>{title}</h1>
{body}
</main></body>
</html>
"""
TEMPLATES = str(Path(__file__).parent)
LISTS = {"lecture": "Lectures", "exercises": "Exercises", "solutions": "Solutions"}
ANCHOR = re.compile(r'<a\b([^>]*?)\bhref="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)
HEADERS, TH = re.compile(r"<(thead|tbody)>.*?</\1>", re.DOTALL), re.compile(r"<th(?=[ >])")


class Page:
    """One notebook on its way to a page: `name` is the page's path below build/html, `about` its first paragraph."""

    def __init__(self, path: Path, folder: Path):
        self.name = path.relative_to(folder).with_suffix(".html").as_posix()
        self.path, self.role, self.notebook = path, notebooks.role(path), notebooks.read(path)
        self.title = notebooks.title(self.notebook) or path.stem
        first = self.notebook.cells[0].source if self.notebook.cells else ""
        self.about = notebooks.plain(notebooks.heading(first)[1].partition("\n\n")[0])


def build(root: Path = ROOT, students: bool = False) -> Path:
    """Writes all pages (for students: without solutions), and returns the folder; if it fails, earlier ones stay."""
    paths = [path for path in notebooks.every_notebook(root) if not students or notebooks.role(path) != "solutions"]
    pages = [Page(path, root / "notebooks") for path in paths]
    target = root / "build" / ("student_html" if students else "html")
    with files.fresh_folder(target) as fresh:
        for page in pages:
            files.write(fresh / page.name, _render(page, pages))
        files.write(fresh / "index.html", _index(pages))
    return target


def _render(page: Page, pages: list[Page]) -> str:
    exporter = HTMLExporter(
        template_name="page", extra_template_basedirs=[TEMPLATES], extra_template_paths=[TEMPLATES],
        embed_images=True, theme="light",
    )  # fmt: skip
    same = [None, *(other for other in pages if other.role == page.role), None]
    at = same.index(page)
    resources = {
        "metadata": {"name": f"{page.title} · {COURSE}", "path": str(page.path.parent)},
        "course": {"name": COURSE, "up": "../" * page.name.count("/"), "before": same[at - 1], "after": same[at + 1]},
    }
    text, _ = exporter.from_notebook_node(page.notebook, resources=resources)
    return relink(text, page.name, [other.name for other in pages])


def relink(text: str, name: str, names: Iterable[str]) -> str:
    """Points links of the page `name` to notebooks at the pages `names`; of one to another file the words stay.

    A table's headers say what they are the headers of, for those who hear a page.
    """

    def replace(match: re.Match) -> str:
        before, href, after, words = match.groups()
        target = unquote(html.unescape(href).partition("#")[0])
        if not target or re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
            return match.group()
        place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
        if re.sub(r"\.ipynb$", ".html", place) not in {*names, "index.html"}:
            return words
        link = re.sub(r"\.ipynb(?=#|$)", ".html", href)
        return f'<a{before}href="{link}"{after}>{words}</a>'

    return HEADERS.sub(
        lambda part: TH.sub(f'<th scope="{"col" if part[1] == "thead" else "row"}"', part[0]), ANCHOR.sub(replace, text)
    )


def _index(pages: list[Page]) -> str:
    lists = []
    for role, heading in LISTS.items():
        same = [page for page in pages if page.role == role]
        items = [f'<li><a href="{p.name}">{html.escape(p.title)}</a><br>{html.escape(p.about)}</li>' for p in same]
        if items:
            lists += [f"<h2>{heading}</h2>\n<ul>", *items, "</ul>"]
    return INDEX.format(title=COURSE, body="\n".join(lists))


def main(build: Callable[[], Path] = build) -> int:
    try:
        target = build()
    except (FileNotFoundError, RuntimeError, ValueError) as error:
        print(error)
        return 1
    print(f"open {notebooks.shown(target / 'index.html')} in a browser; no network is needed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
