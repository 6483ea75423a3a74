"""One case of a check: makes its inputs, calls the candidate, and compares what came back with the reference."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from ..device import DEVICE
from . import fence, guards
from .cases import Case, Placed, name, operands, place, span
from .facts import Wrong, facts
from .settings import is_compiled
from .tolerance import Expected, expect, is_elementwise


@dataclass
class Outcome:
    """How one case went: "right", "rejected" (a layout or dtype, by a clear error), "absent", "dead" or "failed"."""

    case: Case
    kind: str
    fact: str = ""
    wrong: Wrong | None = None
    run: guards.Run = field(default_factory=guards.Run)


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


@dataclass
class Trial:
    """What stays the same in every case of one check, and how the cases went."""

    candidate: Callable
    reference: Callable
    inputs: int | Callable
    block_size: int | tuple[int, ...] | None
    seed: int
    strict_dtypes: bool
    elementwise: bool = False
    outcomes: list[Outcome] = field(default_factory=list)

    def start(self, case: Case) -> list:
        """The first case's inputs, from which it learns whether the reference is element-wise."""
        plain = operands(case, self.inputs, self.seed)
        self.elementwise = is_elementwise(self.reference, plain)
        return plain

    @property
    def guarded(self) -> bool:
        return not is_compiled(self.candidate)

    def place(self, case: Case) -> list:
        """The case's inputs on the device, each inside a buffer of its own."""
        plain = operands(case, self.inputs, self.seed)
        return [place(x, case.layout, k, DEVICE, self.guard(plain)) for k, x in enumerate(plain)]

    def guard(self, plain: list) -> int:
        """Bytes around each tensor: enough for four times the largest input, and for two blocks beyond its end."""
        largest = max((x.numel() * x.element_size() for x in plain if isinstance(x, torch.Tensor)), default=0)
        block = self.block_size if isinstance(self.block_size, int) else 0
        return 2**15 + min(4 * largest, 2**24) + 16 * block

    def judge(self, case: Case) -> Outcome:
        """Runs one case and keeps its outcome."""
        self.outcomes.append(self.run(case, self.place(case), self.guarded))
        return self.outcomes[-1]

    def run(self, case: Case, placed: list, guarded: bool) -> Outcome:
        """Calls the candidate on what lies in these inputs now, and compares. Memory is left to `Outcome.run`."""
        plain = [getattr(x, "plain", x) for x in placed]
        done = guards.run(self.candidate, placed, self.guard(plain), guarded)
        if done.error is not None:
            said = ("dead", message(done.error)) if done.dead else self.excuse(case, done.error)
            return Outcome(case, *said, run=done)
        right = expect(self.reference, plain, self.elementwise)
        if fact := wrong_kind(done.results, right, placed):
            return Outcome(case, "failed", fact, run=done)
        for k, (result, expected) in enumerate(zip(done.results, right, strict=True)):
            got = result.detach().cpu()
            mask = expected.wrong(got).flatten()
            if mask.any():
                unwritten = guards.never_written(result)
                wrong = Wrong(case, k, expected, mask, got.flatten(), unwritten, in_memory(got), placed)
                which = f"result {k}: " if len(right) > 1 else ""
                return Outcome(case, "failed", which + facts(wrong, self.block_size), wrong, done)
        return Outcome(case, "right", run=done)

    def repeats(self, outcome: Outcome) -> bool:
        """Whether a case whose numbers were wrong gives the same ones, within the tolerance, when it is run again."""
        again = self.run(outcome.case, self.place(outcome.case), self.guarded).wrong
        if again is None or again.position != outcome.wrong.position:
            return False
        a, b = again.got.double(), outcome.wrong.got.double()
        close = (a - b).abs() <= again.expected.tolerance.flatten()
        return bool((close | (a == b) | (a.isnan() & b.isnan())).all())

    def excuse(self, case: Case, error: Exception) -> tuple[str, str]:
        """Whether an exception means "not written yet", an allowed rejection, or a failure; and its text."""
        text = message(error)
        raised_on_purpose = isinstance(error, TypeError | ValueError | RuntimeError | AssertionError)
        about_layout = case.layout not in ("contiguous", "offset view")
        if raised_on_purpose and about_layout and "contiguous" in text:
            return "rejected", text
        if not_attempted(error):
            return "absent", text
        named = any(word in text for word in (name(case.dtype), "dtype", "float32", "fp32"))
        first = self.outcomes[0].case if self.outcomes else case  # whose dtype must work
        if case.dtype != first.dtype and not self.strict_dtypes and named and isinstance(error, TypeError | ValueError):
            return "rejected", text
        hint = ""
        if "get_bf16" in text:
            hint = "; widen to float32 first: the interpreter has no bfloat16 constants"
        elif about_layout and isinstance(error, ValueError):
            hint = '; a launcher may reject a layout, if its error says "contiguous"'
        return "failed", f"raised {text}{hint}"

    def fenced_job(self, case: Case, side: str | None, which: int | None = None) -> Callable[[], object]:
        """A guarded call; given a side, with its inputs (or only input `which`) flush against forbidden bytes there."""

        def job():
            placed = self.place(case)
            for k, x in enumerate(placed):
                if side is not None and isinstance(x, Placed) and which in (None, k):
                    x.tensor = fence.fenced(x.plain, case.layout, k, side)
            guards.run(self.candidate, placed, self.guard([getattr(x, "plain", x) for x in placed]))

        return job


