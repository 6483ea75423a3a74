"""`compare`: nothing wrong, nothing uncompiled and nothing interpreted is ever timed. The clocks are stand-ins here."""

from helpers.device import INTERPRETED
from helpers.kernels.fused_swiglu import swiglu
from helpers.measure import comparison, records
from helpers.measure.comparison import compare

import math

import pandas
import pytest
import torch
import torch.nn.functional as F

BF16 = torch.bfloat16
GPU = pytest.mark.skipif(INTERPRETED, reason="needs a GPU")
ABOUT = {"card": "A Card", "driver": "driver 1", "torch": "torch 2", "triton": "triton 3", "date": "2026-01-01"}


def reference(gate, up):
    return F.silu(gate) * up


def one_wrong(gate, up):
    out = reference(gate, up)
    out.view(-1)[-1] = 100.0
    return out


@pytest.fixture
def clocks(monkeypatch, tmp_path):
    """Makes `compare` measure here, with clocks that note what they time: 10 µs a call, 2 µs of the host."""
    timed = []

    def device_us(call, rep, warmup):
        timed.append(call())
        return 10.0, 9.0, 11.0

    for name, value in {
        "INTERPRETED": False,
        "device_us": device_us,
        "host_us": lambda call, device: 2.0,
        "graph_us": lambda call: 1.0,
        "copy_rate": lambda: 1.0,
        "l2_bytes": lambda: 1000,
        "show_rates": lambda table: None,
        "show_clocks": lambda table: None,
    }.items():
        monkeypatch.setattr(comparison, name, value)
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(records, "DATA", tmp_path)
    monkeypatch.setattr(records, "provenance", lambda: ABOUT)
    return timed


def run(implementations, cases=(((4, 8), torch.float32),), **options):
    table = compare(implementations, list(cases), name="swiglu", **options)
    return table.set_index("impl")


def test_what_a_row_holds(clocks):
    table = run({"eager": reference, "again": reference}, [((8, 1024), BF16)], graph=True)
    row = table.loc["again"]
    assert (row["op"], row["shape"], row["dtype"], row["note"]) == ("swiglu", "(8, 1024)", "bfloat16", "")
    assert (row["device_us"], row["p20_us"], row["p80_us"], row["host_us"], row["graph_us"]) == (10, 9, 11, 2, 1)
    assert row["GB/s"] == pytest.approx(3 * 8 * 1024 * 2 / 10e-6 / 1e9)
    assert row["of_copy"] == row["GB/s"] and row["speedup"] == 1.0


def test_one_disturbed_round_does_not_count(clocks, monkeypatch):
    rounds = iter([10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 500.0])
    monkeypatch.setattr(comparison, "device_us", lambda call, rep, warmup: (next(rounds), 9.0, 11.0))
    assert run({"eager": reference}).loc["eager", "device_us"] == 10.0


def test_a_wrong_implementation_is_reported_and_never_timed(clocks):
    table = run({"eager": reference, "wrong": one_wrong})
    assert table.loc["wrong", "note"] == "not timed: wrong, 1 of 32 elements, the first at (3, 7)"
    assert math.isnan(table.loc["wrong", "device_us"]) and math.isnan(table.loc["wrong", "speedup"])
    assert len(clocks) == comparison.ROUNDS


@pytest.mark.parametrize(
    "bad, why",
    [
        (lambda g, u: reference(g, u)[:2], r"float32\[2, 8\] instead of float32\[4, 8\]"),
        (lambda g, u: reference(g, u).half(), "float16"),
        (lambda g, u: reference(g, u) * float("nan"), "32 of 32 elements"),
        (lambda g, u: reference(g.bfloat16(), u).float(), "wrong"),
        (lambda g, u: 1 / 0, "it raised ZeroDivisionError: division by zero"),
    ],
)
def test_why_an_implementation_is_not_timed(clocks, bad, why):
    table = run({"eager": reference, "bad": bad})
    assert pandas.Series([table.loc["bad", "note"]]).str.contains(why).all(), table.loc["bad", "note"]
    assert len(clocks) == comparison.ROUNDS


@pytest.mark.parametrize("dtype", [torch.float16, BF16, torch.float32])
def test_eager_and_a_fused_kernel_are_right(clocks, dtype):
    table = run({"eager": reference, "fused": swiglu}, [((33, 97), dtype)])
    assert table["device_us"].notna().all(), table["note"].tolist()


def test_a_compiled_function_must_have_been_compiled(clocks):
    compiled = torch.compile(reference, backend="eager")
    refused = torch.compile(torch.compiler.disable(reference), backend="eager")
    cases = [((4, 8), torch.float32), ((5, 8), torch.float32)]
    table = compare({"eager": reference, "good": compiled, "bad": refused}, cases, name="swiglu").set_index("impl")
    assert table.loc["good", "device_us"].notna().all()
    assert set(table.loc["bad", "note"]) == {"not timed: torch.compile compiled nothing: it ran eager"}


def test_a_function_that_compiles_at_every_call_is_not_timed(clocks):
    count = [0]

    def changing(gate, up):
        return reference(gate, up) + 0 * count[0]

    inner = torch.compile(changing, backend="eager")

    def call(gate, up):
        count[0] += 1
        return inner(gate, up)

    call._torchdynamo_orig_callable = changing  # as torch.compile marks what it returns
    table = run({"eager": reference, "changing": call})
    assert "compiled again" in table.loc["changing", "note"]


def test_what_the_launch_dominates_and_what_fits_in_the_cache_is_marked(clocks, monkeypatch):
    monkeypatch.setattr(comparison, "host_us", lambda call, device: 30.0)
    assert run({"eager": reference}).loc["eager", "note"] == "launch-bound; fits in L2"


