"""Tests the pinned torch and triton beside the newest ones: `python -m helpers.course.canary`.

Each pair gets an environment of its own in build/canary. The report (build/canary/report.md) names the first notebook
and cell that fail, with the error, and says whose break it is: a release's, if the pinned pair passes; ours, if both
fail (or that of a package that environment.yml does not pin: build/canary/*.txt lists what was installed).
"""

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from . import ROOT

MOVING = ("torch", "triton")  # what the newest pair leaves unpinned
COLOUR = re.compile(r"(\x1b|#x1B)\[[\d;]*m")  # as a terminal gets it, and as JUnit's XML writes it


def requirements(newest: bool, root: Path = ROOT) -> list[str]:
    """The list of environment.yml; with `newest`, torch without its pin and triton as torch brings it."""
    listed = re.findall(r"^      - (.+)$", (root / "environment.yml").read_text(encoding="utf-8"), re.MULTILINE)
    if not newest:
        return listed
    return ["torch", "triton", *[line for line in listed if not re.match(r"(torch|triton)(==|-windows)", line)]]


def install(folder: Path, newest: bool, root: Path = ROOT) -> str:
    """Makes an environment in `folder`; returns the versions that it holds. Raises CalledProcessError."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    python, listed = folder / "bin" / "python", folder / "requirements.txt"
    listed.write_text("\n".join(requirements(newest, root)) + "\n", encoding="utf-8")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--requirement", listed], check=True, cwd=root)
    ask = "import importlib.metadata as m; print(*(f'{n} {m.version(n)}' for n in ('torch', 'triton')), sep=', ')"
    return subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()


def test(folder: Path, root: Path = ROOT) -> list[str]:
    """Runs all tests in the environment in `folder`; returns what fails, in order, with why."""
    found = folder.with_suffix(".xml")
    found.unlink(missing_ok=True)
    command = [folder / "bin" / "python", "-m", "pytest", "-q", "--tb=no", f"--junitxml={found}"]
    done = subprocess.run(command, cwd=root)
    bad = failures(found.read_text(encoding="utf-8")) if found.exists() else []
    return bad if bad or done.returncode == 0 else [f"pytest: ended with {done.returncode}, and no test failed"]


def failures(xml: str) -> list[str]:
    """What fails in a JUnit report, each with its error; notebooks' cells first: those tell a learner's story."""
    found = []
    for case in ElementTree.fromstring(xml).iter("testcase"):
        for bad in [*case.findall("failure"), *case.findall("error")]:
            found.append(f"{_place(case.get('classname', ''), case.get('name', ''))}: {_why(bad)}")
    return sorted(found, key=lambda one: not one.startswith("notebooks"))


def _place(module: str, name: str) -> str:
    """A test's name; of a notebook's cell, which pytest numbers from 0, the cell's id as well."""
    cell = re.fullmatch(r"Cell (\d+)", name)
    path = ROOT / f"{module.removesuffix('.ipynb').replace('.', '/')}.ipynb"
    if not cell or not path.exists():
        return f"{module} {name}"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [one["id"] for one in cells if one["cell_type"] == "code"]
    return f"{path.relative_to(ROOT).as_posix()} {name} ({code[int(cell.group(1))]})"


def _why(bad: ElementTree.Element) -> str:
    """The error of a failed test in one line; of a cell, its exception or what nbval says of it. No colours."""
    plain = [COLOUR.sub("", text) for text in (bad.get("message", ""), bad.text or "")]
    message, lines = plain[0].strip(), [line.strip() for line in plain[1].splitlines() if line.strip()]
    if not message.startswith("Notebook cell"):
        return (message or "no message").splitlines()[0][:200]
    raised = re.match(r"[\w.]+(Error|Exception|Died)\b", lines[-1])
    return lines[-1 if raised else min(1, len(lines) - 1)][:200]


def verdict(failed: dict[str, list[str] | None]) -> str:
    """Whose break it is, in a sentence or two. None in place of a list: that pair could not be installed."""
    pinned, newest = failed["pinned"], failed["newest"]
    if pinned is None or newest is None:
        missing = ", ".join(name for name, found in failed.items() if found is None)
        return f"Not installed: {missing}. Is it the network, the index, the disk? {_tested(failed)}"
    if not pinned and not newest:
        return "Both pairs pass."
    if not pinned:
        return f"The pinned pair passes, so a release of torch or triton broke it. First failure: {newest[0]}"
    if not newest:
        return f"Only the pinned pair fails: the pin is wrong, or a mirror outdated. First failure: {pinned[0]}"
    known = {_name(one) for one in pinned}
    only = [one for one in newest if _name(one) not in known]
    rest = f"\n\nOnly with the newest: {only[0]}" if only else ""
    return f"Both fail, so the break is ours, or another package's release. First failure: {pinned[0]}{rest}"


def _name(failure: str) -> str:
    return failure.partition(": ")[0]


def _tested(failed: dict[str, list[str] | None]) -> str:
    """What can be said of a pair that was tested although the other was not installed."""
    tested = {name: found for name, found in failed.items() if found is not None}
    said = [f"The {name} pair {'fails: ' + found[0] if found else 'passes.'}" for name, found in tested.items()]
    return " ".join(said or ["Nothing was tested."])


def run(name: str, target: Path) -> tuple[str, list[str] | None]:
    """Installs and tests one pair: its versions, and what fails (None if it could not be installed).

    An environment in which all passes is removed: two of them with CUDA do not fit on every runner.
    """
    try:
        versions = install(target / name, name == "newest")
    except subprocess.CalledProcessError as error:
        return f"not installed ({Path(error.cmd[0]).name} ended with {error.returncode})", None
    freeze = [target / name / "bin" / "python", "-m", "pip", "freeze"]
    (target / f"{name}.txt").write_text(subprocess.run(freeze, capture_output=True, text=True).stdout, encoding="utf-8")
    found = test(target / name)
    if not found:
        shutil.rmtree(target / name)
    return versions, found


def report(results: dict[str, tuple[str, list[str] | None]]) -> str:
    """The report of the pairs that are done; with the verdict, if both are."""
    lines = ["# Pinned and newest", "", "| pair | versions | failures |", "| --- | --- | --- |"]
    for name, (versions, found) in results.items():
        lines.append(f"| {name} | {versions} | {'not tested' if found is None else len(found)} |")
    if len(results) == 2:
        lines += ["", verdict({name: found for name, (_, found) in results.items()})]
    for name, (_, found) in results.items():
        lines += ["", f"## {name}", "", *[f"- {one}" for one in found[:20]]] if found else []
    return "\n".join(lines) + "\n"


def main() -> int:
    target = ROOT / "build" / "canary"
    target.mkdir(parents=True, exist_ok=True)
    results = {}
    for name in ("pinned", "newest"):
        results[name] = run(name, target)
        (target / "report.md").write_text(report(results), encoding="utf-8")
    print(report(results))
    return 1 if any(found != [] for _, found in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
