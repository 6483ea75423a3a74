"""`compare`: cases, rates, records and bad arguments. The clocks are stand-ins; on a GPU they are the real ones."""

from helpers.device import DEVICE, INTERPRETED
from helpers.kernels.fused_swiglu import swiglu, swiglu_kernel
from helpers.measure import comparison, records
from helpers.measure.comparison import compare
from helpers.measure.recording import CHANGED

import math

import pytest
import torch
import torch.nn.functional as F

pytest_plugins = ["helpers.tests.fake_clocks"]

BF16, FP32 = torch.bfloat16, torch.float32
GPU = pytest.mark.skipif(INTERPRETED, reason="needs a GPU")
CASES = [((4, 8), FP32), ((2, 8), BF16)]


def reference(gate, up):
    return F.silu(gate) * up


def run(implementations, cases=CASES[:1], *args, name="swiglu", **options):
    return compare(implementations, cases, *args, name=name, **options)


def test_a_case_that_does_not_fit_is_said_and_the_others_are_timed(clocks, capsys):
    def inputs(shape, dtype, device):
        if shape[0] > 4:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB. GPU 0 has ...")
        return torch.ones(shape, dtype=dtype), torch.ones(shape, dtype=dtype)

    def hungry(gate, up):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    both = clocks.named(eager=reference, fused=reference)
    table = run(both, [((5, 8), FP32), ((4, 8), FP32)], inputs, graph=True)
    assert table["impl"].tolist() == ["eager", "fused"] * 2 and clocks.drawn[0] == "show_clocks"
    assert table["device_us"].notna().tolist() == [False, False, True, True] and clocks.drawn[1] is table
    assert table.select_dtypes("number")[:2].isna().all(axis=None)
    said = "(5, 8) float32, eager, fused: not timed: the case does not fit into this card's free memory\n"
    assert capsys.readouterr().out.endswith(said)
    assert run({"eager": reference, "hungry": hungry})["note"].str.contains("does not fit").all()


def test_how_far_it_is_is_gone_at_the_end(clocks, capsys):
    run({"eager": reference}, [(*CASES[0], "a" * 99), CASES[1]])
    steps = capsys.readouterr().out.split("\r")
    assert steps[1] == f"1 of 2: {'a' * 60}" and steps[2].rstrip() == "2 of 2: (2, 8)" and steps[0] == ""
    assert steps[3].isspace() and len(steps[3]) > len(steps[1]) and steps[4].startswith("Measured here: ")


def product_inputs(shape, dtype, device):
    m, k, n = shape
    return torch.randn(m, k, dtype=dtype, device=device), torch.randn(k, n, dtype=dtype, device=device)


def test_operations_or_bytes_of_the_authors(clocks):
    cases, eager = [((4, 8, 3), BF16, "M 4 · K 8 · N 3")], clocks.named(eager=torch.matmul)
    (row,) = run(eager, cases, product_inputs, flops=lambda shape: 2 * math.prod(shape)).to_dict("records")
    assert row["TFLOP/s"] == pytest.approx(2 * 4 * 8 * 3 / 40e-6 / 1e12, rel=1e-9)
    assert row["shape"] == "M 4 · K 8 · N 3" and not {"GB/s", "of_copy"} & set(row)
    (row,) = run(eager, cases, product_inputs).to_dict("records")
    assert row["GB/s"] == pytest.approx((32 + 24 + 12) * 2 / 40e-6 / 1e9) and "TFLOP/s" not in row
    (row,) = run(eager, cases, product_inputs, n_bytes=lambda shape, dtype: shape[0] * dtype.itemsize).to_dict(
        "records"
    )
    assert row["GB/s"] == pytest.approx(8 / 40e-6 / 1e9) and row["of_copy"] == pytest.approx(row["GB/s"] / 8)
    assert clocks.drawn[0] == "show_rates"


