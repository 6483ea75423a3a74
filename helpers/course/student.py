"""The course as students get it, without stored outputs and speaker's notes: `python -m helpers.course.student`.

`publish` (`make student`) leaves the solutions out, too, and writes a folder, a branch of git, and pages. `copy`
(`make lab`) writes the notebooks, with the solutions, into my_course, and never over what a learner typed there.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from posixpath import dirname, join, normpath

from . import ROOT, files, notebooks, pages

BRANCH, COPY = "student", "my_course"
LEFT_OUT = (  # what holds solutions, says what to expect of students, or builds and tests the course
    "notebooks/solutions/", "notebooks/for_instructors.md", "helpers/tests/", "helpers/browser/",
    ".ci/", ".github/dependabot.yml", ".github/workflows/", "CONTRIBUTING.md",
)  # fmt: skip
MARKED = re.compile(r"^[^\n]*\bnot for students:.*?\bfor students again\b[^\n]*\n", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+)[^)]*\)")


def blank(notebook) -> str:
    """The text of the notebook without outputs, without the note of what executed it, without the speaker's notes."""
    for cell in notebook.cells:
        cell.metadata.pop("notes", None)
    for cell in notebooks.code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    notebook.metadata.pop("course", None)
    return notebooks.canonical(notebook)


def edition(root: Path = ROOT) -> dict[str, str | bytes]:
    """What students get of the files that git knows, by path below the root. Raises RuntimeError if git fails."""
    known = git(root, "ls-files", "-z", "--error-unmatch", ".").rstrip("\0").split("\0")
    names = [name for name in known if not name.startswith(LEFT_OUT) and (root / name).exists()]
    return {name: _for_students(root / name, name) for name in names}


def _for_students(path: Path, name: str) -> str | bytes:
    if path.suffix == ".ipynb":
        notebook = notebooks.read(path)
        for cell in notebook.cells:
            cell.source = _unlinked(cell.source, name)
        return blank(notebook)
    if path.name in ("README.md", "Makefile"):
        return _unlinked(MARKED.sub("", path.read_text(encoding="utf-8")), name)
    return path.read_bytes()


def _unlinked(text: str, name: str) -> str:
    """Of a link in the file `name` to what is left out, the words stay."""
    gone = {link for _, link in LINK.findall(text) if f"{normpath(join(dirname(name), link))}/".startswith(LEFT_OUT)}
    return LINK.sub(lambda match: match[1] if match[2] in gone else match.group(), text)


def publish(root: Path = ROOT) -> list[str]:
    """Writes build/student, the branch `student`, build/student_html; returns a line for each. Raises RuntimeError."""
    content, target = edition(root), root / "build" / "student"
    with files.fresh_folder(target) as folder:
        for name, text in content.items():
            files.write(folder / name, text)
            shutil.copymode(root / name, folder / name)
    branch, html = commit(root, target), pages.build(root, students=True)
    return ["build/student: the course for students", branch, f"build/{html.name}: its pages"]


def commit(root: Path, folder: Path) -> str:
    """Commits the folder to the branch `student`, and says so; no file, no index and no other branch changes.

    Raises RuntimeError if git refuses, or if the history of that branch holds what students must not get.
    """
    tip = git(root, "for-each-ref", "--format=%(objectname)", f"refs/heads/{BRANCH}")
    if tip and git(root, "log", "-1", "--format=%h", tip, "--", *LEFT_OUT):
        raise RuntimeError("the branch student has solutions in its history: rename it, and it is made anew")
    own = {"GIT_DIR": git(root, "rev-parse", "--absolute-git-dir"), "GIT_WORK_TREE": str(folder)}
    with tempfile.TemporaryDirectory() as place:
        own["GIT_INDEX_FILE"] = str(Path(place, "index"))
        git(folder, "add", "--all", "--force", ".", **own)
        tree = git(folder, "write-tree", **own)
    if tip and tree == git(root, "rev-parse", f"{tip}^{{tree}}"):
        return "branch student: nothing new"
    parent, message = ["-p", tip] if tip else [], f"From {git(root, 'describe', '--always', '--dirty')}"
    git(root, "branch", "--force", BRANCH, git(root, "commit-tree", tree, *parent, "-m", message))
    return f"branch student: {message}"


def git(folder: Path, *arguments: str, **variables: str) -> str:
    """What a git command prints. Raises RuntimeError with git's own reason."""
    command, own = ["git", *arguments], {**os.environ, **variables}
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def copy(root: Path = ROOT) -> list[str]:
    """Writes the notebooks that my_course lacks or that a learner did not change; returns what to tell the learner.

    Which ones a learner changed is known from a hash of what was written, in my_course/.written.json.
    """
    folder, memory, kept = root / COPY, root / COPY / ".written.json", []
    written = json.loads(memory.read_text(encoding="utf-8")) if memory.exists() else {}
    for path in notebooks.every_notebook(root):
        name = path.relative_to(root / "notebooks").as_posix()
        text, target = blank(notebooks.read(path)), folder / name
        new, found = typed(text.encode()), typed(target.read_bytes()) if target.exists() else None
        if found not in (new, None, written.get(name)):
            kept += [name] if new != written.get(name) else []
            continue
        if found != new:  # else it was only run: its outputs stay
            files.write(target, text)
        written[name] = new
    files.write(memory, json.dumps(written, indent=1) + "\n")
    todo = "you changed it, and the course has a newer one: rename yours to get both"
    return [f"{COPY} is your copy of the course", *(f"kept {COPY}/{name}: {todo}" for name in kept)]


def typed(content: bytes) -> str:
    """A hash of the cells that hold something, without outputs; "" for what is not a notebook."""
    try:
        cells = notebooks.parse(content.decode()).cells
    except ValueError:
        return ""
    sources = [cell.source for cell in cells if cell.source.strip()]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()[:16]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.course.student", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("copy", "publish"))
    try:
        print("\n".join({"copy": copy, "publish": publish}[parser.parse_args(arguments).what]()))
    except (OSError, RuntimeError, ValueError) as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
