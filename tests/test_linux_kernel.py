"""The backend linux on a real kernel: it does what a scenario says, always the same, and nothing is left behind."""

import contextlib
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from captures import frames, needs_tshark
from conftest import scenario_data
from sojourn import backends, exports
from sojourn.backends.backend import Backend
from sojourn.backends.linux import direct, machine, shaping
from sojourn.backends.linux.backend import Linux
from sojourn.backends.linux.limits import Limitations
from sojourn.backends.linux.plan import plan
from sojourn.errors import RunCancelled, RunFailed
from sojourn.linux import cache, guest
from sojourn.linux.cache import DUALPI2
from sojourn.runs import Cell, Run
from sojourn.scenario import from_data
from sojourn.specification import RunSpecification
from sojourn.units import PICOSECONDS

#: A user without rights, of all systems of ours.
NOBODY = 65534

#: Kernels whose guest is of this version of Sojourn.
KERNELS = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest()]

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not KERNELS, reason="no Linux kernel is built by this version; `sojourn linux build` makes one"),
]


@pytest.fixture
def backend() -> Linux:
    """Returns the first kernel that is built."""
    return Linux(KERNELS[0].name)


def scenario(**changes: Any) -> Any:
    """Returns a small scenario with Linux's stack."""
    return from_data(scenario_data(**{"stack": "linux-6", **changes}), "test")


def with_bottleneck(**settings: Any) -> Any:
    """Returns a small scenario with a bottleneck changed."""
    data = scenario_data(stack="linux-6")
    data["network"]["dumbbell"]["bottleneck"] |= settings
    return from_data(data, "test")


def queue_of(backend: Linux, asked: Any) -> dict[str, Any]:
    """Returns the bottleneck's row."""
    return sojourn.run(asked, backend=backend).queues.row(0, named=True)


def run_of(asked: Any, backend: Linux) -> Run:
    """Returns the run of a scenario."""
    specification = Cell({}, asked).specification
    return Run({}, specification["seed"], specification, backend.identity)


def kernels_running(folder: Path) -> list[int]:
    """Returns the processes whose working directory is somewhere below a folder, as that of each run's kernel is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append(int(process.name))
    return found


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Checks that a test leaves no process of a kernel and no folder of a run behind."""
    folder = tmp_path / "runs"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    # What has been killed ends when it next has a processor.
    deadline = time.monotonic() + 30
    while kernels_running(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert kernels_running(folder) == []
    assert list(folder.iterdir()) == []


def test_full_link_is_full(backend: Linux) -> None:
    """A full queue of packets keeps the link busy all the time, and holds no more than its limit."""
    queue = queue_of(backend, with_bottleneck(queue={"name": "droptail", "limit": "40 packets"}))
    assert queue["utilisation"] == pytest.approx(1.0, abs=0.001)
    assert queue["max_packets"] == 40
    # 40 packets of 1500 bytes at 10 Mbit/s, and the rest of the one in transmission.
    assert queue["sojourn_max"] == pytest.approx(0.048, abs=0.0013)
    assert queue["total_arrivals"] == queue["total_departures"] + queue["total_drops"] + queue["queued_at_end"]


def test_rtt_is_the_path(backend: Linux) -> None:
    """The RTT of a lone segment is the propagation and transmission times of the path: 14 ms, and three links each way."""
    flows = [{"from": "a", "to": "b", "tcp": "newreno", "size": "1000 B"}]
    flow = sojourn.run(scenario(flows=flows, warm_up="0 s"), backend=backend).flows.row(0, named=True)
    per_byte = 8 * (1 / 100e6 + 1 / 10e6 + 1 / 100e6)
    # 60 bytes are SYN and SYN-ACK with their options, 52 an acknowledgement with a timestamp.
    assert flow["established"] - flow["start"] == pytest.approx(0.014 + (60 + 60) * per_byte, abs=5e-6)
    # A timer of each of six links is late by up to half a microsecond, and each look at the clock takes a quarter.
    assert flow["rtt_max"] == pytest.approx(0.014 + (1052 + 52) * per_byte, abs=6e-6)


def test_second_segment_is_acknowledged(backend: Linux) -> None:
    """Without losses a receiver acknowledges every second segment (RFC 5681, section 4.2), not each one."""
    for profile in ("linux-6", "rfc"):
        # A receiver whose buffer is full waits for its application, which makes room.
        data = scenario_data(stack={"profile": profile, "receive_buffer": "16 MiB"})
        data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "droptail"}
        flows = sojourn.run(from_data(data, "test"), backend=backend).flows
        assert flows["retransmissions"].sum() == 0
        # 7.3 acknowledges some a little later.
        assert int(flows["rtt_samples"].sum()) / int(flows["segments_sent"].sum()) == pytest.approx(0.5, abs=0.07)


@pytest.mark.parametrize(("framing", "bytes_on_the_line"), [("noatm", 1540), ("atm", 33 * 53), ("ptm", 1540 * 65 / 64)])
def test_lines_carry_less_than_their_rate(backend: Linux, framing: str, bytes_on_the_line: float) -> None:
    """Packets of 1500 bytes with 40 of overhead take 1540 bytes of the line, 33 cells of ATM, or 65 bytes of PTM for each 64."""
    asked = with_bottleneck(queue={"name": "droptail", "limit": "40 packets"}, overhead="40 B", framing=framing)
    queue = queue_of(backend, asked)
    assert queue["departures"] == pytest.approx(3 * 10e6 / 8 / bytes_on_the_line, rel=0.001)
    assert queue["utilisation"] is None


