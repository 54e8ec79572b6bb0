"""Lines: one metric over the values of an axis that are quantities, with 95 % intervals over seeds."""

import altair as alt
import polars as pl

from sojourn.errors import InputError
from sojourn.figures import look, means
from sojourn.figures.drawn import ABSENT, Drawn, column
from sojourn.figures.panels import Panels, shown_axis, together
from sojourn.figures.registry import MetricFigure
from sojourn.units import amount


def of_metric(figure: MetricFigure, source: Drawn, width: int) -> look.Chart:
    """The figure's metric over the last axis of quantities, a line for each value of another."""
    axis = quantities(source)
    if axis is None:
        raise InputError(f"figure {figure.name}: needs an axis whose values are quantities or numbers")
    others = [other for other in source.varying if other != axis]
    side = together(source, others)
    of_side = source.places(side)
    panels = Panels(figure.name, source, [other for other in others if other != side], side)
    found = means.of_figure(figure, source)
    order = sorted(source.axes[axis], key=lambda label: amount(label) or 0)
    places = pl.col(column(axis)).replace_strict({label: place for place, label in enumerate(order)}).alias("place")
    rows = panels.place(found, shown_axis(axis, "group"), shown_axis(side, "colour"), places, "value", "low", "high", "seeds")
    shared = panels.alike(rows)
    panel = panels.width(width, shared=shared)
    label = figure.metric.label
    angle = alt.Axis(labelAngle=look.angle(order, panel), grid=True)
    base = alt.Chart(look.data(rows)).encode(
        x=alt.X("group:N", title=axis, sort=order, scale=alt.Scale(type="point"), axis=angle),
        tooltip=[*look.labels({"group": axis, "colour": side}), *look.interval(label)],
    )
    y, colours = alt.Y("value:Q", title=label), look.colour(side, of_side, width)
    lines = base.mark_line().encode(y=y, order="place:Q", **look.colour_and_dash(side, of_side, width))
    points = base.mark_point(filled=True, size=25).encode(y=y, **colours)
    intervals = base.mark_rule().encode(y=alt.Y("low:Q", title=label), y2="high:Q", **colours)
    return panels.divide([intervals, lines, points], panel, shared=shared)


def quantities(source: Drawn) -> str | None:
    """The last varying axis all of whose labels are quantities or numbers; none if there is no such axis."""
    found = [axis for axis in source.varying if all(label == ABSENT or amount(label) is not None for label in source.axes[axis])]
    return found[-1] if found else None
