import json
from collections.abc import Callable

from conftest import scenario_data
from sojourn import catalogue
from sojourn.scenario import Scenario
from sojourn.specification import bottleneck_rate, flow_count, specify, text

MS = 10**9


def test_dumbbell(scenario: Callable[..., Scenario]) -> None:
    """A dumbbell becomes nodes and directed links, the bottleneck first, in base units."""
    run = specify(scenario(), seed=7)
    assert run["seed"] == 7
    assert run["duration"] == 4000 * MS
    assert run["warm_up"] == 1000 * MS
    assert run["nodes"] == ["a", "left", "right", "b"]
    ways = [(link["from"], link["to"], link["rate"], link["delay"]) for link in run["links"]]
    assert ways == [
        (1, 2, 10**7, 5 * MS),  # the bottleneck is first, since summaries describe the first queue
        (2, 1, 10**7, 5 * MS),
        (0, 1, 10**8, MS),
        (1, 0, 10**8, MS),
        (3, 2, 10**8, MS),
        (2, 3, 10**8, MS),
    ]
    assert [link["queue"] is not None for link in run["links"]] == [True, False, False, False, False, False]
    assert bottleneck_rate(run) == 10**7
    assert flow_count(run) == 2


def test_defaults_are_filled_in(scenario: Callable[..., Scenario]) -> None:
    """A specification has a value for every parameter and setting."""
    run = specify(scenario(flows=[{"from": "a", "to": "b", "tcp": {"name": "cubic", "c": 0.5}}]), seed=1)
    known = catalogue.load()
    defaults = {parameter.name: parameter.default for parameter in known.congestion_control("cubic").parameters}
    tcp = run["flows"][0]["source"]
    assert tcp == {"name": "cubic", "slow_start": "standard", "parameters": defaults | {"c": 0.5}, "stack": 0}
    queue = run["links"][0]["queue"]
    assert queue["limit"] == {"packets": 100}
    assert set(queue["parameters"]) == {parameter.name for parameter in known.queue("codel").parameters}
    assert run["stacks"] == [{setting.name: setting.value for setting in known.profile("rfc").settings}]


def test_rate_based_sources(scenario: Callable[..., Scenario]) -> None:
    """Rate-based sources have the same keys in a specification as TCP."""
    sources = [{"name": "cbr", "rate": "64 kbit/s", "off": "1.35 s"}, {"name": "tfrc", "history_discounting": True}]
    run = specify(scenario(flows=[{"from": "a", "to": "b", "tcp": source} for source in sources]), seed=1)
    cbr, tfrc = (flow["source"] for flow in run["flows"])
    assert cbr == {
        "name": "cbr",
        "slow_start": "standard",
        "parameters": {
            "rate": 64_000,
            "packet_size": 210,
            "poisson": False,
            "on": 500 * MS,
            "off": 1350 * MS,
            "exponential": False,
        },
        "stack": 0,
    }
    assert set(cbr) == set(tfrc)
    assert tfrc["parameters"]["history_discounting"] is True


def test_stacks(scenario: Callable[..., Scenario]) -> None:
    """A flow's stack overrides the scenario's, which overrides the profile; equal stacks are stored once."""
    pair = {"from": "a", "to": "b", "tcp": "newreno"}
    run = specify(
        scenario(
            stack={"profile": "rfc", "minimum_rto": "300 ms"},
            flows=[
                pair,
                pair | {"stack": {"maximum_rto": "90 s"}},
                pair | {"stack": "ns3-3.30"},
                pair | {"stack": {"minimum_rto": "300 ms"}},
            ],
        ),
        seed=1,
    )
    assert [flow["source"]["stack"] for flow in run["flows"]] == [0, 1, 2, 0]
    rfc = {setting.name: setting.value for setting in catalogue.load().profile("rfc").settings}
    ns3 = {setting.name: setting.value for setting in catalogue.load().profile("ns3-3.30").settings}
    assert run["stacks"] == [
        rfc | {"minimum_rto": 300 * MS},
        rfc | {"minimum_rto": 300 * MS, "maximum_rto": 90_000 * MS},
        ns3,
    ]


