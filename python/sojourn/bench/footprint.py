"""Memory: bytes of a flow and bytes of a packet in flight, from the peak resident sets of runs that differ only in their number.

The peak is that of a new process, less what was resident before its run. It includes everything from reading the specification
to the columns of Python values that the run returns, more than a dozen for each flow.

*Packets.* A few flows on a path that holds all they may send, without a queue that fills and without loss. Their windows open at
once (initial window) to the size of their send buffers, so that as many packets as the buffers hold are on the wire together. The
containers of packets grow in steps and then have spare room; so the bytes of a packet are the mean over counts that are spread
evenly over a doubling. Acknowledgements are packets too; there is one for a thousand segments, so that they do not matter.

*Flows.* Flows with a window of four segments each, which all start within a fraction of a round trip, so that all their segments
are in flight together. The slope of the peak over the number of flows, less four packets.
"""

import statistics

from sojourn.bench import process
from sojourn.bench.dumbbell import dumbbell
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target, values
from sojourn.specification import RunSpecification, specify

SEGMENT = 1448

#: Packets in flight, spread over a doubling, and the number of flows that share them.
PACKETS, SHARED_BY = (1_000_000, 1_250_000, 1_500_000, 1_750_000, 2_000_000), 100

#: Flows, and the packets that each keeps in flight.
FLOWS, WINDOW = (10_000, 110_000), 4


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures both, with fewer packets and flows if the ``extent`` is smaller than the standard one."""
    rows: list[Row] = []
    for packets in (round(count * extent.scale) for count in PACKETS):
        notify(f"memory: {packets} packets in flight")
        rows.append(_row(SHARED_BY, packets // SHARED_BY))
    packet_bytes = values(rows, "bytes_a_packet_in_flight")
    packet = statistics.mean(packet_bytes)
    for flows in (round(count * extent.scale) for count in FLOWS):
        notify(f"memory: {flows} flows")
        rows.append(_row(flows, WINDOW))
    (less, more), (fewer, many) = values(rows[-2:], "memory_bytes"), values(rows[-2:], "flows")
    slope = (more - less) / (many - fewer)
    return Part(
        title="Memory: peak resident set of a process less what was resident before its run",
        method=(
            "A packet: mean over counts spread over a doubling, without loss. A flow: slope over the number of flows, less its "
            f"{WINDOW} packets in flight. The columns of Python values that a run returns are included."
        ),
        measurements=[
            Measurement("a flow without its packets in flight", slope - WINDOW * packet, "bytes", Target("at most", 1024)),
            Measurement("a packet in flight", packet, "bytes", Target("below", 64)),
            Measurement("a packet in flight, greatest", max(packet_bytes), "bytes"),
        ],
        rows=rows,
    )


def specification(flows: int, window: int) -> RunSpecification:
    """Flows that keep ``window`` segments each in flight, on a path of 200 ms."""
    stack = {
        "profile": "rfc",
        "segment_size": f"{SEGMENT} B",
        "initial_window": window,
        "send_buffer": f"{window * SEGMENT} B",
        "receive_buffer": "1 GB",
        "delayed_ack_count": 1000,
    }
    bottleneck, access = {"rate": "400 Gbit/s", "delay": "100 ms"}, {"rate": "400 Gbit/s", "delay": "0 s"}
    return specify(dumbbell("memory", "1 s", bottleneck, {"count": flows, "start_within": "20 ms"}, access, stack=stack), seed=1)


def _row(flows: int, window: int) -> Row:
    execution = process.measure(specification(flows, window))
    in_flight = flows * window
    return {
        "flows": flows,
        "packets_in_flight": in_flight,
        "data_packets": execution.data_packets,
        "retransmissions": execution.retransmissions,
        "memory_bytes": execution.memory_bytes,
        "bytes_a_packet_in_flight": execution.memory_bytes / in_flight,
    }
