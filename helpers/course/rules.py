"""What must hold for a notebook that is committed: a finding says in which cell, what is wrong, and what to do.

The rules read code, tags and Markdown, and no language: a lecture in Chinese goes through the same ones.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import nbformat
from IPython.core.displayhook import DisplayHook

MOST_BYTES = 1_000_000
MOST_CODE_LINES = 40
MOST_CHARACTERS = 1100  # of prose in a cell, which are some 180 English words
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


def broken(role: str, path: Path, notebook) -> list[Finding]:
    """What is wrong with the notebook in `path`: a "lecture", one of the "solutions" or of the "exercises"."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    found = [*_file(path, notebook), *_headings(notebook, titled=role == "lecture")]
    found += _executed(code) if role != "exercises" else []
    found += _executed_on_gpu(notebook) if role == "lecture" else []
    for cell in notebook.cells:
        found += _code(cell) if cell.cell_type == "code" else _markdown(cell, path.parent)
        found += _machine_paths(cell)
    return found


def _file(path: Path, notebook) -> Iterator[Finding]:
    if not NAME.fullmatch(path.name):
        yield None, "it is not named like a lecture", "name it NN_topic.ipynb, in lower case"
    if (size := path.stat().st_size) >= MOST_BYTES:
        yield None, f"it has {size / 1e6:.1f} MB, and a notebook stays under 1", "draw smaller or fewer pictures"
    try:
        nbformat.validate(nbformat.from_dict(notebook))
    except nbformat.ValidationError as error:
        yield None, f"it is not a valid notebook ({error.message[:80]})", "run `make fix`, or mend it by hand"


def _headings(notebook, titled: bool) -> Iterator[Finding]:
    above = 0 if titled else 1
    for cell in notebook.cells:
        levels = [len(hashes) for hashes in HEADING.findall(_prose(cell))] if cell.cell_type == "markdown" else []
        if cell is notebook.cells[0] and titled and levels[:1] != [1]:
            yield cell.get("id"), "the first cell is not a title", 'begin with a markdown cell "# …"'
            above = 1
        for level in levels:
            if level == 1 and above and titled:
                yield cell.get("id"), 'it holds a second "# " heading', 'use "## " below the title'
            if level > above + 1:
                yield cell.get("id"), f"its heading jumps from level {above} to {level}", f'use "{"#" * (above + 1)} "'
            above = level


def _executed(code: list) -> Iterator[Finding]:
    if not any(cell.outputs or cell.execution_count for cell in code):
        yield None, "it was not executed", EXECUTE
        return
    for expected, cell in enumerate(code, start=1):
        if not cell.source.strip():
            yield cell.get("id"), "it is an empty code cell", "delete it"
        elif cell.execution_count is None:
            what = "it has outputs but no execution count" if cell.outputs else "it was not executed"
            yield cell.get("id"), what, EXECUTE
        elif cell.execution_count != expected:
            yield cell.get("id"), f"it was executed as number {cell.execution_count} and is number {expected}", EXECUTE


def _executed_on_gpu(notebook) -> Iterator[Finding]:
    executed = notebook.metadata.get("course", {}).get("executed")
    if not executed:
        yield None, "nothing says where it was executed", EXECUTE
    elif executed.startswith("interpreter"):
        yield None, "its outputs come from the interpreter", EXECUTE


def _code(cell) -> Iterator[Finding]:
    if (lines := len(cell.source.splitlines())) > MOST_CODE_LINES:
        yield cell.get("id"), f"it has {lines} lines, and {MOST_CODE_LINES} are the most", "build it in stages"
    if DisplayHook.semicolon_at_end_of_expression(cell.source):
        yield cell.get("id"), 'it ends with ";", which hides its output from you and not from nbval', "write `_ = …`"
    if "raises-exception" in cell.metadata.get("tags", []):
        what = "it is tagged raises-exception, and the error's name differs between GPU and interpreter"
        yield cell.get("id"), what, "catch the error and print its cause"
    for output in cell.outputs:
        if output.output_type == "error":
            yield cell.get("id"), f"it raised {output.get('ename')}", "mend it, or catch the error and print its cause"
        if output.get("name") == "stderr":
            yield cell.get("id"), f"it wrote to stderr ({output.text.strip()[:60]!r})", "remove the cause"
        if "image/svg+xml" in output.get("data", {}):
            yield cell.get("id"), "it stores an SVG picture, whose text is compared and holds a date", "draw a PNG"
        if "image/png" in output.get("data", {}) and not output.metadata.get("image/png", {}).get("alt"):
            todo = 'display it with metadata={"image/png": {"alt": …}}'
            yield cell.get("id"), "its picture has no alt text", todo


def _markdown(cell, folder: Path) -> Iterator[Finding]:
    lines = [line for line in FENCE.sub("", cell.source).splitlines() if not line.lstrip().startswith("|")]
    if (length := len(" ".join(" ".join(lines).split()))) > MOST_CHARACTERS:
        what = f"it has {length} characters of prose, and {MOST_CHARACTERS} are the most"
        yield cell.get("id"), what, "cut it, or split it in two"
    for target in ("".join(groups) for groups in LINK.findall(_prose(cell))):
        file = unquote(target.partition("#")[0])
        if file and not SCHEME.match(file) and not (folder / file).exists():
            yield cell.get("id"), f"it links to {target}, which does not exist", "mend or remove the link"


def _prose(cell) -> str:
    """The markdown of a cell without its code."""
    return CODE_SPAN.sub("", FENCE.sub("", cell.source))


def _machine_paths(cell) -> Iterator[Finding]:
    outputs = cell.get("outputs", [])
    texts = [
        cell.source,
        *(text for output in outputs for text in [output.get("text", ""), *output.get("traceback", [])]),
    ]
    texts += [str(value) for output in outputs for mime, value in output.get("data", {}).items() if "text/" in mime]
    found = next((match.group() for text in texts if (match := MACHINE_PATH.search(text))), None)
    if found:
        yield cell.get("id"), f"it names a folder of one machine ({found}…)", "leave it out, or name a relative one"
