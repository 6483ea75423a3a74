"""`helpers.check` judged by the zoo, by random shapes and strides, and by what its reports say.

`CHECKER_EXAMPLES=2000` sets the number of random layouts; `CHECKER_SLOW=1` also runs what takes a minute.
"""

from helpers.checker import check, fence, guards, launches
from helpers.checker.cases import Case, default_shapes
from helpers.checker.report import Report
from helpers.checker.settings import is_compiled
from helpers.checker.trial import Trial
from helpers.device import INTERPRETED
from helpers.tests import zoo
from helpers.tests import zoo_kernels as kernels

import ctypes
import math
import os
import subprocess
import sys

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("CHECKER_EXAMPLES", "25"))
WRONG = [e for e in zoo.WRONG if INTERPRETED or not e.fatal]
IN_ANOTHER_PROCESS = [e for e in zoo.WRONG if e.fatal and not INTERPRETED]


def skip_unless_here(entry: zoo.Entry) -> None:
    if not entry.applies():
        pytest.skip(f"its fault shows only: {entry.only}")
    if entry.slow and os.environ.get("CHECKER_SLOW") != "1":
        pytest.skip("slow; CHECKER_SLOW=1 runs it")


def test_the_zoo_is_large_enough():
    assert len(zoo.WRONG) >= 30 and len(zoo.RIGHT) >= 12
    names = [e.name for e in [*zoo.WRONG, *zoo.RIGHT]]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("entry", WRONG, ids=lambda e: e.name)
def test_wrong_kernels_are_seen_through(entry: zoo.Entry):
    skip_unless_here(entry)
    report = entry.check()
    assert report.status == entry.verdict(), str(report)
    if entry.row:
        assert report.problems[0].row == entry.row, str(report)
    causes = {problem.cause for problem in report.problems} - {None}
    assert causes == ({entry.cause} if entry.cause else set()), str(report)
    assert entry.says in report.text, str(report)


@pytest.mark.parametrize("entry", zoo.RIGHT, ids=lambda e: e.name)
def test_right_kernels_pass(entry: zoo.Entry):
    skip_unless_here(entry)
    report = entry.check()
    assert report.passed and not report.problems, str(report)


@pytest.mark.skipif(INTERPRETED, reason="needs a GPU, whose context the kernel ends")
@pytest.mark.parametrize("entry", IN_ANOTHER_PROCESS, ids=lambda e: e.name)
def test_an_illegal_access_is_reported(entry: zoo.Entry):
    command = [sys.executable, "-m", "helpers.tests.zoo", entry.name]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "context is dead: restart the kernel" in done.stdout, done.stdout + done.stderr


def say(*lines: str) -> str:
    return "\n".join(lines)


def test_report_of_a_grid_rounded_down():
    def add(x, y):
        return zoo.flat(kernels.add_kernel, grid=zoo.rounding_down)(x, y)

    assert check(add, torch.add, block_size=256).text == say(
        "add: failed",
        "  result   passed   n=768, float32",
        "  calls    passed",
        "  shapes   failed   3 right, 11 wrong",
        "  dtypes   passed   4 right",
        "  layouts  passed   7 right",
        "  values   passed   6 right",
        "  memory   passed",
        "n=257, float32: first wrong element 256 (program 1, lane 0 at BLOCK_SIZE=256): got nan (never written), "
        "expected -27.3; 1 of 257 wrong: every element from 256 on. Also: n=255; n=17; n=16 and 7 more. Likely cause: "
        "grid rounded down: the last, partial block is left out; divide with triton.cdiv, which rounds up.",
    )


