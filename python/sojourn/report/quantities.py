"""What reports show of a cell: metrics, in the units in which people speak of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sojourn.metrics import METRICS
from sojourn.statistics import Estimate, estimate


@dataclass(frozen=True)
class Quantity:
    """One figure of a run: the column that holds it, and how it is shown."""

    column: str
    title: str
    unit: str
    decimals: int
    #: From the column's unit to the shown one.
    factor: float = 1

    @property
    def heading(self) -> str:
        """Title and unit: ``drop ratio (%)``."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def number(self, value: float) -> str:
        """A value of the column as it is shown, without its unit."""
        return f"{value * self.factor:.{self.decimals}f}"

    def text(self, value: float) -> str:
        """The same with its unit."""
        return with_unit(self.number(value), self.unit)

    def told(self, found: Estimate, seeds: int) -> str:
        """A mean over seeds with its interval, on one line."""
        if found.low is None or found.high is None:
            return f"{self.title}: {self.text(found.mean)}; one seed, so no interval"
        interval = f"{self.number(found.low)} to {self.text(found.high)}"
        return f"{self.title}: {self.text(found.mean)}; 95 % interval {interval}, of {seeds} seeds"


def with_unit(number: str, unit: str) -> str:
    """A number and its unit, if it has one, that no line break parts."""
    return f"{number}\N{NO-BREAK SPACE}{unit}" if unit else number


def of_metric(name: str) -> Quantity:
    """A metric in its own unit, as published tables have it."""
    metric = METRICS[name]
    return Quantity(name, metric.title, metric.unit, metric.decimals)


#: Unlike a store's, with the median of the sojourn time, which is the bottleneck's.
MEDIAN = "sojourn_p50_s"

#: What is shown of each cell, in this order.
QUANTITIES: Sequence[Quantity] = (
    of_metric("total_mbps"),
    of_metric("jain"),
    Quantity("utilisation", "utilisation", "%", 1, 100),
    Quantity(MEDIAN, "median sojourn time", "ms", 2, 1e3),
    Quantity("sojourn_p99_s", "99th percentile of sojourn time", "ms", 2, 1e3),
    of_metric("drop_pct"),
    of_metric("queue_mean_pkts"),
    Quantity("rtt_mean_s", "mean round-trip time", "ms", 1, 1e3),
)


def over_seeds(values: pl.Series) -> Estimate | None:
    """The mean over seeds with its interval; none if it could not be measured with any."""
    known = values.drop_nulls().to_list()
    return estimate(known) if known else None
