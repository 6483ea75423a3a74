"""Builds the lectures as decks to present without a network: `python -m helpers.course.slides`.

What a deck shows is in the cells' metadata: JupyterLab's slide type, the tags `predict` (the outputs that follow wait
for a click) and `slide-no-code`, `slide`, the text that stands for the cell's own, which goes to the speaker, and
`notes`, for the speaker alone. What is longer than a slide is cut in the browser, by slides_template/paging.js.
reveal.js comes from npm.
"""

import html
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter

from . import ROOT, files, notebooks, npm, pages

PREDICT, NO_CODE = "predict", "slide-no-code"
REVEAL = ("dist/reveal.", "dist/theme/white.css", "dist/theme/fonts/source-sans-pro/", "plugin/notes/", "LICENSE")
KEYS = "Space: next · S: speaker notes · Esc: overview · <code>?print-pdf</code> after the address, then print: PDF."


def build(root: Path = ROOT) -> Path:
    """Writes all decks and returns the folder. If anything fails, those of an earlier run stay as they are.

    Raises npm.DownloadError if reveal.js cannot be had.
    """
    target = root / "build" / "slides"
    decks = {path.with_suffix(".html").name: notebooks.read(path) for path in notebooks.lectures(root)}
    with files.fresh_folder(target) as fresh:
        npm.unpack(REVEAL, fresh / "reveal.js", root)
        for name, notebook in decks.items():
            files.write(fresh / name, pages.relink(render(notebook), name, set(decks)))
        items = [f'<li><a href="{n}">{html.escape(notebooks.title(d))}</a></li>' for n, d in decks.items()]
        body = f"<p>{KEYS}</p>\n<ul>\n{chr(10).join(items)}\n</ul>"
        files.write(fresh / "index.html", pages.INDEX.format(title=f"{pages.COURSE}: slides", body=body))
    return target


def render(notebook) -> str:
    """The deck as one HTML file that expects reveal.js beside it."""
    exporter = SlidesExporter(
        template_name="slides_template",
        extra_template_basedirs=[pages.TEMPLATES], extra_template_paths=[pages.TEMPLATES],
        reveal_url_prefix="reveal.js", reveal_theme="white", theme="light",
    )  # fmt: skip
    deck = nbformat.v4.new_notebook(cells=list(cells(notebook)))
    return exporter.from_notebook_node(deck, resources={"metadata": {"name": notebooks.title(notebook)}})[0]


def cells(notebook) -> Iterator:
    """The cells as the exporter takes them: what a slide shows, notes for the speaker, answers as fragments."""
    asked = False
    for cell in notebook.cells:
        kind = notebooks.slide_type(cell)
        if kind == "skip":
            continue
        asked = asked and kind == "-"
        for part in _prose(cell) if cell.cell_type == "markdown" else _code(cell):
            answers = asked and bool(part.get("outputs"))
            yield _typed(part, "fragment" if answers else kind)
            asked, kind = asked and not answers, "-"
        if cell.cell_type == "markdown" and "slide" in cell.metadata:
            yield _typed(nbformat.v4.new_markdown_cell(notebooks.heading(cell.source)[1]), "notes")
        if "notes" in cell.metadata:
            yield _typed(nbformat.v4.new_markdown_cell(cell.metadata["notes"]), "notes")
        asked = asked or PREDICT in notebooks.tags(cell)


def _typed(cell, kind: str):
    cell.metadata["slideshow"] = {"slide_type": kind}
    return cell


def _prose(cell) -> Iterator:
    heading, text = notebooks.heading(cell.source)
    yield nbformat.v4.new_markdown_cell(f"{heading}\n\n{cell.metadata.get('slide', text)}".strip())


def _code(cell) -> Iterator:
    """The code in pieces, unless it is left out, and then what it printed and drew, without empty outputs."""
    pieces = [] if NO_CODE in notebooks.tags(cell) else code_pieces(cell.metadata.get("slide", cell.source))
    for piece in pieces:
        more = {} if piece is pieces[-1] else {"tags": ["continued"]}
        yield nbformat.v4.new_code_cell(piece, metadata=more)
    if outputs := [output for output in cell.outputs if not _is_blank(output)]:
        yield nbformat.v4.new_code_cell(outputs=outputs, metadata={"transient": {"remove_source": True}})


def _is_blank(output) -> bool:
    return not "".join(map(str, [output.get("text", ""), *output.get("data", {}).values()])).strip()


def code_pieces(source: str) -> list[str]:
    """The code cut at the blank lines between statements of the top level, where a new slide may begin."""
    nodes, pieces = notebooks.statements(source), [[]]
    inside = {number for node in nodes for number in range(node.lineno, node.end_lineno + 1)}
    for number, line in enumerate(source.splitlines(), start=1):
        pieces[-1].append(line)
        if nodes and not line.strip() and number not in inside:
            pieces.append([])
    return [text for piece in pieces if (text := "\n".join(piece).strip("\n"))]


if __name__ == "__main__":
    sys.exit(pages.main(build))