def test_report_of_a_missing_store_mask():
    def add(x, y):
        return zoo.flat(kernels.add_unmasked_store_kernel)(x, y)

    assert check(add, torch.add, block_size=256).text == say(
        "add: failed",
        "  result   passed   n=768, float32",
        "  calls    passed",
        "  shapes   passed   14 right",
        "  dtypes   passed   4 right",
        "  layouts  passed   12 right",
        "  values   passed   6 right",
        "  memory   failed",
        "n=257, float32: stored outside an output of 257 elements: elements 257 to 511. Also: n=255; n=17; n=16 and 21 "
        "more. Likely cause: mask missing on the store: lanes past the end store too; pass mask=mask to tl.store.",
    )


def test_report_of_a_launcher_that_rejects_views_and_of_strides_ignored():
    assert "  layouts  passed   3 right, 9 rejected (ValueError: add: x and y must be contiguous" in check(
        zoo.strict, torch.add, block_size=256
    ).text.replace("\n", "\n  ")
    assert check(zoo.trusting, torch.add, block_size=256).problems[0].sentence == (
        "n=513, float32, every second element: first wrong element 1 (program 0, lane 1 at BLOCK_SIZE=256): got nan, "
        "expected 15.8; 512 of 513 wrong: every element from 1 on. Also: shape (17, 61), column slice; shape (17, 61), "
        "transposed; shape (17, 61), only input 0 transposed and 5 more. Likely cause: strides ignored: the result is "
        "right for inputs read as flat arrays; use the strides, or reject tensors that are not contiguous."
    )


def test_a_rejection_that_does_not_say_so_is_a_failure_that_says_what_to_write():
    def picky(x, y):
        if not (x.is_contiguous() and y.is_contiguous()):
            raise ValueError("picky: needs packed tensors")
        return zoo.strict(x, y)

    report = check(picky, torch.add, block_size=256)
    assert not report.passed
    assert 'needs packed tensors; a launcher may reject a layout, if its error says "contiguous"' in report.text


def test_not_attempted_is_neither_passed_nor_failed():
    report = check(zoo.stub, torch.add)
    assert (report.status, report.passed, str(report)) == ("not attempted", False, "stub: not attempted yet")


def test_an_explicit_dtype_may_not_be_rejected():
    assert check(zoo.strict, torch.add).passed
    report = check(zoo.strict, torch.add, dtypes=[torch.float32, torch.bfloat16])
    assert not report.passed and "raised TypeError: add: x is torch.bfloat16" in report.text


def test_what_this_machine_cannot_see_stands_in_one_last_line():
    report = check(lambda x, y: x + y, torch.add)
    assert str(report) == f"{report.text}\n{report.unchecked}" == repr(report)
    assert report.unchecked.startswith("Not checked " + ("in the interpreter" if INTERPRETED else "on this GPU"))
    assert ("races" in report.unchecked) is ("load without other leaves" in report.unchecked) is INTERPRETED
    assert isinstance(report, Report) and "\n" not in report.unchecked


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"candidate": None}, "candidate must be a function"),
        ({"candidate": kernels.add_kernel}, "candidate is a kernel; give its launcher"),
        ({"reference": 3}, "reference must be a function"),
        ({"reference": lambda x: x}, "reference(float32[3072], float32[3072]) raised TypeError"),
        ({"reference": lambda x, y: 3}, "reference must return tensors, not int"),
        ({"inputs": 0}, "inputs is 0"),
        ({"inputs": "two"}, "inputs is 'two'"),
        ({"inputs": lambda shape, dtype, device: ()}, "give the shapes it understands"),
        ({"inputs": lambda shape, dtype, device: 3, "shapes": [4]}, "inputs must return a tuple of tensors"),
        ({"inputs": lambda shape: shape, "shapes": [4]}, "raised TypeError"),
        ({"shapes": []}, "shapes is []"),
        ({"shapes": [(-1,)]}, "shapes is [(-1,)]"),
        ({"dtypes": ["float32"]}, "dtypes is ['float32']"),
        ({"block_size": 0}, "block_size is 0"),
        ({"kernel": zoo.stub}, "kernel must be a @triton.jit function"),
        ({"seed": None}, "seed is None"),
    ],
)
def test_bad_arguments_are_named(arguments, says):
    with pytest.raises(ValueError) as caught:
        check(**({"candidate": torch.add, "reference": torch.add} | arguments))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("candidate", "says"),
    [
        (lambda x, y: {"sum": x + y}, "is dict, expected a tensor"),
        (lambda x, y: 3.0, "is float, expected a tensor"),
        (lambda x, y: (x + y, x - y), "returned 2 results, expected 1"),
        (lambda x, y: (x + y).to_sparse(), "is sparse"),
        (lambda x, y: torch.empty_like(x, device="meta"), "is on meta"),
        (lambda x, y: (x + y).to(torch.complex64), "is complex64"),
        (lambda x, y: x.unsqueeze_(0).squeeze(0) + y, "input 0 is not what it was"),
        (lambda x, y: x.add_(y).clone(), "input 0 is not what it was"),
        (lambda x: x, "raised TypeError"),
        (lambda x, y: torch.empty_like(x), "got nan (never written)"),
        (lambda x, y: 1 / 0, "raised ZeroDivisionError: division by zero."),
    ],
)
def test_it_survives_whatever_a_candidate_does(candidate, says):
    report = check(candidate, torch.add)
    assert report.status == "failed" and says in report.text, str(report)


