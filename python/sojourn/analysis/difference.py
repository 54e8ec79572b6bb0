"""Whether two means differ: one rule for comparisons, findings and report cards.

What counts as equal is what counts so everywhere (``agreement``): 15 % of the first, or the metric's floor. A difference is
judged by its interval, not by its mean alone, so that seeds which say little decide nothing.
"""

import math
from collections.abc import Callable, Sequence
from enum import StrEnum

from sojourn import _engine
from sojourn.analysis.agreement import tolerance
from sojourn.metrics import Metric
from sojourn.metrics.metric import Better
from sojourn.statistics import Estimate, overlap

#: More seeds than these are not said to be able to decide.
MOST_SEEDS = 10_000


class Verdict(StrEnum):
    """What is said of a difference."""

    #: Its interval lies beyond what counts as equal.
    DIFFERENT = "different"
    #: Its interval lies within what counts as equal.
    ALIKE = "alike"
    #: Its interval lies on both sides of that border, or there is none.
    OPEN = "not decided"


def judge(difference: Estimate, allowed: float) -> Verdict:
    """Judges a difference, of which ``allowed`` counts as none."""
    if difference.low is None or difference.high is None:
        return Verdict.OPEN
    if difference.low > allowed or difference.high < -allowed:
        return Verdict.DIFFERENT
    return Verdict.ALIKE if -allowed <= difference.low and difference.high <= allowed else Verdict.OPEN


def is_shown(difference: Estimate) -> bool:
    """Whether there is a difference at all, however small: its interval leaves zero out."""
    return difference.low is not None and difference.high is not None and not difference.low <= 0 <= difference.high


def seeds_needed(difference: Estimate, seeds: int, allowed: float, confidence: float = 0.95) -> int | None:
    """How many seeds would decide a difference with a mean and a deviation like these.

    Args:
        difference: the mean over so many seeds, with its 95 % interval.
        seeds: how many it is of.
        allowed: what counts as no difference.
        confidence: of the interval that is to decide.

    Returns:
        None if not even ``MOST_SEEDS`` would, or if it has no interval.
    """
    half = difference.half
    if half is None:
        return None
    deviation = half * math.sqrt(seeds) / _engine.student_quantile(seeds - 1, 0.975)
    apart = abs(abs(difference.mean) - allowed)
    return least_number(
        seeds + 1,
        lambda number: _engine.student_quantile(number - 1, (1 + confidence) / 2) * deviation / math.sqrt(number) < apart,
    )


def least_number(least: int, decides: Callable[[int], bool]) -> int | None:
    """The first number of seeds, in steps of a tenth, that decides; none if none up to the most does."""
    number = least
    while number <= MOST_SEEDS:
        if decides(number):
            return number
        number += max(1, number // 10)
    return None


def best(metric: Metric, found: Sequence[Estimate]) -> frozenset[float]:
    """The mean that users prefer among several, and those that it is not told from; none where that is all of them.

    Two are told apart as two sides of a comparison are: beyond what counts as equal, and with intervals that have no value in
    common.
    """
    if metric.better is None or not found:
        return frozenset()
    first = max(found, key=lambda each: each.mean if metric.better is Better.MORE else -each.mean)
    allowed = tolerance(metric.name, first.mean, 0.0)
    alike = frozenset(each.mean for each in found if abs(each.mean - first.mean) <= allowed or overlap(first, each))
    return alike if any(each.mean not in alike for each in found) else frozenset()
