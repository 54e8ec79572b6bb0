import csv
from collections import Counter
from collections.abc import Callable

import pytest
from pydantic import ValidationError

import sojourn
from conftest import ROOT
from doubles import Inventor, RatePerAlgorithm
from sojourn import api
from sojourn.analysis.agreement import agrees, tolerance
from sojourn.errors import InputError
from sojourn.metrics import METRICS
from sojourn.scenario import Scenario
from sojourn.specification import RunSpecification, flow_count
from sojourn.study import library
from sojourn.study.design import Study

STUDY = library.load("piotrowska")
PUBLISHED = library.published_values(STUDY)


def specification(**axes: str) -> RunSpecification:
    return STUDY.matrix.cell(axes).specification


def test_numbers_of_cells_and_values() -> None:
    """The study piotrowska has 72 cells and 720 published values, in the paper's tables 2 to 13."""
    assert STUDY.matrix.size == len(list(STUDY.matrix.points())) == 72
    assert len(PUBLISHED) == 720
    assert Counter(value.table.number for value in PUBLISHED) == {
        **{2: 81, 3: 27, 4: 54, 5: 27, 6: 81, 7: 27, 8: 54, 9: 27},
        **{10: 144, 11: 27, 12: 144, 13: 27},
    }


def test_published_values_have_cells() -> None:
    """Every published value belongs to a cell, a metric and an algorithm of the study."""
    cells = list(STUDY.matrix.points())
    controls = {"newreno", "cubic", "compound", None}
    for value in PUBLISHED:
        assert value.axes in cells
        assert value.metric in METRICS
        assert value.algorithm in controls


def test_published_values_as_printed() -> None:
    """Published values are kept as printed; ">1" and "~99" are read as numbers."""
    path = ROOT / "studies" / "piotrowska" / "published" / "tables.csv"
    with path.open(encoding="utf-8", newline="") as file:
        printed = [row["value"] for row in csv.DictReader(file)]
    assert printed == [value.printed for value in PUBLISHED]
    unusual = {value.printed: value.value for value in PUBLISHED if not value.printed.replace(".", "").isdigit()}
    assert unusual == {">1": 1.0, "~99": 99.0}


@pytest.mark.parametrize(("load", "flows"), [("UC", 9), ("MC", 90), ("HC", 900)])
def test_loads(load: str, flows: int) -> None:
    """The loads UC, MC and HC are 9, 90 and 900 flows."""
    assert flow_count(specification(scenario="AL", load=load, tcp="cubic", queue="pie")) == flows


def test_access_link_round_trips() -> None:
    """The round-trip times of the access link are those of the paper's Table 1."""
    run = specification(scenario="AL", load="UC", tcp="newreno", queue="droptail")
    delays = {(link["from"], link["to"]): link["delay"] for link in run["links"]}
    left, right = run["nodes"].index("left"), run["nodes"].index("right")
    round_trips = {}
    for flow in run["flows"]:
        ways = [
            (flow["from"], left),
            (left, right),
            (right, flow["to"]),
            (flow["to"], right),
            (right, left),
            (left, flow["from"]),
        ]
        round_trips[flow["group"]] = sum(delays[way] for way in ways) / 10**9
    assert round_trips == {
        **{"n1-n4": 8, "n1-n5": 78, "n1-n6": 154},
        **{"n2-n4": 32, "n2-n5": 102, "n2-n6": 178},
        **{"n3-n4": 58, "n3-n5": 128, "n3-n6": 204},
    }


