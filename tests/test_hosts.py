"""Hosts in groups, and delays that differ between them."""

from collections.abc import Mapping
from typing import Any

import pytest

import sojourn
from sojourn.backends.identity import Identity
from sojourn.campaign import randomness
from sojourn.errors import InputError
from sojourn.runs import Cell, requests
from sojourn.scenario import Scenario, from_data
from sojourn.scenario.hosts import MOST_HOSTS
from sojourn.specification import RunSpecification, specify, text

MS = 10**9
FAST = "1 Gbit/s"


def dumbbell(*senders: Mapping[str, Any], **flows: Any) -> dict[str, Any]:
    bottleneck = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": "droptail"}
    receivers = [{"name": "b", "rate": FAST}]
    return {
        "name": "groups",
        "duration": "2 s",
        "sender_overhead": "0 s",
        "network": {"dumbbell": {"bottleneck": bottleneck, "senders": list(senders), "receivers": receivers}},
        "flows": [{"from": "lan", "to": "b", "tcp": "cubic", **flows}],
    }


def run_of(given: Mapping[str, Any], seed: int = 1) -> RunSpecification:
    return specify(Scenario.of(given), seed)


def delays(given: Mapping[str, Any], seed: int = 1) -> list[int]:
    """The delays of the links of the senders' hosts, in their order."""
    run = run_of(given, seed)
    hosts = [place for place, node in enumerate(run["nodes"]) if node.startswith("lan")]
    return [link["delay"] for host in hosts for link in run["links"] if link["from"] == host]


def test_group_is_written_out() -> None:
    """A group of a dumbbell is the same run as its hosts written one by one."""
    queue = {"name": "droptail", "limit": "50 packets"}
    grouped = dumbbell({"name": "lan", "count": 3, "rate": FAST, "queue": queue}, group="all")
    hosts = [{"name": f"lan{number}", "rate": FAST, "queue": queue} for number in (1, 2, 3)]
    written = dumbbell(*hosts, **{"from": ["lan1", "lan2", "lan3"]}, group="all")
    assert text(run_of(grouped)) == text(run_of(written))


def test_group_in_links() -> None:
    """A link that names a group is one for each host of it, in the direction in which it is written."""

    def given(hosts: list[Any], links: list[Any], senders: Any) -> dict[str, Any]:
        flows = [{"from": senders, "to": "b", "tcp": "cubic", "group": "all"}]
        return {"name": "groups", "duration": "2 s", "network": {"hosts": hosts, "links": links}, "flows": flows}

    access = {"rate": FAST, "delay": "2 ms", "reverse": {"rate": "5 Mbit/s", "loss": 0.01}}
    last = {"from": "r", "to": "b", "rate": "10 Mbit/s"}
    grouped = given([{"name": "lan", "count": 2}], [{"from": "r", "to": "lan", **access}, last], "lan")
    written = given([], [*({"from": "r", "to": f"lan{number}", **access} for number in (1, 2)), last], ["lan1", "lan2"])
    assert text(run_of(grouped)) == text(run_of(written))


def test_range_of_hosts() -> None:
    """Flows may name a part of a group, and their group in results is what the scenario calls the hosts."""
    run = run_of(dumbbell({"name": "lan", "count": 12, "rate": FAST}, **{"from": ["lan9..lan11", "lan1"]}))
    assert [(run["nodes"][flow["from"]], flow["group"]) for flow in run["flows"]] == [
        *((f"lan{number}", "lan9..lan11-b") for number in (9, 10, 11)),
        ("lan1", "lan1-b"),
    ]
    assert {flow["group"] for flow in run_of(dumbbell({"name": "lan", "count": 12, "rate": FAST}))["flows"]} == {"lan-b"}


def test_equal_steps_and_ratios() -> None:
    """A range begins and ends with its ends, in equal steps or in equal ratios."""

    def of(**delay: str) -> list[int]:
        return delays(dumbbell({"name": "lan", "count": 5, "rate": FAST, "delay": delay}))

    assert of(range="10 ms..50 ms") == [10 * MS, 20 * MS, 30 * MS, 40 * MS, 50 * MS]
    assert of(range="1 ms..81 ms", spacing="log") == [MS, 3 * MS, 9 * MS, 27 * MS, 81 * MS]
    assert delays(dumbbell({"name": "lan", "count": 1, "rate": FAST, "delay": {"range": "1 ms..2 ms"}})) == [MS]


def test_drawn_delays() -> None:
    """Drawn delays are uniform in the range, the same in both directions, decided by the seed, and each by itself."""
    count = 1000

    def of(count: int, seed: int) -> list[int]:
        drawn = {"name": "lan", "count": count, "rate": FAST, "delay": {"range": "10 ms..40 ms", "spacing": "random"}}
        return delays(dumbbell(drawn), seed)

    found = of(count, 1)
    assert 10 * MS <= min(found) < 10.3 * MS
    assert 39.7 * MS < max(found) <= 40 * MS
    # Kolmogorov's statistic is below 1.95 / sqrt(n) with a probability of 0.999.
    shares = sorted((delay - 10 * MS) / (30 * MS) for delay in found)
    assert max(abs(share - place / count) for place, share in enumerate(shares)) < 1.95 / count**0.5
    assert of(count, 1) == found
    assert of(3, 1) == found[:3]
    assert not set(of(count, 2)) & set(found)
    run = run_of(dumbbell({"name": "lan", "count": 3, "rate": FAST, "delay": {"range": "1 ms..9 ms", "spacing": "random"}}))
    ways = {(link["from"], link["to"]): link["delay"] for link in run["links"]}
    assert all(ways[target, origin] == delay for (origin, target), delay in ways.items())
    assert ("delays", "of hosts") in randomness.parts(run)


