"""What becomes of cells on slides, and the package that decks need offline."""

from helpers.course import deck, notebooks, npm, slides

import io
import subprocess
import tarfile
from pathlib import Path

import nbformat
import pytest

new = nbformat.v4


def cell(source, kind="-", code=False, outputs=()):
    make = new.new_code_cell(source, outputs=list(outputs)) if code else new.new_markdown_cell(source)
    make.metadata["slideshow"] = {"slide_type": kind}
    return make


def text(output):
    return new.new_output("stream", text=output)


def made(*cells):
    return deck.slides(new.new_notebook(cells=list(cells)))


def sources(slide):
    return [cell.source for cell in slide.cells]


def test_a_slide_type_begins_continues_skips_or_speaks():
    first = [cell("# T\n\nOne.", "slide"), cell("skipped", "skip"), cell("say this", "notes")]
    found = made(*first, cell("## A\n\nTwo.", "slide"), cell("Three."))
    assert [slide.heading for slide in found] == ["# T", "## A"]
    assert [sources(slide) for slide in found] == [["One."], ["Two.", "Three."]]
    assert found[0].notes == ["say this"]


def test_of_long_prose_the_first_sentence_stays_and_the_speaker_has_it_all():
    first = f"The first sentence says what there is to say{', and says it again' * 8}."
    long = f"{first} {'And more. ' * 40}".strip()
    (slide,) = made(cell(f"## A\n\n{long}\n\n- a list\n- stays\n\n**Predict:** what happens?", "slide"))
    assert sources(slide) == [first, "- a list\n- stays", "**Predict:** what happens?"]
    assert long in slide.notes[0]


def test_a_prediction_at_the_end_of_a_long_paragraph_stays():
    first = f"The first sentence is so long that it alone stays{', and stays there' * 8}."
    long = f"{first} {'More. ' * 40}"
    (slide,) = made(cell(f"## A\n\n{long}**Predict:** how many?", "slide"))
    assert sources(slide)[0].endswith("stays there. **Predict:** how many?") and slide.asks


def test_the_card_is_named_beside_the_table_that_it_measured():
    table = new.new_output("display_data", data={"text/html": "<table><tr><td>1</td></tr></table>"})
    found = made(cell("## A", "slide"), cell("f()", code=True, outputs=[text("Measured here: A Card\n"), table]))
    assert ["measured" in str(one) for one in found[-1].cells[-1].outputs] == [True, False]


def test_the_answer_to_a_prediction_waits_for_the_next_slide():
    asked, answered = made(
        cell("## A\n\n**Predict:** how many?", "slide"), cell("f()", code=True, outputs=[text("24")])
    )
    assert sources(asked) == ["**Predict:** how many?", "f()"] and not asked.cells[1].outputs
    assert answered.heading == "## A" and answered.cells[0].outputs[0].text == "24"


def test_long_code_comes_in_steps_that_lose_nothing():
    lines = [f"x{i} = {i}" for i in range(50)]
    found = deck.steps("\n".join(lines))
    assert len(found) >= 3 and all(len(step.splitlines()) <= deck.CODE_LINES for step in found)
    assert "\n".join(found).split("\n") == lines


def test_a_figure_has_a_slide_to_itself_without_the_call_that_draws_it():
    picture = new.new_output("display_data", data={"image/png": "aGk="})
    found = made(cell("## A\n\nLook.", "slide"), cell("show(1)", code=True, outputs=[picture]))
    assert len(found) == 2 and len(found[1].cells) == 1
    assert found[1].cells[0].metadata.transient.remove_source


def test_a_long_table_ends_in_an_ellipsis_and_has_no_row_numbers():
    import pandas

    html = pandas.DataFrame({"a": range(30)}).to_html()
    shown = deck._slide_table(html)
    assert shown.count("<tr") == deck.TABLE_ROWS + 1 and "…" in shown and "<th>0</th>" not in shown


def test_links_to_files_of_the_course_become_words():
    (slide,) = made(cell("## A\n\nSee [this](02_x.ipynb) and [that](https://x.y).", "slide"))
    assert sources(slide) == ["See this and [that](https://x.y)."]


def test_a_deck_fetches_nothing_and_holds_the_notes():
    notes = "<details>\n<summary>For the speaker</summary>\n\nsay this\n\n</details>"
    page = slides.render(made(cell("# T\n\nOne.", "slide"), cell(notes, "notes")), "T")
    assert "say this" in page and 'class="notes"' in page and "For the speaker" not in page
    assert 'src="http' not in page and 'href="http' not in page and "cdn" not in page


@pytest.mark.parametrize("path", notebooks.lectures(), ids=lambda path: path.stem)
def test_a_learner_does_not_read_the_notes_by_accident(path):
    """Notes may give an answer away; running a cell unfolds its hidden source, but opens no <details>."""
    found = [one for one in notebooks.read(path).cells if notebooks.is_notes(one)]
    assert found and all(notebooks.NOTES.fullmatch(one.source) for one in found)


@pytest.mark.parametrize("path", notebooks.lectures(), ids=lambda path: path.stem)
def test_every_lecture_has_notes_and_a_deck_of_a_lectures_length(path):
    found = deck.slides(notebooks.read(path))
    assert sum(bool(slide.notes) for slide in found) >= 3 and 10 <= len(found) <= 80
    assert all(slide.left >= 0 or len(slide.cells) == 1 for slide in found)


def package(tmp_path, monkeypatch, files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as made:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            made.addfile(entry, io.BytesIO(content))
    monkeypatch.setitem(npm.PACKAGES, "x", ("1.0", npm._hash(data.getvalue())))
    kept = tmp_path / "build" / "npm" / "x-1.0.tgz"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(data.getvalue())
    return kept


def test_a_kept_package_is_unpacked_without_a_network(tmp_path, monkeypatch):
    package(tmp_path, monkeypatch, {"package/dist/a.js": b"1", "package/../evil": b"2", "package/src/b": b"3"})
    npm.unpack("x", ("dist/", "../"), tmp_path / "out", tmp_path)
    assert [p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()] == [
        "dist/a.js"
    ]


def test_a_package_that_is_not_the_published_one_is_refused(tmp_path, monkeypatch):
    kept = package(tmp_path, monkeypatch, {"package/a": b"1"})
    kept.write_bytes(b"something else")
    monkeypatch.setattr(npm.shutil, "which", lambda name: None)
    with pytest.raises(npm.DownloadError, match=r"put it into build/npm/x-1\.0\.tgz"):
        npm.archive("x", tmp_path)


def test_what_npm_brings_must_have_the_published_hash(tmp_path, monkeypatch):
    kept = package(tmp_path, monkeypatch, {"package/a": b"1"})
    kept.unlink()

    def pack(command, **options):
        Path(command[command.index("--pack-destination") + 1], "x-1.0.tgz").write_bytes(b"another")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(npm.shutil, "which", lambda name: name)
    monkeypatch.setattr(npm.subprocess, "run", pack)
    with pytest.raises(npm.DownloadError, match="its hash differs"):
        npm.archive("x", tmp_path)
    assert not kept.exists()
