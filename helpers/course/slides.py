"""Builds the lectures as decks to present without a network: `python -m helpers.course.slides`.

reveal.js comes from npm and lies beside the decks. They are built beside build/slides and take its place when all of
them are there.
"""

import html
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter

from . import ROOT, deck, derived, notebooks, npm, pages

WIDTH, HEIGHT = 1280, 720
REVEAL = (
    "dist/reveal.js",
    "dist/reveal.css",
    "dist/theme/white.css",
    "dist/theme/fonts/source-sans-pro/",
    "plugin/notes/",
    "LICENSE",
)
INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{course}: slides</title>
<style>body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.6 sans-serif; }}</style>
</head>
<body><main><h1>{course}: slides</h1>
<p>Space: next · S: speaker notes · Esc: overview · <code>?print-pdf</code> after the address, then print: PDF.</p>
<ul>
{items}
</ul>
</main></body>
</html>
"""


def build(root: Path = ROOT) -> Path:
    """Writes all decks and returns the folder. If anything fails, those of an earlier run stay as they are.

    Raises npm.DownloadError if reveal.js cannot be had.
    """
    target = root / "build" / "slides"
    target.parent.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="slides-", dir=target.parent))
    try:
        npm.unpack("reveal.js", REVEAL, fresh / "reveal.js", root)
        items = []
        for path in notebooks.lectures(root):
            notebook = notebooks.read(path)
            title = re.sub(r"[#`*]", "", notebook.cells[0].source.splitlines()[0]).strip()
            made = deck.slides(notebook)
            (fresh / f"{path.stem}.html").write_text(render(made, title), encoding="utf-8")
            items.append(f'<li><a href="{path.stem}.html">{html.escape(title)}</a>, {len(made)} slides</li>')
        index = INDEX.format(course=pages.COURSE, items="\n".join(items))
        (fresh / "index.html").write_text(index, encoding="utf-8")
        fresh.chmod(0o755)
        derived.swap(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def render(made: list[deck.Slide], title: str) -> str:
    """The deck as one HTML file that expects reveal.js beside it."""
    exporter = SlidesExporter(
        template_name="slides_template",
        extra_template_basedirs=[str(Path(__file__).parent)],
        reveal_width=str(WIDTH), reveal_height=str(HEIGHT), reveal_url_prefix="reveal.js", reveal_theme="white",
        theme="light",
    )  # fmt: skip
    text, _ = exporter.from_notebook_node(_notebook(made), resources={"metadata": {"name": title}})
    return text


def _notebook(made: list[deck.Slide]):
    """A notebook whose slide types say the same as the slides."""
    cells = []
    for slide in made:
        level = 1 if slide.heading.startswith("# ") else 2
        heading = f"{'#' * level} {slide.heading.lstrip('# ')}"
        cells.append(_typed(nbformat.v4.new_markdown_cell(deck.LINK.sub(r"\1", heading)), "slide"))
        cells += [_typed(cell, "-") for cell in slide.cells]
        if slide.notes:
            cells.append(_typed(nbformat.v4.new_markdown_cell("\n\n".join(slide.notes)), "notes"))
    return nbformat.v4.new_notebook(cells=cells)


def _typed(cell, kind: str):
    cell.metadata["slideshow"] = {"slide_type": kind}
    return cell


def main() -> int:
    try:
        target = build()
    except (FileNotFoundError, ValueError, npm.DownloadError) as error:
        print(error)
        return 1
    print(f"open {notebooks.shown(target / 'index.html')} in a browser; no network is needed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
