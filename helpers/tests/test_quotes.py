"""What a lecture's prose quotes from a record: a cell's metadata `quotes` maps a number, as the prose writes it, to the
expression that computes it. `of(record, column, **where)` is the value of the row with these values, or a list of all.
"""

from helpers.course import notebooks
from helpers.measure import records

import re

import pytest

NUMBER = re.compile(r"\d+(?:\.\d+)?")
QUOTES = [
    pytest.param(cell, number, meant, id=f"{path.stem}-{cell.id}-{number}")
    for path in notebooks.executed()
    for cell in notebooks.read(path).cells
    for number, meant in cell.metadata.get("quotes", {}).items()
]


def of(record: str, column: str, **where):
    table = records.load(record)[0]
    for key, value in where.items():
        table = table[table[key] == value]
    values = table[column].tolist()
    return values[0] if len(values) == 1 else values


def unlike(number: str, meant: str) -> list[float]:
    """The values of an expression that are not `number` when they are rounded to its digits."""
    values = eval(meant, {"of": of, "min": min, "max": max, "round": round, "sum": sum, "zip": zip, "len": len})
    values = values if isinstance(values, list) else [values]
    digits = len(number.partition(".")[2])
    return [value for value in values if f"{value:.{digits}f}" != number] if values else [float("nan")]


def said(number: str, text: str) -> bool:
    return re.search(rf"(?<![\d.,]){re.escape(number)}(?![.,]?\d)", text) is not None


@pytest.mark.parametrize(("cell", "number", "meant"), QUOTES)
def test_a_quoted_number_is_the_record_s_and_stands_in_the_cell(cell, number, meant):
    assert unlike(number, meant) == []
    assert said(number, cell.source)
    assert [one for one in NUMBER.findall(cell.metadata.get("slide", "")) if not said(one, cell.source)] == []


def test_a_wrong_quote_is_found():
    rows = "of('mlp', 'speedup', impl={!r})"
    assert unlike("1.00", rows.format("eager")) == [] and unlike("1.01", rows.format("eager")) == [1]
    assert unlike("1", rows.format("nobody")) and unlike("1.00", "of('mlp', 'speedup')")
    assert said("1.7", "1.7.") and not said("1.7", "11.7, 1.72 and 1.7.1")
