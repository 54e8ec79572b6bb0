"""Files that a scenario names: distributions, arrivals, segments, vectors and traces."""

import csv
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from sojourn.errors import within
from sojourn.scenario.reading import folder_of

#: The most rows that a file may have: each run's specification has them all.
MOST_ROWS = 1_000_000


def from_file(read: Any, description: str) -> Any:
    """A key that names a file, which is read; its path is relative to the scenario's."""

    def validate(given: object, info: ValidationInfo) -> object:
        if not isinstance(given, str) or not given:
            raise ValueError("must name a file")
        return read(folder_of(info) / given)

    return PlainValidator(validate), WithJsonSchema({"type": "string", "description": description})


def read_text(path: Path, what: str = "") -> str:
    """The text of a file; ``what`` is what errors call it besides its path."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        raise ValueError(f'cannot read {what}"{path}": {reason}') from None


def read_rows(path: Path, columns: Sequence[str] = ()) -> list[tuple[float, ...]]:
    """Some columns, or else all, of a CSV file of numbers with a header."""
    lines = read_text(path).splitlines()
    with within(f'"{path.name}"'):
        rows = [tuple(map(float, row)) for row in numbers(lines, columns)]
    if not rows:
        raise ValueError(f'"{path.name}" has no rows')
    return rows


def numbers(lines: Sequence[str], columns: Sequence[str] = (), units: Sequence[int] = ()) -> list[list[Decimal]]:
    """The same of the lines of such a file, exactly, and in base units where the columns have other ones."""
    rows = [row for row in csv.reader(lines) if row]
    header = [cell.strip() for cell in rows[0]] if rows else []
    for wanted in columns:
        if wanted not in header:
            raise ValueError(f'line 1: no column "{wanted}" (there are: {", ".join(header) or "none"})')
    if len(rows) - 1 > MOST_ROWS:
        raise ValueError(f"{len(rows) - 1:,} rows; at most {MOST_ROWS:,}")
    places = [header.index(wanted) for wanted in columns or header]
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise ValueError(f"line {line}: {len(row)} values instead of {len(header)}")
    factors = units or [1] * len(places)
    return [
        [_number(row[place], factor, line) for place, factor in zip(places, factors, strict=True)]
        for line, row in enumerate(rows[1:], start=2)
    ]


def _number(text: str, factor: int, line: int) -> Decimal:
    try:
        value = Decimal(text.strip())
        value = value if factor == 1 else value * factor
    except InvalidOperation:
        raise ValueError(f'line {line}: "{text.strip()}" is not a number') from None
    if not value.is_finite() or not 0 <= value < 2**63:
        raise ValueError(f'line {line}: "{text.strip()}" must be 0 or more')
    return value
