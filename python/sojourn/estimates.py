"""Means over seeds of the metrics of cells, with intervals, for which no more than a block of runs is held at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sojourn.statistics import Estimate, half_widths

#: The column with the number of seeds.
SEEDS = "seeds"

#: The first row of a cell.
_FIRST = "=first"


@dataclass(frozen=True)
class CellEstimates:
    """What the runs of a cell come to."""

    #: How many runs.
    seeds: int
    #: By the name of a metric; none of what could not be measured with any seed.
    measured: Mapping[str, Estimate | None]


def over_seeds(rows: pl.LazyFrame, by: Sequence[str], values: Sequence[str]) -> pl.DataFrame:
    """The mean of each value over the rows that are alike in ``by``, and the ends of its 95 % interval; nulls are left out.

    Returns:
        A row for each combination of ``by``, in the order in which they first occur. The columns are ``by``, ``seeds``, which is
        the number of rows, and for each value ``NAME``, ``NAME_ci_low`` and ``NAME_ci_high``.
    """
    aggregates = [
        pl.len().alias(SEEDS),
        pl.col(_FIRST).min(),
        *(pl.col(name).mean() for name in values),
        *(pl.col(name).std().alias(_deviation(name)) for name in values),
        *(pl.col(name).count().cast(pl.Float64).alias(_count(name)) for name in values),
    ]
    chosen = rows.select(*by, *values).with_row_index(_FIRST)
    grouped = chosen.group_by(*by).agg(*aggregates) if by else chosen.select(*aggregates)
    means = grouped.sort(_FIRST).collect(engine="streaming")
    columns = [*by, SEEDS]
    for name in values:
        several = means[_count(name)].set(means[_count(name)] < 2, None)
        half = pl.Series(half_widths(means[_deviation(name)].to_numpy(), several.to_numpy())).fill_nan(None)
        low, high = ends(name)
        means = means.with_columns((means[name] - half).alias(low), (means[name] + half).alias(high))
        columns += [name, low, high]
    return means.select(columns)


def of_cells(runs: pl.LazyFrame, axes: Sequence[str], metrics: Sequence[str]) -> dict[tuple[str | None, ...], CellEstimates]:
    """The estimates of all cells, by the values of their axes.

    Args:
        runs: a row a run.
        axes: the columns that tell cells apart.
        metrics: the columns whose means are wanted.
    """
    cells: dict[tuple[str | None, ...], CellEstimates] = {}
    for row in over_seeds(runs, axes, metrics).iter_rows():
        labels, seeds, found = row[: len(axes)], row[len(axes)], row[len(axes) + 1 :]
        of_metrics = zip(metrics, found[::3], found[1::3], found[2::3], strict=True)
        cells[labels] = CellEstimates(
            seeds, {name: None if mean is None else Estimate(mean, low, high) for name, mean, low, high in of_metrics}
        )
    return cells


def ends(name: str) -> tuple[str, str]:
    """The columns of the ends of a value's interval."""
    return f"{name}_ci_low", f"{name}_ci_high"


def one_group(groups: pl.LazyFrame) -> bool:
    """Whether no run has several groups; the rows of a run follow one another."""
    again = pl.col("key") == pl.col("key").shift()
    return not groups.select(again.any()).collect(engine="streaming").item()


def _deviation(name: str) -> str:
    return f"={name} deviation"


def _count(name: str) -> str:
    return f"={name} count"
