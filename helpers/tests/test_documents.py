"""What README, CONTRIBUTING and the instructor's page point at exists: files, cells, commands."""

from helpers.course import ROOT, notebooks

import re

import pytest

TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")}
INSTRUCTORS = "notebooks/for_instructors.md"
TEXTS[INSTRUCTORS] = (ROOT / INSTRUCTORS).read_text(encoding="utf-8")
LINK = re.compile(r"(?:\]\(|^\[\w+\]: )(?![a-z]+:|#)([^)#\s]+)", re.MULTILINE)
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere_and_commands_exist(name):
    links = LINK.findall(TEXTS[name])
    assert links and [link for link in links if not ((ROOT / name).parent / link).exists()] == []
    commands = set(re.findall(r"`make ([a-z]+)", TEXTS[name]))
    assert commands and commands - TARGETS == set()


def test_the_cells_that_dispel_misconceptions_exist():
    lectures = {notebooks.title(notebook): notebook for notebook in map(notebooks.read, notebooks.lectures())}
    rows = [line.split("|")[2] for line in TEXTS[INSTRUCTORS].splitlines() if line.startswith("|") and "*, `" in line]
    assert rows
    for title, named in (match for row in rows for match in re.findall(r"\*([^*]+)\*, ((?:`[^`]+`(?: to )?)+)", row)):
        (notebook,) = [notebook for full, notebook in lectures.items() if full.startswith(title)]
        assert set(re.findall(r"`([^`]+)`", named)) <= {cell.id for cell in notebook.cells}, (title, named)


@pytest.mark.parametrize("name", ["README.md", INSTRUCTORS])
def test_every_lecture_is_in_the_tables(name):
    assert [path.name for path in notebooks.lectures() if path.name not in TEXTS[name]] == []
