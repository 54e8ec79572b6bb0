"""Panels: small copies of a chart side by side, one for each value of the axes that the chart itself does not show."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import TypeVar

import altair as alt
import polars as pl
from polars import selectors as cs

from sojourn.errors import InputError
from sojourn.figures import look
from sojourn.figures.drawn import Drawn, column

#: Panels that are drawn at most; more are not looked at.
MOST = 48

#: Maximum number of panels in a row: as columns of an axis's values, and where panels fill lines like words.
COLUMNS, BESIDE = 4, 3

#: Panels whose greatest values differ by no more than this factor have the same y axis.
SAME_SCALE = 4

#: The axis whose values share a panel, if the campaign has it: what is compared most.
TOGETHER = "queue"

#: Points that the labels of an axis take beside the panels, and that lie between two of them.
MARGIN, BETWEEN = 70, 14

#: Points that the heading of a panel takes.
ABOVE = 12

#: Points that a y axis of its own takes beside a panel, without a title.
OWN_AXIS = 24

_Channel = TypeVar("_Channel", alt.Facet, alt.Row, alt.Column)


@dataclass(frozen=True)
class Panels:
    """The axes whose values have a panel each.

    Of several axes the last with few values runs from left to right and the others from top to bottom. Where there is one axis,
    or none with few values, panels fill lines.
    """

    #: The figure's name, for errors: more panels or colours than can be told apart are refused.
    figure: str
    source: Drawn
    axes: Sequence[str]
    #: The axis that colours tell.
    side: str | None = None

    def __post_init__(self) -> None:
        look.check_distinct(self.figure, self.side, self.source.labels(self.side))
        number = prod(len(self.source.axes[axis]) for axis in self.axes)
        if number > MOST:
            example = shlex.quote(f"{self.axes[0]}={self.source.axes[self.axes[0]][0]}")
            raise InputError(
                f"figure {self.figure}: {number} panels, at most {MOST} can be drawn; choose values of "
                f"{', '.join(self.axes)}, such as --only {example}"
            )

    @cached_property
    def column(self) -> str | None:
        """The axis that runs from left to right; none where panels fill lines."""
        few = [axis for axis in self.axes if len(self.source.axes[axis]) <= COLUMNS]
        return few[-1] if few and len(self.axes) > 1 else None

    @property
    def rows(self) -> Sequence[str]:
        """The axes that run from top to bottom, or that all panels differ in."""
        return [axis for axis in self.axes if axis != self.column]

    @property
    def beside(self) -> int:
        """The number of panels in a row."""
        if self.column is not None:
            return len(self.source.axes[self.column])
        return min(BESIDE, prod(len(self.source.axes[axis]) for axis in self.axes))

    @property
    def _lines(self) -> int:
        """The number of panels from top to bottom."""
        number = prod(len(self.source.axes[axis]) for axis in self.rows)
        return number if self.column is not None else -(-number // self.beside)

    def width(self, total: int, *, shared: bool = True) -> int:
        """The width of one, if all are to have a width in all; panels that share no y axis have their own between them."""
        return max(40, (total - MARGIN) // self.beside - BETWEEN - (0 if shared or self.beside == 1 else OWN_AXIS))

    @staticmethod
    def alike(placed: pl.DataFrame) -> bool:
        """Whether the greatest ``value`` of each panel is of about the same size, so that all may have the same y axis."""
        highest = placed.group_by("panel_row", "panel_column").agg(pl.col("value").max())["value"].drop_nulls().to_list()
        return not highest or max(highest) <= SAME_SCALE * min(highest)

    def place(self, frame: pl.DataFrame, *columns: str | pl.Expr) -> pl.DataFrame:
        """Some columns of a frame, after the panel that each row is in: ``panel_row`` and ``panel_column``.

        A panel that would be empty gets a row without numbers: where one is missing, Vega-Lite shifts those that follow.
        """
        placed = frame.select(self._label(self.rows).alias("panel_row"), shown_axis(self.column, "panel_column"), *columns)
        if self.column is None:
            return placed
        every = placed.select("panel_row").unique().join(placed.select("panel_column").unique(), how="cross")
        empty = every.join(placed, on=["panel_row", "panel_column"], how="anti").sort(pl.all())
        blank = placed.drop("panel_row", "panel_column").head(1).with_columns(cs.numeric() * None)
        return pl.concat([placed, empty.join(blank, how="cross")])

    def _label(self, axes: Sequence[str]) -> pl.Expr:
        return pl.concat_str([pl.col(column(axis)) for axis in axes], separator=", ") if axes else pl.lit("")

    def _order(self, axes: Sequence[str]) -> list[str]:
        return [", ".join(labels) for labels in product(*(self.source.axes[axis] for axis in axes))]

    def divide(
        self, layers: alt.Chart | Sequence[alt.Chart], panel: int, height: int | None = None, *, shared: bool = True
    ) -> look.Chart:
        """One panel a place of a chart or its layers, whose data have been placed; the same y axis for all where it is shared.

        Where it is not, every panel has an axis, but what the axes say stands once, before the panels, as does what is too long
        to stand beside each.
        """
        high = look.height(panel) if height is None else height
        parts = [layers] if isinstance(layers, alt.Chart) else list(layers)
        order, title = self._order(self.rows), ", ".join(self.rows)
        above: str | list[str] = title
        said = parts[0].encoding.y["title"]
        room = high + BETWEEN + (ABOVE if self.column is None else 0)
        if self.axes and (not shared or (self._lines > 1 and len(said or "") * look.LETTER > room)):
            above = [said, title] if said else title
            parts = [_untitled(part, title) for part in parts]
        drawn = parts[0] if isinstance(layers, alt.Chart) else alt.LayerChart(layer=parts)
        chart = drawn.properties(width=panel, height=high)
        if not self.axes:
            return chart
        if self.column is None:
            each = self._headed(alt.Facet("panel_row:N", sort=order, title=above), order, panel)
            divided = chart.facet(facet=each, columns=self.beside, spacing=BETWEEN)
        else:
            labels = list(self.source.axes[self.column])
            across = self._headed(alt.Column("panel_column:N", sort=labels, title=self.column), labels, panel)
            down = self._headed(alt.Row("panel_row:N", sort=order, title=above), order, high)
            divided = chart.facet(row=down, column=across, spacing=BETWEEN)
        return divided if shared else divided.resolve_scale(y="independent")

    @staticmethod
    def _headed(channel: _Channel, labels: Sequence[str], room: int) -> _Channel:
        """A channel of panels whose headings are broken where they are longer than a panel."""
        headed: _Channel = channel.header(labelLimit=0, **look.broken_labels(labels, int(room / look.HEADING)))
        return headed


def _untitled(part: alt.Chart, axes: str) -> alt.Chart:
    """A chart whose y axis says nothing; a report's filters still find the field of the panels' axes by their names."""
    named = alt.Detail("panel_row:N", title=axes)
    kept = part.encoding.detail
    return part.encode(y=part.encoding.y.title(None), detail=named if kept is alt.Undefined else [kept, named])


def together(source: Drawn, axes: Sequence[str] | None = None) -> str | None:
    """Of some axes, or of all that vary, the one whose values are drawn in one panel: the queue, or else the last."""
    varying = source.varying if axes is None else axes
    return TOGETHER if TOGETHER in varying else (varying[-1] if varying else None)


def shown_axis(axis: str | None, name: str) -> pl.Expr:
    """The labels of an axis as a column of a chart's data, whose own names may mean something to Vega; nothing of no axis."""
    return (pl.lit("") if axis is None else pl.col(column(axis))).alias(name)
