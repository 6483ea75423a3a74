"""Cuts a lecture into slides for a room: one idea on each, and nothing longer than a screen.

A cell's slide type, as JupyterLab sets it, says what is shown: "slide" begins one, none continues it, "skip" leaves the
cell out, "notes" goes to the speaker. What is too long is cut: of a long paragraph the first sentence stays (the
speaker has it in full), long code comes in steps, a figure has a slide to itself, a long table ends in an ellipsis.
"""

import math
import re
from dataclasses import dataclass, field

import nbformat
from bs4 import BeautifulSoup

from . import notebooks

ROOM = 570  # pixels under a heading, of the 720 of a slide; heights below are those of slides_template
TEXT, LIST, CODE, ROW, GAP = 41, 42, 29.5, 43, 14  # pixels of a line of each, and between two blocks
PICTURE, CAPTION = 520, 40
TEXT_WIDTH, CODE_WIDTH = 76, 86  # characters of a line
CODE_LINES = 17  # of one step
DRAWING_LINES = 3  # code as short as this, with a picture below it, is left out
TABLE_ROWS = 12
MOST_WORDS = 60  # of running text in one cell; more is shortened
LEAST_WORDS = 26  # of what stays of a paragraph, unless it is shorter
MEASURED = re.compile(r"Measured here: (.*)")  # the line above a measurement; on a slide a caption
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\((?![a-z]+:)[^)]*\)")  # to a file of the course, which no slide can open
SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*(“\"])")
OUTPUT_ONLY = {"transient": {"remove_source": True}}  # nbconvert leaves out the code, which an earlier slide shows


@dataclass
class Slide:
    """One slide: its heading (markdown), its cells, what the speaker gets, and how many pixels are left."""

    heading: str
    cells: list = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: float = ROOM
    asks: bool = False  # whether it ends in a question that the next slide answers


def slides(notebook) -> list[Slide]:
    """The slides of a lecture in order."""
    made, notes = [], []
    for cell in notebook.cells:
        kind = cell.metadata.get("slideshow", {}).get("slide_type", "-")
        if kind == "notes":
            (made[-1].notes if made else notes).append(notebooks.notes(cell))
        elif kind != "skip":
            _add(made, cell, begins=kind in ("slide", "subslide") or not made)
    return [slide for slide in made if slide.cells or slide.heading]


def _add(made: list[Slide], cell, begins: bool) -> None:
    if cell.cell_type == "markdown":
        heading, rest = _split(cell.source)
        if begins:
            made.append(Slide(heading) if heading else _again(made))
        elif heading:
            made.append(Slide(heading))
        text = shortened(rest)
        if text != rest:
            made[-1].notes.append(rest)
        for part in _pieces(text):
            if part.startswith("#"):
                made.append(Slide(part))
            elif not part.startswith("[Exercises]"):
                _place(made, nbformat.v4.new_markdown_cell(LINK.sub(r"\1", part)), _height(part))
        return
    if begins and made and made[-1].cells:
        made.append(_again(made))
    for step in steps(cell.source) if _is_worth_showing(cell) else ():
        _place(made, nbformat.v4.new_code_cell(step), _code_height(step.splitlines()))
    caption = []
    for output in cell.outputs:
        shown, height = _output(output)
        if height == CAPTION:
            caption = [shown]  # goes with the output below it
        elif shown is not None:
            copy = nbformat.v4.new_code_cell(cell.source, outputs=[*caption, shown], metadata=OUTPUT_ONLY)
            _place(made, copy, height + CAPTION * len(caption))
            caption = []


def _is_worth_showing(cell) -> bool:
    """Whether a slide shows the code: not a short call that draws, nor a measurement that takes several steps."""
    if "@recorded" in cell.source:
        return len(steps(cell.source)) == 1
    drawn = any("image/png" in output.get("data", {}) for output in cell.outputs)
    return not drawn or cell.source.count("\n") >= DRAWING_LINES


def _again(made: list[Slide]) -> Slide:
    """A new slide under the heading of the last one."""
    return Slide(re.sub(r"^# ", "## ", made[-1].heading))


def _place(made: list[Slide], cell, height: float) -> None:
    """Puts a cell on the last slide, or on a new one with the same heading if it does not fit."""
    asked = made[-1].asks and (cell.cell_type == "markdown" or cell.outputs)  # the answer waits for the next slide
    if made[-1].cells and (height > made[-1].left or asked):
        made.append(_again(made))
    made[-1].asks |= cell.cell_type == "markdown" and "**Predict" in cell.source
    made[-1].cells.append(cell)
    made[-1].left -= height


def _split(source: str) -> tuple[str, str]:
    """The heading that a cell begins with, and the rest."""
    first, _, rest = source.lstrip().partition("\n")
    return (first, rest.strip()) if first.startswith("#") else ("", source.strip())


