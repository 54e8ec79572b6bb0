import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import sojourn
from conftest import ROOT, scenario_data
from sojourn.campaign import cautions
from sojourn.errors import InputError
from sojourn.scenario import Scenario, from_data
from sojourn.specification import RunSpecification, bottleneck_rate, specify
from sojourn.sweeps import paths

ScenarioFile = Callable[..., Path]

BAD_FILES = {
    "unknown key": (("warm_up", "warmup"), 'unknown key "warmup", did you mean "warm_up"?'),
    "unknown nested key": (
        ('delay = "5 ms"', 'dely = "5 ms"'),
        'network.dumbbell.bottleneck: unknown key "dely", did you mean "delay"?',
    ),
    "unknown algorithm": (
        ('"newreno"', '"newrino"'),
        'flows[0].tcp: unknown congestion control "newrino", did you mean "newreno"?',
    ),
    "unknown queue": (('"codel"', '"codle"'), 'network.dumbbell.bottleneck.queue: unknown queue discipline "codle"'),
    "unknown parameter": (
        ('"codel",', '"codel", targt = "2 ms",'),
        'queue: unknown key of codel "targt", did you mean "target"?',
    ),
    "unknown unit": (('"10 Mbit/s"', '"10 Mbps"'), 'network.dumbbell.bottleneck.rate: "10 Mbps": unknown unit "Mbps"'),
    "no unit": (('"10 Mbit/s"', "10000000"), "network.dumbbell.bottleneck.rate: 10000000 has no unit"),
    "negative rate": (('"10 Mbit/s"', '"-10 Mbit/s"'), 'rate: "-10 Mbit/s": a rate must be greater than 0'),
    "zero rate": (('"10 Mbit/s"', '"0 Mbit/s"'), 'rate: "0 Mbit/s": a rate must be greater than 0'),
    "negative delay": (('"5 ms"', '"-5 ms"'), "network.dumbbell.bottleneck.delay"),
    "warm-up after the end": (('"1 s"', '"4 s"'), 'warm_up: "4 s" must be shorter than the duration'),
    "no duration": (('"4 s"', '"0 s"'), "duration: "),
    "queue of 0 packets": (('"100 packets"', '"0 packets"'), 'limit: "0 packets": a queue limit must be more than 0 packets'),
    "unknown host": (('to = "b"', 'to = "c"'), 'flows[0].to: unknown host "c"'),
    "flow to itself": (('to = "b"', 'to = "a"'), 'flows[0]: "from" and "to" are both "a"'),
    "no flows": (("count = 2", "count = 0"), "flows[0].count: must be greater than or equal to 1, not 0"),
    "empty name": (('name = "small"', 'name = ""'), 'name: must have at least 1 character, not ""'),
    "wrong type": (("count = 2", 'count = "2"'), 'flows[0].count: must be a valid integer, not "2"'),
    "no source": (('tcp = "newreno"', ""), "flows[0].tcp: this key is required"),
    "a source of its own": (
        ('tcp = "newreno"', 'constant_rate = { rate = "1 Mbit/s" }'),
        'flows[0]: unknown key "constant_rate"',
    ),
    "slow start of a rate": (
        ('tcp = "newreno"', 'tcp = { name = "cbr", slow_start = "hystart" }'),
        "flows[0].tcp: slow_start: cbr has no slow start, because it sends at a rate of its own",
    ),
    "unknown key of TFRC": (
        ('tcp = "newreno"', 'tcp = { name = "tfrc", loss_interval = 8 }'),
        'flows[0].tcp: unknown key of tfrc "loss_interval", did you mean "loss_intervals"?',
    ),
    "no loss interval": (
        ('tcp = "newreno"', 'tcp = { name = "tfrc", loss_intervals = 0 }'),
        "flows[0].tcp: loss_intervals: 0 is out of range (at least 1, at most 64)",
    ),
    "unknown codepoint": (
        ('tcp = "newreno"', 'tcp = "newreno"\ndscp = "EX"'),
        "flows[0].dscp: 'EX' is not a codepoint; known: DF, LE, CS0,",
    ),
    "codepoint of seven bits": (
        ('tcp = "newreno"', 'tcp = "newreno"\ndscp = 64'),
        "flows[0].dscp: 64 is not a codepoint",
    ),
    "unknown cells": (('delay = "5 ms"', 'delay = "5 ms", framing = "adsl"'), "framing: must be 'noatm', 'atm' or 'ptm'"),
    "too much overhead": (
        ('delay = "5 ms"', 'delay = "5 ms", overhead = "300 B"'),
        "overhead: must be less than or equal to 256",
    ),
    "stack of a source that only sends": (
        ('tcp = "newreno"', 'tcp = "cbr"\nstack = "ns3-3.30"'),
        "flows[0]: stack: cbr has no stack, because it only sends",
    ),
    "rate of zero": (
        ('tcp = "newreno"', 'tcp = { name = "cbr", rate = "0 Mbit/s" }'),
        "flows[0].tcp: rate: 0 bit/s is out of range (at least 1 bit/s)",
    ),
    "time on of nothing": (
        ('tcp = "newreno"', 'tcp = { name = "cbr", off = "1 s", on = "0 s" }'),
        "flows[0].tcp: on: 0 s is out of range (at least 1 us,",
    ),
    "packet too large": (
        ('tcp = "newreno"', 'tcp = { name = "cbr", packet_size = "70 kB" }'),
        "flows[0].tcp: packet_size: 70 kB is out of range (at least 1 B, at most 65535 B)",
    ),
    "missing key": (('duration = "4 s"', ""), "duration: this key is required"),
    "stop after the end": (("count = 2", 'stop = "9 s"'), 'flows[0].stop: "9 s" is after the end of the scenario'),
    "stop before the last start": (
        ("count = 2", 'start = "1 s"\nstart_within = "1 s"\nstop = "2 s"'),
        'flows[0].stop: "2 s" must be later than the last start, "2 s"',
    ),
    "negative stop": (("count = 2", 'stop = "-1 s"'), 'flows[0].stop: "-1 s": a duration must be 0 or more'),
    "no bandwidth-delay products": (
        ('"100 packets"', '"0 BDP"'),
        'network.dumbbell.bottleneck.queue: limit: "0 BDP": a queue limit must be more than 0 BDP',
    ),
    "products of something else": (
        ('"100 packets"', '"8 BDPs"'),
        'limit: "8 BDPs": unknown unit "BDPs", did you mean "BDP"?',
    ),
    "bandwidth-delay products as a threshold": (
        ('"codel", limit = "100 packets"', '"red", min = "1 BDP"'),
        'min: "1 BDP": unknown unit "BDP"',
    ),
    "late start": (("count = 2", 'start = "9 s"'), 'flows[0].start: "9 s" is after the end'),
    "broken TOML": (('name = "small"', "name = "), "not valid TOML: Invalid value (at line 2, column 8)"),
    "same name twice": (('name = "b"', 'name = "a"'), 'the host name "a" is given twice'),
    "unknown profile": (
        ("[network", '[stack]\nprofile = "rcf"\n[network'),
        'stack: unknown stack profile "rcf", did you mean "rfc"?',
    ),
    "unknown slow start": (('tcp = "newreno"', 'tcp = { name = "cubic", slow_start = "slow" }'), 'unknown slow start "slow"'),
}


