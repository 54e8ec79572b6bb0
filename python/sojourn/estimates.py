"""Means over seeds of the metrics of cells, with intervals, for which no more than a block of runs is held at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sojourn.statistics import Estimate, interval


@dataclass(frozen=True)
class CellEstimates:
    """What the runs of a cell come to."""

    #: How many runs.
    seeds: int
    #: By the name of a metric; none of what could not be measured with any seed.
    measured: Mapping[str, Estimate | None]


def of_cells(runs: pl.LazyFrame, axes: Sequence[str], metrics: Sequence[str]) -> dict[tuple[str | None, ...], CellEstimates]:
    """The estimates of all cells, by the values of their axes.

    Args:
        runs: a row a run.
        axes: the columns that tell cells apart.
        metrics: the columns whose means are wanted.
    """
    aggregates = [
        aggregate
        for place, name in enumerate(metrics)
        for aggregate in (
            pl.col(name).count().alias(f"count {place}"),
            pl.col(name).mean().alias(f"mean {place}"),
            pl.col(name).std().alias(f"deviation {place}"),
        )
    ]
    found = runs.select(*axes, *metrics).group_by(*axes).agg(pl.len().alias(" seeds"), *aggregates).collect(engine="streaming")
    cells: dict[tuple[str | None, ...], CellEstimates] = {}
    for row in found.iter_rows():
        labels, seeds, moments = row[: len(axes)], row[len(axes)], row[len(axes) + 1 :]
        of_metrics = zip(metrics, moments[::3], moments[1::3], moments[2::3], strict=True)
        cells[labels] = CellEstimates(seeds, {name: interval(*known) if known[0] else None for name, *known in of_metrics})
    return cells
