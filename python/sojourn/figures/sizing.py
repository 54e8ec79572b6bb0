"""Figures of a given size, axes, legends and titles included: what a journal's column takes."""

import math
import re
from collections.abc import Callable

import vl_convert

from sojourn import names
from sojourn.errors import InputError
from sojourn.figures.engine import check_room
from sojourn.figures.look import DOCUMENT, Chart
from sojourn.units import number_and_unit

#: Points, which are 1/72 inch, in a unit; a pixel is that of CSS, 1/96 inch.
POINTS = {"pt": 1.0, "px": 0.75, "mm": 72 / 25.4, "in": 72.0}

#: Points around a figure, unless there is room to be filled.
PADDING = 5

#: The least height of a panel.
LEAST_HEIGHT = 20

#: Attempts at a width: what is beside the panels changes little with it.
ATTEMPTS = 5

_SIZE = re.compile(r'<svg[^>]*? width="([0-9.]+)" height="([0-9.]+)"')


def points(option: str, text: str) -> float:
    """A length such as ``252pt`` in points."""
    try:
        number, unit = number_and_unit(text)
    except ValueError:
        raise InputError(f"{option} {text}: write a number and a unit ({', '.join(POINTS)}), such as 252pt") from None
    unit = unit or ""
    names.check("unit", unit, POINTS, InputError, f"{option} {text}: ")
    if not 0 < number < 100_000:
        raise InputError(f"{option} {text}: must be greater than 0 and less than 100000 {unit}")
    return float(number) * POINTS[unit]


def fitted(draw: Callable[[int], Chart], width: float | None, height: float | None) -> Chart:
    """A chart of exactly this size, in points, of what draws it for a width; as the figure chooses where none is given."""
    chart = draw(DOCUMENT) if width is None else _as_wide(draw, width)
    wide, high = size(chart)
    if height is not None:
        chart = _as_high(chart, high, height)
        wide, high = size(chart)
        if high > height:
            raise InputError(f"--height: the figure needs {math.ceil(high)} points, {height:g} are given")
    right = PADDING + (0 if width is None else width - wide)
    bottom = PADDING + (0 if height is None else height - high)
    padded: Chart = chart.properties(padding={"left": PADDING, "top": PADDING, "right": right, "bottom": bottom})
    return padded


def _as_wide(draw: Callable[[int], Chart], width: float) -> Chart:
    """The widest chart that is no wider: panels are whole points wide, so a few points may be left."""
    wanted, best, least = math.floor(width), None, math.inf
    for _ in range(ATTEMPTS):
        chart = draw(max(1, wanted))
        wide = size(chart)[0]
        least = min(least, wide)
        if wide <= width and (best is None or wide > best[0]):
            best = wide, chart
        if 0 <= width - wide < 1 or wanted < 1:
            break
        wanted += math.floor(width - wide)
    if best is None:
        raise InputError(f"--width: the figure needs {math.ceil(least)} points, {width:g} are given")
    return best[1]


def size(chart: Chart) -> tuple[float, float]:
    """Width and height of a chart as it is drawn, in points."""
    check_room()
    found = _SIZE.search(vl_convert.vegalite_to_svg(chart.to_dict(validate=False)))
    if found is None:
        raise ValueError("an SVG without a size")
    return float(found[1]), float(found[2])


def _as_high(chart: Chart, high: float, height: float) -> Chart:
    """A chart with panels for such a height: they have the same, so the whole grows by a multiple of a panel's growth."""
    step = 10
    panel = _panel(chart).height
    rows = max(1, round((size(_with_height(chart, panel + step))[1] - high) / step))
    return _with_height(chart, max(LEAST_HEIGHT, panel + math.floor((height - high) / rows)))


def _panel(chart: Chart) -> Chart:
    """What has the height: a chart's panel, or the chart."""
    spec = getattr(chart, "spec", None)
    return chart if spec is None else spec


def _with_height(chart: Chart, height: int) -> Chart:
    copied: Chart = chart.copy(deep=True)
    _panel(copied).height = height
    return copied
