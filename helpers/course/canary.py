"""Tests the pinned torch and triton beside the newest ones: `python -m helpers.course.canary`.

Each pair gets an environment of its own in build/canary. The report (build/canary/report.md) names the first notebook
and cell that fail, and says whose break it is: a release's, if the pinned pair passes, or ours, if both fail.
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from . import ROOT

MOVING = ("torch", "triton")  # what the newest pair leaves unpinned


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
    """Runs all tests in the environment in `folder`; returns what fails, in order."""
    found = folder.with_suffix(".xml")
    found.unlink(missing_ok=True)
    command = [folder / "bin" / "python", "-m", "pytest", "-q", "--tb=no", f"--junitxml={found}"]
    done = subprocess.run(command, cwd=root)
    return failures(found.read_text(encoding="utf-8")) if found.exists() else [f"pytest ended with {done.returncode}"]


def failures(xml: str) -> list[str]:
    """The tests that fail in a JUnit report, notebooks' cells first: those tell a learner's story."""
    cases = ElementTree.fromstring(xml).iter("testcase")
    bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    names = [f"{case.get('classname', '')} {case.get('name', '')}".strip() for case in bad]
    return sorted(names, key=lambda name: not name.startswith("notebooks"))


def verdict(pinned: list[str], newest: list[str]) -> str:
    """Whose break it is, in one sentence."""
    if not pinned and not newest:
        return "Both pairs pass."
    if not pinned:
        return f"The pinned pair passes, so a release broke it. First failure with the newest: {newest[0]}."
    if not newest:
        return f"Only the pinned pair fails: {pinned[0]}. The pin is what is wrong, or an outdated mirror."
    only = [name for name in newest if name not in pinned]
    rest = f" The newest pair also fails: {only[0]}." if only else ""
    return f"Both fail, so the break is ours. First failure: {pinned[0]}.{rest}"


def main() -> int:
    target = ROOT / "build" / "canary"
    target.mkdir(parents=True, exist_ok=True)
    failed, lines = {}, ["# Pinned and newest", "", "| pair | versions | failures |", "| --- | --- | --- |"]
    for name in ("pinned", "newest"):
        try:
            versions = install(target / name, name == "newest")
            failed[name] = test(target / name)
        except subprocess.CalledProcessError as error:
            versions, failed[name] = "not installed", [f"the installation failed ({error})"]
        lines.append(f"| {name} | {versions} | {len(failed[name])} |")
    lines += ["", verdict(failed["pinned"], failed["newest"]), ""]
    for name, found in failed.items():
        lines += [f"## {name}", "", *[f"- {one}" for one in found[:20]], ""] if found else []
    text = "\n".join(lines)
    (target / "report.md").write_text(text, encoding="utf-8")
    print(text)
    return 1 if any(failed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
