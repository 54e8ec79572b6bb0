"""Loss: what a packet costs when ten thousand are lost in one burst and repaired, beside the same flow without loss."""

import statistics

from sojourn.bench import process
from sojourn.bench.figures import Extent, Figure, Notify, Part, Row, Target
from sojourn.scenario import from_data
from sojourn.specification import RunSpecification, specify

SEGMENT = 1448

#: What the flow sends, in segments: slow start overshoots and loses a burst; a little more than has been sent when that is
#: repaired. The flow ends with it, so that both runs deliver the same packets and nothing after the episode counts.
SEGMENTS = 120_000

#: Packets the queue holds. With the 8,333 that 1 Gbit/s has under way in 100 ms the flow may have 20,000 in flight; slow start
#: with delayed acknowledgements is half as many above that when it learns of its first loss.
QUEUE = 11_667

#: Segments that the send buffer of the flow without loss holds: the window that the other is left with after its losses.
BOUND = 15_000

#: Segments that buffers hold which bound nothing: 256 MB.
UNBOUNDED = 176_000

#: Calls in one process; a call lasts some hundredths of a second.
CALLS = 15


def measure(extent: Extent, notify: Notify) -> Part:
    """Compares the flow with losses and without, in turn; the ratio is the median of ``extent.repeat``.

    Raises:
        RunFailed: a run failed.
    """
    rows: list[Row] = []
    ratios: list[float] = []
    for turn in range(extent.repeat):
        notify(f"loss: {turn + 1} of {extent.repeat}")
        without = process.measure(specification(BOUND), CALLS)
        burst = process.measure(specification(UNBOUNDED), CALLS)
        ratios.append(burst.cost / without.cost)
        rows += [_row("none", without), _row("a burst", burst)]
    return Part(
        name="loss",
        title=f"Cost of a loss burst: one New Reno flow of {SEGMENTS:,} segments, 1 Gbit/s, 100 ms",
        method=(
            "The flow ends soon after its one loss episode. Beside it the same flow with a send buffer that keeps it from loss. "
            f"CPU time of processes made in turn; medians of {CALLS} calls each, and of {extent.repeat} ratios."
        ),
        figures=[
            Figure("with a burst of losses", statistics.median(ratios), "times the cost without loss", Target("at most", 1.5)),
            Figure("packets lost in the burst", burst.drops, "packets"),
            Figure("loss episodes", burst.fast_recoveries, "episodes"),
            Figure("timeouts", burst.timeouts, "timeouts"),
        ],
        measurements=rows,
    )


def specification(send_buffer: int) -> RunSpecification:
    """The flow with a send buffer of so many segments."""
    scenario = {
        "name": "loss",
        "duration": "20 s",
        "stack": {
            "profile": "rfc",
            "segment_size": f"{SEGMENT} B",
            "send_buffer": f"{send_buffer * SEGMENT} B",
            "receive_buffer": f"{UNBOUNDED * SEGMENT} B",
        },
        "network": {
            "dumbbell": {
                "senders": [{"name": "sender", "rate": "10 Gbit/s", "delay": "1 ms"}],
                "receivers": [{"name": "receiver", "rate": "10 Gbit/s", "delay": "1 ms"}],
                "bottleneck": {
                    "rate": "1 Gbit/s",
                    "delay": "48 ms",
                    "queue": {"name": "droptail", "limit": f"{QUEUE} packets"},
                },
            }
        },
        "flows": [{"from": "sender", "to": "receiver", "tcp": "newreno", "size": f"{SEGMENTS * SEGMENT} B"}],
    }
    return specify(from_data(scenario, "bench loss"), seed=1)


def _row(losses: str, measured: process.Measurement) -> Row:
    return {
        "losses": losses,
        "data_packets": measured.data_packets,
        "lost": measured.drops,
        "retransmissions": measured.retransmissions,
        "cpu_seconds": statistics.median(measured.cpu_seconds),
        "nanoseconds_a_packet": measured.cost * 1e9,
    }
