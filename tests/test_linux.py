"""The backend linux without a kernel: what it tells one, what it refuses, and what it reads from a result that was kept."""

import dataclasses
import errno
import hashlib
import io
import itertools
import lzma
import os
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import ROOT, Capture, complaint, is_shown, scenario_data
from sojourn import backends, catalogue
from sojourn.backends.linux import (
    algorithms,
    captures,
    causes,
    connections,
    disciplines,
    folders,
    impairments,
    interfaces,
    machine,
    moments,
    planned,
    processors,
    reading,
    shaping,
    stack,
    topology,
    twins,
)
from sojourn.backends.linux.disciplines import Limit, Place
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.plan import ARRIVED, SENT, Plan, plan
from sojourn.backends.result import RunResult
from sojourn.cli.commands import status
from sojourn.errors import InputError, RunFailed
from sojourn.linux import archive, build, cache, compiling, debian, guest, source, tools
from sojourn.runs import Cell
from sojourn.scenario import Scenario, from_data, read_toml
from sojourn.specification import RunSpecification, specify

DATA = ROOT / "tests/data/linux"


def translated(**changes: Any) -> Plan:
    """Returns the plan of a small scenario."""
    return plan(specify(from_data(scenario_data(**changes), "test"), 1), Limitations())


def words(name: str, limit: Limit | None = None, **values: Any) -> str:
    """Returns a discipline at 10 Mbit/s as tc takes it, with some parameters of the catalogue's changed."""
    parameters = {each.name: each.default for each in catalogue.load().queue(name).parameters} | values
    return disciplines.words(name, parameters, limit or Limit(packets=100), Place(10_000_000, 1500, Limitations()))


def check(cell: Cell) -> None:
    """Looks whether Linux can do what a cell says."""
    stack.check_profiles(cell.scenario)
    limitations = Limitations()
    try:
        plan(cell.specification, limitations)
    except Impossible as problem:
        raise problem.refused(cell.given) from None
    limitations.refuse(cell.given)


def refused(data: dict[str, Any]) -> str:
    """Returns the line with which a scenario is refused."""
    with pytest.raises(InputError) as error:
        check(Cell({}, from_data(data, "test")))
    return str(error.value)


def with_queue(**queue: Any) -> dict[str, Any]:
    """Returns a small scenario with this discipline."""
    data = scenario_data()
    data["network"]["dumbbell"]["bottleneck"]["queue"] = queue
    return data


def with_link(**keys: Any) -> dict[str, Any]:
    """Returns a small scenario with these keys of its bottleneck."""
    data = scenario_data()
    data["network"]["dumbbell"]["bottleneck"] |= keys
    return data


MICROSECOND, MILLISECOND = 10**6, 10**9


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (words("droptail"), "pfifo limit 100"),
        (words("droptail", Limit(bytes=15_000)), "bfifo limit 15000"),
        (words("codel", target=2 * MILLISECOND, ecn=True), "codel limit 100 target 2000us interval 100000us ecn"),
        (
            words("pie", derandomise=True),
            "pie limit 100 target 15000us tupdate 15000us alpha 2 beta 20 noecn no_dq_rate_estimator",
        ),
        (
            words("cake", Limit()),
            "cake unlimited diffserv3 triple-isolate raw overhead 0 mpu 0 noatm rtt 100000us no-split-gso no-ack-filter",
        ),
        (
            words("cake", Limit(bytes=30_000)),
            "cake unlimited diffserv3 triple-isolate raw overhead 0 mpu 0 noatm rtt 100000us no-split-gso no-ack-filter "
            "memlimit 46080",
        ),
        (
            words("cake", Limit(), tins="diffserv4", overhead=40, mpu=64, framing="atm", ingress=True, bandwidth=2 * 10**7),
            "cake bandwidth 20000000bit diffserv4 triple-isolate raw overhead 40 mpu 64 atm ingress rtt 100000us no-split-gso "
            "no-ack-filter",
        ),
    ],
)
def test_disciplines_become_tc(found: str, expected: str) -> None:
    """A discipline is written as the manual pages of tc have it; PIE's gains are RFC 8033's in sixteenths (tc-pie(8))."""
    assert found == expected


def test_adaptive_red_is_red() -> None:
    """Adaptive RED is tc's red with the flag adaptive (tc-red(8)), and else what RED with these values is."""
    limit, values = Limit(bytes=150_000), {"weight": 0.0625, "maximum_probability": 0.02, "ecn": True, "hard_drop": False}
    assert words("ared", limit, bottom=0.01, **values) == words("red", limit, **values) + " adaptive"


def test_red_weight_is_exact() -> None:
    """The burst makes tc choose the weight: the least one above the average's memory, by the formula of tc_red_eval_ewma."""
    for logarithm in (2, 5, 9):
        burst = disciplines.burst_of_weight(30_000, 1500, logarithm)
        weight = 2.0**-logarithm
        assert burst + 1 - 20 <= (1 - (1 - weight) ** burst) / weight
        assert burst + 1 - 20 > (1 - (1 - 2 * weight) ** burst) / (2 * weight)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (with_queue(name="sred"), "network.dumbbell.bottleneck.queue.name: Linux has no sred "),
        (with_queue(name="ack_filter"), "network.dumbbell.bottleneck.queue.name: Linux has no ack_filter "),
        (scenario_data(stack={"receive_offload": "50 us"}), "stack.receive_offload: Linux has single segments"),
        (scenario_data(stack={"send_offload": True}), "stack.send_offload: Linux has single segments"),
        (
            scenario_data(flows=[{"from": "a", "to": "b", "tcp": {"name": "ping", "answer_size": "31 B"}}]),
            "flows.0.tcp.answer_size: a packet of ping on Linux has from 32 bytes",
        ),
        (with_queue(name="codel", mtu="600 B"), "network.dumbbell.bottleneck.queue.mtu: Linux takes the device's MTU"),
        (
            with_queue(name="codel", limit="90 kB"),
            "network.dumbbell.bottleneck.queue.limit: codel of Linux counts packets, not bytes",
        ),
        (with_queue(name="pie", derandomise=False), "network.dumbbell.bottleneck.queue.derandomise: PIE of Linux always"),
        (with_queue(name="fq_pie", rules="published"), "network.dumbbell.bottleneck.queue.rules: PIE of Linux differs from"),
        (with_queue(name="red", rules="published"), "network.dumbbell.bottleneck.queue.rules: RED of Linux has its own"),
        (
            with_queue(name="red", min="312500 B", max="937500 B", weight=2**-16),
            "network.dumbbell.bottleneck.queue.weight: RED of Linux has 31 bits for its average: too few for a max of 937500 ",
        ),
        (with_queue(name="ared", alpha=0.02), "network.dumbbell.bottleneck.queue.alpha: RED of Linux adapts every 500 ms, by "),
        (scenario_data(stack={"initial_rto": "3 s"}), "stack.initial_rto: Linux has 1 s (TCP_TIMEOUT_INIT)"),
        (with_queue(name="drr"), "network.dumbbell.bottleneck.queue.name: DRR of Linux has a limit for each of its queues"),
        (with_queue(name="sfq", depth=128), "network.dumbbell.bottleneck.queue.depth: SFQ of Linux has at most 127 packets"),
        (with_queue(name="sfq", limit="16130 packets"), "network.dumbbell.bottleneck.queue.limit: SFQ of Linux has at most 1"),
        (with_queue(name="choke", limit="65537 packets"), "network.dumbbell.bottleneck.queue.limit: CHOKe of Linux has at most "),
        (
            with_queue(name="choke", ecn=True, hard_drop=True, min="10 packets", max="30 packets"),
            "network.dumbbell.bottleneck.queue.hard_drop: CHOKe of tc marks packets above max",
        ),
        (
            with_queue(name="choke", limit="14 packets", min="5 packets", max="14 packets"),
            "network.dumbbell.bottleneck.queue.limit: CHOKe of tc has a limit above max, 14 packets",
        ),
        (with_queue(name="sfb", ecn=False), "network.dumbbell.bottleneck.queue.ecn: SFB of Linux always marks"),
        (with_queue(name="sfb", maximum=65536), "network.dumbbell.bottleneck.queue.maximum: SFB of Linux counts up to 65535"),
        (with_queue(name="sfb", increment=1e-5), "network.dumbbell.bottleneck.queue.increment: SFB of Linux counts prob"),
        (with_queue(name="sfb", penalty_rate=1.5), "network.dumbbell.bottleneck.queue.penalty_rate: SFB of Linux takes whole"),
        (with_queue(name="tbf", burst="3 GB"), "network.dumbbell.bottleneck.queue.burst: tbf of Linux holds at most 2147483647"),
        (scenario_data(stack="ns3-3.30"), "stack.profile: Linux has its own stack, not that of ns3-3.30; write "),
        (
            scenario_data(flows=[{"from": "a", "to": "b", "tcp": "cubic", "stack": "ns2-2.35"}]),
            "flows.0.stack.profile: Linux has its own stack, not that of ns2-2.35; write ",
        ),
        (scenario_data(stack={"sack": False, "recovery": "reno"}), "stack.recovery: Linux without SACK has linux_newreno"),
        (scenario_data(stack={"recovery": "newreno"}), "stack.recovery: Linux has rack, and prr without it"),
        (with_queue(name="cake", ecn=False), "network.dumbbell.bottleneck.queue.ecn: CAKE of Linux always marks"),
        (
            scenario_data(stack={"ecn": "off"}, flows=[{"from": "a", "to": "b", "tcp": "dctcp"}]),
            "stack.ecn: dctcp of Linux always asks for ECN",
        ),
        (scenario_data(stack={"recovery": "fack"}), "stack.recovery: Linux has rack, and prr without it"),
        (scenario_data(flows=[{"from": "a", "to": "b", "tcp": "compound"}]), "flows.0.tcp.name: Linux has no compound "),
        (
            scenario_data(flows=[{"from": "a", "to": "b", "tcp": {"name": "newreno", "beta": 0.7}}]),
            "flows.0.tcp.beta: reno of Linux has no such parameter",
        ),
        (
            scenario_data(flows=[{"from": "a", "to": "b", "tcp": {"name": "vegas", "slow_start": "hystart"}}]),
            "flows.0.tcp.slow_start: vegas of Linux has the standard slow start only",
        ),
        (
            scenario_data(stack="linux-6", flows=[{"from": "a", "to": "b", "tcp": {"name": "hstcp", "rules": "published"}}]),
            "flows.0.tcp.rules: highspeed of Linux has no such parameter",
        ),
        (scenario_data(probe={"flow_series": "1 s", "flow_state": True}), "probe.flow_state: the kernel tells no inner states"),
    ],
)
def test_what_linux_lacks(data: dict[str, Any], line: str) -> None:
    """What Linux cannot do is refused in one line that begins with the key."""
    assert refused(data).startswith(line)
    assert "\n" not in refused(data)


