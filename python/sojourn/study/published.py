"""The values that a paper prints, or that a table of ours asks for."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn import names
from sojourn.errors import InputError
from sojourn.study.design import PublishedFile, Study, StudyTable
from sojourn.sweeps.matrix import Point

#: What stands in a column of algorithms for every flow of the run.
ALL = "all"


@dataclass(frozen=True)
class PublishedValue:
    """One value of a table, and where it belongs."""

    table: StudyTable
    #: What tells it from the other values of its table: the values in the file's columns.
    labels: Mapping[str, str]
    #: The cell of the matrix it is of.
    axes: Mapping[str, str]
    #: The algorithm whose flows it is of; none means every flow.
    algorithm: str | None
    metric: str
    #: None if it is not published.
    value: float | None
    #: As the paper prints it.
    printed: str


def read(path: Path, study: Study, published: PublishedFile) -> list[PublishedValue]:
    """Reads a file of columns ``table``, one for each axis, ``metric`` and ``value``."""
    tables = {str(table.number): table for table in study.tables}
    cells = {tuple(point.values()) for point in study.points}
    values = []
    for place, row in _rows(path, f"study {study.name}: {path}"):
        try:
            names.check("table", row["table"], tables)
            value = _value(row, tables[row["table"]], study, published)
        except KeyError as error:
            raise InputError(f"{place}: no column {error}") from None
        except ValueError as error:
            raise InputError(f"{place}: {error}") from None
        if tuple(value.axes.values()) not in cells:
            raise InputError(f"{place}: no run matches {', '.join(row.values())}")
        values.append(value)
    return values


def _rows(path: Path, called: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a file of columns, and what errors call each."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            columns = next(rows, [])
            for row in rows:
                place = f"{called}: line {rows.line_num}"
                if row and len(row) != len(columns):
                    raise InputError(f"{place}: has {len(row)} columns, not the {len(columns)} of the first line")
                if row:
                    yield place, dict(zip(columns, row, strict=True))
    except OSError as error:
        raise InputError(f"{called}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{called}: not UTF-8 (byte {error.start})") from None
    except csv.Error as error:
        raise InputError(f"{called}: {error}") from None


def unpublished(study: Study) -> list[PublishedValue]:
    """A value for every metric of every cell of a table; in a table of algorithms, for each of the cell's and for all flows."""
    cells = study.points
    return [
        PublishedValue(table, labels, cell, algorithm, metric, None, "")
        for table in study.tables
        for cell in cells
        if study.shows(table, cell)
        for labels, algorithm in _algorithms(study, table, cell)
        for metric in table.metrics
    ]


def _algorithms(study: Study, table: StudyTable, cell: Point) -> list[tuple[Point, str | None]]:
    """What a table shows of a cell: labels, and the algorithm whose flows are meant, none for every flow."""
    if table.algorithms is None:
        return [(cell, None)]
    controls = dict.fromkeys(flows.tcp.name for flows in study.matrix.cell(cell).scenario.flows)
    groups = [*((name, name) for name in controls), (ALL, None)]
    return [({**cell, table.algorithms: label}, algorithm) for label, algorithm in groups]


def _value(row: Mapping[str, str], table: StudyTable, study: Study, published: PublishedFile) -> PublishedValue:
    spelt = published.names
    columns = {spelt.get(column, column): spelt.get(text, text) for column, text in row.items()}
    labels = {axis: columns[axis] for axis in study.axes}
    axes, algorithm = dict(labels), None
    if table.algorithms is not None:
        algorithm = None if axes[table.algorithms] == ALL else axes[table.algorithms]
        axes[table.algorithms] = str(table.select[table.algorithms])
    if not study.shows(table, axes) or row["metric"] not in table.metrics:
        raise ValueError(f"{', '.join(row.values())}: not a cell of table {table.number}")
    printed = row["value"]
    reading = published.readings.get(printed)
    return PublishedValue(table, labels, axes, algorithm, row["metric"], float(printed) if reading is None else reading, printed)
