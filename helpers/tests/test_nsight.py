"""Nsight Compute's answer is read as it writes it; without it the reason is named."""

from helpers.measure import nsight
from helpers.measure.recording import Unavailable

import re
import subprocess

import pytest

OUTPUT = """==PROF== Connected to process 7
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","swiglu_kernel","gpu__time_duration.sum","ns","280,096"
"0","swiglu_kernel","launch__registers_per_thread","register/thread","16"
"1","swiglu_kernel","gpu__time_duration.sum","ns","159,232"
"1","swiglu_kernel","launch__registers_per_thread","register/thread","32"
"""
MEMORY, CODE = "torch.OutOfMemoryError: CUDA out of memory.", "==ERROR== The application returned an error code (1)."
METRICS = {"gpu__time_duration.sum": "ns", "launch__registers_per_thread": "registers"}


@pytest.fixture
def ncu(monkeypatch):
    """Stands in for ncu: `said` is what it prints."""
    said = []
    monkeypatch.setattr(nsight.shutil, "which", lambda name: name)
    done = lambda *args, **options: subprocess.CompletedProcess(args, 0, said[0], "")  # noqa: E731
    monkeypatch.setattr(nsight.subprocess, "run", done)
    return said


def test_one_dictionary_for_each_launch(ncu):
    ncu.append(OUTPUT)
    found = nsight.counters("", "swiglu_kernel", METRICS)
    assert found == [{"ns": 280096.0, "registers": 16.0}, {"ns": 159232.0, "registers": 32.0}]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "ERR_NVGPUCTRPERM"),
        (
            f"Traceback (most recent call last):\n{MEMORY} Tried to allocate 448.00 MiB. GPU 0 has\n{CODE}",
            f"ncu read no counters: {MEMORY}",
        ),
    ],
)
def test_why_there_are_no_counters_is_named(ncu, said, reason):
    ncu.append(said)
    with pytest.raises(Unavailable, match=re.escape(reason)):
        nsight.counters("", "swiglu_kernel", METRICS)


def test_without_ncu_it_is_unavailable(monkeypatch):
    monkeypatch.setattr(nsight.shutil, "which", lambda name: None)
    with pytest.raises(Unavailable, match="not installed"):
        nsight.counters("", "swiglu_kernel", METRICS)
