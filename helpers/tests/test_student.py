"""Students get the course without its answers, git stays as it was, and what a learner typed is never overwritten."""

from helpers.course import ROOT, notebooks, rules, student
from helpers.tests.children import path, python
from helpers.tests.synthetic import GPU, code, markdown, save, stream

import json
import re
import subprocess

import pytest

README = "Read [this](notebooks/02_add.ipynb).\n<!-- not for students: -->\nFor [us](CONTRIBUTING.md).\n"
README += "<!-- for students again -->\nTheir [solutions](notebooks/solutions) and [the rest](https://x.org).\n"
TEXT = "([solutions](solutions/02_add.ipynb)), [exercises](exercises/02_add.ipynb), `add[grid](solutions, x)`"
SECRET = "x = 7 * 6"
YOURS = ["my_course is your copy of the course"]


def git(folder, *arguments):
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def state(root):
    """What git says about the files, the branch and its last commit."""
    return [git(root, *ask.split()) for ask in ("status --porcelain", "symbolic-ref HEAD", "rev-parse HEAD")]


def lecture(root, *more, source="print(1)"):
    cells = [markdown("title", "# Add\nWe add."), code("one", source, 1, [stream("the answer\n")])]
    end = markdown("end", TEXT, notes="the usual wrong answer")
    save(root / "notebooks" / "02_add.ipynb", *cells, end, *more, course=GPU)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A small course in a repository on the branch main; one change is staged, one is not, one file is nobody's."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    root = tmp_path / "the course"
    lecture(root)
    for folder in ("solutions", "exercises"):
        source = SECRET if folder == "solutions" else "..."
        save(root / "notebooks" / folder / "02_add.ipynb", markdown("title", "# Exercises"), code("x", source))
    texts = {"README.md": README, "CONTRIBUTING.md": SECRET, "helpers/tests/answers.py": SECRET, "run.sh": "true\n"}
    texts |= {".gitignore": "build/\nmy_course/\ndata/\n", "data/a.csv": "1\n", "gone.txt": "1\n"}
    for name, text in texts.items():
        notebooks.write(root / name, text)
    (root / "run.sh").chmod(0o755)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message=all")
    notebooks.write(root / "staged.txt", "staged\n")
    git(root, "add", "staged.txt")
    (root / "run.sh").write_text("false\n")
    notebooks.write(root / "scratch.ipynb", SECRET)
    (root / "gone.txt").unlink()
    return root


def test_the_edition_is_a_folder_pages_and_a_branch_and_git_stays_as_it_was(course):
    before = state(course)
    short = git(course, "describe", "--always", "--dirty")
    lines = student.publish(course)
    assert lines[1] == f"branch student: From {short}" and short.endswith("-dirty")
    assert state(course) == before
    folder = course / "build" / "student"
    files = sorted(found.relative_to(folder).as_posix() for found in folder.rglob("*") if found.is_file())
    kept = [".gitignore", "README.md", "data/a.csv", "notebooks/02_add.ipynb", "notebooks/exercises/02_add.ipynb"]
    assert files == [*kept, "run.sh", "staged.txt"]
    assert git(course, "ls-tree", "-r", "--name-only", "student").split("\n") == files
    assert "100755" in git(course, "ls-tree", "student", "run.sh") and git(course, "show", "student:run.sh") == "false"
    expected = "Read [this](notebooks/02_add.ipynb).\nTheir solutions and [the rest](https://x.org).\n"
    assert (folder / "README.md").read_text() == expected
    cells = notebooks.read(folder / "notebooks" / "02_add.ipynb").cells
    assert [cell.id for cell in cells] == ["title", "one", "end"] and cells[1].outputs == []
    assert cells[1].execution_count is None
    assert cells[2].source == TEXT.replace("[solutions](solutions/02_add.ipynb)", "solutions")
    pages = course / "build" / "student_html"
    assert "the answer" in (pages / "02_add.html").read_text() and (pages / "exercises" / "02_add.html").exists()
    assert not (pages / "solutions").exists() and "solutions/" not in (pages / "02_add.html").read_text()


