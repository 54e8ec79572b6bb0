from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import sojourn
from doubles import Inventor
from sojourn.metrics import METRICS, of_group
from sojourn.results import Result, columns
from sojourn.scenario import Scenario
from sojourn.specification import long_lived, specify

MakeScenario = Callable[..., Scenario]

CALL = {"name": "cbr", "rate": "80 kbit/s", "packet_size": "200 B"}


def entry(group: str, **keys: Any) -> dict[str, Any]:
    return {"from": "a", "to": "b", "group": group, "tcp": "cubic"} | keys


@pytest.fixture
def mixed(scenario: MakeScenario) -> Result:
    """Two downloads, an upload in two entries, and a call, with two seeds."""
    flows = [
        entry("downloads", count=2, start_within="200 ms"),
        entry("upload", **{"from": "b", "to": "a"}, start_within="200 ms"),
        entry("call", tcp=CALL),
        entry("upload", **{"from": "b", "to": "a"}, tcp="newreno", size="100 kB"),
    ]
    return sojourn.run(scenario(flows=flows), 2)


def test_groups_make_the_run(mixed: Result) -> None:
    """Flows and throughput of a run are the sums over its groups, and shares add up to 100 %."""
    assert mixed.groups["flow_group"].to_list() == ["downloads", "upload", "call"] * 2
    assert mixed.groups["algorithm"].to_list() == ["cubic", "cubic+newreno", "cbr"] * 2
    assert mixed.groups.columns == ["key", "scenario", "seed", *columns("groups")]
    summed = ["flow_count", "long_lived_count", "total_mbps", "retransmissions", "timeouts"]
    sums = mixed.groups.group_by("key", maintain_order=True).agg(pl.col(*summed, "share_pct", "link_share_pct").sum())
    for column in summed:
        assert sums[column].to_list() == pytest.approx(mixed.runs[column].to_list())
    assert sums["share_pct"].to_list() == pytest.approx([100, 100])
    assert (sums["link_share_pct"] * mixed.runs["bottleneck_mbps"] / 100).to_list() == pytest.approx(sums["total_mbps"].to_list())


def test_group_metrics_from_flows(mixed: Result) -> None:
    """Mean throughput, RTT and retransmission ratio of a group are those of its rows of flows."""
    flows = mixed.flows.filter(flow_group="downloads").group_by("key", maintain_order=True)
    found = flows.agg(
        avg_mbps=pl.col("bytes_delivered").mean() * 8e-6 / 3,
        rtt_mean_s=(pl.col("rtt_samples") * pl.col("rtt_mean")).sum() / pl.col("rtt_samples").sum(),
        retransmitted_pct=100 * pl.col("retransmissions").sum() / pl.col("segments_sent").sum(),
    )
    groups = mixed.groups.filter(flow_group="downloads")
    for metric in found.columns[1:]:
        assert groups[metric].to_list() == pytest.approx(found[metric].to_list())
    assert mixed.groups.filter(flow_group="call")["rtt_mean_s"].null_count() == 2


def test_only_group_is_run(scenario: MakeScenario) -> None:
    """The metrics of the only group of a run are those of the run."""
    result = sojourn.run(scenario(), 2, backend=Inventor())
    shared = [metric.name for metric in of_group() if metric.of_run]
    assert result.groups.select(shared).equals(result.runs.select(shared))
    assert result.groups["share_pct"].to_list() == [100, 100]


@pytest.mark.parametrize(
    ("keys", "counts"),
    [
        ({}, True),
        ({"start": "1 s"}, True),
        # The window is from 1 s to 4 s, of which a tenth may pass.
        ({"start": "1 s", "start_within": "300 ms"}, True),
        ({"start": "1 s", "start_within": "301 ms"}, False),
        ({"stop": "3999 ms"}, False),
        ({"size": "1 GB"}, False),
        ({"tcp": CALL}, False),
        ({"tcp": "tfrc"}, True),
    ],
)
def test_long_lived_flows(keys: dict[str, Any], counts: bool, scenario: MakeScenario) -> None:
    """Flows with an end, a rate of their own or a late start are not long-lived."""
    flows = [entry("first", count=2, **keys), entry("other")]
    assert long_lived(specify(scenario(flows=flows), seed=1)) == [counts, counts, True]


def test_jain_of_long_lived(scenario: MakeScenario) -> None:
    """Jain's index is (1 + 2)^2 / (2 (1 + 4)) = 0.9 of two downloads at 1 : 2, whatever else there is, and 1 of either."""
    flows = [entry("one"), entry("two"), entry("call", tcp=CALL), entry("page", size="1 kB"), entry("late", start="3 s")]
    rates = {0: 1000, 1: 2000, 2: 10, 3: 1, 4: 500}
    result = sojourn.run(scenario(flows=flows), backend=Inventor(throughput_bytes=lambda _, flow: rates[flow]))
    assert result.runs["jain"].to_list() == pytest.approx([0.9])
    assert result.runs["long_lived_count"].to_list() == [2]
    assert result.flows["long_lived"].to_list() == [True, True, False, False, False]
    assert result.groups["jain"].to_list() == [1, 1, None, None, None]
    assert METRICS["jain"].ends == (0, 1)
    assert "unlimited demand" in METRICS["jain"].definition


def test_columns_need_no_quotes(mixed: Result) -> None:
    """No column of any frame is a reserved word of DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    words = duckdb.sql("select keyword_name from duckdb_keywords() where keyword_category = 'reserved'").fetchall()
    named = {column for name in ("runs", "groups", "flows", "queues", "series") for column in getattr(mixed, name).columns}
    assert named.isdisjoint(word for (word,) in words)
