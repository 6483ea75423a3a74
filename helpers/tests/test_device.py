"""Where kernels run is decided once, before triton is imported. Each case is a process of its own."""

from helpers import device
from helpers.tests.children import run

import pytest
import torch

ASK = """
import os, helpers, helpers.device
print(helpers.DEVICE, helpers.INTERPRETED, os.environ.get("TRITON_INTERPRET"), helpers.device.ASKED)
"""
NOTHING_ASKED = ("cpu True 1 None", "")
STAND_IN = """
import sys, torch
torch.accelerator.is_available = lambda: True
torch.accelerator.current_accelerator = lambda *_, **__: torch.device("{kind}")
torch.accelerator.current_device_index = lambda: 1
sys.orig_argv = ["python", "-m", "helpers"]  # so that helpers only decides: the device is not there
from helpers.device import DEVICE, INTERPRETED
print(DEVICE, INTERPRETED)
"""


def test_without_a_gpu_kernels_are_interpreted():
    assert run(ASK) == NOTHING_ASKED


def test_a_request_for_the_interpreter_is_honoured_and_remembered():
    assert run(ASK, TRITON_INTERPRET="on") == ("cpu True 1 on", "")


@pytest.mark.parametrize("kind", ["cuda", "xpu"])
def test_an_accelerator_that_triton_knows_is_used(kind):
    assert run(STAND_IN.format(kind=kind)) == (f"{kind}:1 False", "")


def test_an_accelerator_that_triton_does_not_know_is_not_used():
    assert run(STAND_IN.format(kind="mps")) == ("cpu True", "")


def test_a_request_for_the_interpreter_wins_over_a_gpu():
    assert run(STAND_IN.format(kind="cuda"), TRITON_INTERPRET="1") == ("cpu True", "")


def test_compiling_without_a_gpu_is_refused():
    printed, error = run(ASK, TRITON_INTERPRET="0")
    assert printed == ""
    assert (
        error == "RuntimeError: TRITON_INTERPRET is set to 0, but torch sees no GPU. Unset it, then restart the kernel."
    )


def test_a_request_that_is_neither_yes_nor_no_is_named():
    _, error = run(ASK, TRITON_INTERPRET="maybe")
    assert error.startswith("RuntimeError: TRITON_INTERPRET is 'maybe': set it to 1 or 0, or unset it")


def test_triton_imported_first_is_refused():
    printed, error = run("import triton\n" + ASK)
    assert printed == ""
    assert error.startswith("RuntimeError: triton was imported before helpers")
    assert error.endswith("imports helpers first (a start-up file may import triton, too).")


def test_triton_imported_first_in_the_same_mode_is_fine():
    assert run("import triton\n" + ASK, TRITON_INTERPRET="1") == ("cpu True 1 1", "")


def test_torch_imported_first_is_fine():
    assert run("import torch\n" + ASK) == NOTHING_ASKED


def test_a_run_that_requires_a_gpu_refuses_the_interpreter():
    printed, error = run(ASK, COURSE_REQUIRE_GPU="1")
    assert printed == ""
    assert error.startswith("RuntimeError: COURSE_REQUIRE_GPU=1") and error.endswith("torch sees no GPU.")


def test_a_run_that_requires_a_gpu_refuses_a_forced_interpreter():
    _, error = run(STAND_IN.format(kind="cuda"), COURSE_REQUIRE_GPU="1", TRITON_INTERPRET="1")
    assert error.startswith("RuntimeError: COURSE_REQUIRE_GPU=1") and error.endswith("TRITON_INTERPRET is set.")


def test_the_index_of_the_current_gpu_is_kept(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "current_device_index", lambda: 3)
    assert device.gpu() == torch.device("cuda", 3)
