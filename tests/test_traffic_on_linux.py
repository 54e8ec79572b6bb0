"""Traffic on a real kernel: connections that come and go, applications and rate-based sources do what they do simulated."""

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import scenario_data
from sojourn.backends.linux.backend import Linux
from sojourn.linux import cache, guest
from sojourn.runs import Cell
from sojourn.scenario import Scenario, from_data
from sojourn.units import PICOSECONDS

#: Kernels whose guest is of this version of Sojourn.
KERNELS = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest()]

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not KERNELS, reason="no Linux kernel is built by this version; `sojourn linux build` makes one"),
]

#: The base round trip of the small scenario: 1 ms, 5 ms and 1 ms there and back.
ROUND_TRIP = 0.014


@pytest.fixture
def backend() -> Linux:
    """Returns the first kernel that is built."""
    return Linux(KERNELS[0].name)


def scenario(*flows: dict[str, Any], folder: Path | None = None, link: dict[str, Any] | None = None, **changes: Any) -> Scenario:
    """Returns a small scenario with Linux's stack, these entries of flows, and changes of its bottleneck."""
    data = scenario_data(**{"stack": "linux-6", "warm_up": "0 s", **changes})
    data["flows"] = [{"from": "a", "to": "b", "tcp": "cubic", **flow} for flow in flows]
    data["network"]["dumbbell"]["bottleneck"] |= link or {}
    return from_data(data, "test", folder)


def row(result: sojourn.Result, group: str) -> dict[str, Any]:
    """Returns the only flow of a group."""
    return result.flows.row(by_predicate=pl.col("flow_group") == group, named=True)


def test_lone_transfers_take_the_ideal_time(backend: Linux) -> None:
    """A transfer that fits into the initial window and meets nobody takes two round trips and its transmission, at 10 Mbit/s."""
    asked = scenario({"size": "10 kB", "arrivals": {"process": "deterministic", "rate": 5}})
    transfers = sojourn.run(asked, backend=backend).transfers
    simulated = sojourn.run(asked).transfers
    assert transfers.height == simulated.height == 19
    segments = 7
    expected = 2 * ROUND_TRIP + 8 * (10_000 + segments * 52) / 10e6
    assert transfers["ideal_time"].to_list() == pytest.approx([expected] * 19)
    # The SYN, the other links, and the headers of the last packet.
    assert transfers["completion_time"].min() >= expected  # type: ignore[operator]
    assert transfers["completion_time"].max() <= expected + 0.0015  # type: ignore[operator]
    assert transfers["start"].to_list() == pytest.approx(simulated["start"].to_list(), abs=50e-6)
    assert transfers["timeouts"].null_count() == transfers.height


FLOWS: dict[str, dict[str, Any]] = {
    "poisson": {"size": {"distribution": "exponential", "mean": "20 kB"}, "arrivals": {"process": "poisson", "load": 0.3}},
    "listed": {"arrivals": {"file": "times.csv"}},
    "page": {"page": {"objects": 12, "size": "5 kB"}, "arrivals": {"process": "poisson", "rate": 2}},
    "multiplexed": {"page": {"objects": 12, "size": "5 kB", "multiplexed": True}, "arrivals": {"process": "poisson", "rate": 2}},
    "interleaved": {
        "page": {"objects": 12, "size": "30 kB", "multiplexed": True, "interleaved": True},
        "arrivals": {"process": "deterministic", "rate": 1},
    },
    "exchange": {"exchange": {"response": "20 kB", "count": 20, "think": "20 ms"}, "count": 2},
    "vectors": {"vectors": "tmix"},
    "periodic": {"periodic": {"size": {"distribution": "exponential", "mean": "2 kB"}, "every": "100 ms"}},
    "video": {"video": {"rule": "bba1", "ladder": ["500 kbit/s", "1 Mbit/s"], "segment": "500 ms", "buffer": "4 s"}},
}


