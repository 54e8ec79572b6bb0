"""The matrix as heat maps: tables whose fields are coloured by a metric, a congestion control a row and a queue a column."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from sojourn.analysis import difference
from sojourn.figures.heatmaps import ends, shade
from sojourn.metrics import METRICS, Metric
from sojourn.report import text
from sojourn.report.contents import Cell, Contents

#: The axes that are rows and columns, if the campaign has them.
ROW, COLUMN = "tcp", "queue"

#: Viridis at equal steps (Nathaniel Smith and Stéfan van der Walt, 2015).
VIRIDIS = (
    *((68, 1, 84), (72, 40, 120), (62, 74, 137), (49, 104, 142), (38, 130, 142)),
    *((31, 158, 137), (53, 183, 121), (109, 205, 89), (180, 222, 44), (253, 231, 37)),
)


@dataclass(frozen=True)
class Field:
    """One field of a heat map."""

    cell: Cell
    text: str
    told: str
    #: Of the field and of what is written on it, as CSS has them.
    colour: str
    ink: str
    where: Mapping[str, str]
    #: Whether it is the best of its panel, or not told from that.
    is_best: bool = False


@dataclass(frozen=True)
class Panel:
    """The rows and columns that belong to one value of each of the other axes."""

    title: str
    where: Mapping[str, str]
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Field | None]]]
    #: The ends of its scale, with units.
    least: str
    most: str


@dataclass(frozen=True)
class HeatMap:
    """All panels of one metric."""

    metric: Metric
    row_axis: str
    column_axis: str
    panels: Sequence[Panel]


def heat_maps(contents: Contents) -> list[HeatMap]:
    """A heat map for each main metric that any cell has; none unless two axes vary."""
    if len(contents.varying) < 2:
        return []
    shown = [metric for metric in METRICS.values() if metric.main]
    return [made for metric in shown if (made := _heat_map(contents, metric)) is not None]


def _heat_map(contents: Contents, metric: Metric) -> HeatMap | None:
    if all(cell.measured[metric.name] is None for cell in contents.cells):
        return None
    names = list(contents.varying)
    column = COLUMN if COLUMN in names else names[-1]
    row = ROW if ROW in names and column != ROW else next(axis for axis in reversed(names) if axis != column)
    others = [axis for axis in names if axis not in (row, column)]
    by_panel: dict[tuple[str, ...], list[Cell]] = {}
    for cell in contents.cells:
        by_panel.setdefault(tuple(cell.axes[axis] for axis in others), []).append(cell)
    panels = []
    for labels, cells in by_panel.items():
        known = [found for cell in cells if (found := cell.measured[metric.name]) is not None]
        scale, best = ends(metric, (found.mean * metric.factor for found in known)), difference.best(metric, known)
        fields = {
            (cell.axes[row], cell.axes[column]): _field(cell, metric, scale, best, {column: cell.axes[column]}) for cell in cells
        }
        columns = [label for label in contents.axes[column] if any(place[1] == label for place in fields)]
        rows = [label for label in contents.axes[row] if any(place[0] == label for place in fields)]
        shown = [(label, [fields.get((label, other)) for other in columns]) for label in rows]
        title = ", ".join(f"{axis} {label}" for axis, label in zip(others, labels, strict=True))
        least, most = (text.with_unit(f"{end:.3g}", metric.shown_unit) for end in scale)
        panels.append(Panel(title, dict(zip(others, labels, strict=True)), columns, shown, least, most))
    return HeatMap(metric, row, column, panels)


def _field(cell: Cell, metric: Metric, scale: tuple[float, float], best: Container[float], where: Mapping[str, str]) -> Field:
    found = cell.measured[metric.name]
    if found is None:
        return Field(cell, "\N{EN DASH}", f"{cell.name}: {metric.title} not measured", "transparent", "inherit", where)
    colour, ink = _colours(shade(found.mean * metric.factor, *scale))
    shown = text.entry(metric, found, cell.name, len(cell.seeds), best=best)
    return Field(cell, shown.mean, shown.told, colour, ink, where, shown.is_best)


def _colours(share: float) -> tuple[str, str]:
    """The colour at a place between the ends of the scale, and black or white, whichever is read more easily on it."""
    place = share * (len(VIRIDIS) - 1)
    below = min(int(place), len(VIRIDIS) - 2)
    mixed = [round(low + (high - low) * (place - below)) for low, high in zip(VIRIDIS[below], VIRIDIS[below + 1], strict=True)]
    red, green, blue = (_linear(part / 255) for part in mixed)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    # WCAG 2.2's contrast is the same with black and with white at this luminance.
    return f"rgb({mixed[0]} {mixed[1]} {mixed[2]})", "#000" if luminance > 0.179 else "#fff"


def _linear(part: float) -> float:
    """A part of sRGB as light."""
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
