"""The course of a check: which cases run, in which order, and what their outcomes add up to."""

import contextlib
import math

import torch

from ..compiler.compiling import CompilationError
from ..device import INTERPRETED
from . import diagnosis, fence
from .cases import Case, Placed, layout_cases, operands, value_cases
from .diagnosis import UNKNOWN, UNSTEADY, Found, likely
from .guards import raw
from .launches import Launches
from .report import Problem, Report, Row
from .settings import compiled_for_every_case, one_thread
from .trial import Outcome, Trial, counts, last_line, others

ROWS = ("result", "calls", "shapes", "dtypes", "layouts", "values", "memory")
DEAD = "The GPU's context is dead: restart the kernel, and mend the mask or the offsets before the next launch."
WILD = "the kernel reached far outside its tensors and would have ended this process, so nothing more was run."
EMPTY = "there is no element, yet a program loaded or stored, and would have ended this process. Cause unknown."


class Stop(Exception):
    """Nothing further can be learnt: what failed would spoil every later case."""


class Examination:
    """One check under way: `rows` and `problems` grow as the sections run."""

    def __init__(self, trial: Trial, shapes: list[tuple[int, ...]], dtypes: tuple[torch.dtype, ...], kernel):
        self.trial, self.shapes, self.dtypes, self.kernel = trial, shapes, dtypes, kernel
        self.first = Case(shapes[0], dtypes[0])
        plain = trial.start(self.first)
        self.count = len(plain)
        ranks = [x.dim() for x in plain if isinstance(x, torch.Tensor)]
        self.dimensions = max(ranks) if callable(trial.inputs) else None
        self.rows: dict[str, Row] = {}
        self.problems: list[Problem] = []
        self.unchecked = ""

    def report(self, candidate_name: str) -> Report:
        """Runs every section that the ones before it allow."""
        launched, outcomes = Launches(self.kernel), self.trial.outcomes
        with one_thread(self.trial.guarded), compiled_for_every_case(), launched, contextlib.suppress(Stop):
            self.reads()
            self.basic()
            self.calls()
            self.vary()
        if outcomes and outcomes[0].kind == "absent":
            return Report(candidate_name, "not attempted")
        if self.kernel is not None and outcomes and not any(DEAD in problem.sentence for problem in self.problems):
            self.look_at(launched)
        order = [*ROWS, *(["kernel"] if self.kernel is not None else [])]
        rows = tuple(self.rows.get(row, Row(row, "not run")) for row in order)
        problems = tuple(sorted(self.problems, key=lambda problem: order.index(problem.row)))
        return Report(candidate_name, "failed" if problems else "passed", rows, problems, self.unchecked)

    def fail(self, row: str, sentence: str, cause: str | None = None) -> None:
        """Notes a problem; the row of the table says no more than that it failed, if it is not there yet."""
        self.rows.setdefault(row, Row(row, "failed"))
        self.problems.append(Problem(row, sentence, cause))

    def alive(self, row: str, outcome: Outcome) -> Outcome:
        """Stops the check after an illegal access: whatever touches the GPU from then on fails."""
        if outcome.kind == "dead":
            self.fail(row, f"{outcome.case}: {outcome.fact}. {DEAD}")
            raise Stop
        return outcome

    def reads(self) -> None:
        """Looks for reads outside the inputs in a child process, before this one takes the risk of a wild access."""
        if not fence.AVAILABLE or not self.trial.guarded:
            self.unchecked = ", reads outside a tensor" if INTERPRETED else ""
            return
        job, plan = self.trial.fenced_job, fence.plan(self.first, self.shapes)
        try:
            number = fence.first_deadly([job(case, side) for case, side in plan])
            if number is None:
                return
            case, side = plan[number]
            if 0 in case.shape:
                self.shapes = [shape for shape in self.shapes if 0 not in shape]
                self.fail("memory", f"{case}: {EMPTY}")
                return self.reads()
            if side is None or fence.first_deadly([job(case, None)]) is not None:
                self.fail("memory", f"{case}: {WILD} {UNKNOWN}")
                raise Stop
            sides = [s for s in fence.SIDES if fence.first_deadly([job(case, s)]) is not None]
            guilty = [str(k) for k in range(self.count) if fence.first_deadly([job(case, side, k)]) is not None]
        except TimeoutError:
            self.unchecked = ", reads outside a tensor"
            return
        which = f"input {' and input '.join(guilty)}" if guilty else "an input"
        where = sides[0] if len(sides) == 1 else "outside"
        said = f"{case}: reads {where} of {which}, even if the values are then thrown away."
        self.fail("memory", f"{said} {UNKNOWN} Compare each load's mask with the size.")

    def basic(self) -> None:
        """The first shape, with everything about it as simple as can be."""
        outcome = self.alive("result", self.trial.judge(self.first))
        if outcome.kind == "right":
            self.rows["result"] = Row("result", "passed", str(self.first))
            return
        if outcome.kind != "absent":
            self.problem("result", [outcome], self.cause("result", [outcome], []))
            self.memory()
        raise Stop

    def problem(self, row: str, alike: list[Outcome], found: Found, when: str = "") -> None:
        """Notes the case, the facts, what else failed alike, and where numbers are wrong the likely cause."""
        fact = alike[0].fact if alike[0].fact.endswith((".", "?", "`")) else f"{alike[0].fact}."
        said = [f"{when}{alike[0].case}: {fact}", others(alike), likely(*found) if alike[0].wrong else ""]
        self.fail(row, " ".join(filter(None, said)), found[0])

    def calls(self) -> None:
        """The same answer twice, another for other data in the same memory, and earlier answers left alone."""
        placed = self.trial.place(self.first)
        one = self.again(placed, "a second call, ")
        if one.run.overwritten:  # so another call has other inputs; the row "memory" says it
            return
        before = [raw(x) for x in one.run.results]
        self.again(placed, "a third call, ")
        for x, plain in zip(placed, operands(self.first, self.trial.inputs, self.trial.seed + 1), strict=True):
            if isinstance(x, Placed):
                x.fill(plain)
        self.again(placed, "new data in the same tensors, ", before)
        if not all(map(torch.equal, before, map(raw, one.run.results))):
            said = "a later call changed the tensor that an earlier one returned; allocate the output in every call."
            self.fail("calls", f"{self.first}: {said}")
            return
        if not one.run.breaches:  # else what it stores outside would land in somebody's memory
            self.again(placed, "without guards around the outputs, ", guarded=False)
        self.rows["calls"] = Row("calls", "passed")

    def again(self, placed: list, when: str, before: list | None = None, guarded: bool | None = None) -> Outcome:
        """Calls the candidate once more on these tensors. Stops if it is wrong; `before` are the bytes it returned."""
        guarded = self.trial.guarded if guarded is None else guarded
        outcome = self.alive("calls", self.trial.run(self.first, placed, guarded))
        if outcome.kind != "right":
            cached = outcome.wrong and before and all(map(torch.equal, before, map(raw, outcome.run.results)))
            same_call = before is None and guarded == self.trial.guarded
            self.problem("calls", [outcome], ("cached answer" if cached else None, UNSTEADY if same_call else ""), when)
            raise Stop
        return outcome

    def vary(self) -> None:
        """Shapes, dtypes, layouts and values, each with what passed before."""
        tried = self.section("shapes", [self.first.but(shape=shape) for shape in self.shapes[1:]])
        right = [self.first, *(o.case for o in tried if o.kind == "right")]
        ragged = [c for c in right if any(n & (n - 1) for n in c.shape) and math.prod(c.shape) > 16 and c != self.first]
        pair = [self.first, *(ragged or right[1:])[:1]]
        tried = self.section("dtypes", [c.but(dtype=dtype) for dtype in self.dtypes[1:] for c in pair])
        self.section("layouts", layout_cases(right, self.dimensions))
        base = self.first if self.trial.elementwise or not ragged else ragged[0]  # padding shows in ragged shapes only
        fine = [dtype for dtype in self.dtypes if all(o.kind == "right" for o in tried if o.case.dtype == dtype)]
        self.section("values", value_cases(base, fine, self.count, self.trial.elementwise))
        self.memory()

    def section(self, row: str, cases: list[Case]) -> list[Outcome]:
        """Judges all cases of one row and turns what failed into a sentence for each way of failing."""
        outcomes = [self.alive(row, self.trial.judge(case)) for case in cases]
        bad = [o for o in outcomes if o.kind in ("failed", "absent")]
        rejected = [o for o in outcomes if o.kind == "rejected"]
        ways: dict[str, list[Outcome]] = {}
        for o in bad:
            ways.setdefault("numbers" if o.wrong else o.fact, []).append(o)
        if outcomes:
            verdict = "failed" if bad else "rejected" if len(rejected) == len(outcomes) else "passed"
            self.rows[row] = Row(row, verdict, counts(len(outcomes), len(bad), rejected))
        right = [self.first, *(o.case for o in outcomes if o.kind == "right")]
        for alike in ways.values():
            self.problem(row, alike, self.cause(row, alike, right))
        return outcomes

    def cause(self, row: str, alike: list[Outcome], right: list[Case]) -> Found:
        """The likely cause of outcomes that failed alike in one row, and what shows it."""
        wrong, trial = [o.wrong for o in alike if o.wrong], self.trial
        if not wrong:
            return None, ""
        if not all(trial.repeats(alike[0]) for _ in range(2)):  # twice: a candidate may go wrong in every nth call
            return None, UNSTEADY
        return diagnosis.find(row, wrong, right, trial.reference, trial.elementwise, trial.block_size)

    def memory(self) -> None:
        """What the guards and the inputs of all calls say: one sentence for stores outside, one for changed inputs."""
        outcomes = self.trial.outcomes
        if outside := [o for o in outcomes if o.run.breaches]:
            plain, b = [o for o in outside if o.case.layout == "contiguous"], outside[0].run.breaches[0]
            right, breaches = all(o.kind == "right" for o in plain), [b for o in plain for b in o.run.breaches]
            cause = diagnosis.store_mask(breaches, right, self.trial.block_size)
            at = f"element {b.first}" if b.first == b.last else f"elements {b.first} to {b.last}"
            said = f"stored outside {b.where} of {b.elements} elements: {at}."
            said = [f"{outside[0].case}: {said}", others(outside), likely(cause)]
            self.fail("memory", " ".join(filter(None, said)), cause)
        if changed := [o for o in outcomes if o.run.overwritten]:
            said = f"{changed[0].case}: input {changed[0].run.overwritten[0]} is not what it was before the call."
            self.fail("memory", f"{said} {likely('input overwritten')}", "input overwritten")
        if "calls" in self.rows or "shapes" in self.rows:
            self.rows.setdefault("memory", Row("memory", "passed"))

    def look_at(self, launched: Launches) -> None:
        """The row for `kernel`: was it launched, does it compile, are its loads and stores masked."""
        if not launched.count:
            self.fail("kernel", f"{launched.kernel.fn.__name__} was never launched.")
            return
        try:
            self.rows["kernel"] = Row("kernel", "passed", launched.masks())
        except CompilationError as error:
            said = f"the interpreter runs {launched.kernel.fn.__name__}, but the compiler rejects it"
            self.fail("kernel", f"{said}: {last_line(str(error))}.")
        except Exception:  # the look is a courtesy: whatever it trips over is no verdict on the kernel
            self.unchecked += ", what the compiler makes of the kernel"
