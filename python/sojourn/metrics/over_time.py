"""Throughputs of flows over time, from their samples, and the metrics that are taken of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.metrics import formulas

Numbers = NDArray[np.float64]

#: The interval over which throughputs are averaged, in s, unless samples are rarer.
TIME_SCALE = 1.0

#: How far a flow may be below the mean when shares are called fair: delta of the delta-fair convergence time of RFC 5166, that of
#: Bansal, Balakrishnan, Floyd and Shenker, SIGCOMM 2001. That they took 0.1 is as cited; their text was not available.
DELTA = 0.1


@dataclass(frozen=True)
class Samples:
    """Bytes delivered to each flow's receiver since the start of the run, sampled at constant intervals."""

    #: When the samples were taken, s.
    times: Numbers
    #: A row a flow, a column a sample.
    delivered: Numbers
    #: When the measuring window opens, s.
    opens: float
    #: When the flows and links are as they stay: the start of the latest long-lived flow, or the latest change of a link, s.
    settled: float

    def of(self, flows: NDArray[np.intp] | NDArray[np.bool_]) -> "Samples":
        """The same of some flows."""
        return Samples(self.times, self.delivered[flows], self.opens, self.settled)

    def throughputs(self, since: float, scale: float = TIME_SCALE) -> Numbers:
        """The throughput of each flow in consecutive intervals from a moment on, Mbit/s: a row a flow, a column an interval."""
        first = int(np.searchsorted(self.times, since - 1e-9))
        interval = self.interval
        if interval is None:
            return np.empty((len(self.delivered), 0))
        step = max(1, round(scale / interval))
        kept = self.delivered[:, first::step]
        return np.diff(kept, axis=1) * 8e-6 / (step * interval)

    @property
    def interval(self) -> float | None:
        """The time between samples, s; None if there are fewer than two."""
        return float(self.times[1] - self.times[0]) if len(self.times) > 1 else None

    def convergence(self) -> float | None:
        """The time from the latest change until all flows have a fair share for an interval, s; None if they never have."""
        rates = self.throughputs(self.settled)
        if len(rates) < 2 or not rates.shape[1]:
            return None
        fair = (rates.min(axis=0) >= (1 - DELTA) * rates.mean(axis=0)) & (rates.max(axis=0) > 0)
        if not fair.any():
            return None
        interval, first = self.interval or 0.0, int(np.searchsorted(self.times, self.settled - 1e-9))
        step = max(1, round(TIME_SCALE / interval))
        return float(self.times[first + (int(fair.argmax()) + 1) * step] - self.settled)

    def instability(self) -> float | None:
        """The mean coefficient of variation of the flows' throughputs; None without two intervals, or if a flow got nothing."""
        rates = self.throughputs(self.opens)
        if not len(rates) or rates.shape[1] < 2 or not rates.mean(axis=1).all():
            return None
        return float((rates.std(axis=1, ddof=1) / rates.mean(axis=1)).mean())

    def fairness(self, scale: float) -> float | None:
        """The mean over intervals of ``scale`` s of Jain's index; intervals in which nothing was delivered do not count.

        None if samples are rarer.
        """
        if self.interval is None or self.interval > scale * 1.001:
            return None
        rates = self.throughputs(self.opens, scale)
        indices = [index for index in map(formulas.jain, rates.T) if index is not None] if len(rates) else []
        return formulas.mean(indices) if indices else None

    def starved_time(self) -> float | None:
        """The share of flows and intervals with less than a tenth of the mean in that interval; None without two flows."""
        rates = self.throughputs(self.opens)
        if len(rates) < 2 or not rates.shape[1]:
            return None
        return float((rates < formulas.STARVED * rates.mean(axis=0)).mean())


def sampled(series: pl.DataFrame, flows: pl.DataFrame, opens: float, changed: float) -> Samples | None:
    """The samples of a run's flows; None if it has none.

    Args:
        series: the backend's samples of flows.
        flows: the run's flows, with the column ``long_lived``.
        opens: when the measuring window opens, s.
        changed: when a link changes for the last time, s; 0 if none does.
    """
    if not series.height:
        return None
    times, column = np.unique(series["time"].to_numpy(), return_inverse=True)
    delivered = np.zeros((flows.height, len(times)))
    delivered[series["flow"].to_numpy(), column] = series["bytes_delivered"].to_numpy()
    # A flow without a sample at some time, such as TFRC before its first answer, has then what it had before.
    np.maximum.accumulate(delivered, axis=1, out=delivered)
    latest = flows.filter("long_lived")["start"].max()
    return Samples(times, delivered, opens, max(changed, float(latest) if isinstance(latest, float) else 0.0))


def latest_change(links: Sequence[Mapping[str, Any]]) -> int:
    """When a link of a specification changes for the last time, ps; 0 if none does.

    Traces and changes that repeat always change, and do not count.
    """
    return max((change["at"] for link in links for change in link["changes"] if "repeat" not in change), default=0)