def test_recording_writes_the_sweep_and_returns_the_cases(clocks, monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_RECORD", str(tmp_path / "topic"))
    monkeypatch.setenv("COURSE_SWEEP", "1")
    assert run({"eager": reference}, sweep=CASES)["shape"].tolist() == ["(4, 8)"]
    table, about = records.load("swiglu")
    assert table["shape"].tolist() == ["(4, 8)", "(2, 8)"] and about["card"] == "A Card"
    monkeypatch.setenv("COURSE_SWEEP", "0")
    run({"eager": reference}, sweep=CASES)
    assert records.load("swiglu")[0]["shape"].tolist() == ["(4, 8)"]


def test_two_comparisons_of_one_name_are_refused(clocks, monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_RECORD", str(tmp_path / "topic"))
    for _ in range(2):
        run({"eager": torch.add}, name="add")
    for other in ({"eager": torch.mul}, {"eager": torch.add, "triton": torch.add}):
        with pytest.raises(RuntimeError, match="two measurements of this notebook are called 'add'"):
            run(other, name="add", reference=other["eager"] if len(other) == 1 else torch.sub)
    with pytest.raises(RuntimeError, match="'add'"):
        run({"eager": torch.add}, name="add", reference=lambda x, y: x + y)


def test_without_a_gpu_the_record_is_returned(clocks, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("COURSE_RECORD", str(tmp_path / "topic"))
    measured = run({"eager": reference, "fused": swiglu}, [*CASES, (*CASES[1], "odd")])
    monkeypatch.setattr(comparison, "INTERPRETED", True)
    capsys.readouterr()
    asked = [CASES[1], ((3, 8), BF16), ((7, 7), BF16, "odd"), ((4, 8), BF16)]
    table = run({"eager": reference, "fused": swiglu, "mine": reference}, asked, graph=True)
    assert list(table.columns) == list(measured.columns) and table["shape"].tolist() == ["(2, 8)"] * 2 + ["odd"] * 2
    assert table.index.tolist() == [0, 1, 2, 3] and clocks.drawn[0] == "show_clocks" and clocks.drawn[1] is table
    assert capsys.readouterr().out.splitlines() == [
        "Recorded, not measured here: A Card, driver 1, torch 2, triton 3, 2026-01-01",
        "Never recorded: (3, 8) bfloat16, (4, 8) bfloat16",
        "Never recorded: mine",
    ]
    with pytest.raises(records.NotRecorded, match="none of these cases of 'swiglu'"):
        run({"eager": reference}, [((9, 9), BF16)])


def test_a_changed_kernel_is_told_from_the_recorded_one(clocks, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("COURSE_RECORD", str(tmp_path / "topic"))
    run({"eager": reference, "fused": swiglu})
    monkeypatch.setattr(comparison, "INTERPRETED", True)
    run({"eager": lambda g, u: u * F.silu(g), "fused": swiglu})
    assert CHANGED not in capsys.readouterr().out
    run({"eager": reference, "fused": lambda g, u: swiglu(g, u, BLOCK_SIZE=256)})
    assert CHANGED in capsys.readouterr().out


@pytest.mark.skipif(not INTERPRETED, reason="needs the interpreter")
def test_the_interpreter_is_refused_in_one_sentence():
    with pytest.raises(records.NotRecorded, match="timing it would say nothing about a GPU"):
        compare({"eager": reference}, CASES, name="never-recorded")


@pytest.mark.parametrize(
    "arguments, options, named",
    [
        (({},), {}, "implementations must map"),
        (([reference],), {}, "implementations must map"),
        (({"eager": 3},), {}, "implementations must map"),
        (({"triton": swiglu_kernel},), {}, r"implementations\['triton'\] is a kernel; give its launcher"),
        (({"eager": reference}, []), {}, "cases is empty"),
        (({"eager": reference}, [(4, 8)]), {}, r"cases has \(4, 8\)"),
        (({"eager": reference}, [(4, BF16)]), {}, r"cases has \(4, torch.bfloat16\)"),
        (({"eager": reference}, [((4, 8), BF16, "a", "b")]), {}, "cases has "),
        (({"eager": reference}, [((4, 8), BF16, 3)]), {}, "cases has "),
        (({"eager": reference}, [[(4, 8), BF16]]), {}, "cases has "),
        (({"eager": reference}, CASES), {"sweep": [((4, 8),)]}, "cases has "),
        (({"eager": reference}, [((4, 8), BF16, "a")]), {"sweep": [((4, 9), BF16, "a")]}, "two cases have one label"),
        (({"eager": reference}, CASES, 0), {}, "inputs is 0"),
        (({"eager": reference}, CASES, True), {}, "inputs is True"),
        (({"eager": reference}, CASES, 1.0), {}, "inputs is 1.0"),
        (({"eager": reference},), {"passes": "back"}, "passes is 'back'; give one of forward, backward, both"),
        (({"eager": reference},), {"passes": "backward", "graph": True}, "a CUDA graph cannot hold"),
        (({"eager": reference},), {"flops": len, "n_bytes": len}, "not both"),
    ],
)
def test_a_bad_argument_is_named(clocks, arguments, options, named):
    with pytest.raises(ValueError, match=named):
        run(*arguments, **options)


@GPU
@pytest.mark.parametrize("passes", ["forward", "both"])
def test_on_a_gpu_every_column_is_a_measurement(monkeypatch, passes):
    monkeypatch.setattr(comparison, "show_clocks", lambda table: None)
    wrong = lambda gate, up: reference(gate, up) + 1  # noqa: E731
    functions = {"eager": reference, "compiled": torch.compile(reference), "wrong": wrong}
    functions |= {"fused": swiglu} if passes == "forward" else {}
    table = run(functions, [((4096, 4096), BF16)], graph=True, passes=passes).set_index("impl")
    right = table.drop(index="wrong")
    assert right[["device_us", "p20_us", "p80_us", "GB/s", "of_copy", "host_us", "graph_us"]].gt(0).all(axis=None)
    assert (right["p20_us"] <= right["device_us"]).all() and (right["device_us"] <= right["p80_us"]).all()
    assert math.isnan(table.loc["wrong", "device_us"])


@GPU
def test_on_a_gpu_a_backward_pass_takes_less_than_with_its_forward_pass(monkeypatch):
    monkeypatch.setattr(comparison, "show_rates", lambda table: None)
    both, alone = (run({"eager": reference}, [((8192, 8192), BF16)], passes=passes) for passes in ("both", "backward"))
    assert 0 < alone["device_us"][0] < both["device_us"][0]


@GPU
def test_what_no_card_can_hold_is_said_and_the_next_case_timed(capsys):
    table = run({"eager": torch.add}, [((2**21, 2**20), BF16), ((4096, 4096), BF16)])
    assert table["device_us"].notna().tolist() == [False, True] and table["of_copy"].isna().tolist() == [True, False]
    assert "(2097152, 1048576) bfloat16, eager: not timed: the case does not fit" in capsys.readouterr().out
    assert torch.cuda.memory_allocated(DEVICE) < 2**40
