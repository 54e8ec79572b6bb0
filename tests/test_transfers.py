"""Flows that arrive by themselves, and transfers: what a scenario says of them, and what a result does."""

import resource
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sojourn
from conftest import scenario_data
from sojourn import catalogue
from sojourn.analysis.result import Result
from sojourn.campaign import cautions, randomness
from sojourn.cli.commands import sojourn as cli
from sojourn.errors import InputError
from sojourn.metrics import METRICS, formulas
from sojourn.scenario import Scenario, from_data
from sojourn.specification import RunSpecification, specify
from sojourn.store import Store

FAST = {"rate": "1 Gbit/s"}

POISSON = {"process": "poisson", "load": 0.5}


def given(*flows: Mapping[str, Any], duration: str = "10 s") -> dict[str, Any]:
    """A dumbbell of 10 Mbit/s and 20 ms with these flows."""
    hosts = {side: [{"name": name, **FAST} for name in names] for side, names in (("senders", "ab"), ("receivers", "cd"))}
    return {
        "name": "transfers",
        "duration": duration,
        "warm_up": "1 s",
        "network": {"dumbbell": {**hosts, "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": "fq_codel"}}},
        "flows": [{"from": "a", "to": "c", "tcp": "cubic", **flow} for flow in flows],
    }


def specified(*flows: Mapping[str, Any], folder: Path | None = None) -> RunSpecification:
    return specify(Scenario.of(given(*flows), folder), 1)


def arrivals(**flow: Any) -> dict[str, Any]:
    found: dict[str, Any] = specified({"size": "50 kB", "arrivals": POISSON, **flow})["flows"][0]["arrivals"]
    return found


def test_arrivals_of_a_group() -> None:
    """Arrivals are one entry without a count, size or random start of its own; a flow without any has no such key."""
    group, plain = specified({"size": "50 kB", "arrivals": POISSON}, {"size": "50 kB"})["flows"]
    assert (group["count"], group["size"], group["start_within"]) == (1, None, 0)
    assert group["arrivals"] == {"process": {"poisson": {"load": 0.5}}, "sizes": {"fixed": 50_000}}
    assert plain["size"] == 50_000
    assert "arrivals" not in plain


def test_pairs_share_arrivals() -> None:
    """Each pair of hosts has an equal share, and at equal times the pairs take turns."""
    flow = {"from": ["a", "b"], "to": ["c", "d"], "size": "1 kB", "arrivals": {"process": "deterministic", "rate": 8}}
    found = [entry["arrivals"]["process"]["deterministic"] for entry in specified(flow)["flows"]]
    assert [entry["every"] for entry in found] == [{"rate": 2}] * 4
    assert [entry["phase"] for entry in found] == [0.25, 0.5, 0.75, 1]


def test_distributions_of_sizes() -> None:
    """Quantities of a distribution are in bytes; published ones end at a probability of 1."""
    bounds = {"distribution": "pareto", "shape": 1.2, "least": "4 kB", "most": "1 MB"}
    assert arrivals(size=bounds)["sizes"] == {"pareto": {"shape": 1.2, "least": 4000, "most": 10**6}}
    of_web = arrivals(size={"distribution": "empirical", "name": "web-search"})["sizes"]["empirical"]
    assert (of_web[0], of_web[5], of_web[-1]) == ((0, 0), (80_000, 0.53), (30_000_000, 1))
    objects = arrivals(size={"distribution": "empirical", "name": "web-embedded-object"})["sizes"]["lognormal"]
    assert objects == {"mean": 7758, "sigma": 2.36, "least": 50, "most": 2_000_000}


