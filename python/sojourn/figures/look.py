"""How figures look: colours, dashes, type, titles."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from sojourn import _engine
from sojourn.figures.drawn import Drawn
from sojourn.figures.figure import Chart, Figure

#: The width of text on a page, in points, which are a figure's pixels.
DOCUMENT = 468

#: Okabe and Ito's colours ("Color universal design", 2008), which the colour-blind tell apart; yellow last, since it is faint,
#: and grey in place of black, which a dark page swallows.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#808080", "#f0e442")

#: Dashes that go with the colours, so that lines can be told without them.
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 1], [1, 2], [10, 3], [6, 2, 1, 2, 1, 2])

#: Shapes that go with the colours.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

#: Things with colours of their own that a figure has at most.
MOST_COLOURS = len(COLOURS)

_GREY = "#666666"

#: What all figures have in common; a page with another background may set these to something else.
CONFIG: Mapping[str, Any] = {
    "background": "white",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": "#cccccc"},
    "axis": {"labelFontSize": 8, "titleFontSize": 9, "titleFontWeight": "normal", "gridColor": "#e6e6e6", "gridWidth": 0.5},
    "header": {"labelFontSize": 9, "titleFontSize": 9, "titleFontWeight": "normal", "labelPadding": 2, "titlePadding": 0},
    "legend": {"labelFontSize": 8, "titleFontSize": 9, "titleFontWeight": "normal", "orient": "top"},
    "title": {"fontSize": 11, "anchor": "start", "subtitleFontSize": 8, "subtitleColor": _GREY, "offset": 8},
    "line": {"strokeWidth": 1},
}


def data(frame: pl.DataFrame) -> alt.InlineData:
    """A frame as the data of a chart, within it: as CSV, which is short, and which Altair need not check value by value."""
    kinds = {
        name: "boolean" if kind == pl.Boolean else "number" if kind.is_numeric() else "string"
        for name, kind in frame.schema.items()
    }
    return alt.InlineData(values=frame.write_csv(), format=alt.CsvDataFormat(parse=alt.Parse(**kinds), type="csv"))


def colour(title: str, labels: Sequence[str], field: str = "colour") -> alt.Color:
    """The colour that each label has, wherever it appears."""
    scale = alt.Scale(domain=list(labels), range=list(COLOURS[: len(labels)]))
    return alt.Color(f"{field}:N", title=title, scale=scale, sort=list(labels))


def dash(title: str, labels: Sequence[str], field: str = "colour") -> alt.StrokeDash:
    """The dashes that go with the colours."""
    scale = alt.Scale(domain=list(labels), range=[list(pattern) for pattern in DASHES[: len(labels)]])
    return alt.StrokeDash(f"{field}:N", title=title, scale=scale, sort=list(labels))


def finish(chart: Chart, figure: Figure, source: Drawn) -> Chart:
    """Gives a chart its title, what it shows, the command behind it, and the style."""
    seeds = f"seed {source.seeds[0]}" if len(source.seeds) == 1 else f"{len(source.seeds)} seeds"
    lines = [", ".join(part for part in (source.common, seeds) if part), *textwrap.wrap(source.command, 110)]
    titled = chart.properties(
        title=alt.TitleParams(figure.title, subtitle=lines),
        description=f"{figure.title}. {lines[0]}.",
        usermeta={"sojourn": {"figure": figure.name, "command": source.command, "version": _engine.version()}},
    )
    return titled.configure(**CONFIG)