def test_drawn_delays_of_repetitions() -> None:
    """The runs of a cell have delays of their own, those that the scenario has with their seeds, and are asked for by them."""
    given = dumbbell({"name": "lan", "count": 3, "rate": FAST, "delay": {"range": "1 ms..9 ms", "spacing": "random"}})
    planned = Cell({}, Scenario.of(given))
    runs = [planned.run(repetition, Identity("simulator", "1", "")) for repetition in range(3)]
    assert [run.text for run in runs] == [text(run_of(given, seed)) for seed in (1, 2, 3)]
    assert list(requests(runs[1].text, (1, 2, 3))) == [run.request for run in runs]
    found = sojourn.run(given, seeds=2).flows
    assert found.filter(seed=1)["rtt_min"].to_list() != found.filter(seed=2)["rtt_min"].to_list()


def test_round_trips_of_group() -> None:
    """The least RTT of each flow is twice the delays of its path and the transmission of a segment and its ACK."""
    lan = {"name": "lan", "count": 3, "rate": FAST, "delay": {"range": "10 ms..50 ms"}}
    found = sojourn.run(from_data(dumbbell(lan, start="0 s", size="1 kB"), "a scenario")).flows["rtt_min"].to_list()
    for rtt, delay in zip(found, (0.01, 0.03, 0.05), strict=True):
        assert 2 * (delay + 0.01) < rtt < 2 * (delay + 0.01) + 0.001


@pytest.mark.parametrize(
    ("sender", "flows", "expected"),
    [
        ({"count": 0}, {}, "network.dumbbell.senders[0].count: must be greater than or equal to 1"),
        ({"count": MOST_HOSTS + 1}, {}, "network.dumbbell.senders[0].count: must be less than or equal to 1000"),
        ({"delay": {"range": "1 ms..2 ms"}}, {}, "delay: a range needs a group of hosts; give their count"),
        ({"count": 2, "delay": {"range": "2 ms..1 ms"}}, {}, "the second end must be greater than the first"),
        ({"count": 2, "delay": {"range": "2 ms"}}, {}, "'2 ms' is not a range; write its two ends"),
        ({"count": 2, "delay": {"range": "0 ms..2 ms", "spacing": "log"}}, {}, "a logarithmic range must begin above 0"),
        ({"count": 2, "delay": {"range": "0 ms..2 ms", "spacing": "even"}}, {}, 'unknown spacing "even"'),
        ({"count": 2, "delay": {"from": "1 ms"}}, {}, 'unknown key "from"'),
        ({"count": 2}, {"from": "lan3"}, 'flows[0].from: unknown host "lan3", did you mean "lan"? (known: lan, b)'),
        ({"count": 2}, {"from": "lan2..lan1"}, 'flows[0].from: unknown host "lan2..lan1"'),
        ({"count": 2}, {"to": "lan1"}, 'flows[0]: "from" and "to" are both "lan1"'),
        ({"count": MOST_HOSTS}, {"to": "lan"}, "flows[0].from: 1,000,000 pairs of hosts; at most 100,000"),
    ],
)
def test_bad_groups_are_refused(sender: Mapping[str, Any], flows: Mapping[str, Any], expected: str) -> None:
    """A group or a range that cannot be is one line with its key."""
    with pytest.raises(InputError) as caught:
        from_data(dumbbell({"name": "lan", "rate": FAST, **sender}, **flows), "a scenario")
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ({"hosts": [{"name": "lan", "count": 2}], "links": [{"from": "a", "to": "b"}]}, 'no link has the group "lan"'),
        ({"hosts": [{"name": "a", "count": 2}] * 2, "links": [{"from": "a", "to": "b"}]}, 'the group "a" is given twice'),
        (
            {"hosts": [{"name": "a", "count": 2}, {"name": "b", "count": 2}], "links": [{"from": "a", "to": "b"}]},
            "only one end may be a group",
        ),
        ({"links": [{"from": "a", "to": "b", "delay": {"range": "1 ms..2 ms"}}]}, "a range needs a group of hosts"),
        (
            {"hosts": [{"name": "a", "count": 2}], "links": [{"from": "a", "to": "b"}, {"from": "a1", "to": "b"}]},
            'two links from "a1" to "b"',
        ),
    ],
)
def test_bad_groups_of_links(network: dict[str, Any], expected: str) -> None:
    """A group of a list of links that no link has, or that has no clear links, is one line."""
    links = [{"rate": FAST, **link} for link in network["links"]]
    flows = [{"from": "a", "to": "b", "tcp": "cubic"}]
    with pytest.raises(InputError) as caught:
        from_data({"name": "x", "duration": "1 s", "network": {**network, "links": links}, "flows": flows}, "a scenario")
    assert expected in str(caught.value)


def test_names_of_groups_are_unique() -> None:
    """A host of a group may not be called as another host or a router of the dumbbell."""
    for other in ("lan2", "lan"):
        given = dumbbell({"name": "lan", "count": 2, "rate": FAST}, {"name": other, "rate": FAST})
        with pytest.raises(InputError, match=f'the host name "{other}" is given twice'):
            from_data(given, "a scenario")