def test_files_of_arrivals_and_sizes(tmp_path: Path) -> None:
    """Files are found beside the scenario, and read with their columns in any order."""
    (tmp_path / "times.csv").write_text("bytes,time_s\n1000,0.5\n2000,0.5\n", encoding="utf-8")
    (tmp_path / "sizes.csv").write_text("bytes,probability\n100,0.25\n300,1\n", encoding="utf-8")
    listed = specified({"arrivals": {"file": "times.csv"}}, folder=tmp_path)["flows"][0]["arrivals"]
    assert listed == {"process": {"listed": ((5 * 10**11, 1000), (5 * 10**11, 2000))}, "sizes": None}
    sizes = {"distribution": "empirical", "file": "sizes.csv"}
    drawn = specified({"size": sizes, "arrivals": POISSON}, folder=tmp_path)["flows"][0]["arrivals"]
    assert drawn["sizes"] == {"empirical": ((100, 0.25), (300, 1))}


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        ({"arrivals": POISSON}, 'arrivals: give "size"'),
        ({"size": "1 kB", "arrivals": {"process": "poisson"}}, 'give either "load" or "rate"'),
        ({"size": "1 kB", "arrivals": {"process": "poisson", "load": 0}}, "arrivals.load"),
        ({"size": "1 kB", "arrivals": {"load": 0.5}}, 'give one of "process", "users" and "file"'),
        ({"size": "1 kB", "arrivals": {"users": 3}}, 'users need "think"'),
        ({"size": "1 kB", "arrivals": {"users": 3, "think": "0 s"}}, "a duration must be greater than 0"),
        ({"size": "1 kB", "arrivals": {"users": 3, "think": "1 s", "rate": 2}}, "rate: the users say"),
        ({"size": "1 kB", "arrivals": POISSON, "count": 2}, "count: flows that arrive by themselves"),
        ({"size": "1 kB", "arrivals": POISSON, "start_within": "1 s"}, "start_within: flows that arrive"),
        ({"size": "1 kB", "arrivals": POISSON, "tcp": {"name": "tfrc"}}, "arrivals: tfrc opens no connection"),
        ({"size": {"distribution": "exponential", "mean": "1 kB"}}, 'give "arrivals"'),
        ({"size": {"distribution": "exponential"}, "arrivals": POISSON}, 'exponential sizes need "mean"'),
        ({"size": {"distribution": "pareto", "shape": 1, "least": "1 kB"}, "arrivals": POISSON}, "the mean is infinite"),
        ({"size": {"distribution": "empirical", "name": "web"}, "arrivals": POISSON}, "web-search"),
        (
            {"size": {"distribution": "exponential", "mean": "1 kB", "shape": 2.0}, "arrivals": POISSON},
            "shape: exponential sizes",
        ),
        ({"arrivals": {"file": "none.csv"}}, "cannot read"),
    ],
)
def test_bad_arrivals_are_refused(flow: Mapping[str, Any], expected: str) -> None:
    """What makes no sense is one line that says what is wrong."""
    with pytest.raises(InputError, match=expected.replace(".", r"\.")) as refused:
        from_data(given(flow), "a scenario")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time_s,bytes\n2,10\n1,10\n", "line 3: time_s must not be earlier"),
        ("time_s,bytes\n1,0\n", "line 2: bytes must be 1 or more"),
        ("time_s,bytes\n1\n", "line 2: 1 values instead of 2"),
        ("time_s\n1\n", 'no column "bytes"'),
        ("", 'no column "time_s"'),
        ("time_s,bytes\n", "has no rows"),
    ],
)
def test_bad_times_are_refused(text: str, expected: str, tmp_path: Path) -> None:
    """A file of arrivals that cannot be meant is refused with its line."""
    (tmp_path / "times.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=expected):
        specified({"arrivals": {"file": "times.csv"}}, folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,0.5\n2,0.9\n", r"must end at 1, not at 0\.9"),
        ("2,0.5\n1,1\n", "line 3: bytes and probability"),
        ("1,0.5\n2,x\n", 'line 3: "x" is not a number'),
        ("1,1\n", "needs two rows"),
    ],
)
def test_bad_distributions_are_refused(text: str, expected: str, tmp_path: Path) -> None:
    """A file of sizes that is no distribution function is refused."""
    (tmp_path / "sizes.csv").write_text(f"bytes,probability\n{text}", encoding="utf-8")
    flow = {"size": {"distribution": "empirical", "file": "sizes.csv"}, "arrivals": POISSON}
    with pytest.raises(ValueError, match=expected):
        specified(flow, folder=tmp_path)