def test_the_first_dtype_may_not_be_rejected():
    def add(x, y):
        if x.dtype == torch.float32:
            raise TypeError("add: x is torch.float32; it must be torch.float16")
        return x + y

    assert "n=3072, float32: raised TypeError: add: x is torch.float32" in check(add, torch.add).text
    assert check(add, torch.add, dtypes=[torch.float16]).passed


def test_inputs_may_hold_more_than_tensors():
    def inputs(shape, dtype, device):
        return 3, torch.randn(shape, device=device).to(dtype), torch.arange(shape[0], device=device)

    def pick(scale, x, rows):
        return scale * x[rows]

    assert check(pick, pick, inputs, shapes=[(4, 16), (3, 5)]).passed
    assert not check(lambda scale, x, rows: scale * x[rows].relu(), pick, inputs, shapes=[(4, 16)]).passed


def test_a_reference_may_work_in_place():
    assert check(lambda x: 2 * x, lambda x: x.mul_(2), 1).passed


def test_it_leaves_torch_as_it_was():
    def state():
        flags = torch.utils.deterministic.fill_uninitialized_memory, torch.get_deterministic_debug_mode()
        return flags, torch.get_num_threads(), torch.initial_seed()

    before = state()
    check(zoo.stub, torch.add)
    check(torch.sub, torch.add)
    assert state() == before


def test_the_same_seed_gives_the_same_report():
    reports = [check(torch.sub, torch.add, seed=seed).text for seed in (1, 1, 2)]
    assert reports[0] == reports[1] != reports[2]


def test_shapes_go_around_the_block():
    shapes = default_shapes(256)
    assert {(n,) for n in (0, 1, 15, 16, 17, 255, 256, 257, 768, 997)} <= set(shapes)
    assert {len(shape) for shape in shapes} == {1, 2, 3}
    assert [max(map(math.prod, default_shapes(block))) for block in (256, 1024, 4096)] == [10243, 40963, 12288]


def test_a_masked_and_an_unmasked_load_are_counted():
    report = check(zoo.flat(kernels.add_unmasked_load_kernel), torch.add, kernel=kernels.add_unmasked_load_kernel)
    assert "1 of 2 loads and 1 of 1 stores masked" in report.text
    assert not kernels.add_unmasked_load_kernel.pre_run_hooks, "the hook is taken off again"


