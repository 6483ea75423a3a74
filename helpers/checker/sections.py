"""The sections of a check. Each tries its cases and says what it found; `check` decides what comes next."""

import contextlib
from dataclasses import dataclass, field

import torch

from ..compiler.compiling import CompilationError
from ..compiler.functions import kernels_of
from ..device import INTERPRETED
from . import causes
from .authored import authored
from .cases import Case, is_ragged, layout_cases, name, value_cases
from .causes import UNSTEADY, Found
from .errors import last_line
from .finders import find
from .guards import raw
from .placing import Placed
from .report import Problem, Row
from .trial import Outcome, Trial

DEAD = "The GPU's context is dead: restart the kernel, and mend the mask or the offsets before the next launch."
REUSED = "a later call changed the tensor that an earlier one returned; allocate the output in every call."

FROM_ELSEWHERE = "a result is a tensor that no kernel was given: PyTorch made it. Return what the kernel stores."


@dataclass
class Section:
    """What one section found: a row of the report, problems, and whether what comes next would be spoilt (`ends`)."""

    row: Row | None = None
    problems: list[Problem] = field(default_factory=list)
    ends: bool = False
    unchecked: str = ""


def failed(row: str, sentence: str, cause: str | None = None, ends: bool = False) -> Section:
    """A section with one problem; its row says no more than that it failed."""
    return Section(Row(row, "failed"), [Problem(row, sentence, cause)], ends)


def died(row: str, outcome: Outcome) -> Section:
    """The end of a check on a GPU: after an illegal access whatever touches it fails."""
    return failed(row, f"{outcome.case}: {outcome.fact}. {DEAD}", ends=True)


def problem(row: str, alike: list[Outcome], found: Found, when: str = "") -> Problem:
    """The case, the facts, what else failed alike, and where numbers are wrong the likely cause."""
    fact = alike[0].fact if alike[0].fact.endswith((".", "?", "`")) else f"{alike[0].fact}."
    cause = str(found) if alike[0].wrong or found.cause else ""
    return Problem(row, " ".join(filter(None, [f"{when}{alike[0].case}: {fact}", others(alike), cause])), found.cause)


def counts(total: int, bad: int, rejected: list[Outcome]) -> str:
    """Such as "12 right, 1 rejected (ValueError: x must be contiguous)"."""
    numbers = {"right": total - bad - len(rejected), "wrong": bad, "rejected": len(rejected)}
    text = ", ".join(f"{number} {what}" for what, number in numbers.items() if number)
    return f"{text} ({rejected[0].fact})" if rejected else text


def others(alike: list[Outcome]) -> str:
    """Such as "Also: n=17; n=16; n=15 and 3 more." for all but the first; a dtype is named where it differs."""
    rest = [str(o.case).replace(f", {name(alike[0].case.dtype)}", "") for o in alike[1:]]
    more = f" and {len(rest) - 3} more" if len(rest) > 3 else ""
    return f"Also: {'; '.join(rest[:3])}{more}." if rest else ""


def result(trial: Trial) -> Section:
    """The first shape, with everything about it as simple as can be."""
    outcome = trial.judge(trial.first)
    if outcome.status == "dead":
        return died("result", outcome)
    if outcome.status == "right":
        return Section(Row("result", "passed", str(trial.first)))
    if outcome.status == "absent":
        return Section(ends=True)
    found = find("result", [outcome], [], trial)
    return Section(Row("result", "failed"), [problem("result", [outcome], found)], ends=True)


def calls(trial: Trial) -> Section:
    """The same answer twice, another for other data in the same memory, and earlier answers left alone."""
    placed = trial.place(trial.first)
    one = trial.attempt(trial.first, placed, trial.guarded)
    if one.status != "right":
        return _wrong_call(one, "a second call, ", UNSTEADY)
    if one.call.overwritten:  # so another call has other inputs; the row "memory" says it
        return Section()
    before = [raw(x) for x in one.call.results]
    again = trial.attempt(trial.first, placed, trial.guarded)
    if again.status != "right":
        return _wrong_call(again, "a third call, ", UNSTEADY)
    trial.seed += 1
    fresh = trial.operands(trial.first)
    trial.seed -= 1
    for x, values in zip(placed, fresh, strict=True):
        if isinstance(x, Placed):
            x.fill(values)
    again = trial.attempt(trial.first, placed, trial.guarded)
    if again.status != "right":
        cached = again.wrong and all(map(torch.equal, before, map(raw, again.call.results)))
        return _wrong_call(again, "new data in the same tensors, ", cause="cached answer" if cached else None)
    if not all(map(torch.equal, before, map(raw, one.call.results))):
        return failed("calls", f"{trial.first}: {REUSED}")
    if not one.call.breaches:  # else what it stores outside would land in somebody's memory
        again = trial.attempt(trial.first, placed, False)
        if again.status != "right":
            return _wrong_call(again, "without guards around the outputs, ")
    return Section(Row("calls", "passed"))