def test_users_think() -> None:
    """Users are of each pair of hosts, and bring no load of their own that could never drain."""
    users = {"users": 3, "think": "2 s"}
    run = specified({"to": ["c", "d"], "size": "1 MB", "arrivals": users})
    expected = {"process": {"users": {"count": 3, "think": 2 * 10**12}}, "sizes": {"fixed": 10**6}}
    assert [flow["arrivals"] for flow in run["flows"]] == [expected] * 2
    assert cautions.warnings(run) == ()
    assert dict(randomness.parts(run))["arrivals"] == "times"


def test_overload_is_told() -> None:
    """A load of 1 or more in all is said, with the link; less is not, and each load counts headers."""
    half = {"size": "100 kB", "arrivals": POISSON}
    most = {"size": "100 kB", "arrivals": {"process": "poisson", "rate": 6}}
    assert cautions.warnings(specified(half)) == ()
    # 6 transfers a second of 100,000 B in 70 segments with 52 B of headers, and a SYN, are just below 0.5 of 10 Mbit/s.
    assert cautions.warnings(specified(half, most)) == ()
    (line,) = cautions.warnings(specified(half, half))
    assert line.startswith("arrivals: a load of 1 on the link left -> right never drains")


def test_randomness_of_arrivals() -> None:
    """What the seed decides of arrivals is named."""
    sizes = {"distribution": "exponential", "mean": "1 kB"}
    equal = {"process": "deterministic", "rate": 1}
    assert dict(randomness.parts(specified({"size": "1 kB", "arrivals": POISSON})))["arrivals"] == "times"
    assert dict(randomness.parts(specified({"size": sizes, "arrivals": equal})))["arrivals"] == "sizes"
    assert "arrivals" not in dict(randomness.parts(specified({"size": "1 kB", "arrivals": equal})))


@pytest.fixture(scope="module")
def found() -> Result:
    """Short transfers beside a download, and one transfer of 2 MB."""
    sizes = {"distribution": "exponential", "mean": "30 kB"}
    flows = (
        {"group": "short", "size": sizes, "arrivals": {"process": "poisson", "load": 0.3}},
        {"group": "bulk"},
        {"group": "once", "size": "2 MB", "start": "2 s"},
    )
    return sojourn.run(from_data(given(*flows, duration="20 s"), "a scenario"))


def test_rows_of_transfers(found: Result) -> None:
    """A group whose connections arrive is one row of flows, and a row of transfers for each that was completed."""
    assert found.flows["flow_group"].to_list() == ["short", "bulk", "once"]
    short, bulk, once = found.flows.rows(named=True)
    rows = found.transfers
    in_window = rows.filter(pl.col("completed") >= 1)
    assert in_window.filter(pl.col("flow_group") == "short").height == short["transfers_completed"] > 100
    assert (bulk["transfers_completed"], bulk["transfers_unfinished"]) == (None, None)
    assert rows.filter(pl.col("flow_group") == "once").select("start", "bytes").rows() == [(2.0, 2_000_000)]
    assert once["completed"] == rows.filter(pl.col("flow_group") == "once")["completed"].item()
    assert rows.select(pl.col("slowdown").min()).item() >= 1
    assert rows["completed"].is_sorted()
    assert short["bytes_delivered"] > 0.9 * float(in_window.filter(pl.col("flow_group") == "short")["bytes"].sum())
    assert short["long_lived"] is False


def test_metrics_of_transfers(found: Result) -> None:
    """Metrics are the mean and percentiles over transfers completed in the window, of all and by class of sizes."""
    rows = found.transfers.filter(pl.col("completed") >= 1)
    run = found.runs.row(0, named=True)
    for size_class, chosen in (("small_", rows.filter(pl.col("bytes") <= 100_000)), ("", rows)):
        assert run[f"fct_{size_class}mean_s"] == pytest.approx(chosen["completion_time"].mean())
        assert run[f"fct_{size_class}p95_s"] == pytest.approx(chosen["completion_time"].quantile(0.95, "linear"))
        assert run[f"slowdown_{size_class}p50"] == pytest.approx(chosen["slowdown"].median())
    assert run["fct_large_mean_s"] is None
    medium = rows.filter(pl.col("bytes").is_between(100_001, 10_000_000))["completion_time"]
    assert run["fct_medium_p99_s"] == pytest.approx(medium.quantile(0.99, "linear"))
    groups = {row["flow_group"]: row for row in found.groups.rows(named=True)}
    short = rows.filter(pl.col("flow_group") == "short")
    assert groups["short"]["fct_mean_s"] == pytest.approx(short["completion_time"].mean())
    assert (groups["bulk"]["fct_mean_s"], groups["bulk"]["transfers_completed"]) == (None, None)
    assert run["transfers_completed"] == short.height + 1