def test_bucket_gives_its_rate(backend: Linux) -> None:
    """Of a full queue a token bucket lets its rate pass and, once, its bucket, and it holds no more than its limit."""
    queue = {"name": "tbf", "rate": "4 Mbit/s", "burst": "30 kB", "limit": "40 packets"}
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "8 Mbit/s", "packet_size": "1500 B"}}]
    data = scenario_data(flows=flows)
    data["network"]["dumbbell"]["bottleneck"]["queue"] = queue
    found = queue_of(backend, from_data(data, "test"))
    assert found["bytes_sent"] * 8 / 3 == pytest.approx(4e6, rel=0.005)
    assert found["max_packets"] == 40
    assert found["drops"] == found["drops_overflow"] > 0


def test_losses_without_sack_are_mended(backend: Linux) -> None:
    """Without SACK connections recover as RFC 6582 says: the link stays busy, and nothing is sent twice that arrived once."""
    data = scenario_data(stack={"profile": "linux-6", "sack": False, "duplicate_sack": False, "recovery": "newreno"})
    data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "droptail", "limit": "20 packets"}
    run = sojourn.run(from_data(data, "test"), backend=backend)
    assert run.queues["utilisation"][0] == pytest.approx(1.0, abs=0.05)
    assert 0 < run.queues["drops"][0] <= run.flows["retransmissions"].sum() + 20


def test_stacks_are_side_by_side(backend: Linux) -> None:
    """A connection takes as long beside one of another stack on the same hosts as alone, to the microsecond."""
    mine = {"from": "a", "to": "b", "tcp": "newreno", "size": "14480 B", "start": "1 s"}
    other = {**mine, "start": "2 s", "stack": {"initial_window": 4, "timestamps": False}}

    def rows_of(*flows: dict[str, Any]) -> list[dict[str, Any]]:
        return sojourn.run(scenario(flows=list(flows), warm_up="0 s"), backend=backend).flows.sort("start").to_dicts()

    alone = [*rows_of(mine), *rows_of(other)]
    for flows in ((mine, other), (other, mine)):
        rows = rows_of(*flows)
        for row, expected in zip(rows, alone, strict=True):
            assert {name: row[name] for name in ("established", "completed", "rtt_min", "rtt_max")} == pytest.approx(
                {name: expected[name] for name in ("established", "completed", "rtt_min", "rtt_max")}, abs=2e-6
            )
            assert row["timeouts"] == 0
    # Ten segments leave at once, or four and then the rest, a round trip later.
    assert alone[1]["completed"] - alone[1]["start"] > alone[0]["completed"] - alone[0]["start"] + 0.01


@pytest.mark.parametrize("tcp", ["lp", "dctcp"])
def test_any_controls_share_hosts(backend: Linux, tcp: str) -> None:
    """Controls whose hosts have settings of their own run beside others, whatever the scenario's stack, and share the link."""
    flows = [{"from": "a", "to": "b", "tcp": "cubic"}, {"from": "a", "to": "b", "tcp": tcp}]
    run = sojourn.run(from_data(scenario_data(flows=flows), "test"), backend=backend)
    assert run.queues["utilisation"][0] > 0.9
    assert all(delivered > 0 for delivered in run.flows["bytes_delivered"])


def test_header_size_counts(backend: Linux) -> None:
    """Bytes at the link are those of the specification: packets with headers of 54 bytes are 1514 bytes long."""
    queue = queue_of(backend, scenario(stack={"profile": "linux-6", "header_size": "54 B"}))
    assert queue["bytes_sent"] / queue["departures"] == pytest.approx(1514, rel=0.001)


def test_device_queue_is_below(backend: Linux) -> None:
    """A device queue of 10 packets adds their transmission times to the RTT and takes nothing of the link's rate."""
    queue = {"name": "droptail", "limit": "50 packets"}
    asked = [with_bottleneck(queue=queue, device_queue=f"{packets} packets") for packets in (0, 10)]
    without, below = (sojourn.run(each, backend=backend) for each in asked)
    longer = below.runs["rtt_mean_s"][0] - without.runs["rtt_mean_s"][0]
    assert longer == pytest.approx(10 * 0.0012, abs=0.004)
    assert below.queues["utilisation"][0] == pytest.approx(1.0, abs=0.01)


def test_cbr_keeps_its_rate(backend: Linux) -> None:
    """A source of constant rate delivers what it says on an idle link."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "1 Mbit/s", "packet_size": "500 B"}}]
    run = sojourn.run(scenario(flows=flows), backend=backend)
    assert run.runs["total_mbps"][0] == pytest.approx(1.0, rel=0.005)
    assert run.queues["mean_packets"][0] == 0


def test_delay_is_the_path(backend: Linux) -> None:
    """Each packet of a lone source takes the times of the path: 7 ms of propagation, and 500 bytes over three links."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "1 Mbit/s", "packet_size": "500 B"}}]
    flow = sojourn.run(scenario(flows=flows), backend=backend).flows.row(0, named=True)
    expected = 0.007 + 8 * 500 * (1 / 100e6 + 1 / 10e6 + 1 / 100e6)
    assert flow["delay_samples"] == pytest.approx(3 * 1e6 / (8 * 500), abs=1)
    assert flow["delay_min"] == pytest.approx(expected, abs=5e-6)
    assert flow["delay_max"] == pytest.approx(expected, abs=5e-6)
    assert flow["delay_p50"] == pytest.approx(expected, rel=0.01)
    assert flow["jitter"] < 2e-6


