"""Re-runs lectures and solutions in place and stores what they print: `python -m helpers.course.execute [paths]`.

A notebook is written only if every one of its cells ran. What ran it is noted in its metadata, under `course`.
With --benchmarks the lectures that measure are run, on a GPU, and write their records to data/benchmarks.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from . import ROOT, notebooks

TIMEOUT = 600  # seconds for one cell
# A notebook's kernel is this Python, whatever a kernel of the name "python3" elsewhere on the machine may be.
KERNEL = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
RECORDS = ROOT / "data" / "benchmarks"


class ExecutionError(Exception):
    """A cell failed; the message names notebook, cell and error."""


def machine() -> dict:
    """What `python -m helpers --json` finds in a fresh Python, so that this process decides nothing itself.

    Raises RuntimeError with the reason if the course cannot run there.
    """
    command = [sys.executable, "-m", "helpers", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else {"problem": done.stderr[-2000:]}
    if found["problem"]:
        raise RuntimeError(found["problem"])
    return found


def kernel_environment(**variables: str) -> dict[str, str]:
    """The user's environment for a notebook's kernel with `variables`, and the repository first on PYTHONPATH.

    Without the user's settings of IPython, Python and matplotlib, which change what a cell prints and draws.
    """
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    nobodys = {"IPYTHONDIR": str(ROOT / "build" / "ipython"), "PYTHONSTARTUP": "", "MATPLOTLIBRC": os.devnull}
    return {**os.environ, **nobodys, "PYTHONPATH": os.pathsep.join(path), **variables}


def recording(path: Path, folder: Path = RECORDS, sweep: bool = True) -> dict[str, str]:
    """The variables with which the lecture in `path` measures, and writes its records below `folder`."""
    record = {"COURSE_REQUIRE_GPU": "1", "COURSE_RECORD": str(folder / notebooks.topic(path))}
    return {**record, "COURSE_SWEEP": "1"} if sweep else record


def description(found: dict) -> str:
    """Where the notebooks run, in one line: the GPU or "interpreter", torch, triton and today's date."""
    where = "interpreter" if found["interpreted"] else found["gpu"]
    today = datetime.date.today().isoformat()
    return f"{where} · torch {found['torch']} · triton {found['triton']} · {today}"


def execute(path: Path, executed: str, **variables: str) -> int:
    """Runs one notebook and replaces it; returns its number of code cells.

    Raises ExecutionError if a cell fails, and then writes nothing.
    """
    notebook = notebooks.read(path)
    run_cells(path, notebook, **variables)
    notebook.metadata["course"] = {**notebook.metadata.get("course", {}), "executed": executed}
    notebooks.write(path, notebooks.canonical(notebook))
    return len(notebooks.code_cells(notebook))


def run_cells(path: Path, notebook, **variables: str) -> None:
    """Runs the notebook in the folder of `path`; its cells then hold their outputs. Raises ExecutionError."""
    for cell in notebooks.code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    running = [None]
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=TIMEOUT,
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.resolve().parent)}},
        on_cell_execute=lambda cell, cell_index: running.append(cell.get("id", cell_index)),
    )
    client.create_kernel_manager().kernel_spec.argv[:] = KERNEL
    try:
        client.execute(env=kernel_environment(**variables))
    except CellExecutionError as error:
        reason = f"{error.ename}: {error.evalue}"
    except (RuntimeError, TimeoutError) as error:  # the kernel died, did not start, or took too long
        reason = f"{type(error).__name__}: {error}"
    else:
        return
    where = f"{notebooks.shown(path)}: cell {running[-1]}" if running[-1] else notebooks.shown(path)
    raise ExecutionError(f"{where}: {reason.strip()} (the notebook stays as it was)")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.course.execute", description=__doc__.splitlines()[0])
    parser.add_argument("--benchmarks", action="store_true", help="run the lectures that measure; write their records")
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (all lectures and solutions, if none is named)")
    chosen = parser.parse_args(arguments)
    try:
        paths = chosen.paths or (notebooks.measuring() if chosen.benchmarks else notebooks.executed())
        found = machine()
        if found["interpreted"] and chosen.benchmarks:
            raise RuntimeError("there is no GPU to measure on")
    except (FileNotFoundError, RuntimeError) as error:
        print(error)
        return 1
    print(f"running on: {description(found)}")
    if found["interpreted"]:
        print("Stored outputs come from a GPU. These will come from the interpreter: do not commit them.")
    failed = 0
    for path in paths:
        started = time.monotonic()
        try:
            cells = execute(path, description(found), **(recording(path) if chosen.benchmarks else {}))
            print(f"{notebooks.shown(path)}: {cells} cells in {time.monotonic() - started:.0f} s", flush=True)
        except (ExecutionError, ValueError) as error:
            failed = 1
            print(error, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
