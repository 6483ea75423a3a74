"""Runs Python in a fresh process, in the environment of a user who set nothing and has no GPU."""

from helpers.course import ROOT

import os
import subprocess
import sys
from pathlib import Path

SET_BY_US = ("TRITON_INTERPRET", "COURSE_REQUIRE_GPU", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTHONPATH")
ELSEWHERE = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and Path(p).resolve() != ROOT]
NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ZE_AFFINITY_MASK": ""}


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without what the course or pytest set, without a GPU, and with `variables`."""
    clean = {name: value for name, value in os.environ.items() if name not in SET_BY_US}
    return {**clean, **NO_GPU, **variables}


def path(*folders: Path) -> str:
    """A PYTHONPATH of these folders, and of those the user named, which may hold the packages we need."""
    return os.pathsep.join([*map(str, folders), *ELSEWHERE])


def python(*arguments: str, folder: Path = ROOT, **variables: str) -> subprocess.CompletedProcess:
    """Runs `python arguments…` in a folder; the repository is importable unless `variables` set PYTHONPATH."""
    variables = {"PYTHONPATH": path(ROOT), **variables}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment(**variables), capture_output=True, text=True)


def run(code: str, **variables: str) -> tuple[str, str]:
    """Runs a piece of code; returns what it printed and the last line of stderr (an error's name and message)."""
    done = python("-c", code, **variables)
    return done.stdout.strip(), (done.stderr.strip().splitlines() or [""])[-1]


def without_make() -> dict[str, str]:
    """This process's environment without what a make that started the tests left in it, such as ARGS."""
    of_make = ("MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS", "ARGS")
    return {name: value for name, value in os.environ.items() if name not in of_make}
