"""Panels: small copies of a chart side by side, one for each value of the axes that the chart itself does not show."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import altair as alt
import polars as pl

from sojourn.errors import InputError
from sojourn.figures.drawn import Drawn
from sojourn.figures.figure import Chart

#: Panels that are drawn at most; more are not looked at.
MOST = 48

#: Panels beside each other, where there is one axis.
BESIDE = 3

#: Panels whose greatest values differ by no more than this factor have the same y axis.
SAME_SCALE = 4

#: The axis whose values share a panel, if the campaign has it: what is compared most.
TOGETHER = "queue"

#: Points that the labels of an axis take beside the panels, and that lie between two of them.
MARGIN, BETWEEN = 70, 14


@dataclass(frozen=True)
class Panels:
    """The axes whose values have a panel each: the last from left to right, those before it from top to bottom."""

    source: Drawn
    axes: Sequence[str]

    def check(self, figure: str) -> None:
        """Sees to it that they are not too many.

        Raises:
            InputError: they are.
        """
        number = prod(len(self.source.axes[axis]) for axis in self.axes)
        if number > MOST:
            example = shlex.quote(f"{self.axes[0]}={self.source.axes[self.axes[0]][0]}")
            raise InputError(
                f"figure {figure}: {number} panels are too many, and {MOST} the most; choose values of "
                f"{', '.join(self.axes)}, such as --only {example}"
            )

    @property
    def rows(self) -> Sequence[str]:
        """The axes that run from top to bottom."""
        return self.axes[:-1]

    @property
    def beside(self) -> int:
        """How many panels are beside each other."""
        if not self.axes:
            return 1
        number = len(self.source.axes[self.axes[-1]])
        return number if self.rows else min(number, BESIDE)

    def width(self, total: int) -> int:
        """The width of one, if all are to have a width in all."""
        return max(40, (total - MARGIN) // self.beside - BETWEEN)

    @staticmethod
    def alike(placed: pl.DataFrame) -> bool:
        """Whether the greatest ``value`` of each panel is of about the same size, so that all may have the same y axis."""
        highest = placed.group_by("panel_row", "panel_column").agg(pl.col("value").max())["value"].drop_nulls().to_list()
        return not highest or max(highest) <= SAME_SCALE * min(highest)

    def place(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows with the panel that each is in, as ``panel_row`` and ``panel_column``."""
        return frame.with_columns(self._label(self.rows).alias("panel_row"), self._label(self.axes[-1:]).alias("panel_column"))

    def _label(self, axes: Sequence[str]) -> pl.Expr:
        return pl.concat_str([pl.col(axis) for axis in axes], separator=", ") if axes else pl.lit("")

    def _order(self, axes: Sequence[str]) -> list[str]:
        order = [""]
        for axis in axes:
            order = [f"{before}, {label}" if before else label for before in order for label in self.source.axes[axis]]
        return order

    def divide(self, chart: alt.Chart | alt.LayerChart, *, shared: bool = True) -> Chart:
        """One panel a place of the chart, whose data have been placed; the same y axis for all where it is shared."""
        if not self.axes:
            return chart
        column = {"sort": self._order(self.axes[-1:]), "title": self.axes[-1]}
        if self.rows:
            row = alt.Row("panel_row:N", sort=self._order(self.rows), title=", ".join(self.rows))
            divided = chart.facet(row=row, column=alt.Column("panel_column:N", **column), spacing=BETWEEN)
        else:
            divided = chart.facet(facet=alt.Facet("panel_column:N", **column), columns=self.beside, spacing=BETWEEN)
        return divided if shared else divided.resolve_scale(y="independent")


def together(source: Drawn) -> str | None:
    """The axis whose values are drawn in one panel: the queue or, where that does not vary, the last that does."""
    varying = source.varying
    return TOGETHER if TOGETHER in varying else (varying[-1] if varying else None)


def shown_axis(axis: str | None, name: str) -> pl.Expr:
    """The labels of an axis as a column of a chart's data, whose own names may mean something to Vega; nothing of no axis."""
    return (pl.lit("") if axis is None else pl.col(axis)).alias(name)