def test_jitter_is_the_gap(backend: Linux) -> None:
    """In a queue that fills, packets of one source are delayed by longer and longer: each by what it comes too early."""
    # A packet of 1000 bytes takes 0.8 ms to send at 10 Mbit/s, and the next comes after 0.5 ms.
    source = {"name": "cbr", "rate": "16 Mbit/s", "packet_size": "1000 B"}
    data = scenario_data(flows=[{"from": "a", "to": "b", "tcp": source}], warm_up="0 s", duration="500 ms")
    data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "droptail"}
    flow = sojourn.run(from_data(data, "test"), backend=backend).flows.row(0, named=True)
    assert flow["jitter"] == pytest.approx(0.0003, abs=2e-6)


def test_receiver_limits_flow(backend: Linux) -> None:
    """A window of 40 kB carries 40 kB a round trip on an idle link, and the sender waits for it all the time."""
    data = scenario_data(stack={"profile": "linux-6", "receive_buffer": "40 kB"})
    data["network"]["dumbbell"]["bottleneck"]["delay"] = "43 ms"
    run = sojourn.run(from_data(data, "test"), backend=backend)
    flow = run.flows.row(0, named=True)
    assert flow["rwnd_limited"] == pytest.approx(3, abs=0.3)
    assert flow["bytes_delivered"] / 3 * flow["rtt_mean"] == pytest.approx(40e3, rel=0.08)
    assert run.limited


def test_sender_limits_flow(backend: Linux) -> None:
    """Linux's send buffer of 4 MiB holds less than 16 products of 1 MB: CUBIC alone never fills such a queue, in either backend.

    The time that the kernel tells is what it is: 0 for the guest's blocking writes.
    """
    network = {
        "senders": [{"name": "a", "rate": "1 Gbit/s", "delay": "20 ms"}],
        "receivers": [{"name": "b", "rate": "1 Gbit/s"}],
        "bottleneck": {"rate": "100 Mbit/s", "delay": "20 ms", "queue": {"name": "droptail", "limit": "16 BDP"}},
    }
    flows = [{"from": "a", "to": "b", "tcp": "cubic"}]
    given = scenario_data(stack="linux-6", network={"dumbbell": network}, flows=flows, duration="20 s", warm_up="10 s")
    found = [sojourn.run(from_data(given, "test"), backend=each) for each in (backend, "simulator")]
    assert [run.queues["drops"].item() for run in found] == [0, 0]
    here, there = (run.flows.row(0, named=True) for run in found)
    # 7.3 has room for 3 % less than 6.1, whose rule the simulator has (tcp_input.c, tcp_sndbuf_expand).
    assert here["rtt_mean"] == pytest.approx(there["rtt_mean"], rel=0.04)
    assert 0 <= here["sndbuf_limited"] <= 10
    assert there["sndbuf_limited"] > 9


def test_size_and_stop_end_flows(backend: Linux) -> None:
    """A flow of a size delivers exactly that, and one that is stopped delivers nothing more."""
    flows = [
        {"from": "a", "to": "b", "tcp": "newreno", "size": "100 kB"},
        {"from": "a", "to": "b", "tcp": "newreno", "stop": "2 s"},
    ]
    run = sojourn.run(scenario(flows=flows, probe={"flow_series": "500 ms"}), backend=backend)
    sized, stopped = run.flows.to_dicts()
    assert (sized["total_bytes_delivered"], sized["stopped"]) == (100_000, None)
    assert sized["completed"] < 1
    assert (stopped["stopped"], stopped["aborted"], stopped["completed"]) == (2.0, None, None)
    # At most the rest of the window's second at the link's rate.
    assert stopped["bytes_delivered"] < 1.1 * 10e6 / 8


def test_changes_take_effect(backend: Linux) -> None:
    """A link whose rate is halved for half of the window carries three quarters, and its utilisation stays 1."""
    asked = with_bottleneck(changes=[{"at": "2.5 s", "rate": "5 Mbit/s"}], queue={"name": "droptail", "limit": "100 packets"})
    queue = queue_of(backend, asked)
    assert queue["bytes_sent"] * 8 / 3 == pytest.approx(7.5e6, rel=0.01)
    assert queue["utilisation"] == pytest.approx(1.0, abs=0.01)


