"""Measurements that travel with the course: on a GPU a benchmark runs, without one its recorded table is shown.

A record is `data/benchmarks/<name>.csv`, or `.txt` for text. Its first lines say, each after a "#", on which card, with
which versions and when it was measured, and carry a fingerprint of the code that was.
"""

import ast
import datetime
import functools
import hashlib
import inspect
import os
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

import torch

from ..device import INTERPRETED
from ..driver import driver

DATA = Path(__file__).resolve().parents[2] / "data" / "benchmarks"
FOLDER = Path(os.environ.get("COURSE_RECORDS") or DATA)  # where records are written, and looked for first
RECORD = (
    "COURSE_RECORD"  # "1" records everything, as `make benchmarks` does; "cases" leaves out sweeps, as `make drift`
)
STRICT = "COURSE_STRICT_RECORDS"  # set by the tests
OURS = ("__main__", "helpers.kernels", "helpers.tests")  # modules whose functions belong to what is measured
CHANGED = "The code here has changed since: these are not its numbers."


class NotRecorded(RuntimeError):
    """There is no GPU to measure on, and no record of what was asked for."""


class Unavailable(Exception):
    """Raised by a recorded function that cannot measure on this GPU machine; the message says why."""


def recorded(measure: Callable) -> Callable:
    """Decorates a function that measures: it runs on a GPU; without one, what it returned on a named card is shown.

    `measure` returns text, a pandas DataFrame, or a list of rows (dictionaries with the same keys). The decorated
    function returns the text or the DataFrame, after a printed line that names the card. The record has the function's
    name. It is shown, too, where `measure` raises Unavailable, because a tool is missing, or runs out of the GPU's
    memory; if nothing is recorded, that error stands. Raises NotRecorded without a GPU and without a record.
    """

    @functools.wraps(measure)
    def run(*args, **kwargs):
        name, code = measure.__name__, fingerprint([measure])
        if INTERPRETED:
            return shown(*read(name), code)
        try:
            result = measure(*args, **kwargs)
        except (Unavailable, RuntimeError) as error:
            expected = isinstance(error, Unavailable) or "out of memory" in str(error)  # PyTorch's, or Triton's
            if not expected or not _files(name):
                raise
            print(f"Cannot be measured here: {_reason(error)}")
            return shown(*read(name), code)
        table = result if isinstance(result, str) else _pandas().DataFrame(result)
        return measured(name, table, code)

    return run


def measured(name: str, table, code: str):
    """Prints where a table was measured, writes its record if the course is being recorded, and returns it."""
    about = provenance()
    print("Measured here: " + ", ".join(about.values()))
    if os.environ.get(RECORD):
        write(name, table, {**about, "code": code})
    return table


def shown(table, about: dict[str, str], code: str):
    """Prints where a record comes from, and whether its code has changed since; returns the table.

    Raises RuntimeError for changed code if the environment asks for it, as the tests do.
    """
    stale = about.get("code") != code
    if stale and os.environ.get(STRICT) == "1":
        raise RuntimeError(f"a record is stale: the code that it measured has changed. Run `make benchmarks`. {about}")
    print("Recorded, not measured here: " + ", ".join(value for key, value in about.items() if key != "code"))
    if stale:
        print(CHANGED)
    return table


def provenance() -> dict[str, str]:
    """The card, its driver, torch, triton and today's date, as a record's first lines hold them."""
    import triton

    return {
        "card": torch.cuda.get_device_name(),
        "driver": f"driver {driver()['driver']}",
        "torch": f"torch {torch.__version__}",
        "triton": f"triton {triton.__version__}",
        "date": datetime.date.today().isoformat(),
    }


def write(name: str, table, about: dict[str, str]) -> None:
    """Writes one record; the file is replaced whole or not at all."""
    head = "".join(f"# {key}: {value}\n" for key, value in about.items())
    body = table + "\n" if isinstance(table, str) else table.to_csv(index=False, float_format="%.5g")
    path = FOLDER / f"{name}{'.txt' if isinstance(table, str) else '.csv'}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(head + body, encoding="utf-8")
    new.replace(path)


