"""`check`: runs a kernel's launcher beside a reference on many inputs, and says where it goes wrong and why."""

from collections.abc import Callable, Sequence

import torch

from ..compiler.functions import is_kernel, jitted
from ..device import DEVICE, INTERPRETED
from . import memory, sections
from .authored import stub_above_code
from .cases import default_dtypes, default_shapes
from .report import Problem, Report, Row
from .settings import compiled_for_every_case, nan_as_on_a_gpu, one_thread
from .trial import Trial

BLOCK = 1024  # elements; stands in for a block size that was not given
ROWS = ("result", "calls", "order", "shapes", "dtypes", "layouts", "values", "memory")
IN_TURN = (memory.reads, sections.result, sections.calls, sections.shapes, sections.dtypes, sections.layouts,
           sections.values, memory.order)  # fmt: skip
BLIND = (
    "in the interpreter: races between programs, TF32, bfloat16 arithmetic, shared memory, "
    "lanes that a load without other leaves undefined"
    if INTERPRETED
    else "on this GPU: reads outside a tensor whose values are thrown away"
)


def check(
    candidate: Callable,
    reference: Callable,
    inputs: int | Callable = 2,
    *,
    shapes: Sequence | None = None,
    dtypes: Sequence[torch.dtype] | None = None,
    block_size: int | tuple[int, ...] | None = None,
    kernel=None,
    must_take_views: bool = False,
    seed: int = 0,
) -> Report:
    """Runs `candidate` beside `reference` on shapes, dtypes, layouts and values that wrong kernels fail.

    Both take tensors and return a tensor or a tuple of them. Tried are sizes up to three blocks and one of 40, in 1-D
    to 3-D, float32, float16, bfloat16, views that are not contiguous, special values, and other orders of programs.
    Pass `shapes` where a launcher takes others (a table, a row), `dtypes` where it takes others (integers, float64) or
    must take each. `inputs` is how many tensors of one shape, or, where shapes differ, a function
    `(shape, dtype, device) -> tuple`; it is called with a CPU device and a fixed seed, and needs `shapes`. Each of its
    tensors arrives as it lies in memory when it is returned, and in other layouts. `block_size` is the number of
    elements of one program (a tuple for several dimensions): a report computes program and lane from it. Pass `kernel`,
    the `@triton.jit` function that is launched, to hear whether it was, whether it compiles (for an sm_90 card where
    there is none), and what is masked; then what is returned must be memory that a kernel was given, not PyTorch's
    answer. `seed` picks the random numbers.

    The first shape is tried first, and whatever fails there ends the check. A candidate may reject a layout with an
    error that says "contiguous", or copy it, unless it `must_take_views`; and reject a dtype with a TypeError or
    ValueError that names it, unless `dtypes` lists it. One that raises NotImplementedError is "not attempted". The
    tolerance is explained in `helpers/checker/tolerance.py`.

    Raises ValueError for an argument that makes no sense, and for a reference that raises; never because the candidate
    is wrong. On a GPU an illegal access ends the process's use of the GPU: the report then says so.
    """
    _validate(candidate, reference, inputs, dtypes, block_size, kernel, must_take_views, seed)
    trial = Trial(
        candidate,
        reference,
        inputs,
        _valid_shapes(shapes, inputs, block_size),
        tuple(dtypes or default_dtypes(DEVICE)),
        block_size,
        None if kernel is None else jitted(kernel),
        must_take_views,
        seed,
        shapes_given=shapes is not None,
        dtypes_given=dtypes is not None,
    )
    named = getattr(candidate, "__name__", "")
    return _examined(trial, named if named.isidentifier() else "candidate")


