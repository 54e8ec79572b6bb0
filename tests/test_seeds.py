"""Seeds: what is random in a scenario, the defaults that make seeds differ, and runs that are the same whatever their seed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import Capture, scenario_data
from sojourn import figures
from sojourn.analysis import comparison, repetition
from sojourn.analysis.result import Result
from sojourn.campaign import randomness
from sojourn.cli.commands import status
from sojourn.figures import means
from sojourn.metrics import METRICS
from sojourn.scenario import from_data
from sojourn.specification import RunSpecification, specify
from sojourn.units import PICOSECONDS

MILLISECOND = PICOSECONDS // 1000

#: The README's question in small: four CUBIC flows.
QUESTION = """
name = "question"
duration = "3 s"
warm_up = "1 s"

[network.dumbbell]
senders = [{ name = "server", rate = "1 Gbit/s", delay = "10 ms" }]
receivers = [{ name = "home", rate = "1 Gbit/s", delay = "1 ms" }]
bottleneck = { rate = "10 Mbit/s", delay = "9 ms", queue = { name = "droptail", limit = "50 packets" } }

[[flows]]
from = "server"
to = "home"
count = 4
tcp = "cubic"
"""

#: Of its two cells one draws no random number.
SWEEP = """
[sweep.axes]
random = ["nothing", "overhead"]

[[sweep.overrides]]
when = { random = "nothing" }
set = { "flows.0.start" = "0 s", sender_overhead = "0 s" }

[[sweep.overrides]]
when = { random = "overhead" }
set = { "flows.0.start" = "0 s" }
"""


def flow(**changes: Any) -> dict[str, Any]:
    return {"from": "a", "to": "b", "tcp": "newreno"} | changes


def specified(**changes: Any) -> RunSpecification:
    """Returns the run of a small scenario whose starts and overhead are the defaults unless set."""
    data = scenario_data()
    del data["sender_overhead"]
    return specify(from_data(data | {"flows": [flow()]} | changes, "test"), 1)


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("question") / "question.toml"
    path.write_text(QUESTION, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("swept") / "swept.toml"
    path.write_text(QUESTION + SWEEP, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def kept(swept: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A results directory of both cells with three seeds each, and the result."""
    directory = tmp_path_factory.mktemp("kept") / "results"
    return directory, sojourn.run(swept, seeds=3, out=directory)


