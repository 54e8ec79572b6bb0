"""Operating ranges: what is refused, that borders are where laws say they are, and that a range is always the same."""

import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn
from sojourn import verdicts
from sojourn.cli.commands import BAD_INPUT, status
from sojourn.exploration import exploring
from sojourn.exploration.exploring import explore
from sojourn.exploration.hunt import Budget, Purse
from sojourn.exploration.operating import ANY, OperatingRange
from sojourn.exploration.plane import Plane
from sojourn.exploration.space import Point, Space, amount_of
from sojourn.verdicts import Observed
from test_search import BASE, BOTTLENECK, write

SPACE: dict[str, Any] = {
    "buffer": {"key": f"{BOTTLENECK}.queue.limit", "range": "0.1 BDP..10 BDP", "spacing": "log"},
    "rate": {"key": f"{BOTTLENECK}.rate", "range": "1 Mbit/s..20 Mbit/s", "spacing": "log"},
    "flows": {"key": "flows.0.count", "range": "1..4"},
    "tcp": {"key": "flows.0.tcp", "values": ["newreno", "cubic"]},
}


def scenario(*names: str, space: Mapping[str, Any] = SPACE, conditions: Sequence[str] = (), **given: Any) -> dict[str, Any]:
    """The scenario of searches without its cross traffic, with a space of these names."""
    chosen = {name: space[name] for name in names}
    search = {"space": chosen, "conditions": list(conditions)}
    return {**BASE, "flows": BASE["flows"][:1], "search": search, "range": given}


class Told:
    """Makes no runs: says of each point what a function says, the same for every seed unless it says otherwise."""

    problems: Sequence[str] = ()

    def __init__(self, says: Any) -> None:
        self._says = says

    def values(self, points: Sequence[Point], seeds: int, after: int = 0) -> list[Observed | None]:
        # What a map says must not depend on the others, as it would if DropTail were asked beside a discipline.
        assert len({point.get("tcp") for point in points}) == 1
        return [
            {name: [said(seed) for seed in range(after, after + seeds)] for name, said in self._says(point).items()}
            for point in points
        ]


def explored(data: Mapping[str, Any], says: Any, runs: int = 400, axes: Sequence[str] | None = None) -> OperatingRange:
    plane = Plane.of(Space.of(data, "here"), axes)
    purse = Purse(Budget(runs, None))
    purse.open(1.0, kept=0)
    return explore(plane, verdicts.definitions(), Told(says), purse)  # type: ignore[arg-type]


def number(value: Any) -> float:
    found = amount_of(value)
    assert isinstance(found, float)
    return found


def _unused(utilisation: float) -> Any:
    return {"unused": lambda _: (utilisation < 0.9, utilisation)}


def test_a_border_that_is_known_is_found_with_a_fifth_of_a_grids_runs() -> None:
    """The border is the line on which a utilisation that is a function of both axes is 0.9."""

    def utilisation(buffer: float, rate: float) -> float:
        return min(1.0, 0.9 + 0.1 * math.log10(buffer) + 0.05 * math.log10(rate / 4.5e6))

    found = explored(
        scenario("buffer", "rate"), lambda point: _unused(utilisation(number(point["buffer"]), number(point["rate"])))
    )
    assert found.runs <= 21 * 21 * 6 / 5
    for row in found.borders.filter(verdict="unused").iter_rows(named=True):
        exact = 10 ** (-0.5 * math.log10(row["rate"] / 4.5))
        assert row["change"] == "ends"
        assert row["at"] == pytest.approx(exact, rel=0.1), row
        assert row["low"] <= exact * 1.02, row
        assert row["high"] >= exact * 0.98, row
        assert row["holds"] == "unused"
    assert found.borders.filter(verdict="unused").height == 41


