"""The measures, as the papers define them, on plain numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = Sequence[float] | NDArray[np.float64]


def throughput_mbps(bytes_delivered: Numbers, window: float) -> NDArray[np.float64]:
    """Throughput of each flow in Mbit/s: payload bytes delivered to its receiver over the measuring window (s)."""
    return np.asarray(bytes_delivered, dtype=np.float64) * 8 / 1e6 / window


def quantile(values: Numbers, share: float) -> float:
    """The quantile by linear interpolation between order statistics (Hyndman and Fan's type 7, numpy's default)."""
    return float(np.quantile(np.asarray(values, dtype=np.float64), share))


def mean(values: Numbers) -> float:
    """The arithmetic mean."""
    return float(np.mean(np.asarray(values, dtype=np.float64)))


def standard_deviation(values: Numbers) -> float | None:
    """The sample standard deviation (divisor n - 1); none for a single value."""
    return float(np.std(np.asarray(values, dtype=np.float64), ddof=1)) if len(values) > 1 else None


def jain(values: Numbers) -> float | None:
    """Jain's fairness index: (sum x)^2 / (n sum x^2), from 1/n (one has all) to 1 (all have the same).

    None when all are zero: nothing is shared. Source: Jain, Chiu and Hawe 1984, DEC-TR-301.
    """
    shares = np.asarray(values, dtype=np.float64)
    squares = float(np.sum(shares**2))
    return float(np.sum(shares)) ** 2 / (len(shares) * squares) if squares > 0 else None


def percentage(part: float, whole: float) -> float | None:
    """How much of the whole a part is, in percent; none of nothing."""
    return 100 * part / whole if whole else None