def overloaded(backend: Linux, **settings: Any) -> dict[str, Any]:
    """Returns the row of a full queue of 50 packets for four seconds, all of which are measured."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "12 Mbit/s", "packet_size": "1500 B"}}]
    data = scenario_data(flows=flows, warm_up="0 s")
    data["network"]["dumbbell"]["bottleneck"] |= {"queue": {"name": "droptail", "limit": "50 packets"}} | settings
    return queue_of(backend, from_data(data, "test"))


def test_links_are_held_up(backend: Linux) -> None:
    """A link with a rate of 0 for 1.5 of 4 s carries the rest, and who is in its queue waits: nothing leaves."""
    queue = overloaded(backend, changes=[{"at": "1 s", "rate": "0 bit/s"}, {"at": "2.5 s", "rate": "10 Mbit/s"}])
    assert queue["bytes_sent"] * 8 == pytest.approx(2.5 * 10e6, abs=2 * 1500 * 8)
    # Fifty packets before it, at most, and its own.
    assert queue["sojourn_max"] == pytest.approx(1.5 + 50 * 0.0012, abs=0.0013)
    assert queue["utilisation"] == pytest.approx(1.0, abs=0.001)


def test_held_up_links_without_queue(backend: Linux) -> None:
    """A link without a queue keeps what comes while its rate is 0, too: a packet that comes at its start arrives at its end."""
    flows = [{"from": "b", "to": "a", "tcp": {"name": "cbr", "rate": "120 kbit/s", "packet_size": "1500 B"}}]
    data = scenario_data(flows=flows, warm_up="0 s")
    changes = [{"at": "1 s", "rate": "0 bit/s"}, {"at": "2.5 s", "rate": "10 Mbit/s"}]
    data["network"]["dumbbell"]["bottleneck"]["changes"] = changes
    flow = sojourn.run(from_data(data, "test"), backend=backend).flows.row(0, named=True)
    passage = 0.007 + 8 * 1500 * (1 / 100e6 + 1 / 10e6 + 1 / 100e6)
    assert flow["delay_min"] == pytest.approx(passage, abs=5e-6)
    assert flow["delay_max"] == pytest.approx(passage + 1.5, abs=0.002)


@pytest.mark.parametrize("kind", ["steps", "opportunities"])
def test_traces_carry_what_they_say(backend: Linux, tmp_path: Path, kind: str) -> None:
    """A link that always has packets to send carries the integral of its trace, whose rate is 0 at times, to the packet or so."""
    trace = tmp_path / "cell"
    if kind == "steps":
        trace.write_text("time_s,rate_mbit_s\n0,8\n0.3,2\n0.5,0\n0.6,4\n1,0\n")
        carried = 2 * 4 * (0.3 * 8e6 + 0.2 * 2e6 + 0.4 * 4e6) / 2
    else:
        counts = [0, 0, 1, 1, 0, 2, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1]
        trace.write_text("".join(f"{place}\n" * count for place, count in enumerate(counts, start=1)))
        carried = 4 / 0.02 * sum(counts) * 1500 * 8
    queue = overloaded(backend, rate={"trace": str(trace)}, reverse={"rate": "10 Mbit/s"})
    assert queue["bytes_sent"] * 8 == pytest.approx(carried, rel=0.005)
    assert queue["utilisation"] == pytest.approx(1.0, abs=0.005)


def test_failed_change_fails_the_run(backend: Linux, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that the kernel does not make fails the run in one line."""
    wrong = shaping.discipline(2, "unheard_of", b"")
    monkeypatch.setattr("sojourn.backends.linux.changes.rates", lambda *_, **__: iter([wrong]))
    with pytest.raises(RunFailed, match=r"^the kernel could not carry it out: cannot make change: [^\n]+$"):
        backend.run(Cell({}, with_bottleneck(changes=[{"at": "1 s", "rate": "1 Mbit/s"}])).specification)


def test_loss_is_random(backend: Linux) -> None:
    """A link that loses 2 % of its packets loses that of a constant stream, within five standard deviations."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "8 Mbit/s", "packet_size": "500 B"}}]
    data = scenario_data(flows=flows)
    data["network"]["dumbbell"]["bottleneck"]["loss"] = 0.02
    run = sojourn.run(from_data(data, "test"), backend=backend)
    flow = run.flows.row(0, named=True)
    assert run.queues["total_link_losses"][0] == pytest.approx(0.02 * run.queues["total_departures"][0], rel=0.3)
    lost = 1 - flow["bytes_delivered"] / 500 / flow["segments_sent"]
    assert lost == pytest.approx(0.02, abs=5 * (0.02 * 0.98 / flow["segments_sent"]) ** 0.5 + 0.003)


def impaired(backend: Backend, **impairments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the rows of a stream of 1000 packets a second for ten seconds over an impaired link, and of its queue."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "4 Mbit/s", "packet_size": "500 B"}}]
    data = scenario_data(flows=flows, duration="11 s")
    data["network"]["dumbbell"]["bottleneck"]["impairments"] = impairments
    run = sojourn.run(from_data(data, "test"), backend=backend)
    return run.flows.row(0, named=True), run.queues.row(0, named=True)


#: What a packet of that stream takes: 7 ms of propagation, and 500 bytes over three links.
PASSAGE = 0.007 + 8 * 500 * (1 / 100e6 + 1 / 10e6 + 1 / 100e6)


def test_losses_come_in_bursts(backend: Linux) -> None:
    """A chain of Gilbert and Elliott loses enter / (enter + leave) of all packets, within five standard deviations."""
    flow, queue = impaired(backend, burst_loss={"enter": 0.01, "leave": 0.2})
    lost = 1 - flow["bytes_delivered"] / 500 / flow["segments_sent"]
    cycles = 10_000 / (1 / 0.01 + 1 / 0.2)
    assert lost == pytest.approx(0.01 / 0.21, rel=5 * (2 / cycles) ** 0.5)
    # In 10 s of the 11.
    assert queue["total_link_losses"] == pytest.approx(11_000 * lost, rel=0.2)


def test_wrong_bits_are_by_size(backend: Linux) -> None:
    """A packet of n bits arrives with the probability (1 - b)^n, within five standard deviations."""
    flow, _ = impaired(backend, bit_error_ratio=1e-5)
    expected = 1 - (1 - 1e-5) ** 4000
    lost = 1 - flow["bytes_delivered"] / 500 / flow["segments_sent"]
    assert lost == pytest.approx(expected, abs=5 * (expected * (1 - expected) / 10_000) ** 0.5)


def test_packets_arrive_twice(backend: Linux) -> None:
    """A tenth of the packets arrives twice, within five standard deviations."""
    flow, _ = impaired(backend, duplication=0.1)
    assert flow["bytes_delivered"] / 500 / flow["segments_sent"] == pytest.approx(1.1, abs=5 * (0.09 / 10_000) ** 0.5)


def test_policers_admit_their_bucket(backend: Linux) -> None:
    """A policer admits its burst and what its rate gives, by IP's sizes, and drops the same in the simulator."""
    policer = {"rate": "2 Mbit/s", "burst": "50 kB"}
    flow, queue = impaired(backend, policer=policer)
    # A packet each millisecond, in which the bucket gains half of one.
    admitted = 50_000 / 500 + 11_000 / 2
    assert queue["total_arrivals"] == pytest.approx(admitted, abs=2)
    assert queue["total_link_losses"] == pytest.approx(11_000 - admitted, abs=2)
    _, simulated = impaired(backends.named("simulator"), policer=policer)
    assert simulated["total_link_losses"] == pytest.approx(queue["total_link_losses"], abs=1)
    assert flow["packets_dropped"] is None


