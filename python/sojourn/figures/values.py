"""The values that box plots and distributions are of: a metric of each run, or a column of any frame."""

import polars as pl

from sojourn import names
from sojourn.analysis.frames import found
from sojourn.backends.columns import COLUMNS
from sojourn.errors import InputError
from sojourn.figures import means
from sojourn.figures.drawn import Drawn
from sojourn.figures.registry import ColumnFigure, Figure, MetricFigure


def of(figure: Figure, source: Drawn) -> tuple[str, pl.DataFrame]:
    """What the axis says, and ``value`` beside the axes of the cells, of all seeds, as ``Drawn.compact`` has them; no nulls.

    Raises:
        InputError: there is no such column, or it has no numbers.
    """
    if isinstance(figure, MetricFigure):
        label, rows = figure.metric.label, means.of_all(source, figure.metric)
    elif isinstance(figure, ColumnFigure):
        unit = unit_of(figure.frame, figure.column)
        label, rows = f"{figure.column} ({unit})" if unit else figure.column, _column(figure, source)
    else:
        raise TypeError(f"figure {figure.name} draws no column")
    values = source.compact(rows.drop_nulls("value"))
    if not values.height:
        raise InputError(f"figure {figure.name}: no values in these runs")
    return label, values


def unit_of(frame: str, column: str) -> str:
    """The unit of a column of a frame, or of a measure of ``series``; empty if it has none."""
    known = [*COLUMNS["queue_series"], *COLUMNS["flow_series"]] if frame == "series" else found(frame)
    return next((each.unit for each in known if each.name == column), "")


def _in_window(samples: pl.LazyFrame, source: Drawn) -> pl.LazyFrame:
    """Samples without those of the warm-up."""
    opened = source.results.scan("runs").select("key", opened=pl.col("simulated_s") - pl.col("window_s"))
    # Both are rounded to a double, the time of a sample to another.
    return samples.join(opened, on="key", maintain_order="left").filter(pl.col("time") >= pl.col("opened") - 1e-9)


def _column(figure: ColumnFigure, source: Drawn) -> pl.LazyFrame:
    frame = source.frame(figure.frame)
    if figure.frame == "series":
        known = source.frame("series").select(pl.col("measure").unique().sort()).collect()["measure"].to_list()
        names.check("measure of series", figure.column, known, InputError, f"figure {figure.name}: ")
        return _in_window(frame.filter(measure=figure.column), source).select(*source.columns, "value")
    schema = frame.collect_schema()
    known = [name for name, kind in schema.items() if kind.is_numeric() and name != "seed"]
    names.check(f"column of numbers in {figure.frame}", figure.column, known, InputError, f"figure {figure.name}: ")
    return frame.select(*source.columns, value=pl.col(figure.column).cast(pl.Float64))