def test_a_case_that_does_not_fit_is_said_and_the_others_are_timed(clocks, capsys):
    def inputs(shape, dtype, device):
        if shape[0] > 4:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB. GPU 0 has ...")
        return torch.ones(shape, dtype=dtype), torch.ones(shape, dtype=dtype)

    cases = [((4, 8), torch.float32), ((5, 8), torch.float32)]
    both = {"eager": reference, "triton": reference}
    table = compare(both, cases, inputs, name="swiglu", graph=True)
    assert table["device_us"].notna().tolist() == [True, True, False, False]
    said = "(5, 8) float32, eager, triton: not timed: the case does not fit into this card's free memory\n"
    assert capsys.readouterr().out.endswith(said)


def test_operations_instead_of_bytes(clocks):
    def product(shape, dtype, device):
        return torch.randn(*shape, dtype=dtype, device=device), torch.randn(shape[1], 3, dtype=dtype, device=device)

    table = run({"eager": torch.matmul}, inputs=product, flops=lambda shape: 2 * shape[0] * shape[1] * 3)
    assert table.loc["eager", "TFLOP/s"] == pytest.approx(2 * 4 * 8 * 3 / 10 / 1e6)
    assert "GB/s" not in table


def test_recording_writes_the_sweep_and_returns_the_cases(clocks, monkeypatch):
    monkeypatch.setenv(records.RECORD, "1")
    cases, sweep = [((4, 8), torch.float32)], [((4, 8), torch.float32), ((2, 8), BF16)]
    assert len(run({"eager": reference}, cases, sweep=sweep)) == 1
    table, about = records.read("swiglu")
    assert table["shape"].tolist() == ["(4, 8)", "(2, 8)"] and about["card"] == "A Card"


def test_without_a_gpu_the_record_is_returned(clocks, monkeypatch, capsys):
    monkeypatch.setenv(records.RECORD, "1")
    measured = run({"eager": reference, "fused": swiglu}, [((4, 8), torch.float32), ((2, 8), BF16)])
    monkeypatch.setattr(comparison, "INTERPRETED", True)
    capsys.readouterr()
    asked = [((2, 8), BF16), ((3, 8), BF16)]
    table = run({"eager": reference, "fused": swiglu, "mine": reference}, asked)
    assert list(table.columns) == list(measured.columns) and table["shape"].tolist() == ["(2, 8)"] * 2
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "Recorded, not measured here: " + ", ".join(ABOUT.values()),
        "Never recorded: (3, 8) bfloat16",
        "Never recorded: mine",
    ]
    with pytest.raises(records.NotRecorded, match="none of these cases"):
        run({"eager": reference}, [((9, 9), BF16)])


def test_a_changed_kernel_is_told_from_the_recorded_one(clocks, monkeypatch, capsys):
    monkeypatch.setenv(records.RECORD, "1")
    run({"eager": reference, "fused": swiglu})
    monkeypatch.setattr(comparison, "INTERPRETED", True)
    run({"eager": reference, "fused": lambda g, u: swiglu(g, u, BLOCK_SIZE=256)})
    assert records.CHANGED in capsys.readouterr().out


@pytest.mark.skipif(not INTERPRETED, reason="needs the interpreter")
def test_the_interpreter_is_refused_in_one_sentence():
    with pytest.raises(records.NotRecorded, match="timing it would say nothing about a GPU"):
        compare({"eager": reference}, [((4, 8), torch.float32)], name="never-recorded")


@pytest.mark.parametrize(
    "arguments, named",
    [
        (({}, [((4,), BF16)]), "implementations"),
        (({"eager": 3}, [((4,), BF16)]), "implementations"),
        (({"eager": reference}, []), "cases"),
        (({"eager": reference}, [(4, 8)]), "cases"),
        (({"eager": reference}, [((4,), BF16)], 0), "inputs"),
    ],
)
def test_a_bad_argument_is_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        compare(*arguments, name="swiglu")


def test_a_kernel_instead_of_its_launcher_is_named():
    from helpers.kernels.fused_swiglu import swiglu_kernel

    with pytest.raises(ValueError, match=r"'triton'.*launcher"):
        compare({"triton": swiglu_kernel}, [((4,), BF16)], name="swiglu")


@GPU
def test_on_a_gpu_every_column_is_a_measurement(monkeypatch):
    monkeypatch.setattr(comparison, "show_clocks", lambda table: None)
    table = run({"eager": reference, "compiled": torch.compile(reference), "fused": swiglu, "wrong": one_wrong},
                [((4096, 4096), BF16)], graph=True)  # fmt: skip
    right = table.drop(index="wrong")
    assert right[["device_us", "p20_us", "p80_us", "GB/s", "of_copy", "host_us", "graph_us"]].gt(0).all(axis=None)
    assert (right["p20_us"] <= right["device_us"]).all() and (right["device_us"] <= right["p80_us"]).all()
    assert right["of_copy"].lt(1.2).all() and math.isnan(table.loc["wrong", "device_us"])


@GPU
def test_what_no_card_can_hold_is_said_and_the_next_case_timed(capsys):
    table = compare({"eager": torch.add}, [((2**21, 2**20), BF16), ((4096, 4096), BF16)], name="add")
    assert table["device_us"].notna().tolist() == [False, True] and table["of_copy"].isna().tolist() == [True, False]
    assert "(2097152, 1048576) bfloat16, eager: not timed: the case does not fit" in capsys.readouterr().out
