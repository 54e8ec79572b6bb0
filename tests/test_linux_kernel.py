"""The backend linux on a real kernel: it does what a scenario says, always the same, and nothing is left behind."""

import contextlib
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import scenario_data
from sojourn import backends
from sojourn.backends.linux import direct
from sojourn.backends.linux.backend import Linux
from sojourn.errors import RunCancelled, RunFailed
from sojourn.linux import cache
from sojourn.linux.cache import DUALPI2
from sojourn.runs import Cell
from sojourn.scenario import from_data

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not cache.kernels(), reason="no Linux kernel is built; `sojourn linux build` makes one"),
]


@pytest.fixture
def backend() -> Linux:
    """Returns the first kernel that is built."""
    return Linux(cache.kernels()[0].name)


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
    flows = [{"from": "a", "to": "b", "tcp": "newreno", "size": "1448 B"}]
    flow = sojourn.run(scenario(flows=flows, warm_up="0 s"), backend=backend).flows.row(0, named=True)
    per_byte = 8 * (1 / 100e6 + 1 / 10e6 + 1 / 100e6)
    # 60 bytes are SYN and SYN-ACK with their options, 52 an acknowledgement with a timestamp.
    assert flow["established"] - flow["start"] == pytest.approx(0.014 + (60 + 60) * per_byte, abs=5e-6)
    assert flow["rtt_max"] == pytest.approx(0.014 + (1500 + 52) * per_byte, abs=5e-6)


def test_second_segment_is_acknowledged(backend: Linux) -> None:
    """Without losses a receiver acknowledges every second segment (RFC 5681, section 4.2), not each one."""
    for profile in ("linux-6", "rfc"):
        data = scenario_data(stack=profile)
        data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "droptail"}
        flows = sojourn.run(from_data(data, "test"), backend=backend).flows
        assert flows["retransmissions"].sum() == 0
        assert int(flows["rtt_samples"].sum()) / int(flows["segments_sent"].sum()) == pytest.approx(0.5, abs=0.05)


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
    """A window of 20 kB over 90 ms carries 20 kB a round trip on an idle link, and the sender waits for it all the time."""
    data = scenario_data(stack={"profile": "linux-6", "receive_buffer": "20 kB"})
    data["network"]["dumbbell"]["bottleneck"]["delay"] = "43 ms"
    run = sojourn.run(from_data(data, "test"), backend=backend)
    flow = run.flows.row(0, named=True)
    assert flow["rwnd_limited"] == pytest.approx(3, abs=0.3)
    assert flow["bytes_delivered"] <= 1.05 * 20e3 * 3 / 0.09
    assert run.limited is not None


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
    with pytest.raises(RunFailed, match=r"^the kernel could not carry it out: discipline unheard_of: No such file or directory$"):
        backend.run(Cell({}, scenario()).specification)


@pytest.mark.skipif(
    not any(DUALPI2 in kernel.modules for kernel in cache.kernels()), reason="no kernel with DualPI2 is built (Linux 6.17 has it)"
)
def test_dualpi2_keeps_its_target() -> None:
    """DualPI2 keeps the delay of New Reno's packets with ECN about its target, 15 ms (RFC 9332), by marks alone."""
    backend = Linux(next(kernel.name for kernel in cache.kernels() if DUALPI2 in kernel.modules))
    data = scenario_data(stack={"profile": "linux-6", "ecn": "classic"}, duration="15 s", warm_up="5 s")
    data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "dualpi2", "limit": "1000 packets"}
    queue = queue_of(backend, from_data(data, "test"))
    assert queue["sojourn_mean"] == pytest.approx(0.015, rel=0.3)
    assert queue["marks"] > 0
    assert (queue["drops"], queue["drops_early"]) == (0, None)


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


def test_cancelled_run_ends(backend: Linux) -> None:
    """A run that is cancelled ends soon, and its kernel with it."""
    cell = Cell({}, scenario(duration="1000 s"))
    threading.Timer(2, backend.cancel).start()
    with pytest.raises(RunCancelled):
        backend.run(cell.specification)


def test_hanging_kernel_is_ended(backend: Linux, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that does not end is ended, and the run has failed in one line."""
    from sojourn.backends.linux import machine

    monkeypatch.setattr(machine, "_LEAST_PATIENCE", 1)
    monkeypatch.setattr(machine, "_PATIENCE", 0)
    with pytest.raises(RunFailed, match=r"^the kernel had not finished after 1 s$"):
        backend.run(Cell({}, scenario(duration="1000 s")).specification)


def test_panic_is_told(backend: Linux, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that panics, here for want of memory, fails its run in one line."""
    from sojourn.backends.linux import plan

    monkeypatch.setattr(plan, "_LEAST_MEMORY", 0)
    monkeypatch.setattr(plan, "_MEMORY_OF_FLOW", 8)
    with pytest.raises(RunFailed, match=r"^the kernel could not carry it out: [^\n]+$"):
        backend.run(Cell({}, scenario()).specification)


def test_killed_sojourn_leaves_nothing(tmp_path: Path) -> None:
    """When Sojourn itself is killed, its kernel and the guest's processes end too."""
    file = tmp_path / "long.toml"
    file.write_text(
        'name = "long"\nduration = "1000 s"\n[[network.links]]\nfrom = "a"\nto = "b"\nrate = "10 Mbit/s"\n'
        '[[flows]]\nfrom = "a"\nto = "b"\ntcp = "newreno"\n'
    )
    folder = tmp_path / "of_killed"
    folder.mkdir()
    start = "import sys; from sojourn.cli.commands import status; sys.exit(status(sys.argv[1:]))"
    command = [sys.executable, "-c", start, "run", str(file), "--backend", f"linux:{cache.kernels()[0].name}"]
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


def test_names_find_kernels() -> None:
    """Each kernel that is built is a backend by its name, which its results have."""
    for kernel in cache.kernels():
        identity = backends.named(f"linux:{kernel.name}").identity
        assert (identity.name, identity.version) == (f"linux:{kernel.name}", kernel.version)
