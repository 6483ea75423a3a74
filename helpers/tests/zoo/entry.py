"""What an entry of the zoo says, and the inputs and shapes that entries share."""

from helpers.checker import check
from helpers.checker.report import Report
from helpers.device import INTERPRETED

from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Entry:
    """One candidate. `row` is the report's first row that must fail (None: it must pass), `cause` the likely cause.

    `says` is part of what the report must say: for a wrong kernel without a cause that names the fault, where the
    fact itself does. `only` limits an entry to "gpu" or "interpreter", where its fault can be seen; `fatal` ones end a
    GPU's context.
    """

    name: str
    candidate: Callable
    reference: Callable
    options: dict
    row: str | None = None
    cause: str | None = None
    says: str = ""
    status: str = ""
    only: str = ""
    fatal: bool = False
    slow: bool = False

    def verdict(self) -> str:
        return self.status or ("passed" if self.row is None else "failed")

    def applies(self) -> bool:
        return self.only in ("", "interpreter" if INTERPRETED else "gpu")

    def check(self) -> Report:
        return check(self.candidate, self.reference, **self.options)


FIELDS = ("row", "cause", "says", "status", "only", "fatal", "slow")
WRONG: list[Entry] = []
RIGHT: list[Entry] = []


def wrong(name: str, candidate: Callable, reference: Callable = torch.add, to: list[Entry] = WRONG, **found) -> None:
    """Adds an entry; what is not one of its fields is an option of `check`."""
    options = {option: found.pop(option) for option in list(found) if option not in FIELDS}
    to.append(Entry(name, candidate, reference, options, **found))


def right(name: str, candidate: Callable, reference: Callable = torch.add, **found) -> None:
    wrong(name, candidate, reference, RIGHT, **found)
