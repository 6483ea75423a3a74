"""What must hold for a notebook that is committed. Each rule yields (cell id, what is wrong, what to do about it)."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import nbformat

from . import notebooks

MOST_BYTES = 1_000_000
MOST_CODE_LINES = 40
MOST_WORDS = 180
NAME = re.compile(r"\d\d_[a-z0-9_]+\.ipynb")
MACHINE_PATH = re.compile(r"(?<![\w.~:/-])/(?:work|tmp|root|home|opt|Users)/")
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]|$)", re.MULTILINE)
LINK = re.compile(
    r"""\]\(\s*<?([^)\s>]+)|^ {0,3}\[[^\]]+\]:\s*(\S+)|<(?:a|img)\b[^>]*?\b(?:href|src)=["']([^"']+)""", re.MULTILINE
)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
EXECUTE = "run `make execute` on a GPU"

Finding = tuple[str | None, str, str]


def findings(path: Path) -> list[str]:
    """One line for each thing that is wrong with the notebook in `path`, in the order of the rules."""
    where = notebooks.shown(path)
    try:
        text = path.read_bytes().decode()
        notebook = notebooks.parse(text)
    except ValueError as error:
        return [f"{where}: {error}"]
    found = list(_bytes(text, notebook))
    for rule in RULES[notebooks.kind(path)]:
        found += rule(path, notebook)
    return [f"{where}: {f'cell {cell}: ' if cell else ''}{what}: {todo}" for cell, what, todo in found]


def _bytes(text: str, notebook) -> Iterator[Finding]:
    if text != notebooks.canonical(notebook):
        yield None, "its bytes are not canonical", "run `make fix`"
    if len(text.encode()) >= MOST_BYTES:
        size = len(text.encode()) / 1e6
        yield None, f"it has {size:.1f} MB, and a notebook stays under 1", "draw smaller or fewer pictures"
    try:
        nbformat.validate(nbformat.from_dict(notebook))
    except nbformat.ValidationError as error:
        yield None, f"it is not a valid notebook ({error.message[:80]})", "run `make fix`, or mend it by hand"


def _name(path: Path, notebook) -> Iterator[Finding]:
    if not NAME.fullmatch(path.name):
        yield None, "it is not named like a lecture", "name it NN_topic.ipynb, in lower case"


