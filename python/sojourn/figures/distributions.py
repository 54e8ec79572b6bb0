"""Distributions of flow throughput: the share of a cell's flows, over all its seeds, up to each throughput."""

import altair as alt
import polars as pl

from sojourn.figures import look
from sojourn.figures.chart import Chart
from sojourn.figures.drawn import Drawn
from sojourn.figures.panels import Panels, shown_axis, together
from sojourn.figures.registry import Figure

#: Steps of a curve: of more flows than that some steps are left out.
STEPS = 200


def flow_throughputs(figure: Figure, source: Drawn, width: int) -> Chart:
    """The distribution functions of cells, a line each."""
    side = together(source)
    labels = source.labels(side)
    look.check_distinct(figure.name, side, labels)
    panels = Panels(source, [axis for axis in source.varying if axis != side])
    panels.check(figure.name)
    curves = cumulative(source.throughputs.select(*source.columns, "mbps"), source.columns)
    rows = panels.place(curves, shown_axis(side, "colour"), "mbps", "share")
    across, up = "Throughput (Mbit/s)", "Share of flows (%)"
    x, y = alt.X("mbps:Q", title=across), alt.Y("share:Q", title=up)
    lines = alt.Chart(look.data(rows)).mark_line(interpolate="step-after")
    tooltip = [
        *look.labels({"colour": side}),
        alt.Tooltip("mbps:Q", title=across, format=look.DIGITS),
        alt.Tooltip("share:Q", title=up, format=look.DIGITS),
    ]
    panel = panels.width(width)
    chart = lines.encode(x=x, y=y, order="share:Q", tooltip=tooltip, **look.colour_and_dash(side, labels))
    divided = panels.divide(chart.properties(width=panel, height=look.height(panel)))
    return divided if _alike(rows) or not panels.axes else divided.resolve_scale(x="independent")


def cumulative(flows: pl.DataFrame, cell: list[str]) -> pl.DataFrame:
    """The steps of each cell's empirical distribution function, from 0 to 100 % in ``share``."""
    ranked = flows.sort(*cell, "mbps").with_columns(
        rank=pl.int_range(1, pl.len() + 1).over(cell), flows=pl.len().over(cell).cast(pl.Int64)
    )
    kept = ranked.filter(pl.col("rank") * STEPS // pl.col("flows") != (pl.col("rank") - 1) * STEPS // pl.col("flows"))
    starts = ranked.filter(rank=1).with_columns(rank=pl.lit(0, pl.Int64))
    steps = pl.concat([starts, kept]).sort(*cell, "rank")
    return steps.select(*cell, "mbps", share=100 * pl.col("rank") / pl.col("flows"))


def _alike(rows: pl.DataFrame) -> bool:
    return Panels.alike(rows.rename({"mbps": "value"}))
