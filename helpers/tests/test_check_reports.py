"""What `helpers.check` says, word for word, of a fault of each kind."""

from helpers.checker import check
from helpers.checker.report import Report
from helpers.device import INTERPRETED
from helpers.kernels.softmax import softmax_long, softmax_long_kernel
from helpers.tests.zoo import kinds as z

import inspect

import pytest
import torch


def test_report_of_a_grid_rounded_down():
    def add(x, y):
        return z.add(grid=z.rounding_down)(x, y)

    assert check(add, torch.add, block_size=256).text.splitlines() == [
        "add: failed",
        "  result   passed   n=768, float32",
        "  calls    passed",
        "  order    passed",
        "  shapes   failed   3 right, 11 wrong",
        "  dtypes   passed   4 right",
        "  layouts  passed   17 right",
        "  values   passed   6 right",
        "  memory   passed",
        "n=257, float32: first wrong element 256 (program 1, lane 0 at BLOCK_SIZE=256): got nan (never written), "
        "expected -27.3; 1 of 257 wrong: every element from 256 on. Also: n=255; n=17; n=16 and 7 more. Likely cause: "
        "grid rounded down: the last, partial block is left out; divide with triton.cdiv, which rounds up.",
    ]


def test_report_of_a_missing_store_mask():
    def add(x, y):
        return z.add("store without mask")(x, y)

    source = inspect.getsource(z.add_kernel.fn)
    lines = [line.strip() for line in source[source.index("def ") :].splitlines()]
    line = 1 + lines.index("tl.store(out_ptr + offsets, x + y)")
    assert check(add, torch.add, block_size=256).text.splitlines() == [
        "add: failed",
        "  result   passed   n=768, float32",
        "  calls    passed",
        "  order    passed",
        "  shapes   passed   14 right",
        "  dtypes   passed   4 right",
        "  layouts  passed   27 right",
        "  values   passed   6 right",
        "  memory   failed",
        "n=257, float32: stored outside an output of 257 elements: elements 257 to 511. Also: n=255; n=17; n=16 and 36 "
        f"more. Likely cause: mask missing on the store: lanes past the end store, too (line {line} of add_kernel, "
        "`tl.store(out_ptr + offsets, x + y)`); pass mask=mask to tl.store.",
    ]


def test_report_of_a_launcher_that_rejects_views_and_of_strides_ignored():
    """Where rejecting is forbidden it is not advised."""
    strict = check(z.strict, torch.add, block_size=256)
    assert "\n  layouts  passed   3 right, 24 rejected (ValueError: add: x and y must be contiguous" in strict.text
    assert check(z.trusting, torch.add, block_size=256).problems[0].sentence == (
        "n=513, float32, every second element: first wrong element 1 (program 0, lane 1 at BLOCK_SIZE=256): got nan, "
        "expected 15.8; 512 of 513 wrong: every element from 1 on. Also: n=513, expanded; n=513, every second element "
        "(input 0 only); n=513, expanded (input 0 only) and 20 more. Likely cause: strides ignored: the result is "
        "right for inputs read as flat arrays; use the strides, or reject tensors that are not contiguous."
    )
    report = check(z.trusting, torch.add, block_size=256, must_take_views=True)
    assert "read as flat arrays; use the strides." in report.text and "reject" not in report.text


def test_a_table_is_spoken_of_in_rows_and_columns():
    def forget_a_corner(x):
        out = x.clone()
        out[3:, 5:] = 0.0
        return out

    text = check(forget_a_corner, torch.clone, 1, shapes=[(6, 8)]).text
    assert "first wrong element (3, 5)" in text and "between (3, 5) and (5, 7)" in text


def test_a_rejection_that_does_not_say_so_is_a_failure_that_says_what_to_write():
    def picky(x, y):
        if not (x.is_contiguous() and y.is_contiguous()):
            raise ValueError("picky: needs packed tensors")
        return z.strict(x, y)

    report = check(picky, torch.add, block_size=256)
    assert not report.passed
    assert 'needs packed tensors; a launcher may reject a layout, if its error says "contiguous"' in report.text


def test_not_attempted_is_neither_passed_nor_failed():
    report = check(z.stub, torch.add)
    assert (report.status, report.passed, str(report)) == ("not attempted", False, "stub: not attempted yet")


def test_what_this_machine_cannot_see_stands_in_one_last_line():
    report = check(lambda x, y: x + y, torch.add)
    assert str(report) == f"{report.text}\n{report.unchecked}" == repr(report)
    assert report.unchecked.startswith("Not checked " + ("in the interpreter" if INTERPRETED else "on this GPU"))
    assert ("TF32" in report.unchecked) is ("load without other leaves" in report.unchecked) is INTERPRETED
    assert ("races that 20 runs do not show" in report.unchecked) is not INTERPRETED
    assert isinstance(report, Report) and "\n" not in report.unchecked


@pytest.mark.skipif(INTERPRETED, reason="interpreted, the read is seen")
def test_on_a_gpu_a_load_without_a_mask_is_named_among_what_was_not_checked():
    report = check(z.add("load without mask"), torch.add, block_size=256)
    assert report.passed and "`y = tl.load(y_ptr + offsets).to(tl.float32)` (a load without a mask)" in report.unchecked


def test_a_masked_and_an_unmasked_load_are_counted_where_they_were_written():
    def add(x, y):
        return z.add("load without mask")(x, y)

    report = check(add, torch.add, kernel=z.add_kernel)
    assert "kernel   passed   1 of 2 loads and 1 of 1 stores masked" in report.text


def test_loads_in_a_device_function_are_counted_with_those_of_its_kernel():
    report = check(softmax_long, lambda x: torch.softmax(x, -1), 1, kernel=softmax_long_kernel, shapes=[(2, 40)])
    assert "kernel   passed   2 of 2 loads and 1 of 1 stores masked" in report.text
