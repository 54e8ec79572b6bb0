"""The values that box plots and distributions are of: a metric of each run, or a column of any frame."""

import polars as pl

from sojourn import names
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
        label, rows = figure.column, _column(figure, source)
    else:
        raise TypeError(f"figure {figure.name} is of no column")
    found = source.compact(rows.drop_nulls("value"))
    if not found.height:
        raise InputError(f"figure {figure.name}: no values in these runs")
    return label, found


def _column(figure: ColumnFigure, source: Drawn) -> pl.LazyFrame:
    frame = source.frame(figure.frame)
    if figure.frame == "series":
        known = source.frame("series").select(pl.col("measure").unique().sort()).collect()["measure"].to_list()
        if figure.column not in known:
            raise InputError(f"figure {figure.name}: {names.unknown('measure of series', figure.column, known)}")
        return frame.filter(measure=figure.column).select(*source.columns, "value")
    schema = frame.collect_schema()
    known = [name for name, kind in schema.items() if kind.is_numeric() and name != "seed"]
    if figure.column not in known:
        raise InputError(f"figure {figure.name}: {names.unknown(f'column of numbers in {figure.frame}', figure.column, known)}")
    return frame.select(*source.columns, value=pl.col(figure.column).cast(pl.Float64))