def _code_cells(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _executed(path: Path, notebook) -> Iterator[Finding]:
    if not any(cell.outputs or cell.execution_count for cell in _code_cells(notebook)):
        yield None, "it was not executed", EXECUTE
        return
    for expected, cell in enumerate(_code_cells(notebook), start=1):
        if not cell.source.strip():
            yield cell.get("id"), "it is an empty code cell", "delete it"
        elif cell.execution_count is None and cell.outputs:
            yield cell.get("id"), "it has outputs but no execution count", EXECUTE
        elif cell.execution_count is None:
            yield cell.get("id"), "it was not executed", EXECUTE
        elif cell.execution_count != expected:
            yield cell.get("id"), f"it was executed as number {cell.execution_count} and is number {expected}", EXECUTE


def _clean_outputs(path: Path, notebook) -> Iterator[Finding]:
    for cell, output in _outputs(notebook):
        if output.output_type == "error":
            yield cell.get("id"), f"it raised {output.get('ename')}", "mend it, or catch the error and print its cause"
        if output.get("name") == "stderr":
            yield cell.get("id"), f"it wrote to stderr ({output.text.strip()[:60]!r})", "remove the cause"
        if "image/svg+xml" in output.get("data", {}):
            yield cell.get("id"), "it stores an SVG picture, whose text is compared and holds a date", "draw a PNG"
        if "image/png" in output.get("data", {}) and not output.metadata.get("image/png", {}).get("alt"):
            todo = 'display it with metadata={"image/png": {"alt": …}}'
            yield cell.get("id"), "its picture has no alt text", todo


def _outputs(notebook) -> Iterator[tuple]:
    return ((cell, output) for cell in _code_cells(notebook) for output in cell.outputs)


def _executed_on_gpu(path: Path, notebook) -> Iterator[Finding]:
    executed = notebook.metadata.get("course", {}).get("executed")
    if not executed:
        yield None, "nothing says where it was executed", EXECUTE
    elif executed.startswith("interpreter"):
        yield None, "its outputs come from the interpreter", EXECUTE


def _not_executed(path: Path, notebook) -> Iterator[Finding]:
    for cell in _code_cells(notebook):
        if cell.outputs or cell.execution_count is not None:
            yield cell.get("id"), "an exercise is handed out without outputs and counts", "generate it again"


def _tags(path: Path, notebook) -> Iterator[Finding]:
    for cell in _code_cells(notebook):
        if "raises-exception" in cell.metadata.get("tags", []):
            what = "it is tagged raises-exception, and the error's name differs between GPU and interpreter"
            yield cell.get("id"), what, "catch the error and print its cause"


def _machine_paths(path: Path, notebook) -> Iterator[Finding]:
    for cell in notebook.cells:
        texts = [cell.source, *(text for output in cell.get("outputs", []) for text in _texts(output))]
        found = next((match.group() for text in texts if (match := MACHINE_PATH.search(text))), None)
        if found:
            yield cell.get("id"), f"it names a folder of one machine ({found}…)", "leave it out, or name a relative one"


def _texts(output) -> list[str]:
    """What an output shows as text, tracebacks included."""
    data = [value for mime, value in output.get("data", {}).items() if mime.startswith("text/")]
    return [output.get("text", ""), *output.get("traceback", []), *map(str, data)]


def _prose(cell) -> str:
    """The markdown of a cell without its code."""
    return CODE_SPAN.sub("", FENCE.sub("", cell.source))


def _headings(notebook) -> list[tuple[str, int]]:
    cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    return [(cell.get("id"), len(hashes)) for cell in cells for hashes in HEADING.findall(_prose(cell))]


def _title(path: Path, notebook) -> Iterator[Finding]:
    first = notebook.cells[0].get("id") if notebook.cells else None
    if [level for name, level in _headings(notebook) if name == first] != [1]:
        yield first, "the first cell is not a title", 'begin with a markdown cell that holds one "# " heading'
    for name, level in _headings(notebook):
        if level == 1 and name != first:
            yield name, 'it holds a second "# " heading', 'use "## " below the title'


def _nesting(path: Path, notebook) -> Iterator[Finding]:
    above = 1
    for name, level in _headings(notebook):
        if level > above + 1:
            yield name, f"its heading jumps from level {above} to {level}", f'use "{"#" * (above + 1)} "'
        above = level


def _lengths(path: Path, notebook) -> Iterator[Finding]:
    for cell in notebook.cells:
        code = cell.cell_type == "code"
        length = len(cell.source.splitlines()) if code else _words(cell)
        if code and length > MOST_CODE_LINES:
            yield cell.get("id"), f"it has {length} lines, and {MOST_CODE_LINES} are the most", "build it in stages"
        if cell.cell_type == "markdown" and length > MOST_WORDS:
            yield cell.get("id"), f"it has {length} words, and {MOST_WORDS} are the most", "cut it, or split it in two"


def _words(cell) -> int:
    """How many words a cell has outside tables and code blocks."""
    lines = [line for line in FENCE.sub("", cell.source).splitlines() if not line.lstrip().startswith("|")]
    return sum(bool(re.search(r"\w", word)) for line in lines for word in line.split())


def _links(path: Path, notebook) -> Iterator[Finding]:
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for target in ("".join(groups) for groups in LINK.findall(_prose(cell))):
            file = unquote(target.partition("#")[0])
            if file and not SCHEME.match(file) and not (path.parent / file).exists():
                yield cell.get("id"), f"it links to {target}, which does not exist", "mend or remove the link"


_TEXT = (_tags, _machine_paths, _nesting, _lengths, _links)
_STORED = (_executed, _clean_outputs)
RULES = {
    "lecture": (_name, _title, *_STORED, _executed_on_gpu, *_TEXT),
    "solutions": (_name, *_STORED, *_TEXT),
    "exercises": (_name, _not_executed, *_TEXT),
}
