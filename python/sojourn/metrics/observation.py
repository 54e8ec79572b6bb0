"""What the metrics of a run are computed from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.metrics.formulas import throughput_mbps
from sojourn.metrics.kinds import KINDS
from sojourn.metrics.over_time import Samples, sampled

Numbers = NDArray[np.float64]

#: The columns of ``flows`` that flows of video have.
VIDEO = ("video_start_delay", "video_played", "video_stalled", "video_stalls", "video_switches", "video_mbps")


@dataclass(frozen=True)
class Observation:
    """The flows that a metric is taken of, which are all of a run or one group of them, and the run's bottleneck."""

    #: Throughput of each flow, Mbit/s.
    throughputs: Numbers
    #: Throughput of each flow of the run, Mbit/s.
    all_throughputs: Numbers
    #: Whether each flow has unlimited demand and is there for the measuring window; the column of the same name.
    long_lived: NDArray[np.bool_]
    #: How many RTT samples each flow took, and their sum in s, not a number where it took none.
    rtt_samples: Numbers
    rtt_sums: Numbers
    #: How many one-way delays each flow has, their sum in s, two percentiles and the jitter; not a number where there is none.
    delay_samples: Numbers
    delay_sums: Numbers
    delay_p95: Numbers
    delay_p99: Numbers
    jitter: Numbers
    #: Of flows of requests, the mean of the shortest 95 % of the times until they were answered, s; else not a number.
    answered: Numbers
    #: Of calls, packets that came too late to be played, mouth-to-ear delay in s, and mean opinion score; else not a number.
    late: Numbers
    mouth_to_ear: Numbers
    mos: Numbers
    #: Of flows of video, s until it started to play, s for which it played and stalled, stalls, changes of the bit rate, and its
    #: mean while it played, Mbit/s; else not a number.
    video_start_delay: Numbers
    video_played: Numbers
    video_stalled: Numbers
    video_stalls: Numbers
    video_switches: Numbers
    video_mbps: Numbers
    #: From the start to the answer to the SYN, s; not a number without one.
    startup: Numbers
    #: Bytes delivered over time; none if the run has no samples of flows.
    samples: Samples | None
    #: Data segments that each flow sent, retransmissions included, retransmissions, and how many queues dropped or links lost.
    segments_sent: Numbers
    retransmissions: Numbers
    packets_dropped: Numbers
    #: Of each flow with transfers of limited size, how many it completed in the window, how many were unfinished at the end, and
    #: how many were open on average; not a number where there are none.
    transfers_completed: Numbers
    transfers_unfinished: Numbers
    transfers_open: Numbers
    #: Of each transfer completed in the window: its flow, its size in B, how long it took in s, its slowdown, and how many it
    #: stands for.
    transfer_flows: NDArray[np.intp]
    #: What each is, as its place in ``kinds.KINDS``.
    transfer_kinds: NDArray[np.intp]
    transfer_bytes: Numbers
    completion_times: Numbers
    slowdowns: Numbers
    transfer_weights: Numbers
    #: The query that each answers, or -1; see ``queries``.
    transfer_queries: NDArray[np.intp]
    #: Rate of the bottleneck, Mbit/s; none if no link has a discipline.
    bottleneck_mbps: float | None
    #: The row of ``queues`` of the bottleneck, the first link with a discipline; none if no link has one.
    bottleneck: dict[str, Any] | None

    def of(self, flows: NDArray[np.intp]) -> "Observation":
        """The same of some of the flows, by their places."""
        transfers = np.isin(self.transfer_flows, flows) if len(self.transfer_flows) else slice(None)
        return replace(
            self,
            throughputs=self.throughputs[flows],
            long_lived=self.long_lived[flows],
            rtt_samples=self.rtt_samples[flows],
            rtt_sums=self.rtt_sums[flows],
            delay_samples=self.delay_samples[flows],
            delay_sums=self.delay_sums[flows],
            delay_p95=self.delay_p95[flows],
            delay_p99=self.delay_p99[flows],
            jitter=self.jitter[flows],
            answered=self.answered[flows],
            late=self.late[flows],
            mouth_to_ear=self.mouth_to_ear[flows],
            mos=self.mos[flows],
            **{name: getattr(self, name)[flows] for name in VIDEO},
            startup=self.startup[flows],
            samples=None if self.samples is None else self.samples.of(flows),
            segments_sent=self.segments_sent[flows],
            retransmissions=self.retransmissions[flows],
            packets_dropped=self.packets_dropped[flows],
            transfers_completed=self.transfers_completed[flows],
            transfers_unfinished=self.transfers_unfinished[flows],
            transfers_open=self.transfers_open[flows],
            transfer_flows=self.transfer_flows[transfers],
            transfer_kinds=self.transfer_kinds[transfers],
            transfer_bytes=self.transfer_bytes[transfers],
            completion_times=self.completion_times[transfers],
            slowdowns=self.slowdowns[transfers],
            transfer_weights=self.transfer_weights[transfers],
            transfer_queries=self.transfer_queries[transfers],
        )


