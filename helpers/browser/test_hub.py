"""Two users of one JupyterHub run *Correctness* at the same time, each in a home of their own. `make hub` runs it."""

from helpers.browser.test_lab import ENDED, IDLE, start
from helpers.course import ROOT, execute, notebooks

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

HUB = os.environ.get("COURSE_HUB")  # the folder with JupyterHub and its proxy
PASSWORD = "two users"
USERS = ("ada", "bob")
LECTURE = "04_correctness.ipynb"
CONFIG = """load_subconfig({shipped!r})
c.Spawner.args += ["--LabApp.expose_app_in_browser=True", "--allow-root"]
c.JupyterHub.bind_url = "http://127.0.0.1:{}"
c.JupyterHub.hub_port = {}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{}"
"""
pytestmark = pytest.mark.skipif(HUB is None, reason="`make hub` installs JupyterHub and runs this")


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """The address of a hub with the course's configuration, and the folder that holds the homes."""
    folder, ports = tmp_path_factory.mktemp("hub"), free_ports(3)
    shipped = str(ROOT / "helpers" / "course" / "jupyterhub_config.py")
    (folder / "config.py").write_text(CONFIG.format(*ports, shipped=shipped))
    environment = execute.kernel_environment(COURSE_HUB_TRIAL=PASSWORD)
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(HUB, "site").absolute()), environment["PYTHONPATH"]])
    environment["PATH"] = os.pathsep.join([str(Path(HUB, "node_modules", ".bin").absolute()), environment["PATH"]])
    command = [sys.executable, "-m", "jupyterhub", "--config", "config.py"]
    with (folder / "hub.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            yield _answering(f"http://127.0.0.1:{ports[0]}", server, folder / "hub.log"), folder / "homes"
        finally:
            os.killpg(server.pid, signal.SIGINT)  # the hub ends its users' servers, which lead groups of their own
            server.wait(60)


def _answering(address: str, server, log: Path) -> str:
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{address}/hub/login").close()
            return address
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.5)
    raise RuntimeError(f"JupyterHub did not start: {log.read_text()[-2000:]}")


def test_two_users_run_correctness_at_the_same_time(hub, browser):
    address, homes = hub
    pages = {user: browser.new_context(viewport={"width": 1280, "height": 720}).new_page() for user in USERS}
    for user, page in pages.items():
        page.goto(f"{address}/hub/login")
        page.fill("#username_input", user)
        page.fill("#password_input", PASSWORD)
        page.click("#login_submit")
        page.wait_for_url(f"**/user/{user}/lab/**", timeout=120_000)
        page.goto(f"{address}/user/{user}/lab/tree/{LECTURE}?reset")
        page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.isReady", timeout=60_000)
        page.wait_for_function(IDLE, timeout=60_000)
    for page in pages.values():
        start(page)
    found = {user: page.wait_for_function(ENDED, timeout=500_000).json_value() for user, page in pages.items()}
    outputs = [o for cell in notebooks.code_cells(notebooks.read(ROOT / "notebooks" / LECTURE)) for o in cell.outputs]
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    assert found == {user: {"errors": [], "pictures": pictures} for user in USERS}
    assert all((homes / user / "triton" / LECTURE).is_file() for user in USERS)
