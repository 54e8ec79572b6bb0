"""The named figures of a run: what summaries hold and what studies compare.

A metric is taken of a run's flows (all of them, or one camp) and of its bottleneck: the first queue that was declared, which
in a dumbbell is the one from senders to receivers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn import measures


@dataclass(frozen=True)
class Observation:
    """What a metric is computed from."""

    #: Throughput of each flow of the camp, Mbit/s.
    camp: NDArray[np.float64]
    #: Throughput of each flow of the run, Mbit/s.
    everyone: NDArray[np.float64]
    #: How many RTT samples each flow of the camp took, and their sum in s.
    rtt_samples: NDArray[np.float64]
    rtt_sums: NDArray[np.float64]
    #: The row of the bottleneck's queue, if the run has any.
    bottleneck: dict[str, Any] | None


@dataclass(frozen=True)
class Metric:
    """One figure: its name and unit, how it is printed and computed."""

    name: str
    title: str
    unit: str
    decimals: int
    compute: Callable[[Observation], float | None]

    def format(self, value: float) -> str:
        """The value with as many decimals as the metric deserves."""
        return f"{value:.{self.decimals}f}"


def observe(flows: pl.DataFrame, queues: pl.DataFrame, window: float, camp: str | None = None) -> Observation:
    """Prepares a run's frames for metrics; ``window`` in s, ``camp`` an algorithm, or none for all flows."""
    mine = flows if camp is None else flows.filter(pl.col("algorithm") == camp)
    sampled = mine.filter(pl.col("rtt_samples") > 0)
    return Observation(
        rtt_samples=sampled["rtt_samples"].to_numpy().astype(np.float64),
        rtt_sums=(sampled["rtt_samples"] * sampled["rtt_mean"]).to_numpy(),
        camp=measures.throughput_mbps(mine["bytes_delivered"].to_numpy(), window),
        everyone=measures.throughput_mbps(flows["bytes_delivered"].to_numpy(), window),
        bottleneck=queues.row(0, named=True) if queues.height else None,
    )


def _of_camp(measure: Callable[[NDArray[np.float64]], float | None]) -> Callable[[Observation], float | None]:
    return lambda seen: measure(seen.camp) if len(seen.camp) else None


def _rtt_mean(seen: Observation) -> float | None:
    return float(np.sum(seen.rtt_sums) / np.sum(seen.rtt_samples)) if len(seen.rtt_samples) else None


def _of_queue(measure: Callable[[dict[str, Any]], float | None]) -> Callable[[Observation], float | None]:
    return lambda seen: None if seen.bottleneck is None else measure(seen.bottleneck)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("q1_mbps", "first quartile of throughput", "Mbit/s", 2, _of_camp(lambda x: measures.quantile(x, 0.25))),
        Metric("median_mbps", "median throughput", "Mbit/s", 2, _of_camp(lambda x: measures.quantile(x, 0.5))),
        Metric("q3_mbps", "third quartile of throughput", "Mbit/s", 2, _of_camp(lambda x: measures.quantile(x, 0.75))),
        Metric("avg_mbps", "mean throughput", "Mbit/s", 2, _of_camp(measures.mean)),
        Metric("sd_mbps", "deviation of throughput", "Mbit/s", 2, _of_camp(measures.standard_deviation)),
        Metric("total_mbps", "total throughput", "Mbit/s", 2, _of_camp(lambda x: float(np.sum(x)))),
        Metric(
            "share_pct",
            "share of all throughput",
            "%",
            1,
            lambda seen: measures.percentage(float(np.sum(seen.camp)), float(np.sum(seen.everyone))),
        ),
        Metric("jain", "Jain's index", "", 2, _of_camp(measures.jain)),
        Metric("rtt_mean_s", "mean round-trip time", "s", 5, _rtt_mean),
        Metric("queue_mean_pkts", "mean queue length", "packets", 1, _of_queue(lambda q: q["mean_packets"])),
        Metric("queue_sd_pkts", "deviation of queue length", "packets", 1, _of_queue(lambda q: q["sd_packets"])),
        Metric("drop_pct", "drop ratio", "%", 2, _of_queue(lambda q: measures.percentage(q["drops"], q["arrivals"]))),
        Metric("utilisation", "utilisation", "", 4, _of_queue(lambda q: q["utilisation"])),
        Metric("sojourn_mean_s", "mean sojourn time", "s", 5, _of_queue(lambda q: q["sojourn_mean"])),
        Metric("sojourn_p99_s", "99th percentile of sojourn time", "s", 5, _of_queue(lambda q: q["sojourn_p99"])),
    )
}
