"""The formulas of metrics, as the papers define them, on plain numbers.

numpy is imported where it is used: the registry refers to these functions, and commands read it that compute nothing.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = Sequence[float] | NDArray[np.float64]
    Array = NDArray[np.float64]


#: The part of the flows' mean throughput below which a flow is starved.
STARVED = 0.1


def throughput_mbps(bytes_delivered: "Numbers", window: float) -> "Array":
    """Throughput of each flow in Mbit/s: payload bytes delivered to its receiver over the measuring window (s)."""
    return _array(bytes_delivered) * 8 / 1e6 / window


def quantile(values: "Numbers", share: float) -> float:
    """The quantile by linear interpolation between order statistics (Hyndman and Fan's type 7, numpy's default).

    As numpy computes it, to the bit; its own function takes fifty times as long for the few flows that most groups have.
    """
    import numpy as np

    ordered = np.sort(_array(values))
    place = (len(ordered) - 1) * share
    below = int(place)
    part = place - below
    low, high = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)])
    return high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part


def mean(values: "Numbers") -> float:
    """The arithmetic mean."""
    return float(_array(values).mean())


def of_known(formula: "Callable[[Array], float]", values: "Numbers") -> float | None:
    """A formula of those values that are numbers; none if there are none."""
    numbers = _array(values)
    known = numbers[numbers == numbers]
    return float(formula(known)) if len(known) else None


def weighted_mean(values: "Numbers", weights: "Numbers") -> float:
    """The mean of values each of which stands for so many."""
    return float((_array(values) * _array(weights)).sum() / _array(weights).sum())


def weighted_quantile(values: "Numbers", weights: "Numbers", share: float) -> float:
    """The quantile of values each of which stands for so many: the least that this share of them does not exceed.

    Values of equal weight have that of ``quantile``.
    """
    import numpy as np

    counts = _array(weights)
    if (counts == counts[0]).all():
        return quantile(values, share)
    order = np.argsort(_array(values), kind="stable")
    cumulative = np.cumsum(counts[order])
    place = int(np.searchsorted(cumulative, share * cumulative[-1]))
    return float(_array(values)[order[min(place, len(order) - 1)]])


def share_below(values: "Numbers", bound: float) -> float:
    """The share of the values that are below a bound."""
    return float((_array(values) < bound).mean())


def standard_deviation(values: "Numbers") -> float | None:
    """The sample standard deviation (divisor n - 1); none for a single value."""
    return float(_array(values).std(ddof=1)) if len(values) > 1 else None


def total(values: "Numbers") -> float:
    """The sum."""
    return float(_array(values).sum())


def count(values: "Numbers") -> float | None:
    """The sum of counts; none if one of them is not known."""
    counted = total(values)
    return None if counted != counted else counted


def jain(values: "Numbers") -> float | None:
    """Jain's fairness index: (sum x)^2 / (n sum x^2), from 1/n (one has all) to 1 (all have the same).

    None when all are zero: nothing is shared. Source: Jain, Chiu and Hawe 1984, DEC-TR-301.
    """
    shares = _array(values)
    squares = float((shares**2).sum())
    return float(shares.sum()) ** 2 / (len(shares) * squares) if squares > 0 else None


def harm(solo: float, beside: float, more_is_better: bool) -> float | None:
    """The harm to a flow whose performance is ``solo`` without a competitor and ``beside`` with it: 1 if nothing is left.

    None if the better of the two is 0. Source: Ware, Mukerjee, Seshan and Sherry, "Beyond Jain's fairness index", HotNets 2019.
    """
    change = solo - beside if more_is_better else beside - solo
    whole = solo if more_is_better else beside
    return change / whole if whole else None


def percentage(part: float, whole: float) -> float | None:
    """A part in percent of the whole; none of nothing, and none if the part is not known (not a number)."""
    return 100 * part / whole if whole and part == part else None


def share(part: float, whole: float) -> float | None:
    """A part in percent of the whole, which counts as all of it if it is more: what began before the window may end in it."""
    found = percentage(part, whole)
    return None if found is None else min(found, 100)


def _array(values: "Numbers") -> "Array":
    import numpy as np

    return np.asarray(values, dtype=np.float64)
