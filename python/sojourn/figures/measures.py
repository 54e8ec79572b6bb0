"""Measures of cells: what bars, points and heat maps show of a run, as means over seeds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from sojourn.figures.drawn import Drawn
from sojourn.figures.figure import Need
from sojourn.statistics import estimate


@dataclass(frozen=True)
class Measure:
    """One measure of a run."""

    #: What figures call themselves after it.
    name: str
    #: What it is, as a figure's title.
    title: str
    #: What axes and legends say, with the unit.
    label: str
    need: Need
    #: A frame with ``key`` and ``value``, a row a run.
    values: Callable[[Drawn], pl.DataFrame]
    #: What the ends of a scale of colours are at least and at most; none where it is the values that say.
    ends: tuple[float | None, float | None] = (0, None)


def _of_runs(column: str, factor: float = 1) -> Callable[[Drawn], pl.DataFrame]:
    return lambda source: source.runs.select("key", value=pl.col(column) * factor)


def _of_bottleneck(column: str, factor: float) -> Callable[[Drawn], pl.DataFrame]:
    return lambda source: source.bottlenecks.select("key", value=pl.col(column) * factor)


THROUGHPUT = Measure("throughput", "Throughput of all flows", "Throughput (Mbit/s)", Need.RUNS, _of_runs("total_mbps"))
FAIRNESS = Measure("fairness", "Fairness among flows", "Jain's index (1: all equal)", Need.RUNS, _of_runs("jain"), (0.5, 1))
UTILISATION = Measure(
    *("utilisation", "Utilisation of the bottleneck", "Utilisation (%)", Need.QUEUES, _of_runs("utilisation", 100), (50, 100))
)
SOJOURN_MEAN = Measure(
    *("sojourn-mean", "Mean sojourn time at the bottleneck", "Sojourn time, mean (ms)"),
    Need.QUEUES,
    _of_runs("sojourn_mean_s", 1e3),
)
SOJOURN_MEDIAN = Measure(
    *("sojourn-median", "Median sojourn time at the bottleneck", "Sojourn time, median (ms)"),
    Need.QUEUES,
    _of_bottleneck("sojourn_p50", 1e3),
)
SOJOURN_P99 = Measure(
    *("sojourn-p99", "Sojourn time at the bottleneck, 99th percentile", "Sojourn time, 99th percentile (ms)"),
    Need.QUEUES,
    _of_runs("sojourn_p99_s", 1e3),
)
DROP_RATIO = Measure("drop-ratio", "Drops at the bottleneck", "Drop ratio (%)", Need.QUEUES, _of_runs("drop_pct"))
ROUND_TRIP = Measure("round-trip-time", "Mean round-trip time", "Round-trip time (ms)", Need.RUNS, _of_runs("rtt_mean_s", 1e3))

_ESTIMATE = pl.Struct({"value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "seeds": pl.Int64})


def over_seeds(values: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The mean of ``value`` in each group, the ends of its 95 % interval, and of how many seeds it is; nulls are left out."""
    return (
        values.drop_nulls("value")
        .group_by(by, maintain_order=True)
        .agg(pl.col("value"))
        .with_columns(found=pl.col("value").map_elements(_estimated, return_dtype=_ESTIMATE))
        .drop("value")
        .unnest("found")
    )


def of_cells(source: Drawn, measure: Measure) -> pl.DataFrame:
    """A measure of every cell, as ``over_seeds`` has it."""
    values = source.runs.select("key", *source.columns).join(measure.values(source), on="key", how="left", maintain_order="left")
    return over_seeds(values, source.columns)


def _estimated(values: pl.Series) -> dict[str, float | None]:
    mean, low, high = estimate(values.to_list())
    return {"value": mean, "low": low, "high": high, "seeds": values.len()}