def shortened(text: str) -> str:
    """The text with the first sentences of each paragraph, if it is long; lists, tables, code and predictions stay."""
    parts = _pieces(text)
    running = [part for part in parts if _is_running(part)]
    if sum(len(part.split()) for part in running) <= MOST_WORDS:
        return text
    kept = [part for part in parts if part not in running or not part.startswith("(")]  # asides go to the speaker
    return "\n\n".join(_beginning(part) if part in running else part for part in kept)


def _beginning(paragraph: str) -> str:
    """Its first sentences, up to LEAST_WORDS words or just over, and the prediction that it ends with."""
    told, predict, asked = paragraph.partition("**Predict")
    kept = []
    for sentence in SENTENCE.split(told.strip()):
        kept.append(sentence)
        if len(" ".join(kept).split()) >= LEAST_WORDS:
            break
    return " ".join([*kept, predict + asked]).strip()


def _pieces(text: str) -> list[str]:
    """The paragraphs, lists, tables and code blocks of a text."""
    fences = FENCE.findall(text)
    pieces = [piece.strip() for piece in re.split(r"\n\s*\n", FENCE.sub("\0", text)) if piece.strip()]
    return [fences.pop(0) if piece == "\0" else piece for piece in pieces]


def _is_running(part: str) -> bool:
    return not re.match(r"[-|#>`]|\d+\. |\*\*Predict", part)


def _height(part: str) -> float:
    """Pixels that a piece of markdown takes."""
    lines = part.splitlines()
    if part.startswith("```"):
        return _code_height(lines[1:-1])
    if part.startswith("|"):
        return GAP + sum(ROW * math.ceil(len(line) / 100) for line in lines if not line.startswith("| ---"))
    if re.match(r"[-\d]", part):
        return GAP + sum(LIST * math.ceil(len(line) / (TEXT_WIDTH - 4)) for line in lines)
    return GAP + TEXT * math.ceil(len(part) / TEXT_WIDTH)


def _code_height(lines: list[str]) -> float:
    return 2 * GAP + CODE * sum(math.ceil(max(len(line), 1) / CODE_WIDTH) for line in lines)


def steps(source: str) -> list[str]:
    """Code in pieces of at most CODE_LINES lines, cut at blank lines where there are any."""
    lines, made = re.sub(r"\n{3,}", "\n\n", source.strip("\n")).split("\n"), []
    while (most := _fitting(lines)) < len(lines):
        blank = [i for i, line in enumerate(lines[:most]) if not line.strip() and i > 4]
        cut = blank[-1] if blank else most
        made.append("\n".join(lines[:cut]).strip("\n"))
        lines = lines[cut:]
        while lines and not lines[0].strip():
            lines.pop(0)
    return [*made, "\n".join(lines)]


def _fitting(lines: list[str]) -> int:
    """How many of the lines make one step; a line that is too wide counts as often as it is wrapped."""
    taken = 0
    for i, line in enumerate(lines):
        taken += math.ceil(max(len(line), 1) / CODE_WIDTH)
        if taken > CODE_LINES:
            return i
    return len(lines)


def _output(output) -> tuple:
    """An output as a slide shows it, and the pixels it takes; (None, 0) for one that a slide leaves out."""
    data = output.get("data", {})
    if "image/png" in data:
        return output, PICTURE
    if "text/html" in data:
        table = _slide_table(data["text/html"])
        return _html(table), GAP + ROW * table.count("<tr")
    text = output.get("text") or data.get("text/plain", "")
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) == 1 and (measured := MEASURED.match(lines[0])):
        return _html(f'<p class="measured">{measured[1]}</p>'), CAPTION
    if not lines:
        return None, 0
    if len(lines) > CODE_LINES:
        lines = [*lines[: CODE_LINES - 1], "…"]
    return nbformat.v4.new_output("stream", text="\n".join(lines)), _code_height(lines)


def _slide_table(html: str) -> str:
    """A pandas table without its row numbers, and with as many rows as a slide holds."""
    soup = BeautifulSoup(html, "html.parser")
    for style in soup.find_all("style"):
        style.decompose()
    rows = soup.select("tbody tr")
    if rows and all(row.th and row.th.text == str(i) for i, row in enumerate(rows)):
        for row in soup.find_all("tr"):
            row.th.decompose()
    for row in rows[TABLE_ROWS - 1 :] if len(rows) > TABLE_ROWS else ():
        row.decompose()
    if len(rows) > TABLE_ROWS:
        more = soup.new_tag("tr")
        more.append(soup.new_tag("td", string="…", colspan="20"))
        soup.tbody.append(more)
    return str(soup)


def _html(text: str):
    return nbformat.v4.new_output("display_data", data={"text/html": text})
