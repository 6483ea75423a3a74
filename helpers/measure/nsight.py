"""Hardware counters from NVIDIA's Nsight Compute, where the machine has it and lets its users read them."""

import csv
import re
import shutil
import subprocess
import sys

from .recording import Unavailable


def counters(script: str, kernel: str, metrics: dict[str, str]) -> list[dict[str, float]]:
    """Runs `script` (Python) under `ncu`; returns one dictionary for each launch of a kernel called `kernel`.

    `metrics` maps ncu's names of counters to the names to return them under. The clocks stay as they are. Raises
    Unavailable if ncu is not installed, or may not read the counters.
    """
    if shutil.which("ncu") is None:
        raise Unavailable("Nsight Compute (ncu) is not installed")
    command = ["ncu", "--csv", "--clock-control", "none", "-k", f"regex:{kernel}", "--metrics", ",".join(metrics)]
    done = subprocess.run([*command, sys.executable, "-c", script], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if not lines:
        raise Unavailable(f"ncu read no counters: {_reason(done.stderr + done.stdout)}")
    launches = {}
    for row in csv.DictReader(lines):
        launches.setdefault(row["ID"], {})[metrics[row["Metric Name"]]] = float(row["Metric Value"].replace(",", ""))
    return list(launches.values())


def _reason(said: str) -> str:
    """The first line that names an error, of the script's or of ncu's."""
    lines = said.strip().splitlines() or ["it printed nothing"]
    return next((line for line in lines if re.search("Error:|ERR", line)), lines[-1])[:200]
