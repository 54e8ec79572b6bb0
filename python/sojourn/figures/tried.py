"""What a search has tried: a front between two metrics."""

import textwrap
from collections.abc import Sequence

import altair as alt
import polars as pl

from sojourn.figures import look
from sojourn.metrics import METRICS

#: What the points of a chart are called, in the order of their colours.
OTHERS, FRONT, OWN = "tried", "front", "the file's own"


def front(
    points: pl.DataFrame, best: pl.DataFrame, columns: Sequence[str], own: Sequence[float | None] | None, name: str
) -> look.Chart:
    """All points by two columns, those than which none is better by both with a line through them, and what the file itself has.

    Args:
        points: the points that were tried, a row each.
        best: those of the front.
        columns: the metrics, that of the horizontal axis first.
        own: the values of what the file itself has.
        name: what the scenario is called.
    """
    mine = pl.DataFrame([own] if own is not None else [], schema=dict.fromkeys(columns, pl.Float64), orient="row")
    kinds = {OTHERS: points.filter(~points["point"].is_in(best["point"].implode())), FRONT: best, OWN: mine}
    factors = [METRICS[column].factor if column in METRICS else 1 for column in columns]
    rows = pl.concat(
        frame.select(
            *((pl.col(column) * factor).alias(axis) for axis, column, factor in zip("xy", columns, factors, strict=True)),
            pl.lit(kind).alias("colour"),
        )
        for kind, frame in kinds.items()
    ).drop_nulls()
    titles = [METRICS[column].label if column in METRICS else column for column in columns]
    x, y = (
        alt.X("x:Q", title=titles[0], scale=alt.Scale(zero=False)),
        alt.Y("y:Q", title=titles[1], scale=alt.Scale(zero=False)),
    )
    base = alt.Chart(look.data(rows))
    line = base.transform_filter(f"datum.colour == '{FRONT}'").mark_line(opacity=0.5).encode(x=x, y=y)
    places = {kind: place for place, (kind, frame) in enumerate(kinds.items()) if frame.height}
    told = look.colour("points", places, look.DOCUMENT)
    marks = base.mark_point(filled=True, size=30, opacity=0.9).encode(
        x=x, y=y, tooltip=look.numbers(dict(zip("xy", titles, strict=True))), **told
    )
    chart: look.Chart = alt.layer(line, marks).properties(width=look.DOCUMENT, height=look.height(look.DOCUMENT))
    said = f"{points.height} points, {best.height} of them in the front: none is better than these by both"
    finished: look.Chart = chart.properties(
        title=alt.TitleParams(textwrap.wrap(name, look.LINE // 2), subtitle=[said])
    ).configure(**look.CONFIG)
    return finished
