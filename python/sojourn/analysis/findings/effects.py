"""What a change from one value of an axis to another does to a measure: the same cells otherwise, the same seeds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sojourn.analysis import difference
from sojourn.analysis.agreement import tolerance
from sojourn.analysis.difference import Verdict
from sojourn.metrics import Metric
from sojourn.metrics.metric import Better
from sojourn.statistics import LEAST_FOR_INTERVAL, Estimate, estimate, half_widths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

#: What a fair share is made of.
_OF_SHARE = ("bottleneck_mbps", "flow_count")


@dataclass(frozen=True)
class Measure:
    """A metric of runs, or of one of their groups of flows."""

    metric: Metric
    group: str | None = None


@dataclass(frozen=True)
class Shown:
    """Pairs of cells that differ in one direction, each judged by itself."""

    cells: int
    #: The pair that differs most: the values of the other axes, and both means. Nothing if there are none.
    where: Mapping[str, str]
    first: float = 0.0
    second: float = 0.0


@dataclass(frozen=True)
class Effect:
    """What one value of an axis instead of another does to a measure.

    Values are in the metric's ``unit``. A *pair* is of two runs with the same seed and the same values of the other axes. The
    differences of its pairs are averaged seed by seed, and the intervals are over seeds.
    """

    measure: Measure
    #: The means of both sides, and of the second less the first.
    first: Estimate
    second: Estimate
    difference: Estimate
    #: How much of a difference counts as none.
    allowed: float
    verdict: Verdict
    #: How many seeds, pairs of cells and pairs of runs it is of; of seeds that change nothing the first counts alone.
    seeds: int
    cells: int
    pairs: int
    #: Pairs of runs whose difference has the sign of the mean.
    same_way: int
    #: The pairs of cells that are shown to differ, those in which the measure falls and those in which it rises.
    falls: "Shown"
    rises: "Shown"
    #: The difference as a multiple of what counts as none for the larger side, so that both directions are of one size.
    size: float
    #: How many seeds would decide it, if it is not decided and some number would.
    seeds_needed: int | None

    @property
    def better(self) -> bool | None:
        """Whether the second is better; none where that has no meaning or nothing differs."""
        if self.measure.metric.better is None or self.difference.mean == 0:
            return None
        return (self.difference.mean > 0) is (self.measure.metric.better is Better.MORE)

    @property
    def is_mixed(self) -> bool:
        """Whether it is the other way in some cells, so that a mean over all says little."""
        return self.falls.cells > 0 and self.rises.cells > 0

    @property
    def differs(self) -> bool:
        """Whether it is a difference: by its interval or, where there is none, by its mean in these runs."""
        if self.difference.low is None:
            return abs(self.difference.mean) > self.allowed
        return self.verdict is Verdict.DIFFERENT


class Table:
    """Rows of runs, or of a group of their flows, as arrays."""

    def __init__(
        self,
        rows: pl.LazyFrame,
        axes: Mapping[str, Sequence[str]],
        measures: Sequence[Measure],
        constant: Iterable[tuple[str | None, ...]] = (),
    ) -> None:
        """Reads rows with the columns of ``axes``, ``seed`` and the measures' metrics.

        Args:
            rows: what has the values.
            axes: the axes and their labels.
            measures: what is read.
            constant: the labels of cells whose seeds change nothing.
        """
        columns = rows.collect_schema()
        shares = [name for name in _OF_SHARE if name in columns]
        names = list(dict.fromkeys(each.metric.name for each in measures if each.metric.name in columns))
        frame = rows.select(*axes, "seed", *shares, *names).collect(engine="streaming")
        self.axes = {axis: [str(label) for label in labels] for axis, labels in axes.items()}
        self._places = {axis: _places(frame[axis], labels) for axis, labels in self.axes.items()}
        self._seeds, self._seed = np.unique(frame["seed"].to_numpy(), return_inverse=True)
        self._values = {
            each: frame[each.metric.name].cast(pl.Float64).to_numpy() for each in measures if each.metric.name in names
        }
        self._fair = np.zeros(frame.height)
        if len(shares) == len(_OF_SHARE):
            share = (pl.col(_OF_SHARE[0]) / pl.col(_OF_SHARE[1])).fill_null(0.0)
            self._fair = frame.select(share).to_series().fill_nan(0.0).to_numpy()
        self._is_constant = np.zeros(frame.height, dtype=bool)
        for cell in constant:
            found = np.ones(frame.height, dtype=bool)
            for axis, label in zip(self.axes, cell, strict=True):
                found &= self._places[axis] == self.axes[axis].index(str(label))
            self._is_constant |= found

    def effects(self, axis: str, first: str, second: str, confidence: float = 0.95) -> list[Effect]:
        """The effects on all measures of the second label instead of the first; none of those without a pair of values.

        ``confidence`` is that of the interval by which an effect is judged; those that are told have 95 %.
        """
        others = [other for other in self.axes if other != axis]
        cell = np.zeros(len(self._seed), dtype=np.int64)
        for other in others:
            cell = cell * (len(self.axes[other]) + 1) + self._places[other]
        place = self._places[axis]
        one, two = (np.flatnonzero(place == self.axes[axis].index(label)) for label in (first, second))
        key = cell * len(self._seeds) + self._seed
        _, a, b = np.intersect1d(key[one], key[two], return_indices=True)
        return [
            effect
            for measure, values in self._values.items()
            if (effect := self._effect(measure, values, one[a], two[b], cell, others, confidence)) is not None
        ]

    def _effect(
        self,
        measure: Measure,
        values: "Floats",
        one: "Places",
        two: "Places",
        cell: "Places",
        others: Sequence[str],
        confidence: float,
    ) -> Effect | None:
        """The effect on one measure; ``one`` and ``two`` are the rows of each pair."""
        known = ~(np.isnan(values[one]) | np.isnan(values[two]))
        one, two = one[known], two[known]
        if not len(one):
            return None
        first, second = values[one], values[two]
        apart = second - first
        _, seed = np.unique(self._seed[one], return_inverse=True)
        _, at, of_cell, runs = np.unique(cell[one], return_index=True, return_inverse=True, return_counts=True)
        allowed, allowed_of_second = (_allowed(measure.metric, side, self._fair[one], of_cell) for side in (first, second))
        no_interval = bool((self._is_constant[one] | self._is_constant[two]).all())
        means = [_by(seed, side) for side in (first, second, apart)]
        least, greatest = measure.metric.bounds
        one_mean, other_mean, told = (_estimate(each, no_interval) for each in means)
        judged = told if no_interval else estimate(means[2].tolist(), confidence)
        verdict = difference.judge(judged, float(allowed.mean()))
        labels = {other: [self.axes[other][place] for place in self._places[other][one[at]]] for other in others}
        sides = _by(of_cell, first), _by(of_cell, second)
        in_cell = sides[1] - sides[0]
        half = np.zeros(len(at)) if no_interval else _halves(apart, in_cell, of_cell, runs)
        off, larger = abs(told.mean), max(float(allowed.mean()), float(allowed_of_second.mean()))
        return Effect(
            measure,
            one_mean.within(least, greatest),
            other_mean.within(least, greatest),
            told,
            float(allowed.mean()),
            verdict,
            seeds=1 if no_interval else len(means[2]),
            cells=len(at),
            pairs=len(at) if no_interval else len(one),
            same_way=_same_way(in_cell if no_interval else apart, told.mean),
            falls=_shown(-in_cell - half - allowed, labels, *sides),
            rises=_shown(in_cell - half - allowed, labels, *sides),
            size=off / larger if larger else float("inf") if off else 0.0,
            seeds_needed=difference.seeds_needed(told, len(means[2]), float(allowed.mean()), confidence)
            if verdict is Verdict.OPEN and not no_interval
            else None,
        )


def _places(labels: pl.Series, known: Sequence[str]) -> "Places":
    """The place of each label among those that are known."""
    numbered = {label: place for place, label in enumerate(known)}
    text = labels.cast(pl.String).fill_null(str(None))
    return text.replace_strict(numbered, default=len(known), return_dtype=pl.Int64).to_numpy()


def _by(group: "Places", values: "Floats") -> "Floats":
    """The mean of the values of each group."""
    means: Floats = np.bincount(group, values) / np.bincount(group)
    return means


def _estimate(values: "Floats", no_interval: bool) -> Estimate:
    return Estimate(float(values.mean()), None, None) if no_interval else estimate(values.tolist())


def _allowed(metric: Metric, values: "Floats", fair: "Floats", of_cell: "Places") -> "Floats":
    """What counts as no difference in each cell."""
    pairs = zip(_by(of_cell, values).tolist(), _by(of_cell, fair).tolist(), strict=True)
    return np.array([tolerance(metric.name, mean, share) for mean, share in pairs])


def _halves(apart: "Floats", means: "Floats", of_cell: "Places", runs: "Places") -> "Floats":
    """Half of the interval of each cell's mean difference; without end where a cell has one pair of runs."""
    deviations = np.sqrt(np.bincount(of_cell, (apart - means[of_cell]) ** 2) / np.maximum(runs - 1, 1))
    halves = np.full(len(runs), np.inf)
    several = runs >= LEAST_FOR_INTERVAL
    halves[several] = half_widths(deviations[several], runs[several].astype(np.float64))
    return halves


def _shown(beyond: "Floats", labels: Mapping[str, Sequence[str]], first: "Floats", second: "Floats") -> Shown:
    """The pairs of cells whose difference lies beyond what counts as none, by how much."""
    most = int(beyond.argmax())
    if not beyond[most] > 0:
        return Shown(0, {})
    where = {axis: of_cells[most] for axis, of_cells in labels.items()}
    return Shown(int((beyond > 0).sum()), where, float(first[most]), float(second[most]))


def _same_way(differences: "Floats", mean: float) -> int:
    return int((np.sign(differences) == np.sign(mean)).sum())