def test_refusal_that_the_docs_show() -> None:
    """docs/linux.md shows how what Linux cannot do is refused."""
    assert is_shown(f"sojourn: {refused(with_queue(name='codel', mtu='600 B'))}", "linux.md")


@pytest.mark.parametrize("name", [*disciplines.DISCIPLINES])
def test_defaults_pass(name: str) -> None:
    """No discipline that Linux has is refused for the catalogue's defaults."""
    check(Cell({}, from_data(with_queue(name=name), "test")))


def test_connections_without_sack_pass() -> None:
    """What the simulator asks for without SACK is what Linux has."""
    for recovery in ("linux_newreno", "newreno"):
        check(Cell({}, from_data(scenario_data(stack={"sack": False, "recovery": recovery}), "test")))


def test_token_bucket_counts_as_asked() -> None:
    """A bucket's queue has its limit in bytes itself (tc-tbf(8)), one in packets in a pfifo in its place."""
    files = {limit: specify(from_data(with_queue(name="tbf", limit=limit), "test"), 1) for limit in ("90 kB", "60 packets")}
    in_bytes, in_packets = (plan(run, Limitations()).files["n1.tc"] for run in files.values())
    assert "handle 10: tbf rate 1000000bit burst 125000 limit 90000\n" in in_bytes
    assert "10: tbf rate 1000000bit burst 125000 limit 2147483647\nqdisc add dev l0 parent 10:1 pfifo limit 60\n" in in_packets


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns an empty folder for the folders of runs."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_left_folders_are_removed(temporary: Path) -> None:
    """A run removes what a killed process has left, and not the folders of runs that go on."""
    child = os.fork()
    if not child:
        with folders.of_run():
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = temporary.iterdir()
    with folders.of_run() as first:
        assert not left.exists()
        with folders.of_run() as second:
            assert set(temporary.iterdir()) == {first, second}
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("stack", ["rfc", "linux-6"])
@pytest.mark.parametrize("tcp", ["hstcp", {"name": "hstcp", "rules": "linux"}])
def test_profiles_algorithms_pass(tcp: object, stack: str) -> None:
    """What the profile linux-6 says of an algorithm is what Linux does: it passes, from a profile or written out."""
    check(Cell({}, from_data(scenario_data(stack=stack, flows=[{"from": "a", "to": "b", "tcp": tcp}]), "test")))


def test_large_plans_are_refused() -> None:
    """A planned loss of a number that tc does not take, a large prime, is refused by its key."""
    data = scenario_data()
    data["network"]["dumbbell"]["bottleneck"]["drop"] = {"every": 10_007}
    line = "tc counts to 10000, and to products of such numbers, but not to 10007"
    assert refused(data) == f"network.dumbbell.bottleneck.drop.every: {line}"


def lost_by(commands: list[str], packets: int) -> list[int]:
    """Returns which data packets filters lose, by the rules of cls_matchall, act_gact and tcf_action_exec."""
    filters = [command.split(" action ")[1:] for command in commands if "matchall action continue random" in command]
    counts: dict[tuple[int, int], int] = {}

    def fate(place: int) -> str:
        for number, action in enumerate(filters[place]):
            what, *rest = action.split()
            if rest:
                otherwise, every = rest[2], int(rest[3])
                counts[place, number] = counts.get((place, number), 0) + 1
                what = what if counts[place, number] % every else otherwise
            if what != "pipe":
                return what
        return "ok"

    return [
        packet
        for packet in range(1, packets + 1)
        if "drop" in itertools.takewhile(lambda found: found != "ok", map(fate, range(len(filters))))
    ]


@pytest.mark.parametrize(
    ("loss", "lost"),
    [
        ({"every": 7}, [*range(7, 30_001, 7)]),
        ({"every": 1}, [*range(1, 30_001)]),
        ({"every": 10_001}, [10_001, 20_002]),
        ({"listed": [100, 3, 4, 1, 3]}, [1, 3, 4, 100]),
        # The third to be lost is the 14994th of those that the filters before it let pass.
        ({"listed": [100, 3, 14_996]}, [3, 100, 14_996]),
    ],
)
def test_filters_lose_as_planned(loss: dict[str, Any], lost: list[int]) -> None:
    """Counting filters lose just the packets that a plan names."""
    assert lost_by(list(planned.filters("l0", loss, "t0", is_senders=False)), 30_000) == lost


def test_only_data_are_counted() -> None:
    """What is as long as its headers passes the counters: each length of TCP's header (RFC 9293, section 3.1) has a filter."""
    commands = list(planned.filters("l0", {"every": 7}, None, is_senders=False))
    for header in range(20, 61, 4):
        words = f"match u16 {20 + header} 0xffff at 2 match u8 {header // 4 << 4:#x} 0xf0 at 32 action ok"
        assert sum(command.endswith(words) for command in commands) == 1
    assert len(commands) == 12


def says(files: Mapping[str, str], namespace: str, message: bytes) -> bool:
    """Returns whether a plan has a message sent in a namespace."""
    return any(
        line.startswith(f"message {namespace} ") and line.endswith(f" {message.hex()}") for line in files["plan"].splitlines()
    )


def wired(files: Mapping[str, str], namespace: str, delay: int, jitter: int, rate: int) -> bool:
    """Returns whether a plan has a netem with these times (ns) and this rate (bit/s) made in a namespace."""
    made = shaping.Wire(10_000_000, delay, jitter, 0, rate, -14)
    return any(says(files, namespace, shaping.wire(device, made, is_new=True)) for device in range(20))


