"""Every lecture opens in a real JupyterLab and runs from top to bottom, with its figures and without an error."""

from helpers.course import ROOT, machine, notebooks

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

STARTED = re.compile(r"http://127\.0\.0\.1:\d+/\S*token=\w+")
CELLS = ".jp-Notebook .jp-CodeCell"
RUN_ALL = """() => {
  for (const cell of window.jupyterapp.shell.currentWidget.content.widgets) {
    if (cell.model.type === 'code') { cell.model.outputs.clear(); cell.model.executionCount = null; }
  }
  window.jupyterapp.commands.execute('notebook:restart-run-all');
}"""
SESSION = "window.jupyterapp.shell.currentWidget.sessionContext.session"
STATE = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  const cells = [...panel.content.widgets].filter(cell => cell.model.type === 'code');
  const outputs = cells.flatMap(cell => cell.model.outputs.toJSON().map(output => ({id: cell.model.id, ...output})));
  return {
    done: cells.every(cell => cell.model.executionCount !== null && cell.model.executionState !== 'running'),
    started: cells.some(cell => cell.model.executionCount !== null),
    last: cells.at(-1).model.executionCount, cells: cells.length,
    errors: outputs.filter(o => o.output_type === 'error').map(o => o.id + ': ' + o.ename + ': ' + o.evalue),
    pictures: outputs.filter(o => o.data && o.data['image/png']).length,
  };
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab over a copy of the course, so that nothing here is written to."""
    copy = tmp_path_factory.mktemp("lab")
    for name in ("notebooks", "data", "helpers"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"]
    options = [
        "--ServerApp.port=0",
        f"--ServerApp.root_dir={copy}",
        "--LabApp.news_url=None",
        "--expose-app-in-browser",
    ]
    environment = {**machine.kernel_environment(), "JUPYTERLAB_SETTINGS_DIR": str(copy / ".settings")}
    environment["JUPYTERLAB_WORKSPACES_DIR"] = str(copy / ".workspaces")
    log = (copy / "lab.log").open("w+")
    server = subprocess.Popen([*command, *options], stderr=log, stdout=log, env=environment, start_new_session=True)
    try:
        yield _address(server, log.name)
    finally:
        os.killpg(server.pid, signal.SIGKILL)  # the kernels, too; all of it works on a copy
        server.wait()
        log.close()


def _address(server, log: str) -> str:
    for _ in range(120):
        text = open(log, encoding="utf-8").read()  # noqa: SIM115
        if found := STARTED.search(text):
            return found.group()
        if server.poll() is not None:
            break
        time.sleep(0.5)
    raise RuntimeError(f"JupyterLab did not start: {text[-2000:]}")


def stored_pictures(path) -> int:
    outputs = [output for cell in notebooks.read(path).cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("path", notebooks.lectures(), ids=lambda path: path.stem)
def test_a_lecture_runs_from_top_to_bottom(path, lab, page):
    base, _, token = lab.partition("?")
    page.goto(f"{base.removesuffix('lab').rstrip('/')}/lab/tree/notebooks/{path.name}?{token}&reset")
    page.wait_for_selector(CELLS, timeout=60_000)
    page.wait_for_function("window.jupyterapp && window.jupyterapp.shell.currentWidget?.context?.isReady")
    page.wait_for_function(f"{SESSION}?.kernel", timeout=60_000)
    page.wait_for_function(f"{SESSION}.kernel.status === 'idle'", timeout=60_000)
    _start(page)
    cells = page.evaluate(STATE)["cells"]
    state = _finished(page, cells)
    assert state["errors"] == []
    assert state["pictures"] == stored_pictures(path)


def _start(page) -> None:
    """Restarts the kernel and runs all cells; again, if nothing runs, as when the restart meets a kernel at work."""
    for _ in range(3):
        page.evaluate(RUN_ALL)
        page.locator(".jp-Dialog .jp-mod-accept").click(timeout=20_000)
        for _ in range(60):
            if page.evaluate(STATE)["started"]:
                return
            page.wait_for_timeout(500)
    pytest.fail("no cell ran after three tries to restart the kernel and run all")


def _finished(page, cells: int) -> dict:
    """The notebook's state when its last cell has run. Fails after five minutes."""
    for _ in range(600):
        state = page.evaluate(STATE)
        if state["errors"] or (state["last"] == cells and state["done"]):
            return state
        page.wait_for_timeout(500)
    pytest.fail(f"the notebook did not finish in five minutes: {state}")


def test_a_lecture_is_presented_live(lab, page):
    """jupyterlab-rise shows the slides of a notebook, and its cells stay cells."""
    base, _, token = lab.partition("?")
    page.goto(f"{base.removesuffix('lab').rstrip('/')}/rise/notebooks/02_vector_add.ipynb?{token}")
    page.wait_for_selector(".reveal .slides section.present", timeout=60_000)
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelector('section.present').innerText.includes('The last program')")
    assert page.locator("section.present .jp-CodeCell .cm-content").count() >= 1
