"""`check_answers`: runs a plain Python function on arguments whose answers are known."""

import math
from collections.abc import Callable, Sequence

from .report import Problem, Report


def check_answers(function: Callable, cases: Sequence[tuple], *, within: float = 1e-6) -> Report:
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
            return Report(function.__name__, "not attempted")
        except Exception as error:
            return _failed(function, f"{call} raised {type(error).__name__}: {error}")
        if not _same(given, answer, within):
            return _failed(function, f"{call} gave {given!r}; the answer is {answer!r}.")
    return Report(function.__name__, "passed")


def _failed(function: Callable, sentence: str) -> Report:
    return Report(function.__name__, "failed", problems=(Problem("answers", sentence),))


def _short(value) -> str:
    first, *more = str(value).splitlines() or [""]
    return f"{first[:60]} …" if more or len(first) > 60 else first


def _same(given, answer, within: float) -> bool:
    if isinstance(answer, float) and isinstance(given, int | float):
        return math.isclose(given, answer, rel_tol=within)
    return type(given) is type(answer) and given == answer
