"""`from helpers.course.afresh import helpers`: the package with its checker and compiler anew from their files.

A graded cell begins so, in a part that students do not see: what they put in the checker's place does not count.
"""

import importlib
import re
import sys

AFRESH = re.compile(r"helpers(\.(checker|compiler)(\..+)?)?")  # not the device: it is decided before triton is imported


def __getattr__(name: str):
    """Imports `helpers` again, each time that this module is asked for it."""
    if name != "helpers":
        raise AttributeError(f"{__name__} has no {name!r}")
    for found in filter(AFRESH.fullmatch, list(sys.modules)):
        del sys.modules[found]
    return importlib.import_module(name)
