"""Many cells of one side beside the same cells of another: two backends, two parts of a sweep, or two campaigns.

Each value of the second side is held to that of the first by the rule for published values (``agreement``). Where single runs say
little, intervals count besides: then two means agree as well if their intervals have a value in common.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from sojourn import names
from sojourn.analysis import repetition
from sojourn.analysis.agreement import tolerance
from sojourn.analysis.comparison import OTHER
from sojourn.errors import InputError
from sojourn.metrics import METRICS, Metric, of_run
from sojourn.runs import called
from sojourn.statistics import Estimate, estimate, overlap

#: What is compared unless metrics are named, where it has values: goodput, delay, fairness, queue and losses.
COMPARED = ("total_mbps", "rtt_mean_s", "jain", "queue_mean_pkts", "drops", "retransmissions", "fct_mean_s")

#: What a fair share is made of.
_OF_SHARE = ("bottleneck_mbps", "flow_count")


@dataclass(frozen=True)
class Value:
    """A metric of a cell on both sides: means over the seeds with which both have a value; the first alone if there are none."""

    cell: tuple[str | None, ...]
    metric: Metric
    seeds: int
    first: Estimate
    second: Estimate | None
    #: Of the second less the first, in pairs by seed.
    difference: Estimate | None
    #: How far the second may be from the first.
    allowed: float
    #: Whether the two are the same, seed by seed.
    same: bool
    #: Whether means agree, too, whose intervals have a value in common.
    by_intervals: bool

    @property
    def agrees(self) -> bool:
        """Whether the second is close enough; what could not be measured is not."""
        if self.second is None or self.difference is None:
            return False
        return abs(self.difference.mean) <= self.allowed or (self.by_intervals and overlap(self.first, self.second))

    @property
    def excess(self) -> float:
        """The difference as a multiple of what is allowed."""
        if self.difference is None:
            return float("inf")
        off = abs(self.difference.mean)
        return off / self.allowed if self.allowed else float("inf") if off else 0.0


@dataclass(frozen=True)
class SideBySide:
    """Two sides of common cells."""

    axes: Sequence[str]
    metrics: Sequence[Metric]
    values: Sequence[Value]
    #: Pairs of runs, and how many of these are the same in all that is compared and in the number of events.
    runs: int
    same_runs: int
    #: Cells of the first side that the second has not, and the other way round.
    only_first: int
    only_second: int
    #: Whether intervals count.
    by_intervals: bool = False

    @property
    def cells(self) -> list[tuple[str | None, ...]]:
        """The cells that have a value, in order."""
        return list(dict.fromkeys(value.cell for value in self.values))


def compare(
    first: pl.LazyFrame,
    second: pl.LazyFrame,
    axes: Sequence[str],
    metrics: Iterable[str] | None = None,
    *,
    by_intervals: bool = False,
) -> SideBySide:
    """Compares two sides, cell by cell: rows of runs with axes, seed and metrics, of which the second is held to the first.

    ``metrics`` are names of metrics of a run; unless given ``COMPARED``, of which the first side has a value. With
    ``by_intervals`` means agree, too, whose intervals overlap.
    """
    wanted = list(COMPARED if metrics is None else metrics)
    names.check("metric", wanted, (metric.name for metric in of_run()), InputError)
    columns = [*axes, "seed", *_OF_SHARE, repetition.COUNTS[0], *wanted]
    sides = [side.select(columns).collect(engine="streaming") for side in (first, second)]
    for side in sides:
        _check_once(side, axes)
    one, other = sides
    by = [*axes, "seed"]
    pairs = one.join(other, on=by, suffix=OTHER, nulls_equal=True, maintain_order="left")
    if not pairs.height:
        raise InputError("A and B have no cell in common that both have run with the same seed")
    compared = [repetition.COUNTS[0], *wanted]
    alike = pairs.select(pl.all_horizontal(pl.col(name).eq_missing(pl.col(f"{name}{OTHER}")) for name in compared).sum())
    cells = [side.select(axes).unique(maintain_order=True) for side in sides]
    lacking = [a.join(b, on=axes, how="anti", nulls_equal=True).height if axes else 0 for a, b in (cells, reversed(cells))]
    found = [METRICS[name] for name in wanted if metrics is not None or pairs[name].null_count() < pairs.height]
    repeated = [repetition.labels(repetition.repeated(side, axes), axes) for side in (first, second)]
    values = _values(pairs, axes, found, set.union(*repeated), by_intervals)
    return SideBySide(axes, found, values, pairs.height, int(alike.item()), lacking[0], lacking[1], by_intervals)


def _check_once(side: pl.DataFrame, axes: Sequence[str]) -> None:
    twice = side.filter(pl.struct(*axes, "seed").is_duplicated()).head(1)
    for row in twice.select(*axes, "seed").iter_rows(named=True):
        cell = called({axis: row[axis] for axis in axes if row[axis] is not None})
        raise InputError(
            f"several runs of {cell or 'the cell'} with seed {row['seed']}; keep each campaign in a directory of its own"
        )


def _values(
    pairs: pl.DataFrame,
    axes: Sequence[str],
    metrics: Sequence[Metric],
    repeated: set[tuple[str | None, ...]],
    by_intervals: bool,
) -> list[Value]:
    """The values of each cell, metric by metric; none where the first side has none."""
    found: list[Value] = []
    grouped = pairs.group_by(axes, maintain_order=True) if axes else [((), pairs)]
    for cell, rows in grouped:
        labels = tuple(None if label is None else str(label) for label in cell)
        share = rows["bottleneck_mbps"][0]
        fair = 0.0 if share is None else share / rows["flow_count"][0]
        for metric in metrics:
            both = rows.select(metric.name, f"{metric.name}{OTHER}").drop_nulls()
            if both.height:
                one, other = (column.to_list() for column in both.get_columns())
                found.append(_value(labels, metric, one, other, fair, labels in repeated, by_intervals))
            elif (alone := rows[metric.name].drop_nulls()).len():
                mean = estimate(alone.to_list())
                allowed = tolerance(metric.name, mean.mean, fair)
                found.append(Value(labels, metric, 0, mean, None, None, allowed, same=False, by_intervals=by_intervals))
    return found


def _value(
    cell: tuple[str | None, ...],
    metric: Metric,
    one: list[float],
    other: list[float],
    fair: float,
    repeated: bool,
    by_intervals: bool,
) -> Value:
    means = estimate(one), estimate(other), estimate([b - a for a, b in zip(one, other, strict=True)])
    first, second, difference = (Estimate(each.mean, None, None) for each in means) if repeated else means
    allowed = tolerance(metric.name, first.mean, fair)
    return Value(cell, metric, len(one), first, second, difference, allowed, same=one == other, by_intervals=by_intervals)
