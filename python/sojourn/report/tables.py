"""The paper's tables, each figure with ours beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn.metrics import METRICS
from sojourn.report.quantities import of_metric, with_unit
from sojourn.study.cells import Compared, agreement
from sojourn.study.design import Study


@dataclass(frozen=True)
class Entry:
    """One figure of a table."""

    #: As the paper prints it; empty if nothing was published.
    published: str
    #: Our mean, and half of its interval, as they are shown; empty where there is none.
    ours: str
    half: str
    agrees: bool | None
    #: All that is known of it, in words.
    told: str
    where: Mapping[str, str]


@dataclass(frozen=True)
class Row:
    """The figures of one metric of one kind of cells."""

    labels: Sequence[str]
    metric: str
    entries: Sequence[Entry | None]
    where: Mapping[str, str]


@dataclass(frozen=True)
class PublishedTable:
    """One table."""

    number: int
    title: str
    axes: Sequence[str]
    column_axis: str
    columns: Sequence[str]
    rows: Sequence[Row]
    #: How many figures agree with the published ones, of how many; none were published if these are 0.
    agreeing: int
    total: int


def tables(study: Study, compared: Sequence[Compared]) -> list[PublishedTable]:
    """The study's tables that have figures, in order of their numbers."""
    by_number: dict[int, list[Compared]] = {}
    for cell in compared:
        by_number.setdefault(cell.figure.table.number, []).append(cell)
    counts = agreement(compared)
    return [
        _table(study, cells, *counts[number][1:] if number in counts else (0, 0)) for number, cells in sorted(by_number.items())
    ]


def _table(study: Study, cells: Sequence[Compared], agreeing: int, total: int) -> PublishedTable:
    described = cells[0].figure.table
    *row_axes, column_axis = [
        axis for axis in study.axes if axis == described.camps or not isinstance(described.select.get(axis), str)
    ]
    columns = list(dict.fromkeys(cell.figure.labels[column_axis] for cell in cells))
    rows: dict[tuple[str, ...], dict[str, Compared]] = {}
    for cell in cells:
        labels = cell.figure.labels
        rows.setdefault((*(labels[axis] for axis in row_axes), cell.figure.metric), {})[labels[column_axis]] = cell
    return PublishedTable(
        number=described.number,
        title=described.title,
        axes=row_axes,
        column_axis=column_axis,
        columns=columns,
        rows=[_row(row_axes, column_axis, key, [by_column.get(name) for name in columns]) for key, by_column in rows.items()],
        agreeing=agreeing,
        total=total,
    )


def _row(axes: Sequence[str], column_axis: str, key: Sequence[str], cells: Sequence[Compared | None]) -> Row:
    *labels, metric = key
    # A camp is no label of the axis, so a filter has nothing to say of it.
    camps = {cell.figure.table.camps for cell in cells if cell is not None}
    where = {axis: label for axis, label in zip(axes, labels, strict=True) if axis not in camps}
    return Row(labels, of_metric(metric).heading, [_entry(cell, column_axis) if cell else None for cell in cells], where)


def _entry(cell: Compared, column_axis: str) -> Entry:
    figure, metric = cell.figure, METRICS[cell.figure.metric]
    where = {} if figure.table.camps == column_axis else {column_axis: figure.labels[column_axis]}
    named = ", ".join(figure.labels.values())
    ours, half, measured = "not measured", "", "ours could not be measured"
    if cell.measured is not None:
        mean, low, high = cell.measured
        ours = metric.format(mean)
        measured = f"ours {with_unit(ours, metric.unit)}"
        if low is None or high is None:
            measured += ", one seed, so no interval"
        else:
            half = metric.format(high - mean)
            measured += f", 95 % interval {metric.format(low)} to {with_unit(metric.format(high), metric.unit)}"
    told = f"{named}, {metric.title}: {measured}"
    if figure.value is not None:
        told += f"; published {with_unit(figure.printed, metric.unit)}; {'agrees' if cell.agrees else 'does not agree'}"
    return Entry(figure.printed, ours, half, cell.agrees, told, where)