@pytest.fixture
def spoken(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Carries out a command on a wide terminal, and returns what it printed."""
    monkeypatch.setenv("COLUMNS", "240")

    def carry_out(*arguments: str | Path) -> str:
        assert status(list(map(str, arguments))) == 0
        printed = capsys.readouterr()
        return printed.out + printed.err

    return carry_out


@pytest.mark.parametrize(
    ("keys", "within"),
    [
        ({}, 1000),
        ({"start": "0 s"}, 0),
        ({"start": "2 s"}, 0),
        ({"start": "2 s", "start_within": "5 ms"}, 5),
        ({"start_within": "0 s"}, 0),
        ({"start_within": "3 s"}, 3000),
        ({"stop": "6 s"}, 600),
    ],
)
def test_default_start_within(keys: dict[str, str], within: int) -> None:
    """Flows start within 1 s, or a tenth of the time they have, unless start or start_within is given."""
    run = specified(duration="20 s", flows=[flow(**keys)])
    assert run["flows"][0]["start_within"] == within * MILLISECOND


def test_short_run_starts_early() -> None:
    """In a run of less than 10 s all flows start within its first tenth."""
    assert specified(duration="200 ms", warm_up="0 s", flows=[flow()])["flows"][0]["start_within"] == 20 * MILLISECOND


def test_default_sender_overhead() -> None:
    """The default overhead is the time that the bottleneck takes over 1500 bytes: 1.2 ms at 10 Mbit/s; a given one is kept."""
    assert specified()["sender_overhead"] == 12 * MILLISECOND // 10
    assert specified(sender_overhead="0 s")["sender_overhead"] == 0
    network = scenario_data()["network"]
    del network["dumbbell"]["bottleneck"]["queue"]
    assert specified(network=network)["sender_overhead"] == 0


@pytest.mark.parametrize(
    ("profile", "expected"), [("ns3-3.48", 0), ("ns3-3.30", 0), ("ns2-2.35", 0), ("linux-6", 1.2), ("rfc", 1.2)]
)
def test_profile_says_whether_senders_have_overhead(profile: str, expected: float) -> None:
    """Senders of ns-3 and ns-2 send at once, unless the scenario gives an overhead or its stack says that they have one."""
    assert specified(stack=profile)["sender_overhead"] == expected * MILLISECOND
    assert specified(stack={"profile": profile, "random_overhead": True})["sender_overhead"] == 1.2 * MILLISECOND
    given = specified(stack=profile, sender_overhead="1 ms")
    assert given["sender_overhead"] == MILLISECOND
    assert [stack["random_overhead"] for stack in given["stacks"]] == [True]


def test_senders_of_one_group_send_at_once() -> None:
    """Alone on the path, segments of flows whose stack has no overhead take the same time; those of the other group do not."""
    stacks = {"at once": "ns3-3.48", "late": "rfc"}
    groups = [
        flow(group=name, stack=stack, size="1000 B", start=f"{second + 0.5 * late} s")
        for late, (name, stack) in enumerate(stacks.items())
        for second in range(3)
    ]
    data = scenario_data(duration="5 s", warm_up="0 s", flows=groups)
    del data["sender_overhead"]
    flows = sojourn.run(from_data(data, "test")).flows
    took = flows.with_columns(took=(pl.col("completed") - pl.col("start")).round(9))
    assert {name: took.filter(flow_group=name)["took"].n_unique() for name in stacks} == {"at once": 1, "late": 3}


def test_question_has_different_runs(question: Path) -> None:
    """The README's question with five seeds makes five different runs."""
    runs = sojourn.run(question, seeds=5).runs
    assert runs.select(repetition.measured()).n_unique() == 5
    assert not repetition.is_repeated(runs.lazy())


def test_repeated_cells_are_found(kept: tuple[Path, Result]) -> None:
    """Only the cell that draws no random number is repeated in vain, and only its first run counts."""
    runs = kept[1].runs.lazy()
    cells = repetition.repeated(runs, ["random"])
    assert repetition.labels(cells, ["random"]) == {("nothing",)}
    counted = repetition.once(runs, cells).collect()
    assert counted.select("random", "seed").rows() == [("nothing", 1), ("overhead", 1), ("overhead", 2), ("overhead", 3)]


def test_constant_metric_is_no_repetition(kept: tuple[Path, Result]) -> None:
    """Runs that differ in anything measured are different runs, though a metric such as the drop ratio is the same in all."""
    runs = kept[1].runs.filter(random="nothing")
    assert repetition.is_repeated(runs.lazy())
    seeds = pl.Series(range(runs.height))
    assert not repetition.is_repeated(runs.lazy().with_columns(events=pl.col("events") + seeds))
    assert not repetition.is_repeated(runs.lazy().with_columns(sojourn_p99_s=pl.col("sojourn_p99_s") + seeds))


def test_tables_without_false_interval(spoken: Callable[..., str], swept: Path, question: Path) -> None:
    """A cell whose seeds change nothing has no interval, and a line names the remedies; the other cell has one."""
    output = spoken("run", swept, "--seeds", "3")
    rows = {word: line for line in output.splitlines() for word in ("nothing", "overhead") if f"│ {word} " in line}
    assert "±" not in rows["nothing"]
    assert "±" in rows["overhead"]
    assert "In 1 of 2 cells all seeds gave the same run" in output
    fixed = ("--set", "flows.*.start='0 s'", "--set", "sender_overhead='0 s'")
    alone = spoken("run", question, "--seeds", "2", *fixed)
    assert "All seeds gave the same run" in alone
    for said in (output, alone):
        assert "flows.*.start_within or sender_overhead" in " ".join(said.split())


def test_comparison_without_false_interval(spoken: Callable[..., str], kept: tuple[Path, Result]) -> None:
    """The difference to a cell whose seeds change nothing has neither interval nor p, and a line says why."""
    directory, result = kept
    compared = comparison.compare_cells(result.runs, {"random": "nothing"}, {"random": "overhead"}, ["rtt_mean_s"])
    found = compared[0].comparison
    assert found is not None
    assert found.pairs == 3
    assert (found.difference.low, found.difference.high, found.p) == (None, None, None)
    assert found.second == pytest.approx(result.runs.filter(random="overhead")["rtt_mean_s"].mean())
    output = spoken("compare", directory, "random=nothing", "random=overhead")
    assert "flows.*.start_within or sender_overhead" in " ".join(output.split())


def test_figures_without_false_interval(kept: tuple[Path, Result]) -> None:
    """Figures draw the interval of the cell whose seeds differ, and none of the other."""
    source = figures.Drawn.of(kept[1])
    found = means.of_cells(source, METRICS["rtt_mean_s"])
    intervals = {label: low is not None for label, low in found.select(source.columns[0], "low").iter_rows()}
    assert intervals == {"nothing": False, "overhead": True}
    assert repetition.REMEDY in figures.draw("throughput", kept[1]).to_dict()["description"]


def test_report_without_false_interval(spoken: Callable[..., str], kept: tuple[Path, Result]) -> None:
    """A report has no interval where seeds change nothing, and says so."""
    from sojourn.report.contents import read

    directory, _ = kept
    cells = {cell.axes["random"]: cell.measured["rtt_mean_s"] for cell in read(directory).cells}
    assert cells["nothing"] is not None
    assert cells["nothing"].low is None
    assert cells["overhead"] is not None
    assert cells["overhead"].low is not None
    spoken("report", directory)
    assert repetition.REMEDY in (directory / "report.html").read_text(encoding="utf-8")


def test_until_stops_without_chance(spoken: Callable[..., str], swept: Path) -> None:
    """``until`` adds no seeds to a cell whose seeds change nothing, and reports it as imprecise."""
    text = swept.read_text(encoding="utf-8").replace("[sweep.axes]", '[sweep]\nuntil = "ci(rtt_mean_s) < 1000"\n\n[sweep.axes]')
    path = swept.with_name("until.toml")
    path.write_text(text, encoding="utf-8")
    output = spoken("run", path)
    assert "nothing: after 3 seeds ci(rtt_mean_s) is unknown, because all gave the same run" in output
    assert "overhead: after" not in output


@pytest.mark.parametrize(
    ("changes", "random"),
    [
        ({}, {}),
        ({"flows": [flow(start_within="5 ms")]}, {"starts": "within 5 ms"}),
        ({"sender_overhead": "1 ms"}, {"sender_overhead": "up to 1 ms"}),
        ({"flows": [flow(tcp="bbr")]}, {"bbr": "times at which it probes"}),
        ({"flows": [flow(tcp={"name": "cbr", "rate": "1 Mbit/s"})]}, {}),
        ({"flows": [flow(tcp={"name": "cbr", "rate": "1 Mbit/s", "poisson": True})]}, {"cbr": "poisson"}),
    ],
)
def test_random_parts(changes: dict[str, Any], random: dict[str, str]) -> None:
    """What is random in a run: starts, overhead and what its algorithms draw."""
    assert dict(randomness.parts(specify(from_data(scenario_data(**changes), "test"), 1))) == random


@pytest.mark.parametrize(
    ("queue", "random"), [("codel", {}), ("pie", {"pie": "drops"}), ("sfq", {"sfq": "hash of flows to queues"})]
)
def test_random_queues(queue: str, random: dict[str, str]) -> None:
    """Of disciplines those are random that draw random numbers."""
    data = scenario_data()
    data["network"]["dumbbell"]["bottleneck"] |= {"queue": queue}
    assert dict(randomness.parts(specify(from_data(data, "test"), 1))) == random


@pytest.mark.parametrize(("loss", "random"), [(0.0, {}), (0.01, {"losses of links": ""}), (1.0, {})])
def test_random_losses(loss: float, random: dict[str, str]) -> None:
    """A loss of a share of the packets is random, a loss of all of them is not."""
    data = scenario_data()
    data["network"]["dumbbell"]["bottleneck"] |= {"loss": loss}
    assert dict(randomness.parts(specify(from_data(data, "test"), 1))) == random


def test_check_tells_random(spoken: Callable[..., str], question: Path, swept: Path) -> None:
    """``check`` and ``plan`` tell what is random, and in how many cells of a sweep."""
    for command in ("check", "plan"):
        assert "random: starts (within 300 ms), sender_overhead (up to 1200 us)" in spoken(command, question)
        assert "random: sender_overhead (up to 1200 us, 1 of 2 cells); in 1 of 2 cells nothing" in spoken(command, swept)
    fixed = ("--set", "flows.*.start='0 s'", "--set", "sender_overhead='0 s'")
    assert "random: nothing: all seeds give the same run; set flows.*.start_within or sender_overhead" in spoken(
        "check", question, *fixed
    )


@pytest.mark.parametrize(
    "study", ["alizadeh", "hanai", "heist", "kushwaha", "mareev", "ns3", "piotrowska", "proposals", "tsioliaridou"]
)
def test_studies_set_their_keys(study: str) -> None:
    """Studies leave neither key to its default: they say when flows start and what senders take, if anything."""
    from sojourn.study import library

    for cell in library.load(study).matrix.cells():
        scenario = cell.scenario
        assert scenario.sender_overhead is not None or specify(scenario, 1)["sender_overhead"] == 0
        assert all(flows.start is not None or flows.start_within is not None for flows in scenario.flows)
