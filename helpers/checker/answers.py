"""`check_answers`: runs a plain Python function on arguments whose answers are known."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class Answers:
    """What `check_answers` found. `status` is "passed", "failed" or "not attempted"; `problem` says what is wrong."""

    name: str
    status: str
    problem: str = ""

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def __str__(self) -> str:
        ending = " yet" if self.status == "not attempted" else f"\n{self.problem}" if self.problem else ""
        return f"{self.name}: {self.status}{ending}"

    __repr__ = __str__


def check_answers(function: Callable, cases: Sequence[tuple], *, within: float = 1e-6) -> Answers:
    """Calls `function(*arguments)` for each `(arguments, answer)` in `cases`; the first wrong answer ends the check.

    A float may differ from the answer by the fraction `within` of it; everything else must be equal. A function that
    raises NotImplementedError is "not attempted". Raises ValueError if there are no cases.
    """
    if not cases:
        raise ValueError("cases is empty; give at least one (arguments, answer)")
    for arguments, answer in cases:
        call = f"{function.__name__}({', '.join(map(_short, arguments))})"
        try:
            given = function(*arguments)
        except NotImplementedError:
            return Answers(function.__name__, "not attempted")
        except Exception as error:
            return Answers(function.__name__, "failed", f"{call} raised {type(error).__name__}: {error}")
        if not _same(given, answer, within):
            return Answers(function.__name__, "failed", f"{call} gave {given!r}; the answer is {answer!r}.")
    return Answers(function.__name__, "passed")


def _short(value) -> str:
    first, *more = str(value).splitlines() or [""]
    return f"{first[:60]} …" if more or len(first) > 60 else first


def _same(given, answer, within: float) -> bool:
    if isinstance(answer, float) and isinstance(given, int | float):
        return math.isclose(given, answer, rel_tol=within)
    return type(given) is type(answer) and given == answer
