"""Trade-offs: two metrics of every cell against each other, a point a cell."""

from collections.abc import Iterable

import altair as alt
import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.figures import look, means
from sojourn.figures.drawn import Drawn
from sojourn.figures.panels import Panels, shown_axis, together
from sojourn.figures.registry import Figure
from sojourn.metrics import METRICS, Metric
from sojourn.names import GROUP

#: What is to the right: of cells, and of groups of flows, which share a queue.
DELAY, RTT = METRICS["sojourn_mean_s"], METRICS["rtt_mean_s"]

#: The axis that shapes tell, if the campaign has it.
SHAPED = "tcp"

#: Points of an ellipse's outline.
OUTLINE = 48

#: Runs that an ellipse can be drawn of: two lie on a line.
LEAST_RUNS = 3


class _Arrangement:
    """Which axis colours tell, which one shapes do, and which ones have panels."""

    def __init__(self, figure: str, source: Drawn, width: int, colour: str | None, right: str = DELAY.label) -> None:
        self.source, self.width, self.right = source, width, right
        self.colour = colour
        others = [axis for axis in source.varying if axis != self.colour]
        self.shape = SHAPED if SHAPED in others else (others[-1] if others else None)
        self.panels = Panels(figure, source, [axis for axis in others if axis != self.shape])
        for axis in (self.colour, self.shape):
            look.check_distinct(figure, axis, source.labels(axis))

    def rows(self, cells: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
        """The rows of cells with only what the chart needs."""
        told = shown_axis(self.colour, "colour"), shown_axis(self.shape, "shape")
        return self.panels.place(cells, *told, *columns)

    def points(self, base: alt.Chart, up: str) -> alt.Chart:
        """A mark a cell."""
        x, y = self.axes(up)
        points: alt.Chart = base.mark_point(filled=True, size=30, opacity=0.9).encode(
            x=x,
            y=y,
            tooltip=look.labels({"colour": self.colour, "shape": self.shape}) + look.numbers({"x": self.right, "y": up}),
            **look.colour(self.colour, self.source.places(self.colour), self.width),
            **look.shape(self.shape, self.source.labels(self.shape), self.width),
        )
        return points

    def axes(self, up: str) -> tuple[alt.X, alt.Y]:
        """The axes of a panel; that of delays falls to the right where that is wished."""
        scale = alt.Scale(reverse=True) if self.source.wishes.reverse_delay else alt.Undefined
        return alt.X("x:Q", title=self.right, scale=scale), alt.Y("y:Q", title=up, scale=alt.Scale(zero=False))

    def divide(self, layers: Iterable[alt.Chart]) -> look.Chart:
        """The layers in panels."""
        return self.panels.divide(list(layers), self.panels.width(self.width))


def fairness_delay(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """Means over seeds, with lines for their 95 % intervals."""
    arranged = _Arrangement(figure.name, source, width, together(source))
    axes, fair = source.columns, METRICS["jain"]
    delay = means.of_cells(source, DELAY).rename({"value": "x", "low": "x_low", "high": "x_high"})
    fairness = means.of_cells(source, fair).rename({"value": "y", "low": "y_low", "high": "y_high"})
    cells = delay.join(fairness, on=axes, maintain_order="left")
    base = alt.Chart(look.data(arranged.rows(cells, ("x", "x_low", "x_high", "y", "y_low", "y_high"))))
    x, y = arranged.axes(fair.label)
    colour = look.colour(arranged.colour, source.places(arranged.colour), width)
    along = base.mark_rule().encode(x=alt.X("x_low:Q", title=DELAY.label), x2="x_high:Q", y=y, **colour)
    upright = base.mark_rule().encode(x=x, y=alt.Y("y_low:Q", title=fair.label), y2="y_high:Q", **colour)
    return arranged.divide([along, upright, arranged.points(base, fair.label)])


def delay_goodput(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """The median over seeds, with the ellipse of the normal distribution that explains the runs best, one deviation wide.

    Sources: RFC 7928, section 2.7, for the graph; Winstein and Balakrishnan, "TCP ex Machina", SIGCOMM 2013, for the ellipses.
    """
    return _ellipses(figure, source, width, together(source), (DELAY, METRICS["total_mbps"]))


def delay_goodput_by_group(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """The same of each group of flows: what a flow of it gets, and its round-trip time."""
    groups = source if GROUP in source.axes else source.by_group()
    return _ellipses(figure, groups, width, GROUP, (RTT, METRICS["avg_mbps"]))


def _ellipses(figure: Figure, source: Drawn, width: int, colour: str | None, metrics: tuple[Metric, Metric]) -> look.Chart:
    delay, goodput = metrics
    arranged = _Arrangement(figure.name, source, width, colour, delay.label)
    axes = source.columns
    both = source.counted("runs").select(*axes, x=pl.col(delay.name) * delay.factor, y=pl.col(goodput.name) * goodput.factor)
    runs = source.compact(both.drop_nulls(["x", "y"]))
    if not runs.height:
        raise InputError(f"figure {figure.name}: no values in these runs")
    schema = {**dict.fromkeys(axes, pl.String), "part": pl.String, "place": pl.Int64, "x": pl.Float64, "y": pl.Float64}
    medians, outlines = list[tuple[object, ...]](), list[tuple[object, ...]]()
    for labels, cell in runs.group_by(axes, maintain_order=True):
        medians.append((*labels, "median", 0, cell["x"].median(), cell["y"].median()))
        outlines += [(*labels, "ellipse", place, x, y) for place, (x, y) in enumerate(ellipse(cell.select("x", "y")))]
    rows = arranged.rows(pl.DataFrame([*medians, *outlines], schema=schema, orient="row"), ("part", "place", "x", "y"))
    base = alt.Chart(look.data(rows))
    x, y = arranged.axes(goodput.label)
    around = base.transform_filter("datum.part == 'ellipse'").mark_line(interpolate="linear-closed")
    outlined = around.encode(
        x=x, y=y, order="place:Q", detail="shape:N", **look.colour(arranged.colour, source.places(arranged.colour), width)
    )
    return arranged.divide([outlined, arranged.points(base.transform_filter("datum.part == 'median'"), goodput.label)])


def ellipse(runs: pl.DataFrame) -> list[tuple[float, float]]:
    """The outline one standard deviation around the mean of the columns ``x`` and ``y``; none of too few runs.

    The covariance is that of maximum likelihood, whose divisor is n.
    """
    if runs.height < LEAST_RUNS:
        return []
    points = runs.to_numpy()
    sizes, directions = np.linalg.eigh(np.cov(points.T, ddof=0))
    angles = np.linspace(0, 2 * np.pi, OUTLINE, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    outline = points.mean(axis=0)[:, None] + directions @ (np.sqrt(np.maximum(sizes, 0))[:, None] * circle)
    return [(float(x), float(y)) for x, y in outline.T]
