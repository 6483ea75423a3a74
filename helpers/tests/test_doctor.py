"""The doctor names what is wrong, in one line each, and says by its exit status whether the course can run."""

from helpers import machine, probe
from helpers.course import ROOT
from helpers.machine import advice, as_text, pair_is_known
from helpers.tests.children import python

import json
import os

import pytest

GOOD = {
    "system": "Linux", "python": "3.12.9", "torch": "2.13.0+cu130", "triton": "3.7.1", "numpy": "2.4.6",
    "compiler": "c++", "requested": None, "driver": "580.65.06", "driver_cuda": "13.0", "cuda": "13.0",
    "gpu": "NVIDIA H200", "capability": (9, 0), "memory": 140 * 2**30, "shared_memory": 227 * 1024, "bf16": True,
    "runs": True, "problem": None, "interpreted": False,
}  # fmt: skip
NO_GPU = {"gpu": None, "capability": None, "interpreted": True}
WRONG = {
    "macOS": ({**NO_GPU, "system": "Darwin", "triton": None, "driver": None}, "no triton wheel for macOS"),
    "no triton": ({**NO_GPU, "triton": None, "driver": None}, "triton is not installed"),
    "no torch": ({**NO_GPU, "torch": None, "driver": None}, "torch is not installed"),
    "torch without CUDA": ({**NO_GPU, "torch": "2.13.0+cpu", "cuda": None}, "was built without CUDA"),
    "old driver": ({**NO_GPU, "driver": "535.9", "driver_cuda": "12.2"}, "The NVIDIA driver 535.9 is too old"),
    "hidden GPU": (NO_GPU, "look at CUDA_VISIBLE_DEVICES"),
    "forced": ({"requested": "1", "interpreted": True}, "TRITON_INTERPRET=1 forces the interpreter"),
    "older card": ({"gpu": "A100", "capability": (8, 0)}, "A100 is older than the card the course was tried on"),
    "no bf16": ({"gpu": "T4", "capability": (7, 5), "bf16": False}, "its bf16 is emulated"),
    "too old a card": ({"gpu": "GTX 1080", "capability": (6, 1)}, "older than what Triton supports"),
    "unknown pair": ({"torch": "2.13.0+cu130", "triton": "3.5.0"}, "is not a pair we know to work"),
    "numpy too new": ({**NO_GPU, "torch": "2.11.0", "triton": "3.6.0", "driver": None}, 'pip install "numpy<2.4"'),
    "no compiler": ({"compiler": None}, "No C++ compiler found"),
    "old Python": ({"python": "3.10.12"}, "Python 3.10.12 is too old"),
}


class Kernel:
    """Stands in for the probe's kernel: a launch calls the function with the output tensor."""

    def __init__(self, launch):
        self.launch = launch

    def __getitem__(self, grid):
        return lambda x, out, *_, **__: self.launch(out)


def test_a_good_machine_needs_no_advice_and_numpy_matters_only_to_the_interpreter_of_an_old_triton():
    old = {**GOOD, "torch": "2.11.0", "triton": "3.6.0"}
    assert advice(GOOD) == advice({**GOOD, **NO_GPU, "driver": None}) == advice(old) == []
    assert advice({**old, **NO_GPU, "driver": None, "numpy": "2.3.5"}) == []


@pytest.mark.parametrize("case", WRONG)
def test_each_wrong_thing_is_named_in_one_line(case):
    changes, expected = WRONG[case]
    lines = advice({**GOOD, **changes})
    assert len(lines) == 1 and expected in lines[0] and "\n" not in lines[0]
    assert f"advice         {lines[0]}" in as_text({**GOOD, **changes}, lines)


@pytest.mark.parametrize(("torch", "triton"), [("2.13.0+cpu", "3.7.1"), ("2.15.0", "3.9.0"), ("2.11.0+cu130", "3.6.0")])
def test_pairs_that_are_released_together_are_known(torch, triton):
    assert pair_is_known(torch, triton) and not pair_is_known(torch, "3.5.0")


def test_what_is_said_of_a_machine_without_a_gpu():
    assert as_text({**GOOD, **NO_GPU, "driver": None, "memory": None, "shared_memory": None, "bf16": None}, []) == (
        "Python         3.12.9\ntorch          2.13.0+cu130\ntriton         3.7.1 (a known pair with this torch)\n"
        "numpy          2.4.6\nC++ compiler   c++\nGPU            none that torch sees\n"
        f"mode           Triton's interpreter, on the CPU (no GPU)\nskipped        {machine.SKIPPED}"
    )


def test_what_was_found_as_json():
    done = python("-m", "helpers", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and (found["gpu"], found["interpreted"], found["runs"]) == (None, True, True)


def test_the_report_of_a_gpu_holds_its_facts():
    assert "bf16" not in advice({**GOOD, "capability": (8, 0)})[0], "an older card that has it"
    text = as_text(GOOD, [])
    for fact in ("NVIDIA H200", "9.0", "140 GiB", "227 KiB per block", "580.65.06", "a known pair", "run on the GPU"):
        assert fact in text


def test_the_course_can_run_here():
    done = python("-m", "helpers")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Triton's interpreter, on the CPU (no GPU)" in done.stdout


def test_a_broken_triton_is_reported_and_fails(tmp_path):
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text('raise ImportError("libtriton.so: undefined symbol")')
    done = python("-m", "helpers", PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert done.returncode == 1
    assert "the course cannot run here" in done.stdout
    assert "ImportError: libtriton.so: undefined symbol" in done.stdout


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        (lambda out: out.zero_(), r"stored \[0\.0, .* instead of 1 to 7\. Run `python -m helpers`"),
        (lambda out: out.copy_(probe.torch.arange(1.0, 9.0)), r"8\.0\] instead of 1 to 7"),  # past the mask
    ],
)
def test_wrong_bytes_and_a_store_past_the_mask_are_named(monkeypatch, launch, said):
    monkeypatch.setattr(probe, "copy_kernel", Kernel(launch))
    with pytest.raises(RuntimeError, match=said):
        probe.prove_load_and_store()


def test_a_kernel_that_cannot_run_is_named(monkeypatch):
    monkeypatch.setattr(probe, "copy_kernel", Kernel(lambda out: out.no_such_method()))
    with pytest.raises(RuntimeError, match="could not run a tiny kernel") as error:
        probe.prove_load_and_store()
    assert isinstance(error.value.__cause__, AttributeError)
