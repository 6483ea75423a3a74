"""Small notebooks for the tests of what builds the course."""

from helpers.course import notebooks

from pathlib import Path

from nbformat import NotebookNode, v4

GPU = {"executed": "NVIDIA H200 · torch 2.11.0+cu130 · triton 3.6.0 · 2026-01-31"}


def markdown(name: str, source: str, **metadata) -> NotebookNode:
    return v4.new_markdown_cell(source, id=name, metadata=metadata)


def code(name: str, source: str, count: int | None = None, outputs=(), **metadata) -> NotebookNode:
    return v4.new_code_cell(source, id=name, metadata=metadata, execution_count=count, outputs=list(outputs))


def stream(text: str, name: str = "stdout") -> NotebookNode:
    return v4.new_output("stream", text=text, name=name)


def picture(alt: str | None, kind: str = "image/png", data: str = "aGk=") -> NotebookNode:
    metadata = {kind: {"alt": alt}} if alt else {}
    return v4.new_output("display_data", {kind: data, "text/plain": "<Figure>"}, metadata=metadata)


def slide(kind: str = "slide", *tags: str, **metadata) -> dict:
    """A cell's metadata: its slide type, tags and whatever else."""
    return {"slideshow": {"slide_type": kind}, "tags": list(tags), **metadata}


def notebook(*cells: NotebookNode, **metadata) -> NotebookNode:
    return v4.new_notebook(cells=list(cells), metadata=metadata)


def save(path: Path, *cells: NotebookNode, **metadata) -> Path:
    """Writes a notebook in canonical bytes."""
    notebooks.write(path, notebooks.canonical(notebook(*cells, **metadata)))
    return path
