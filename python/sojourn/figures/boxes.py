"""Box plots: the quartiles, the least and the greatest of the values of each cell.

Source of the form: Spear, "Charting Statistics", 1952, whose whiskers reach the least and the greatest value. The quartiles are
those of ``metrics.formulas.quantile``: linear interpolation between order statistics.
"""

import altair as alt
import polars as pl

from sojourn.figures import look, values
from sojourn.figures.drawn import Drawn
from sojourn.figures.panels import Panels, shown_axis, together
from sojourn.figures.registry import Figure


def of_values(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """A box a cell, of the values of all its seeds."""
    label, found = values.of(figure, source)
    side = together(source) if len(source.varying) > 1 else None
    others = [axis for axis in source.varying if axis != side]
    group = others[-1] if others else None
    panels = Panels(figure.name, source, others[:-1], side)
    boxes = (
        found.group_by(source.columns, maintain_order=True)
        .agg(
            low=pl.col("value").min(),
            q1=pl.col("value").quantile(0.25, "linear"),
            value=pl.col("value").median(),
            q3=pl.col("value").quantile(0.75, "linear"),
            high=pl.col("value").max(),
            number=pl.len(),
        )
        .with_columns(pl.col(source.columns).cast(pl.String))
    )
    parts = ("low", "q1", "value", "q3", "high", "number")
    rows = panels.place(boxes, shown_axis(group, "group"), shown_axis(side, "colour"), *parts)
    shared = panels.alike(rows.with_columns(value=pl.col("high")))
    panel = panels.width(width, shared=shared)
    labels = source.labels(side)
    titles = dict(zip(parts, ("Least", "First quartile", "Median", "Third quartile", "Greatest", "Values"), strict=True))
    base = alt.Chart(look.data(rows)).encode(
        x=look.groups(group, source.labels(group), panel),
        xOffset=alt.XOffset("colour:N", sort=list(labels)),
        tooltip=[*look.labels({"group": group, "colour": side}), *look.numbers(titles)],
    )
    whiskers = base.mark_rule().encode(y=alt.Y("low:Q", title=label), y2="high:Q")
    told = look.own_colour(source, group) if side is None else look.colour(side, source.places(side), width)
    filled = base.mark_bar().encode(y=alt.Y("q1:Q", title=label), y2="q3:Q", **told)
    medians = base.mark_tick(color="#000000", thickness=1.5).encode(y=alt.Y("value:Q", title=label))
    return panels.divide([whiskers, filled, medians], panel, shared=shared)
