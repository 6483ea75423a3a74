"""What a check returns: a verdict, a short table, and a sentence for each failure."""

import textwrap
from dataclasses import dataclass

WIDTH = 96  # characters; what JupyterLab shows in a line beside its file browser


@dataclass(frozen=True)
class Row:
    """One line of a report: `verdict` is "passed", "failed", "rejected" or "not run"."""

    name: str
    verdict: str
    detail: str = ""


@dataclass(frozen=True)
class Problem:
    """One failure as a sentence, and the name of its likely cause (None: unknown, or the sentence needs none)."""

    row: str
    sentence: str
    cause: str | None = None


@dataclass(frozen=True, repr=False)
class Report:
    """What a check found. `status` is "passed", "failed" or "not attempted"; `problems` come simplest first.

    `text` is the same on every machine; printed, it is wrapped, and `unchecked` follows: what was not looked at here.
    """

    name: str
    status: str
    rows: tuple[Row, ...] = ()
    problems: tuple[Problem, ...] = ()
    unchecked: str = ""

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def text(self) -> str:
        said = [problem.sentence for problem in self.problems]
        if self.status == "not attempted":
            return "\n".join([f"{self.name}: not attempted yet", *said])
        table = [f"  {r.name:<8} {r.verdict:<8} {r.detail}".rstrip() for r in self.rows if r.verdict != "not run"]
        if missing := [row.name for row in self.rows if row.verdict == "not run"]:
            table.append(f"  not run  {', '.join(missing)}")
        return "\n".join([f"{self.name}: {self.status}", *table, *said])

    def __str__(self) -> str:
        wrapped = [textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in self.text.splitlines()]
        return "\n".join([*wrapped, *([self.unchecked] if self.unchecked else [])])

    __repr__ = __str__
