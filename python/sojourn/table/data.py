"""Tables for other programs: JSON and CSV, with every value at full precision."""

import csv
import json
import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TextIO

from sojourn.table.model import Frame, Row, Table, Tables

#: The column of CSV that tells several tables apart.
TABLE = "table"


def write_json(tables: Tables, file: TextIO) -> None:
    """Writes a table as an array of its rows, several as an object of such arrays by their names."""
    if isinstance(tables, Table):
        _write_array(tables, file)
    else:
        file.write("{")
        for place, table in enumerate(tables):
            file.write(f"{',' if place else ''}\n{json.dumps(table.name)}: ")
            _write_array(table, file)
        file.write("\n}")
    file.write("\n")


def _write_array(table: Table, file: TextIO) -> None:
    file.write("[")
    for place, row in enumerate(table.rows):
        file.write(",\n" if place else "\n")
        file.write(json.dumps({name: _plain(row[name]) for name in table.names}, ensure_ascii=False, default=str))
    file.write("\n]" if len(table.rows) else "]")


def write_csv(tables: Tables, file: TextIO) -> None:
    """Writes rows under a heading; of several tables, the first column is the table's name, and absent columns are empty."""
    if isinstance(tables, Table):
        if not _write_frame(tables, file):
            _write_rows(tables.names, tables.rows, file)
        return
    names = list(dict.fromkeys(name for table in tables for name in table.names))
    _write_rows([TABLE, *names], _together(tables), file)


def _write_frame(table: Table, file: TextIO) -> bool:
    """Writes the rows of a frame at polars' speed, if they are such and CSV can have them."""
    if not isinstance(table.rows, Frame):
        return False
    frame = table.rows.frame.select(table.names)
    if any(kind.is_nested() for kind in frame.dtypes):
        return False
    frame.write_csv(file)
    return True


def _together(tables: Iterable[Table]) -> Iterator[Row]:
    for table in tables:
        for row in table.rows:
            yield {TABLE: table.name, **{name: row[name] for name in table.names}}


def _write_rows(names: Iterable[str], rows: Iterable[Row], file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    header = list(names)
    writer.writerow(header)
    writer.writerows([_cell(row.get(name)) for name in header] for row in rows)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, default=str) if isinstance(value, list | dict) else value


def _plain(value: object) -> object:
    """A value that JSON has: it knows no infinity, and whole numbers of any size."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