def test_compiled_candidates_are_run_compiled_in_every_case():
    """Holds the two private names: the attribute that marks a compiled function, and the limit on recompiling."""
    traced = set()

    def add(x, y):
        if torch.compiler.is_compiling():
            return x + y + 0 * x.dim()
        traced.add((tuple(x.shape), x.dtype))  # reached in eager mode only
        return x + y

    compiled = torch.compile(add, backend="eager")
    assert is_compiled(compiled) and not is_compiled(add)
    assert check(compiled, torch.add).passed
    assert not traced, "some cases fell back to eager"


@pytest.mark.skipif(not fence.AVAILABLE, reason="needs the interpreter and fork")
def test_the_fence_kills_only_the_child():
    def read(side: str, byte: int):
        x = fence.fenced(torch.ones(10), "contiguous", 0, side)
        return ctypes.string_at(x.data_ptr() + byte, 1)

    past, before = fence.SIDES
    assert fence.first_deadly([lambda: 1 / 0, lambda: read(past, 39), lambda: read(before, 0)]) is None
    assert fence.first_deadly([lambda: None, lambda: read(past, 40), lambda: None]) == 1
    assert fence.first_deadly([lambda: None, lambda: read(before, -1)]) == 1


def test_guards_move_fresh_tensors_and_leave_aliases():
    x = torch.arange(6.0)
    mode = guards.Guards(1000, [])
    with mode:
        view, fresh, empty = x.view(2, 3), torch.zeros(4), torch.empty(0)
        parts = x.clone().chunk(2)
    assert view.data_ptr() == x.data_ptr() and empty.numel() == 0
    assert len(mode.buffers) == 2 and torch.equal(parts[1], torch.arange(3.0, 6.0))
    assert not mode.breaches()
    fresh.as_strided((1,), (1,), fresh.storage_offset() + 5).fill_(1.0)
    assert [(b.first, b.last, b.elements) for b in mode.breaches()] == [(5, 5, 4)]


@given(data=st.data())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=EXAMPLES <= 25)
def test_no_false_alarm_for_any_shape_stride_and_offset(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 24), min_size=2, max_size=2), "shape"))
    dtype = data.draw(st.sampled_from([torch.float32, torch.float16, torch.bfloat16]), "dtype")
    order, steps = data.draw(st.permutations([0, 1])), data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=2))
    strides, reach = [0, 0], 1
    for axis, step in zip(order, steps, strict=True):
        strides[axis] = reach * step
        reach = strides[axis] * shape[axis]
    if data.draw(st.booleans(), "expanded"):
        strides[0] = 0
    trial = Trial(zoo.strided(), torch.add, 2, (16, 64), data.draw(st.integers(0, 2**31)), strict_dtypes=True)
    trial.start(Case(shape, dtype))
    outcome = trial.judge(Case(shape, dtype, layout=(tuple(strides), data.draw(st.integers(0, 20), "offset"))))
    assert outcome.kind == "right" and not outcome.run.breaches and not outcome.run.overwritten, outcome.fact


@given(
    shape=st.lists(st.integers(0, 40), min_size=1, max_size=3).filter(lambda shape: math.prod(shape) <= 600),
    block=st.sampled_from([64, 128, 256]),
    right=st.sampled_from(["add", "swiglu", "both"]),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=EXAMPLES <= 25)
def test_no_false_alarm_in_whole_checks(shape, block, right, seed):
    candidate, reference = {
        "add": (zoo.flat(kernels.add_kernel, block=block), torch.add),
        "swiglu": (
            zoo.flat(kernels.swiglu_kernel, WIDEN=True, TYPE=zoo.tl.float32, block=block),
            zoo.swiglu_reference,
        ),
        "both": (zoo.both(), lambda x, y: (x + y, x - y)),
    }[right]
    report = check(candidate, reference, shapes=[tuple(shape)], block_size=block, seed=seed)
    assert report.passed, str(report)


def test_launches_name_the_kernel_inside_an_autotuner():
    class Tuner:
        fn = kernels.add_kernel

    assert launches.Launches(Tuner()).kernel is kernels.add_kernel
