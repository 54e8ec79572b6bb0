"""Figures of samples over time: the queue's length. One seed, the first of the drawn."""

import altair as alt
import polars as pl

from sojourn.errors import InputError
from sojourn.figures import look
from sojourn.figures.drawn import Drawn
from sojourn.figures.figure import Chart, Figure, Need
from sojourn.figures.panels import Panels

#: The axis whose values share a panel, if the campaign has it: what is compared most.
TOGETHER = "queue"

#: Panels whose greatest values differ by no more than this have the same y axis.
SAME_SCALE = 4


def _queue(source: Drawn, width: int) -> Chart:
    return _of_bottleneck(source, width, "packets", "Queue length (packets)", "queue-over-time")


def _of_bottleneck(source: Drawn, width: int, measure: str, title: str, figure: str) -> Chart:
    keys = source.bottlenecks.filter(seed=source.seeds[0]).select("key", which="link")
    samples = source.frame("series").filter(kind="queue", measure=measure).collect().join(keys, on=["key", "which"], how="semi")
    together = _together(source)
    panels = Panels(source, [axis for axis in source.varying if axis != together])
    panels.check(figure)
    labels = [] if together is None else source.axes[together]
    if len(labels) > look.MOST_COLOURS:
        raise InputError(
            f"figure {figure}: {len(labels)} lines are too many, and {look.MOST_COLOURS} the most; choose values with "
            f"--only {together}={labels[0]!r}"
        )
    colour = pl.lit("") if together is None else pl.col(together)
    placed = panels.place(samples.drop_nulls("value")).with_columns(colour=colour)
    highest = placed.group_by("panel_row", "panel_column").agg(pl.col("value").max())["value"]
    rows = placed.select("panel_row", "panel_column", "colour", "time", "value")
    encoding = {
        "x": alt.X("time:Q", title="Time (s)"),
        "y": alt.Y("value:Q", title=title),
        "tooltip": [alt.Tooltip("time:Q", title="Time (s)"), alt.Tooltip("value:Q", title=title, format=".4~g")],
    }
    if together is not None:
        encoding |= {"color": look.colour(together, labels), "strokeDash": look.dash(together, labels)}
    panel = panels.width(width)
    size = {"width": panel, "height": max(90, panel * 2 // 5)}
    chart = alt.Chart(look.data(rows)).mark_line(clip=True).encode(**encoding).properties(**size)
    return panels.divide(chart, shared=highest.max() <= SAME_SCALE * highest.min())


def _together(source: Drawn) -> str | None:
    varying = source.varying
    return TOGETHER if TOGETHER in varying else (varying[-1] if varying else None)


FIGURES = (Figure("queue-over-time", "Queue length over time", Need.QUEUE_SERIES, _queue),)
