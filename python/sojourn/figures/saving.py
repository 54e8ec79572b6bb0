"""Figures as files."""

from pathlib import Path
from typing import Literal

from sojourn.errors import InputError
from sojourn.figures.figure import Chart
from sojourn.store import write_whole

#: Dots an inch of a picture made of dots, as printers want them.
DOTS = 300

Format = Literal["png", "svg", "pdf"]


def save(chart: Chart, path: Path, form: Format) -> None:
    """Writes a whole file or none; a point of the chart is 1/72 of an inch.

    Raises:
        InputError: it cannot be written there.
    """
    dots = {"ppi": DOTS} if form == "png" else {}
    try:
        write_whole(path, lambda unfinished: chart.save(str(unfinished), format=form, **dots))
    except OSError as error:
        raise InputError(f"--out {path}: {error.strerror or error}") from None
