"""Finds the likely cause of wrong numbers: each finder knows a few causes, and names one only if the evidence fits."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import torch

from . import causes, experiments, narrowing
from .authored import Authored
from .cases import Case, is_ragged
from .causes import UNSTEADY, Found
from .facts import Wrong
from .launches import Launch
from .trial import Outcome, Trial


@dataclass
class Evidence:
    """What is known of outcomes of one row that failed alike: their wrong results, and the cases that were right."""

    row: str
    alike: list[Outcome]
    right: list[Case]
    trial: Trial
    wrong: list[Wrong] = field(init=False)

    def __post_init__(self):
        self.wrong = [outcome.wrong for outcome in self.alike if outcome.wrong]

    @property
    def launches(self) -> list[Launch]:
        return self.alike[0].launches

    @cached_property
    def authored(self) -> Authored:
        """What stands in all kernels and device functions that the candidate leads to."""
        return self.trial.authored()


def find(row: str, alike: list[Outcome], right: list[Case], trial: Trial) -> Found:
    """The likely cause of outcomes that failed alike in one row of the report; the cases in `right` were right."""
    evidence = Evidence(row, alike, right, trial)
    if not evidence.wrong:
        return logic(evidence) if re.search("truth value|comparison|boolean", alike[0].fact) else Found()
    if not all(trial.repeats(alike[0]) for _ in range(2)):  # twice: a candidate may go wrong in every nth call
        found = causes.out_of_order(trial)  # on a GPU, where programs store over each other at random
        return found if found.cause == "mask missing on the store" else Found(None, UNSTEADY)
    for finder in FINDERS:
        found = finder(evidence)
        if found.cause or found.what:
            return found
    return Found()


def unwritten(e: Evidence) -> Found:
    """Elements that no program stores: all of them, all but the first block's, or those from some point on."""
    one = e.wrong[0]
    if e.row not in ("result", "shapes", "dtypes"):
        return Found()
    if one.unwritten.all() and (e.authored.accesses or not e.trial.launches.kernels):
        if not e.launches and e.trial.launches.kernels:
            return Found("nothing launched")
        if not e.authored.of("store") and not e.authored.stores_atomically and not e.authored.unread and e.launches:
            return Found("nothing stored")
    boxes = [experiments.written_box(w) for w in e.wrong]
    if None in boxes or (all(0 in box for box in boxes) and e.row == "result"):
        return Found()
    programs = [o.launches[0].programs if len(o.launches) == 1 else None for o in e.alike if o.wrong]
    if None not in programs and max(programs) > 1 and not e.authored.asks_which_program and not e.authored.unread:
        return Found("program id forgotten")
    if any(is_rounded_down(e, block) for block in blocks_to_try(e)):
        return Found("grid rounded down")
    if None in programs:
        return Found("tail skipped")
    return Found("too few programs" if all(map(reaches_less, e.alike, e.wrong)) else "tail skipped")


def reaches_less(outcome: Outcome, wrong: Wrong) -> bool:
    """Whether the programs of the one launch have fewer lanes than the result has elements."""
    launch = outcome.launches[0]
    lanes = torch.Size(launch.blocks[: max(len(wrong.shape), 1)]).numel()
    return launch.programs * lanes < wrong.mask.numel()


