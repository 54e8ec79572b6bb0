"""How figures look: colours, dashes, type, titles."""

import json
import shlex
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import altair as alt
import polars as pl
from polars import selectors as cs

from sojourn import _engine, colours, units
from sojourn.errors import InputError
from sojourn.figures.chart import Chart as Chart
from sojourn.figures.drawn import Drawn
from sojourn.figures.registry import Figure

#: The width of text on a page, in points, which are a figure's pixels.
DOCUMENT = 468

#: Dashes that go with the places of the palette, so that lines can be told without colours.
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 1], [1, 2], [10, 3], [6, 2, 1, 2, 1, 2])

#: Shapes that go with the places of the palette.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

#: Labels that Vega takes for what every object of JavaScript has, and fails to draw in a legend.
UNDRAWABLE = {"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"}

#: Digits of the numbers that a chart holds: more than can be seen.
PRECISION = 6

#: How numbers are written in tooltips.
DIGITS = ".4~g"

#: Letters of a line below the title.
LINE = 112

#: Characters that fit in a line of a legend as wide as a document's text, and those that a symbol and the gap after a label take.
LEGEND, SYMBOL = 85, 5

#: Points that a line is long in a legend, so that its dashes are seen.
LONG = 18

#: Points that a letter of a label takes, and one of a panel's heading; lines that a label below an axis has at most.
LETTER, HEADING, LINES = 4.5, 5.0, 3

#: Letters of a line of a label that stands askew, and the points between two such lines along the axis.
ASKEW, BETWEEN_ASKEW = 26, 16

_GREY = "#666666"

#: What all figures have in common; a page with another background may set these to something else.
CONFIG: Mapping[str, Any] = {
    "background": "white",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": "#cccccc"},
    "axis": {"labelFontSize": 8, "titleFontSize": 9, "titleFontWeight": "normal", "gridColor": "#e6e6e6", "gridWidth": 0.5},
    "header": {"labelFontSize": 9, "titleFontSize": 9, "titleFontWeight": "normal", "labelPadding": 2, "titlePadding": 4},
    "legend": {
        "labelFontSize": 8,
        "titleFontSize": 9,
        "titleFontWeight": "normal",
        "orient": "top",
        "offset": 4,
        "symbolBaseFillColor": _GREY,
        "symbolBaseStrokeColor": _GREY,
    },
    "title": {"fontSize": 11, "anchor": "start", "subtitleFontSize": 8, "subtitleColor": _GREY, "offset": 8},
    "mark": {"color": colours.PALETTE[0]},
    # Mitred corners of a thin spike would reach beyond its value, below an empty queue.
    "line": {"strokeWidth": 1, "strokeJoin": "round"},
    "rule": {"color": "#333333"},
}


def data(frame: pl.DataFrame) -> alt.InlineData:
    """A frame as the data of a chart, within it: as CSV, which is short, and which Altair need not check value by value."""
    kinds = {
        name: "boolean" if kind == pl.Boolean else "number" if kind.is_numeric() else "string"
        for name, kind in frame.schema.items()
    }
    text = frame.with_columns(cs.float().round_sig_figs(PRECISION)).write_csv()
    return alt.InlineData(values=text, format=alt.CsvDataFormat.from_dict({"type": "csv", "parse": kinds}))


def check_distinct(figure: str, axis: str | None, labels: Sequence[str]) -> None:
    """Checks that the labels can be distinguished by colour, and that a legend can have them."""
    for label in labels:
        if label in UNDRAWABLE:
            raise InputError(f'figure {figure}: Vega cannot draw the label "{label}" of {axis}; give it another')
    if axis in UNDRAWABLE:
        raise InputError(f'figure {figure}: Vega cannot draw an axis called "{axis}"; rename it')
    if len(labels) > colours.MOST:
        example = shlex.quote(f"{axis}={labels[0]}")
        raise InputError(
            f"figure {figure}: {len(labels)} values of {axis}, at most {colours.MOST} can be drawn; "
            f"choose some, such as --only {example}"
        )


def colour(title: str | None, places: Mapping[str, int], width: int, *, lines: bool = False) -> dict[str, Any]:
    """The encoding of ``colour``, of labels with their places in the palette; nothing where there is nothing to tell.

    A chart with lines has lines in its legend.
    """
    return _told("color", alt.Color("colour:N"), colours.PALETTE, title, places, _legend(places, width, lines=lines))


def own_colour(source: Drawn, axis: str | None) -> dict[str, Any]:
    """The colour of each value of the one axis that varies, in ``group``, which stands below it; none of quantities."""
    labels = source.labels(axis)
    if axis is None or len(labels) > colours.MOST or all(units.amount(label) is not None for label in labels):
        return {}
    places = source.places(axis)
    scale = alt.Scale(domain=list(places), range=[colours.PALETTE[place] for place in places.values()])
    return {"color": alt.Color("group:N", scale=scale, legend=None)}