def chain(error: BaseException) -> list[BaseException]:
    """An exception and what it came from, the deepest cause last."""
    return [error, *(chain(error.__cause__) if error.__cause__ else [])]


def not_attempted(error: Exception) -> bool:
    """Whether an exception, or one it came from, is the stub's NotImplementedError, raised in Python or in a kernel.

    A compiler does not know `raise`: it reports the statement. torch raises the same class for a missing operator.
    """
    return any(
        (isinstance(e, NotImplementedError) and "aten::" not in str(e)) or "unsupported AST node type: Raise" in str(e)
        for e in chain(error)
    )


def message(error: Exception) -> str:
    """Such as "ValueError: x is empty": the deepest cause, its class and its first line (a compiler's: the last)."""
    cause = chain(error)[-1]
    if "Compilation" in type(cause).__name__:
        return f"{type(cause).__name__}: {last_line(str(cause))}"
    return f"{type(cause).__name__}: {(str(cause).strip().splitlines() or ['(no message)'])[0][:200]}"


def last_line(text: str) -> str:
    """The last line that says something: a compiler's message may end with the caret under a piece of source."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip(" ^")), "(no message)")


def wrong_kind(results: tuple, right: tuple[Expected, ...], placed: list) -> str:
    """What is wrong with the results before their numbers: count, type, device, shape, dtype or memory; else ""."""
    if len(results) != len(right):
        return f"returned {len(results)} results, expected {len(right)}."
    memory = {x.buffer.untyped_storage().data_ptr(): k for k, x in enumerate(placed) if isinstance(x, Placed)}
    for k, (result, expected) in enumerate(zip(results, right, strict=True)):
        which = f"result {k}" if len(right) > 1 else "the result"
        if result is None:
            return f"{which} is None, expected a tensor: does the launcher end with `return out`?"
        if not isinstance(result, torch.Tensor):
            return f"{which} is {type(result).__name__}, expected a tensor."
        if result.layout != torch.strided:
            return f"{which} is {str(result.layout).removeprefix('torch.')}, expected an ordinary tensor."
        if result.device.type != DEVICE.type:
            return f"{which} is on {result.device.type}, expected the inputs' device."
        if result.shape != expected.eager.shape:
            return f"{which} has shape {tuple(result.shape)}, expected {tuple(expected.eager.shape)}."
        if result.dtype != expected.eager.dtype:
            return f"{which} is {name(result.dtype)}, expected {name(expected.eager.dtype)}."
        if result.numel() and result.untyped_storage().data_ptr() in memory:
            shared = memory[result.untyped_storage().data_ptr()]
            return f"{which} lies in the memory of input {shared}; return a new tensor (torch.empty_like)."
    return ""


def in_memory(result: torch.Tensor) -> torch.Tensor:
    """A CPU result's elements in the order in which they lie in memory, flat; logical order if there are gaps."""
    dense = span(result.shape, list(result.stride())) == result.numel()
    return result.as_strided((result.numel(),), (1,)) if dense else result.flatten()
