"""What every backend returns: frames of fixed columns, whatever made them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sojourn.errors import RunFailed

#: A row a flow. Times in s; bytes are payload; values are over the measuring window unless named ``total_``.
FLOWS = pl.Schema(
    {
        "flow": pl.UInt32(),
        "flow_group": pl.String(),
        "sender": pl.String(),
        "receiver": pl.String(),
        "algorithm": pl.String(),
        "start": pl.Float64(),
        "established": pl.Float64(),
        "completed": pl.Float64(),
        "stopped": pl.Float64(),
        "aborted": pl.String(),
        "bytes_delivered": pl.UInt64(),
        "total_bytes_delivered": pl.UInt64(),
        "packets_dropped": pl.UInt64(),
        "segments_sent": pl.UInt64(),
        "retransmissions": pl.UInt64(),
        "timeouts": pl.UInt64(),
        "fast_recoveries": pl.UInt64(),
        "mark_reductions": pl.UInt64(),
        "undone_reductions": pl.UInt64(),
        "rwnd_limited": pl.Float64(),
        "sndbuf_limited": pl.Float64(),
        "rtt_samples": pl.UInt64(),
        "rtt_mean": pl.Float64(),
        "rtt_min": pl.Float64(),
        "rtt_max": pl.Float64(),
        "rtt_p50": pl.Float64(),
        "rtt_p95": pl.Float64(),
        "rtt_p99": pl.Float64(),
        "rtt_trimmed": pl.Float64(),
        "delay_samples": pl.UInt64(),
        "delay_mean": pl.Float64(),
        "delay_min": pl.Float64(),
        "delay_p50": pl.Float64(),
        "delay_p95": pl.Float64(),
        "delay_p99": pl.Float64(),
        "delay_max": pl.Float64(),
        "jitter": pl.Float64(),
        "transfers_completed": pl.UInt64(),
        "transfers_unfinished": pl.UInt64(),
        "transfers_open": pl.Float64(),
        "late_packets": pl.UInt64(),
        "mouth_to_ear": pl.Float64(),
        "r_factor": pl.Float64(),
        "mos": pl.Float64(),
        "video_start_delay": pl.Float64(),
        "video_played": pl.Float64(),
        "video_stalled": pl.Float64(),
        "video_stalls": pl.UInt64(),
        "video_switches": pl.UInt64(),
        "video_mbps": pl.Float64(),
        "long_lived": pl.Boolean(),
    }
)

#: A row a link that has a queue, in order of declaration. Sojourn times in s; ``utilisation`` is the link's, 0 to 1;
#: link losses are those of the link itself (``drop``, ``loss``), which no other count has.
QUEUES = pl.Schema(
    {
        "link": pl.String(),
        "discipline": pl.String(),
        "arrivals": pl.UInt64(),
        "departures": pl.UInt64(),
        "drops": pl.UInt64(),
        "drops_overflow": pl.UInt64(),
        "drops_early": pl.UInt64(),
        "total_link_losses": pl.UInt64(),
        "marks": pl.UInt64(),
        "mean_packets": pl.Float64(),
        "sd_packets": pl.Float64(),
        "max_packets": pl.UInt64(),
        "mean_bytes": pl.Float64(),
        "sojourn_mean": pl.Float64(),
        "sojourn_p50": pl.Float64(),
        "sojourn_p95": pl.Float64(),
        "sojourn_p99": pl.Float64(),
        "sojourn_max": pl.Float64(),
        "utilisation": pl.Float64(),
        "bytes_sent": pl.UInt64(),
        "drop_runs": pl.UInt64(),
        "drop_run_max": pl.UInt64(),
        "loss_epochs": pl.UInt64(),
        "loss_synchronisation": pl.Float64(),
        "total_arrivals": pl.UInt64(),
        "total_departures": pl.UInt64(),
        "total_drops": pl.UInt64(),
        "queued_at_end": pl.UInt64(),
    }
)

#: Each queue sampled over time (s): its length, and packets dropped so far.
QUEUE_SERIES = pl.Schema(
    {"time": pl.Float64(), "link": pl.String(), "packets": pl.UInt64(), "bytes": pl.UInt64(), "drops": pl.UInt64()}
)

#: The state of each flow but those that only send, sampled over time (s): windows in bytes, the latest RTT sample in s, bytes
#: delivered so far, and bytes received so far, which include those that wait for a gap to be filled.
FLOW_SERIES = pl.Schema(
    {
        "time": pl.Float64(),
        "flow": pl.UInt32(),
        "cwnd": pl.UInt64(),
        "ssthresh": pl.UInt64(),
        "rtt": pl.Float64(),
        "bytes_delivered": pl.UInt64(),
        "bytes_received": pl.UInt64(),
    }
)


#: A row a transfer of limited size that was completed, in order of completion, over the whole run; of sessions a row a request
#: and a page, which the column ``kind`` says. Times in s, bytes are payload. Of many transfers of a class of sizes an even part
#: is kept, each of which ``stands_for`` so many.
TRANSFERS = pl.Schema(
    {
        "flow": pl.UInt32(),
        "flow_group": pl.String(),
        "kind": pl.String(),
        "start": pl.Float64(),
        "completed": pl.Float64(),
        "bytes": pl.UInt64(),
        "completion_time": pl.Float64(),
        "ideal_time": pl.Float64(),
        "slowdown": pl.Float64(),
        "retransmissions": pl.UInt64(),
        "timeouts": pl.UInt64(),
        "stands_for": pl.UInt64(),
    }
)


#: Values that an algorithm of a user's own recorded, at the times (s) of its hooks: whose they are, as rows of ``series`` say it,
#: and under which name.
RECORDED = pl.Schema(
    {"time": pl.Float64(), "kind": pl.String(), "which": pl.String(), "measure": pl.String(), "value": pl.Float64()}
)


@dataclass(frozen=True)
class RunResult:
    """The result of one run."""

    flows: pl.DataFrame
    queues: pl.DataFrame
    queue_series: pl.DataFrame
    flow_series: pl.DataFrame
    #: How much work the run was: events handled, and data packets delivered over the whole run.
    events: int
    data_packets_delivered: int
    #: Transfers that were completed, if the backend can tell.
    transfers: pl.DataFrame = field(default_factory=TRANSFERS.to_frame)
    #: What algorithms of users' own recorded.
    recorded: pl.DataFrame = field(default_factory=RECORDED.to_frame)


#: Frames without rows, by the identity of their schema: most runs have no series, and to make a frame takes as long as a short
#: run.
_EMPTY = {id(schema): schema.to_frame() for schema in (FLOWS, QUEUES, QUEUE_SERIES, FLOW_SERIES, TRANSFERS, RECORDED)}


def check_finite(columns: Mapping[str, Iterable[float | None]]) -> None:
    """Nothing that is kept is infinite or not a number: either would spoil each mean that it goes into. Null is neither.

    Raises:
        RunFailed: a value is one of them: whatever computed it is wrong.
    """
    wrong = [name for name, values in columns.items() if not math.isfinite(sum(filter(None, values)))]  # in C: it costs little
    if wrong:
        raise RunFailed(f"broken invariant: {', '.join(wrong)}: not a finite number")


#: Up to how many rows it is faster to make a frame by rows: a column costs as much as some fifty values of a row. Small runs take
#: a few milliseconds, of which this is a good part.
FEW = 50


def frame(columns: Mapping[str, Any], schema: pl.Schema) -> pl.DataFrame:
    """Columns as a frame of exactly the schema's columns, in its order.

    Raises:
        KeyError: a column is missing.
        RunFailed: a value is not a finite number: the backend is wrong.
    """
    listed = [columns[name] for name in schema]
    check_finite({name: columns[name] for name, kind in schema.items() if kind == pl.Float64})
    if not listed[0] and id(schema) in _EMPTY:
        return _EMPTY[id(schema)]
    if len(listed[0]) < FEW:
        return pl.DataFrame(list(zip(*listed, strict=True)), schema=schema, orient="row")
    return pl.DataFrame(
        [pl.Series(name, column, dtype=kind) for column, (name, kind) in zip(listed, schema.items(), strict=True)]
    )
