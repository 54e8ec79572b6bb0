"""Every kind of traffic with every way to vary it: a run that conserves bytes and packets, or one line that says why not."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from sojourn.analysis.result import Result
from sojourn.errors import InputError
from sojourn.scenario import Scenario, from_data

#: What a flow carries.
KINDS: dict[str, dict[str, Any]] = {
    "bulk": {},
    "sized": {"size": "60 kB"},
    "page": {"page": {"objects": 4, "first": "8 kB", "size": "20 kB"}},
    "pages with random objects": {"page": {"objects": {"distribution": "exponential", "mean": 3}}},
    "multiplexed": {"page": {"objects": 4, "first": "8 kB", "size": "20 kB", "multiplexed": True}},
    "interleaved": {"page": {"objects": 4, "first": "8 kB", "size": "20 kB", "multiplexed": True, "interleaved": True}},
    "exchange": {"exchange": {"response": "20 kB", "count": 3, "think": "50 ms"}},
    "vectors": {"vectors": "tmix"},
    "video": {
        "video": {"rule": "bba2", "ladder": ["500 kbit/s", "1 Mbit/s"], "segment": "500 ms", "buffer": "5 s", "length": "1 s"}
    },
    "video of a file": {"video": {"rule": "bba1", "sizes": "sizes.csv", "segment": "500 ms", "buffer": "5 s", "length": "1 s"}},
    "periodic": {"periodic": {"size": "3 kB", "every": "100 ms"}},
    "voice": {"tcp": "voice"},
    "ping": {"tcp": "ping"},
    "cbr": {"tcp": {"name": "cbr", "rate": "200 kbit/s"}},
    "tfrc": {"tcp": "tfrc"},
}
SESSIONS = {"page", "pages with random objects", "multiplexed", "interleaved", "exchange", "vectors", "video", "video of a file"}
WITHOUT_CONNECTION = {"voice", "ping", "cbr", "tfrc"}
ONE_WAY = {"voice", "cbr"}

POISSON = {"process": "poisson", "rate": 3}

#: How flows, links and stacks vary: keys of the flow, of the bottleneck, and of the stack.
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "as it is": ({}, {}, {}),
    "both ways": ({"both_ways": True}, {}, {}),
    "arrivals": ({"arrivals": POISSON}, {}, {}),
    "arrivals both ways": ({"arrivals": POISSON, "both_ways": True}, {}, {}),
    "users": ({"arrivals": {"users": 2, "think": "200 ms"}}, {}, {}),
    "file of arrivals": ({"arrivals": {"file": "times.csv"}}, {}, {}),
    "several": ({"count": 2}, {}, {}),
    "stopped": ({"stop": "1500 ms"}, {}, {}),
    "ack filter": ({}, {"reverse": {"queue": "ack_filter"}}, {}),
    "ack filter both ways": ({"both_ways": True}, {"reverse": {"queue": "ack_filter", "rate": "1 Mbit/s"}}, {}),
    "ack filter of cake": ({}, {"reverse": {"queue": {"name": "cake", "ack_filter": "aggressive"}}}, {}),
    "send offload": ({}, {}, {"send_offload": True}),
    "receive offload": ({}, {}, {"receive_offload": "50 us"}),
    "both offloads": ({"both_ways": True}, {}, {"send_offload": True, "receive_offload": "50 us"}),
    "slow reader": ({}, {}, {"receive_buffer": "20 kB", "reading_rate": "1 Mbit/s"}),
    "reordering": ({}, {"impairments": {"jitter": {"mean": "2 ms", "reorders": True}, "duplication": 0.05}}, {}),
    "losses": ({}, {"loss": 0.02, "reverse": {"loss": 0.02}}, {}),
    "frames": ({}, {"aggregation": {}}, {}),
}
TOPOLOGIES = ("dumbbell", "links", "groups")

RATE, DURATION = 4e6, 2.5


def network(topology: str, link: Mapping[str, Any]) -> dict[str, Any]:
    """A path of 4 Mbit/s and some milliseconds from "a" to "b", of one host each or of groups of two."""
    edge = {"rate": "100 Mbit/s", "delay": "1 ms"}
    bottleneck = {"rate": "4 Mbit/s", "delay": "5 ms", "queue": {"name": "droptail", "limit": "30 packets"}, **link}
    if topology == "links":
        return {"links": [{"from": "a", "to": "router", **edge}, {"from": "router", "to": "b", **bottleneck}]}
    count = {"count": 2} if topology == "groups" else {}
    hosts = {side: [{"name": name, **edge, **count}] for side, name in (("senders", "a"), ("receivers", "b"))}
    return {"dumbbell": {**hosts, "bottleneck": bottleneck}}


def refusal(kind: str, variant: str, topology: str) -> str | None:
    """A part of the line that refuses a combination; none if it is run."""
    flow, _, stack = VARIANTS[variant]
    arrivals = flow.get("arrivals")
    if stack and kind in ONE_WAY:
        return "has no stack"
    if kind == "vectors":
        if arrivals is not None:
            return "arrivals: the file of vectors says when connections begin"
        if "count" in flow:
            return "count: the file of vectors says"
        if topology == "groups" or "both_ways" in flow:
            return "vectors: the flows of a file run between one pair of hosts"
    if arrivals is None:
        return None
    if kind in WITHOUT_CONNECTION:
        return "arrivals: "
    if "file" in arrivals and kind != "bulk":
        return "arrivals.file: a file has transfers" if kind != "sized" else "size: the file of arrivals has the sizes"
    if kind == "periodic":
        return "periodic: a session never ends"
    if kind == "bulk" and "file" not in arrivals:
        return 'arrivals: give "size"'
    if "file" in arrivals and topology == "groups":
        return "arrivals.file: the flows of a file run between one pair of hosts"
    return None


def combinations() -> Iterator[tuple[str, str, str]]:
    """All of them."""
    return ((kind, variant, topology) for kind in KINDS for variant in VARIANTS for topology in TOPOLOGIES)


def scenario(kind: str, variant: str, topology: str) -> dict[str, Any]:
    """The combination as a scenario file has it."""
    varied, link, stack = VARIANTS[variant]
    flow = {"from": "a", "to": "b", "tcp": "cubic", **KINDS[kind], **varied}
    if "arrivals" not in varied and kind != "vectors":
        flow["start_within"] = "100 ms"
    if stack:
        flow["stack"] = stack
    return {"name": "combination", "duration": f"{DURATION} s", "network": network(topology, link), "flows": [flow]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the kinds and variants name."""
    folder = tmp_path_factory.mktemp("combinations")
    (folder / "times.csv").write_text("time_s,bytes\n0.1,20000\n0.3,50000\n")
    (folder / "tmix").write_text(
        "S 100000 2 0 1\nI 0 0 300\nA 0 1000 30000\nC 200000 2 1 0 2\nI 0 0 5000\nI 90000 0 100\nA 0 0 9000\n"
    )
    (folder / "sizes.csv").write_text("low,high\n20000,40000\n50000,90000\n")
    return folder


