"""Figures as files."""

import io
from pathlib import Path
from typing import Literal

import vl_convert

from sojourn import _engine
from sojourn.errors import InputError
from sojourn.figures.engine import check_room
from sojourn.figures.grey import in_grey
from sojourn.figures.look import Chart
from sojourn.figures.points import points
from sojourn.figures.tikz import tikz
from sojourn.store import write_whole

#: Dots an inch of a PNG, as printers want them.
DOTS = 300

Format = Literal["png", "svg", "pdf", "tex", "csv"]


def save(chart: Chart, path: Path, form: Format, *, grey: bool = False) -> None:
    """Writes a whole file or none; a point of the chart is 1/72 of an inch.

    Args:
        chart: what is written.
        path: where it goes.
        form: ``tex`` is a ``tikzpicture``, ``csv`` the points that are drawn.
        grey: whether it is without colours, for print; hatches tell bars. Points in CSV are the same.

    Raises:
        InputError: it cannot be written there.
        SojournError: there is no room to draw it in.
    """
    check_room()
    try:
        write_whole(path, lambda unfinished: unfinished.write_bytes(_bytes(chart, form, grey=grey)))
    except OSError as error:
        raise InputError(f"--out {path}: {error.strerror or error}") from None


def svg(chart: Chart) -> str:
    """A chart as the text of an SVG file, for pages that hold it."""
    check_room()
    text = io.StringIO()
    chart.save(text, format="svg")
    return text.getvalue()


def _bytes(chart: Chart, form: Format, *, grey: bool) -> bytes:
    if form == "csv":
        return points(chart).write_csv().encode()
    if form in ("png", "pdf") and not grey:
        made = io.BytesIO()
        chart.save(made, format=form, ppi=DOTS)
        return made.getvalue()
    drawn = in_grey(svg(chart)) if grey else svg(chart)
    if form == "png":
        return vl_convert.svg_to_png(drawn, ppi=DOTS)
    if form == "pdf":
        return vl_convert.svg_to_pdf(drawn)
    if form == "tex":
        return tikz(drawn, _said(chart)).encode()
    return drawn.encode()


def _said(chart: Chart) -> str:
    """What a chart says of itself, and the commands behind it, a line each."""
    spec = chart.to_dict(validate=False)
    made = spec.get("usermeta", {}).get("sojourn", {})
    told = (spec.get("description"), made.get("command"), f"Sojourn {_engine.version()}")
    return "\n".join(text for text in told if text)
