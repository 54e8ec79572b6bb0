"""What packets of the benchmark's cells cost, commit by commit, as a table and as a picture."""

from dataclasses import asdict
from functools import cache

import altair as alt
import polars as pl

from made.results import ROOT
from sojourn.bench import history
from sojourn.colours import slots
from sojourn.figures import look
from sojourn.figures.saving import svg

FILE = ROOT / "bench" / "history.csv"

#: What is drawn, and the titles of the axes.
MEASURES = {
    "instructions_a_packet": "Instructions a packet",
    "steps_a_packet": "Steps a packet",
    "share_of_bare_loop": "Share of the bare loop",
}

#: Points that a panel is wide and high.
WIDTH, HEIGHT = 400, 90


@cache
def recorded() -> list[history.Recorded]:
    """All that was recorded."""
    return history.read(FILE)


def commits() -> list[str]:
    """The commits, in the order in which they were recorded."""
    return list(dict.fromkeys(each.commit for each in recorded()))


def of(measure: str, last: int) -> list[list[str]]:
    """A row for each cell, with what a measure was at each of the last commits."""
    found = {(each.cell, each.commit): getattr(each, measure) for each in recorded()}
    places = 0 if measure == "instructions_a_packet" else 2
    return [
        [cell, *(f"{found[cell, commit]:,.{places}f}" if (cell, commit) in found else "" for commit in commits()[-last:])]
        for cell in dict.fromkeys(each.cell for each in recorded())
    ]


def plot() -> bytes:
    """A line for each cell; it breaks where another compiler built the engine, since counts differ then."""
    frame = pl.DataFrame([asdict(each) for each in recorded()], schema=history.SCHEMA)
    cells = frame["cell"].unique(maintain_order=True).to_list()
    panels = []
    for measure, title in MEASURES.items():
        panel = alt.Chart().mark_line(point=True).encode(
            x=alt.X("commit:N", title=None, sort=commits(), axis=alt.Axis(labelAngle=-45)),
            y=alt.Y(f"{measure}:Q", title=title, scale=alt.Scale(zero=False)),
            detail="rustc:N",
            **look.colour_and_dash("Cell", slots(cells), WIDTH),
        )  # fmt: skip
        panels.append(panel.properties(width=WIDTH, height=HEIGHT))
    data = look.data(frame.rename({"cell": "colour"}))
    return svg(alt.vconcat(*panels, data=data).configure(**look.CONFIG)).encode()
