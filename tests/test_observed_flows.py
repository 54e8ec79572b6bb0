"""Flows that programs make, as packets and sockets tell: read from a guest's result, and of a real kernel."""

import ctypes
import threading
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import hypothesis
import hypothesis.strategies as st
import polars as pl
import pytest

from conftest import scenario_data
from sojourn.backends.linux import machine, observed, observing, reading, topology
from sojourn.backends.linux import plan as planning
from sojourn.backends.linux.limits import Limitations
from sojourn.backends.linux.plan import Besides, plan
from sojourn.backends.linux.topology import LinkDevices
from sojourn.backends.result import FLOW_SERIES, FLOWS, QUEUE_SERIES, QUEUES, RunResult
from sojourn.linux import cache, guest
from sojourn.runs import Cell
from sojourn.scenario import from_data
from sojourn.specification import RunSpecification
from sojourn.units import PICOSECONDS

#: Kernels whose guest is of this version of Sojourn.
KERNELS = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest() and kernel.has_seccomp]

on_a_kernel = [
    pytest.mark.kernel,
    pytest.mark.skipif(not KERNELS, reason="no Linux from 6.16 on is built by this version; `sojourn linux build` makes one"),
]

NODES: Any = {"nodes": ["a", "router", "b"]}

#: What a guest wrote: a download of 30 kB, a connection to a closed port, and datagrams of QUIC both ways.
RESULT = """
observed 0 tcp n0 40000 n2 80 established 20000000
observed-way 0 sent 1 again 0 lost 0 arrived 1 bytes 0 total_sent 1 total_arrived 1 total_bytes 100 first 0 samples 0 \
algorithm cubic
observed-way 1 sent 21 again 1 lost 1 arrived 20 bytes 20000 total_sent 25 total_arrived 24 total_bytes 30000 first 10000000 \
completed 90000000 samples 2 rtt_sum 50000000 rtt_min 20000000 rtt_max 30000000 algorithm bbr rwnd_limited 5000 sndbuf_limited 0 \
told_retransmissions 1 timeouts 0
observed-delay 1 samples 20 sum 200000000 min 10000000 max 10000000 differences 19 difference_sum 0
observed-delays 1 926 20
observed 1 tcp n0 40001 n2 81 reset 5000000
observed-way 2 sent 0 again 0 lost 0 arrived 0 bytes 0 total_sent 0 total_arrived 0 total_bytes 0 first -3000000 samples 0
observed-way 3 sent 0 again 0 lost 0 arrived 0 bytes 0 total_sent 0 total_arrived 0 total_bytes 0 first 5000000 samples 0
observed 2 quic n0 50000 n2 443
observed-way 4 sent 3 again 0 lost 0 arrived 3 bytes 1300 total_sent 3 total_arrived 3 total_bytes 1300 first 12000000 samples 0
observed-way 5 sent 9 again 0 lost 1 arrived 8 bytes 9600 total_sent 9 total_arrived 8 total_bytes 9600 first 8000000 samples 0
observed-at 100000000 1 14480 -1 20000000 30000 30000
observed-at 100000000 0 14480 -1 20000000 100 100
done
""".replace("\\\n", "")


def nothing() -> RunResult:
    """Returns the result of a run without flows of its own."""
    flows, queues, of_queues, of_flows = (schema.to_frame() for schema in (FLOWS, QUEUES, QUEUE_SERIES, FLOW_SERIES))
    return RunResult(flows, queues, of_queues, of_flows, events=0, data_packets_delivered=7)


def test_rows_are_in_the_order_in_which_flows_began() -> None:
    """A connection is one row, of the direction that carried more; datagrams have one each way; what was called has its port."""
    result = observed.added(NODES, nothing(), RESULT)
    assert result.flows["flow"].to_list() == [0, 1, 2, 3]
    assert result.flows["flow_group"].to_list() == ["tcp a-b:81", "tcp b:80-a", "quic b:443-a", "quic a-b:443"]
    assert result.flows["sender"].to_list() == ["a", "b", "b", "a"]
    assert result.flows["algorithm"].to_list() == ["tcp", "bbr", "quic", "quic"]
    assert result.flows["start"].to_list() == pytest.approx([-0.003, 0.0, 0.008, 0.012])
    assert result.data_packets_delivered == 7 + 24 + 0 + 3 + 8