@pytest.mark.parametrize(
    ("scenario", "queue", "target"),
    [
        ("DC", "pie", 2),
        ("DC", "codel", 2),
        ("AL", "pie", 5),
        ("AL", "codel", 5),
        ("DC", "droptail", None),
        ("AL", "droptail", None),
    ],
)
def test_queue_limits_and_targets(scenario: str, queue: str, target: int | None) -> None:
    """Queues have a limit of 900 packets, and PIE and CoDel the paper's targets."""
    run = specification(scenario=scenario, load="UC", tcp="newreno", queue=queue)
    bottleneck = run["links"][0]
    assert bottleneck["rate"] == {"DC": 10**9, "AL": 10**8}[scenario]
    assert bottleneck["queue"]["name"] == queue
    assert bottleneck["queue"]["limit"] == {"packets": 900}
    assert bottleneck["queue"]["parameters"].get("target") == (None if target is None else target * 10**9)


def test_mixed_senders() -> None:
    """In mixed runs each sender has its own algorithm."""
    run = specification(scenario="DC", load="MC", tcp="mixed", queue="codel")
    senders = {(run["nodes"][flow["from"]], flow["source"]["name"]) for flow in run["flows"]}
    assert senders == {("n1", "newreno"), ("n2", "compound"), ("n3", "cubic")}


def test_only_selects_cells() -> None:
    """`only` selects cells by names and aliases, in upper or lower case."""
    assert STUDY.part({"load": ["UC", "mc"], "queue": ["CoDel"]}).size == 2 * 2 * 4
    assert {axes["queue"] for axes in STUDY.part({"queue": ["DT"]}).points()} == {"droptail"}


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ({"loda": ["UC"]}, 'unknown axis "loda", did you mean "load"'),
        ({"load": ["XC"]}, r'unknown value of axis load "XC", did you mean "\wC"\? \(known: UC, MC, HC\)'),
    ],
)
def test_bad_only(only: dict[str, list[str]], message: str) -> None:
    """An unknown axis or value is an error that lists the known ones."""
    with pytest.raises(sojourn.InputError, match=message):
        STUDY.part(only)


def test_changes_apply_last() -> None:
    """Changes apply to every cell, after the study's own settings."""
    changes = {"network.dumbbell.bottleneck.queue.target": "3 ms", "stack.minimum_rto": "200 ms"}
    only = {"load": "UC", "tcp": "newreno", "queue": "codel"}
    runs = list(api.study_campaign(STUDY, 1, only, changes).cells())
    assert len(runs) == 2
    for run in runs:
        assert run.specification["links"][0]["queue"]["parameters"]["target"] == 3 * 10**9
        assert run.specification["stacks"][0]["minimum_rto"] == 200 * 10**9


def test_bad_changes() -> None:
    """A change of a key that does not exist is an input error."""
    with pytest.raises(InputError, match=r'--set flows\.9\.tcp: the scenario has no "flows\.9\.tcp" to set'):
        list(api.study_campaign(STUDY, changes={"flows.9.tcp": "cubic"}).cells())
    with pytest.raises(InputError, match=r'network\.dumbbell\.bottleneck: unknown key "bandwidth"'):
        api.study_campaign(STUDY, changes={"network.dumbbell.bottleneck.bandwidth": "1 Gbit/s"})


def test_unknown_study() -> None:
    """An unknown study is an error that suggests the nearest one."""
    with pytest.raises(sojourn.InputError, match='unknown study "piotrovska", did you mean "piotrowska"'):
        library.load("piotrovska")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"tables": [{"number": 1, "title": "", "select": {"laod": "UC"}, "metrics": []}]},
            'unknown axis "laod", did you mean "load"',
        ),
        (
            {"tables": [{"number": 1, "title": "", "select": {"load": ["UC", "XL"]}, "metrics": []}]},
            'unknown value of axis load "XL"',
        ),
        (
            {"tables": [{"number": 1, "title": "", "select": {}, "metrics": ["jane"]}]},
            'unknown metric "jane", did you mean "jain"',
        ),
        ({"tables": [{"number": 1, "title": "", "select": {}, "metrics": [], "algorithms": "tcp"}]}, "selects one value"),
    ],
)
def test_contradictory_study(change: dict[str, object], message: str) -> None:
    """A table with an unknown axis, value or metric, or by algorithm for several values, is an error."""
    with pytest.raises(ValidationError, match=message):
        Study.of(STUDY.model_dump(by_alias=True) | change)


