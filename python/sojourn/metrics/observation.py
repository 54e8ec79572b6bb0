"""What the metrics of a run are computed from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.metrics.formulas import throughput_mbps


@dataclass(frozen=True)
class Observation:
    """The flows that a metric is taken of, which are all of a run or one group of them, and the run's bottleneck."""

    #: Throughput of each flow of the group, Mbit/s.
    throughputs: NDArray[np.float64]
    #: Throughput of each flow of the run, Mbit/s.
    all_throughputs: NDArray[np.float64]
    #: How many RTT samples each flow of the group took, and their sum in s; without flows that took none.
    rtt_samples: NDArray[np.float64]
    rtt_sums: NDArray[np.float64]
    #: The row of ``queues`` of the bottleneck, the first link with a discipline; none if no link has one.
    bottleneck: dict[str, Any] | None


def observe(flows: pl.DataFrame, queues: pl.DataFrame, window: float, algorithm: str | None = None) -> Observation:
    """Prepares a run's frames for metrics.

    Args:
        flows: all flows of the run.
        queues: all queues of the run, in order of declaration.
        window: length of the measuring window, s.
        algorithm: the congestion control whose flows are the group; none for all flows.
    """
    group = flows if algorithm is None else flows.filter(pl.col("algorithm") == algorithm)
    samples, means = (group[column].to_numpy().astype(np.float64) for column in ("rtt_samples", "rtt_mean"))
    sampled = samples > 0
    return Observation(
        throughputs=throughput_mbps(group["bytes_delivered"].to_numpy(), window),
        all_throughputs=throughput_mbps(flows["bytes_delivered"].to_numpy(), window),
        rtt_samples=samples[sampled],
        rtt_sums=samples[sampled] * means[sampled],
        bottleneck=queues.row(0, named=True) if queues.height else None,
    )