@pytest.mark.parametrize(("distribution", "median"), [("uniform", 1.0), ("exponential", math.log(2))])
def test_delays_are_drawn(backend: Linux, distribution: str, median: float) -> None:
    """A random delay has its mean and its median; in order, a packet waits for those before it, so that the mean is above."""
    jitter = {"mean": "4 ms", "distribution": distribution}
    drawn, _ = impaired(backend, jitter={**jitter, "reorders": True})
    assert drawn["delay_mean"] - PASSAGE == pytest.approx(0.004, rel=0.05)
    # Bins are 1 % wide.
    assert drawn["delay_p50"] - PASSAGE == pytest.approx(0.004 * median, rel=0.1)
    assert drawn["delay_min"] >= PASSAGE - 1e-6
    in_order, _ = impaired(backend, jitter=jitter)
    assert in_order["delay_mean"] > drawn["delay_mean"] + 0.001
    # The next packet comes a millisecond later and is not overtaken: it waits that much less at most.
    assert in_order["jitter"] < drawn["jitter"] / 2


def test_slots_gather_packets(backend: Linux) -> None:
    """Packets wait for their slot and arrive together: no more than its length longer, on average about half of it."""
    flow, _ = impaired(backend, slot="5 ms")
    assert PASSAGE <= flow["delay_min"] <= PASSAGE + 0.001
    assert flow["delay_max"] == pytest.approx(PASSAGE + 0.005, abs=1e-4)
    assert flow["delay_mean"] == pytest.approx(PASSAGE + 0.0025, abs=0.0006)


def test_marks_replace_drops(backend: Linux) -> None:
    """CoDel with ECN marks what it would drop, and nothing is sent again."""
    data = scenario_data(stack={"profile": "linux-6", "ecn": "classic"})
    data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "codel", "ecn": True}
    run = sojourn.run(from_data(data, "test"), backend=backend)
    assert run.queues["marks"][0] > 0
    assert run.runs["retransmissions"][0] == 0


def test_guest_makes_disciplines(backend: Linux, monkeypatch: pytest.MonkeyPatch) -> None:
    """A discipline that the guest makes itself is the one that tc makes of the same attributes: CoDel gives the same frames."""
    by_tc = sojourn.run(scenario(), backend=backend)
    # TCA_CODEL_TARGET and TCA_CODEL_INTERVAL in us, TCA_CODEL_LIMIT, TCA_CODEL_ECN (include/uapi/linux/pkt_sched.h).
    options = b"".join(struct.pack("=HHI", 8, kind, value) for kind, value in ((1, 5000), (2, 100), (3, 100_000), (4, 0)))
    monkeypatch.setattr(direct, "translate", lambda *_, **__: direct.Direct("codel", options))
    by_guest = sojourn.run(scenario(), backend=backend)
    for name in ("flows", "queues"):
        assert getattr(by_guest, name).equals(getattr(by_tc, name))


def test_unknown_discipline_is_told(backend: Linux, monkeypatch: pytest.MonkeyPatch) -> None:
    """A discipline that the kernel does not take after all fails the run in one line that names it."""
    monkeypatch.setattr(direct, "translate", lambda *_, **__: direct.Direct("unheard_of"))
    with pytest.raises(
        RunFailed, match=r"^the kernel could not carry it out: cannot make unheard_of: Specified qdisc kind is unknown$"
    ):
        backend.run(Cell({}, scenario()).specification)


@pytest.mark.skipif(
    not any(DUALPI2 in kernel.modules for kernel in KERNELS), reason="no kernel with DualPI2 is built (Linux 6.17 has it)"
)
def test_dualpi2_keeps_its_target() -> None:
    """DualPI2 keeps the delay of New Reno's packets with ECN about its target, 15 ms (RFC 9332), by marks alone."""
    backend = Linux(next(kernel.name for kernel in KERNELS if DUALPI2 in kernel.modules))
    data = scenario_data(stack={"profile": "linux-6", "ecn": "classic"}, duration="15 s", warm_up="5 s")
    data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "dualpi2", "limit": "1000 packets"}
    queue = queue_of(backend, from_data(data, "test"))
    assert queue["sojourn_mean"] == pytest.approx(0.015, rel=0.3)
    assert queue["marks"] > 0
    assert (queue["drops"], queue["drops_early"]) == (0, None)


def test_a_search_finds_where_rules_of_linux_are_left_out(backend: Linux) -> None:
    """RED below a shaper does not learn that it is idle (docs/differences.md): without that rule the simulator differs most."""
    bottleneck = "network.dumbbell.bottleneck"
    data = scenario_data(stack="linux-6", duration="6 s", flows=[{"from": "a", "to": "b", "tcp": "cubic", "count": 4}])
    red = {"name": "red", "limit": "400 packets"}
    data["network"]["dumbbell"]["bottleneck"] |= {"delay": "40 ms", "queue": {**red, "rules": "linux"}}
    queues = [{"label": "linux", "value": {**red, "rules": "linux"}}, {"label": "published", "value": red}]
    space = {
        "queue": {"key": f"{bottleneck}.queue", "values": queues},
        "rate": {"key": f"{bottleneck}.rate", "range": "20 Mbit/s..40 Mbit/s"},
    }
    data["search"] = {"space": space, "maximise": "disagreement", "budget": "150 runs"}
    found = sojourn.search(data, backend=["simulator", backend])
    assert found.shrunk is not None
    assert found.shrunk.point["queue"] == red
    assert found.differences[0].times > 1
    assert found.backends == ["simulator", backend.identity.name]