def test_lost_packets_are_sent() -> None:
    """A sender's own link copies what the sender sends before the losses, and TCP does not learn of these: they are trapped."""
    link = {"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "5 ms", "drop": {"every": 7}}
    files = translated(network={"links": [link]}).files
    # Devices are numbered from 2: the link's two ends, and the copies.
    assert says(files, "n0", shaping.copied(2, shaping.EGRESS, 5, goes_on=True))
    copies = [line.rsplit(" mirror ", 1)[1] for line in files["n0.tc"].splitlines() if " matchall action mirred" in line]
    assert copies == ["dev t0"]
    assert " determ trap 7\n" in files["n0.tc"]
    assert "sent n0 s0\n" in files["plan"]


def test_link_is_shaped_and_delayed() -> None:
    """HTB has the link's rate and takes Ethernet's 14 bytes off; netem behind it has the rate and the delay."""
    files = translated().files
    assert says(files, "n1", shaping.transmitter(2, -14))
    assert says(files, "n1", shaping.rate(2, 10_000_000, 2, 1500, is_new=True))
    assert wired(files, "wire", 5_000_000, 0, 10_000_000)


def test_messages_are_those_of_tc() -> None:
    """HTB's and netem's messages are what tc of iproute2 6.1 sends for the same words, but for rates' tables, which are not used.

    ``tc class add dev 2 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit burst 15002 cburst 15002 quantum 1500`` and
    ``tc qdisc add dev 2 root handle 1: netem limit 1000 delay 1500us 500us loss random 1% rate 10mbit -14``.
    """
    rate = struct.pack("=BBHhHI", 0, 1, 0, -1, 0, 1_250_000)
    # Buckets are in 64 ns, of whole microseconds: 12001.
    assert rate + rate + struct.pack("=5I", 187_515, 187_515, 1500, 0, 0) in shaping.rate(2, 10**7, 15_002, 1500, is_new=True)
    netem = shaping.wire(2, shaping.Wire(1000, 1_500_000, 500_000, 0.01, 10**7, -14), is_new=True)
    assert struct.pack("=6I", 0, 1000, 42_949_673, 0, 0, 0) in netem
    attributes = causes._attributes(netem[netem.index(struct.pack("=6I", 0, 1000, 42_949_673, 0, 0, 0)) + 24 :])
    assert dict(attributes) == {
        6: struct.pack("=IiIi", 1_250_000, -14, 0, 0),
        10: struct.pack("=q", 1_500_000),
        11: struct.pack("=q", 500_000),
    }


def impaired(**impairments: Any) -> dict[str, str]:
    """Returns the files of a small scenario whose bottleneck has these impairments."""
    return dict(plan(specify(from_data(with_link(impairments=impairments), "test"), 1), Limitations()).files)


def test_impairments_are_behind_the_link() -> None:
    """Impairments are a second netem behind that of the link's rate and delay (tc-netem(8)), whose losses count too."""
    files = impaired(burst_loss={"enter": 0.01, "leave": 0.2, "inside": 0.5}, duplication=0.001, slot="5 ms")
    assert wired(files, "wire", 5_000_000, 0, 10_000_000)
    late = "netem limit 10000000 loss gemodel 1% 20% 50% 0% duplicate 0.1% slot 5000.000us 5000.000us"
    assert f"qdisc add dev d0 root handle 1: {late}\n" in files["wire.tc"]
    assert "loses 0 wire d0 65536\nloses 0 wire d0 4294901760\n" in files["plan"]
    assert "exponential.dist" not in files


@pytest.mark.parametrize(
    ("jitter", "words"),
    [
        ({"mean": "4 ms", "reorders": True}, "delay 4000.000us 4000.000us\n"),
        ({"mean": "4 ms"}, "delay 4000.000us 4000.000us rate 1000000000000000bit\n"),
    ],
)
def test_jitter_is_netems(jitter: dict[str, Any], words: str) -> None:
    """A delay from 0 to twice the mean is the mean and as much to both sides; with a rate netem keeps packets in order."""
    assert words in impaired(jitter=jitter)["wire.tc"]


def test_exponential_delays_have_a_table() -> None:
    """By netem's arithmetic the table's mean and its standard deviation are the mean, within 1 %: it has no larger delays."""
    files = impaired(jitter={"mean": "4 ms", "distribution": "exponential"})
    assert "delay 1.000us 10000.000us distribution exponential rate " in files["wire.tc"]
    delays = [10 * int(entry) / 8192 for entry in files["exponential.dist"].split()]
    assert max(map(int, files["exponential.dist"].split())) < 2**15
    assert statistics.fmean(delays) == pytest.approx(4, rel=0.01)
    assert statistics.pstdev(delays) == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize("probability", [1.0, 0.9, 0.4, 0.05, 0.0011, 3e-5, 1e-7])
def test_chances_are_close(probability: float) -> None:
    """Actions in a row, each one in a whole number of times, have the probability together within 1 %."""
    actions = [action.split() for action in impairments.chance(probability)]
    passed = 1.0
    if actions[0][1] == "ok":
        (_, _, _, _, _, first), (_, _, _, _, _, second) = actions
        passed -= 1 / (int(first) * int(second))
    else:
        for action in actions[:-1]:
            passed *= 1 - 1 / int(action[-1])
    assert 1 - passed == pytest.approx(probability, rel=0.01)


def test_bit_errors_are_by_size() -> None:
    """Each size has a filter, and the classes of others are narrow: an eighth of the size at most."""
    lines = [line.split() for line in impaired(bit_error_ratio=1e-6)["wire.tc"].splitlines() if "u32" in line]
    found = [(int(line[line.index("u16") + 1]), int(line[line.index("u16") + 2], 0)) for line in lines]
    assert {(52, 0xFFFF), (1500, 0xFFFF)} <= set(found)
    for size in range(20, 1501):
        first, mask = next(each for each in found if size & each[1] == each[0])
        assert (mask ^ 0xFFFF) <= first / 8


def test_policers_are_before_the_queue() -> None:
    """Packets go out at one device and come in at another, where a bucket with the burst's time at the rate polices them."""
    files = impaired(policer={"rate": "8 Mbit/s", "burst": "64 kB"})
    # 64 ms in units of 64 ns.
    assert shaping.bucket_of_policer(8_000_000, 64_000) == 1_000_000
    numbers = itertools.permutations(range(2, 20), 2)
    assert any(says(files, "n1", shaping.policed(*pair, 8_000_000, 64_000, 0)) for pair in numbers)
    assert "loses 0 n1 q0 4294901760\n" in files["plan"]
    # There is nothing else on the wire.
    assert "wire.tc" not in files


def test_impairments_are_refused() -> None:
    """What Linux cannot do of impairments is refused by its key."""
    key = "network.dumbbell.bottleneck"
    policer = {"rate": "1 kbit/s", "burst": "50 KiB"}
    line = refused(with_link(impairments={"policer": policer}))
    assert line == f"{key}.impairments.policer.burst: a policer of Linux holds what its rate gives in 274 s"
    line = refused(with_link(impairments={"policer": {**policer, "rate": "1 Mbit/s"}}, drop={"every": 100}))
    assert line == f"{key}.drop.every: planned losses of a link on Linux would not count what its policer drops"
    data = with_link(impairments={"policer": {**policer, "rate": "1 Mbit/s"}})
    line = refused({**data, "stack": {"header_size": "20 B"}})
    assert line == f"{key}.impairments.policer.rate: a policer of Linux counts no fewer bytes than IP and TCP have"
    line = refused(with_link(impairments={"jitter": {"mean": "3 s"}}))
    assert line == "network.dumbbell.bottleneck.impairments.jitter.mean: netem draws delays of up to 4.3 s"


def test_stacks_have_namespaces() -> None:
    """Two stacks of the same hosts are two namespaces each: the second has the address, the links and the routes of the host."""
    flows = [{"from": "a", "to": "b", "tcp": "cubic"}, {"from": "a", "to": "b", "tcp": "cubic", "stack": {"initial_window": 4}}]
    files = translated(flows=flows).files
    first, second = (line.split()[2:6] for line in files["plan"].splitlines() if line.startswith("flow "))
    assert (first, second) == (["n0", "n3", "10.0.0.1", "10.0.0.4"], ["n0t1", "n3t1", "10.0.0.1", "10.0.0.4"])
    assert says(files, "n0t1", interfaces.address("10.0.0.1"))
    assert "namespace n0t1\n" in files["plan"]
    for space, window in (("n0", 10), ("n0t1", 4)):
        metrics = {"initcwnd": window, "rto_min": 1000}
        assert any(says(files, space, interfaces.route("10.0.0.4", out, "10.0.0.1", metrics)) for out in range(40))
    # The twin's device has the hardware address of the host's.
    pairs = [line for line in files["plan"].splitlines() if line.startswith(("message n0 l2 ", "message n0t1 l2 "))]
    assert sum(topology.hardware(2).hex() in line for line in pairs) == 2
    assert "u32 match ip dport 5001 0xffff action mirred egress redirect dev i5t1\n" in files["n3.tc"]
    assert "set n3t1 /proc/sys/net/ipv4/tcp_sack 1\n" in files["plan"]


@pytest.mark.parametrize(("retries", "fallback"), [(0, 1), (1, 1), (7, 0)])
def test_ecn_falls_back(retries: int, fallback: int) -> None:
    """Linux asks for ECN in its first SYN or in all (ip-sysctl.rst, tcp_ecn_fallback): in all only where all are to ask."""
    files = translated(stack={"ecn": "classic", "ecn_syn_retries": retries}).files
    assert f"set n0 /proc/sys/net/ipv4/tcp_ecn_fallback {fallback}\n" in files["plan"]


def test_one_stack_has_no_twins() -> None:
    """Flows of one stack, however many, are in their host's own namespace."""
    files = translated(flows=[{"from": "a", "to": "b", "tcp": "cubic"}, {"from": "a", "to": "b", "tcp": "newreno"}]).files
    assert not any("t1" in name for name in files)


@pytest.mark.parametrize("ports", [[5000], [*range(5000, 5100)], [5001, 5002, 5003, 5007, 5008], [*range(5003, 9000, 2)]])
def test_blocks_are_the_ports(ports: list[int]) -> None:
    """Masks match just the ports, and a run of them has at most two masks for each power of two."""
    found = list(twins.blocks(ports))
    assert [port for port in range(1 << 16) if any(port & mask == number for number, mask in found)] == ports
    if ports[-1] - ports[0] == len(ports) - 1:
        assert len(found) <= 2 * len(ports).bit_length()


def test_overheads_of_a_sender_agree() -> None:
    """A host that takes a random time over the packets of some flows and not of others is refused by the key that says so."""
    flow = {"from": "a", "to": "b", "tcp": "cubic"}
    flows = [flow, {**flow, "stack": {"random_overhead": False}}]
    line = refused(scenario_data(flows=flows, sender_overhead="1 ms"))
    assert line.startswith("flows.1.stack.random_overhead: a sender on Linux takes the same time")


def changed(seed: int = 1, duration: str | None = None, **keys: Any) -> tuple[list[tuple[int, list[str]]], dict[str, str]]:
    """Returns what is due when at a small scenario's bottleneck with these keys, in words, and all files."""
    data = with_link(**keys) | ({} if duration is None else {"duration": duration})
    files = dict(plan(specify(from_data(data, "test"), seed), Limitations()).files)
    lines = [line.split() for line in files["plan"].splitlines()]
    actions = [words for words in lines if words[0] in {"change", "hold"}]
    return [(int(words[1]), actions[int(words[2])]) for words in lines if words[0] == "at"], files


def test_changes_are_messages() -> None:
    """A new rate is one of HTB and of the netem behind it; the link back has none of the former."""
    due, _ = changed(changes=[{"at": "2 s", "rate": "5 Mbit/s"}])
    assert [at for at, _ in due] == 3 * [2 * 10**9]
    assert [action[:2] for _, action in due] == [["change", "n1"], ["change", "wire"], ["change", "n2"]]
    assert due[0][1][2] == shaping.rate(2, 5_000_000, 1, 1500, is_new=False).hex()


def test_links_are_held_up() -> None:
    """At a rate of 0 a link has as many bytes to send as take so long, and then its rate is that of before."""
    due, files = changed(changes=[{"at": "1 s", "rate": "0 bit/s"}, {"at": "2.5 s", "rate": "10 Mbit/s"}], queue="droptail")
    assert due == [
        (10**9, ["hold", "n1", "l0", str(shaping.HOLDING), "1250", "1514", "0"]),
        (10**9, ["hold", "n2", "l1", "0", "1250", "1514", "0"]),
    ]
    assert 1250 * (1514 - 14) * 8 == 1.5 * 10e6
    assert says(files, "n1", shaping.rate(2, 10_000_000, 2, 1500, is_new=True, handle=shaping.ABOVE))
    assert says(files, "n1", shaping.borrowing(2, 10_000_000, 2, 1500, is_new=True))
    assert says(files, "n1", shaping.holding(2, 1500))
    assert "ingress protocol 0x88b5 prio 1 matchall action drop\n" in files["wire.tc"]


def test_packets_that_hold_up_are_few() -> None:
    """A fast link is held up at 10 Mbit/s, by packets of which the last is what remains, and is then as fast as before."""
    rates: dict[str, Any] = {
        "rate": "1 Gbit/s",
        "changes": [{"at": "1 s", "rate": "0 bit/s"}, {"at": "1.01 s", "rate": "2 Gbit/s"}],
    }
    due, _ = changed(**rates)
    forwards = [action for at, action in due if at == 10**9 and action[1] in {"n1", "wire"}]
    assert [action[0] for action in forwards] == [*3 * ["change"], "hold", *3 * ["change"]]
    count, largest, rest = map(int, forwards[3][4:])
    assert (count * (largest - 14) + rest - 14) * 8 == 0.01 * 10e6
    assert forwards[0][2] == shaping.rate(2, 10**7, 2, 1500, is_new=False, handle=shaping.ABOVE).hex()
    assert forwards[4][2] == shaping.rate(2, 10**9, 250, 1500, is_new=False, handle=shaping.ABOVE).hex()


def test_long_outages_are_parts() -> None:
    """HTB forgets what a class owes beyond a minute: a link that is held up longer is so again and again, for all of the time."""
    changes = [{"at": "1 s", "rate": "0 bit/s"}, {"at": "101 s", "rate": "10 Mbit/s"}]
    due, _ = changed(duration="110 s", changes=changes)
    held = [(at, action) for at, action in due if action[:3] == ["hold", "n1", "l0"]]
    assert [at for at, _ in held] == [at * 10**9 for at in (1, 26, 51, 76)]
    assert sum(int(action[4]) * 1500 + int(action[6]) - 14 for _, action in held) * 8 == pytest.approx(100 * 10e6, rel=1e-6)


def test_changes_repeat() -> None:
    """Changes are made each time that so long has passed, all by the same drawn time later, which the seed decides."""

    def times(seed: int) -> list[int]:
        every = {"every": "1 s", "spread": "100 ms"}
        changes = [{"at": "200 ms", "delay": "20 ms", **every}, {"at": "700 ms", "delay": "5.1 ms", **every}]
        due, _ = changed(seed, changes=changes)
        return [at for at, action in due if action[1] == "wire"]

    found = times(1)
    assert len(found) == 8
    for place, at in enumerate(found):
        assert 0 <= at - (200 + 500 * place) * 10**6 < 100 * 10**6
    assert [later - at for at, later in zip(found[::2], found[1::2], strict=True)] == 4 * [500 * 10**6]
    assert times(1) == found
    assert times(2) != found


def test_traces_are_changes(tmp_path: Path) -> None:
    """Each value of a trace that is another than that before is a change, the first at 0; at its end it begins again."""
    (tmp_path / "rate.csv").write_text("time_s,rate_mbit_s\n0,2\n0.5,4\n1,4\n1.5,0\n1.6,2\n2,0\n")
    due, files = changed(rate={"trace": str(tmp_path / "rate.csv")}, reverse={"rate": "1 Mbit/s"})

    def rate(bits: int) -> str:
        return shaping.rate(2, bits, max(bits // 4_000_000, 1), 1500, is_new=False, handle=shaping.ABOVE).hex()

    known = {rate(mbps * 10**6): mbps for mbps in (2, 4, 10)}
    rates = [(at, known[action[-1]]) for at, action in due if action[-1] in known]
    # Before and after it is held up the rate is that of what holds it up.
    cycle = [(500_000_000, 4), (1_500_000_000, 10), (1_500_000_000, 4), (1_600_000_000, 2)]
    assert rates == [(0, 2), *cycle, *((at + 2 * 10**9, mbps) for at, mbps in cycle)]
    # Its mean is the rate for what asks for one: 2 for 0.9 s and 4 for 1 s, of 2 s.
    assert says(files, "n1", shaping.borrowing(2, 2_900_000, 1, 1500, is_new=True))


def test_planned_losses_and_outages_exclude_each_other() -> None:
    """What holds a link up would be counted: a link with both is refused by its key."""
    changes = [{"at": "1 s", "rate": "0 bit/s"}, {"at": "2 s", "rate": "1 Mbit/s"}]
    line = refused(with_link(changes=changes, drop={"every": 100}))
    assert line.startswith("network.dumbbell.bottleneck.drop.every: planned losses of a link on Linux would count ")


def test_device_queue_is_a_burst() -> None:
    """A device that holds packets below the discipline is a bucket of as many packets of 1500 bytes."""
    data = scenario_data()
    data["network"]["dumbbell"]["bottleneck"]["device_queue"] = "10 packets"
    files = plan(specify(from_data(data, "test"), 1), Limitations()).files
    assert says(files, "n1", shaping.rate(2, 10_000_000, 15_002, 1500, is_new=True))


def test_lines_add_to_packets() -> None:
    """HTB's rate has overhead, mpu and cells of ATM, netem's overhead and cells of 48 and 5 bytes; PTM makes the rate less."""
    layers = {"overhead": "40 B", "mpu": "64 B"}
    files = plan(specify(from_data(with_link(**layers, framing="atm"), "test"), 1), Limitations()).files
    assert says(files, "n1", shaping.rate(2, 10_000_000, 2, 1500, shaping.Line(40, 64, True), is_new=True))
    files = plan(specify(from_data(with_link(**layers, framing="ptm"), "test"), 1), Limitations()).files
    assert says(files, "n1", shaping.rate(2, 9_846_153, 2, 1500, shaping.Line(40, 64), is_new=True))
    reverse = {"reverse": {"rate": "1 Mbit/s"}, "mpu": "120 B", "overhead": "40 B"}
    assert refused(with_link(**reverse)).startswith("network.dumbbell.bottleneck.mpu: a link without a queue on Linux is a netem")


def test_accurate_ecn_is_newer_kernels() -> None:
    """Both ends ask for Accurate ECN with tcp_ecn = 3, as Linux has from 7.0 on; DCTCP's echo is that of classic ECN's bits."""
    for tcp, setting in (("cubic", 3), ("dctcp", 1)):
        data = scenario_data(stack={"ecn": "accurate"}, flows=[{"from": "a", "to": "b", "tcp": tcp}])
        run = specify(from_data(data, "test"), 1)
        lines = plan(run, Limitations(), version=(7, 0)).files["plan"].splitlines()
        assert [line for line in lines if line.endswith(f"/tcp_ecn {setting}")] == [
            f"set {end} /proc/sys/net/ipv4/tcp_ecn {setting}" for end in ("n0", "n3")
        ]


def test_newer_kernels_have_rack_only() -> None:
    """Recovery without RACK is noted for a kernel that has none: its sysctl has no effect (tcp_recovery in ip-sysctl.rst)."""
    run = specify(from_data(scenario_data(stack={"profile": "linux-6", "recovery": "prr"}), "test"), 1)
    for version, noted in (((6, 16), set()), ((6, 17), {"Linux from 6.17 on has rack, and prr without it no more"})):
        notes = Limitations()
        plan(run, notes, version=version)
        assert {note.reason for note in notes.found if note.key == "stack.recovery"} == noted


@pytest.mark.parametrize(
    ("version", "segment", "buffer"), [((6, 5), 1448, 400_000), ((6, 6), 1448, 316_050), ((6, 6), 536, 400_000)]
)
def test_receive_window_is_of_a_buffer(version: tuple[int, ...], segment: int, buffer: int) -> None:
    """A window is half of its buffer; from 6.6 on 162 of 256 parts if segments of 1448 bytes take 2280 (tcp_measure_rcv_mss)."""
    stack = {"profile": "linux-6", "receive_buffer": "200 kB", "segment_size": f"{segment} B"}
    lines = plan(specify(from_data(scenario_data(stack=stack), "test"), 1), Limitations(), version=version).files["plan"]
    assert f"set n3 /proc/sys/net/ipv4/tcp_rmem 4096 131072 {buffer}\n" in lines


def test_programs_need_a_newer_kernel() -> None:
    """Kernels whose guests' processes are traced refuse programs in one line that says which can."""
    data = scenario_data(programs=[{"at": "a", "run": "true"}])
    run = specify(from_data(data, "test"), 1)
    assert plan(run, Limitations(), version=(6, 16)).programs == ("true",)
    with pytest.raises(Impossible, match=r"^programs: they need Linux 6\.16 or later, not 6\.1: `sojourn linux build --source "):
        plan(run, Limitations(), version=(6, 1))


def test_prague_is_a_file() -> None:
    """Prague is no part of Linux: kernels built with its file have it. It has Accurate ECN whatever the stack says."""
    flows = [{"from": "a", "to": "b", "tcp": "prague"}]
    data = scenario_data(stack="linux-6", flows=flows)
    run = specify(from_data(data, "test"), 1)
    with pytest.raises(Impossible, match=r"^tcp\.name: Linux itself has no prague; `sojourn linux build --name NAME --add "):
        plan(run, Limitations(), version=(7, 0))
    notes = Limitations()
    lines = plan(run, notes, {cache.PRAGUE: "digest"}, version=(7, 0)).files["plan"].splitlines()
    assert any(line.startswith("flow tcp ") and " prague " in line for line in lines)
    assert "set n0 /sys/module/tcp_prague/parameters/prague_rtt_target 25000" in lines
    assert "set n3 /proc/sys/net/ipv4/tcp_ecn 3" in lines
    assert not any("prague_alpha_mode" in line for line in lines)
    assert [str(note) for note in notes.found if "ecn" in note.key] == []


@pytest.mark.parametrize(("rules", "settings"), [("linux-2020", 2), ("published", 0)])
def test_prague_of_2020(rules: str, settings: int) -> None:
    """Version 0.7 of Prague's module has as parameters what version 0.5 did; the draft's rules it does not have."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "prague", "rules": rules}}]
    notes = Limitations()
    run = specify(from_data(scenario_data(stack="linux-6", flows=flows), "test"), 1)
    lines = plan(run, notes, {cache.PRAGUE: "digest"}, version=(7, 0)).files["plan"].splitlines()
    asked = {"prague_alpha_mode 1", "prague_cwnd_mode 0"}
    assert sum(line.rpartition("/")[2] in asked for line in lines) == settings
    assert any(note.key == "tcp.rules" for note in notes.found) == (settings == 0)


def test_stack_becomes_sysctls() -> None:
    """Settings become the sysctls and options of routes that ip-sysctl.rst and ip-route(8) describe."""
    lines = translated(stack={"sack": False, "timestamps": False, "minimum_rto": "300 ms", "initial_window": 4}).files
    assert "set n0 /proc/sys/net/ipv4/tcp_sack 0\n" in lines["plan"]
    assert "set n3 /proc/sys/net/ipv4/tcp_timestamps 0\n" in lines["plan"]
    metrics = {"initcwnd": 4, "rto_min": 300}
    routes = [interfaces.route("10.0.0.4", device, "10.0.0.1", metrics) for device in range(20)]
    assert sum(says(lines, "n0", route) for route in routes) == 1


@pytest.mark.parametrize(("delay", "lines"), [("0 s", ["nr 0"]), ("500 us", ["nr 44", "delay_ns 500000"])])
def test_sack_compression_is_set(delay: str, lines: list[str]) -> None:
    """A longest delay of acknowledgements above a gap is tcp_comp_sack_delay_ns; without one, none is delayed (ip-sysctl.rst)."""
    plan_lines = translated(stack={"profile": "linux-6", "sack_compression": delay}).files["plan"].splitlines()
    assert [line for line in plan_lines if "n0 /proc/sys/net/ipv4/tcp_comp_sack_" in line] == [
        f"set n0 /proc/sys/net/ipv4/tcp_comp_sack_{line}" for line in lines
    ]


@pytest.mark.parametrize(("version", "lines"), [((6, 12), []), ((7, 0), ["5", "5"])])
def test_compression_is_a_twentieth(version: tuple[int, ...], lines: list[str]) -> None:
    """Newer kernels wait for a third of the round-trip time unless they are told a twentieth, which older ones always have."""
    run = specify(from_data(scenario_data(stack="linux-6"), "test"), 1)
    found = plan(run, Limitations(), version=version).files["plan"].splitlines()
    assert [line.split()[-1] for line in found if "tcp_comp_sack_rtt_percent" in line] == lines


def test_limit_in_delay_products() -> None:
    """A limit of a bandwidth-delay product is rate times base RTT in packets of 1500 bytes: 10 Mbit/s, 14 ms, 11.67 packets."""
    data = with_queue(name="droptail", limit="1 BDP")
    assert "pfifo limit 12\n" in plan(specify(from_data(data, "test"), 1), Limitations()).files["n1.tc"]


def test_starts_are_spread() -> None:
    """Starts are uniform within ``start_within``: the mean of 500 is within five standard errors of the middle."""
    flows = [{"from": "a", "to": "b", "count": 500, "tcp": "newreno", "start_within": "1 s"}]
    starts = [flow.start / 1e9 for flow in translated(flows=flows).flows]
    assert 0 <= min(starts) < max(starts) < 1
    assert abs(sum(starts) / 500 - 0.5) < 5 * (1 / 12 / 500) ** 0.5


def test_starts_are_the_simulators() -> None:
    """With one seed, flows start at the same times on Linux, in ns, as in the simulator."""
    data = scenario_data(flows=[{"from": "a", "to": "b", "count": 3, "tcp": "newreno", "start_within": "1 s"}], duration="2 s")
    run = specify(from_data(data, "test"), 7)
    started = backends.named("simulator").run(run).flows["start"].to_list()
    assert [flow.start / 1e9 for flow in plan(run, Limitations()).flows] == pytest.approx(started, abs=1e-9)


@pytest.fixture(scope="module")
def kept() -> tuple[RunSpecification, RunResult]:
    """Returns a run and its result as a kernel's guest wrote it."""
    run = specify(from_data(read_toml(DATA / "dumbbell.toml"), "kept"), 1)
    return run, reading.result(run, plan(run, Limitations()), (DATA / "dumbbell.result").read_text(), DATA)


def test_packets_are_conserved(kept: tuple[RunSpecification, RunResult]) -> None:
    """Every packet that arrived has left, was dropped, or is queued; taps, discipline and flows agree on it."""
    _, result = kept
    queue = result.queues.row(0, named=True)
    assert queue["total_arrivals"] == queue["total_departures"] + queue["total_drops"] + queue["queued_at_end"]
    assert queue["drops"] == queue["drops_overflow"] + queue["drops_early"] == result.flows["packets_dropped"].sum()


def test_queue_obeys_little(kept: tuple[RunSpecification, RunResult]) -> None:
    """The sampled mean length is the rate of departures times the mean sojourn time of the taps (Little 1961), within 2 %."""
    _, result = kept
    queue = result.queues.row(0, named=True)
    assert queue["mean_packets"] == pytest.approx(queue["departures"] / 3 * queue["sojourn_mean"], rel=0.02)
    assert queue["sojourn_p50"] <= queue["sojourn_p95"] <= queue["sojourn_p99"] <= 1.01 * queue["sojourn_max"]


def test_flows_have_their_numbers(kept: tuple[RunSpecification, RunResult]) -> None:
    """The RTT is never below the path's, goodput is below the link's rate, and cbr sends as it says."""
    run, result = kept
    tcp, cbr = result.flows.to_dicts()
    # 16 ms of propagation, 1500 bytes over 100, 10 and 100 Mbit/s, 52 bytes back.
    assert 0.016 + 1500 * 8 * (1 / 100e6 + 1 / 10e6 + 1 / 100e6) <= tcp["rtt_min"] <= tcp["rtt_mean"] <= tcp["rtt_max"]
    assert 0 < tcp["bytes_delivered"] * 8 / 3 < run["links"][0]["rate"]
    assert cbr["segments_sent"] * 500 * 8 / 3 == pytest.approx(400e3)
    assert (tcp["timeouts"], tcp["mark_reductions"], cbr["rtt_mean"]) == (0, None, None)


def test_delays_are_the_queues(kept: tuple[RunSpecification, RunResult]) -> None:
    """One-way delays of cbr are the path's, 8 ms and 500 bytes over three links, and at most the longest wait more."""
    run, result = kept
    tcp, cbr = result.flows.to_dicts()
    assert (tcp["delay_samples"], tcp["delay_mean"], tcp["jitter"]) == (0, None, None)
    assert cbr["delay_samples"] * 500 == cbr["bytes_delivered"]
    path = 0.008 + 500 * 8 * (1 / 100e6 + 1 / 10e6 + 1 / 100e6)
    # A packet waits for the rest of the one in transmission besides, and up to the sender's overhead.
    longest = path + result.queues["sojourn_max"][0] + 1500 * 8 / 10e6 + run["sender_overhead"] / 1e12
    assert path < cbr["delay_min"] < cbr["delay_p50"] < cbr["delay_p95"] <= cbr["delay_p99"] <= cbr["delay_max"] < longest
    assert 0 < cbr["jitter"] < cbr["delay_max"] - cbr["delay_min"]


def test_limited_times_are_seconds(kept: tuple[RunSpecification, RunResult]) -> None:
    """The kernel's times without a window or a buffer, in microseconds and since the flow began, become seconds of the window."""
    run, _ = kept
    text = (DATA / "dumbbell.result").read_text()
    told = "rwnd_limited {} sndbuf_limited {}\nreceiver 0 {}"
    for times, when in (((250_000, 100_000), "start"), ((2_000_000, 600_000), "end")):
        assert told.format(0, 0, when) in text
        text = text.replace(told.format(0, 0, when), told.format(*times, when))
    flows = reading.result(run, plan(run, Limitations()), text, DATA).flows
    assert flows["rwnd_limited"].to_list() == [1.75, None]
    assert flows["sndbuf_limited"].to_list() == [0.5, None]


def test_series_are_samples(kept: tuple[RunSpecification, RunResult]) -> None:
    """Samples are taken at multiples of the interval; windows are whole segments, and ssthresh is null before a congestion."""
    _, result = kept
    assert result.queue_series["time"].to_list() == [0.0, 1.0, 2.0, 3.0]
    assert result.flow_series["time"].to_list() == [1.0, 2.0, 3.0]
    assert all(window % 1448 == 0 for window in result.flow_series["cwnd"])


def test_window_may_be_short(kept: tuple[RunSpecification, RunResult]) -> None:
    """A window shorter than the guest's clock can tell, as estimates of time have it, is no error."""
    run: RunSpecification = {**kept[0], "warm_up": kept[0]["duration"] - 1}
    result = reading.result(run, plan(run, Limitations()), (DATA / "dumbbell.result").read_text(), DATA)
    assert result.queues["utilisation"].to_list() == [0.0]


def test_states_are_in_units(tmp_path: Path) -> None:
    """States become bytes and seconds, and what stands for none in the kernel is null."""
    line = "2000000000 3 1 0 0 0 222000 1448 18 0 1 2 {rtt} 1277 {ssthresh} 18 7 {rate} 2267569 {least} 1591 {latest} 2267000\n"
    known = line.format(rtt=21500, ssthresh=15, rate=1459639, least=17240, latest=25000000)
    unknown = line.format(rtt=0, ssthresh=2**31 - 1, rate=2**64 - 1, least=2**32 - 1, latest=0)
    (tmp_path / connections.FILE).write_text(known + unknown)
    first, second = pl.concat(connections.states(tmp_path)).to_dicts()
    assert (first["time"], first["flow"], first["rto"], first["rtt"], first["rttvar"]) == (2, 3, 0.222, 0.0215, 0.001277)
    assert (first["snd_cwnd"], first["snd_ssthresh"], first["pacing_rate"]) == (18 * 1448, 15 * 1448, 1459639)
    assert (first["min_rtt"], first["latest_rtt"], first["bytes_acked"]) == (0.01724, 0.025, 2267569)
    assert {name for name, value in second.items() if value is None} == {
        *("rtt", "rttvar", "snd_ssthresh", "pacing_rate", "min_rtt", "latest_rtt")
    }


def test_captures_are_in_order(tmp_path: Path) -> None:
    """Packets leave when their last bit is sent, one after the other, at the rate of the time; arrivals are as they were seen."""
    data = scenario_data()
    data["network"]["dumbbell"]["bottleneck"]["changes"] = [{"at": "2 ms", "rate": "5 Mbit/s"}]
    run = specify(from_data(data, "test"), 1)

    def packet(source: str, port: int, other: int) -> bytes:
        return bytes(12) + socket.inet_aton(source) + bytes(4) + struct.pack(">HH", port, other) + b"rest"

    def record(time: int, length: int, source: str) -> bytes:
        return struct.pack("=qII", time, length, 28) + packet(source, 5001, 5001)

    # Two at once at 10 Mbit/s, one at 5 Mbit/s, one that is not sent before the end.
    times = (0, 0, 3_000_000, 3_999_999_000)
    (tmp_path / SENT).write_bytes(b"".join(record(time, 1250, "10.0.0.1") for time in times))
    stray = struct.pack("=qII", 1_400_000, 28, 28) + packet("10.0.0.4", 53, 53)
    opened = struct.pack("=qII", 1_600_000, 40, 28) + packet("10.0.0.4", 32768, 5000)
    (tmp_path / ARRIVED).write_bytes(stray + record(1_500_000, 52, "10.0.0.4") + opened)
    sent, answer = packet("10.0.0.1", 49153, 9), packet("10.0.0.4", 9, 49153)
    assert list(captures.packets(run, 0, tmp_path)) == [
        (1_000_000, True, 1250, sent),
        (1_500_000, False, 52, answer),
        (1_600_000, False, 40, packet("10.0.0.4", 32768, 9)),
        (2_000_000, True, 1250, sent),
        (5_000_000, True, 1250, sent),
    ]


def test_moments_are_read_whole(tmp_path: Path, kept: tuple[RunSpecification, RunResult]) -> None:
    """A moment is read when all of it has been written; what is unmeasured or never a connection's is null."""
    run = kept[0]
    codel = struct.pack("=9I", 1514, 3, 2, 9, 0, 4, 5, 1, 6).hex()
    text = (
        "moment 500000000\n"
        f"queue departures 9 bytes_sent 13500 sojourn_sum 18000000 kind codel packets 4 bytes 6000 drops 7 report {codel}\n"
        "flow received 2896 cwnd 14480 rtt 20000000\nflow received 3\nshown\n"
    )
    reader = moments.Reader(run, plan(run, Limitations()), tmp_path)
    assert list(reader.new()) == []
    file = tmp_path / moments.FILE
    file.write_text(text[:-4])
    assert list(reader.new()) == []
    file.write_text(text + text[:9])
    (moment,) = reader.new()
    reader.close()
    assert moment.time == 0.5
    assert moment.queues.row(0) == ("left->right", 4, 6000, 7, 11, 9, 13500, 0.018)
    assert moment.flows.rows() == [(2896, 14480, 0.02), (1500, None, None)]


def test_percentile_is_of_bins() -> None:
    """A percentile is the upper end of its bin, 1 % above the bin before it."""
    bins = {0: 50, 100: 49, 200: 1}
    assert reading.percentile(bins, 0.5) == 1e-6
    assert reading.percentile(bins, 0.95) == pytest.approx(1e-6 * 1.01**100)
    assert reading.percentile({}, 0.5) is None


@pytest.mark.parametrize(
    ("kind", "report", "expected"),
    [
        ("tbf", "-", causes.Told(marks=0, everything_overflows=True)),
        ("pfifo", "-", causes.Told(marks=0, everything_overflows=True)),
        ("codel", struct.pack("=9I", 1514, 3, 2, 9, 0, 4, 5, 1, 6).hex(), causes.Told(4, 11)),
        ("fq_codel", struct.pack("=10I", 0, 1514, 4, 5, 9, 9, 9, 6, 9, 7).hex(), causes.Told(11, 11)),
        ("pie", struct.pack("=Q8I", 2**60, 9, 9, 9, 9, 9, 4, 9, 5).hex(), causes.Told(4, 5)),
        ("red", struct.pack("=4I", 9, 4, 0, 5).hex(), causes.Told(4, 5)),
        ("dualpi2", struct.pack("=12I", 0, 0, 0, 5, 5, 9, 7, 3, 0, 0, 0, 0).hex(), causes.Told(marks=7)),
        ("unheard_of", "00", causes.Told()),
    ],
)
def test_causes_are_told(kind: str, report: str, expected: causes.Told) -> None:
    """Drops of a full queue and marks are found where the structures of linux/pkt_sched.h have them."""
    assert causes.told(kind, report) == expected


def test_archive_is_aligned() -> None:
    """Headers and contents of an archive begin at multiples of four bytes, and the last entry says so (buffer-format.rst)."""
    content = archive.archive([archive.directory("a"), archive.file("a/b", b"hello")])
    assert len(content) % 4 == 0
    assert content.startswith(b"070701")
    assert content.index(b"hello") % 4 == 0
    assert content.rstrip(b"\0").endswith(b"TRAILER!!!")


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a cache without kernels."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return cache.kernels_folder()


def invent(folder: Path, *kernels: str, own: tuple[cache.File, ...] = ()) -> None:
    """Puts descriptions of kernels with files of their own into a cache."""
    for name in kernels:
        (folder / name).mkdir(parents=True)
        cache.write(cache.Kernel(name, "6.1.0", 1000, "c", "k", "g", "another", "key", "source", (), own))


def test_no_kernel_is_told(empty_cache: Path, scenario_file: Callable[..., Path], capsys: Capture) -> None:
    """Without a kernel a run ends with one line that says how to make one."""
    assert not empty_cache.exists()
    assert status(["run", str(scenario_file()), "--backend", "linux"]) == 2
    assert complaint(capsys) == "sojourn: no Linux kernel is built; `sojourn linux build` makes one\n"


def test_several_kernels_have_names(empty_cache: Path) -> None:
    """With several kernels a name is needed, and each is a backend of its own."""
    invent(empty_cache, "6.1")
    assert cache.named(None).name == "6.1"
    invent(empty_cache, "6.12")
    assert cache.named("6.12").name == "6.12"
    with pytest.raises(InputError, match=r"^several Linux kernels are built; write linux:6\.1 or linux:6\.12$"):
        cache.named(None)
    with pytest.raises(InputError, match=r'^unknown Linux kernel "6\.2", did you mean "6\.1[2]?"\? '):
        cache.named("6.2")


def test_old_guest_is_refused(empty_cache: Path, capsys: Capture) -> None:
    """A kernel whose guest another version of Sojourn made is refused, and listed, with the command that makes it anew."""
    invent(empty_cache, "6.1")
    assert status(["linux", "status"]) == 0
    assert "; of another version of Sojourn: `sojourn linux build --source source --name 6.1`\n" in capsys.readouterr().out
    with pytest.raises(
        InputError, match=r"^the guest of linux:6\.1 is of another version of Sojourn; `sojourn linux build --source "
    ):
        backends.named("linux")


def test_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that a build lacks is named with its Debian package, in one line."""
    there = tmp_path / "there"
    there.touch()
    monkeypatch.setattr(tools, "find", lambda program: None if program == "flex" else there)
    monkeypatch.setattr(tools, "C_HEADERS", (str(there), "libc6-dev"))
    with pytest.raises(InputError, match=r"^missing: flex; on Debian: apt-get install --no-install-recommends flex$"):
        tools.check()


def test_added_file_has_a_place(tmp_path: Path) -> None:
    """A file is added only if its name says which part of the kernel it belongs to."""
    module = tmp_path / "own.c"
    module.touch()
    with pytest.raises(InputError, match=r"own\.c: a module is one file called sch_\*\.c, cls_\*\.c, act_\*\.c, tcp_\*\.c$"):
        source.check_added([module])


def kernel_source(folder: Path, version: tuple[int, int] = (6, 1)) -> Path:
    """Makes what looks like the source of a kernel."""
    for name in ("arch/um/Kconfig", "net/sched/Makefile", "net/ipv4/Makefile"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "Makefile").write_text("VERSION = {}\nPATCHLEVEL = {}\nSUBLEVEL = 7\n".format(*version))
    return folder


def test_module_goes_into_copy(empty_cache: Path, tmp_path: Path) -> None:
    """A module is compiled with the part of the kernel that it belongs to, and the source itself stays as it is."""
    tree, module = kernel_source(tmp_path / "linux"), tmp_path / "tcp_own.c"
    module.write_text("int own;")
    copy, ours = source.unpacked(tree, (module,))
    assert ours
    assert copy.is_relative_to(empty_cache.parent)
    assert (copy / "net/ipv4/Makefile").read_text() == "\nobj-y += tcp_own.o\n"
    assert (copy / "net/ipv4/tcp_own.c").read_text() == "int own;"
    assert (tree / "net/ipv4/Makefile").read_text() == ""
    assert source.unpacked(tree, ()) == (tree, False)


def test_changed_module_replaces_one(empty_cache: Path, tmp_path: Path) -> None:
    """A file that the kernel has already takes its place and is compiled once, as the kernel's Makefile says."""
    tree, module = kernel_source(tmp_path / "linux"), tmp_path / "tcp_cubic.c"
    line = "obj-$(CONFIG_TCP_CONG_CUBIC) += tcp_cubic.o\n"
    (tree / "net/ipv4/Makefile").write_text(line)
    module.write_text("int own;")
    copy, _ = source.unpacked(tree, (module,))
    assert copy.is_relative_to(empty_cache.parent)
    assert (copy / "net/ipv4/Makefile").read_text() == line
    assert (copy / "net/ipv4/tcp_cubic.c").read_text() == "int own;"


@pytest.fixture
def debian_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns an archive as Debian's, whose stable release has Linux 6.12, the one before 6.1, and whose backports have 7.3."""
    archive = tmp_path / "debian"
    for release in debian.RELEASES:
        packages = ""
        for version in {"stable": ("6.12",), "stable-backports": ("7.3",), "oldstable": ("6.1",)}.get(release, ()):
            place = archive / f"pool/linux-source-{version}_1_all.deb"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(package(f"linux-source-{version}.tar.xz", b"Linux " + version.encode()))
            digest = hashlib.sha256(place.read_bytes()).hexdigest()
            packages += f"Package: linux-source-{version}\nVersion: 1\nFilename: pool/{place.name}\nSHA256: {digest}\n\n"
        index = archive / "dists" / release / debian.INDEX
        index.parent.mkdir(parents=True)
        index.write_bytes(lzma.compress(f"Package: other\nVersion: 1\n\n{packages}".encode()))
        digest = hashlib.sha256(index.read_bytes()).hexdigest()
        told = f"Suite: {release}\nSHA256:\n {'0' * 64} 1 main/Contents\n {digest} {index.stat().st_size} {debian.INDEX}\n"
        (archive / "dists" / release / "Release").write_text(told)
    monkeypatch.setattr(debian, "ARCHIVE", archive.as_uri())
    return archive


def package(name: str, content: bytes) -> bytes:
    """Returns a package of Debian (deb(5)) with one file in /usr/src."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as files:
        entry = tarfile.TarInfo(f"./usr/src/{name}")
        entry.size = len(content)
        files.addfile(entry, io.BytesIO(content))
    members = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": data.getvalue()}
    headers = {member: f"{member:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(part):<10}`\n".encode() for member, part in members.items()}
    return b"!<arch>\n" + b"".join(headers[member] + part + b"\n" * (len(part) % 2) for member, part in members.items())


@pytest.mark.usefixtures("debian_archive")
def test_source_comes_from_debian(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that the machine lacks is got from Debian, from the newest release that has it, once: then it is in the cache."""
    for version in ("7.3", "6.12"):
        got = debian.source(version, lambda _: None)
        assert got.read_bytes() == b"Linux " + version.encode()
        assert [path.name for path in got.parent.glob(f"*{version}*")] == [f"linux-source-{version}.tar.xz"]
    monkeypatch.setattr(debian, "ARCHIVE", "file:///nowhere")
    assert debian.source("7.3", lambda _: None).is_relative_to(empty_cache.parent)


@pytest.mark.usefixtures("debian_archive", "empty_cache")
def test_the_newest_of_a_major_version_comes_from_debian() -> None:
    """One number asks for the newest that any release has: of 6.1 and 6.12 the latter, whichever release has it."""
    assert {debian.source(version, lambda _: None).read_bytes() for version in ("6", "7")} == {b"Linux 6.12", b"Linux 7.3"}
    with pytest.raises(InputError, match=r"^--source debian:8: Debian has no linux-source-8; it has 6\.1, 6\.12, 7\.3$"):
        debian.source("8", lambda _: None)


def test_wrong_sources_are_refused(debian_archive: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not what Debian's index says, is not there, or cannot be reached, is told in one line, and leaves nothing."""

    def told(version: str) -> str:
        with pytest.raises((InputError, RunFailed)) as problem:
            debian.source(version, lambda _: None)
        assert not (empty_cache.parent / "debian").exists()
        return str(problem.value)

    assert told("9.9") == "--source debian:9.9: Debian has no linux-source-9.9; it has 6.1, 6.12, 7.3"
    place = debian_archive / "pool/linux-source-7.3_1_all.deb"
    right = hashlib.sha256(place.read_bytes()).hexdigest()
    place.write_bytes(place.read_bytes() + b"x")
    wrong = hashlib.sha256(place.read_bytes()).hexdigest()
    assert told("7.3") == f"{place.as_uri()} has the SHA-256 {wrong}, and in Debian's index {right}"
    index = debian_archive / "dists/stable-backports" / debian.INDEX
    index.write_bytes(lzma.compress(b""))
    assert told("7.3").startswith(f"{index.as_uri()} has the SHA-256 ")
    monkeypatch.setattr(debian, "ARCHIVE", "http://127.0.0.1:1")
    refused = ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    assert told("7.3") == f"http://127.0.0.1:1/dists/stable-backports/Release could not be read: {refused}"


@pytest.mark.parametrize("given", ["debian:7.3.1", "debian:", "debian:trixie"])
def test_debians_versions_have_two_numbers_at_most(given: str) -> None:
    """A source of Debian is asked for by the two numbers of its package's name, or by the first."""
    with pytest.raises(
        InputError,
        match=rf"^--source {given}: write debian: and a version of one or two numbers, such as debian:7 or debian:7\.3$",
    ):
        debian.asked(Path(given))


@pytest.mark.skipif(
    any(tools.find(program) is None for program in (*tools.COMPILING, *tools.GUEST)), reason="a program is missing"
)
def test_no_kernel_leaves_nothing(empty_cache: Path, tmp_path: Path) -> None:
    """An archive that is none, and one that has no kernel, are refused in one line, and nothing of them stays in the cache."""
    odd = tmp_path / "linux-9.1.tar.xz"
    for content, reason in (
        (b"odd", "could not be unpacked: "),
        (lzma.compress(bytes(10240)), "this is not the source of a Linux "),
    ):
        odd.write_bytes(content)
        with pytest.raises(InputError) as problem:
            build.build(odd, None, (), lambda *_: None)
        assert reason in str(problem.value)
        assert str(problem.value).startswith(str(odd))
        assert "\n" not in str(problem.value)
        assert [path for path in empty_cache.parent.rglob("*") if path.is_file()] == []


def test_missing_options_are_told(tmp_path: Path) -> None:
    """An option asked for that a source does not know is told apart from one that it knows and cannot have as asked."""
    for folder, text in {"": "config NET\n\tbool\n", "fs/proc": "\tmenuconfig PROC_SYSCTL\n", "lib": "config HZ_OLD\n"}.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "Kconfig").write_text(text)
    asked = "# CONFIG_NOTE=y\nCONFIG_NET=y\nCONFIG_PROC_SYSCTL=y\n\nCONFIG_HZ=1000\nCONFIG_OLD=y\n"
    unknown, refused = compiling.missing(asked, "CONFIG_NET=y\n# CONFIG_PROC_SYSCTL is not set\n", tmp_path)
    assert unknown == ["CONFIG_HZ=1000", "CONFIG_OLD=y"]
    assert refused == ["CONFIG_PROC_SYSCTL=y"]


def test_mended_module_is_taken(empty_cache: Path, tmp_path: Path) -> None:
    """After a failed build a mended file replaces the one before in the same copy, whose rest stays as it is."""
    tree, module = kernel_source(tmp_path / "linux"), tmp_path / "tcp_own.c"
    module.write_text("int own")
    copy, _ = source.unpacked(tree, (module,))
    (copy / "compiled.o").touch()
    before = (copy / "net/ipv4/Makefile").stat().st_mtime_ns
    module.write_text("int own;")
    assert source.unpacked(tree, (module,)) == (copy, True)
    assert copy.is_relative_to(empty_cache.parent)
    assert (copy / "net/ipv4/tcp_own.c").read_text() == "int own;"
    assert (copy / "compiled.o").exists()
    assert (copy / "net/ipv4/Makefile").stat().st_mtime_ns == before


#: A congestion control module of Linux as far as the backend reads it.
MODULE = """
static int divisor = 2;
module_param(divisor, int, 0644);
static int fixed = 1;
module_param(fixed, int, 0444);
static struct tcp_congestion_ops mine = { .name = "mine" };
"""


def own_source(text: str = MODULE, language: str = "linux") -> RunSpecification:
    """Returns the specification of a small scenario whose flows use a user's file."""
    run = specify(from_data(scenario_data(), "test"), 1)
    run["plugins"] = [{"file": "tcp_mine.c", "language": language, "digest": "", "files": {"tcp_mine.c": text}}]
    source_of = {"name": "tcp_mine.c", "slow_start": "standard", "parameters": {"divisor": 3, "fixed": 1}, "plugin": 0}
    run["flows"][0]["source"] |= source_of
    return run


def test_added_module_is_used() -> None:
    """A module that the kernel was built with goes by the name that it registers, with those parameters that can be written."""
    lines = plan(own_source(), Limitations(), {"tcp_mine.c": source.digest(MODULE.encode())}).files["plan"].splitlines()
    assert any(" mine 0 " in line for line in lines if line.startswith("flow tcp "))
    assert "set n0 /sys/module/tcp_mine/parameters/divisor 3" in lines
    assert not any("fixed" in line for line in lines)


def test_dualpi2_is_made_directly() -> None:
    """DualPI2 comes as attributes of Linux's pkt_sched.h; Linux's own defaults are 41 and 819 256ths of a hertz, 1 ms, 10 %."""
    data = with_queue(name="dualpi2", limit="1000 packets", alpha=0.16, beta=3.2, update_interval="16 ms")
    lines = plan(specify(from_data(data, "test"), 1), Limitations(), {"sch_dualpi2.c": ""}).files["plan"].splitlines()
    message = next(bytes.fromhex(line.split()[3]) for line in lines if line.startswith("message n1 dualpi2 "))
    # After the headers, of netlink and of the discipline.
    attributes = dict(causes._attributes(message[36:]))
    found = {number: int.from_bytes(content, "little") for number, content in causes._attributes(attributes[2])}
    assert attributes[1] == b"dualpi2\0"
    assert found == {1: 1000, 2: 2**31 - 1, 3: 15_000, 4: 16_000, 5: 41, 6: 819, 8: 1000, 9: 1, 10: 2, 13: 10}


def test_kernel_may_lack_dualpi2() -> None:
    """A kernel that was built without DualPI2 refuses it in one line that says since when Linux has it."""
    line = refused(with_queue(name="dualpi2"))
    assert line.startswith("network.dumbbell.bottleneck.queue.name: this kernel has no dualpi2; Linux has it since 6.17: ")
    assert "\n" not in line


def test_newer_kernel_has_dualpi2(empty_cache: Path) -> None:
    """A kernel whose own source has DualPI2 was compiled with it, which its description says."""
    invent(empty_cache, "6.1")
    invent(empty_cache, "6.17", own=(cache.File(cache.DUALPI2, "digest"),))
    assert cache.named("6.1").modules == {}
    assert cache.named("6.17").modules == {cache.DUALPI2: "digest"}


def test_newer_kernels_trace_nothing(empty_cache: Path) -> None:
    """From 6.16 on guests' processes are held by filters of system calls, whatever the host; others know no such word."""
    invent(empty_cache, "one")
    translated = plan(specify(from_data(scenario_data(), "test"), 1), Limitations())
    for version, holds in {"6.1.192": False, "6.15.3": False, "6.16.0": True, "7.3.4": True}.items():
        kernel = dataclasses.replace(cache.named("one"), version=version)
        assert ("seccomp=on" in machine._command(kernel, translated)) == holds


#: A queue discipline of Linux as far as Sojourn reads it.
DISCIPLINE = 'static struct Qdisc_ops mine_ops = { .id = "mine" }; int init(void) { return register_qdisc(&mine_ops); }'


@pytest.fixture
def own_queue(tmp_path: Path) -> Scenario:
    """Returns a small scenario whose bottleneck has a user's own discipline of Linux."""
    file = tmp_path / "sch_mine.c"
    file.write_text(DISCIPLINE)
    return from_data(with_queue(linux=str(file)), "test")


def test_added_discipline_is_used(own_queue: Scenario) -> None:
    """A discipline that the kernel was built with goes by the name that it registers, and ``tc`` makes only the link's rate."""
    files = plan(specify(own_queue, 1), Limitations(), {"sch_mine.c": source.digest(DISCIPLINE.encode())}).files
    assert says(files, "n1", shaping.discipline(2, "mine", b""))
    assert "n1.tc" not in files


def test_discipline_must_be_built_in(own_queue: Scenario) -> None:
    """Without the file in the kernel, and in the simulator, a discipline of Linux is refused in one line with its key."""
    with pytest.raises(
        Impossible, match=r"^queue\.linux: this kernel was built with no sch_mine\.c; `sojourn linux build --name NAME "
    ):
        plan(specify(own_queue, 1), Limitations())
    with pytest.raises(
        InputError, match=r": network\.dumbbell\.bottleneck\.queue\.linux: only a kernel that was built with sch_mine\.c "
    ):
        sojourn.run(own_queue)


def test_discipline_registers_itself(tmp_path: Path) -> None:
    """A congestion control of Linux is no discipline of it."""
    (tmp_path / "tcp_mine.c").write_text(MODULE)
    with pytest.raises(InputError, match=r"queue: linux: tcp_mine\.c registers no queue discipline$"):
        from_data(with_queue(linux=str(tmp_path / "tcp_mine.c")), "test")


@pytest.mark.parametrize(
    ("modules", "language", "line"),
    [
        ({}, "linux", "tcp.linux: this kernel was built with no tcp_mine.c; `sojourn linux build --name NAME --add tcp_mine.c` "),
        ({"tcp_mine.c": "0"}, "linux", "tcp.linux: this kernel was built with another tcp_mine.c; `sojourn linux build "),
        ({}, "c", 'tcp.file: Linux runs modules of its own only: { linux = "tcp_mine.c" }'),
    ],
)
def test_module_must_be_built_in(modules: dict[str, str], language: str, line: str) -> None:
    """A file that the kernel was not built with, or built with another text of it, is refused with the command that adds it."""
    with pytest.raises(Impossible) as refusal:
        plan(own_source(language=language), Limitations(), modules)
    assert str(refusal.value).startswith(line)


def test_kernel_remembers_added_files(empty_cache: Path) -> None:
    """The command that builds a kernel again names the files that were added to it."""
    invent(empty_cache, "6.1")
    kernel = cache.named(None)
    cache.write(dataclasses.replace(kernel, added=(cache.File("/home/me/tcp_mine.c", "0"),)))
    again = cache.named(None)
    assert again.added[0].name == "tcp_mine.c"
    assert again.command == "sojourn linux build --source source --name 6.1 --add /home/me/tcp_mine.c"


def test_unfit_source_is_refused(tmp_path: Path) -> None:
    """A kernel before 6.1, and a source that was built in, are refused in one line."""
    with pytest.raises(InputError, match=r": Linux 5\.10\.7 is older than 6\.1$"):
        source.unpacked(kernel_source(tmp_path / "old", (5, 10)), ())
    built = kernel_source(tmp_path / "built")
    (built / ".config").touch()
    with pytest.raises(InputError, match=r"this source has been built in; run `make mrproper` there, or give another$"):
        source.unpacked(built, ())


def test_source_must_be_a_kernel(tmp_path: Path) -> None:
    """A folder that is no kernel's source is refused by the option."""
    with pytest.raises(InputError, match=r"^--source .*: this is not the source of a Linux kernel"):
        source.find(tmp_path)


def test_unknown_stack_is_noted() -> None:
    """Every setting that Linux has one value for is a setting of the catalogue."""
    assert set(stack.CONSTANT) <= {setting.name for setting in catalogue.load().stack_settings}


@pytest.mark.parametrize(("flags", "blocks", "fault"), [(os.ST_NOEXEC, 2**20, "is mounted noexec"), (0, 64 * 256, "has 64 MiB")])
def test_memory_needs_a_place(flags: int, blocks: int, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that is mounted noexec, or has too little room, is refused before a kernel starts, in one line."""
    system = os.statvfs_result((4096, 4096, blocks, blocks, blocks, 0, 0, 0, flags, 255))
    monkeypatch.setenv("TMPDIR", "/tmp")
    monkeypatch.setattr(os, "statvfs", lambda _: system)
    with pytest.raises(RunFailed, match=rf"^no place for the guest's memory: /tmp {fault}; set TMPDIR to a folder with 512 MiB$"):
        machine.memory_folder()


@pytest.mark.parametrize(
    ("console", "status", "line"),
    [
        ("Linux version 6.1\nKernel panic - not syncing: VFS\nmore\n", -6, "Kernel panic - not syncing: VFS"),
        ("ptrace: Operation not permitted\n", 1, "ptrace: Operation not permitted; a container must allow ptrace"),
        (
            "Checking that seccomp filters can be installed...missing\nSECCOMP userspace requested but not functional!\n",
            1,
            "SECCOMP userspace requested but not functional!; a container must allow filters of system calls (seccomp)",
        ),
        ("Core dump limits\nmapping failed - errno = -12\n", 1, "mapping failed - errno = -12; there is too little memory"),
        (
            "Out of memory: Killed process 23 (flows) total-vm:137376kB\nreboot: Power down\n",
            0,
            "the guest has run out of memory; fewer flows, or smaller buffers or windows, take less",
        ),
        ("", -9, "ended by SIGKILL; there may be too little memory"),
        ("", -6, "ended by SIGABRT; there may be too little room for the guest's memory"),
        ("", 3, "exit status 3"),
    ],
)
def test_failure_is_one_line(console: str, status: int, line: str, tmp_path: Path) -> None:
    """What a kernel says before it dies becomes one line, with what to do where that is known."""
    (tmp_path / "console").write_text(console)
    # What the guest's shell says of its own process that was ended is told where nothing tells why.
    (tmp_path / machine.NETWORK_LOG).write_text("Killed\nfailed\n" if "Killed" in console else "")
    with pytest.raises(RunFailed) as failure:
        machine._result(tmp_path, status)
    assert str(failure.value) == f"the kernel could not carry it out: {line}"


#: Takes the first 832 bytes of a stopped child's extended registers, those of SSE and AVX, and gives them back.
RESTORING = """
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    static char known[832];
    struct iovec part = { known, sizeof(known) };
    int failed;
    pid_t child = fork();
    if (!child) { ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP); _exit(0); }
    waitpid(child, 0, 0);
    failed = ptrace(PTRACE_GETREGSET, child, (void *)NT_X86_XSTATE, &part)
        || ptrace(PTRACE_SETREGSET, child, (void *)NT_X86_XSTATE, &part);
    ptrace(PTRACE_KILL, child, 0, 0);
    return failed;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no compiler")
def test_unknown_registers_keep_values(tmp_path: Path) -> None:
    """A host takes the registers of a process whole (Linux arch/x86/kernel/fpu/regset.c, xstateregs_set). A kernel that knows the
    first of them restores those with the library that is loaded before it; on processors with AMX it does not run without."""
    (tmp_path / "restoring.c").write_text(RESTORING)
    subprocess.run(["gcc", "-o", tmp_path / "restoring", tmp_path / "restoring.c"], check=True)
    library = tmp_path / "loaded.so"
    guest.compile_c(guest.LOADED, library, ("-shared", "-fPIC"))
    subprocess.run([tmp_path / "restoring"], env={"LD_PRELOAD": str(library)}, check=True)


def test_fast_links_are_passed() -> None:
    """A link that takes less than two microseconds for a full packet has no device of its own."""
    fast: dict[str, Any] = {
        "from": 0,
        "to": 1,
        "rate": 10**10,
        "delay": 0,
        "queue": None,
        "drop": None,
        "loss": 0.0,
        "changes": [],
    }
    _, (devices,) = topology.build([fast], ("n0", "n1"), 1500, -14, {}, [Limit()], Limitations(), algorithms.Added())
    assert devices.wire is None


def test_sender_overhead_is_jitter() -> None:
    """A sender's time of up to 1 ms over each packet is a delay of 0.5 ms and as much to both sides of it (tc-netem(8))."""
    files = translated(sender_overhead="1 ms").files
    assert wired(files, "n0", 1_500_000, 500_000, 100_000_000)
    files = translated(sender_overhead="1 ms", stack={"random_overhead": False}).files
    assert wired(files, "n0", 1_000_000, 0, 100_000_000)


def test_kernels_share_out_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kernels at once have a processor each, and the next takes the one that becomes free."""
    kept: dict[int, set[int]] = {}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    monkeypatch.setattr(os, "sched_setaffinity", kept.__setitem__)
    with processors.on_one(0):
        with processors.on_one(-1):
            assert {frozenset(each) for each in kept.values()} == {frozenset({3}), frozenset({5})}
        with processors.on_one(-2):
            assert kept[-2] == kept[-1]
