"""`recorded`: on a GPU a function measures; without one what it returned on a named card is shown.

Records are written into the folder that COURSE_RECORD names, if it does. With COURSE_STRICT_RECORDS=1, as in the tests,
a record whose code has changed since is an error.
"""

import datetime
import functools
import os
from collections.abc import Callable
from pathlib import Path

import torch

from ..device import INTERPRETED
from ..driver import driver
from .fingerprint import fingerprint
from .records import HEADER, found, load, save

CHANGED = "The code here has changed since: these are not its numbers."


class Unavailable(Exception):
    """Raised by a recorded function that cannot measure on this GPU machine; the message says why."""


def recorded(measure: Callable) -> Callable:
    """Decorates a function that measures and returns a text, a DataFrame or a list of rows (dictionaries).

    On a GPU it runs, and its text or DataFrame is returned after a printed line that names the card. Without one the
    record of the function's name is; so it is where `measure` raises Unavailable, or runs out of the GPU's memory.
    Raises NotRecorded without a GPU and without a record; with a GPU and without a record its own error stands.
    """

    @functools.wraps(measure)
    def measured_or_shown(*args, **kwargs):
        name, code = measure.__name__, fingerprint([measure])
        if INTERPRETED:
            return shown(name, code)
        try:
            result = measure(*args, **kwargs)
        except (Unavailable, RuntimeError) as error:
            expected = isinstance(error, Unavailable) or "out of memory" in str(error)  # PyTorch's, or Triton's
            if not expected or not found(name):
                raise
            reason = str(error).splitlines()[0].split(" GPU ")[0]  # without PyTorch's account of the card
            print(f"Cannot be measured here: {reason}")
            return shown(name, code)
        return measured(name, result, code, code)

    return measured_or_shown


def measured(name: str, result, code: str, author: str):
    """Prints where a result was measured and returns it, rows as a DataFrame; writes its record if asked to.

    `code` is the fingerprint that stays with the record, `author` that of all the code that measured.
    """
    import pandas

    table = result if isinstance(result, str) else pandas.DataFrame(result)
    about = provenance()
    print("Measured here: " + ", ".join(about.values()))
    if folder := os.environ.get("COURSE_RECORD"):
        save(Path(folder), name, table, {**about, "code": code}, author)
    return table


def shown(name: str, code: str):
    """Prints where a record comes from, and whether its code has changed since; returns its DataFrame or text."""
    table, about = load(name)
    then = about.pop("code")
    if then != code and os.environ.get("COURSE_STRICT_RECORDS") == "1":
        raise RuntimeError(f"the record {name!r} is stale: the code that it measured has changed. Measure it again.")
    print("Recorded, not measured here: " + ", ".join(about.values()))
    if then != code:
        print(CHANGED)
    return table


def provenance() -> dict[str, str]:
    """The card, its driver, torch, triton and today's date, as a record's header holds them."""
    import triton

    versions = (f"driver {driver()['driver']}", f"torch {torch.__version__}", f"triton {triton.__version__}")
    return dict(zip(HEADER, (torch.cuda.get_device_name(), *versions, datetime.date.today().isoformat()), strict=False))
