"""One case of a check: makes its inputs, calls the candidate, and compares what came back with the reference."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from ..compiler.functions import is_compiled, kernels_of
from ..device import DEVICE
from . import fence, guards
from .authored import Authored, authored
from .cases import AS_GIVEN, Case, name
from .errors import message, not_attempted
from .facts import Wrong, described
from .launches import Launch, Launches
from .placing import Placed, place, span, values_of
from .tolerance import Expected, expect, is_elementwise
from .values import operands

VIEWS = '; a launcher may reject a layout, if its error says "contiguous"'
SHAPES = "; if it takes only some shapes, give them: shapes=[(17, 61), …]"
BF16 = "; widen to float32 first: the interpreter has no bfloat16 constants"


@dataclass
class Outcome:
    """How one case went: "right", "rejected" (a layout or dtype, by a clear error), "absent", "dead" or "failed"."""

    case: Case
    status: str
    fact: str = ""
    wrong: Wrong | None = None
    call: guards.Call = field(default_factory=guards.Call)
    launches: list[Launch] = field(default_factory=list)


@dataclass
class Trial:
    """What stays the same in every case of one check, and how the cases went."""

    candidate: Callable
    reference: Callable
    inputs: int | Callable
    shapes: list[tuple[int, ...]]
    dtypes: tuple[torch.dtype, ...]
    block_size: int | tuple[int, ...] | None = None
    kernel: object = None
    must_take_views: bool = False
    seed: int = 0
    shapes_given: bool = True
    dtypes_given: bool = True
    outcomes: list[Outcome] = field(default_factory=list)
    reads: str = ""  # what is read outside the inputs, as a sentence
    known: dict = field(default_factory=dict)  # what is expected, by the bytes of the inputs

    def __post_init__(self):
        self.first = Case(self.shapes[0], self.dtypes[0])
        plain = [x.contiguous() if isinstance(x, torch.Tensor) else x for x in self.operands(self.first)]
        self.elementwise = is_elementwise(self.reference, plain)
        self.ranks = [x.dim() for x in plain if isinstance(x, torch.Tensor)]
        found = kernels_of(self.candidate)
        self.launches = Launches(
            [*found, *([self.kernel] if self.kernel is not None and self.kernel not in found else [])]
        )

    def operands(self, case: Case) -> list:
        return operands(case, self.inputs, self.seed)

    def authored(self) -> Authored:
        """What stands in the kernels and device functions that the candidate leads to."""
        return authored(self.launches.kernels, self.launches.constants)

    @property
    def guarded(self) -> bool:
        return not is_compiled(self.candidate)

    def place(self, case: Case) -> list:
        """The case's inputs on the device, each inside a buffer of its own."""
        given = self.operands(case)
        return [place(x, case, k, DEVICE, self.guard(given)) for k, x in enumerate(given)]

    def guard(self, plain: list) -> int:
        """Bytes around each tensor: enough for four times the largest input, and for two blocks beyond its end."""
        largest = max((x.numel() * x.element_size() for x in plain if isinstance(x, torch.Tensor)), default=0)
        block = self.block_size if isinstance(self.block_size, int) else 0
        return 2**15 + min(4 * largest, 2**24) + 16 * block

    def judge(self, case: Case) -> Outcome:
        """Tries one case and keeps its outcome."""
        self.outcomes.append(self.attempt(case, self.place(case), self.guarded))
        return self.outcomes[-1]

    def attempt(self, case: Case, placed: list, guarded: bool) -> Outcome:
        """Calls the candidate on what lies in these inputs now, and compares. Memory is left to `Outcome.call`."""
        plain, before = values_of(placed), len(self.launches.seen)
        right = self.expect(plain)
        done = guards.call(self.candidate, placed, self.guard(plain), guarded)
        launched = self.launches.seen[before:]
        if done.error is not None:
            said = ("dead", message(done.error)) if done.dead else self.excuse(case, done.error)
            return Outcome(case, *said, call=done, launches=launched)
        if fact := wrong_kind(done.results, right, placed) or self.copied(case, done):
            return Outcome(case, "failed", fact, call=done, launches=launched)
        if wrong := first_wrong(case, done.results, right, placed):
            block = self.block_size if self.block_size is not None else block_of(launched, wrong)
            return Outcome(case, "failed", described(wrong, block), wrong, done, launched)
        return Outcome(case, "right", call=done, launches=launched)

    def expect(self, plain: list) -> tuple[Expected, ...]:
        """What the reference makes of these values; the layouts of a check hold the same ones again and again."""
        tensors = [x for x in plain if isinstance(x, torch.Tensor)]
        key = tuple((x.dtype, x.shape, guards.raw(x).numpy().tobytes()) for x in tensors)
        if key not in self.known:
            self.known[key] = expect(self.reference, plain, self.elementwise)
        return self.known[key]

    def copied(self, case: Case, done: guards.Call) -> str:
        """What is wrong with a candidate that must take views and let PyTorch make something of one first."""
        if not self.must_take_views or case.layout == AS_GIVEN or not done.copies:
            return ""
        return f"made a copy ({done.copies[0]}); read the view where it lies, with its strides."

    def repeats(self, outcome: Outcome) -> bool:
        """Whether a case whose numbers were wrong gives the same ones, within the tolerance, when it is tried again."""
        again = self.attempt(outcome.case, self.place(outcome.case), self.guarded).wrong
        if again is None or again.position != outcome.wrong.position:
            return False
        a, b = again.got.double(), outcome.wrong.got.double()
        close = (a - b).abs() <= again.expected[again.position].tolerance.flatten()
        return bool((close | (a == b) | (a.isnan() & b.isnan())).all())

    def excuse(self, case: Case, error: Exception) -> tuple[str, str]:
        """Whether an exception means "not written yet", an allowed rejection, or a failure; and its text."""
        text = message(error)
        on_purpose = isinstance(error, TypeError | ValueError | RuntimeError | AssertionError)
        about_layout = case.layout not in (AS_GIVEN, "offset view")
        if on_purpose and about_layout and "contiguous" in text:
            return ("failed", f"rejected a view: {text}") if self.must_take_views else ("rejected", text)
        if not_attempted(error):
            return "absent", text
        named = any(word in text for word in (name(case.dtype), "dtype", "float32", "fp32"))
        other_dtype = case.dtype != self.first.dtype and not self.dtypes_given
        if other_dtype and named and isinstance(error, TypeError | ValueError):
            return "rejected", text
        hint = BF16 if "get_bf16" in text else ""
        if isinstance(error, ValueError | AssertionError | IndexError) and not hint:
            hint = VIEWS if about_layout and not self.must_take_views else "" if self.shapes_given else SHAPES
        return "failed", f"raised {text}{hint}"

    def fenced_job(self, case: Case, side: str | None, which: int | None = None) -> Callable[[], object]:
        """A guarded call; given a side, with its inputs (or only input `which`) flush against forbidden bytes there."""

        def job() -> None:
            given = self.operands(case)
            placed = [place(x, case, k, DEVICE, self.guard(given)) for k, x in enumerate(given)]
            for k, x in enumerate(placed):
                if side is not None and isinstance(x, Placed) and which in (None, k):
                    x.tensor = fence.fenced(given[k], case, k, side)
            guards.call(self.candidate, placed, self.guard(given))

        return job


def first_wrong(case: Case, results: tuple, right: tuple[Expected, ...], placed: list) -> Wrong | None:
    """The first of the results that has wrong elements; one that was never written is wrong, whatever it holds."""
    cpu = tuple(result.detach().cpu() for result in results)
    for k, (result, expected) in enumerate(zip(results, right, strict=True)):
        unwritten = guards.never_written(result)
        mask = expected.wrong(cpu[k]).flatten()
        if result.is_floating_point():
            mask = mask | unwritten
        if mask.any():
            return Wrong(case, k, cpu, right, mask, unwritten, in_memory(cpu[k]), placed)
    return None


def block_of(launched: list[Launch], wrong: Wrong) -> int | None:
    """The block size with which the one kernel that was launched covers the result as one flat array."""
    if len(launched) != 1 or len(launched[0].grid) > 1 or len(launched[0].blocks) != 1:
        return None
    (block,) = launched[0].blocks
    return block if launched[0].programs in (len(wrong.mask) // block, -(-len(wrong.mask) // block)) else None


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