def read(name: str) -> tuple:
    """The table (or text) of a record, and what its first lines say. Raises NotRecorded if there is none."""
    found = _files(name)
    if not found:
        what = "Kernels run in the interpreter here, and timing it would say nothing about a GPU"
        raise NotRecorded(f"{what}; of {name!r} no measurement is recorded. Run it on a machine with a GPU.")
    lines = found[0].read_text(encoding="utf-8").splitlines(keepends=True)
    head = [line for line in lines if line.startswith("# ")]
    about = dict(line[2:].rstrip("\n").split(": ", 1) for line in head)
    if found[0].suffix == ".txt":
        return "".join(lines[len(head) :]).rstrip("\n"), about
    table = _pandas().read_csv(found[0], skiprows=len(head))
    if "note" in table:
        table["note"] = table["note"].astype(object).where(table["note"].notna(), "")
    return table, about


def _files(name: str) -> list[Path]:
    folders = dict.fromkeys([FOLDER, DATA])
    return [path for folder in folders for kind in ("csv", "txt") if (path := folder / f"{name}.{kind}").exists()]


def _reason(error: Exception) -> str:
    """An error in a sentence or two; of "CUDA out of memory", what it tried, without PyTorch's account of the card."""
    return str(error).splitlines()[0].split(" GPU ")[0]


def fingerprint(functions: Iterable[Callable]) -> str:
    """A hash of the code of these functions and of the kernels, and what launches them, that they lead to.

    Comments, docstrings and layout do not count. Of functions that lead to no kernel only those given count.
    """
    functions = [unwrapped(function) for function in functions]
    sources = {**{_key(f): _code(f) for f in functions if _is_ours(f)}, **_kernels(functions)}
    return hashlib.sha256("\n\n".join(sources[key] for key in sorted(sources)).encode()).hexdigest()[:12]


def kernel_fingerprint(functions: Iterable[Callable]) -> str:
    """As `fingerprint`, but only what leads to a kernel counts; a function that leads to none adds nothing."""
    sources = _kernels([unwrapped(function) for function in functions])
    return hashlib.sha256("\n\n".join(sources[key] for key in sorted(sources)).encode()).hexdigest()[:12]


def unwrapped(function: Callable) -> Callable:
    """The Python function inside a jitted, autotuned or decorated one."""
    while (inner := getattr(function, "fn", None) or getattr(function, "__wrapped__", None)) is not None:
        function = inner
    return function


def _kernels(functions: list[Callable], seen: dict | None = None) -> dict[str, str]:
    """Sources of all jitted functions that these lead to, and of the functions on the way there."""
    seen, found = {} if seen is None else seen, {}
    for function in functions:
        if not _is_ours(function) or _key(function) in seen:
            found |= seen.get(_key(function), {})
            continue
        seen[_key(function)] = {}
        names = [function.__globals__.get(name) for name in _names(function.__code__)]
        names += inspect.getclosurevars(function).nonlocals.values()
        jitted = [unwrapped(value) for value in names if hasattr(value, "fn") and _is_ours(unwrapped(value))]
        below = _kernels([unwrapped(value) for value in names if callable(value)], seen)
        if below or jitted:
            below = {**below, **{_key(f): _code(f) for f in [function, *jitted]}}
        seen[_key(function)] = below
        found |= below
    return found


def _names(code) -> list[str]:
    """The global names that a function, or one inside it, looks up."""
    inner = [constant for constant in code.co_consts if inspect.iscode(constant)]
    return [*code.co_names, *(name for one in inner for name in _names(one))]


def _is_ours(function) -> bool:
    module = getattr(function, "__module__", None) or ""
    return inspect.isfunction(function) and module.startswith(OURS)


def _key(function) -> str:
    return getattr(function, "__qualname__", repr(function))


def _code(function) -> str:
    """The function's code as Python writes it, so without comments and layout, and without docstrings."""
    if function.__name__ == "<lambda>":  # its source is a piece of a line
        return f"lambda {function.__code__.co_names} {function.__code__.co_consts}"
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _pandas():
    import pandas

    return pandas