@pytest.mark.parametrize("name", FLOWS)
def test_transfers_are_the_simulators(name: str, backend: Linux, tmp_path: Path) -> None:
    """Kinds and sizes are those of the simulator, none is faster than a path without queues, and their times are alike."""
    (tmp_path / "times.csv").write_text("time_s,bytes\n0.1,20000\n0.3,50000\n")
    (tmp_path / "tmix").write_text(
        "S 100000 4 0 1\nI 0 0 300\nA 0 1000 30000\nI 0 90000 200\nA 0 0 700\n"
        "C 200000 2 1 0 2\nI 0 0 5000\nI 90000 0 100\nA 0 0 9000\n"
    )
    asked = scenario(FLOWS[name], folder=tmp_path, duration="10 s", link={"queue": "fq_codel"})
    found, simulated = sojourn.run(asked, backend=backend), sojourn.run(asked)
    assert simulated.transfers.height >= 2
    made, expected = (Counter(each.transfers.select("kind", "bytes").iter_rows()) for each in (found, simulated))
    # At the end one or two are under way.
    assert (made - expected).total() + (expected - made).total() <= 2
    assert found.transfers["slowdown"].min() >= 1  # type: ignore[operator]
    times, those_simulated = (each.transfers["completion_time"].mean() for each in (found, simulated))
    assert times == pytest.approx(those_simulated, rel=0.08)
    for name in ("transfers_completed", "transfers_unfinished"):
        assert found.flows[name].sum() == pytest.approx(simulated.flows[name].sum(), abs=1)
    assert found.flows["transfers_open"].sum() == pytest.approx(simulated.flows["transfers_open"].sum(), rel=0.1, abs=0.02)


def test_viewers_see_the_same(backend: Linux) -> None:
    """What a viewer sees is what is seen simulated: a video on a wide line plays at its highest bit rate without a stall."""
    asked = scenario({"video": {"rule": "throughput", "ladder": ["500 kbit/s", "2 Mbit/s"], "segment": "1 s"}}, duration="12 s")
    found, simulated = (row(result, "a-b") for result in (sojourn.run(asked, backend=backend), sojourn.run(asked)))
    for name in ("video_stalls", "video_switches", "video_stalled"):
        assert found[name] == simulated[name]
    assert found["video_mbps"] == pytest.approx(simulated["video_mbps"], rel=0.01)
    assert found["video_start_delay"] == pytest.approx(simulated["video_start_delay"], rel=0.05)


def test_users_think_between_transfers(backend: Linux) -> None:
    """By Little's law, users in the system are those who think and those whose transfers are open: N = X (Z + R)."""
    asked = scenario({"size": "20 kB", "arrivals": {"users": 5, "think": "200 ms"}}, duration="40 s", warm_up="2 s")
    result = sojourn.run(asked, backend=backend)
    completed = row(result, "a-b")["transfers_completed"]
    response = result.transfers["completion_time"].mean()
    assert isinstance(response, float)
    assert completed / 38 * (0.2 + response) == pytest.approx(5, rel=0.08)
    assert row(result, "a-b")["transfers_open"] == pytest.approx(completed / 38 * response, rel=0.05)


def test_rate_based_sources_send(backend: Linux) -> None:
    """Probes take the base round trip, calls the way there, a sized source arrives whole: each as in the simulator."""
    asked = scenario(
        {"tcp": "ping", "group": "ping"},
        {"tcp": {"name": "voice", "codec": "g729a"}, "group": "voice"},
        {"tcp": {"name": "cbr", "rate": "1 Mbit/s", "packet_size": "600 B"}, "size": "50 kB", "start": "0 s", "group": "cbr"},
        duration="10 s",
    )
    found, simulated = sojourn.run(asked, backend=backend), sojourn.run(asked)
    # 60 bytes cross 100, 10 and 100 Mbit/s there and back.
    crossing = 60 * 8 * (1 / 10e6 + 2 / 100e6)
    assert row(found, "ping")["rtt_min"] == pytest.approx(ROUND_TRIP + 2 * crossing, abs=30e-6)
    assert row(found, "ping")["rtt_p50"] == pytest.approx(row(simulated, "ping")["rtt_p50"], rel=0.02)
    assert row(found, "ping")["rtt_samples"] == row(simulated, "ping")["rtt_samples"]
    assert row(found, "voice")["delay_min"] == pytest.approx(ROUND_TRIP / 2 + crossing, abs=30e-6)
    assert row(found, "voice")["mos"] == pytest.approx(row(simulated, "voice")["mos"], abs=0.01)
    assert row(found, "cbr")["total_bytes_delivered"] == 50_000
    # 83 packets of 600 bytes and one of 200.
    assert row(found, "cbr")["segments_sent"] == 84


