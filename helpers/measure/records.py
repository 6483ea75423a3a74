"""The file of one measurement, `data/benchmarks/<topic>/<name>.csv`, or `.txt` for text.

A topic is a lecture's file name without its number. A header says where, with what and when it was measured.
"""

from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data" / "benchmarks"
HEADER = ("card", "driver", "torch", "triton", "date", "code")  # "# key: value", a line each, before everything else
TEXT = dict.fromkeys(("shape", "impl", "note"), str)  # columns that are text, whatever they look like
_written: dict[Path, str] = {}  # by which code, in this process


class NotRecorded(RuntimeError):
    """There is no GPU to measure on, and no record of what was asked for."""


def save(folder: Path, name: str, table, about: dict[str, str], author: str) -> None:
    """Writes a DataFrame or a text under the header `about`; the file is replaced whole or not at all.

    `author` stands for the code that measured. Raises RuntimeError if other code wrote this file in this process.
    """
    path = folder / f"{name}{'.txt' if isinstance(table, str) else '.csv'}"
    if _written.setdefault(path, author) != author:
        raise RuntimeError(f"two measurements of this notebook are called {name!r}; give one of them another name")
    body = table + "\n" if isinstance(table, str) else table.to_csv(index=False, float_format="%.5g")
    folder.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_bytes(("".join(f"# {key}: {about[key]}\n" for key in HEADER) + body).encode())
    new.replace(path)


def found(name: str) -> list[Path]:
    """The files of all topics that hold a record of this name."""
    return sorted(path for path in DATA.glob("*/*") if path.stem == name and path.suffix in (".csv", ".txt"))


def load(name: str) -> tuple:
    """The DataFrame or the text of a record, and its header; NotRecorded if there is none, ValueError if two are."""
    paths = found(name)
    if not paths:
        what = "Kernels run in the interpreter here, and timing it would say nothing about a GPU"
        raise NotRecorded(f"{what}; of {name!r} no measurement is recorded. Run it on a machine with a GPU.")
    if len(paths) > 1:
        both = " and ".join(f"{path.parent.name}/{path.name}" for path in paths)
        raise ValueError(f"two records are called {name!r}: {both}; give one of them another name")
    *lines, body = paths[0].read_bytes().decode().split("\n", len(HEADER))
    about = dict(line.removeprefix("# ").split(": ", 1) for line in lines)
    if paths[0].suffix == ".txt":
        return body.removesuffix("\n"), about
    import pandas

    table = pandas.read_csv(paths[0], skiprows=len(HEADER), dtype=TEXT)
    return table.fillna({"note": ""}), about
