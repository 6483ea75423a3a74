"""How pytest runs the notebooks: where the user's environment says, never where pytest's own process happens to be.

Importing helpers, as the helpers' own tests do in this process, sets TRITON_INTERPRET where there is no GPU. Kernels
inherit this process's environment, so without care no notebook would ever choose for itself. On a machine with a GPU
the kernels must use it: COURSE_REQUIRE_GPU makes helpers raise if they chose the interpreter.
"""

import contextlib
import functools
import json
import os
import queue
import subprocess
import sys
import time
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parent
ROOT = NOTEBOOKS.parent
MODE = "TRITON_INTERPRET"
DIED = "the kernel died while this cell ran: a store outside a tensor in the interpreter, or no memory left"


def _asked() -> str | None:
    """The mode as the user set it; helpers remembers it, if it was imported before this file was."""
    device = sys.modules.get("helpers.device")
    return device.ASKED if device else os.environ.get(MODE)


ASKED = _asked()


def pytest_configure(config):
    if not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(NOTEBOOKS / "nbval.cfg")


def pytest_report_header():
    return _where(_machine())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    if item.path.suffix != ".ipynb":
        return (yield)
    with _environment(_for_kernels()):
        return (yield)


class KernelDied(Exception):
    """The notebook's process ended while a cell ran; nbval by itself would wait for the cell's whole time limit."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    kernel = getattr(item.parent, "kernel", None)
    if item.path.suffix == ".ipynb" and kernel is not None:
        _watch(kernel)
    return (yield)


def _watch(kernel) -> None:
    """Makes waiting for a message end soon after the kernel has died."""
    ask = type(kernel).get_message

    def get_message(stream, timeout=None):
        end = time.monotonic() + (timeout or 0)
        while True:
            try:
                return ask(kernel, stream, timeout=1 if timeout is None else min(1, max(end - time.monotonic(), 0)))
            except queue.Empty:
                if not kernel.is_alive():
                    raise KernelDied(DIED) from None
                if timeout is not None and time.monotonic() >= end:
                    raise

    kernel.get_message = get_message


def _for_kernels() -> dict[str, str | None]:
    """The variables to change around a notebook's cells; None removes one."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    changes = {MODE: ASKED, "PYTHONPATH": os.pathsep.join(path), "COURSE_STRICT_RECORDS": "1", "COURSE_RECORD": None}
    # Nobody's settings: the user's own change what a cell prints and draws. A home may hold no files.
    changes |= {name: str(ROOT / "build" / name.lower()) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR")}
    changes |= {"PYTHONSTARTUP": None, "MATPLOTLIBRC": os.devnull}
    if ASKED is None and _machine().get("gpu"):
        changes["COURSE_REQUIRE_GPU"] = "1"
    return changes


@contextlib.contextmanager
def _environment(changes: dict[str, str | None]):
    before = dict(os.environ)
    os.environ.update({name: value for name, value in changes.items() if value is not None})
    for name in [name for name, value in changes.items() if value is None]:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@functools.cache
def _machine() -> dict:
    """What a fresh Python in the user's environment finds, or `problem`: why helpers cannot be used there."""
    command = [sys.executable, "-m", "helpers", "--json"]
    with _environment({MODE: ASKED}):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else {"problem": done.stderr.strip()}


def _where(found: dict) -> str:
    if found["problem"]:
        return f"notebooks will fail: {found['problem']}"
    if not found["interpreted"]:
        return f"notebooks run on {found['gpu']}"
    if found["gpu"] is None:
        return "notebooks run in Triton's interpreter (no GPU seen)"
    if ASKED is None:
        return f"notebooks will fail: torch sees {found['gpu']}, but helpers chose Triton's interpreter"
    return f"notebooks run in Triton's interpreter ({MODE}={ASKED}, although torch sees {found['gpu']})"
