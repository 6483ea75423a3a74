"""Measures the benchmarks again on a GPU, and compares ratios with the recorded ones: `python -m helpers.course.drift`.

A ratio is the speed-up over the first implementation within one run, so that another card, or a card that is warm, can
be compared. Written to build/drift: the executed lectures, the fresh tables, and report.md. Cases that the launch
dominates are listed and not judged: they depend on the host.
"""

import os
import re
import shutil
import sys

from . import ROOT, execute, machine, notebooks

RECORDS = ROOT / "data" / "benchmarks"
LEAST = (
    0.9  # of the recorded speed-up: runs on an H200 a day apart were within 1.3 %, single cases of others within 4 %
)
SHAPE = ["shape", "dtype", "impl"]


def compare(fresh, recorded):
    """Rows that both tables have, with `now`, `then` and `ratio` of the speed-ups and whether each is `judged`.

    Both are tables of `helpers.compare`.
    """
    both = fresh.merge(recorded, on=SHAPE, suffixes=("_now", "_then"))
    both = both[both["speedup_now"].notna() & both["speedup_then"].notna()]
    bound = (both["note_now"].astype(str) + both["note_then"].astype(str)).str.contains("launch-bound")
    found = both[SHAPE].assign(then=both["speedup_then"], now=both["speedup_now"])
    return found.assign(ratio=found["now"] / found["then"], judged=~bound)


def lost(fresh, recorded):
    """The rows that were timed for the record and not now, with why (`note`), but for those that do not fit here."""
    both = fresh.merge(recorded[recorded["speedup"].notna()], on=SHAPE, suffixes=("", "_then"))
    note = both["note"].astype(str)
    return both[both["speedup"].isna() & note.str.startswith("not timed") & ~note.str.contains("does not fit")]


def slower(found):
    """The rows whose speed-up is less than LEAST of the recorded one."""
    return found[found["judged"] & (found["ratio"] < LEAST)]


def measure(target) -> None:
    """Runs the lectures that measure, on copies; their tables and the executed notebooks go to `target`."""
    os.environ.update({"COURSE_RECORD": "cases", "COURSE_RECORDS": str(target / "tables"), "COURSE_REQUIRE_GPU": "1"})
    for path in notebooks.lectures():
        notebook = notebooks.read(path)
        if any(re.search(r"@recorded|compare\(", cell.source) for cell in notebook.cells if cell.cell_type == "code"):
            print(f"running {notebooks.shown(path)}", flush=True)
            execute.run(path, notebook)
            notebooks.write(target / path.name, notebooks.canonical(notebook))


def report(target) -> list[str]:
    """Writes report.md from the tables in `target`, prints it, and returns what is wrong, a line each.

    On another card than the recorded one a smaller speed-up is listed, and is not wrong.
    """
    now, then = _tables(target / "tables"), _tables(RECORDS)
    here, there = _about(target / "tables"), _about(RECORDS)
    lines = ["# Speed-ups now, beside the recorded ones", "", f"Here: {here}. Recorded: {there}.", ""]
    wrong, count = [f"{name}: recorded, and not measured now" for name in then if name not in now], 0
    for name, table in now.items():
        if name not in then:
            lines.append(f"- {name}: not recorded yet")
            continue
        found = compare(table, then[name])
        judged = int(found["judged"].sum())
        count += judged
        lines.append(f"- {name}: {judged} rows judged, {len(found) - judged} launch-bound")
        slow = [f"{name} {_row(r)}: speed-up {r.then:.2f}, now {r.now:.2f}" for r in slower(found).itertuples()]
        (wrong if _card(here) == _card(there) else lines).extend(slow)
        wrong += [f"{name} {_row(r)}: {r.note}" for r in lost(table, then[name]).itertuples()]
    if not count:
        wrong.append("no row could be judged")
    lines += [
        "",
        f"Wrong (a speed-up under {LEAST:.0%} of the recorded one, or none):" if wrong else "Nothing is wrong.",
    ]
    text = "\n".join([*lines, *[f"- {line}" for line in wrong]])
    (target / "report.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return wrong


def _tables(folder) -> dict:
    """The tables of `helpers.compare` in a folder, by name."""
    import pandas

    found = {path.stem: pandas.read_csv(path, comment="#") for path in sorted(folder.glob("*.csv"))}
    return {name: table for name, table in found.items() if "speedup" in table}


def _about(folder) -> str:
    """Card, driver and versions, from the first lines of a record in the folder."""
    path = next(iter(sorted(folder.glob("*.csv"))), None)
    head = path.read_text(encoding="utf-8").splitlines()[:4] if path else []
    return ", ".join(line.partition(": ")[2] for line in head if line.startswith("# ")) or "nothing"


def _card(about: str) -> str:
    return about.partition(", ")[0]


def _row(row) -> str:
    return f"{row.shape} {row.dtype} {row.impl}"


def main() -> int:
    target, failed = ROOT / "build" / "drift", False
    try:
        if machine.ask()["interpreted"]:
            print("there is no GPU to measure on")
            return 1
        shutil.rmtree(target, ignore_errors=True)
        (target / "tables").mkdir(parents=True)
        measure(target)
    except execute.ExecutionError as error:  # what was measured before it is still compared
        print(error)
        failed = True
    except RuntimeError as error:
        print(error)
        return 1
    return 1 if report(target) or failed else 0


if __name__ == "__main__":
    sys.exit(main())
