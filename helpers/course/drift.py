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

LEAST = 0.9  # of the recorded speed-up; a repeated run on one card stays within 4 % (data/benchmarks, 2026)
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


def report(target) -> int:
    """Writes report.md from the tables in `target`, prints it, and returns how many rows are slower or not timed."""
    import pandas

    lines, count = ["# Speed-ups now, beside the recorded ones", ""], 0
    for path in sorted((target / "tables").glob("*.csv")):
        tables = [pandas.read_csv(file, comment="#") for file in (path, ROOT / "data" / "benchmarks" / path.name)]
        if not all("speedup" in table for table in tables):
            continue
        if len(lines) == 2:
            lines += [f"Here: {_about(path)}. Recorded: {_about(ROOT / 'data' / 'benchmarks' / path.name)}.", ""]
        found = compare(*tables)
        bad, gone = slower(found), lost(*tables)
        count += len(bad) + len(gone)
        judged = found[found["judged"]]
        lines.append(f"- {path.stem}: {len(judged)} rows judged, {len(found) - len(judged)} launch-bound")
        lines += [f"  - slower: {r.shape} {r.dtype} {r.impl}: {r.then:.2f}, now {r.now:.2f}" for r in bad.itertuples()]
        lines += [f"  - {r.shape} {r.dtype} {r.impl}: {r.note}" for r in gone.itertuples()]
    lines += ["", f"{count} rows are slower than {LEAST:.0%} of the recorded speed-up, or not timed."]
    text = "\n".join(lines)
    (target / "report.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return count


def _about(path) -> str:
    """Card, driver and versions, from the first lines of a record."""
    head = path.read_text(encoding="utf-8").splitlines()[:4]
    return ", ".join(line.partition(": ")[2] for line in head if line.startswith("# "))


def main() -> int:
    target = ROOT / "build" / "drift"
    try:
        if machine.ask()["interpreted"]:
            print("there is no GPU to measure on")
            return 1
        shutil.rmtree(target, ignore_errors=True)
        (target / "tables").mkdir(parents=True)
        measure(target)
    except (RuntimeError, execute.ExecutionError) as error:
        print(error)
        return 1
    return 1 if report(target) else 0


if __name__ == "__main__":
    sys.exit(main())
