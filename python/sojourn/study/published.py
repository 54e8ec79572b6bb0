"""The figures a paper printed."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn.study.design import PublishedTable, Study, matches

#: What stands in the column of camps for every flow of the run.
ALL = "all"


@dataclass(frozen=True)
class Figure:
    """One printed figure, and where it belongs."""

    table: PublishedTable
    #: What tells it from the other figures of its table: the values in the file's columns.
    labels: Mapping[str, str]
    #: The cell of the matrix it is of.
    axes: Mapping[str, str]
    #: The algorithm whose flows it is of; none means every flow.
    camp: str | None
    metric: str
    value: float
    #: As the paper prints it.
    printed: str


def read(path: Path, study: Study) -> list[Figure]:
    """Reads a file of columns ``table``, one for each axis, ``metric`` and ``value``.

    Raises:
        KeyError, ValueError: the file does not fit the study.
    """
    tables = {table.number: table for table in study.tables}
    with path.open(encoding="utf-8", newline="") as file:
        return [_figure(row, tables[int(row["table"])], study) for row in csv.DictReader(file)]


def _figure(row: Mapping[str, str], table: PublishedTable, study: Study) -> Figure:
    names = study.published.names
    columns = {names.get(column, column): names.get(text, text) for column, text in row.items()}
    labels = {axis: columns[axis] for axis in study.axes}
    axes, camp = dict(labels), None
    if table.camps is not None:
        camp = None if axes[table.camps] == ALL else axes[table.camps]
        axes[table.camps] = str(table.select[table.camps])
    if not matches(table.select, axes) or row["metric"] not in table.metrics:
        raise ValueError(f"{', '.join(row.values())}: not a cell of table {table.number}")
    printed = row["value"]
    reading = study.published.readings.get(printed)
    return Figure(table, labels, axes, camp, row["metric"], float(printed) if reading is None else reading, printed)
