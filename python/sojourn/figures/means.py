"""Metrics of cells: means over seeds, in the unit of display, with 95 % intervals."""

from collections.abc import Sequence

import polars as pl

from sojourn.errors import InputError
from sojourn.figures.drawn import Drawn
from sojourn.metrics import Metric
from sojourn.names import GROUP
from sojourn.statistics import estimate

_ESTIMATE = pl.Struct({"value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "seeds": pl.Int64})


def of_runs(source: Drawn, metric: Metric) -> pl.DataFrame:
    """A metric of every run: ``key`` and ``value``."""
    return source.runs.select("key", value=pl.col(metric.name) * metric.factor)


def of_cells(source: Drawn, metric: Metric) -> pl.DataFrame:
    """A metric of every cell, as ``over_seeds`` has it."""
    return over_seeds(of_all(source, metric), source.columns)


def of_all(source: Drawn, metric: Metric) -> pl.DataFrame:
    """A metric of every run, or of every run's groups: ``value`` beside the axes.

    Raises:
        InputError: a group has no such metric.
    """
    if GROUP in source.axes and not metric.of_group:
        raise InputError(f"{metric.title} is of a whole run, not of a group; choose no group")
    return source.runs.select(*source.columns, value=pl.col(metric.name) * metric.factor)


def over_seeds(values: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The mean of ``value`` in each group, the ends of its 95 % interval, and over how many seeds it is; nulls are left out."""
    return (
        values.drop_nulls("value")
        .group_by(by, maintain_order=True)
        .agg(pl.col("value"))
        .with_columns(found=pl.col("value").map_elements(_estimated, return_dtype=_ESTIMATE))
        .drop("value")
        .unnest("found")
    )


def _estimated(values: pl.Series) -> dict[str, float | None]:
    mean, low, high = estimate(values.to_list())
    return {"value": mean, "low": low, "high": high, "seeds": values.len()}
