"""The figures a paper printed, or that a table of ours asks for."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn import names
from sojourn.errors import InputError
from sojourn.study.design import PublishedFile, Study, StudyTable
from sojourn.sweep.matrix import Point

#: What stands in the column of camps for every flow of the run.
ALL = "all"


@dataclass(frozen=True)
class Figure:
    """One figure of a table, and where it belongs."""

    table: StudyTable
    #: What tells it from the other figures of its table: the values in the file's columns.
    labels: Mapping[str, str]
    #: The cell of the matrix it is of.
    axes: Mapping[str, str]
    #: The algorithm whose flows it is of; none means every flow.
    camp: str | None
    metric: str
    #: None if nobody has published it.
    value: float | None
    #: As the paper prints it.
    printed: str


def read(path: Path, study: Study, published: PublishedFile) -> list[Figure]:
    """Reads a file of columns ``table``, one for each axis, ``metric`` and ``value``.

    Raises:
        InputError: a figure is of no table, or of no cell that the study runs.
    """
    tables = {str(table.number): table for table in study.tables}
    cells = {tuple(point.values()) for point in study.matrix.points()}
    figures = []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        for row in rows:
            place = f"study {study.name}: {path}: line {rows.line_num}"
            try:
                if row["table"] not in tables:
                    raise ValueError(names.unknown("table", row["table"], tables))
                figure = _figure(row, tables[row["table"]], study, published)
            except KeyError as error:
                raise InputError(f"{place}: there is no column {error}") from None
            except ValueError as error:
                raise InputError(f"{place}: {error}") from None
            if tuple(figure.axes.values()) not in cells:
                raise InputError(f"{place}: no run answers {', '.join(row.values())}")
            figures.append(figure)
    return figures


def unpublished(study: Study) -> list[Figure]:
    """A figure for every metric of every cell that a table shows; in a table of camps, of each of the cell's and of all flows.

    Raises:
        InputError: the values of a cell make no scenario.
    """
    cells = list(study.matrix.points())
    return [
        Figure(table, labels, cell, camp, metric, None, "")
        for table in study.tables
        for cell in cells
        if study.shows(table, cell)
        for labels, camp in _camps(study, table, cell)
        for metric in table.metrics
    ]


def _camps(study: Study, table: StudyTable, cell: Point) -> list[tuple[Point, str | None]]:
    """What a table shows of a cell: labels, and the algorithm whose flows are meant, none for every flow."""
    if table.camps is None:
        return [(cell, None)]
    algorithms = dict.fromkeys(flows.tcp.name for flows in study.matrix.cell(cell).scenario.flows)
    return [({**cell, table.camps: label}, camp) for label, camp in (*((name, name) for name in algorithms), (ALL, None))]


def _figure(row: Mapping[str, str], table: StudyTable, study: Study, published: PublishedFile) -> Figure:
    spelt = published.names
    columns = {spelt.get(column, column): spelt.get(text, text) for column, text in row.items()}
    labels = {axis: columns[axis] for axis in study.axes}
    axes, camp = dict(labels), None
    if table.camps is not None:
        camp = None if axes[table.camps] == ALL else axes[table.camps]
        axes[table.camps] = str(table.select[table.camps])
    if not study.shows(table, axes) or row["metric"] not in table.metrics:
        raise ValueError(f"{', '.join(row.values())}: not a cell of table {table.number}, so no run answers it")
    printed = row["value"]
    reading = published.readings.get(printed)
    return Figure(table, labels, axes, camp, row["metric"], float(printed) if reading is None else reading, printed)
