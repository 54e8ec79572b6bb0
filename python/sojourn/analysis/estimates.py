"""Means over seeds of the metrics of cells, with intervals, for which no more than a block of runs is held at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sojourn.metrics import METRICS, Bounds
from sojourn.statistics import LEAST_FOR_INTERVAL, Estimate, half_widths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.int64]
    Floats = NDArray[np.float64]

#: Of what has no bounds that are known.
NO_BOUNDS: Bounds = (None, None)

#: The column with the number of seeds.
SEEDS = "seeds"

#: The place of a row's cell among all.
_PLACE = "=place"


@dataclass(frozen=True)
class CellEstimates:
    """What the runs of a cell come to."""

    #: How many runs.
    seeds: int
    #: By the name of a metric; none of what could not be measured with any seed.
    measured: Mapping[str, Estimate | None]


def over_seeds(
    rows: pl.LazyFrame, by: Sequence[str], values: Sequence[str], bounds: Mapping[str, Bounds] | None = None
) -> pl.DataFrame:
    """The mean of each value over the rows that are alike in ``by``, and the ends of its 95 % interval; nulls are left out.

    Args:
        rows: what has the values.
        by: the columns that tell groups of rows apart.
        values: the columns of which there are means.
        bounds: where intervals end, by the name of a value; those of metrics unless given.

    Returns:
        A row for each combination of ``by``, in the order in which they first occur. The columns are ``by``, ``seeds``, which is
        the number of rows, and for each value ``NAME``, ``NAME_ci_low`` and ``NAME_ci_high``.
    """
    chosen = rows.select(*by, *values)
    places: dict[tuple[object, ...], int] = {} if by else {(): 0}
    seeds, sums = np.zeros(len(places)), {name: _Sums(len(places)) for name in values}
    for block in chosen.collect_batches(maintain_order=True, engine="streaming"):
        found, of_rows = np.unique(_places(block, by, places), return_inverse=True)
        if len(places) > len(seeds):
            seeds = _longer(seeds, len(places))
            for summed in sums.values():
                summed.lengthen(len(places))
        seeds[found] += np.bincount(of_rows, minlength=len(found))
        for name in values:
            sums[name].add(block[name], found, of_rows)
    schema = chosen.collect_schema()
    labels = {name: pl.Series(name, [place[index] for place in places], schema[name]) for index, name in enumerate(by)}
    columns = {**labels, SEEDS: pl.Series(seeds).cast(pl.UInt32)}
    for name, summed in sums.items():
        mean, half = summed.mean(), summed.half_widths()
        least, greatest = (bounds or {}).get(name) or (METRICS[name].bounds if name in METRICS else NO_BOUNDS)
        # As ``Estimate.within``; a value outside its bounds, such as one a rounding off, leaves its mean in its interval.
        low = mean - half if least is None else np.maximum(mean - half, np.minimum(least, mean))
        high = mean + half if greatest is None else np.minimum(mean + half, np.maximum(greatest, mean))
        for column, numbers in zip((name, *ends(name)), (mean, low, high), strict=True):
            columns[column] = pl.Series(numbers).fill_nan(None)
    return pl.DataFrame(columns)


def _places(block: pl.DataFrame, by: Sequence[str], known: dict[tuple[object, ...], int]) -> "Places":
    """The place of each row's combination of ``by`` among all; what is new goes to the end of ``known``."""
    if not by:
        return np.zeros(block.height, np.int64)
    labels = block.select(by)
    distinct = labels.unique(maintain_order=True)
    numbers = [known.setdefault(row, len(known)) for row in distinct.iter_rows()]
    if len(numbers) == 1:
        return np.full(block.height, numbers[0])
    placed = labels.join(
        distinct.with_columns(pl.Series(_PLACE, numbers)), on=by, how="left", nulls_equal=True, maintain_order="left"
    )
    return placed[_PLACE].to_numpy()


class _Sums:
    """Counts, sums and sums of squares of the numbers of each of several groups, added one after the other.

    The order matters to the last digits. Polars' streaming engine sums up in an order that differs from one time to the next.
    What is summed up are differences from a group's first number, which keeps the digits of a small deviation.
    """

    def __init__(self, groups: int) -> None:
        self._first, self._count, self._sum, self._squares = (np.zeros(groups) for _ in range(4))

    def lengthen(self, groups: int) -> None:
        """Makes room for so many groups."""
        everything = (self._first, self._count, self._sum, self._squares)
        self._first, self._count, self._sum, self._squares = (_longer(each, groups) for each in everything)

    def add(self, numbers: pl.Series, groups: "Places", of: "Places") -> None:
        """Adds numbers, each to the group whose place among some ``groups`` it has; nulls are left out."""
        nulls = numbers.null_count()
        if nulls == len(numbers):  # as of all metrics of what a campaign does not have
            return
        if nulls:
            of, numbers = of[numbers.is_not_null().to_numpy()], numbers.drop_nulls()
        # A cast takes long even where there is nothing to do.
        values = (numbers if numbers.dtype == pl.Float64 else numbers.cast(pl.Float64)).to_numpy()
        first, count = self._first[groups], self._count[groups]
        if not count.all():
            found, rows = np.unique(of, return_index=True)
            first[found] = np.where(count[found] == 0, values[rows], first[found])
            self._first[groups] = first
        apart = values - first[of]
        self._count[groups] = count + np.bincount(of, minlength=len(groups))
        # What was summed up comes before what is added: a bin is summed up in the order of its numbers.
        order = np.concatenate([np.arange(len(groups)), of])
        for summed, more in ((self._sum, apart), (self._squares, apart * apart)):
            summed[groups] = np.bincount(order, np.concatenate([summed[groups], more]))

    def mean(self) -> "Floats":
        """The mean of each group; no number where there is none."""
        with np.errstate(invalid="ignore"):
            return self._first + self._sum / self._count

    def half_widths(self) -> "Floats":
        """Half the width of each mean's interval; no number where there are fewer than two."""
        enough = np.where(self._count < LEAST_FOR_INTERVAL, np.nan, self._count)
        squares = np.maximum(self._squares - self._sum * self._sum / enough, 0)
        return half_widths(np.sqrt(squares / (enough - 1)), enough)


def _longer(numbers: "Floats", size: int) -> "Floats":
    """Numbers with zeros at the end."""
    return np.concatenate([numbers, np.zeros(size - len(numbers))])


def of_cells(runs: pl.LazyFrame, axes: Sequence[str], metrics: Sequence[str]) -> dict[tuple[str | None, ...], CellEstimates]:
    """The estimates of metrics of all cells, by the values of the axes that tell them apart."""
    cells: dict[tuple[str | None, ...], CellEstimates] = {}
    for row in over_seeds(runs, axes, metrics).iter_rows():
        labels, seeds, found = row[: len(axes)], row[len(axes)], row[len(axes) + 1 :]
        of_metrics = zip(metrics, found[::3], found[1::3], found[2::3], strict=True)
        cells[labels] = CellEstimates(
            seeds, {name: None if mean is None else Estimate(mean, low, high) for name, mean, low, high in of_metrics}
        )
    return cells


def ends(name: str) -> tuple[str, str]:
    """The columns of the ends of a value's interval."""
    return f"{name}_ci_low", f"{name}_ci_high"


def one_group(groups: pl.LazyFrame) -> bool:
    """Whether no run has several groups; the rows of a run follow one another."""
    again = pl.col("key") == pl.col("key").shift()
    return not groups.select(again.any()).collect(engine="streaming").item()