@pytest.mark.parametrize(
    ("metric", "published", "fair_share", "expected"),
    [
        ("median_mbps", 100.0, 111.1, 15.0),
        ("median_mbps", 1.0, 111.0, 5.55),
        ("avg_mbps", 0.0, 1.0, 0.05),
        ("jain", 0.2, 1.0, 0.05),
        ("jain", 1.0, 1.0, 0.15),
        ("drop_pct", 0.02, 1.0, 0.1),
        ("queue_mean_pkts", 10.0, 1.0, 5.0),
        ("queue_sd_pkts", 10.0, 1.0, 10.0),
        ("share_pct", 11.0, 1.0, 3.0),
        ("share_pct", 60.0, 1.0, 9.0),
        ("sojourn_mean_s", 1e-5, 1.0, 5e-5),
        ("fct_p99_s", 1e-3, 1.0, 1.5e-4),
    ],
)
def test_agreement_tolerance(metric: str, published: float, fair_share: float, expected: float) -> None:
    """A value agrees if it is within 15 % of the published one, or within its metric's floor."""
    assert tolerance(metric, published, fair_share) == pytest.approx(expected)
    assert agrees(metric, published, published + 0.999 * expected, fair_share)
    assert agrees(metric, published, published - 0.999 * expected, fair_share)
    assert not agrees(metric, published, published + 1.001 * expected, fair_share)
    assert not agrees(metric, published, None, fair_share)


def test_values_by_algorithm() -> None:
    """In mixed runs, values of each algorithm and of all flows are computed with Student's interval."""
    only = {"scenario": "DC", "load": "MC", "tcp": "mixed", "queue": "pie"}
    found = sojourn.reproduce("piotrowska", 3, only=only, backend=RatePerAlgorithm())
    cells = {(cell.published.algorithm, cell.published.metric): cell.measured for cell in found.comparison}
    assert len(cells) == 16 + 3
    mean = cells["cubic", "avg_mbps"]
    assert mean is not None
    assert mean.mean == pytest.approx(6.0)  # 3, 6 and 9
    assert mean.high == pytest.approx(6.0 + 4.302652729749462 * 3 / 3**0.5)
    assert mean.low == 0  # not -1.45: no throughput is negative
    share = cells["newreno", "share_pct"]
    assert share is not None
    assert share.mean == pytest.approx(100 / 6)
    everyone = cells[None, "jain"]
    assert everyone is not None
    assert everyone.mean == pytest.approx(36 / (3 * 14))


def test_cells_have_paper_labels() -> None:
    """cells.csv has the paper's axes, and the algorithm or `all` in tables by algorithm."""
    only = {"scenario": "DC", "load": "HC", "tcp": "mixed", "queue": "droptail"}
    frame = sojourn.reproduce("piotrowska", only=only, backend=RatePerAlgorithm()).cells
    assert frame.columns == [
        *("study", "reading", "table", "scenario", "load", "tcp", "queue", "metric"),
        *("published", "measured", "ci_low", "ci_high", "agrees", "beyond_chance", "seed_low", "seed_high", "self_agreement"),
    ]
    assert frame.filter(table=10)["tcp"].unique(maintain_order=True).to_list() == ["newreno", "cubic", "compound", "all"]
    assert frame.filter(table=11)["tcp"].unique().to_list() == ["mixed"]
    assert frame["ci_low"].null_count() == frame.height


def test_seeds_must_be_positive(scenario: Callable[..., Scenario]) -> None:
    """The API refuses a number of seeds below 1."""
    with pytest.raises(sojourn.InputError, match="seeds must be 1 or more"):
        sojourn.reproduce("piotrowska", 0, backend=Inventor())
    with pytest.raises(sojourn.InputError, match="seeds must be 1 or more"):
        sojourn.run(scenario(), 0, backend=Inventor())
