"""What becomes of cells on slides, and the package that decks need offline. What is measured: helpers/browser."""

from helpers.course import notebooks, npm, slides
from helpers.tests.synthetic import code, markdown, notebook, slide, stream

import base64
import hashlib
import io
import subprocess
import tarfile

import pytest

ASKS, F24 = markdown("a", "How many?", tags=["predict"]), [stream("24")]


def made(*cells):
    """The cells of a deck as (slide type, source or what it prints)."""
    found = slides.cells(notebook(*cells))
    return [(notebooks.slide_type(one), "".join(o.text for o in one.get("outputs", [])) or one.source) for one in found]


def test_a_slide_type_begins_continues_skips_or_speaks():
    cells = [markdown("a", "# T", **slide()), markdown("b", "no", **slide("skip")), markdown("c", "## A")]
    notes = markdown("n", "One.", notes="say this")
    assert made(*cells, notes) == [("slide", "# T"), ("-", "## A"), ("-", "One."), ("notes", "say this")]


def test_the_authors_text_stands_for_a_cell_whose_own_goes_to_the_speaker():
    cells = [
        markdown("a", "## 标题\n\nAll of it.", **slide("slide", slide="In short.")),
        markdown("b", "Not on the slide.", slide=""),
        markdown("n", "So many.", slide="Few.", notes="say this"),
        code("c", "long()", 1, F24, slide="short()"),
        code("d", "plumbing()", 2, [stream("7"), stream(" \n")], tags=["slide-no-code"]),
    ]
    short = [("slide", "## 标题\n\nIn short."), ("notes", "All of it."), ("-", ""), ("notes", "Not on the slide.")]
    told = [("-", "Few."), ("notes", "So many."), ("notes", "say this")]
    assert made(*cells) == [*short, *told, ("-", "short()"), ("-", "24"), ("-", "7")]


def test_the_outputs_after_a_prediction_wait_for_a_click_unless_a_slide_begins():
    rest = [markdown("r", "So many."), code("e", "g()", 2, [stream("7")])]
    kinds = [kind for kind, _ in made(ASKS, code("b", "x = 1"), code("c", "f()", 1, F24), *rest)]
    assert kinds == ["-", "-", "-", "fragment", "-", "-", "-"]
    assert [kind for kind, _ in made(ASKS, code("c", "f()", 1, F24, **slide()))] == ["-", "slide", "-"]


def test_notes_in_metadata_go_to_the_speaker_on_the_slide_that_asks():
    asks = markdown("a", "How many?", tags=["predict"], notes="24, say it late")
    assert made(asks, code("c", "f()", 1, F24)) == [
        ("-", "How many?"), ("notes", "24, say it late"), ("-", "f()"), ("fragment", "24"),
    ]  # fmt: skip


def test_code_is_cut_between_statements_and_loses_nothing():
    parts = ["import a", "@jit\ndef f():\n    x = 1\n\n    return x", "# why\ny = '''\n\n'''\nz = 2"]
    assert slides.code_pieces("\n\n\n".join(parts)) == parts
    assert slides.code_pieces("not\n\npython :") == ["not\n\npython :"]
    *first, last = slides.cells(notebook(code("a", "x\n\ny\n\nz")))
    assert [notebooks.tags(one) for one in first] == [["continued"]] * 2 and notebooks.tags(last) == []


def test_a_deck_fetches_nothing_and_holds_the_notes():
    page = slides.render(notebook(markdown("a", "# T\n\nOne.", notes="say this", **slide())))
    assert "say this" in page and 'class="notes"' in page and "<title>T slides</title>" in page
    assert 'src="http' not in page and 'href="http' not in page and "cdn" not in page


@pytest.mark.parametrize("path", notebooks.lectures(), ids=lambda path: path.stem)
def test_a_learner_does_not_read_the_notes_by_accident(path):
    """Notes may give an answer away: they stand in the metadata, and no cell holds or hides any."""
    cells = notebooks.read(path).cells
    assert any("notes" in one.metadata for one in cells)
    assert not any("<details>" in one.source or notebooks.slide_type(one) == "notes" for one in cells)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A published package with a wanted file, an unwanted one, and two that would land beside the folder."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as made:
        for name in ("package/dist/a.js", "package/../evil", "package/dist/../../evil", "package/src/b"):
            made.addfile(tarfile.TarInfo(name), io.BytesIO())
    monkeypatch.setattr(npm, "SHA512", base64.b64encode(hashlib.sha512(data.getvalue()).digest()).decode())
    kept = tmp_path / "build" / "npm" / f"reveal.js-{npm.VERSION}.tgz"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(data.getvalue())
    return kept


def test_a_kept_package_is_unpacked_without_a_network_and_into_its_folder_alone(package, tmp_path):
    npm.unpack(("dist/", "../"), tmp_path / "out", tmp_path)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {package, tmp_path / "out" / "dist" / "a.js"}


def test_a_package_that_is_not_the_published_one_or_cannot_be_had_is_an_error(package, tmp_path, monkeypatch):
    package.write_bytes(b"something else")
    with pytest.raises(npm.DownloadError, match="its hash differs: remove it"):
        npm.archive(tmp_path)
    package.unlink()
    monkeypatch.setattr(npm.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess("", 1).check_returncode())
    with pytest.raises(npm.DownloadError, match=r"fetch reveal\.js-5\.2\.1\.tgz elsewhere and put it into build/npm"):
        npm.archive(tmp_path)
