"""Where kernels run is decided once, before triton is imported. Each case is a process of its own."""

from helpers import device
from helpers.tests.children import run

import pytest
import torch

ASK = """
import os, helpers, helpers.device
print(helpers.DEVICE, helpers.INTERPRETED, os.environ.get("TRITON_INTERPRET"), helpers.device.ASKED)
"""
NOTHING_ASKED = "cpu True 1 None"
STAND_IN = """
import sys, torch
torch.accelerator.is_available = lambda: True
torch.accelerator.current_accelerator = lambda *_, **__: torch.device("{kind}")
torch.accelerator.current_device_index = lambda: 1
sys.orig_argv = ["python", "-m", "helpers"]  # so that helpers only decides: the device is not there
from helpers.device import DEVICE, INTERPRETED
print(DEVICE, INTERPRETED)
"""


@pytest.mark.parametrize(
    ("before", "asked", "printed"),
    [
        ("", {}, NOTHING_ASKED),
        ("", {"TRITON_INTERPRET": "on"}, "cpu True 1 on"),  # honoured, and remembered
        ("import torch", {}, NOTHING_ASKED),
        ("import triton", {"TRITON_INTERPRET": "1"}, "cpu True 1 1"),
    ],
)
def test_without_a_gpu_kernels_are_interpreted(before, asked, printed):
    assert run(f"{before}\n{ASK}", **asked) == (printed, "")


@pytest.mark.parametrize(
    ("kind", "asked", "printed"),
    [
        ("cuda", {}, "cuda:1 False"),
        ("xpu", {}, "xpu:1 False"),
        ("mps", {}, "cpu True"),  # triton does not know it
        ("cuda", {"TRITON_INTERPRET": "1"}, "cpu True"),
    ],
)
def test_an_accelerator_that_triton_knows_is_used_unless_the_interpreter_is_asked_for(kind, asked, printed):
    assert run(STAND_IN.format(kind=kind), **asked) == (printed, "")


REQUIRED = {"COURSE_REQUIRE_GPU": "1"}
FIRST = "triton was imported before helpers"


@pytest.mark.parametrize(
    ("code", "asked", "begins", "ends"),
    [
        (
            ASK,
            {"TRITON_INTERPRET": "0"},
            "TRITON_INTERPRET is set to 0, but torch sees no GPU. Unset it, then",
            "kernel.",
        ),
        (ASK, {"TRITON_INTERPRET": "maybe"}, "TRITON_INTERPRET is 'maybe': set it to 1 or 0, or unset it", ""),
        ("import triton\n" + ASK, {}, FIRST, "imports helpers first (a start-up file may import triton, too)."),
        (ASK, REQUIRED, "COURSE_REQUIRE_GPU=1", "torch sees no GPU."),
        (
            STAND_IN.format(kind="cuda"),
            {**REQUIRED, "TRITON_INTERPRET": "1"},
            "COURSE_REQUIRE_GPU=1",
            "TRITON_INTERPRET is set.",
        ),
    ],
)
def test_what_cannot_be_had_is_refused(code, asked, begins, ends):
    printed, error = run(code, **asked)
    assert printed == "" and error.startswith(f"RuntimeError: {begins}") and error.endswith(ends)


def test_the_index_of_the_current_gpu_is_kept(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "current_device_index", lambda: 3)
    assert device.gpu() == torch.device("cuda", 3)


def test_a_process_takes_no_more_of_a_card_than_its_share():
    """torch, without a card, is asked for the limit; that a card holds it, only a GPU shows."""
    asks = STAND_IN.replace("from helpers", "torch.cuda.set_per_process_memory_fraction = print\nfrom helpers", 1)
    assert run(asks.format(kind="cuda"), COURSE_GPU_FRACTION="0.03") == ("0.03 cuda:1\ncuda:1 False", "")
    assert run(asks.format(kind="xpu"), COURSE_GPU_FRACTION="0.03") == ("xpu:1 False", "")