@pytest.mark.parametrize(("replacement", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files(scenario_file: ScenarioFile, replacement: tuple[str, str], message: str) -> None:
    """A bad scenario file is a one-line error with the file, the key and what is allowed."""
    path = scenario_file(replacement)
    with pytest.raises(sojourn.InputError) as caught:
        sojourn.load(path)
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert message in line
    assert "\n" not in line


def test_further_problems_named(scenario_file: ScenarioFile) -> None:
    """A line about a bad file names the keys of all problems, so that one look mends them."""
    path = scenario_file(('duration = "4 s"', ""), ("count = 2", "count = 0"), ('name = "small"', ""))
    with pytest.raises(sojourn.InputError) as caught:
        sojourn.load(path)
    assert str(caught.value) == f"{path}: name: this key is required (also wrong: duration, flows[0].count)"


def test_unreadable_files(tmp_path: Path) -> None:
    """A missing file, a file that is not UTF-8 and a directory are clear errors."""
    with pytest.raises(sojourn.InputError, match=r"missing\.toml: No such file"):
        sojourn.load(tmp_path / "missing.toml")
    (tmp_path / "latin.toml").write_bytes('name = "Köln"'.encode("latin-1"))
    with pytest.raises(sojourn.InputError, match=r"latin\.toml: not UTF-8 \(byte 9\)"):
        sojourn.load(tmp_path / "latin.toml")
    with pytest.raises(sojourn.InputError, match="Is a directory"):
        sojourn.load(tmp_path)


def test_flows_need_routes(scenario: Callable[..., Scenario]) -> None:
    """Every flow needs a route, and every flow with feedback a route back."""
    links = [
        {"from": "a", "to": "r", "rate": "1 Mbit/s"},
        {"from": "r", "to": "b", "rate": "1 Mbit/s", "one_way": True},
        {"from": "x", "to": "y", "rate": "1 Mbit/s"},
    ]
    with pytest.raises(sojourn.InputError, match='no route from "a" to "x"'):
        sojourn.run(scenario(network={"links": links}, flows=[{"from": "a", "to": "x", "tcp": "cubic"}]))
    with pytest.raises(sojourn.InputError, match='no route from "b" to "a"'):
        sojourn.run(scenario(network={"links": links}, flows=[{"from": "a", "to": "b", "tcp": "cubic"}]))
    source = {"name": "cbr", "rate": "64 kbit/s", "packet_size": "200 B"}
    scenario(network={"links": links}, flows=[{"from": "a", "to": "b", "tcp": source}])
    with pytest.raises(sojourn.InputError, match='no route from "b" to "a"'):
        sojourn.run(scenario(network={"links": links}, flows=[{"from": "a", "to": "b", "tcp": "tfrc"}]))


def test_bdp_limit_needs_round_trip(scenario: Callable[..., Scenario]) -> None:
    """A limit in BDP needs a flow with feedback and a round-trip time above zero."""
    network = scenario_data()["network"]
    network["dumbbell"]["bottleneck"]["queue"]["limit"] = "8 BDP"
    scenario(network=network)
    with pytest.raises(
        InputError,
        match="queue left -> right: limit: 8 BDP need a round-trip time, but no flow with a return path crosses the link",
    ):
        sojourn.run(scenario(network=network, flows=[{"from": "a", "to": "b", "tcp": "cbr"}]))
    for host in (network["dumbbell"]["bottleneck"], *network["dumbbell"]["senders"], *network["dumbbell"]["receivers"]):
        host["delay"] = "0 s"
    with pytest.raises(
        InputError, match="queue left -> right: limit: 8 BDP at a base round-trip time of 0 s is 0 packets; must be at least 1"
    ):
        sojourn.run(scenario(network=network))


def test_device_queue_needs_queue(scenario: Callable[..., Scenario]) -> None:
    """A device queue applies to the direction that has a queue, and needs one."""
    data = scenario_data()["network"]
    data["dumbbell"]["bottleneck"]["device_queue"] = "100 packets"
    first, second, *rest = scenario(network=data).network.directed_links
    assert (first.device_queue, second.device_queue) == (100, 0)
    assert {link.device_queue for link in rest} == {0}
    data["dumbbell"]["senders"][0]["device_queue"] = "100 packets"
    with pytest.raises(InputError, match="senders\\[0\\]: device_queue needs a queue"):
        scenario(network=data)


def test_bad_drop_patterns(scenario: Callable[..., Scenario]) -> None:
    """A drop pattern is either `every` or `listed`, with positive numbers."""
    patterns: list[dict[str, object]] = [{}, {"every": 10, "listed": [3]}, {"every": 0}, {"listed": []}, {"listed": [0]}]
    for drop in patterns:
        links = [{"from": "a", "to": "b", "rate": "1 Mbit/s", "drop": drop}]
        with pytest.raises(sojourn.InputError, match="drop"):
            scenario(network={"links": links})


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_examples_load(path: Path) -> None:
    """Every example is a valid scenario with the name of its file."""
    assert {cell.scenario.name for cell in sojourn.expand(path).cells()} == {path.stem}


def test_number_of_examples() -> None:
    """The tests of all examples find all that there are."""
    assert len(list((ROOT / "examples").glob("*.toml"))) == 13


def specified(bottleneck: Mapping[str, object], **flow: object) -> RunSpecification:
    """The run of the small scenario with these settings of its bottleneck and its flows."""
    data = scenario_data(flows=[{"from": "a", "to": "b", "tcp": "newreno", **flow}])
    data["network"]["dumbbell"]["bottleneck"] |= bottleneck
    return specify(from_data(data, "test"), 1)


def test_codepoints_by_name() -> None:
    """Names stand for the values of RFC 2474, RFC 2597 section 6, RFC 3246, RFC 5865 and RFC 8622, numbers for themselves."""
    values = {"DF": None, "CS1": 0b001000, "CS7": 0b111000, "AF11": 0b001010, "AF23": 0b010110, "AF43": 0b100110}
    values |= {"EF": 0b101110, "VA": 0b101100, "LE": 0b000001, "ef": 0b101110}
    for name, value in values.items():
        assert specified({}, dscp=name)["flows"][0].get("dscp") == value, name
    assert specified({}, dscp=4)["flows"][0]["dscp"] == 4


def test_layers_of_a_link_in_both_directions() -> None:
    """What a link adds to each packet holds in both directions, and links without it have the specification they had."""
    layers = {"overhead": "40 B", "framing": "atm"}
    there, back, *hosts = specified(layers)["links"]
    assert there["framing"] == back["framing"] == {"overhead": 40, "mpu": 0, "framing": "atm"}
    assert not any("framing" in link for link in hosts)
    with pytest.raises(InputError, match="aggregation has a header of its own, so overhead, mpu and framing cannot be set"):
        specified({**layers, "aggregation": {}})


def test_cake_without_bandwidth_on_a_slow_link() -> None:
    """CAKE without bandwidth keeps its target where a packet takes longer, which is told.

    1514 bytes take 12.11 ms at 1 Mbit/s, and Linux's target at that bandwidth is 18.17 ms (net/sched/sch_cake.c, cake_set_rate).
    """
    (line,) = cautions.warnings(specified({"rate": "1 Mbit/s", "queue": "cake"}))
    assert line == (
        "cake on the link left -> right: its target of 5 ms is below the 12.11 ms of a packet, because it has no bandwidth; "
        'with bandwidth = "1 Mbit/s" it is 18.17 ms, as in Linux'
    )
    for rate, queue in [
        ("10 Mbit/s", {"name": "cake"}),
        ("1 Mbit/s", {"name": "cake", "bandwidth": "1 Mbit/s"}),
        ("1 Mbit/s", {"name": "cake", "target": "20 ms"}),
        ("1 Mbit/s", {"name": "codel"}),
    ]:
        assert cautions.warnings(specified({"rate": rate, "queue": queue})) == ()


def test_one_queue_for_both_directions() -> None:
    """`both_queues` is the same as two alike, and excludes either."""
    queue = {"name": "pie", "limit": "50 packets"}
    data = scenario_data()
    bottleneck = data["network"]["dumbbell"]["bottleneck"]
    del bottleneck["queue"]
    bottleneck["both_queues"] = queue
    assert specify(from_data(data, "test"), 1) == specified({"queue": queue, "reverse": {"queue": queue}}, count=2)
    with pytest.raises(InputError, match='both_queues: give either it or "queue"'):
        specified({"both_queues": "pie"})


@pytest.mark.parametrize("own", ["rate", "delay", "queue", "drop", "loss", "impairments", "aggregation"])
def test_former_keys_of_the_reverse_direction(own: str) -> None:
    """A key that is now in the table `reverse` is refused with the new one, in a file, of a change and in a path."""
    said = re.escape(f'unknown key "reverse_{own}", write reverse.{own}, or reverse = {{ {own} = ... }}')
    with pytest.raises(InputError, match=said):
        specified({f"reverse_{own}": "1 Mbit/s"})
    with pytest.raises(ValueError, match=said):
        paths.KeyPath.of(f"network.dumbbell.bottleneck.reverse_{own}.limit")
    if own in ("rate", "delay", "loss"):
        with pytest.raises(InputError, match=said):
            specified({"changes": [{"at": "1 s", f"reverse_{own}": 0.1}]})


def test_both_queues_beside_a_rate_of_the_reverse_direction() -> None:
    """`both_queues` leaves what else `reverse` says, and excludes a queue in it."""
    queue, data = {"name": "pie", "limit": "50 packets"}, scenario_data()
    bottleneck = data["network"]["dumbbell"]["bottleneck"]
    del bottleneck["queue"]
    bottleneck |= {"both_queues": queue, "reverse": {"rate": "1 Mbit/s"}}
    reverse = {"rate": "1 Mbit/s", "queue": queue}
    assert specify(from_data(data, "test"), 1) == specified({"queue": queue, "reverse": reverse}, count=2)
    bottleneck["reverse"] = reverse
    with pytest.raises(InputError, match=r'both_queues: give either it or "reverse\.queue"'):
        from_data(data, "test")


def test_fifos_by_what_they_count() -> None:
    """`pfifo` and `bfifo` are DropTail and count what they say, `fifo` either (tc-bfifo(8)); a limit in BDP is in packets."""
    limits = {"pfifo": ["50 packets", "2 BDP"], "bfifo": ["64 KiB"], "fifo": ["50 packets", "64 KiB"]}
    for name, given in limits.items():
        for limit in given:
            queue = specified({"queue": {"name": name, "limit": limit}})["links"][0]["queue"]
            assert queue == specified({"queue": {"name": "droptail", "limit": limit}})["links"][0]["queue"]
    with pytest.raises(InputError, match="limit: pfifo counts packets, bfifo bytes, and droptail either"):
        specified({"queue": {"name": "pfifo", "limit": "64 KiB"}})
    with pytest.raises(InputError, match="limit: bfifo counts bytes, pfifo packets, and droptail either"):
        specified({"queue": {"name": "bfifo", "limit": "2 BDP"}})


def test_step_that_marks_nobody() -> None:
    """A threshold marks packets of flows with ECN: those of a stack with it, and DCTCP's; if there are none, it is told."""
    (line,) = cautions.warnings(specified({"queue": "step"}))
    assert line.startswith("step on the link left -> right marks nobody and drops at its limit alone, because no flow has ECN")
    assert cautions.warnings(specified({"queue": "step"}, tcp="dctcp")) == ()
    assert cautions.warnings(specified({"queue": "step"}, stack={"ecn": "classic"})) == ()
    assert len(cautions.warnings(specified({"queue": "step"}, tcp="cbr"))) == 1


def test_changes_that_repeat() -> None:
    """A change is made again and again, and the mean rate is that of all of them: 5 of each 15 s at half the rate."""
    changes: list[dict[str, object]] = [
        {"at": "10 s", "rate": "5 Mbit/s", "every": "15 s", "spread": "1 s"},
        {"at": "15 s", "rate": "10 Mbit/s", "every": "15 s", "spread": "1 s"},
    ]
    data = scenario_data(duration="151 s")
    data["network"]["dumbbell"]["bottleneck"]["changes"] = changes
    run = specify(from_data(data, "test"), 1)
    assert run["links"][0]["changes"][0]["repeat"] == {"every": 15 * 10**12, "spread": 10**12}
    assert bottleneck_rate(run) == pytest.approx(10e6 - 5e6 / 3)
    for change, line in [
        ({"at": "1 s", "loss": 0.1, "spread": "1 s"}, 'spread: needs "every"'),
        ({"at": "1 s", "loss": 0.1, "every": "1 s", "spread": "1 s"}, 'spread: "1 s" must be shorter than every, "1 s"'),
        ({"at": "1 s", "every": "1 s"}, "give at least one of"),
    ]:
        with pytest.raises(InputError, match=line):
            specified({"changes": [change]})
