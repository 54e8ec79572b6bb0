"""Bars: one measure of every cell side by side, with 95 % intervals over seeds."""

from collections.abc import Sequence
from functools import partial

import altair as alt
import polars as pl

from sojourn.figures import look, measures
from sojourn.figures.drawn import Drawn
from sojourn.figures.figure import Chart, Figure, Need
from sojourn.figures.measures import Measure
from sojourn.figures.panels import Panels, shown_axis, together

BY_ALGORITHM = "throughput-by-algorithm"


def _of_cells(measure: Measure, source: Drawn, width: int) -> Chart:
    side = together(source)
    found = measures.of_cells(source, measure)
    bars = found.with_columns(shown_axis(side, "colour"))
    others = [axis for axis in source.varying if axis != side]
    return _bars(measure.name, measure.label, source, width, bars, others, side, source.labels(side))


def _by_algorithm(source: Drawn, width: int) -> Chart:
    rates = source.throughputs.group_by("key", *source.columns, "algorithm", maintain_order=True).agg(value=pl.col("mbps").sum())
    bars = measures.over_seeds(rates, [*source.columns, "algorithm"]).rename({"algorithm": "colour"})
    algorithms = sorted(bars["colour"].unique())
    return _bars(BY_ALGORITHM, measures.THROUGHPUT.label, source, width, bars, source.varying, "algorithm", algorithms)


def _bars(
    figure: str,
    title: str,
    source: Drawn,
    width: int,
    bars: pl.DataFrame,
    axes: Sequence[str],
    side: str | None,
    labels: Sequence[str],
) -> Chart:
    """Bars in panels by ``axes``, of which the last tells groups side by side; ``side`` is what the colours tell."""
    look.check_distinct(figure, side, labels)
    group = axes[-1] if axes else None
    panels = Panels(source, axes[:-1])
    panels.check(figure)
    rows = panels.place(bars, shown_axis(group, "group"), "colour", "value", "low", "high", "seeds")
    shared = panels.alike(rows)
    panel = panels.width(width, shared=shared)
    base = alt.Chart(look.data(rows)).encode(
        x=alt.X(
            "group:N", title=group, sort=source.labels(group), axis=alt.Axis(labelAngle=look.angle(source.labels(group), panel))
        ),
        xOffset=alt.XOffset("colour:N", sort=list(labels)),
        tooltip=[*look.labels({"group": group, "colour": side}), *look.interval(title)],
    )
    filled = base.mark_bar().encode(y=alt.Y("value:Q", title=title), **look.colour(side, labels))
    intervals = base.mark_rule().encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    chart = alt.LayerChart(layer=[filled, intervals]).properties(width=panel, height=look.height(panel))
    return panels.divide(chart, shared=shared)


FIGURES = (
    *(
        Figure(each.name, each.title, each.need, partial(_of_cells, each))
        for each in (measures.THROUGHPUT, measures.FAIRNESS, measures.SOJOURN_MEAN, measures.DROP_RATIO, measures.ROUND_TRIP)
    ),
    Figure(BY_ALGORITHM, "Throughput of the flows of each algorithm", Need.RUNS, _by_algorithm),
)
