"""Loss: the cost of a packet when ten thousand are lost in one burst and repaired, relative to the same flow without loss."""

import statistics

from sojourn.bench import speed
from sojourn.bench.dumbbell import dumbbell
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.specification import RunSpecification, specify

SEGMENT = 1448

#: What the flow sends, in segments: a little more than it has sent when the burst that slow start loses is repaired. So both runs
#: deliver the same packets, and nothing after the loss episode counts.
SEGMENTS = 120_000

#: Packets the queue holds. With the 8,333 of the path, 100 ms at 1 Gbit/s, the flow can have 20,000 in flight; slow start with
#: delayed acknowledgements exceeds that by half when it detects its first loss.
QUEUE = 11_667

#: Segments that the send buffer of the flow without loss holds: the window of the other flow after its losses.
BOUND = 15_000

#: Segments of buffers that limit nothing: 256 MB.
UNBOUNDED = 176_000

#: Calls in one process; a call lasts some hundredths of a second.
CALLS = 15


def measure(extent: Extent, notify: Notify) -> Part:
    """Compares the flow with and without losses, in turn; the ratio is the median of ``extent.repeat``."""
    bounded, unbounded = specification(BOUND), specification(UNBOUNDED)
    rows: list[Row] = []
    ratios: list[float] = []
    for turn in range(extent.repeat):
        notify(f"loss: {turn + 1} of {extent.repeat}")
        without, burst = speed.timed(bounded, CALLS), speed.timed(unbounded, CALLS)
        ratios.append(burst.execution.cost / without.execution.cost)
        rows += [_row("none", bounded, without, extent), _row("a burst", unbounded, burst, extent)]
    return Part(
        title=f"Cost of a loss burst: one New Reno flow of {SEGMENTS:,} segments, 1 Gbit/s, 100 ms",
        method=(
            "The flow ends after its one loss episode; the reference is the same flow with a send buffer that prevents loss. "
            f"CPU time of processes made in turn; medians of {CALLS} calls each, and of {extent.repeat} ratios."
        ),
        measurements=[
            Measurement("cost with a burst of losses", statistics.median(ratios), "times without", Target("at most", 1.5)),
            Measurement("packets lost in the burst", burst.execution.drops, "packets"),
            Measurement("loss episodes", burst.execution.fast_recoveries, "episodes"),
            Measurement("timeouts", burst.execution.timeouts, "timeouts"),
        ],
        rows=rows,
    )


def specification(send_buffer: int) -> RunSpecification:
    """The flow with a send buffer of this many segments."""
    stack = {
        "profile": "rfc",
        "segment_size": f"{SEGMENT} B",
        "send_buffer": f"{send_buffer * SEGMENT} B",
        "receive_buffer": f"{UNBOUNDED * SEGMENT} B",
    }
    bottleneck = {"rate": "1 Gbit/s", "delay": "48 ms", "queue": {"name": "droptail", "limit": f"{QUEUE} packets"}}
    flow = {"start": "0 s", "size": f"{SEGMENTS * SEGMENT} B"}
    access = {"rate": "10 Gbit/s", "delay": "1 ms"}
    return specify(dumbbell("loss", "20 s", bottleneck, flow, access, sender_overhead="0 s", stack=stack), seed=1)


def _row(losses: str, run: RunSpecification, timed: speed.Timed, extent: Extent) -> Row:
    execution = timed.execution
    return {
        "losses": losses,
        "data_packets": execution.data_packets,
        "lost": execution.drops,
        "retransmissions": execution.retransmissions,
        "cpu_seconds": statistics.median(execution.cpu_seconds),
        "nanoseconds_a_packet": execution.cost * 1e9,
        **speed.columns(run, [timed], extent),
    }
