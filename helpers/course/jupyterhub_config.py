"""JupyterHub for a class on one machine: `jupyterhub --config helpers/course/jupyterhub_config.py`.

Everybody with an account on the machine may log in, and works on a copy of the notebooks in ~/triton. With
COURSE_HUB_TRIAL=<password> no accounts are needed: any name is let in, and all run as you, with homes in ./homes.
That is for a trial on your own machine: `make hub` does it.
"""

import os
import sys
from pathlib import Path

COURSE = Path(__file__).resolve().parents[2]
STUDENTS = 30
# What is there already is what a student wrote, and stays.
COPY = 'mkdir -p "$HOME/triton" && cp -R -n "$0"/. "$HOME/triton" && exec "$@"'

c = get_config()  # noqa: F821
c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # in front of it, a proxy with a certificate
c.Authenticator.allow_all = True
c.Spawner.cmd = ["sh", "-c", COPY, str(COURSE / "notebooks"), sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.notebook_dir = "~/triton"
c.Spawner.default_url = "/lab/tree/00_start_here.ipynb"
c.Spawner.start_timeout = c.Spawner.http_timeout = 120  # when thirty log in at once
c.Spawner.environment = {"COURSE_GPU_FRACTION": str(round(0.9 / STUDENTS, 4))}  # of one card, for each kernel
c.Spawner.args = [  # an idle kernel keeps its memory, on the card, too; an idle server keeps its own
    "--MappingKernelManager.cull_idle_timeout=1200",
    "--MappingKernelManager.cull_connected=True",
    "--ServerApp.shutdown_no_activity_timeout=3600",
]

if password := os.environ.get("COURSE_HUB_TRIAL"):
    c.JupyterHub.authenticator_class = "dummy"
    c.DummyAuthenticator.password = password
    c.JupyterHub.spawner_class = "simple"
    c.SimpleLocalProcessSpawner.home_dir_template = str(Path("homes/{username}").absolute())