def test_a_border_that_chance_blurs_is_where_most_seeds_change() -> None:
    """The share of seeds on which it holds rises from 0 to 1 over a decade of the buffer, and is one half at 1 BDP."""

    def said(seed: int, buffer: float, rate: float) -> tuple[bool, float]:
        chance = np.random.default_rng([seed, int(1000 * buffer), int(rate)]).random()
        return bool(chance < 0.5 + math.log10(buffer)), float(buffer)

    found = explored(
        scenario("buffer", "rate"),
        lambda point: {"synchronisation": lambda seed: (said(seed, number(point["buffer"]), number(point["rate"]))[0], None)},
        1000,
    )
    borders = found.borders.filter(verdict="synchronisation")
    inside = [0.5 < row["at"] < 2.0 for row in borders.iter_rows(named=True)]
    assert sum(inside) >= 0.9 * len(inside)
    seeds = found.points["seeds"]
    differ = (found.points["synchronisation"] > 0) & (found.points["synchronisation"] < 1)
    assert set(seeds.unique()) == {exploring.FIRST_SEEDS, exploring.SEEDS}
    assert seeds.filter(differ).mean() > seeds.filter(~differ).mean()  # type: ignore[operator]


def test_places_are_tried_near_the_border() -> None:
    """The border goes across the map, and runs say no more than on which side of it they are."""
    distance = pl.col("buffer").log10() + pl.col("rate").log10() - math.log10(4.5)

    def says(point: Point) -> Any:
        return {"unused": lambda _: (number(point["buffer"]) * number(point["rate"]) < 4.5e6, None)}

    found = explored(scenario("buffer", "rate"), says, 200)
    is_near = found.points.select(distance.abs() < 0.3)["buffer"]
    first = exploring.MOST_SPREAD + len(exploring.CORNERS)
    assert is_near[first:].mean() > 2 * is_near[:first].mean()  # type: ignore[operator]
    grid = found.grid.with_columns(distance.alias("distance")).filter(pl.col("distance").abs() > 0.15)
    assert ((grid["unused"] > 0.5) == (grid["distance"] < 0)).all()


def test_what_cannot_be_asked_at_a_place_does_not_hold_there() -> None:
    """Synchronisation is asked of four flows or more, and holds of all these."""

    def says(point: Point) -> Any:
        asked = {"synchronisation": lambda _: (True, 90.0)} if point["flows"] == 4 else {}
        return {"unused": lambda _: (False, 1.0), **asked}

    found = explored(scenario("buffer", "flows"), says)
    for flows in range(1, 5):
        held = found.grid.filter(flows=float(flows))["holds"]
        assert (held == ("synchronisation" if flows == 4 else "")).all(), flows
    assert "starvation" in found.never


def test_budget_goes_to_the_maps_that_have_borders() -> None:
    """With CUBIC the border goes across the map; New Reno is always well."""

    def says(point: Point) -> Any:
        small = number(point["buffer"]) * number(point["rate"]) < 4.5e6
        return {"unused": lambda _: (point["tcp"] == "cubic" and small, None)}

    found = explored(scenario("buffer", "rate", "tcp"), says, 400)
    number_of = dict(found.points.group_by("tcp").len().iter_rows())
    assert number_of["cubic"] > 2 * number_of["newreno"]
    extent = {row["tcp"]: row["holds_pct"] for row in found.extent.filter(verdict=ANY).iter_rows(named=True)}
    assert extent["newreno"] == 0
    assert extent["cubic"] == pytest.approx(50, abs=4)


def test_a_range_ends_when_all_is_clear() -> None:
    found = explored(scenario("buffer", "rate"), lambda _: _unused(1.0), 10_000)
    assert found.runs == exploring.FIRST_SEEDS * len(found.tried)
    assert len(found.tried) <= exploring.MOST_SPREAD + len(exploring.CORNERS)
    assert found.borders.is_empty()


def test_conditions_leave_places_out() -> None:
    data = scenario("buffer", "rate", conditions=["buffer * rate < 5e6"])
    found = explored(data, lambda point: {"unused": lambda _: (number(point["buffer"]) < 0.5, None)})
    for frame in (found.points, found.grid):
        assert frame.height
        assert (frame["buffer"] * frame["rate"] < 5).all()