def test_weights_of_transfers() -> None:
    """A value that stands for several counts as so many: mean and percentiles are those of all."""
    values, weights = [1.0, 2.0, 10.0], [2, 2, 96]
    everything = [1.0] * 2 + [2.0] * 2 + [10.0] * 96
    assert formulas.weighted_mean(values, weights) == pytest.approx(formulas.mean(everything))
    assert formulas.weighted_quantile(values, weights, 0.01) == 1.0
    assert formulas.weighted_quantile(values, weights, 0.5) == 10.0
    assert formulas.weighted_quantile([1.0, 2.0], [3, 3], 0.5) == formulas.quantile([1.0, 2.0], 0.5)


def test_classes_of_weighted_transfers() -> None:
    """100 kB are small and 10 MB medium, as in pFabric; each row counts as often as it stands for, in means and percentiles."""
    transfers = {
        "bytes": np.array([1, 100_000, 100_001, 10_000_000, 10_000_001]),
        "kind": np.zeros(5),
        "stands_for": np.array([98, 2, 1, 3, 1]),
        "completion_time": np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
        "slowdown": np.array([10.0, 20.0, 30.0, 40.0, 50.0]),
    }
    seen: Any = SimpleNamespace(transfers=transfers)
    found = {name: METRICS[name].compute(seen) for name in METRICS if name.startswith(("fct", "slowdown"))}
    assert found["fct_small_mean_s"] == pytest.approx((98 * 1 + 2 * 2) / 100)
    assert (found["fct_small_p50_s"], found["fct_small_p95_s"], found["fct_small_p99_s"]) == (1, 1, 2)
    assert found["fct_medium_mean_s"] == pytest.approx((3 + 3 * 4) / 4)
    assert found["slowdown_medium_mean"] == pytest.approx((30 + 3 * 40) / 4)
    assert (found["fct_large_mean_s"], found["slowdown_large_p99"]) == (5, 50)
    assert found["slowdown_mean"] == pytest.approx((98 * 10 + 2 * 20 + 30 + 3 * 40 + 50) / 105)


def test_transfers_are_stored(tmp_path: Path) -> None:
    """Rows of transfers go through a store unchanged, and answer SQL; check and run accept the file."""
    data = given({"group": "short", "size": "20 kB", "arrivals": POISSON}, duration="3 s")
    scenario = from_data(data, "a scenario")
    kept, direct = sojourn.run(scenario, out=tmp_path / "results"), sojourn.run(scenario)
    assert kept.transfers.equals(direct.transfers)
    with Store(tmp_path / "results") as store:
        asked = store.sql("select count(*), max(slowdown) from transfers")
    assert asked.row(0) == (direct.transfers.height, direct.transfers["slowdown"].max())


def test_overload_on_the_terminal(tmp_path: Path) -> None:
    """check says that a load never drains, and accepts the scenario."""
    file = tmp_path / "overload.toml"
    file.write_text(
        """
        name = "overload"
        duration = "2 s"
        [network.dumbbell]
        senders = [{ name = "a", rate = "1 Gbit/s" }]
        receivers = [{ name = "c", rate = "1 Gbit/s" }]
        bottleneck = { rate = "10 Mbit/s", queue = "droptail" }
        [[flows]]
        from = "a"
        to = "c"
        tcp = "cubic"
        size = "50 kB"
        arrivals = { process = "poisson", load = 1.2 }
        """,
        encoding="utf-8",
    )
    checked = CliRunner().invoke(cli, ["check", str(file)])
    assert checked.exit_code == 0
    assert "a load of 1.2 on the link left -> right never drains" in checked.stderr


