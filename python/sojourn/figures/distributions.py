"""Distributions: the share of a cell's values, over all its seeds, up to each value."""

import altair as alt
import polars as pl

from sojourn.figures import look, values
from sojourn.figures.drawn import Drawn
from sojourn.figures.panels import Panels, shown_axis, together
from sojourn.figures.registry import Figure

#: Steps of a curve: of more values than that some steps are left out.
STEPS = 200


def flow_throughputs(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """The distribution functions of the throughputs of cells' flows, a line each."""
    found = source.compact(source.scan_throughputs().select(*source.columns, value="mbps"))
    return _functions(figure, source, width, found, "Throughput (Mbit/s)", "Share of flows (%)")


def of_values(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """The distribution functions of cells, a line each."""
    label, found = values.of(figure, source)
    return _functions(figure, source, width, found, label, "Share of values (%)")


def _functions(figure: Figure, source: Drawn, width: int, found: pl.DataFrame, across: str, up: str) -> look.Chart:
    side = together(source)
    panels = Panels(figure.name, source, [axis for axis in source.varying if axis != side], side)
    curves = cumulative(found, source.columns)
    rows = panels.place(curves, shown_axis(side, "colour"), "value", "share")
    x, y = alt.X("value:Q", title=across), alt.Y("share:Q", title=up)
    lines = alt.Chart(look.data(rows)).mark_line(interpolate="step-after")
    tooltip = look.labels({"colour": side}) + look.numbers({"value": across, "share": up})
    panel = panels.width(width)
    chart = lines.encode(x=x, y=y, order="share:Q", tooltip=tooltip, **look.colour_and_dash(side, source.places(side), width))
    divided = panels.divide(chart, panel)
    return divided if panels.alike(rows) or not panels.axes else divided.resolve_scale(x="independent")


def cumulative(found: pl.DataFrame, cell: list[str]) -> pl.DataFrame:
    """The steps of the empirical distribution function of each cell's ``value``, from 0 to 100 % in ``share``."""
    # One by one: parted all at once they would take their room twice.
    cells = found.lazy().select(cell).unique().collect(engine="streaming").iter_rows(named=True)
    steps = [_steps(found.filter(**labels).sort("value")) for labels in cells] if cell else [_steps(found.sort("value"))]
    return pl.concat(steps).with_columns(pl.col(cell).cast(pl.String)).sort(*cell, "share", maintain_order=True)


def _steps(ordered: pl.DataFrame) -> pl.DataFrame:
    """The steps of one cell, of its values in order: where each of ``STEPS`` equal shares of them ends."""
    number = ordered.height
    ranks = sorted({-(-number * step // STEPS) for step in range(1, STEPS + 1)})
    share = pl.Series("share", [100 * rank / number for rank in [0, *ranks]])
    return ordered[[0, *(rank - 1 for rank in ranks)]].with_columns(share)
