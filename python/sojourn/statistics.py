"""How sure a mean or a share over seeds is, whether two cells differ, and when a series has settled."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from sojourn import _engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


#: The least number of values for an interval.
LEAST_FOR_INTERVAL = 2


class Estimate(NamedTuple):
    """A mean and the ends of its 95 % confidence interval; no ends from a single value."""

    mean: float
    low: float | None
    high: float | None

    @property
    def half(self) -> float | None:
        """Half the width of the interval or, if a bound cuts one side off, the other side."""
        return None if self.low is None or self.high is None else max(self.mean - self.low, self.high - self.mean)

    def within(self, least: float | None, greatest: float | None) -> Self:
        """The same with an interval that ends at the bounds of what is estimated, which has no values beyond them.

        The mean of bounded values lies within the bounds, so the interval contains it as often as before.
        """
        if self.low is None or self.high is None:
            return self
        low = self.low if least is None else max(self.low, min(float(least), self.mean))
        high = self.high if greatest is None else min(self.high, max(float(greatest), self.mean))
        return self._replace(low=low, high=high)


def overlap(one: Estimate, other: Estimate) -> bool:
    """Whether two intervals have a value in common; not if either has no ends."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return max(one.low, other.low) <= min(one.high, other.high)


def estimate(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The mean of independent repetitions, with Student's t interval.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("the mean of no values")
    mean = float(np.mean(values))
    if len(values) == 1:
        return Estimate(mean, None, None)
    half = float(half_widths(np.std(values, ddof=1, keepdims=True), np.array([float(len(values))]), confidence)[0])
    return Estimate(mean, mean - half, mean + half)


def half_widths(deviations: "Floats", counts: "Floats", confidence: float = 0.95) -> "Floats":
    """Half the widths of Student's t intervals of means, each of two or more values with a sample standard deviation."""
    different, which = np.unique(counts, return_inverse=True)
    quantiles = np.array([_engine.student_quantile(count - 1, (1 + confidence) / 2) for count in different])
    halves: Floats = quantiles[which] * deviations / np.sqrt(counts)
    return halves


def prediction(
    values: Sequence[float], confidence: float = 0.95, bounds: tuple[float | None, float | None] = (None, None)
) -> tuple[float, float] | None:
    """The prediction interval of one further repetition, with Student's t; None from a single value. It ends at the bounds.

    Source: Hahn and Meeker, "Statistical Intervals", 1991, chapter 4.

    Raises:
        ValueError: there are no values.
    """
    mean, low, high = estimate(values, confidence)
    if low is None or high is None:
        return None
    # The mean's interval is t s / sqrt(n), that of a further value t s sqrt(1 + 1/n).
    half = (high - low) / 2 * math.sqrt(len(values) + 1)
    _, low, high = Estimate(mean, mean - half, mean + half).within(*bounds)
    return None if low is None or high is None else (low, high)


def share(times: int, of: int, confidence: float = 0.95) -> Estimate:
    """How often something was so, as a share, with Clopper and Pearson's interval, which is never too narrow.

    Source: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika
    26(4), 1934.

    Raises:
        ValueError: nothing was looked at.
    """
    if of == 0:
        raise ValueError("the share of nothing")
    outside = (1 - confidence) / 2
    low = _engine.beta_quantile(times, of - times + 1, outside) if times > 0 else 0.0
    high = _engine.beta_quantile(times + 1, of - times, 1 - outside) if times < of else 1.0
    return Estimate(times / of, low, high)


def most(times: int, of: int) -> bool | None:
    """Whether something is so most of the time: the interval of its ``share`` lies above one half, or below; None if neither."""
    if of == 0:
        return None
    _, low, high = share(times, of)
    if low is not None and low > 0.5:
        return True
    return False if high is not None and high < 0.5 else None


def fewest_for_a_majority(confidence: float = 0.95) -> int:
    """The least number of independent repetitions that can show, all being alike, that a share is above one half, or below.

    If all of n are so, the lower end of Clopper and Pearson's interval is ((1 - confidence) / 2)^(1 / n); see ``share``.
    """
    return math.floor(math.log2(2 / (1 - confidence))) + 1


def least_p(pairs: int) -> float:
    """The least that p of Wilcoxon's signed-rank test, two-sided and exact, can be: all differences have one sign."""
    return 2.0 ** (1 - pairs)


class Comparison(NamedTuple):
    """Two samples that belong together value by value: their means, and how sure their difference is."""

    pairs: int
    first: float
    second: float
    #: Of the second less the first.
    difference: Estimate
    #: Wilcoxon's signed-rank test, two-sided: how likely so unequal values are if neither tends to be the larger.
    p: float | None


def compare(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Comparison:
    """Compares paired values, such as a metric of two cells over common seeds.

    The interval is Student's of the differences; p is none from a single pair.

    Raises:
        ValueError: there are no pairs, or a value has no partner.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values cannot be paired with {len(second)}")
    differences = [later - earlier for earlier, later in zip(first, second, strict=True)]
    difference = estimate(differences, confidence)
    return Comparison(len(differences), float(np.mean(first)), float(np.mean(second)), difference, _signed_rank(differences))


#: The most pairs whose p is exact; with ties or zeros among them it is so for fewer, as in SciPy.
MOST_EXACT = 50
MOST_EXACT_WITH_TIES = 13


def _signed_rank(differences: Sequence[float]) -> float | None:
    """The p of the signed-rank test, with mean ranks for ties and without zeros.

    Source: Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1(6), 1945; for ties and the normal
    approximation, Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 2014, section 3.1.
    """
    if len(differences) < 2:
        return None
    unequal = np.array([difference for difference in differences if difference != 0])
    _, which, times = np.unique(np.abs(unequal), return_inverse=True, return_counts=True)
    # Twice the ranks are whole numbers: t equal differences have those from r + 1 to r + t, whose mean is r + (t + 1) / 2.
    ranks = (2 * np.cumsum(times) - times + 1)[which]
    positive, everything = int(ranks[unequal > 0].sum()), int(ranks.sum())
    if len(differences) <= (MOST_EXACT if len(times) == len(differences) else MOST_EXACT_WITH_TIES):
        # In how many ways the signs of so many differences give each sum of positive ranks.
        ways = np.zeros(everything + 1, dtype=np.int64)
        ways[0] = 1
        for rank in ranks:
            ways[rank:] += ways[:-rank]
        tail = min(int(ways[: positive + 1].sum()), int(ways[positive:].sum()))
        return min(1.0, tail * 2.0 ** (1 - len(ranks)))
    if everything == 0:
        return 1.0
    deviations = (2 * positive - everything) / math.sqrt(int((ranks**2).sum()))
    return math.erfc(abs(deviations) / math.sqrt(2))


def quantiles(values: Sequence[float], shares: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> list[float]:
    """Quantiles by linear interpolation between order statistics; the middle one is the median.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("the quantiles of no values")
    return [float(quantile) for quantile in np.quantile(values, shares)]


#: The fewest batches that the rule MSER-5 may leave; of shorter series nothing is left out.
LEAST_LEFT = 5


def warm_up(values: Sequence[float], batch: int = 5) -> int | None:
    """How many values at the beginning of a series are better left out, by the marginal standard error rule MSER-5.

    The series is taken in means of five; the number left out minimises the standard error of the mean of the rest.
    Nothing applies this automatically; use it to check whether a scenario's ``warm_up`` is long enough.

    None where no answer is to be trusted: the rule would leave out more than half of a series, or it has fewer than two batches.
    Source: White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997, for the
    rule; White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation", WSC 2000, for batches
    of five.
    """
    means = np.asarray(values[: len(values) // batch * batch], dtype=np.float64).reshape(-1, batch).mean(axis=1)
    if len(means) < 2:
        return None
    # What is left when the first 0, 1, 2, ... batches are left out: how many, and their sum of squared deviations. A few batches
    # that happen to be equal would have no deviation.
    left = np.arange(len(means), 0, -1)
    centred = means - means.mean()
    sums, squares = (np.cumsum(values[::-1])[::-1] for values in (centred, centred**2))
    deviations = squares - sums**2 / left
    deviations[deviations < 1e-12 * squares[0]] = 0  # of equal values, but for rounding
    best = int(np.argmin((deviations / left**2)[: max(1, len(means) - LEAST_LEFT)]))
    return best * batch if best <= len(means) // 2 else None
