"""Heat maps: one metric of every cell of the matrix, a congestion control a row and a queue a column."""

import altair as alt
import polars as pl

from sojourn.figures import look, means
from sojourn.figures.drawn import Drawn
from sojourn.figures.panels import Panels, shown_axis
from sojourn.figures.registry import MetricFigure
from sojourn.metrics import Metric

#: The axes that are rows and columns, if the campaign has them.
ROW, COLUMN = "tcp", "queue"

#: The height of a row in points.
ROW_HEIGHT = 20

#: Above this share of the scale viridis is light, and numbers on it are black.
LIGHT = 0.36


def of_metric(figure: MetricFigure, source: Drawn, width: int) -> look.Chart:
    """The figure's metric, a field a cell."""
    metric = figure.metric
    row, column = _rows_and_columns(source)
    panels = Panels(figure.name, source, [axis for axis in source.varying if axis not in (row, column)])
    found = means.of_figure(figure, source)
    low, high = _ends(metric, found["value"])
    light = (pl.col("value") - low > LIGHT * (high - low)).alias("light")
    told = shown_axis(row, "row"), shown_axis(column, "column")
    cells = panels.place(found, *told, "value", "low", "high", "seeds", light)
    panel = panels.width(width)
    base = alt.Chart(look.data(cells)).encode(
        x=look.groups(column, source.labels(column), panel, "column:N"),
        y=alt.Y("row:N", title=row, sort=source.labels(row)),
        tooltip=[*look.labels({"row": row, "column": column}), *look.interval(metric.label)],
    )
    # The root brings out differences among small values, and bears zero.
    scale = alt.Scale(scheme="viridis", type="sqrt", domain=[low, high])
    squares = base.mark_rect().encode(color=alt.Color("value:Q", title=metric.label, scale=scale))
    ink = alt.condition("datum.light", alt.value("black"), alt.value("white"))
    numbers = base.mark_text(fontSize=8).encode(text=alt.Text("value:Q", format=".3~g"), color=ink)
    height = ROW_HEIGHT * max(1, len(source.labels(row)))
    return panels.divide([squares, numbers], panel, height)


def _rows_and_columns(source: Drawn) -> tuple[str | None, str | None]:
    varying = source.varying
    column = COLUMN if COLUMN in varying else next((axis for axis in reversed(varying) if axis != ROW), None)
    others = [axis for axis in varying if axis != column]
    return (ROW if ROW in others else (others[-1] if others else None)), column


def _ends(metric: Metric, values: pl.Series) -> tuple[float, float]:
    """The ends of the scale, which have a distance whatever the values are."""
    found: list[float] = values.to_list() or [0.0]
    least, most = metric.ends
    low = min(found if least is None else [least, *found])
    high = max(found if most is None else [most, *found])
    return low, high if high > low else low + 1
