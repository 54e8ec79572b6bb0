"""The paper's tables, each value with ours beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn import digits
from sojourn.metrics import METRICS
from sojourn.names import BACKEND
from sojourn.report.text import with_unit
from sojourn.study.cells import Agreement, Compared, by_backend, by_table
from sojourn.study.design import Study


@dataclass(frozen=True)
class Sign:
    """Whether a value agrees with the published one: in words, as a mark, and as a class of the page's style."""

    told: str
    mark: str
    style: str


AGREES = Sign("agrees", "✓", "holds")
DIFFERS = Sign("does not agree", "✗", "fails")
BY_CHANCE = Sign("does not agree, but one seed may be as far from the others", "~", "undecided")


@dataclass(frozen=True)
class Entry:
    """One value of a table."""

    #: As the paper prints it; empty if nothing was published.
    published: str
    #: Our mean, and its interval, as they are shown; empty where there is none.
    ours: str
    interval: str
    sign: Sign | None
    #: All that is known of it, in words.
    told: str
    where: Mapping[str, str]


@dataclass(frozen=True)
class Row:
    """The values of one metric of one kind of cells."""

    labels: Sequence[str]
    metric: str
    entries: Sequence[Entry | None]
    where: Mapping[str, str]


@dataclass(frozen=True)
class PublishedTable:
    """One table."""

    number: int
    title: str
    #: What made the runs, where there are several backends.
    backend: str | None
    axes: Sequence[str]
    column_axis: str
    columns: Sequence[str]
    rows: Sequence[Row]
    agreement: Agreement

    @property
    def anchor(self) -> str:
        """Its name within the page."""
        return f"table-{self.number}" if self.backend is None else f"table-{self.number}-{self.backend}"


def tables(study: Study, compared: Sequence[Compared]) -> list[PublishedTable]:
    """The study's tables that have values, in order of their numbers; of several backends each table once for each."""
    found = [_table(study, cells) for of_backend in by_backend(compared).values() for cells in by_table(of_backend)]
    return sorted(found, key=lambda table: table.number)


def signs(shown: Sequence[PublishedTable]) -> list[Sign]:
    """The signs that a legend of the tables explains: chance only where a value has that sign, which takes several seeds."""
    entries = (entry for table in shown for row in table.rows for entry in row.entries if entry is not None)
    return [AGREES, DIFFERS, *([BY_CHANCE] if any(entry.sign is BY_CHANCE for entry in entries) else [])]


def _table(study: Study, cells: Sequence[Compared]) -> PublishedTable:
    described = cells[0].published.table
    row_axes, column_axis = study.arranged(described)
    columns = list(dict.fromkeys(cell.published.labels[column_axis] for cell in cells))
    rows: dict[tuple[str, ...], dict[str, Compared]] = {}
    for cell in cells:
        labels = cell.published.labels
        rows.setdefault((*(labels[axis] for axis in row_axes), cell.published.metric), {})[labels[column_axis]] = cell
    return PublishedTable(
        number=described.number,
        title=described.title if cells[0].backend is None else f"{described.title} ({cells[0].backend})",
        backend=cells[0].backend,
        axes=row_axes,
        column_axis=column_axis,
        columns=columns,
        rows=[_row(row_axes, column_axis, key, [by_column.get(name) for name in columns]) for key, by_column in rows.items()],
        agreement=Agreement.of(cells),
    )


def _row(axes: Sequence[str], column_axis: str, key: Sequence[str], cells: Sequence[Compared | None]) -> Row:
    *labels, metric = key
    # An algorithm within a run is no label of the axis, so a filter does not apply to it.
    algorithms = {cell.published.table.algorithms for cell in cells if cell is not None}
    where = {axis: label for axis, label in zip(axes, labels, strict=True) if axis not in algorithms}
    for cell in cells:
        if cell is not None and cell.backend is not None:
            where[BACKEND] = cell.backend
    return Row(labels, METRICS[metric].heading, [_entry(cell, column_axis) if cell else None for cell in cells], where)


def _entry(cell: Compared, column_axis: str) -> Entry:
    published, metric = cell.published, METRICS[cell.published.metric]
    where = {} if published.table.algorithms == column_axis else {column_axis: published.labels[column_axis]}
    named = ", ".join(published.labels.values())
    ours, interval, measured = "not measured", "", "ours: not measured"
    if cell.measured is not None:
        mean, low, high = cell.measured
        if low is None or high is None:
            ours = metric.format(mean)
            measured = f"ours {with_unit(ours, metric.unit)}, no interval"
        else:
            whole = max(mean - low, high - mean)
            ours, least, most, *one_seed, _ = metric.formats(mean, low, high, *(cell.one_seed or ()), half=whole)
            _, interval = digits.with_interval(mean, low, high, metric.format)
            measured = f"ours {with_unit(ours, metric.unit)}, 95 % interval {least} to {with_unit(most, metric.unit)}"
            if one_seed:
                lowest, highest = one_seed
                measured += f", of one more seed {lowest} to {with_unit(highest, metric.unit)}"
    told = f"{named}, {metric.title}: {measured}"
    sign = _sign(cell)
    if sign is not None:
        told += f"; published {with_unit(published.printed, metric.unit)}; {sign.told}"
    return Entry(published.printed, ours, interval, sign, told, where)


def _sign(cell: Compared) -> Sign | None:
    if cell.agrees is None:
        return None
    if cell.agrees:
        return AGREES
    return BY_CHANCE if cell.beyond_chance is False else DIFFERS
