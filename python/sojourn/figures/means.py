"""Metrics of cells: means over seeds, in the unit of display, with 95 % intervals."""

from collections.abc import Sequence

import polars as pl

from sojourn.analysis import estimates
from sojourn.errors import InputError
from sojourn.figures.drawn import Drawn
from sojourn.figures.registry import MetricFigure
from sojourn.metrics import Bounds, Metric
from sojourn.names import GROUP


def of_cells(source: Drawn, metric: Metric) -> pl.DataFrame:
    """A metric of every cell, as ``over_seeds`` has it."""
    least, greatest = metric.bounds
    shown = None if least is None else least * metric.factor, None if greatest is None else greatest * metric.factor
    return over_seeds(of_all(source, metric), source.columns, shown)


def of_figure(figure: MetricFigure, source: Drawn) -> pl.DataFrame:
    """The metric that a figure is of, of every cell."""
    found = of_cells(source, figure.metric)
    if not found.height:
        raise InputError(f"figure {figure.name}: no values in these runs")
    return found


def of_all(source: Drawn, metric: Metric) -> pl.LazyFrame:
    """A metric of every run, or of every run's groups: ``value`` beside the axes."""
    if GROUP in source.axes and not metric.of_group:
        raise InputError(f"{metric.title} is of a whole run, not of a group; choose no group")
    return source.counted("runs").select(*source.columns, value=pl.col(metric.name) * metric.factor)


def over_seeds(values: pl.LazyFrame, by: Sequence[str], bounds: Bounds) -> pl.DataFrame:
    """The mean of ``value`` in each group, the ends of its 95 % interval, and over how many seeds it is; nulls are left out.

    The interval ends at the ``bounds``, in the unit of the values.
    """
    found = estimates.over_seeds(values.drop_nulls("value"), by, ["value"], {"value": bounds})
    return found.rename({"value_ci_low": "low", "value_ci_high": "high"})
