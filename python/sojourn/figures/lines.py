"""Lines: one metric over the values of an axis that are quantities, with 95 % intervals over seeds."""

import altair as alt
import polars as pl

from sojourn.errors import InputError
from sojourn.figures import look, means, quantities
from sojourn.figures.drawn import Drawn, column
from sojourn.figures.panels import Panels, shown_axis, together
from sojourn.figures.quantities import Quantities
from sojourn.figures.registry import MetricFigure
from sojourn.names import GROUP


def of_metric(figure: MetricFigure, source: Drawn, width: int) -> look.Chart:
    """The figure's metric over the last axis of quantities, a line for each value of another."""
    axis, numbers = _quantities(figure, source)
    return _over(figure, source, width, axis, numbers, together(source, [other for other in source.varying if other != axis]))


def by_group(figure: MetricFigure, source: Drawn, width: int) -> look.Chart:
    """The figure's metric over the last axis of quantities, a line for each group of flows."""
    axis, numbers = _quantities(figure, source)
    return _over(figure, source if GROUP in source.axes else source.by_group(), width, axis, numbers, GROUP)


def _over(figure: MetricFigure, source: Drawn, width: int, axis: str, numbers: Quantities, side: str | None) -> look.Chart:
    places = source.places(side)
    panels = Panels(figure.name, source, [other for other in source.varying if other not in (axis, side)], side)
    found = means.of_figure(figure, source)
    x = pl.col(column(axis)).replace_strict(numbers.numbers).alias("x")
    rows = panels.place(found, shown_axis(axis, "group"), shown_axis(side, "colour"), x, "value", "low", "high", "seeds")
    shared = panels.alike(rows)
    panel = panels.width(width, shared=shared)
    series = list(places) or [""]
    beside = numbers.beside(series, panel)
    at = pl.DataFrame(beside, schema=["group", "colour", "at"], orient="row")
    rows = rows.join(at, on=["group", "colour"], how="left", maintain_order="left").sort("x", maintain_order=True)
    label = figure.metric.label
    base = alt.Chart(look.data(rows)).encode(
        x=numbers.encoding("at", len(series), panel),
        tooltip=[*look.labels({"group": axis, "colour": side}), *look.interval(label)],
    )
    y, colours = alt.Y("value:Q", title=label), look.colour(side, places, width, lines=True)
    lines = base.mark_line().encode(y=y, order="x:Q", **look.colour_and_dash(side, places, width))
    points = base.mark_point(filled=True, size=25).encode(y=y, **colours)
    intervals = base.mark_rule().encode(y=alt.Y("low:Q", title=label), y2="high:Q", **colours)
    return panels.divide([intervals, lines, points], panel, shared=shared)


def axis_of(source: Drawn) -> str | None:
    """Of the varying axes whose labels are quantities or numbers the one with most of them, or the last of several; or none."""
    found = [axis for axis in source.varying if quantities.of("", axis, source.axes[axis]) is not None]
    return max(reversed(found), key=lambda axis: len(source.axes[axis]), default=None)


def _quantities(figure: MetricFigure, source: Drawn) -> tuple[str, Quantities]:
    axis = axis_of(source)
    numbers = None if axis is None else quantities.of(figure.name, axis, source.axes[axis], source.wishes.x_scale)
    if axis is None or numbers is None:
        raise InputError(f"figure {figure.name}: needs an axis whose values are quantities or numbers")
    return axis, numbers