def observe(
    flows: pl.DataFrame,
    queues: pl.DataFrame,
    transfers: pl.DataFrame,
    window: float,
    bottleneck_mbps: float | None,
    flow_series: pl.DataFrame | None = None,
    opens: float = 0.0,
    changed: float = 0.0,
) -> Observation:
    """Prepares a run's frames for metrics of all its flows.

    Args:
        flows: all flows of the run.
        queues: all queues of the run, in order of declaration.
        transfers: the transfers that were completed in the measuring window.
        window: length of the measuring window, s.
        bottleneck_mbps: rate of the first link that has a discipline, Mbit/s.
        flow_series: samples of the flows; without them there are no values over time.
        opens: when the measuring window opens, s.
        changed: when a link changes for the last time, s.
    """
    samples, delays = (flows[column].to_numpy().astype(np.float64) for column in ("rtt_samples", "delay_samples"))
    throughputs = throughput_mbps(flows["bytes_delivered"].to_numpy(), window)
    return Observation(
        throughputs=throughputs,
        all_throughputs=throughputs,
        long_lived=flows["long_lived"].to_numpy(),
        rtt_samples=samples,
        rtt_sums=samples * flows["rtt_mean"].to_numpy(),
        delay_samples=delays,
        delay_sums=delays * flows["delay_mean"].to_numpy(),
        delay_p95=flows["delay_p95"].to_numpy(),
        delay_p99=flows["delay_p99"].to_numpy(),
        jitter=flows["jitter"].to_numpy(),
        answered=flows["rtt_trimmed"].to_numpy(),
        late=flows["late_packets"].cast(pl.Float64).to_numpy(),
        mouth_to_ear=flows["mouth_to_ear"].to_numpy(),
        mos=flows["mos"].to_numpy(),
        **{name: _numbers(flows[name]) for name in VIDEO},
        startup=(flows["established"] - flows["start"]).to_numpy(),
        samples=None if flow_series is None else sampled(flow_series, flows, opens, changed),
        segments_sent=flows["segments_sent"].to_numpy().astype(np.float64),
        retransmissions=flows["retransmissions"].to_numpy().astype(np.float64),
        packets_dropped=flows["packets_dropped"].to_numpy().astype(np.float64),
        transfers_completed=_numbers(flows["transfers_completed"]),
        transfers_unfinished=_numbers(flows["transfers_unfinished"]),
        transfers_open=_numbers(flows["transfers_open"]),
        transfer_flows=transfers["flow"].to_numpy().astype(np.intp),
        transfer_kinds=_kinds(transfers["kind"]),
        transfer_bytes=_numbers(transfers["bytes"]),
        completion_times=_numbers(transfers["completion_time"]),
        slowdowns=_numbers(transfers["slowdown"]),
        transfer_weights=_numbers(transfers["stands_for"]),
        transfer_queries=queries(flows, transfers),
        bottleneck_mbps=bottleneck_mbps,
        bottleneck=queues.row(0, named=True) if queues.height else None,
    )


def queries(flows: pl.DataFrame, transfers: pl.DataFrame) -> NDArray[np.intp]:
    """The number of the query that each transfer answers; -1 of those that answer none.

    A query is put to all flows of a group of several at the same moment, and each answers it once.
    """
    if not transfers.height:  # Most runs have none, and are short.
        return np.empty(0, dtype=np.intp)
    sizes = flows.group_by("flow_group").agg(pl.len().alias("flows_of_group"))
    asked = ["flow_group", "kind", "start"]
    found = transfers.join(sizes, on="flow_group", how="left", maintain_order="left").select(
        pl.when(
            (pl.col("flows_of_group") > 1)
            & (pl.len().over(asked) == pl.col("flows_of_group"))
            & (pl.col("flow").n_unique().over(asked) == pl.col("flows_of_group"))
        )
        .then(pl.struct(asked).rank("dense").cast(pl.Int64) - 1)
        .otherwise(-1)
    )
    return found.to_series().to_numpy().astype(np.intp)


def _kinds(column: pl.Series) -> NDArray[np.intp]:
    return column.cast(pl.Enum(KINDS)).to_physical().to_numpy().astype(np.intp)


def _numbers(column: pl.Series) -> Numbers:
    return column.cast(pl.Float64).to_numpy()


def places(labels: pl.Series) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """The groups that a label of each flow makes, in order of their first flows, and the places of their flows."""
    found: dict[str, list[int]] = {}
    for place, label in enumerate(labels.to_list()):
        found.setdefault(label, []).append(place)
    for label, members in found.items():
        yield label, np.array(members, dtype=np.intp)