def _wrong_call(outcome: Outcome, when: str, said: str = "", cause: str | None = None) -> Section:
    if outcome.status == "dead":
        return died("calls", outcome)
    return Section(Row("calls", "failed"), [problem("calls", [outcome], Found(cause, said), when)], ends=True)


def right_cases(trial: Trial) -> list[Case]:
    """The cases that came out right so far, but for what was changed in layout and values."""
    plain = [o.case for o in trial.outcomes if o.status == "right" and o.case.dtype == trial.first.dtype]
    return list(dict.fromkeys(case for case in plain if case == trial.first.but(shape=case.shape)))


def shapes(trial: Trial) -> Section:
    return _section("shapes", [trial.first.but(shape=shape) for shape in trial.shapes[1:]], trial)


def dtypes(trial: Trial) -> Section:
    right = right_cases(trial)
    ragged = [case for case in right[1:] if is_ragged(case.shape)]
    pair = [trial.first, *(ragged or right[1:])[:1]]
    return _section("dtypes", [case.but(dtype=dtype) for dtype in trial.dtypes[1:] for case in pair], trial)


def layouts(trial: Trial) -> Section:
    varies = isinstance(trial.inputs, int)
    return _section("layouts", layout_cases(right_cases(trial), trial.ranks, varies), trial)


def values(trial: Trial) -> Section:
    """Values beside random ones; of functions that are not element-wise in a ragged shape, where padding shows."""
    ragged = [case for case in right_cases(trial)[1:] if is_ragged(case.shape)]
    base = trial.first if trial.elementwise or not ragged else ragged[0]
    bad = {o.case.dtype for o in trial.outcomes if o.status != "right" and o.case.values == "random"}
    bad -= {o.case.dtype for o in trial.outcomes if o.case.dtype == trial.first.dtype}
    fine = [dtype for dtype in trial.dtypes if dtype not in bad]
    count, own = len(trial.operands(base)), isinstance(trial.inputs, int)
    return _section("values", value_cases(base, fine, count, trial.elementwise, own), trial)


def _section(row: str, cases: list[Case], trial: Trial) -> Section:
    """Judges all cases of one row and turns what failed into a sentence for each way of failing.

    Values on which the reference itself raises are left out.
    """
    outcomes, right = [], right_cases(trial)
    for case in cases:
        with contextlib.suppress(ValueError) if case.values != "random" else contextlib.nullcontext():
            outcomes.append(trial.judge(case))
            if outcomes[-1].status == "dead":
                return died(row, outcomes[-1])
    if not outcomes:
        return Section()
    bad = [o for o in outcomes if o.status in ("failed", "absent")]
    rejected = [o for o in outcomes if o.status == "rejected"]
    ways: dict[str, list[Outcome]] = {}
    for o in bad:
        ways.setdefault("numbers" if o.wrong else o.fact, []).append(o)
    verdict = "failed" if bad else "rejected" if len(rejected) == len(outcomes) else "passed"
    right = [*right, *(o.case for o in outcomes if o.status == "right")]
    problems = [problem(row, alike, find(row, alike, right, trial)) for alike in ways.values()]
    return Section(Row(row, verdict, counts(len(outcomes), len(bad), rejected)), problems)


def from_elsewhere(outcome: Outcome) -> bool:
    """Whether kernels were launched, and a result is a tensor that none of them was given."""
    given = frozenset().union(*(launch.memory for launch in outcome.launches))
    results = outcome.call.results if outcome.status == "right" and given else ()
    return any(x.numel() and x.untyped_storage().data_ptr() not in given for x in results)


def kernel(trial: Trial) -> Section:
    """The row for `kernel`: was it launched, for what is returned, does it compile, are its loads and stores masked."""
    launched, called = trial.launches, trial.kernel.fn.__name__
    if trial.kernel not in launched.first:
        return failed("kernel", f"{called} was never launched.")
    if any(map(from_elsewhere, trial.outcomes)):
        return failed("kernel", FROM_ELSEWHERE)
    raised = any(o.call.error is not None for o in trial.outcomes)
    try:
        if INTERPRETED and not raised:
            launched.compiled(trial.kernel)
    except CompilationError as error:
        said = f"the interpreter runs {called}, but the compiler rejects it: {last_line(str(error))}."
        found = causes.logic(trial.authored()) if "comparison" in said else Found()
        return failed("kernel", f"{said} {found if found.cause else ''}".strip(), found.cause)
    except Exception:  # the look is a courtesy: whatever it trips over is no verdict on the kernel
        return Section(unchecked=", what the compiler makes of the kernel")
    written = authored(kernels_of(trial.kernel), launched.constants)  # with the device functions that it calls
    return Section(Row("kernel", "passed", written.masks()))
