"""Heat maps: one measure of every cell of the matrix, a congestion control a row and a queue a column."""

from collections.abc import Callable
from dataclasses import dataclass

import altair as alt
import polars as pl

from sojourn.figures import look
from sojourn.figures.drawn import Drawn
from sojourn.figures.figure import Chart, Figure, Need
from sojourn.figures.panels import Panels
from sojourn.statistics import estimate

#: The axes that are rows and columns, if the campaign has them.
ROW, COLUMN = "tcp", "queue"

#: The height of a row in points.
ROW_HEIGHT = 22


@dataclass(frozen=True)
class Measure:
    """What a heat map shows of a run."""

    name: str
    title: str
    #: Of the colours' legend, with the unit.
    legend: str
    need: Need
    #: A frame with ``key`` and ``value``, a row a run.
    values: Callable[[Drawn], pl.DataFrame]
    #: The ends of the scale that are not those of the values.
    domain: tuple[float | None, float | None]


def _of_runs(column: str, factor: float = 1) -> Callable[[Drawn], pl.DataFrame]:
    return lambda source: source.runs.select("key", value=pl.col(column) * factor)


MEASURES = (
    Measure("fairness", "Fairness among flows", "Jain's index (1: all equal)", Need.RUNS, _of_runs("jain"), (0.5, 1)),
    Measure(
        "utilisation", "Utilisation of the bottleneck", "Utilisation (%)", Need.QUEUES, _of_runs("utilisation", 100), (50, 100)
    ),
    Measure(
        *("sojourn-median", "Median sojourn time at the bottleneck", "Sojourn time, median (ms)", Need.QUEUES),
        lambda source: source.bottlenecks.select("key", value=pl.col("sojourn_p50") * 1e3),
        (0, None),
    ),
    Measure(
        *(
            "sojourn-p99",
            "99th percentile of the sojourn time at the bottleneck",
            "Sojourn time, 99th percentile (ms)",
            Need.QUEUES,
        ),
        _of_runs("sojourn_p99_s", 1e3),
        (0, None),
    ),
    Measure("drop-ratio", "Drops at the bottleneck", "Drop ratio (%)", Need.QUEUES, _of_runs("drop_pct"), (0, None)),
)


def _draw(measure: Measure, source: Drawn, width: int) -> Chart:
    row, column = _rows_and_columns(source)
    panels = Panels(source, [axis for axis in source.varying if axis not in (row, column)])
    panels.check(f"heatmap-{measure.name}")
    cells = panels.place(_cells(measure, source)).with_columns(
        row=pl.lit("") if row is None else pl.col(row), column=pl.lit("") if column is None else pl.col(column)
    )
    low, high = cells["value"].min(), cells["value"].max()
    least, most = measure.domain
    domain = [low if least is None else min(least, low), high if most is None else most]
    # Numbers are white on the dark half of viridis and black on the light one; the scale goes with the root of the value.
    light = (pl.col("value") - domain[0]) > 0.36 * (domain[1] - domain[0])
    shown = cells.with_columns(light=light.fill_null(False)).select(
        "panel_row", "panel_column", "row", "column", "value", "low", "high", "seeds", "light"
    )
    panel = panels.width(width)
    rows = 1 if row is None else len(source.axes[row])
    base = alt.Chart(look.data(shown)).encode(
        x=alt.X("column:N", title=column, sort=None if column is None else list(source.axes[column])),
        y=alt.Y("row:N", title=row, sort=None if row is None else list(source.axes[row])),
        tooltip=[
            *(alt.Tooltip(f"{name}:N", title=axis) for name, axis in (("row", row), ("column", column)) if axis is not None),
            alt.Tooltip("value:Q", title=measure.legend, format=".4~g"),
            alt.Tooltip("low:Q", title="95 % interval from", format=".4~g"),
            alt.Tooltip("high:Q", title="to", format=".4~g"),
            alt.Tooltip("seeds:Q", title="seeds"),
        ],
    )
    scale = alt.Scale(scheme="viridis", type="sqrt", domain=domain)
    squares = base.mark_rect().encode(color=alt.Color("value:Q", title=measure.legend, scale=scale))
    ink = alt.condition("datum.light", alt.value("black"), alt.value("white"))
    numbers = base.mark_text(fontSize=8).encode(text=alt.Text("value:Q", format=".3~g"), color=ink)
    chart = alt.layer(squares, numbers).properties(width=panel, height=ROW_HEIGHT * rows)
    return panels.divide(chart)


def _rows_and_columns(source: Drawn) -> tuple[str | None, str | None]:
    varying = source.varying
    column = COLUMN if COLUMN in varying else next((axis for axis in reversed(varying) if axis != ROW), None)
    others = [axis for axis in varying if axis != column]
    return (ROW if ROW in others else (others[-1] if others else None)), column


def _cells(measure: Measure, source: Drawn) -> pl.DataFrame:
    """A row a cell: the mean over seeds and the ends of its 95 % interval."""
    axes = list(source.axes)
    values = source.runs.select("key", *axes).join(measure.values(source), on="key", how="left")
    return (
        values.group_by(axes, maintain_order=True)
        .agg(pl.col("value").drop_nulls())
        .with_columns(found=pl.col("value").map_elements(_estimate, return_dtype=ESTIMATE))
        .drop("value")
        .unnest("found")
    )


ESTIMATE = pl.Struct({"value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "seeds": pl.Int64})


def _estimate(values: pl.Series) -> dict[str, float | None]:
    if not values.len():
        return {"value": None, "low": None, "high": None, "seeds": 0}
    mean, low, high = estimate(values.to_list())
    return {"value": mean, "low": low, "high": high, "seeds": values.len()}


def _figure(measure: Measure) -> Figure:
    return Figure(f"heatmap-{measure.name}", measure.title, measure.need, lambda source, width: _draw(measure, source, width))


FIGURES = tuple(map(_figure, MEASURES))
