"""Heat maps: one metric of every cell of the matrix, a congestion control a row and a queue a column.

Each panel has a scale of its own: panels are networks, and the wait at a satellite would leave all others dark.
"""

import math
from collections.abc import Iterable, Sequence

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
    told = shown_axis(row, "row"), shown_axis(column, "column")
    cells = panels.place(means.of_figure(figure, source), *told, "value", "low", "high", "seeds")
    cells, scales = _shaded(metric, cells)
    panel = panels.width(width)
    base = alt.Chart(look.data(cells)).encode(
        x=look.groups(column, source.labels(column), panel, "column:N"),
        y=alt.Y("row:N", title=row, sort=source.labels(row)),
        tooltip=[*look.labels({"row": row, "column": column}), *look.interval(metric.label)],
    )
    scale = alt.Scale(scheme="viridis", domain=[0, 1])
    squares = base.mark_rect().encode(color=alt.Color("shade:Q", title=metric.label, scale=scale, legend=_legend(scales)))
    ink = alt.condition(f"datum.shade > {LIGHT}", alt.value("black"), alt.value("white"))
    numbers = base.mark_text(fontSize=8).encode(text=alt.Text("value:Q", format=".3~g"), color=ink)
    height = ROW_HEIGHT * max(1, len(source.labels(row)))
    return panels.divide([squares, numbers], panel, height)


def _rows_and_columns(source: Drawn) -> tuple[str | None, str | None]:
    varying = source.varying
    column = COLUMN if COLUMN in varying else next((axis for axis in reversed(varying) if axis != ROW), None)
    others = [axis for axis in varying if axis != column]
    return (ROW if ROW in others else (others[-1] if others else None)), column


def ends(metric: Metric, values: Iterable[float]) -> tuple[float, float]:
    """The ends of the scale of some values in the unit of display, which have a distance whatever the values are."""
    found = list(values) or [0.0]
    least, most = metric.ends
    low = min(found if least is None else [least, *found])
    high = max(found if most is None else [most, *found])
    return low, high if high > low else low + 1


def shade(value: float, low: float, high: float) -> float:
    """The place of a value between the ends of a scale: the root brings out differences among small values."""
    return math.sqrt(max(0.0, value - low) / (high - low))


def _shaded(metric: Metric, cells: pl.DataFrame) -> tuple[pl.DataFrame, Sequence[tuple[float, float]]]:
    """The cells with their shades, and the different scales of panels."""
    shades: list[float | None] = []
    scales: dict[tuple[float, float], None] = {}
    by_panel = {place: rows["value"].drop_nulls() for place, rows in cells.group_by("panel_row", "panel_column")}
    for *place, value in cells.select("panel_row", "panel_column", "value").iter_rows():
        scale = ends(metric, by_panel[tuple(place)])
        if value is not None:
            scales[scale] = None
        shades.append(None if value is None else shade(value, *scale))
    return cells.with_columns(pl.Series("shade", shades, pl.Float64)), list(scales)


def _legend(scales: Sequence[tuple[float, float]]) -> alt.Legend:
    """What the ends of the scale are: numbers if all panels have the same, and else words."""
    lows, highs = ({f"{end:.3g}" for end in both} for both in zip(*scales, strict=True)) if scales else (set[str](), set[str]())
    low, high = min(lows) if len(lows) == 1 else "least", min(highs) if len(highs) == 1 else "greatest of each panel"
    return alt.Legend(values=[0, 1], labelExpr=f"datum.value == 0 ? '{low}' : '{high}'", gradientLength=160)