def test_cake_holds_as_many_full_packets_as_its_limit(backend: Linux) -> None:
    """CAKE counts memory, of which full packets take half as much again as their bytes: 20 of them still are its 30 kB."""
    data = scenario_data(
        stack="linux-6", flows=[{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "50 Mbit/s", "packet_size": "1500 B"}}]
    )
    data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "cake", "limit": "30 kB", "ecn": True}
    queue = queue_of(backend, from_data(data, "test"))
    assert (queue["drops"] > 0, queue["max_packets"]) == (True, 20)


def test_same_bytes_under_load(backend: Linux) -> None:
    """The same run gives the same frames, alone and while others run; another seed gives others."""
    asked = scenario(flows=[{"from": "a", "to": "b", "count": 2, "tcp": "bbr", "start_within": "1 s"}])

    def frames(seed: int) -> list[pl.DataFrame]:
        cell = Cell({}, asked)
        result = backend.run({**cell.specification, "seed": seed})
        return [result.flows, result.queues]

    alone, found = frames(1), []
    threads = [threading.Thread(target=lambda seed=seed: found.append((seed, frames(seed)))) for seed in (1, 2, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one.equals(other) for seed, pair in found if seed == 1 for one, other in zip(alone, pair, strict=True))
    assert not any(alone[0].equals(pair[0]) for seed, pair in found if seed == 2)


def written(run: RunSpecification) -> str:
    """Returns what the guest of the first kernel in the cache writes, byte by byte."""
    kernel = KERNELS[0]
    translated = plan(run, Limitations())
    with machine.started(kernel, translated, run["seed"]) as carried_out:
        for _ in carried_out.looks(run["duration"] / PICOSECONDS, threading.Event()):
            pass
        return carried_out.result()


def written_by_another(run: RunSpecification, folder: Path) -> str:
    """Returns the same for another user, if this one may change, with another environment and a copy of the kernel."""
    kernel = KERNELS[0]
    shutil.copytree(kernel.folder, folder / "sojourn/linux/kernels" / kernel.name)
    answer = folder / "answer"
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
    child = os.fork()
    if not child:
        # No polars from here on: its threads are the parent's.
        try:
            if os.geteuid() == 0:
                os.chown(folder, NOBODY, NOBODY)
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os.environ.clear()
            os.environ |= {"XDG_CACHE_HOME": str(folder), "HOME": str(folder), "LANG": "tr_TR.UTF-8", "TZ": "Asia/Tokyo"}
            os.umask(0o077)
            os.chdir("/")
            tempfile.tempdir = str(folder)
            answer.write_text(written(run))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return answer.read_text() if answer.exists() else ""


def test_same_bytes_everywhere() -> None:
    """A run's guest writes the same bytes twice, on processors that others keep busy, and as another user somewhere else."""
    flows = [{"from": "a", "to": "b", "count": 2, "tcp": tcp, "start_within": "1 s"} for tcp in ("bbr", "cubic")]
    run = Cell({}, scenario(flows=flows, probe={"queue_series": "10 ms", "flow_series": "10 ms"})).specification
    once = written(run)
    assert once.count("queue-at ") == 400
    assert written(run) == once
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        assert written(run) == once
    finally:
        for process in busy:
            process.kill()
            process.wait()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        assert written_by_another(run, Path(folder)) == once


def test_planned_losses_are_exact(backend: Linux) -> None:
    """A link loses just the data packets that a plan names: of one stream each seventh, or those listed."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "1 Mbit/s", "packet_size": "500 B"}}]
    for drop, lost in (({"every": 7}, 1000 // 7), ({"listed": [100, 3, 4, 1, 3]}, 4)):
        data = scenario_data(flows=flows, warm_up="0 s")
        data["network"]["dumbbell"]["bottleneck"]["drop"] = drop
        run = sojourn.run(from_data(data, "test"), backend=backend)
        flow, queue = run.flows.row(0, named=True), run.queues.row(0, named=True)
        assert flow["segments_sent"] == 1000
        assert (queue["total_link_losses"], queue["total_arrivals"], queue["drops"]) == (lost, 1000 - lost, 0)
        # The last ones are on their way at the end.
        assert 1000 - lost - 3 <= flow["total_bytes_delivered"] / 500 <= 1000 - lost


def test_great_numbers_are_counted(backend: Linux) -> None:
    """A link loses each 12500th packet of a stream, which two counters count, and one that is listed beyond what one counts."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "8 Mbit/s", "packet_size": "100 B"}}]
    for drop, lost in (({"every": 12_500}, 3), ({"listed": [30_000]}, 1)):
        data = scenario_data(flows=flows, warm_up="0 s")
        data["network"]["dumbbell"]["bottleneck"]["drop"] = drop
        run = sojourn.run(from_data(data, "test"), backend=backend)
        assert run.flows["segments_sent"].item() == 40_000
        assert run.queues["total_link_losses"].item() == lost


@needs_tshark
@pytest.mark.parametrize("link", ["left->right", "a->left"])
def test_planned_losses_are_data(backend: Linux, tmp_path: Path, link: str) -> None:
    """Data packets are counted in order of arrival, those sent again too, and no SYN and no acknowledgement: two are lost."""
    flows = [{"from": "a", "to": "b", "tcp": "newreno", "size": "100 kB"}]
    links: list[dict[str, Any]] = [
        {"from": "a", "to": "left", "rate": "100 Mbit/s", "delay": "1 ms"},
        {"from": "left", "to": "right", "rate": "10 Mbit/s", "delay": "5 ms", "queue": {"name": "droptail"}},
        {"from": "right", "to": "b", "rate": "100 Mbit/s", "delay": "1 ms"},
    ]
    links[link == "left->right"]["drop"] = {"listed": [12, 5]}
    run = run_of(scenario(flows=flows, warm_up="0 s", network={"links": links}), backend)
    capture = tmp_path / "behind.pcapng"
    exports.write_pcapng(run, capture, link, backend=backend)
    rows = frames(capture, "tcp.srcport == 49152 && tcp.len > 0 && frame.p2p_dir == 0", "tcp.seq", "tcp.analysis.lost_segment")
    first_times = [int(row["tcp.seq"]) for row in rows[:10]]
    # Numbers of bytes from 1: segments 1 to 4, 6 to 11, and again from 13 on.
    assert first_times == [1 + 1448 * segment for segment in (0, 1, 2, 3, 5, 6, 7, 8, 9, 10)]
    assert int(rows[10]["tcp.seq"]) == 1 + 1448 * 12
    flow = backend.run(run.specification).flows.row(0, named=True)
    assert (flow["retransmissions"], flow["total_bytes_delivered"]) == (2, 100_000)


def test_watching_changes_nothing(backend: Linux) -> None:
    """A run that is watched has the moments asked for, up to 4 ms late, and the result that it has unwatched."""
    flows = [{"from": "a", "to": "b", "tcp": "cubic"}, {"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "1 Mbit/s"}}]
    run = Cell({}, scenario(flows=flows, probe={"flow_series": "100 ms"})).specification
    stepped = backends.stepping(backend).step(run)
    moments = list(stepped.moments(PICOSECONDS * 7 // 10 + 1000))
    assert [moment.time for moment in moments] == pytest.approx([0.704, 1.404, 2.104, 2.804, 3.504, 4.0])
    watched, unwatched = stepped.result(), backend.run(run)
    for name in ("flows", "queues", "queue_series", "flow_series"):
        assert getattr(watched, name).equals(getattr(unwatched, name)), name
    last = moments[-1]
    assert last.flows["bytes_delivered"].to_list() == watched.flows["total_bytes_delivered"].to_list()
    assert last.queues["departures"][0] == watched.queues["total_departures"][0]
    assert last.queues["drops"][0] == watched.queues["total_drops"][0]
    delivered = [moment.flows["bytes_delivered"][0] for moment in moments]
    assert delivered == sorted(set(delivered))


@needs_tshark
def test_capture_matches_queue(backend: Linux, tmp_path: Path) -> None:
    """The packets and bytes of a link's capture are those that its queue sent, in order, and tshark finds them well-formed."""
    data = scenario_data(stack="linux-6", warm_up="0 s")
    data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "droptail", "limit": "15 packets"}
    run = run_of(from_data(data, "test"), backend)
    queue = backend.run(run.specification).queues.row(0, named=True)
    captures = [tmp_path / "one.pcapng", tmp_path / "other.pcapng"]
    for capture in captures:
        exports.write_pcapng(run, capture, backend=backend)
    assert captures[0].read_bytes() == captures[1].read_bytes()
    sent = frames(captures[0], "frame.p2p_dir == 0", "ip.len", "ip.src_host", "frame.time_epoch")
    sizes = [int(row["ip.len"]) for row in sent]
    # At the end, a packet that has left the queue may still be in transmission.
    assert 0 <= queue["departures"] - len(sizes) <= 1
    assert 0 <= queue["bytes_sent"] - sum(sizes) <= 1500
    assert {row["ip.src_host"] for row in sent} == {"a"}
    # A full link sends 1500 bytes in 1.2 ms.
    times = [float(row["frame.time_epoch"]) for row in sent]
    assert min(late - early for early, late in pairwise(times[-500:])) == pytest.approx(0.0012, abs=1e-6)
    assert 0 < len(frames(captures[0], "tcp.analysis.lost_segment")) <= queue["drops"]
    assert len(frames(captures[0], "frame.p2p_dir == 1")) > 1000
    assert frames(captures[0], "_ws.malformed || ip.checksum.status == 0 || tcp.analysis.ack_lost_segment") == []


@needs_tshark
def test_datagrams_are_numbered(backend: Linux, tmp_path: Path) -> None:
    """Datagrams have their numbers from 0 and when they were sent, every 1.6 ms, as iperf 2 writes them."""
    flows = [{"from": "a", "to": "b", "start": "1 s", "tcp": {"name": "cbr", "rate": "1 Mbit/s", "packet_size": "200 B"}}]
    capture = tmp_path / "calls.pcapng"
    exports.write_pcapng(run_of(scenario(flows=flows), backend), capture, "a->left", backend=backend)
    payloads = [bytes.fromhex(row["udp.payload"]) for row in frames(capture, "udp", "udp.payload")]
    stamps = [struct.unpack(">III", payload[:12]) for payload in payloads]
    assert [number for number, *_ in stamps] == list(range(1875))
    assert {(seconds * 10**6 + microseconds) - 1600 * number for number, seconds, microseconds in stamps} <= {
        10**6,
        10**6 + 1,
    }  # The guest's timers are late by up to half a microsecond.


def test_states_match_results(backend: Linux) -> None:
    """The last states of connections are those of the result; the ends of flows are seen, and counts stay."""
    flows = [
        {"from": "a", "to": "b", "tcp": "cubic"},
        {"from": "a", "to": "b", "tcp": "newreno", "size": "200 kB"},
        {"from": "a", "to": "b", "tcp": "newreno", "start": "1 s", "stop": "2 s"},
    ]
    run = run_of(scenario(flows=flows, warm_up="0 s"), backend)
    info = exports.tcp_info(run, backend)
    found = backend.run(run.specification).flows
    last = info.group_by("flow", maintain_order=True).last()
    assert info["time_s"].unique().to_list() == pytest.approx([step / 10 for step in range(41)])
    assert last["tcpi_total_retrans"].to_list() == found["retransmissions"].to_list()
    assert last["tcpi_data_segs_out"].to_list() == found["segments_sent"].to_list()
    # Established, all sent and acknowledged with the FIN (TCP_FIN_WAIT2), closed.
    assert last["tcpi_state"].to_list() == [1, 5, 7]
    assert last["tcpi_bytes_acked"][1] == 200_000
    for micro, seconds in zip(last["tcpi_min_rtt"], found["rtt_min"], strict=True):
        # The kernel measures what was sent again by timestamps, in ms (net/ipv4/tcp_input.c, tcp_ack_update_rtt).
        assert seconds * 1e6 - 1000 <= micro <= seconds * 1e6 + 1
    for flow in info.partition_by("flow"):
        for count in ("tcpi_bytes_acked", "tcpi_total_retrans", "tcpi_data_segs_out"):
            assert flow[count].is_sorted()
        assert (flow["tcpi_rtt"] >= flow["tcpi_min_rtt"]).drop_nulls().all()
        assert flow["tcpi_snd_ssthresh"][0] == 0x7FFFFFFF
        assert flow["tcpi_rtt"][0] is None


def test_cancelled_run_ends(backend: Linux) -> None:
    """A run that is cancelled ends soon, and its kernel with it."""
    cell = Cell({}, scenario(duration="1000 s"))
    threading.Timer(2, backend.cancel).start()
    with pytest.raises(RunCancelled):
        backend.run(cell.specification)


def test_hanging_kernel_is_ended(backend: Linux, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that does not end is ended, and the run has failed in one line."""
    monkeypatch.setattr(machine, "_LEAST_PATIENCE", 1)
    monkeypatch.setattr(machine, "_PATIENCE", 0)
    with pytest.raises(RunFailed, match=r"^the kernel had not finished after 1 s$"):
        backend.run(Cell({}, scenario(duration="1000 s")).specification)


def test_many_flows_have_room(backend: Linux) -> None:
    """Two thousand flows that start at once have memory enough and fill the link; some lose all that they send first."""
    flows = [{"from": "a", "to": "b", "tcp": "newreno", "count": 2000}]
    data = scenario_data(stack="linux-6", flows=flows, warm_up="0 s", duration="1 s")
    data["network"]["dumbbell"]["bottleneck"] |= {"rate": "1 Gbit/s", "queue": {"name": "droptail", "limit": "4000 packets"}}
    for host in (*data["network"]["dumbbell"]["senders"], *data["network"]["dumbbell"]["receivers"]):
        host["rate"] = "10 Gbit/s"
    run = sojourn.run(from_data(data, "test"), backend=backend)
    assert (run.flows["bytes_delivered"] > 0).sum() > 1900
    assert run.runs["total_mbps"][0] == pytest.approx(950, rel=0.1)


def test_panic_is_told(backend: Linux, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that panics, here for want of memory, fails its run in one line."""
    monkeypatch.setattr("sojourn.backends.linux.plan._LEAST_MEMORY", 0)
    monkeypatch.setattr("sojourn.backends.linux.plan._MEMORY_OF_FLOW", 8)
    monkeypatch.setattr("sojourn.backends.linux.plan._MEMORY_OF_NODE", 0)
    with pytest.raises(RunFailed, match=r"^the kernel could not carry it out: [^\n]+$"):
        backend.run(Cell({}, scenario()).specification)


def test_killed_sojourn_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When Sojourn itself is killed, its kernel and the guest's processes end too, and the next run removes its folder."""
    file = tmp_path / "long.toml"
    file.write_text(
        'name = "long"\nduration = "1000 s"\n[[network.links]]\nfrom = "a"\nto = "b"\nrate = "10 Mbit/s"\n'
        '[[flows]]\nfrom = "a"\nto = "b"\ntcp = "newreno"\n'
    )
    folder = tmp_path / "of_killed"
    folder.mkdir()
    start = "import sys; from sojourn.cli.commands import status; sys.exit(status(sys.argv[1:]))"
    command = [sys.executable, "-c", start, "run", str(file), "--backend", f"linux:{KERNELS[0].name}"]
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    deadline = time.monotonic() + 30
    while not kernels_running(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert kernels_running(folder)
    process.kill()
    process.wait()
    while kernels_running(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert kernels_running(folder) == []
    left = list(folder.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    sojourn.run(scenario(duration="100 ms", warm_up="0 s"), backend=Linux(KERNELS[0].name))
    assert left
    assert list(folder.iterdir()) == []


def test_names_find_kernels() -> None:
    """Each kernel that is built is a backend by its name, which its results have."""
    for kernel in KERNELS:
        identity = backends.named(f"linux:{kernel.name}").identity
        assert (identity.name, identity.version) == (f"linux:{kernel.name}", kernel.version)