def test_a_second_edition_follows_the_first_and_its_history_holds_no_solution(course):
    student.publish(course)
    first = git(course, "rev-parse", "student")
    assert student.publish(course)[1] == "branch student: nothing new" and git(course, "rev-parse", "student") == first
    lecture(course, source="print(2)")
    student.publish(course)
    assert git(course, "rev-list", "student").split() == [git(course, "rev-parse", "student"), first]
    assert SECRET not in git(course, "log", "--patch", "student")


def test_a_branch_that_is_no_place_for_the_edition_is_left_alone(course, capsys, monkeypatch):
    git(course, "branch", "student")
    tip = git(course, "rev-parse", "student")
    with pytest.raises(RuntimeError, match="has solutions in its history: rename it"):
        student.publish(course)
    git(course, "branch", "--force", "student", git(course, "commit-tree", "HEAD:data", "-m", "one of ours"))
    git(course, "worktree", "add", "--quiet", str(course.parent / "elsewhere"), "student")
    tip = git(course, "rev-parse", "student")
    with pytest.raises(RuntimeError, match="cannot force update the branch 'student'"):
        student.publish(course)
    assert git(course, "rev-parse", "student") == tip
    (course / "build" / "unpacked").mkdir(parents=True)
    with pytest.raises(RuntimeError, match=r"git ls-files: .* did not match any file"):
        student.edition(course / "build" / "unpacked")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(course.parent))
    (course / ".git").rename(course / "no-git")
    with pytest.raises(RuntimeError, match=r"git ls-files: .*not a git repository"):
        student.publish(course)
    monkeypatch.setattr(student, "ROOT", course)
    monkeypatch.setattr(student.publish, "__defaults__", (course,))
    assert student.main(["publish"]) == 1 and "not a git repository" in capsys.readouterr().out


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    """This course as students get it, in a folder."""
    folder = tmp_path_factory.mktemp("edition")
    for name, content in student.edition().items():
        notebooks.write(folder / name, content)
    return folder


def test_this_courses_edition_holds_no_solution_and_no_output_and_keeps_the_rules(edition):
    texts = {found: found.read_bytes().decode(errors="replace") for found in edition.rglob("*") if found.is_file()}
    solved = [cell.source for path in notebooks.solutions() for cell in notebooks.read(path).cells]
    between = re.findall(r"BEGIN SOLUTION\n(.*?)\n *### END", "\n".join(solved), re.DOTALL)
    telling = [
        json.dumps(body, ensure_ascii=False)[1:-1].replace("\\n", '\\n",\n    "')
        for body in between
        if body.count("\n") >= 2
    ]
    stored = "".join(path.read_text(encoding="utf-8") for path in notebooks.solutions())
    assert len(telling) > 10 and all(body in stored for body in telling)
    assert [body for body in telling for text in texts.values() if body in text] == []
    gone = ["notebooks/solutions", "notebooks/for_instructors.md", "helpers/tests", "helpers/browser"]
    gone += ["CONTRIBUTING.md", ".ci", ".github/workflows"]
    assert [name for name in gone if (edition / name).exists() or not (ROOT / name).exists()] == []
    handed_out = notebooks.every_notebook(edition)
    names = [found.relative_to(edition) for found in handed_out]
    here = [found.relative_to(ROOT) for found in notebooks.every_notebook() if notebooks.role(found) != "solutions"]
    assert names == here
    for found in handed_out:
        notebook = notebooks.read(found)
        assert "course" not in notebook.metadata
        assert not any(cell.outputs or cell.execution_count for cell in notebooks.code_cells(notebook))
        assert notebooks.canonical(notebook) == texts[found]
        broken = rules.broken(notebooks.role(found), found, notebook)
        assert [finding for finding in broken if finding[2] != rules.EXECUTE] == []
        assert found.parent.name != "exercises" or texts[found] == (ROOT / found.relative_to(edition)).read_text()
    readme = texts[edition / "README.md"]
    assert [link for link in re.findall(r"\]\((?![a-z]+:|#)([^)#\s]+)", readme) if not (edition / link).exists()] == []
    assert "for students" not in readme + texts[edition / "Makefile"] and "make lint" not in readme
    commands = re.findall(r"^([a-z]+):.*##", texts[edition / "Makefile"], re.MULTILINE)
    assert commands == ["help", "lab", "edit", "test", "doctor", "clean"]


