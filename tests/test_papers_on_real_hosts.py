"""The studies of papers that measured real hosts: what they run is what the papers and the studies' READMEs say."""

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
    """Each group of flows: from where, to where, and the algorithm."""
    nodes = run["nodes"]
    return [(nodes[flow["from"]], nodes[flow["to"]], flow["source"]["name"]) for flow in run["flows"]]


def links(run: RunSpecification) -> dict[tuple[str, str], dict[str, Any]]:
    """The links by their ends."""
    return {(run["nodes"][link["from"]], run["nodes"][link["to"]]): link for link in run["links"]}


@pytest.mark.parametrize("study", [HANAI, MAREEV])
def test_the_engine_takes_every_cell(study: Any) -> None:
    for cell in study.matrix.cells():
        backends.named("simulator").check(cell.specification, cell.given)


def test_hanai_has_four_queues_at_five_delays_and_six_more_values_of_p() -> None:
    points = list(HANAI.matrix.points())
    assert len(points) == 5 * (4 + 6)
    assert {point["p"] for point in points if point["queue"] != "codel_dynamic"} == {"1/3"}
    assert {point["queue"] for point in points if point["p"] != "1/3"} == {"codel_dynamic"}


@pytest.mark.parametrize("delay", ["1 ms", "4 ms", "8 ms", "16 ms", "64 ms"])
def test_hanais_delay_is_there_and_back(delay: str) -> None:
    run = links(hanai(delay=delay))
    there, back = run["left", "right"]["delay"], run["right", "left"]["delay"]
    assert there + back == int(delay.removesuffix(" ms")) * 10**9
    assert sum(link["delay"] for link in run.values()) == there + back


def test_hanai_has_ten_connections_of_each_host_and_linuxs_queue() -> None:
    run = hanai()
    assert ways(run) == [("linux", "server", "cubic"), ("windows", "server", "compound")]
    assert [flow["count"] for flow in run["flows"]] == [10, 10]
    assert flow_count(run) == 20
    assert links(run)["left", "right"]["queue"]["limit"] == {"packets": 1000}


@pytest.mark.parametrize("p", ["1", "1/2", "1/3", "1/4", "1/6", "1/10", "1/20"])
def test_hanais_p_is_the_share_of_drops_that_the_others_suffer(p: str) -> None:
    queue = links(hanai(queue="codel_dynamic", p=p))["left", "right"]["queue"]
    numerator, _, denominator = p.partition("/")
    assert queue["parameters"]["others_drop_probability"] == pytest.approx(int(numerator) / int(denominator or 1), rel=1e-15)


def test_hanais_static_method_is_told_that_linux_is_the_hungriest() -> None:
    parameters = links(hanai(queue="codel_static"))["left", "right"]["queue"]["parameters"]
    assert (parameters["hungriest"], parameters["others_drop_probability"]) == ("linux", 1 / 3)


def test_mareevs_flows_go_against_each_other_through_a_bandwidth_delay_product_each_way() -> None:
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
def test_mareevs_like_pairs_have_each_algorithm_alone_too(pair: str, algorithm: str) -> None:
    assert ways(mareev("alone", pair)) == [("usa", "mexico", algorithm)]
    assert ways(mareev("opposite", pair)) == [("usa", "mexico", algorithm), ("canada", "cuba", algorithm)]


def test_a_cubic_flow_joins_two_opposite_bbr_flows() -> None:
    run = mareev("opposite", "bbr-bbr+cubic")
    assert ways(run) == [("usa", "mexico", "bbr"), ("canada", "cuba", "bbr"), ("usa", "mexico", "cubic")]
    assert run["flows"][2]["start"] == 100 * 10**12