def _examined(trial: Trial, named: str) -> Report:
    """The report: every section that the ones before it allow, then what all calls did to memory, then the kernel."""
    done = []
    with one_thread(trial.guarded), compiled_for_every_case(), nan_as_on_a_gpu(), trial.launches:
        for section in IN_TURN:
            done.append(section(trial))
            if done[-1].ends:
                break
    if trial.outcomes and trial.outcomes[0].status == "absent":
        return Report(named, "not attempted", problems=_stub_above_code(trial))
    order = [*ROWS, *(["kernel"] if trial.kernel is not None else [])]
    if trial.outcomes and not any(outcome.status == "dead" for outcome in trial.outcomes):
        done.append(memory.written(trial))
        done += [sections.kernel(trial)] if trial.kernel is not None else []
    rows = {}
    for section in done:
        if section.row and getattr(rows.get(section.row.name), "verdict", "") != "failed":
            rows[section.row.name] = section.row
    problems = sorted((p for s in done for p in s.problems), key=lambda problem: order.index(problem.row))
    unchecked = "".join(section.unchecked for section in done) + _unseen(trial)
    return Report(
        named,
        "failed" if problems else "passed",
        tuple(rows.get(row, Row(row, "not run")) for row in order),
        tuple(problems),
        f"Not checked {BLIND}, more than 2³¹ elements{unchecked}.",
    )


def _stub_above_code(trial: Trial) -> tuple[Problem, ...]:
    name = stub_above_code([trial.candidate, *trial.launches.kernels])
    said = f"`raise NotImplementedError` still stands above the code of {name}: delete that line."
    return (Problem("result", said),) if name else ()


def _unseen(trial: Trial) -> str:
    """What the kernels hold that this machine does not show: loads without a mask; nan where a place is picked."""
    written = trial.authored()
    if INTERPRETED:
        return "".join(f", nan in {line} (a GPU may drop it)" for line in written.picks_places[:1])
    return "".join(f", {load} (a load without a mask)" for load in written.unmasked("load")[:2])


def _valid_shapes(shapes: Sequence | None, inputs, block_size) -> list[tuple[int, ...]]:
    """The shapes to try, each a tuple. Raises ValueError if they are missing or not shapes."""
    if shapes is None:
        if callable(inputs):
            raise ValueError("inputs is a function, so give the shapes it understands: shapes=[(4, 100), …]")
        return default_shapes(block_size if isinstance(block_size, int) else BLOCK)
    made = [(shape,) if isinstance(shape, int) else shape for shape in shapes]
    good = [isinstance(s, tuple | list) and all(isinstance(n, int) and n >= 0 for n in s) for s in made]
    if not made or not all(good):
        raise ValueError(f"shapes is {shapes!r}; give tuples of sizes from 0 on: shapes=[(1000,), (17, 61)]")
    return [tuple(shape) for shape in made]


def _validate(candidate, reference, inputs, dtypes, block_size, kernel, must_take_views, seed) -> None:
    """Raises ValueError that names the first argument of `check` that makes no sense, and what to give instead."""
    for what, value in (("candidate", candidate), ("reference", reference)):
        if is_kernel(value):
            raise ValueError(f"{what} is a kernel; give its launcher, a function from tensors to a tensor")
        if not callable(value):
            raise ValueError(f"{what} must be a function from tensors to a tensor, not {type(value).__name__}")
    if not callable(inputs) and (not isinstance(inputs, int) or isinstance(inputs, bool) or inputs < 1):
        raise ValueError(f"inputs is {inputs!r}; give the number of tensors, or a function (shape, dtype, device)")
    if dtypes is not None and (not dtypes or not all(isinstance(d, torch.dtype) and not d.is_complex for d in dtypes)):
        raise ValueError(f"dtypes is {dtypes!r}; give real torch dtypes: dtypes=[torch.float32, torch.float16]")
    if torch.bfloat16 in (dtypes or ()) and torch.bfloat16 not in default_dtypes(DEVICE):
        raise ValueError("dtypes has torch.bfloat16, which this GPU does not compute; leave it out")
    sizes = block_size if isinstance(block_size, tuple) else (block_size,)
    if block_size is not None and not all(isinstance(b, int) and b > 0 for b in sizes):
        raise ValueError(f"block_size is {block_size!r}; give the elements of one program, such as 256 or (16, 64)")
    if kernel is not None and not is_kernel(kernel):
        raise ValueError(f"kernel must be a @triton.jit function, not {type(kernel).__name__}")
    if not isinstance(must_take_views, bool):
        raise ValueError(f"must_take_views is {must_take_views!r}; give True or False")
    if not isinstance(seed, int):
        raise ValueError(f"seed is {seed!r}; give a whole number")
