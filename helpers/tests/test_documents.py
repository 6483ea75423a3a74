"""What README, CONTRIBUTING and the instructor's page point at exists: files, cells, commands."""

from helpers.course import ROOT, notebooks
from helpers.tests.children import without_make

import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest

TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")}
INSTRUCTORS = "notebooks/for_instructors.md"
TEXTS[INSTRUCTORS] = (ROOT / INSTRUCTORS).read_text(encoding="utf-8")
LINK = re.compile(r"(?:\]\(|^\[\w+\]: )(?![a-z]+:|#)([^)#\s]+)", re.MULTILINE)
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
MADE = re.compile(r"(?<!install )make [a-z]+(?: [A-Z]+=(?:\"[^\"]*\"|[^\s`]+))*")
LISTED = re.compile(r"- \*([^*]+)\*:(.*?)(?=- \*|$)")
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


def test_the_minutes_of_the_sections_add_up_to_those_of_the_lecture():
    plans = " ".join(TEXTS[INSTRUCTORS].partition("Minutes a section:")[2].partition("\n\n**")[0].split())
    planned = {title: re.findall(r"(.+?) (\d+)(?: · |$)", rest.strip()) for title, rest in LISTED.findall(plans)}
    for path in notebooks.lectures():
        sections = [notebooks.heading(cell.source)[0] for cell in notebooks.read(path).cells]
        title = notebooks.title(notebooks.read(path))
        names = [notebooks.plain(one[3:]) for one in sections if one.startswith("## ")]
        assert [name for name, _ in planned[title]] == names
        minutes = re.search(rf"\({path.name}\) \| (\d+) \|", TEXTS[INSTRUCTORS])[1]
        assert sum(int(number) for _, number in planned[title]) == int(minutes), title


@pytest.mark.parametrize("name", ["README.md", INSTRUCTORS])
def test_every_lecture_is_in_the_tables(name):
    assert [path.name for path in notebooks.lectures() if path.name not in TEXTS[name]] == []


def started(command: str, folder) -> list[list[str]]:
    """What make starts with .venv's Python, which a stub stands in for: the arguments, as the shell passes them on."""
    stub = folder / "stub.py"
    stub.write_text("import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    settings = ["-o", ".venv/installed", f"RUN={shlex.join([sys.executable, str(stub)])}"]
    words = ["make", *settings, *shlex.split(command)[1:]]
    done = subprocess.run(words, cwd=ROOT, env=without_make(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def listens_at(arguments: list[str]) -> tuple[str, int]:
    """Where JupyterLab would listen, as it reads its arguments."""
    from jupyter_server.serverapp import ServerApp
    from jupyterlab.labapp import LabApp

    lab = LabApp()
    lab.parse_command_line(arguments)
    server = ServerApp(config=lab.config)
    return server.ip, server.port


CODES = [code.replace("\\\n", "") for text in TEXTS.values() for code in CODE.findall(text)]
SHOWN = sorted({command for code in CODES for command in MADE.findall(code)})
ADDRESSES = {  # of those that start JupyterLab
    "make lab": ("127.0.0.1", 8888),
    "make edit": ("127.0.0.1", 8888),
    "make lab IP=0.0.0.0": ("0.0.0.0", 8888),
    'make lab ARGS="--port 8801"': ("127.0.0.1", 8801),
}
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@needs_make
@pytest.mark.parametrize("command", SHOWN)
def test_make_knows_the_commands_that_are_shown(command):
    words = ["make", "-n", *shlex.split(command)[1:]]
    done = subprocess.run(words, cwd=ROOT, env=without_make(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (command in ADDRESSES) == ("-m jupyterlab" in done.stdout)


@needs_make
@pytest.mark.parametrize("command", ADDRESSES)
def test_jupyterlab_takes_what_the_commands_that_are_shown_give_it(command, tmp_path):
    assert command in SHOWN
    *before, (_, module, *arguments) = started(command, tmp_path)
    assert module == "jupyterlab" and listens_at(arguments) == ADDRESSES[command]
    folder, first = ("my_course", [["-m", "helpers.course.student", "copy"]]) if "lab" in command else ("notebooks", [])
    assert before == first and f"--ServerApp.root_dir={ROOT}" in arguments
    assert f"--LabApp.default_url=/lab/tree/{folder}/00_start_here.ipynb" in arguments