def check_conservation(result: Result, data: Mapping[str, Any]) -> None:
    """What entered a queue left it, was dropped or is in it; what is complete has arrived; no link carried more than its rate."""
    for queue in result.queues.rows(named=True):
        assert queue["total_arrivals"] == queue["total_departures"] + queue["total_drops"] + queue["queued_at_end"], queue["link"]
    # A page is the sum of its requests.
    rows = result.transfers.filter(pl.col("kind") != "page").group_by("flow").agg(pl.col("bytes").sum())
    complete = dict(rows.iter_rows())
    delivered = dict(result.flows.select("flow", "total_bytes_delivered").iter_rows())
    for flow, size in complete.items():
        assert size <= (delivered[flow] or 0), f"flow {flow}: {size} complete, {delivered[flow]} delivered"
    both_ways = 2 if data["flows"][0].get("both_ways") else 1
    assert sum(each or 0 for each in delivered.values()) * 8 <= both_ways * RATE * DURATION


def read(data: Mapping[str, Any], folder: Path) -> tuple[Scenario | None, str]:
    """The scenario, or the line that refuses it."""
    try:
        return from_data(data, "combination.toml", folder), ""
    except InputError as error:
        return None, str(error)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("kind", KINDS)
def test_each_with_each(kind: str, topology: str, folder: Path) -> None:
    """A combination is refused in the line that the table says, or run; then bytes and packets are conserved."""
    for variant in VARIANTS:
        expected = refusal(kind, variant, topology)
        data, what = scenario(kind, variant, topology), f"{kind}, {variant}, {topology}"
        checked, complaint = read(data, folder)
        assert (expected or "") in complaint, what
        assert (complaint == "") == (expected is None), f"{what}: {complaint or 'is not refused'}"
        assert complaint == "" or complaint.isprintable(), what
        if checked is None:
            continue
        result = sojourn.run(checked)
        check_conservation(result, data)
        assert result.queues.filter(pl.col("total_departures") > 0).height > 0, what
        if (
            kind in SESSIONS | {"sized"}
            and "stop" not in data["flows"][0]
            and variant not in ("slow reader", "losses", "reordering")
        ):
            assert result.transfers.height > 0, what
