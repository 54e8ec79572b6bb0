"""The studies of papers that measured real hosts: their cells are those that the papers and the studies' READMEs describe."""

from typing import Any

import pytest

from sojourn import backends
from sojourn.specification import RunSpecification, flow_count
from sojourn.study import library

HANAI = library.load("hanai")
MAREEV = library.load("mareev")


def hanai(**axes: str) -> RunSpecification:
    return HANAI.matrix.cell({"delay": "1 ms", "tcp": "mixed", "p": "1/3", "queue": "droptail"} | axes).specification


def mareev(traffic: str, pair: str) -> RunSpecification:
    return MAREEV.matrix.cell({"traffic": traffic, "pair": pair}).specification


def ways(run: RunSpecification) -> list[tuple[str, str, str]]:
    """Returns origin, destination and algorithm of each group of flows."""
    nodes = run["nodes"]
    return [(nodes[flow["from"]], nodes[flow["to"]], flow["source"]["name"]) for flow in run["flows"]]


def links(run: RunSpecification) -> dict[tuple[str, str], dict[str, Any]]:
    """Returns the links by their ends."""
    return {(run["nodes"][link["from"]], run["nodes"][link["to"]]): link for link in run["links"]}


@pytest.mark.parametrize("study", [HANAI, MAREEV])
def test_cells_are_accepted(study: Any) -> None:
    """The simulator accepts every cell of both studies."""
    for cell in study.matrix.cells():
        backends.named("simulator").check(cell.specification, cell.given)


def test_hanai_cells() -> None:
    """Hanai: four queues and six more values of p, each at five delays."""
    points = list(HANAI.matrix.points())
    assert len(points) == 5 * (4 + 6)
    assert {point["p"] for point in points if point["queue"] != "codel_dynamic"} == {"1/3"}
    assert {point["queue"] for point in points if point["p"] != "1/3"} == {"codel_dynamic"}


@pytest.mark.parametrize("delay", ["1 ms", "4 ms", "8 ms", "16 ms", "64 ms"])
def test_hanai_delay_is_round_trip(delay: str) -> None:
    """Hanai's delay is the round-trip time without queueing."""
    run = links(hanai(delay=delay))
    there, back = run["left", "right"]["delay"], run["right", "left"]["delay"]
    assert there + back == int(delay.removesuffix(" ms")) * 10**9
    assert sum(link["delay"] for link in run.values()) == there + back


def test_hanai_hosts_and_queue() -> None:
    """Hanai: ten CUBIC and ten Compound connections, and Linux's default queue of 1000 packets."""
    run = hanai()
    assert ways(run) == [("linux", "server", "cubic"), ("windows", "server", "compound")]
    assert [flow["count"] for flow in run["flows"]] == [10, 10]
    assert flow_count(run) == 20
    assert links(run)["left", "right"]["queue"]["limit"] == {"packets": 1000}


@pytest.mark.parametrize("p", ["1", "1/2", "1/3", "1/4", "1/6", "1/10", "1/20"])
def test_hanai_drop_probability(p: str) -> None:
    """Hanai's p is the drop probability of the flows that are not the hungriest."""
    queue = links(hanai(queue="codel_dynamic", p=p))["left", "right"]["queue"]
    numerator, _, denominator = p.partition("/")
    assert queue["parameters"]["others_drop_probability"] == pytest.approx(int(numerator) / int(denominator or 1), rel=1e-15)


def test_hanai_static_method() -> None:
    """Hanai's static method has Linux as its hungriest group, and p = 1/3."""
    parameters = links(hanai(queue="codel_static"))["left", "right"]["queue"]["parameters"]
    assert (parameters["hungriest"], parameters["others_drop_probability"]) == ("linux", 1 / 3)


def test_mareev_opposite_flows() -> None:
    """Mareev: flows in opposite directions, each through a buffer of 1 BDP."""
    run = mareev("opposite", "cubic-bbr")
    assert ways(run) == [("usa", "mexico", "cubic"), ("canada", "cuba", "bbr")]
    assert run["flows"][1]["start"] + run["flows"][1]["start_within"] == run["warm_up"] == 50 * 10**12
    there, back = (links(run)[way] for way in (("left", "right"), ("right", "left")))
    product = there["rate"] // 8 * (there["delay"] + back["delay"]) // 10**12
    assert product == 2_500_000
    for link in (there, back):
        assert (link["queue"]["name"], link["queue"]["limit"]) == ("droptail", {"bytes": product})


@pytest.mark.parametrize(
    ("pair", "algorithm"),
    [("bbr-bbr", "bbr"), ("reno-reno", "newreno"), ("yeah-yeah", "yeah"), ("hstcp-hstcp", "hstcp"), ("cubic-cubic", "cubic")],
)
def test_mareev_like_pairs(pair: str, algorithm: str) -> None:
    """Mareev: pairs of the same algorithm are also run as a single flow."""
    assert ways(mareev("alone", pair)) == [("usa", "mexico", algorithm)]
    assert ways(mareev("opposite", pair)) == [("usa", "mexico", algorithm), ("canada", "cuba", algorithm)]


def test_mareev_late_cubic() -> None:
    """Mareev: a CUBIC flow joins two opposite BBR flows after 100 s."""
    run = mareev("opposite", "bbr-bbr+cubic")
    assert ways(run) == [("usa", "mexico", "bbr"), ("canada", "cuba", "bbr"), ("usa", "mexico", "cubic")]
    assert run["flows"][2]["start"] == 100 * 10**12
