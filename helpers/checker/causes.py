"""Likely causes of what failed: their names and their sentences; and those of what happens to memory.

A cause is named only where an experiment on the wrong numbers, or what the author wrote, agrees with it.
"""

from dataclasses import dataclass

from ..device import INTERPRETED
from .authored import Authored
from .guards import Breach
from .trial import Trial

CAUSES = {
    "nothing launched": "no kernel is launched; call kernel[grid](…) before the output is returned.",
    "nothing stored": "the kernel stores nothing; end it with tl.store.",
    "program id forgotten": "every program computes the same block; add tl.program_id(0) * BLOCK_SIZE to the offsets.",
    "grid rounded down": "the last, partial block is left out; divide with triton.cdiv, which rounds up.",
    "too few programs": "the last elements have no program; compare the grid with the size.",
    "tail skipped": "the last elements have programs, but nothing is stored there; compare where each "
    "program begins, its masks, branches and loops with the size.",
    "offsets in bytes": "pointers step in elements, not in bytes; do not multiply offsets by the element's size.",
    "results shifted": "each result lies {what}; compare the offsets of the store with those of the loads.",
    "results swapped": "{what}; return them in the reference's order.",
    "output not set": "the kernel reads its output before it is set; allocate it with torch.zeros, or do not read it.",
    "mask missing on the store": "lanes past the end store, too{what}; pass mask=mask to tl.store.",
    "mask too wide": "lanes past the end pass the mask of the store; compare it with the size: offsets < n_elements.",
    "mask missing on the load": "{what} has no mask.",
    "order of programs": "a program stores what belongs to another, or reads what another stores; on a GPU programs "
    "run in any order. Let each store its own elements only.",
    "strides ignored": "{what}; {strides}.",
    "operand transposed": "the result is right for {what}; compare its strides with its shape.",
    "narrowed too early": "{what}; widen before the arithmetic, narrow at the store.",
    "TF32": 'tl.dot rounds float32 to TF32; pass input_precision="ieee".',
    "integers narrowed": "integers are computed as {what}, which cannot hold them all.",
    "padding in a reduction": "right where a row fills its block: lanes without an element take part; load them with "
    "what changes nothing, other=0.0 for a sum, -inf for a maximum.",
    "reads past the end": "numbers from outside a tensor come in; mask the loads along every dimension that can be "
    "ragged, with other=0.0 in a sum.",
    "reduction cut short": "right for inputs cut to {what}: the last, partial block is left out; use tl.cdiv.",
    "maximum not subtracted": "an exponential overflows or vanishes; subtract the row's maximum first.",
    "special values": "random numbers come out right, {what} does not.",
    "Python's logic in a kernel": "{what}: between blocks write & for and, | for or, ~ for not, and "
    "each comparison in brackets.",
    "input overwritten": "the kernel stores into an input; allocate the output with torch.empty_like. (If it should "
    "work in place, check a function that gives it a copy: lambda x: f(x.clone()).)",
    "cached answer": "the result of an earlier call is returned again.",
}
UNKNOWN = "Cause unknown."
UNSTEADY = "The same call gives different answers: programs race, or the launcher keeps something between calls."


@dataclass(frozen=True)
class Found:
    """A cause of the list (None: unknown), and what shows it; printed, the sentence that says so."""

    cause: str | None = None
    what: str = ""
    strides: str = "use the strides, or reject tensors that are not contiguous"

    def __str__(self) -> str:
        if self.cause is None:
            return f"{self.what} {UNKNOWN}".strip() if self.what != UNSTEADY else self.what
        return f"Likely cause: {self.cause}: {CAUSES[self.cause].format(what=self.what, strides=self.strides)}"


def logic(written: Authored) -> Found:
    """Python's and, or, not, or a chained comparison between blocks."""
    lines = written.python_logic
    return Found("Python's logic in a kernel", lines[0]) if lines else Found()


def stored_outside(breaches: list[Breach], trial: Trial, right: bool) -> Found:
    """The likely cause of stores outside a tensor."""
    written = trial.authored()
    after = all(b.where == "an output" and b.first == b.elements for b in breaches)
    if INTERPRETED and (found := logic(written)).cause:
        return found
    if after and (stores := written.unmasked("store")):
        return Found("mask missing on the store", f" ({stores[0]})")
    if not after or not right:
        return Found()
    if not written.accesses:
        return Found("mask missing on the store") if _ends_with_a_block(breaches, trial) else Found()
    return Found("mask too wide")


def _ends_with_a_block(breaches: list[Breach], trial: Trial) -> bool:
    given = trial.block_size
    blocks = [given] if isinstance(given, int) else [2**k for k in range(18, 3, -1)]
    return any(all(b.last + 1 == -(-b.elements // n) * n for b in breaches) for n in blocks)


def read_outside(trial: Trial) -> Found:
    """Why a load reaches outside an input."""
    written = trial.authored()
    if INTERPRETED and (found := logic(written)).cause:
        return found
    if loads := written.unmasked("load"):
        return Found("mask missing on the load", str(loads[0]))
    if written.accesses and not written.unread:
        return Found(None, "Every load has a mask: compare masks and offsets with the sizes and the strides.")
    return Found(None, "Compare each load's mask with the size.")


def out_of_order(trial: Trial) -> Found:
    """Why the order of programs matters."""
    stores = trial.authored().unmasked("store")
    return Found("mask missing on the store", f" ({stores[0]})") if stores else Found("order of programs")
