"""How sure a mean over seeds is."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats


class Estimate(NamedTuple):
    """A mean and the ends of its 95 % confidence interval; no ends from a single value."""

    mean: float
    low: float | None
    high: float | None


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
    half = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return Estimate(mean, mean - half, mean + half)
