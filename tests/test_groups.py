from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn
from conftest import SMALL_TOML, Capture, complaint
from doubles import Inventor
from sojourn import _engine, digits, statistics
from sojourn.analysis import comparison, summary
from sojourn.analysis.frames import columns
from sojourn.analysis.result import Result
from sojourn.backends.result import RunResult
from sojourn.campaign import Campaign, plan, run
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.metrics import METRICS, of_group
from sojourn.runs import Cell
from sojourn.scenario import Scenario
from sojourn.specification import RunSpecification, specify, text
from sojourn.store import InMemory, Store
from sojourn.table import render

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


def test_delays_of_groups(scenario: MakeScenario) -> None:
    """Packets of 200 bytes over three idle links have the delay of the path and no jitter; TCP flows have neither."""
    flows = [entry("calls", count=2, tcp=CALL, start_within="20 ms"), entry("page", tcp="cubic", size="1 kB")]
    result = sojourn.run(scenario(flows=flows))
    # 1 + 5 + 1 ms, and 1,600 bits at 100, 10 and 100 Mbit/s.
    path = 0.007 + 1600 / 100e6 + 1600 / 10e6 + 1600 / 100e6
    calls, page = (result.groups.row(row, named=True) for row in (0, 1))
    assert [calls[name] for name in ("delay_mean_s", "delay_p95_s", "delay_p99_s")] == pytest.approx([path] * 3)
    assert calls["jitter_s"] == pytest.approx(0, abs=1e-12)
    assert [page[name] for name in ("delay_mean_s", "delay_p95_s", "delay_p99_s", "jitter_s")] == [None] * 4
    # 50 packets a second for 3 s.
    assert result.flows["delay_samples"].to_list() == [150, 150, 0]
    assert "one-way delay" not in summary.text(sojourn.run(scenario(flows=[entry("x"), entry("y")])))
    assert "one-way delay" in summary.text(result)


def with_interval(values: list[float]) -> str:
    """The mean of a group and half of its interval, as tables show them."""
    found = statistics.estimate(values)
    assert found.high is not None
    shown = digits.of_interval(found.mean, half=found.high - found.mean)
    assert shown is not None, "an interval"
    return " ± ".join(shown)


def test_delays_fit_narrow_terminals(scenario: MakeScenario) -> None:
    """At 80 columns the table of groups has the delay of calls, which have no RTT, with its interval."""
    result = sojourn.run(scenario(flows=[entry("downloads", start_within="200 ms"), entry("calls", tcp=CALL)]), 3)
    table = summary.groups(result)
    assert table is not None
    shown = render(table, 80).partition("Left out")[0]
    delays = result.groups.filter(flow_group="calls")["delay_p99_s"].to_list()
    assert with_interval([1e3 * delay for delay in delays]) in shown


def test_group_delays_from_flows(scenario: MakeScenario) -> None:
    """Of a group the mean delay is that of all its packets, percentiles and jitter are means over its flows."""
    calls = [entry("calls", tcp=CALL | {"rate": rate}, start_within="20 ms") for rate in ("80 kbit/s", "160 kbit/s")]
    result = sojourn.run(scenario(flows=[*calls, entry("download")]))
    flows, found = result.flows.filter(flow_group="calls"), result.groups.row(0, named=True)
    assert found["delay_mean_s"] == pytest.approx(np.average(flows["delay_mean"], weights=flows["delay_samples"]))
    assert found["delay_p99_s"] == pytest.approx(flows["delay_p99"].mean())
    assert found["jitter_s"] == pytest.approx(flows["jitter"].mean())
    assert 0 < found["jitter_s"] < found["delay_p95_s"] - min(flows["delay_min"])


def test_losses_of_groups(scenario: MakeScenario) -> None:
    """Packets that a queue drops or a link loses in the window are counted for the group that sent them."""
    flood = {"name": "cbr", "rate": "6 Mbit/s", "packet_size": "1500 B"}
    links = [
        {"from": "a", "to": "r", "rate": "1 Gbit/s"},
        {"from": "c", "to": "r", "rate": "1 Gbit/s", "drop": {"every": 10}},
        {"from": "r", "to": "b", "rate": "10 Mbit/s", "queue": {"name": "droptail", "limit": "10 packets"}},
    ]
    flows = [entry("near", tcp=flood), entry("far", **{"from": "c"}, tcp=flood), entry("alone", to="r", tcp=flood)]
    result = sojourn.run(scenario(network={"links": links}, flows=flows))
    dropped = dict(result.flows.select("flow_group", "packets_dropped").iter_rows())
    at_queue = result.queues["drops"].item()
    # 6 Mbit/s are 500 packets a second, of which the link loses each tenth; the window lasts 3 s.
    lost_by_link = 150
    assert at_queue > 0
    assert dropped["near"] + dropped["far"] == pytest.approx(at_queue + lost_by_link, abs=1)
    assert dropped["far"] > lost_by_link - 1
    assert dropped["alone"] == 0
    near = result.groups.filter(flow_group="near")
    assert near["loss_pct"].item() == pytest.approx(100 * dropped["near"] / 1500, rel=1e-3)