def test_row_has_what_was_counted() -> None:
    """Packets give the counts, sockets the rest; of a connection that was refused there is a beginning and an end."""
    flows = observed.added(NODES, nothing(), RESULT).flows
    refused, download = flows.row(0, named=True), flows.row(1, named=True)
    assert (refused["established"], refused["completed"], refused["stopped"]) == (None, None, 0.005)
    assert (download["established"], download["completed"], download["stopped"]) == (0.02, 0.09, None)
    assert (download["bytes_delivered"], download["total_bytes_delivered"]) == (20000, 30000)
    assert (download["packets_dropped"], download["segments_sent"], download["retransmissions"]) == (1, 21, 1)
    assert (download["rtt_samples"], download["rtt_mean"]) == (2, 0.025)
    assert (download["rwnd_limited"], download["timeouts"]) == (0.005, 0)
    assert (download["delay_samples"], download["delay_mean"], download["delay_p99"]) == (20, 0.01, 0.01)


def test_samples_are_of_the_rows() -> None:
    """Of a connection's two directions only that which is a row has samples."""
    series = observed.added(NODES, nothing(), RESULT).flow_series
    assert series.rows() == [(0.1, 1, 14480, None, 0.02, 30000, 30000)]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Returns the parts of the guest's program that only compute."""
    library = tmp_path_factory.mktemp("parts") / "parts.so"
    guest.compile_c(("stream.c", "waiting.c"), library, ("-shared", "-fPIC"))
    loaded = ctypes.CDLL(str(library))
    loaded.stream_add.restype = ctypes.c_uint64
    loaded.waiting_add.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint16, ctypes.c_uint64, ctypes.c_int64]
    loaded.waiting_take.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint16, ctypes.c_void_p]
    return loaded


#: Directions of which no example has left anything.
WAYS = count(1)


class Stream(ctypes.Structure):
    """``struct stream`` of observed.h."""

    _fields_ = (
        *(("begun", ctypes.c_int), ("next", ctypes.c_uint32), ("in_order", ctypes.c_uint64), ("early", ctypes.c_uint64)),
        ("ranges", ctypes.c_void_p),
    )


class Waiting(ctypes.Structure):
    """``struct waiting`` of observed.h."""

    _fields_ = (
        *(("next", ctypes.c_void_p), ("way", ctypes.c_void_p), ("identity", ctypes.c_uint64), ("serial", ctypes.c_uint64)),
        *(("sent", ctypes.c_int64), ("identification", ctypes.c_uint16)),
    )


@hypothesis.given(st.integers(0, 2**32 - 1), st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), max_size=40))
def test_stream_has_what_is_in_order(parts: ctypes.CDLL, first: int, segments: list[tuple[int, int]]) -> None:
    """What is in order, and what came early, is what a set of the bytes that arrived says, at any place in the numbers of TCP."""
    stream = Stream(1, first)
    arrived: set[int] = set()
    for start, length in segments:
        arrived.update(range(start, start + length))
        in_order = next(place for place in range(100) if place not in arrived)
        before = stream.in_order
        more = parts.stream_add(ctypes.byref(stream), ctypes.c_uint32(first + start), ctypes.c_uint32(first + start + length))
        assert (stream.in_order, more) == (in_order, in_order - before)
        assert stream.early == len(arrived) - in_order
        assert stream.next == (first + in_order) % 2**32


@hypothesis.given(st.data())
def test_what_arrives_is_found_among_what_was_sent(parts: ctypes.CDLL, data: st.DataObject) -> None:
    """Of packets that carry the same, their numbers tell which arrived; without, it is the oldest, and said to be a guess."""
    way = next(WAYS)
    sent: list[tuple[int, int, int]] = []
    for serial in range(data.draw(st.integers(1, 30))):
        arrives: bool = data.draw(st.booleans())
        if sent and arrives:
            identity, number, _ = data.draw(st.sampled_from(sent))
            alike = [each for each in sent if each[0] == identity]
            numbered = [each for each in alike if number and each[1] == number]
            found = Waiting()
            answer = parts.waiting_take(way, identity, number, ctypes.addressof(found))
            expected = (numbered or alike)[0]
            assert (found.identity, found.identification, found.serial) == expected
            assert answer == (2 if len(numbered or alike) > 1 else 1)
            sent.remove(expected)
        else:
            sent.append((data.draw(st.integers(0, 3)), data.draw(st.integers(0, 2)), serial))
            parts.waiting_add(way, *sent[-1], 0)
    for identity, number, _ in sent:
        found = Waiting()
        assert parts.waiting_take(way, identity, number, ctypes.addressof(found))
    assert not parts.waiting_take(way, 0, 0, None)


