"""Re-runs lectures and solutions in place and stores what they print: `python -m helpers.course.execute [paths]`.

A notebook is written only if every one of its cells ran. What ran it is noted in its metadata, under `course`.
"""

import argparse
import datetime
import sys
import time
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from . import machine, notebooks

TIMEOUT = 600  # seconds for one cell


class ExecutionError(Exception):
    """A cell failed; the message names notebook, cell and error."""


def description(found: dict) -> str:
    """Where the notebooks run, in one line: the GPU or "interpreter", torch, triton and today's date."""
    where = "interpreter" if found["interpreted"] else found["gpu"]
    today = datetime.date.today().isoformat()
    return f"{where} · torch {found['torch']} · triton {found['triton']} · {today}"


def execute(path: Path, executed: str) -> int:
    """Runs one notebook and replaces it; returns its number of code cells.

    Raises ExecutionError if a cell fails, and then writes nothing.
    """
    notebook = notebooks.read(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        cell.outputs, cell.execution_count = [], None
    run(path, notebook)
    notebook.metadata["course"] = {**notebook.metadata.get("course", {}), "executed": executed}
    notebooks.write(path, notebooks.canonical(notebook))
    return len(code)


def run(path: Path, notebook) -> None:
    """Runs the notebook in the folder of `path`; its cells then hold their outputs. Raises ExecutionError."""
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
    # The kernel is this Python, whatever a kernel of the name "python3" elsewhere on the machine may be.
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    client.create_kernel_manager().kernel_spec.argv[:] = command
    try:
        client.execute(env=machine.kernel_environment())
    except CellExecutionError as error:
        reason = f"{error.ename}: {error.evalue}"
    except (RuntimeError, TimeoutError) as error:  # the kernel died, did not start, or took too long
        reason = f"{type(error).__name__}: {error}"
    else:
        return
    where = f"{notebooks.shown(path)}: cell {running[-1]}" if running[-1] else notebooks.shown(path)
    raise ExecutionError(f"{where}: {reason.strip()} (the notebook stays as it was)")


def execute_all(paths: list[Path]) -> int:
    """Runs the notebooks one after another, says how it went, and returns how many failed."""
    found = machine.ask()
    executed = description(found)
    print(f"running on: {executed}")
    if found["interpreted"]:
        print("Stored outputs come from a GPU. These will come from the interpreter: do not commit them.")
    failed = 0
    for path in paths:
        started = time.monotonic()
        try:
            cells = execute(path, executed)
            print(f"{notebooks.shown(path)}: {cells} cells in {time.monotonic() - started:.0f} s", flush=True)
        except (ExecutionError, ValueError) as error:
            failed += 1
            print(error, flush=True)
    return failed


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.course.execute", description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (all lectures and solutions, if none is named)")
    chosen = parser.parse_args(arguments)
    try:
        return 1 if execute_all(chosen.paths or notebooks.executed()) else 0
    except (FileNotFoundError, RuntimeError) as error:
        print(error)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