def is_rounded_down(e: Evidence, block: tuple[int, ...]) -> bool:
    """Whether exactly the whole blocks of every dimension were written, and no ragged shape came out right."""
    for o, w in zip(e.alike, e.wrong, strict=True):
        shape = w.shape if len(w.shape) == len(block) else (w.mask.numel(),)
        if len(shape) != len(block):
            return False
        whole = tuple(n // b * b for n, b in zip(shape, block, strict=True))
        whole = tuple(0 for _ in whole) if 0 in whole else whole
        if experiments.written_box(w, shape) != whole or whole == shape:
            return False
        needed = torch.Size(-(-n // b) for n, b in zip(shape, block, strict=True)).numel()
        if len(o.launches) == 1 and o.launches[0].programs >= needed:
            return False
    alike = [c.shape for c in e.right if len(c.shape) == len(block)]
    return not any(n % b for shape in alike for n, b in zip(shape, block, strict=True))


def blocks_to_try(e: Evidence) -> list[tuple[int, ...]]:
    """The block sizes that were given or launched; without any, every power of two that a flat kernel would use."""
    given = e.trial.block_size
    if given is not None:
        return [given if isinstance(given, tuple) else (given,)]
    dimensions = len(e.wrong[0].shape)
    launched = [launch.blocks[: max(dimensions, 1)] for launch in e.launches if launch.blocks]
    return launched or [(2**k,) for k in range(18, 3, -1)]


def misplaced(e: Evidence) -> Found:
    """Right numbers in the wrong place: of another result, a few elements away, or only every fourth."""
    one = e.wrong[0]
    size = one.got.element_size()
    if size > 1 and len(one.mask) > 2 * size and torch.equal(one.mask, torch.arange(len(one.mask)) % size != 0):
        return Found("offsets in bytes")
    if other := experiments.swapped_with(one):
        return Found("results swapped", f"result {one.position} is right as result {other}")
    if shift := experiments.shifted_by(one):
        return Found(
            "results shifted", f"{abs(shift)} element{'s' * (abs(shift) > 1)} too {'far' if shift > 0 else 'early'}"
        )
    return Found()


def not_set(e: Evidence) -> Found:
    """An output that the kernel reads: it holds nan when it is allocated."""
    one, stored = e.wrong[0], {a.pointer for a in e.authored.of("store")}
    both = stored & {a.pointer for a in e.authored.of("load")}
    reads_it = bool(both) or e.authored.stores_atomically
    return Found("output not set") if reads_it and one.got[one.mask].isnan().all() and e.row == "result" else Found()


def narrow(e: Evidence) -> Found:
    """Arithmetic in a type that is too narrow."""
    one, trial = e.wrong[0], e.trial
    if e.row in ("result", "shapes") and (found := narrowing.narrowed(one, trial.reference, trial.elementwise)):
        return Found(*found)
    if e.row == "dtypes" and (found := narrowing.narrow_arithmetic(one)):
        return Found(*found)
    if not one.got.is_floating_point() and (what := narrowing.narrowed_integers(one, trial.reference)):
        return Found("integers narrowed", what)
    return Found()


def strides(e: Evidence) -> Found:
    """Inputs that are read with other strides than theirs."""
    one, trial = e.wrong[0], e.trial
    if what := experiments.other_strides(one, trial.reference, trial.elementwise):
        if e.row != "layouts":
            return Found("operand transposed", what)
        advice = "use the strides" if trial.must_take_views else Found.strides
        return Found("strides ignored", what, advice)
    if e.row == "layouts" and (guilty := only_guilty(e)) is not None:
        return Found(None, f"Only layouts of input {guilty} come out wrong: look at its strides.")
    return Found()


def only_guilty(e: Evidence) -> int | None:
    """The input whose layouts come out wrong, while those of every other alone come out right; None without one."""
    alone = {outcome.case.only for outcome in e.alike} - {None}
    return alone.pop() if len(alone) == 1 else None


def reduction(e: Evidence) -> Found:
    """What only ragged rows show: padding that takes part, numbers from outside, a last block left out."""
    one, trial = e.wrong[0], e.trial
    if trial.elementwise or e.row not in ("result", "shapes", "values"):
        return Found()
    cut = experiments.cut_short(one, trial.reference)
    if cut:
        return Found("reduction cut short", cut)
    stored = one.mask & ~one.unwritten  # what nobody stored is nan, too
    strange = one.got[stored].isnan().any() and one.want[one.mask].isfinite().all()
    if strange and e.row == "shapes":
        return Found("reads past the end")
    if any(is_ragged(w.case.shape) for w in e.wrong) and experiments.right_where_whole(one.case, trial):
        spoils = any(o.call.breaches for o in e.alike)  # a store past one row's end spoils the next row
        return causes.out_of_order(trial) if spoils else Found("padding in a reduction")
    return Found()


def values(e: Evidence) -> Found:
    """Which values the wrong elements have in common."""
    if e.row != "values":
        return Found()
    one, trial = e.wrong[0], e.trial
    if not trial.elementwise and experiments.overflows(one, trial.reference):
        return Found("maximum not subtracted")
    return Found("special values", what) if (what := experiments.special_kind(one)) else Found()


def logic(e: Evidence) -> Found:
    """Python's and, or, not, or a chained comparison between blocks."""
    return causes.logic(e.authored)


FINDERS: tuple[Callable[[Evidence], Found], ...] = (
    unwritten, misplaced, not_set, narrow, strides, reduction, values, logic,
)  # fmt: skip
