"""The windows of both algorithms over time as a figure."""

import altair as alt
import polars as pl

from sojourn.figures import look
from sojourn.figures.over_time import STRETCHES, thinned

#: What the figure calls the two.
OURS, LINUX = "Sojourn", "Linux"

LABEL = "Congestion window (segments)"


def draw(events: pl.DataFrame, name: str, module: str, command: str, width: int = look.DOCUMENT) -> look.Chart:
    """The windows of a built-in algorithm and of a module over time."""
    lines = pl.concat(
        events.select("time", value=pl.col(f"{who}_cwnd"), colour=pl.lit(called))
        for who, called in (("linux", LINUX), ("ours", OURS))
    ).select("colour", "time", "value")
    panel = width - 70
    title = alt.TitleParams(f"{name} and Linux's {module} in one sequence of events", subtitle=[command])
    chart = (
        alt.Chart(look.data(thinned(lines, STRETCHES * panel)))
        .mark_line()
        .encode(
            x=alt.X("time:Q", title="Time (s)"),
            y=alt.Y("value:Q", title=LABEL),
            tooltip=[alt.Tooltip("time:Q", format=look.DIGITS), alt.Tooltip("value:Q", title=LABEL, format=look.DIGITS)],
            **look.colour_and_dash("algorithm", {LINUX: 0, OURS: 1}, width),
        )
        .properties(width=panel, height=look.height(panel), title=title)
    )
    drawn: look.Chart = chart.configure(**look.CONFIG)
    return drawn
