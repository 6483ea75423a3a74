"""What README, CONTRIBUTING and the instructor's page point at exists: files, cells, commands."""

from helpers.course import ROOT, notebooks

import re
from pathlib import Path

import pytest

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "notebooks/for_instructors.md"]
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
LECTURES = {
    re.sub(r"[#`*]", "", notebooks.read(path).cells[0].source.splitlines()[0]).strip(): path
    for path in notebooks.lectures()
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name):
    document = ROOT / name
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert links and [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_exist(name):
    named = set(re.findall(r"`make ([a-z]+)", (ROOT / name).read_text(encoding="utf-8")))
    assert named and named - TARGETS == set()


def test_the_cells_that_dispel_misconceptions_exist():
    text = (ROOT / "notebooks" / "for_instructors.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2] for line in text.splitlines() if line.startswith("|") and "*, `" in line]
    assert len(rows) >= 15
    for title, named in (match for row in rows for match in re.findall(r"\*([^*]+)\*, ((?:`[^`]+`(?: to )?)+)", row)):
        (path,) = [path for full, path in LECTURES.items() if full.startswith(title)]
        cells = {cell.id for cell in notebooks.read(path).cells}
        assert set(re.findall(r"`([^`]+)`", named)) <= cells, (title, named)


def test_every_lecture_is_in_the_tables():
    for name in ("README.md", "notebooks/for_instructors.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert [path.name for path in notebooks.lectures() if Path(path).name not in text] == []
