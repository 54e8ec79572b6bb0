"""How far two backends are apart at a point: what ``--maximise disagreement`` looks for."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sojourn.analysis import agreement
from sojourn.analysis.result import Result
from sojourn.names import BACKEND
from sojourn.statistics import Estimate, estimate

#: What asks for it in place of a metric.
DISAGREEMENT = "disagreement"

#: What is compared: goodput, delay, fairness, the bottleneck's queue and losses.
METRICS = ("total_mbps", "rtt_mean_s", "jain", "queue_mean_pkts", "drop_pct", "retransmitted_pct")

#: What a fair share is made of.
_OF_SHARE = ("bottleneck_mbps", "flow_count")


@dataclass(frozen=True)
class Pair:
    """What both backends have of one seed: the values of ``METRICS``, none where a run has none or failed."""

    fair_share_mbps: float
    first: tuple[float | None, ...]
    second: tuple[float | None, ...]


@dataclass(frozen=True)
class Difference:
    """A metric of two backends over common seeds."""

    metric: str
    first: Estimate
    second: Estimate
    #: By how many times what counts as equal the means differ at least: by the nearer end of the interval of their difference.
    times: float


@dataclass(frozen=True)
class Disagreement:
    """The aim of a search for the point where two backends differ most, by the metric in which they do."""

    text: str = DISAGREEMENT
    larger: bool = True

    @property
    def sign(self) -> int:
        """See ``Aim.sign``."""
        return 1

    def mean(self, values: Sequence[Pair]) -> float | None:
        """By how many times what counts as equal the backends differ in the metric in which they differ most."""
        found = differences(values)
        return found[0].times if found else None

    def told(self, values: Sequence[Pair]) -> list[float | None]:
        """What a proposer is told of a point: all seeds together make one value."""
        return [self.mean(values)]


def differences(values: Sequence[Pair]) -> list[Difference]:
    """The metrics that both backends have with most seeds, that in which they differ most first.

    What counts as equal is the rule for published values (``agreement``), of which the second backend has the published ones.
    The interval of a difference is of both intervals, each with its own degrees of freedom. Only one that leaves out zero tells.
    """
    found = []
    for place, metric in enumerate(METRICS):
        pairs = [(pair.first[place], pair.second[place]) for pair in values]
        known = [(one, other) for one, other in pairs if one is not None and other is not None]
        if 2 * len(known) <= len(values):
            continue
        first, second = (estimate(side) for side in zip(*known, strict=True))
        apart = max(0.0, abs(first.mean - second.mean) - math.hypot(_half(first), _half(second)))
        allowed = agreement.tolerance(metric, second.mean, values[0].fair_share_mbps)
        found.append(Difference(metric, first, second, apart / allowed if allowed else 0.0))
    return sorted(found, key=lambda each: -each.times)


def _half(found: Estimate) -> float:
    return 0.0 if found.high is None else found.high - found.mean


def pairs(result: Result, cells: Iterable[Mapping[str, str]], seeds: Sequence[int], backends: Sequence[str]) -> list[list[Pair]]:
    """The values of each cell on both backends, for each seed; of results that tell backends apart."""
    runs = result.scan("runs").select(*result.axes, "seed", *_OF_SHARE, *METRICS).collect()
    found = []
    for axes in cells:
        of_cell = runs.filter(*(pl.col(axis) == label for axis, label in axes.items()))
        shares = of_cell.filter(pl.all_horizontal(pl.col(_OF_SHARE).is_not_null()) & (pl.col("flow_count") > 0)).head(1)
        share = 0.0 if shares.is_empty() else shares["bottleneck_mbps"][0] / shares["flow_count"][0]
        known = {(row[BACKEND], row["seed"]): tuple(row[metric] for metric in METRICS) for row in of_cell.iter_rows(named=True)}
        lacking = (None,) * len(METRICS)
        found.append([Pair(share, *(known.get((backend, seed), lacking) for backend in backends)) for seed in seeds])
    return found