@pytest.mark.parametrize("ecn", [False, True])
def test_tfrc_is_friendly(ecn: bool, backend: Linux) -> None:
    """TFRC through the kernel's queue gets what it gets through the simulator's, by its drops as by its marks."""
    stack = {"profile": "linux-6", "ecn": "classic" if ecn else "off"}
    queue = {"name": "codel", "ecn": ecn}
    asked = scenario({"tcp": "tfrc"}, stack=stack, link={"queue": queue, "rate": "4 Mbit/s"}, duration="20 s", warm_up="4 s")
    found, simulated = sojourn.run(asked, backend=backend), sojourn.run(asked)
    assert row(found, "a-b")["bytes_delivered"] == pytest.approx(row(simulated, "a-b")["bytes_delivered"], rel=0.05)
    assert row(found, "a-b")["rtt_mean"] == pytest.approx(row(simulated, "a-b")["rtt_mean"], rel=0.15)
    drops, marks = (found.queues.row(0, named=True)[name] for name in ("drops", "marks"))
    assert (marks > 0, drops > 0) == (ecn, not ecn)


def test_slow_reader_limits(backend: Linux) -> None:
    """An application that reads 2 Mbit/s gets that, of an endless flow and of each response, whatever the line carries."""
    stack = {"profile": "linux-6", "reading_rate": "2 Mbit/s"}
    for flow in ({"group": "bulk"}, {"exchange": {"response": "200 kB"}, "group": "exchange"}):
        asked = scenario(flow, stack=stack, duration="12 s", warm_up="2 s")
        result = sojourn.run(asked, backend=backend)
        if "exchange" not in flow:
            assert row(result, "bulk")["bytes_delivered"] * 8 / 10 == pytest.approx(2e6, rel=0.02)
            assert row(result, "bulk")["rwnd_limited"] > 8
        else:
            assert result.transfers["completion_time"].min() >= 200_000 * 8 / 2e6  # type: ignore[operator]
            assert result.transfers["completion_time"].mean() <= 200_000 * 8 / 2e6 + 3 * ROUND_TRIP  # type: ignore[operator]


@pytest.mark.filterwarnings("ignore:arrivals. a load of")
def test_stop_ends_a_group(backend: Linux) -> None:
    """A group that stops aborts what is open; nothing arrives or is delivered after that."""
    asked = scenario(
        {"size": "200 kB", "arrivals": {"process": "deterministic", "rate": 20}, "stop": "2 s"}, duration="4 s", warm_up="2500 ms"
    )
    flow = row(sojourn.run(asked, backend=backend), "a-b")
    assert flow["stopped"] == 2
    assert flow["bytes_delivered"] == 0
    # 40 arrive, of 160 ms at least each on the line: twelve can be done.
    assert 40 - 12 <= flow["transfers_unfinished"] < 40
    assert flow["total_bytes_delivered"] <= 10e6 / 8 * 2


