"""Figures as files."""

import io
from pathlib import Path
from typing import Literal

from sojourn.errors import InputError
from sojourn.figures.engine import check_room
from sojourn.figures.look import Chart
from sojourn.store import write_whole

#: Dots an inch of a PNG, as printers want them.
DOTS = 300

Format = Literal["png", "svg", "pdf"]


def save(chart: Chart, path: Path, form: Format) -> None:
    """Writes a whole file or none; a point of the chart is 1/72 of an inch.

    Raises:
        InputError: it cannot be written there.
        SojournError: there is no room to draw it in.
    """
    check_room()
    try:
        write_whole(path, lambda unfinished: chart.save(str(unfinished), format=form, ppi=DOTS))
    except OSError as error:
        raise InputError(f"--out {path}: {error.strerror or error}") from None


def svg(chart: Chart) -> str:
    """A chart as the text of an SVG file, for pages that hold it."""
    check_room()
    text = io.StringIO()
    chart.save(text, format="svg")
    return text.getvalue()
