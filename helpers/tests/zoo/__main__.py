"""Prints what `check` says of the zoo: a line for each entry, or the reports of those named."""

from helpers.device import INTERPRETED
from helpers.tests.zoo import RIGHT, WRONG

import sys
import time


def main(names: list[str]) -> None:
    """A GPU survives `fatal` entries only if named."""
    for entry in (e for e in [*WRONG, *RIGHT] if e.name in names or not names):
        if not entry.applies() or (entry.fatal and not INTERPRETED and not names) or (entry.slow and not names):
            print(f"{entry.name:<40} not in this mode")
            continue
        start = time.perf_counter()
        report = entry.check()
        seconds = time.perf_counter() - start
        rows, causes = [p.row for p in report.problems], [p.cause for p in report.problems if p.cause]
        row, cause = (rows[0], (causes or ["cause unknown"])[0]) if rows else ("", "")
        print(f"{entry.name:<40} {report.status:<14} {row:<8} {cause:<26} {seconds:>5.2f} s", flush=True)
        if names:
            print(report)


if __name__ == "__main__":
    main(sys.argv[1:])
