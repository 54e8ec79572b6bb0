"""The cells of a campaign of one axis or none as a table, a cell a row, and the ends of every metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.analysis import difference, estimates
from sojourn.metrics import METRICS, Metric
from sojourn.report import text
from sojourn.report.contents import Cell, Contents
from sojourn.statistics import Estimate


@dataclass(frozen=True)
class Extremes:
    """The smallest and the largest mean of a metric, with units, and their cells."""

    metric: Metric
    least: str
    least_cell: str
    most: str
    most_cell: str


@dataclass(frozen=True)
class Row:
    """A cell."""

    cell: Cell
    label: str
    where: Mapping[str, str]
    entries: Sequence[text.Entry]


@dataclass(frozen=True)
class Overview:
    """A table of cells."""

    axis: str
    metrics: Sequence[Metric]
    rows: Sequence[Row]


def extremes(contents: Contents) -> list[Extremes]:
    """The ends of each main metric that any cell has."""
    axes, shown = list(contents.axes), _shown()
    means = estimates.over_seeds(contents.result.counted("runs"), axes, [metric.name for metric in shown])
    # In the order of the cells: of several with the same mean the first is named.
    means = contents.all_cells.select(axes).join(means, on=axes, maintain_order="left")
    found = []
    for metric in shown:
        if means[metric.name].count():
            rows = means.drop_nulls(metric.name)
            places = (rows[metric.name].arg_min(), rows[metric.name].arg_max())
            told = [each for place in places for each in _told(contents, metric, rows.row(int(place or 0), named=True))]
            found.append(Extremes(metric, *told))
    return found


def _told(contents: Contents, metric: Metric, cell: Mapping[str, Any]) -> tuple[str, str]:
    """A mean with the digits that its interval leaves and its unit, and what the cell is called."""
    mean, _ = text.numbers(metric, Estimate(*(cell[name] for name in (metric.name, *estimates.ends(metric.name)))))
    return text.with_unit(mean, metric.shown_unit), contents.told(cell)


def overview(contents: Contents) -> Overview | None:
    """The table of a campaign in which at most one axis varies; none of others, which heat maps show."""
    if len(contents.varying) > 1:
        return None
    axis = next(iter(contents.varying or contents.axes))
    metrics = [metric for metric in _shown() if any(cell.measured[metric.name] is not None for cell in contents.cells)]
    best = {
        metric: difference.best(metric, [found for cell in contents.cells if (found := cell.measured[metric.name]) is not None])
        for metric in metrics
    }
    rows = []
    for cell in contents.cells:
        entries = [
            text.entry(metric, cell.measured[metric.name], cell.name, len(cell.seeds), best=best[metric]) for metric in metrics
        ]
        rows.append(Row(cell, cell.axes[axis], {axis: cell.axes[axis]}, entries))
    return Overview(axis, metrics, rows)


def _shown() -> list[Metric]:
    return [metric for metric in METRICS.values() if metric.main]