def look_at_all(run: RunSpecification, patch: pytest.MonkeyPatch) -> None:
    """Has plans look at all packets of the hosts ``a`` and ``b``, those of the scenario's own flows too."""
    hosts = [index for index, name in enumerate(run["nodes"]) if name in ("a", "b")]
    build, besides = topology.build, planning._besides

    def with_taps(links: Any, nodes: Any, mtu: int, overhead: int, first: dict[int, int], *rest: Any) -> Any:
        for index in observing.leaving(run, hosts):
            first.setdefault(index, 0)
        return build(links, nodes, mtu, overhead, first, *rest)

    def with_lines(spec: RunSpecification, devices: Sequence[LinkDevices], asked: Besides) -> Iterator[str]:
        yield from besides(spec, list(devices), asked)
        yield from observing.lines(spec, hosts, devices)
        yield "observe-flows"

    patch.setattr(topology, "build", with_taps)
    patch.setattr(planning, "_besides", with_lines)


def carried_out(scenario: Any, patch: pytest.MonkeyPatch) -> tuple[pl.DataFrame, pl.DataFrame, observed.Records, RunResult]:
    """Returns a run's flows as the guest's own program knows them, the same as packets tell, and what that is made of."""
    kernel = KERNELS[0]
    run = Cell({}, scenario).specification
    with patch.context() as patched:
        look_at_all(run, patched)
        made = plan(run, Limitations(), kernel.modules, version=kernel.numbers)
    with machine.started(kernel, made, run["seed"]) as carried:
        for _ in carried.looks(run["duration"] / PICOSECONDS, threading.Event()):
            pass
        text = carried.result()
    own = reading.result(run, made, text, carried.folder)
    both = observed.added(run, own, text)
    return own.flows, both.flows[own.flows.height :], observed.records(text), both


#: What both tell of a connection, in the same way.
SAME = (
    *("start", "established", "completed", "bytes_delivered", "total_bytes_delivered", "segments_sent"),
    *("rwnd_limited", "sndbuf_limited", "algorithm"),
)

#: And if its SYN was answered at once: whether one sent again gives a sample depends on the order in which packets are taken.
RTTS = ("rtt_samples", "rtt_mean", "rtt_min", "rtt_max")


CODEL, DROPTAIL = {"name": "codel"}, {"name": "droptail", "limit": "20 packets"}


@pytest.mark.parametrize("tcp", ["newreno", "cubic", "bbr"])
@pytest.mark.parametrize("queue", [CODEL, DROPTAIL])
@pytest.mark.kernel
@on_a_kernel[1]
def test_connections_are_what_their_own_program_says(tcp: str, queue: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Packets alone, and the guest's flows by their own sockets, give the same goodput, losses, retransmissions and RTTs."""
    data = scenario_data(stack="linux-6", probe={"flow_series": "100 ms"})
    data["network"]["dumbbell"]["bottleneck"]["queue"] = queue
    data["flows"] = [
        {"from": "a", "to": "b", "tcp": tcp, "count": 2, "start": "0 s"},
        {"from": "b", "to": "a", "tcp": tcp, "start": "500 ms", "size": "1 MB"},
    ]
    own, seen, found, both = carried_out(from_data(data, "test"), monkeypatch)
    assert own["retransmissions"].sum() > 0 or tcp == "bbr"
    for name in SAME:
        assert seen[name].to_list() == own[name].to_list(), name
    is_prompt = own["established"] - own["start"] < 1
    assert is_prompt.sum() >= 2
    assert seen.filter(is_prompt).select(RTTS).rows() == own.filter(is_prompt).select(RTTS).rows()
    # A packet that is sent just before the window and lost in it counts where the queue counts it.
    assert seen["packets_dropped"].to_list() == [pytest.approx(value, abs=2) for value in own["packets_dropped"]]
    # The kernel counts a SYN that is sent again, which it is after a second (RFC 6298, section 2.1), among the retransmissions.
    told = [int(way["told_retransmissions"]) for way in found.ways.values() if int(way["total_bytes"])]
    assert told == own["retransmissions"].to_list()
    assert seen["retransmissions"].to_list() == [count - (not prompt) for count, prompt in zip(told, is_prompt, strict=True)]
    columns = ("cwnd", "ssthresh", "rtt", "bytes_delivered")
    theirs, ours = both.flow_series.filter(pl.col("flow") < 3), both.flow_series.filter(pl.col("flow") >= 3)
    ours = ours.with_columns(pl.col("flow") - 3).join(theirs, on=["time", "flow"], suffix="_own")
    ours = ours.filter(pl.col("flow").is_in([flow for flow, prompt in enumerate(is_prompt) if prompt]))
    assert ours.height > 70
    assert ours.select(pl.all_horizontal(pl.col(name).eq_missing(pl.col(f"{name}_own")) for name in columns).all()).item()