def test_without_the_solutions_an_exercise_is_checked(edition):
    """The edition runs by itself, with its own helpers: a right answer passes, and what is not answered is said."""
    name = "notebooks/exercises/02_vector_add.ipynb"
    solved = {cell.id: cell.source for cell in notebooks.read(notebooks.solutions()[1]).cells}
    notebook = notebooks.read(edition / name)
    next(cell for cell in notebook.cells if cell.id == "negate-kernel").source = solved["negate-kernel"]
    notebooks.write(edition / name, notebooks.canonical(notebook))
    done = python("-m", "helpers.course.execute", name, folder=edition, PYTHONPATH=path(edition))
    assert done.returncode == 0, done.stdout + done.stderr
    graded = [cell for cell in notebooks.read(edition / name).cells if cell.metadata.get("nbgrader", {}).get("grade")]
    said = ["".join(output.get("text", "") for output in cell.outputs) for cell in graded]
    assert ": passed" in said[0] and all("not attempted yet" in text for text in said[1:]) and len(said) == 3


def opened(course, name="02_add.ipynb"):
    return notebooks.read(course / student.COPY / name)


def test_the_copy_shows_no_answer_and_keeps_what_a_learner_typed(course, capsys):
    lecture_copy, exercise = (course / student.COPY / name for name in ("02_add.ipynb", "exercises/02_add.ipynb"))
    before = git(course, "status", "--porcelain")
    assert student.copy(course) == YOURS
    assert [cell.id for cell in opened(course).cells] == ["title", "one", "end"] and opened(course).cells[
        1
    ].outputs == []
    assert opened(course, "solutions/02_add.ipynb").cells[1].source == SECRET
    # what was only run keeps its outputs, also with an empty cell that running the last one leaves behind
    ran = [code("one", "print(1)", 5, [stream("1\n")]), markdown("end", TEXT), code("new", " ")]
    save(lecture_copy, markdown("title", "# Add\nWe add."), *ran)
    save(exercise, markdown("title", "# Exercises"), code("x", "my answer"))
    answered = exercise.read_bytes()
    assert student.copy(course) == YOURS and opened(course).cells[1].outputs[0].text == "1\n"
    # an update renews what was only run; of what was typed the learner hears only if there is something newer
    lecture(course, source="print(2)")
    assert student.copy(course) == YOURS and opened(course).cells[1].source == "print(2)"
    save(course / "notebooks" / "exercises" / "02_add.ipynb", markdown("title", "# Exercises"), code("x", "new"))
    _, said = student.copy(course)
    assert said.startswith("kept my_course/exercises/02_add.ipynb: you changed it, and the course has a newer one")
    assert student.copy(course) == [*YOURS, said] and exercise.read_bytes() == answered
    exercise.rename(exercise.with_name("mine.ipynb"))
    assert student.copy(course) == YOURS and opened(course, "exercises/02_add.ipynb").cells[1].source == "new"
    assert exercise.with_name("mine.ipynb").read_bytes() == answered
    # a file of that name that is none of ours stays, whatever it is
    (course / student.COPY / ".written.json").unlink()
    lecture_copy.write_bytes(b"\xff my notes")
    _, line = student.copy(course)
    assert line.startswith("kept my_course/02_add.ipynb") and lecture_copy.read_bytes() == b"\xff my notes"
    assert git(course, "diff", "--name-only", "HEAD", "--", student.COPY) == "" and "my_course" not in before
    assert student.COPY not in git(course, "status", "--porcelain")


def test_the_copy_is_ignored_by_git_and_by_make_clean():
    assert f"{student.COPY}/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    recipe = re.search(r"^clean:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert recipe == "\trm -rf build\n"
