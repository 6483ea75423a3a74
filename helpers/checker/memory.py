"""The sections of a check about memory: reads outside, other orders of programs, and what all calls wrote where."""

import math

from ..device import INTERPRETED
from . import causes, fence
from .cases import Case
from .causes import UNSTEADY, Found
from .launches import can_be_reordered, in_order, orders
from .report import Problem, Row
from .sections import Section, died, failed, others, problem, right_cases
from .trial import Trial

WILD = "the kernel reached far outside its tensors and would have ended this process, so nothing more was run."
EMPTY = "there is no element, yet a program loaded or stored, and would have ended this process."
RUNS = 20  # on a GPU, where the order of programs cannot be chosen


def reads(trial: Trial) -> Section:
    """Looks for reads outside the inputs in a child process, before this one takes the risk of a wild access."""
    if not fence.AVAILABLE or not trial.guarded:
        return Section(unchecked=", reads outside a tensor" if INTERPRETED else "")
    job, plan = trial.fenced_job, fence.plan(trial.first, trial.shapes)

    def deadly(*arguments) -> bool:
        return fence.in_child([job(*arguments)]).killed_by is not None

    try:
        number = fence.in_child([job(case, side) for case, side in plan]).killed_by
        if number is None:
            return Section()
        case, side = plan[number]
        if 0 in case.shape:
            trial.shapes = [shape for shape in trial.shapes if 0 not in shape]
            more = reads(trial)
            empty = Problem("memory", f"{case}: {EMPTY} Give an empty tensor no program, or mask by the size.")
            return Section(Row("memory", "failed"), [empty, *more.problems], more.ends, more.unchecked)
        if side is None or deadly(case, None):
            return failed("memory", f"{case}: {WILD}", ends=True)
        sides = [s for s in fence.SIDES if deadly(case, s)]
        guilty = [str(k) for k in range(len(trial.operands(case))) if deadly(case, side, k)]
    except TimeoutError:
        return Section(unchecked=", reads outside a tensor")
    which = f"input {' and input '.join(guilty)}" if guilty else "an input"
    where = sides[0] if len(sides) == 1 else "outside"
    trial.reads = f"{case}: reads {where} of {which}, even if the values are then thrown away."
    return Section(Row("memory", "failed"))  # `written` says why, when a launch has been seen


def order(trial: Trial) -> Section:
    """Programs in other orders: in the interpreter by choice, on a GPU by running often."""
    right = right_cases(trial)
    many = [case for case in right[1:] if math.prod(case.shape) > 1]
    cases = [trial.first, *many[-1:]]
    if INTERPRETED and not can_be_reordered():
        return Section(unchecked=", other orders of programs")
    if not INTERPRETED:
        large = max(cases, key=lambda case: math.prod(case.shape))
        again = (trial.attempt(large, trial.place(large), trial.guarded) for _ in range(RUNS))
        wrong = next((outcome for outcome in again if outcome.status != "right"), None)
        if wrong is None:
            return Section(Row("order", "passed"), unchecked=f", races that {RUNS} runs do not show")
        if wrong.status == "dead":
            return died("order", wrong)
        return Section(Row("order", "failed"), [problem("order", [wrong], Found(None, UNSTEADY), "run often, ")])

    def job(case: Case, how: str):
        def run() -> tuple[str, str]:
            with in_order(orders()[how]):
                outcome = trial.attempt(case, trial.place(case), trial.guarded)
            return outcome.status, outcome.fact

        return run

    plan = [(case, how) for case in cases for how in orders()]
    try:
        jobs = [job(*one) for one in plan]
        found = fence.in_child(jobs).returned if fence.AVAILABLE else [run() for run in jobs]
    except TimeoutError:  # a program that waits for an earlier one
        return Section(unchecked=", other orders of programs")
    for (case, how), outcome in zip(plan, found, strict=False):
        if outcome is not None and outcome[0] not in ("right", "rejected"):
            cause = causes.out_of_order(trial)
            said = f"{case}, programs {how}: {outcome[1].removesuffix('.')}. {cause}"
            return failed("order", said, cause.cause)
    return Section(Row("order", "passed"))


def written(trial: Trial) -> Section:
    """What the guards and the inputs of all calls say: one sentence for stores outside, one for changed inputs."""
    problems, outcomes = [], trial.outcomes
    if trial.reads:
        cause = causes.read_outside(trial)
        problems.append(Problem("memory", f"{trial.reads} {cause}", cause.cause))
    if outside := [o for o in outcomes if o.call.breaches]:
        plain, b = [o for o in outside if o.case == trial.first.but(shape=o.case.shape)], outside[0].call.breaches[0]
        right, breaches = all(o.status == "right" for o in plain), [b for o in plain for b in o.call.breaches]
        cause = causes.stored_outside(breaches, trial, right)
        at = f"element {b.first}" if b.first == b.last else f"elements {b.first} to {b.last}"
        said = f"stored outside {b.where} of {b.elements} elements: {at}."
        said = [f"{outside[0].case}: {said}", others(outside), str(cause)]
        problems.append(Problem("memory", " ".join(filter(None, said)), cause.cause))
    if changed := [o for o in outcomes if o.call.overwritten]:
        cause = Found("input overwritten")
        said = f"{changed[0].case}: input {changed[0].call.overwritten[0]} is not what it was before the call."
        problems.append(Problem("memory", f"{said} {cause}", cause.cause))
    if problems:
        return Section(Row("memory", "failed"), problems)
    tried = any(o.case != trial.first for o in outcomes)
    return Section(Row("memory", "passed") if tried else None)
