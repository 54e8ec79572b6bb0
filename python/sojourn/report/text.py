"""Values as text: metrics in the units in which people read them."""

from collections.abc import Container
from dataclasses import dataclass

from sojourn import digits
from sojourn.metrics import Metric
from sojourn.statistics import Estimate


def with_unit(number: str, unit: str) -> str:
    """A number and its unit, if it has one, that no line break parts."""
    return f"{number}\N{NO-BREAK SPACE}{unit}" if unit else number


def value(metric: Metric, number: float) -> str:
    """A value of a metric as it is shown, with its unit."""
    return with_unit(metric.number(number), metric.shown_unit)


def mean(metric: Metric, found: Estimate, seeds: int) -> str:
    """A mean over seeds with its interval, on one line."""
    if found.low is None or found.high is None:
        return f"{metric.title}: {value(metric, found.mean)}; {'one seed' if seeds == 1 else f'{seeds} equal runs'}, no interval"
    number, low, high, _ = metric.numbers(found.mean, found.low, found.high, half=found.half or 0.0)
    interval = f"{low} to {with_unit(high, metric.shown_unit)}"
    return f"{metric.title}: {with_unit(number, metric.shown_unit)}; 95 % interval {interval}, of {seeds} seeds"


@dataclass(frozen=True)
class Entry:
    """A mean in a table, its interval as it stands beside it, empty if there is none, and all that is known of it in words."""

    mean: str
    interval: str
    told: str
    #: Whether it is the best of all that stand beside it, or not told from that.
    is_best: bool = False


def entry(metric: Metric, found: Estimate | None, name: str, seeds: int, *, best: Container[float] = ()) -> Entry:
    """A metric in a table; ``name`` is what it is of, and ``best`` has the best means of all that stand beside it."""
    if found is None:
        return Entry("\N{EN DASH}", "", f"{name}: {metric.title} not measured")
    is_best = found.mean in best
    told = f"{name}: {mean(metric, found, seeds)}{'; the best, or not told from it' if is_best else ''}"
    return Entry(*numbers(metric, found), told, is_best)


def numbers(metric: Metric, found: Estimate) -> tuple[str, str]:
    """A mean in the unit in which people read it, and its interval beside it; none if there is none."""
    if found.low is None or found.high is None:
        return metric.number(found.mean), ""
    factor = metric.factor
    ends = found.mean * factor, found.low * factor, found.high * factor
    return digits.with_interval(*ends, lambda value: metric.number(value / factor))