def test_other_names_stay_as_the_scenario_has_them() -> None:
    plane = Plane.of(Space.of(scenario("buffer", "flows", "rate"), "here"), ["rate", "flows"])
    point = plane.point(plane.sheets[0], (1.0, 1.0))
    assert (point["buffer"], point["rate"], point["flows"]) == ("50 packets", "20 Mbit/s", 4)


ENOUGH = "80 runs"


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (scenario("buffer", "tcp"), [], "a map needs two names with a range as its axes; there is only buffer"),
        (scenario("tcp"), [], "there is none"),
        (scenario("buffer", "rate", axes=["buffer", "rat"]), [], 'range.axes: unknown name "rat", did you mean "rate"'),
        (scenario("buffer", "rate", "tcp"), ["--axes", "buffer", "tcp"], "--axes: tcp: has choices, which have no order"),
        (scenario("buffer", "rate"), ["--axes", "rate", "rate"], "--axes: must be two names"),
        (scenario("buffer", "rate", axes=["rate"]), [], "range.axes"),
        (scenario("buffer", "rate", verdicts=["unusd"]), [], 'range.verdicts: unknown verdict "unusd", did you mean "unused"'),
        (scenario("buffer", "rate"), ["--verdict", "unusd"], '--verdict: unknown verdict "unusd"'),
        (scenario("buffer", "rate", verdicts=[]), [], "range.verdicts"),
        (scenario("buffer", "rate", axis=["rate"]), [], 'range: unknown key "axis", did you mean "axes"'),
        ({**scenario("buffer", "rate"), "range": 3}, [], "range: must be a table"),
        (scenario("buffer", "rate"), ["--budget", "79 runs"], "--budget: 79 runs: too little to say anything; at least 80 whole"),
        (scenario("buffer", "rate", "tcp", budget="80 runs"), [], "range.budget: 80 runs: too little"),
        (scenario("buffer", "rate", budget="much"), [], 'range.budget: "much" is no budget'),
        (
            scenario("rate", space={"rate": {**SPACE["rate"], "range": "2 Mbit/s..2 Mbit/s"}}),
            [],
            "the second end must be greater",
        ),
        ({key: value for key, value in scenario("rate").items() if key != "search"}, [], "search: this table is required"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_run(
    data: dict[str, Any], options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = write(tmp_path / "it.toml", data), tmp_path / "out"
    assert status(["range", str(file), "--out", str(out), *options]) == BAD_INPUT
    written = capsys.readouterr()
    assert said in written.err
    assert written.err.count("\n") == 1
    assert not out.exists()


def test_a_verdict_that_can_be_asked_nowhere_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "it.toml", {**scenario("buffer", "rate", budget=ENOUGH), "duration": "1 s"})
    assert status(["range", str(file), "--verdict", "unfair-by-rtt", "--progress", "json"]) == BAD_INPUT
    last = capsys.readouterr().err.splitlines()[-1]
    assert "--verdict: unfair-by-rtt could be asked at none of" in last


def test_no_border_is_said_with_its_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "it.toml", {**scenario("buffer", "rate", budget=ENOUGH), "duration": "2 s"})
    assert status(["range", str(file), "--verdict", "starvation", "--set", "flows.0.count=2"]) == 0
    assert "no border: the pair gets along everywhere" in capsys.readouterr().out


#: Short runs, of which borders say little.
SHORT = {**scenario("buffer", "rate", budget="120 runs", verdicts=["unused", "standing-queue"]), "duration": "3 s"}