def test_profile_sets_algorithm_defaults(scenario: Callable[..., Scenario]) -> None:
    """A profile's default of an algorithm's parameter holds for flows of that profile, unless the scenario sets the parameter."""
    pair = {"from": "a", "to": "b"}
    own = pair | {"tcp": {"name": "hstcp", "rules": "published"}}
    other = pair | {"tcp": "hstcp", "stack": "rfc"}
    changed = pair | {"tcp": "hstcp", "stack": {"minimum_rto": "1 s"}}
    run = specify(scenario(stack="linux-6", flows=[pair | {"tcp": "hstcp"}, own, other, changed]), seed=1)
    assert [flow["source"]["parameters"]["rules"] for flow in run["flows"]] == ["linux", "published", "published", "linux"]
    control = catalogue.load().congestion_control("hstcp")
    assert run["flows"][0]["source"]["parameters"].keys() == {parameter.name for parameter in control.parameters}


def test_host_queue(scenario: Callable[..., Scenario]) -> None:
    """A host of a dumbbell may have its own queue."""
    network = scenario_data()["network"]
    network["dumbbell"]["senders"][0]["queue"] = {"name": "droptail", "limit": "50 packets"}
    run = specify(scenario(network=network), seed=1)
    queued = [(link["from"], link["to"], link["queue"]["limit"]) for link in run["links"] if link["queue"] is not None]
    assert queued == [(1, 2, {"packets": 100}), (0, 1, {"packets": 50})]


def test_all_pairs_of_hosts(scenario: Callable[..., Scenario]) -> None:
    """Lists of hosts mean a group of flows for each pair."""
    network = scenario_data()["network"]
    network["dumbbell"]["receivers"].append({"name": "c", "rate": "1 Mbit/s"})
    run = specify(scenario(network=network, flows=[{"from": "a", "to": ["b", "c"], "count": 5, "tcp": "cubic"}]), seed=1)
    assert [(flow["group"], flow["count"]) for flow in run["flows"]] == [("a-b", 5), ("a-c", 5)]


def test_unnamed_groups_differ(scenario: Callable[..., Scenario]) -> None:
    """Entries without a name are groups of their own, also between the same hosts; a name that is given twice is one group."""
    given = [None, "a-b 2", None, "mine", "mine", None]
    flows = [{"from": "a", "to": "b", "tcp": "cubic", "group": name} for name in given]
    named = [flow["group"] for flow in specify(scenario(flows=flows), seed=1)["flows"]]
    assert named == ["a-b", "a-b 2", "a-b 3", "mine", "mine", "a-b 4"]


def test_graph_of_links(scenario: Callable[..., Scenario]) -> None:
    """A network of links becomes nodes in order of appearance and two directed links each, unless one-way."""
    links = [
        {"from": "a", "to": "b", "rate": "1 Mbit/s", "queue": "droptail", "drop": {"listed": [3, 5]}},
        {"from": "b", "to": "c", "rate": "2 Mbit/s", "delay": "3 ms", "one_way": True, "drop": {"every": 9}},
        {"from": "c", "to": "a", "rate": "3 Mbit/s", "reverse": {"queue": {"name": "pie", "limit": "9 kB"}}},
    ]
    run = specify(scenario(network={"links": links}), seed=1)
    assert run["nodes"] == ["a", "b", "c"]
    assert [(link["from"], link["to"]) for link in run["links"]] == [(0, 1), (1, 0), (1, 2), (2, 0), (0, 2)]
    assert run["links"][0]["queue"]["limit"] is None
    assert run["links"][0]["drop"] == {"listed": [3, 5]}
    assert run["links"][2]["drop"] == {"every": 9}
    assert run["links"][4]["queue"]["limit"] == {"bytes": 9000}


def test_text_is_json(scenario: Callable[..., Scenario]) -> None:
    """The text of a specification is JSON of the same data."""
    run = specify(scenario(), seed=1)
    assert json.loads(text(run)) == run


def test_bdp_in_specification(scenario: Callable[..., Scenario]) -> None:
    """Limits in BDP reach the engine as they are written; the engine resolves them."""

    def limit(text: str) -> object:
        link = {"from": "a", "to": "b", "rate": "1 Mbit/s", "queue": {"name": "red", "limit": text}}
        return specify(scenario(network={"links": [link]}), seed=1)["links"][0]["queue"]["limit"]

    assert json.dumps(limit("8 BDP")) == '{"bandwidth_delay_products": 8}'
    assert json.dumps(limit("0.5 BDP")) == '{"bandwidth_delay_products": 0.5}'


def test_stop_in_picoseconds(scenario: Callable[..., Scenario]) -> None:
    """Stop times are in picoseconds, and null if not given."""
    flows = [{"from": "a", "to": "b", "tcp": "cubic", "stop": "3 s"}, {"from": "a", "to": "b", "tcp": "cubic"}]
    assert [flow["stop"] for flow in specify(scenario(flows=flows), seed=1)["flows"]] == [3000 * MS, None]