def test_only_group_is_run(scenario: MakeScenario) -> None:
    """The metrics of the only group of a run are those of the run."""
    result = sojourn.run(scenario(), 2, backend=Inventor())
    shared = [metric.name for metric in of_group() if metric.of_run]
    assert result.groups.select(shared).equals(result.runs.select(shared))
    assert result.groups["share_pct"].to_list() == [100, 100]


class Uncounted(Inventor):
    """Cannot count the timeouts and retransmissions of the first flow."""

    def run(self, run: RunSpecification, /) -> RunResult:
        found = super().run(run)
        unknown = (pl.when(pl.col("flow") > 0).then(name).alias(name) for name in ("timeouts", "retransmissions"))
        return replace(found, flows=found.flows.with_columns(unknown))


def test_unknown_count_is_unknown_sum(scenario: MakeScenario) -> None:
    """A count that a backend lacks for one flow is null in the run and in the flow's group: no part is shown as the sum."""
    result = sojourn.run(scenario(flows=[entry("one"), entry("two")]), backend=Uncounted())
    counts = ["timeouts", "retransmissions", "retransmitted_pct"]
    assert result.runs.select(counts).row(0) == (None, None, None)
    assert result.groups.select("flow_group", *counts[:2]).rows() == [("one", None, None), ("two", 0, 0)]


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
    assert _engine.long_lived(text(specify(scenario(flows=flows), seed=1))) == [counts, True]


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


@pytest.fixture
def swept(tmp_path: Path) -> Path:
    """Results of two queues, each with downloads and a call and two seeds."""
    path, out = tmp_path / "swept.toml", tmp_path / "results"
    groups = f'start_within = "200 ms"\ngroup = "downloads"\n[[flows]]\nfrom = "a"\nto = "b"\ngroup = "call"\n{CALL_TOML}\n'
    path.write_text(f"{SMALL_TOML}{groups}[sweep]\nseeds = 2\n[sweep.axes]\nqueue = {QUEUES}\n", encoding="utf-8")
    sojourn.run(path, out=out)
    return out


CALL_TOML = 'tcp = { name = "cbr", rate = "80 kbit/s", packet_size = "200 B" }'
QUEUES = '{ key = "network.dumbbell.bottleneck.queue.name", values = ["codel", "pie"] }'


def test_group_of_two_cells(swept: Path) -> None:
    """A group of two cells is compared by the values of that group over common seeds."""
    groups = sojourn.open(swept).groups
    cells = {"queue": "codel"}, {"queue": "pie"}
    downloads, call = comparison.compare_groups(groups, *cells, ["total_mbps"])
    (alone,) = comparison.compare_groups(groups, *cells, ["total_mbps"], ["call"])
    assert (downloads.name, call.name, alone) == ("downloads", "call", call)
    for compared in (downloads, call):
        found = compared.metrics[0].comparison
        values = [groups.filter(flow_group=compared.name, queue=queue)["total_mbps"] for queue in ("codel", "pie")]
        assert found == statistics.compare(values[0].to_list(), values[1].to_list())


def test_two_groups_of_cell(swept: Path) -> None:
    """The shares of the two groups of one cell, compared with each other, add up to 100 %."""
    first, second = {"queue": "pie", "group": "call"}, {"queue": "pie", "group": "downloads"}
    (compared,) = comparison.compare_groups(sojourn.open(swept).groups, first, second, ["share_pct"])
    found = compared.metrics[0].comparison
    assert found is not None
    assert found.first + found.second == pytest.approx(100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["queue=pie", "queue=codel", "--only", "group=cal"], 'unknown group "cal", did you mean "call"?'),
        (["queue=pie,group=call", "queue=codel"], "give group=NAME in both, or --only group=NAME"),
        (["queue=pie,group=call", "queue=codel,group=x"], 'unknown group "x"'),
        (["queue=pie", "queue=codel", "--only", "queue=pie"], "write group=NAME"),
        (["queue=pie", "queue=codel", "--only", "group=call", "--metric", "drop_pct"], 'metric "drop_pct" is not one of a group'),
        (["queue=pie", "queue=codel", "--metric", "share"], 'unknown metric "share", did you mean "share_pct"?'),
    ],
)
def test_bad_group_comparison(arguments: list[str], message: str, swept: Path, capsys: Capture) -> None:
    """A group that a cell does not have, and a metric that groups do not have, are one-line errors."""
    assert status(["compare", str(swept), *arguments]) == 2
    assert message in complaint(capsys)


