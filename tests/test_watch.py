"""Watching a run: the results do not change, the speed is the one given, and the values shown are right."""

import io
import itertools
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import sojourn
from conftest import ROOT, Capture, complaint
from sojourn import api, backends, report
from sojourn.cli.commands import status
from sojourn.scenario import Scenario
from sojourn.specification import specify
from sojourn.units import PICOSECONDS
from sojourn.watch import graph
from sojourn.watch.beside import Beside
from sojourn.watch.lines import line
from sojourn.watch.pace import Pace
from sojourn.watch.recent import Recent, by_group
from sojourn.watch.screen import Screen

ScenarioFile = Callable[..., Path]


@pytest.mark.parametrize("interval", [PICOSECONDS // 7, PICOSECONDS, 10 * PICOSECONDS])
def test_watching_changes_nothing(scenario: Callable[..., Scenario], interval: int) -> None:
    """A run in steps has the same result as a run at once, whatever the step."""
    flows = [{"from": "a", "to": "b", "count": 3, "start_within": "1 s", "tcp": tcp} for tcp in ("cubic", "bbr", "tfrc")]
    run = specify(scenario(flows=flows, probe={"queue_series": "100 ms", "flow_series": "50 ms"}), seed=5)
    stepped = backends.stepping("simulator").step(run)
    times = [moment.time for moment in stepped.moments(interval)]
    assert times == pytest.approx([*(n * interval / PICOSECONDS for n in range(1, len(times))), 4.0])
    watched, unwatched = stepped.result(), backends.named("simulator").run(run)
    for name in ("flows", "queues", "queue_series", "flow_series"):
        assert getattr(watched, name).equals(getattr(unwatched, name)), name
    assert watched.events == unwatched.events


def test_values_of_known_run(scenario: Callable[..., Scenario]) -> None:
    """The values shown are those of 12 Mbit/s of constant-rate packets on a link of 10 Mbit/s with a buffer of 50."""
    queue = {"name": "droptail", "limit": "50 packets"}
    hosts = {name: [{"name": name[0], "rate": "1 Gbit/s", "delay": "1 ms"}] for name in ("senders", "receivers")}
    bottleneck = {"rate": "10 Mbit/s", "delay": "1 ms", "queue": queue}
    flows = [{"from": "s", "to": "r", "group": "dear", "tcp": {"name": "cbr", "rate": "12 Mbit/s", "packet_size": "1500 B"}}]
    run = specify(scenario(network={"dumbbell": {"bottleneck": bottleneck, **hosts}}, flows=flows), seed=1)
    recent = Recent(run, lately=1)
    for moment in backends.stepping("simulator").step(run).moments(PICOSECONDS):
        recent.add(moment)
    (shown,) = recent.queues()
    assert shown.packets in (49, 50)
    assert shown.mbps == pytest.approx(10, rel=0.002)
    # A packet that arrives behind 49 waits 49 times 1.2 ms, and for the one in transmission.
    assert shown.sojourn == pytest.approx(0.0595, abs=0.001)
    past = recent.history("left->right")
    assert [each.time for each in past] == [1, 2, 3, 4]
    # A sixth of 1000 packets/s.
    assert [each.drops for each in past[1:]] == pytest.approx([166.7] * 3, abs=1)
    assert sum(each.drops for each in past) == shown.drops
    flow = recent.flows().row(0, named=True)
    assert flow["mbps"] == pytest.approx(10, rel=0.002)
    assert flow["cwnd"] is None
    assert line(recent).startswith("4 s: left->right ")
    assert "; dear cbr 10.0" in line(recent)


def test_group_totals() -> None:
    """A group has the sum of rates and the means of windows and round-trip times."""
    flows = pl.DataFrame(
        {
            "flow": [0, 1, 2],
            "group": ["far", "far", "near"],
            "algorithm": ["bbr", "bbr", "cbr"],
            "mbps": [1.0, 3.0, 5.0],
            "cwnd": [1000, 3000, None],
            "rtt": [0.1, None, None],
        }
    )
    assert by_group(flows).rows() == [("far", "bbr", 2, 4.0, 2000.0, 0.1), ("near", "cbr", 1, 5.0, None, None)]


class Clock:
    """A clock that advances only in `sleep` and by assignment."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_speed_is_kept() -> None:
    """At speed 4, four simulated seconds take one second, work included."""
    clock = Clock()
    pace = Pace(4, lambda: clock.now, clock.sleep)
    for moment in (1, 2, 3, 4):
        clock.now += 0.1  # work
        pace.keep(moment)
    assert clock.now == pytest.approx(1.0)
    assert pace.reached == pytest.approx(4)
    assert not pace.is_behind


def test_late_run_keeps_pace() -> None:
    """A run that falls behind goes on at the speed given and does not catch up."""
    clock = Clock()
    pace = Pace(1, lambda: clock.now, clock.sleep)
    clock.now = 5
    pace.keep(1)
    assert pace.is_behind
    pace.keep(2)
    assert clock.now == 6


def test_no_speed_never_waits() -> None:
    """Without a speed, the run never waits."""
    clock = Clock()
    pace = Pace(None, lambda: clock.now, clock.sleep)
    pace.keep(100)
    assert clock.now == 0


def test_graph_keeps_peaks() -> None:
    """A graph keeps peaks, and moves by whole columns as values are added."""
    values = [float(n % 7) for n in range(300)]
    drawn = [graph.columns(values[:seen][-200:], seen, 50, 200) for seen in range(1, 301)]
    assert max(map(len, drawn)) == 50
    assert all(max(columns) == 6 for columns in drawn[7:])
    for earlier, later in itertools.pairwise(drawn):
        # Except for the oldest and the newest column, a graph equals the one before, or that shifted by a column.
        assert earlier[1:-1] in (later[1 : len(earlier) - 1], later[: len(earlier) - 2])


def test_area_height() -> None:
    """The height of an area is proportional to its values, and values above zero are visible."""
    assert graph.area([0, 4, 8, 16], top=16, rows=2, width=5) == ["    █", "  ▄██"]
    assert graph.area([0.01], top=100, rows=1, width=1) == ["▁"]


@pytest.mark.parametrize(("greatest", "top"), [(0, 1), (0.03, 0.05), (1, 1), (1.01, 2), (50, 50), (51, 100), (870, 1000)])
def test_scale_ends(greatest: float, top: float) -> None:
    """Scales end at 1, 2 or 5 times a power of ten."""
    assert graph.round_top(greatest) == pytest.approx(top)


@pytest.mark.parametrize(("width", "height", "flows"), [(80, 24, 2), (60, 24, 300), (160, 60, 300)])
def test_page_fits_terminal(scenario: Callable[..., Scenario], width: int, height: int, flows: int) -> None:
    """A page fits the terminal's width and shows the run, its queue and its groups."""
    groups = [{"from": "a", "to": "b", "count": flows, "group": f"[group] {n}", "tcp": "newreno"} for n in range(2)]
    run = specify(scenario(flows=groups), seed=3)
    recent, pace = Recent(run, lately=10), Pace(None)
    screen = Screen(run, "small", recent, pace)
    for moment in backends.stepping("simulator").step(run).moments(PICOSECONDS // 10):
        recent.add(moment)
    console = Console(width=width, height=height, file=io.StringIO(), force_terminal=True, color_system=None)
    with console.capture() as page:
        console.print(screen.draw(width, height))
    text = page.get()
    assert all(len(row) <= width for row in text.splitlines())
    assert "small, seed 3" in text
    assert "codel at 10 Mbit/s" in text
    assert "[group] 1" in text
    assert ("The fastest of 600 flows" in text) == (flows == 300)


def test_runs_side_by_side(scenario: Callable[..., Scenario]) -> None:
    """Two runs fit beside each other into 80 columns and 24 rows, on scales that both have."""
    runs = []
    for name in ("droptail", "codel"):
        hosts = {place: [{"name": place[0], "rate": "1 Gbit/s", "delay": "1 ms"}] for place in ("senders", "receivers")}
        bottleneck = {"rate": "10 Mbit/s", "delay": "1 ms", "queue": {"name": name, "limit": "500 packets"}}
        flows = [{"from": "s", "to": "r", "count": 2, "tcp": "newreno"}]
        runs.append(specify(scenario(network={"dumbbell": {"bottleneck": bottleneck, **hosts}}, flows=flows), seed=1))
    recent = [Recent(run, lately=10) for run in runs]
    page = Beside("two queues", dict(zip(("[droptail]", "codel"), recent, strict=True)), duration=4)
    steps = (backends.stepping("simulator").step(run).moments(PICOSECONDS // 50) for run in runs)
    for moments in zip(*steps, strict=True):
        for values, moment in zip(recent, moments, strict=True):
            values.add(moment)
    console = Console(width=80, height=24, file=io.StringIO(), force_terminal=True, color_system=None)
    with console.capture() as shown:
        console.print(page.draw(80))
    rows = shown.get().splitlines()
    assert len(rows) <= 23
    assert all(len(row) <= 80 for row in rows)
    text = "\n".join(rows)
    assert "[droptail]" in text
    # 500 packets of 1500 bytes take 600 ms; CoDel's target is 5 ms, and ITU-T G.114's limit for talk is 150 ms.
    assert text.count("sojourn ms, 0 to 1000, since 0.02 s") == 2
    assert text.count("packets, 0 to 500, since 0.02 s") == 2
    assert (text.count("bad for a call"), text.count("fine for a call")) == (1, 1)


def test_demo_without_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Without a terminal, `demo` prints findings, a table and what to try; it leaves results, a report and a scenario to edit."""
    monkeypatch.chdir(tmp_path)
    assert status(["demo"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "\x1b" not in shown.out
    lines = shown.out.splitlines()
    assert len(lines) <= 14
    assert lines[0].startswith("queue: codel instead of droptail cuts the mean sojourn time from ")
    runs = sojourn.open("sojourn-demo").sql("select queue, sojourn_mean_s, utilisation from runs order by queue").rows()
    (codel, short, busy), (droptail, long, full) = runs
    assert (codel, droptail) == ("codel", "droptail")
    # More than people bear (ITU-T G.114), and CoDel's target (RFC 8289), with a link that is in use.
    assert long > 0.150 > 0.005 > short
    assert min(busy, full) > 0.95
    assert f"{1e3 * long:.1f}" in shown.out
    assert Path("sojourn-demo/report.html").exists()
    scenario = Path("sojourn-demo/demo.toml")
    assert scenario.read_bytes() == (ROOT / "examples" / "demo.toml").read_bytes()
    for command in lines[-2:]:
        assert str(scenario) in command
    # What somebody has changed stays. The report is there already.
    monkeypatch.setattr(report, "write", lambda directory: directory / "report.html")
    scenario.write_text("mine", encoding="utf-8")
    assert status(["demo"]) == 0
    assert scenario.read_text(encoding="utf-8") == "mine"


def test_demo_checks_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A directory that holds something else is refused before anything is shown live."""
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sojourn.cli.demo._show_live", pytest.fail)
    assert status(["demo", "--out", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_watch_without_terminal(scenario_file: ScenarioFile, capsys: Capture) -> None:
    """Without a terminal, `watch` prints a line a simulated second, then what `run` prints."""
    path = str(scenario_file())
    assert status(["watch", path, "--speed", "max", "--seed", "7"]) == 0
    watched = capsys.readouterr()
    assert watched.err == ""
    lines = watched.out.splitlines()
    assert [text.partition(" s: ")[0] for text in lines[:4]] == ["1", "2", "3", "4"]
    assert status(["run", path, "--set", "seed=7"]) == 0
    assert lines[4:] == capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.toml"], "missing.toml: No such file or directory"),
        (["FILE", "--speed", "0"], "'0' is not a speed; write a number from 0.001 to 1000000 or max"),
        (["FILE", "--speed", "fast"], "'fast' is not a speed"),
        (["FILE", "--speed", "nan"], "'nan' is not a speed"),
        (["FILE", "--seed", "-1"], "--seed"),
        (["FILE", "--set", "durations=3 s"], "durations"),
        (["SWEEP"], ": 12 cells; choose one with --only (axes: tcp, queue)"),
    ],
)
def test_bad_input(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture, arguments: list[str], message: str) -> None:
    """Bad input is a one-line error with status 2."""
    path = scenario_file()
    sweep = tmp_path / "sweep.toml"
    axes = """
[sweep.axes]
tcp = { key = "flows.*.tcp", values = ["cubic", "newreno", "bbr"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "red", "pie", "codel"] }
"""
    sweep.write_text(path.read_text(encoding="utf-8") + axes, encoding="utf-8")
    known = {"FILE": str(path), "SWEEP": str(sweep)}
    assert status(["watch", *(known.get(argument, argument) for argument in arguments)]) == 2
    assert message in complaint(capsys)


def test_one_cell_of_sweep(scenario_file: ScenarioFile) -> None:
    """A cell of a sweep is chosen with `only`, a seed and changes."""
    path = scenario_file()
    axes = '\n[sweep.axes]\ntcp = { key = "flows.*.tcp", values = ["cubic", "bbr"] }\n'
    path.write_text(path.read_text(encoding="utf-8") + axes, encoding="utf-8")
    run = api.single_run(path, 9, {"tcp": "bbr"}, {"duration": "2 s"})
    assert (dict(run.axes), run.seed, run.simulated_seconds) == ({"tcp": "bbr"}, 9, 2)
    assert run.specification["flows"][0]["source"]["name"] == "bbr"