def test_describe_sizes() -> None:
    """A published distribution is described with its source and its points."""
    shown = CliRunner().invoke(cli, ["describe", "data-mining"])
    assert shown.exit_code == 0
    assert "SIGCOMM 2009" in shown.output
    assert "1000000000" in shown.output


def test_classes_agree_with_the_engine() -> None:
    """The classes of sizes that the engine thins out are those of the metrics."""
    engine = Path(__file__).parents[1] / "crates/engine/src/probe/transfers.rs"
    assert "[u64; 2] = [100_000, 10_000_000]" in engine.read_text(encoding="utf-8")
    of_small = [name for name in METRICS if name.startswith("fct_small")]
    assert of_small == [f"fct_small_{each}_s" for each in ("mean", "p50", "p95", "p99")]


@pytest.mark.parametrize("queue", [each.name for each in catalogue.load().queues])
def test_every_discipline_has_arrivals(queue: str) -> None:
    """Under every discipline connections that arrive beside a download complete and lose packets, with tables for few of them."""
    data = given({"size": "20 kB", "arrivals": POISSON}, {"from": "b", "to": "d"}, duration="5 s")
    hungriest = {"hungriest": "b-d"} if queue in {"apd_static", "codel_static"} else {}
    data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": queue, **hungriest}
    # Disciplines that only mark say so where no flow has ECN.
    data["stack"] = {"ecn": "classic"}
    runs = sojourn.run(from_data(data, "arrivals")).runs
    assert runs["transfers_completed"].item() > 0


def test_tables_of_flows_stay_small() -> None:
    """Disciplines with a state for each flow carry many short connections within some 30 MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for queue in ("fred", "afpft"):
        data = given({"size": "1 kB", "arrivals": {"process": "poisson", "rate": 2000}}, duration="10 s")
        data["network"]["dumbbell"]["bottleneck"] |= {"rate": "100 Mbit/s", "queue": queue}
        assert sojourn.run(from_data(data, "arrivals")).runs["transfers_completed"].item() > 10_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


def test_queries_end_with_their_last_answer() -> None:
    """What all flows of a group begin at the same moment is a query, whose time is that of its last answer.

    Eight hosts answer with 50 kB each over 10 Mbit/s, which takes 0.32 s at least. A transfer beside them is none, nor are
    flows that begin apart.
    """

    def queried(*flows: dict[str, Any]) -> sojourn.Result:
        data = scenario_data(flows=list(flows), warm_up="0 s")
        data["network"]["dumbbell"]["senders"] = [{"name": "s", "count": 8, "rate": "100 Mbit/s", "delay": "1 ms"}]
        return sojourn.run(from_data(data, "test"))

    answer = {"from": "s", "to": "b", "tcp": "newreno", "size": "50 kB", "group": "answers"}
    alone = {"from": "b", "to": "s1", "tcp": "newreno", "size": "50 kB", "group": "alone"}
    found = queried(answer, alone)
    times = found.transfers.filter(pl.col("flow_group") == "answers")["completion_time"]
    assert len(times) == 8
    (longest,) = found.runs["query_time_mean_s"].to_list()
    assert longest == max(times.to_list()) > 8 * 50_000 * 8 / 10e6
    groups = {row["flow_group"]: row["query_time_p99_s"] for row in found.groups.iter_rows(named=True)}
    assert groups == {"answers": longest, "alone": None}
    assert queried({**answer, "start_within": "100 ms"}).runs["query_time_mean_s"].to_list() == [None]
    ticks = {key: value for key, value in answer.items() if key != "size"} | {"periodic": {"size": "1 kB", "every": "1 s"}}
    messages = queried(ticks)
    by_moment = messages.transfers.group_by("start").agg(pl.len(), pl.col("completion_time").max())
    complete = by_moment.filter(pl.col("len") == 8)["completion_time"]
    assert messages.runs["query_time_mean_s"].item() == pytest.approx(complete.mean())