@pytest.mark.long
def test_a_range_depends_on_its_seed_and_not_on_how_many_runs_are_made_at_once(tmp_path: Path) -> None:
    ranges = [sojourn.find_range(SHORT, jobs=jobs, out=tmp_path / str(jobs)) for jobs in (1, 3)]
    assert ranges[0].points.equals(ranges[1].points)
    for name in ("points.csv", "borders.csv", "range.parquet", "runs.parquet"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes(), name
    assert not ranges[0].points.equals(sojourn.find_range(SHORT, seed=1).points)


@pytest.mark.long
def test_a_range_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    file = write(tmp_path / "it.toml", SHORT)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert status(["range", str(file), "--out", str(whole)]) == 0
    code = (
        "import os, sojourn\n"
        "def die(exploration):\n"
        "    if exploration.purse.spent > 60: os._exit(9)\n"
        f"sojourn.find_range({str(file)!r}, out={str(killed)!r}, progress=die)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    before = len(sojourn.open(killed).frame("runs"))
    assert 0 < before < len(sojourn.open(whole).frame("runs"))
    assert status(["range", str(file), "--out", str(killed)]) == 0
    for name in ("points.csv", "borders.csv", "range.parquet", "range.svg", "range.html", "runs.parquet"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes(), name


class _Texts(HTMLParser):
    """What an SVG says."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def handle_data(self, data: str) -> None:
        self.said.append(data.strip())


@pytest.mark.long
def test_a_map_says_in_words_what_its_colours_say(tmp_path: Path) -> None:
    from sojourn.report import ranges

    data = scenario("buffer", "rate", "tcp")

    def says(point: Point) -> Any:
        buffer = number(point["buffer"])
        return {
            "unused": lambda _: (buffer < 0.5, None),
            "standing-queue": lambda _: (point["tcp"] == "cubic" and buffer > 2, None),
        }

    found = explored(data, says)
    page = ranges.write(found, tmp_path)
    light, dark = ((tmp_path / name).read_text() for name in ("range.svg", "range-dark.svg"))
    for drawn in (light, dark):
        texts = _Texts()
        texts.feed(drawn)
        for label in ("gets along", "unused", "standing-queue", "tcp newreno", "tcp cubic", "buffer (BDP)", "rate (Mbit/s)"):
            assert label in texts.said, label
        # One map has no standing queue, and labels only what it has.
        assert texts.said.count("standing-queue") < texts.said.count("unused")
    assert "gets along on" in page.read_text()


@pytest.mark.long
def test_the_link_is_unused_below_the_buffer_that_the_sawtooth_of_new_reno_needs() -> None:
    """A lone flow that halves its window has the link idle while the window is below one BDP.

    With a buffer of b BDP, 0 <= b <= 1, the window goes from (1 + b) / 2 to 1 + b BDP by a packet a round trip. Below 1 BDP a
    round trip takes the base round-trip time T and the link has the rest of the BDP idle; above, it is busy, and a round trip
    takes as many T as the window is BDP. In units of T for each packet of a BDP the first takes (1 - b) / 2, of which
    (1 - b)^2 / 8 are idle, the second b + b^2 / 2. So the utilisation is 1 - (1 - b)^2 / (4 (1 + b + b^2)): 3/4 without a buffer,
    and 9/10 at b^2 - 4 b + 1 = 0, b = 2 - sqrt(3).
    """
    exact = 2 - math.sqrt(3)
    assert 1 - (1 - exact) ** 2 / (4 * (1 + exact + exact**2)) == pytest.approx(0.9)
    fast = {**SPACE, "rate": {**SPACE["rate"], "range": "100 Mbit/s..200 Mbit/s"}}
    # Every packet is acknowledged, and Linux's proportional rate reduction sends on during recoveries.
    stack = {"profile": "linux-6", "delayed_ack_count": 1}
    data = {**scenario("buffer", "rate", space=fast), "duration": "40 s", "warm_up": "10 s", "stack": stack}
    found = sojourn.find_range(data, verdicts=["unused"], budget="80 runs")
    borders = found.borders.filter(verdict="unused")
    assert (borders["change"] == "ends").all()
    assert borders.height == 41
    for border in borders["at"]:
        assert border == pytest.approx(exact, rel=0.1)
