"""Every lecture opens in a real JupyterLab and runs from top to bottom, with its figures and without an error."""

from helpers.course import ROOT, execute, notebooks

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

STARTED = re.compile(r"http://127\.0\.0\.1:\d+/\S*token=\w+")
OPTIONS = "--no-browser --allow-root --ServerApp.port=0 --LabApp.news_url=None --expose-app-in-browser"
RUN_ALL = """() => {
  for (const cell of window.jupyterapp.shell.currentWidget.content.widgets) {
    if (cell.model.type === 'code') { cell.model.outputs.clear(); cell.model.executionCount = null; }
  }
  window.jupyterapp.commands.execute('notebook:restart-run-all');
}"""
IDLE = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
CELLS = "[...window.jupyterapp.shell.currentWidget.content.widgets].filter(cell => cell.model.type === 'code')"
BEGUN = f"() => {CELLS}.some(cell => cell.model.executionCount !== null)"
ENDED = f"""() => {{
  const cells = {CELLS};
  const outputs = cells.flatMap(cell => cell.model.outputs.toJSON().map(output => ({{id: cell.model.id, ...output}})));
  const errors = outputs.filter(o => o.output_type === 'error').map(o => o.id + ': ' + o.ename + ': ' + o.evalue);
  const done = cells.every((cell, i) => cell.model.executionCount === i + 1 && cell.model.executionState !== 'running');
  return (done || errors.length) && {{errors, pictures: outputs.filter(o => o.data && o.data['image/png']).length}};
}}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab over a copy of the course, so that nothing here is written to, and its token."""
    copy = tmp_path_factory.mktemp("lab")
    for name in ("notebooks", "data", "helpers"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    where = [f"--ServerApp.root_dir={copy}", "--ServerApp.ip=127.0.0.1"]
    command = [sys.executable, "-m", "jupyterlab", *where, *OPTIONS.split()]
    own = {f"JUPYTERLAB_{name}_DIR": str(copy / f".{name}") for name in ("SETTINGS", "WORKSPACES")}
    with (copy / "lab.log").open("w+") as log:
        server = subprocess.Popen(
            command, stderr=log, stdout=log, env=execute.kernel_environment(**own), start_new_session=True
        )
        try:
            address, _, token = _address(server, copy / "lab.log").partition("?")
            yield address.removesuffix("lab").rstrip("/"), token
        finally:
            os.killpg(server.pid, signal.SIGKILL)  # the kernels, too; all of it works on a copy
            server.wait()


def _address(server, log) -> str:
    for _ in range(120):
        if found := STARTED.search(log.read_text(encoding="utf-8")):
            return found.group()
        if server.poll() is not None:
            break
        time.sleep(0.5)
    raise RuntimeError(f"JupyterLab did not start: {log.read_text(encoding='utf-8')[-2000:]}")


@pytest.mark.parametrize("path", notebooks.lectures(), ids=lambda path: path.stem)
def test_a_lecture_runs_from_top_to_bottom(path, lab, page):
    page.goto(f"{lab[0]}/lab/tree/notebooks/{path.name}?{lab[1]}&reset")
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.isReady", timeout=60_000)
    page.wait_for_function(IDLE, timeout=60_000)
    start(page)
    found = page.wait_for_function(ENDED, timeout=300_000).json_value()
    outputs = [output for cell in notebooks.code_cells(notebooks.read(path)) for output in cell.outputs]
    assert found == {"errors": [], "pictures": sum("image/png" in output.get("data", {}) for output in outputs)}


def start(page) -> None:
    """Restarts the kernel and runs all cells; again, if nothing runs, as when the restart meets a kernel at work."""
    from playwright.sync_api import TimeoutError

    for _ in range(3):
        page.evaluate(RUN_ALL)
        page.locator(".jp-Dialog .jp-mod-accept").click(timeout=20_000)
        try:
            page.wait_for_function(BEGUN, timeout=30_000)
            return
        except TimeoutError:
            continue
    pytest.fail("no cell ran after three tries to restart the kernel and run all")


def test_a_lecture_is_presented_live(lab, page):
    """jupyterlab-rise shows the slides of a notebook, and its cells stay cells."""
    page.goto(f"{lab[0]}/rise/notebooks/02_vector_add.ipynb?{lab[1]}")
    page.wait_for_selector(".reveal .slides section.present", timeout=60_000)
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelector('section.present').innerText.includes('The last program')")
    assert page.locator("section.present .jp-CodeCell .cm-content").count() >= 1