def test_dead_connection_ends_its_session(backend: Linux) -> None:
    """A session whose line dies gives up after its retries, as in the simulator; one that has ended before does not."""
    stack = {"profile": "linux-6", "data_retries": 3, "syn_retries": 2}
    asked = scenario(
        {"exchange": {"response": "20 kB"}, "group": "endless"},
        {"exchange": {"response": "20 kB", "count": 2}, "group": "short"},
        stack=stack,
        duration="20 s",
        link={"changes": [{"at": "5 s", "loss": 1.0, "reverse": {"loss": 1.0}}]},
    )
    found, simulated = sojourn.run(asked, backend=backend), sojourn.run(asked)
    for group, unfinished in (("endless", 1), ("short", 0)):
        assert row(found, group)["transfers_unfinished"] == row(simulated, group)["transfers_unfinished"] == unfinished
    # It was open from its start to its last retry, and no longer.
    assert row(found, "endless")["transfers_open"] == pytest.approx(row(simulated, "endless")["transfers_open"], rel=0.1)


def test_thousands_of_connections(backend: Linux) -> None:
    """Connections come and go by the thousand: none is left, none fails, and their ports are used again."""
    asked = scenario(
        {"size": "1 kB", "arrivals": {"process": "deterministic", "rate": 2000}}, duration="10 s", link={"rate": "100 Mbit/s"}
    )
    result = sojourn.run(asked, backend=backend)
    assert row(result, "a-b")["transfers_completed"] == pytest.approx(20_000, abs=100)
    assert row(result, "a-b")["retransmissions"] == 0
    assert result.transfers["completion_time"].max() < 3 * ROUND_TRIP  # type: ignore[operator]


def test_same_bytes_twice(backend: Linux, tmp_path: Path) -> None:
    """Asking the engine makes no run depend on when it answers: all kinds of traffic at once give the same frames again."""
    flows = [{**FLOWS[name], "group": name} for name in ("poisson", "page", "interleaved", "exchange", "periodic", "video")]
    asked = scenario(
        *flows, {"tcp": "tfrc"}, {"tcp": "ping"}, {"tcp": "voice"}, folder=tmp_path, duration="5 s", link={"loss": 0.01}
    )
    one, other = (sojourn.run(asked, backend=backend) for _ in range(2))
    assert one.transfers.height > 50
    for frame in ("flows", "queues", "transfers"):
        assert getattr(one, frame).equals(getattr(other, frame))


def packets(capture: Path) -> Iterator[bytes]:
    """Yields what was kept of each packet of a capture: the data of its enhanced packet blocks (pcapng, section 4.3)."""
    content, start = capture.read_bytes(), 0
    while start < len(content):
        kind, length = struct.unpack_from("<II", content, start)
        if kind == 6:
            (captured,) = struct.unpack_from("<I", content, start + 20)
            yield content[start + 28 : start + 28 + captured]
        start += length


def test_codepoints_are_on_the_wire(backend: Linux, tmp_path: Path) -> None:
    """A flow's codepoint is in its packets both ways, as the upper six bits of the second byte of IP's header (RFC 2474)."""
    sizes = {"size": "50 kB", "start": "0 s"}
    asked = scenario(
        {"dscp": "EF", **sizes}, {"dscp": "CS1", **FLOWS["exchange"]}, {"tcp": "ping", "dscp": "AF41"}, duration="2 s"
    )
    specification = Cell({}, asked).specification
    counts = {}
    for link in (1, 0):
        path = tmp_path / f"{link}.pcapng"
        backend.capture(specification, link, path, "")
        found = Counter(content[1] >> 2 for content in packets(path))
        counts[link] = [found[code] for code in (46, 8, 34, 0)]
    for expedited, bulk, video, others in counts.values():
        assert expedited > 40
        assert bulk > 100
        assert video == pytest.approx(2 * 2 / 0.1, abs=2)
        assert others < 10


def test_moments_have_all_traffic(backend: Linux) -> None:
    """What somebody watches of a run includes what its groups have delivered so far; it ends with what they deliver."""
    asked = scenario(FLOWS["poisson"], {"tcp": "voice"})
    stepped = backend.step(Cell({}, asked).specification)
    moments = [moment.flows["bytes_delivered"].to_list() for moment in stepped.moments(PICOSECONDS)]
    assert len(moments) == 4
    assert all(earlier <= later for earlier, later in zip(moments[0], moments[-1], strict=True))
    assert moments[-1] == stepped.result().flows["total_bytes_delivered"].to_list()