def colour_and_dash(title: str | None, places: Mapping[str, int], width: int) -> dict[str, Any]:
    """The encoding of ``colour`` for lines, which dashes tell as well."""
    legend = _legend(places, width, lines=True)
    dashes = _told("strokeDash", alt.StrokeDash("colour:N"), DASHES, title, places, legend)
    return colour(title, places, width, lines=True) | dashes


def shape(title: str | None, labels: Sequence[str], width: int) -> dict[str, Any]:
    """The encoding of ``shape``, explained below the chart, since above it are the colours."""
    places = {label: place for place, label in enumerate(labels)}
    return _told("shape", alt.Shape("shape:N"), SHAPES, title, places, _legend(places, width, "bottom"))


def _told(
    channel: str,
    made: alt.Color | alt.StrokeDash | alt.Shape,
    values: Sequence[Any],
    title: str | None,
    places: Mapping[str, int],
    legend: alt.Legend,
) -> dict[str, Any]:
    """An encoding by values, one a label; nothing where there is nothing to tell."""
    if title is None:
        return {}
    labels = list(places)
    scale = alt.Scale(domain=labels, range=[values[place] for place in places.values()])
    return {channel: made.scale(scale).title(title).sort(labels).legend(legend)}


def _legend(labels: Iterable[str], width: int, side: Literal["top", "bottom"] = "top", *, lines: bool = False) -> alt.Legend:
    """A legend of a figure so wide: in one line, or in as many columns as fit where its labels are too long for that."""
    symbol: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 1.5, "symbolSize": LONG**2} if lines else {}
    takes, room = [len(label) + (2 * SYMBOL if lines else SYMBOL) for label in labels], LEGEND * width // DOCUMENT
    fitting = (number for number in range(len(takes), 1, -1) if sum(max(takes[place::number]) for place in range(number)) <= room)
    return alt.Legend(columns=next(fitting, 1), orient=side, labelLimit=width, **symbol)


def labels(titles: Mapping[str, str | None]) -> list[alt.Tooltip]:
    """What a tooltip says of fields that have a title.

    Vega-Lite makes an expression of a tooltip and quotes its titles, but leaves a backslash as it is (6.4.1).
    """
    return [alt.Tooltip(f"{field}:N", title=title.replace("\\", r"\\")) for field, title in titles.items() if title is not None]


def interval(title: str) -> list[alt.Tooltip]:
    """What a tooltip says of ``value``, of its 95 % interval from ``low`` to ``high``, and of its ``seeds``."""
    return numbers({"value": title, "low": "95 % interval from", "high": "95 % interval to", "seeds": "Seeds"})


def numbers(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    """What a tooltip says of fields that are numbers."""
    return [alt.Tooltip(f"{field}:Q", title=title, format=DIGITS) for field, title in titles.items()]


def groups(title: str | None, labels: Sequence[str], width: int, field: str = "group:N") -> alt.X:
    """The axis of a field, so wide, with these labels in order: flat, in lines, or askew where they are too long for that."""
    each = width / max(1, len(labels))
    fits = int(each / LETTER) - 1
    flat = fits > 0 and all(len(_lines(label, fits)) <= LINES and max(map(len, label.split())) <= fits for label in labels)
    broken = broken_labels(labels, fits if flat else ASKEW if each > BETWEEN_ASKEW else 2 * ASKEW)
    return alt.X(field, title=title, sort=list(labels), axis=alt.Axis(labelAngle=0 if flat else -45, labelLimit=width, **broken))


def broken_labels(labels: Sequence[str], fits: int) -> dict[str, Any]:
    """What has an axis or a heading write labels in lines of so many letters; nothing where all are shorter."""
    if all(len(label) <= fits for label in labels):
        return {}
    return {"labelExpr": f"({json.dumps({label: _lines(label, fits) for label in labels})})[datum.label]"}


def _lines(label: str, fits: int) -> list[str]:
    return textwrap.wrap(label, max(1, fits), break_long_words=False, break_on_hyphens=False)


def height(width: int) -> int:
    """The height of a panel so wide."""
    return max(90, min(220, width * 2 // 5))


def finish(chart: Chart, figure: Figure, source: Drawn, width: int, *, titled: bool = True) -> Chart:
    """Gives a chart its title, what it shows, the command behind it, and the style."""
    shown = figure.shown(source)
    said = [shown] if source.note is None or figure.shows_one_seed(source) else [shown, source.note]
    if titled:
        line = max(20, LINE * width // DOCUMENT)
        lines = [part for text in (*said, *source.command.splitlines()) for part in textwrap.wrap(text, line)]
        chart = chart.properties(title=alt.TitleParams(textwrap.wrap(figure.title, line // 2), subtitle=lines))
    described = chart.properties(
        description=f"{figure.title}. {'. '.join(text.rstrip('.') for text in said)}.",
        usermeta={"sojourn": {"figure": figure.name, "command": source.command, "version": _engine.version()}},
    )
    finished: Chart = described.configure(**CONFIG)
    return finished
