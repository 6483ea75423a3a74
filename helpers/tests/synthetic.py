"""Small notebooks for the tests of what builds the course."""

from helpers.course import notebooks

from pathlib import Path

import nbformat

GPU = {"executed": "NVIDIA H200 · torch 2.11.0+cu130 · triton 3.6.0 · 2026-01-31"}


def markdown(name: str, source: str, **metadata) -> dict:
    return {"cell_type": "markdown", "id": name, "metadata": metadata, "source": source}


def code(name: str, source: str, count: int | None = None, outputs=(), **metadata) -> dict:
    return {
        "cell_type": "code",
        "id": name,
        "metadata": metadata,
        "source": source,
        "execution_count": count,
        "outputs": list(outputs),
    }


def stream(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": text}


def picture(alt: str | None, kind: str = "image/png", data: str = "aGk=") -> dict:
    metadata = {kind: {"alt": alt}} if alt else {}
    return {"output_type": "display_data", "data": {kind: data, "text/plain": "<Figure>"}, "metadata": metadata}


def notebook(*cells: dict, **metadata) -> nbformat.NotebookNode:
    return nbformat.from_dict({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def save(path: Path, *cells: dict, **metadata) -> Path:
    """Writes a notebook in canonical bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebooks.canonical(notebook(*cells, **metadata)), encoding="utf-8")
    return path