def test_compare_shows_groups(swept: Path, capsys: Capture) -> None:
    """`compare` shows both groups of the cells, those that are named alone, and a metric that only groups have."""
    cells = ["compare", str(swept), "queue=pie", "queue=codel"]
    shown = []
    for more in ([], ["--only", "group=call"], ["--metric", "share_pct"], ["--metric", "drop_pct"]):
        assert status([*cells, *more]) == 0
        shown.append(capsys.readouterr().out)
    assert ["downloads" in text for text in shown] == [True, False, True, False]
    assert ["call" in text for text in shown] == [True, True, True, False]
    assert ["Drop ratio (%)" in text for text in shown] == [True, False, False, True]
    assert ["Share of all throughput (%)" in text for text in shown] == [True, True, True, False]


def test_cells_of_other_groups(scenario: MakeScenario, tmp_path: Path, capsys: Capture) -> None:
    """Cells without a common group are compared as before; a metric that only groups have needs the names of two."""
    cells = [Cell({"case": name}, scenario(flows=[entry(name), entry(f"other {name}")])) for name in ("x", "y")]
    with Store(tmp_path, create=True) as store:
        run(plan(Campaign.of_cells("test", cells), Inventor()), Inventor(), store)
    compare = ["compare", str(tmp_path)]
    assert status([*compare, "case=x", "case=y"]) == 0
    assert "other" not in capsys.readouterr().out
    assert status([*compare, "case=x", "case=y", "--metric", "share_pct"]) == 2
    assert "A and B have no group of flows in common" in complaint(capsys)
    assert status([*compare, "case=x,group=x", "case=y,group=other y", "--metric", "share_pct"]) == 0
    assert "x | other y" in capsys.readouterr().out


def test_run_shows_groups(swept: Path, capsys: Capture) -> None:
    """`run` shows the means of each group over seeds, of all groups or of one, and refuses an unknown group before it runs."""
    file = str(swept.parent / "swept.toml")
    groups = sojourn.open(swept).groups
    downloads = groups.filter(queue="pie", flow_group="downloads")["total_mbps"]
    mean = with_interval(downloads.to_list())
    for only, wanted in (([], ["Cells", "call", mean]), (["--only", "group=downloads"], ["Groups", "downloads", mean])):
        assert status(["run", file, "--out", str(swept), *only]) == 0
        out = capsys.readouterr().out
        assert all(text in out for text in wanted)
        assert ("call" in out) == ("Cells" in out) == (not only)
        assert status(["run", file, "--out", str(swept), "--only", "queue=pie", *only]) == 0
        out = capsys.readouterr().out
        assert ("call" in out) == (not only)
        assert mean in out
    assert status(["run", file, "--out", str(swept / "new"), "--only", "group=cal"]) == 2
    assert 'unknown group "cal", did you mean "call"? (known: downloads, call)' in complaint(capsys)
    assert not (swept / "new").exists()


@pytest.mark.parametrize("command", ["plan", "check", "export", "watch", "reproduce"])
def test_group_chooses_no_runs(command: str, swept: Path, tmp_path: Path, capsys: Capture) -> None:
    """Commands that make or check whole runs refuse a group of flows on one line that says where it works."""
    file = "piotrowska" if command == "reproduce" else str(swept.parent / "swept.toml")
    out = {"export": ["--format", "flent"], "check": [], "watch": [], "plan": [], "reproduce": []}[command]
    out += ["--out", str(tmp_path / "new")] if command in ("export", "reproduce") else []
    assert status([command, file, "--only", "group=call", *out]) == 2
    assert "--only group=call: chooses what is shown, not what is run; give it to run, compare or plot" in complaint(capsys)
    assert not (tmp_path / "new").exists()


def test_axis_cannot_be_group(scenario: MakeScenario) -> None:
    """An axis named group is refused, since selections mean groups of flows by it."""
    with pytest.raises(InputError, match=r'axis "Group": --only group=\.\.\. selects groups of flows'):
        run(plan(Campaign.of_cells("test", [Cell({"Group": "x"}, scenario())]), Inventor()), Inventor(), InMemory())


def test_metrics_are_listed(capsys: Capture) -> None:
    """`list metrics` has one line for each metric."""
    assert status(["list", "metrics"]) == 0
    lines = [line.split("│")[1].strip() for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [line for line in lines if line] == list(METRICS)


def test_columns_need_no_quotes(mixed: Result) -> None:
    """No column of any frame is a reserved word of DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    words = duckdb.sql("select keyword_name from duckdb_keywords() where keyword_category = 'reserved'").fetchall()
    named = {column for name in ("runs", "groups", "flows", "queues", "series") for column in getattr(mixed, name).columns}
    assert named.isdisjoint(word for (word,) in words)
