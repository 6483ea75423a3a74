"""Measures the benchmarks again on a GPU, and compares ratios with the recorded ones: `python -m helpers.course.drift`.

A ratio is the speed-up over the first implementation within one run, so that another card, or a card that is warm, can
be compared. Written to build/drift: the executed lectures, the fresh tables, and report.md. Cases that the launch
dominates are listed and not judged: they depend on the host.
"""

import shutil
import sys
from pathlib import Path

from . import ROOT, execute, notebooks

# Of the recorded speed-up: runs on an H200 a day apart were within 1.3 %, single cases of others within 4 %.
LEAST = 0.9


def ratios(fresh, recorded):
    """The rows that both tables of `helpers.compare` have and that were timed for the record.

    `row` names each by its columns up to `impl`; `then` and `now` are speed-ups, `ratio` is now / then, `judged` says
    whether both were timed and the launch does not dominate, and `lost` whether it is no longer timed although it fits.
    """
    key = list(fresh.columns[: fresh.columns.get_loc("impl") + 1])
    both = fresh.merge(recorded[recorded["speedup"].notna()], on=key, suffixes=("", "_then"))
    found = both[["note"]].assign(then=both["speedup_then"], now=both["speedup"])
    found["row"] = [" ".join(map(str, row)) for row in both[key].to_numpy()]
    found["ratio"] = found["now"] / found["then"]
    note = both["note"].astype(str)
    bound = note.str.contains("launch-bound") | both["note_then"].astype(str).str.contains("launch-bound")
    found["judged"] = found["ratio"].notna() & ~bound
    found["lost"] = found["now"].isna() & note.str.startswith("not timed") & ~note.str.contains("does not fit")
    return found


def measure(target: Path) -> None:
    """Runs the lectures that measure, on copies; their tables and the executed notebooks go to `target`."""
    for path in notebooks.measuring():
        print(f"running {notebooks.shown(path)}", flush=True)
        notebook = notebooks.read(path)
        execute.run_cells(path, notebook, **execute.recording(path, target / "tables", sweep=False))
        notebooks.write(target / notebooks.role(path) / path.name, notebooks.canonical(notebook))


def judge(target: Path, records: Path = execute.RECORDS) -> list[str]:
    """Writes report.md from the tables in `target`, prints it, and returns what is wrong, a line each.

    On another card than the recorded one a smaller speed-up is listed, and is not wrong.
    """
    (now, here), (then, there) = _measured(target / "tables"), _measured(records)
    lines = ["# Speed-ups now, beside the recorded ones", "", f"Here: {here}. Recorded: {there}.", ""]
    wrong, count = [f"{name}: recorded, and not measured now" for name in then if name not in now], 0
    for name, table in now.items():
        if name not in then:
            lines.append(f"- {name}: not recorded yet")
            continue
        found = ratios(table, then[name])
        count += found["judged"].sum()
        lines.append(f"- {name}: {found['judged'].sum()} rows judged, {(~found['judged']).sum()} not")
        for row in found.itertuples():
            if row.lost:
                wrong.append(f"{name}, {row.row}: {row.note}")
            elif row.judged and row.ratio < LEAST:
                slow = f"{name}, {row.row}: speed-up {row.then:.2f}, now {row.now:.2f}"
                (wrong if here.partition(", ")[0] == there.partition(", ")[0] else lines).append(slow)
    if not count:
        wrong.append("no row could be judged")
    rule = f"Wrong (a speed-up under {LEAST:.0%} of the recorded one, or none):"
    text = "\n".join([*lines, "", rule if wrong else "Nothing is wrong.", *[f"- {line}" for line in wrong]])
    notebooks.write(target / "report.md", text + "\n")
    print(text)
    return wrong


def _measured(folder: Path) -> tuple[dict, str]:
    """The tables of `helpers.compare` below a folder, by topic and name; card and versions of the first record."""
    import pandas

    paths = sorted(folder.glob("*/*.csv"))
    tables = {f"{path.parent.name}/{path.stem}": pandas.read_csv(path, comment="#") for path in paths}
    head = paths[0].read_text(encoding="utf-8").splitlines()[:4] if paths else []
    about = ", ".join(line.partition(": ")[2] for line in head if line.startswith("# "))
    return {name: table for name, table in tables.items() if "speedup" in table}, about or "nothing"


def main() -> int:
    target = ROOT / "build" / "drift"
    shutil.rmtree(target, ignore_errors=True)
    try:
        if execute.machine()["interpreted"]:
            raise RuntimeError("there is no GPU to measure on")
        measure(target)
    except (execute.ExecutionError, RuntimeError) as error:
        print(error)
        if target.exists():  # what was measured before the error is compared
            judge(target)
        return 1
    return 1 if judge(target) else 0


if __name__ == "__main__":
    sys.exit(main())
