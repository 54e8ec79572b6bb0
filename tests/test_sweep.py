import itertools
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sojourn
from conftest import SMALL_TOML, Capture, complaint, scenario_data
from doubles import INVENTOR, Inventor, register
from sojourn import backends
from sojourn.campaign import Campaign, plan
from sojourn.cli import show
from sojourn.cli.commands import status
from sojourn.cli.terminal import MANY, checking
from sojourn.errors import InputError
from sojourn.runs import Run, called, key, requests
from sojourn.specification import flow_count, text
from sojourn.sweeps import estimate, file
from sojourn.sweeps.matrix import Matrix
from sojourn.sweeps.paths import KeyPath
from sojourn.sweeps.ranges import Range
from sojourn.units import amount

TCP = {"key": "flows.*.tcp", "values": ["newreno", {"name": "cubic", "beta": 0.8}]}
QUEUE = {"key": "network.dumbbell.bottleneck.queue", "values": ["droptail", {"name": "codel", "target": "2 ms"}]}


def swept(**sweep: Any) -> Matrix:
    """Returns the small scenario with a sweep."""
    return file.from_data({**scenario_data(), "sweep": sweep}, "small.toml")


def names(matrix: Matrix) -> list[str]:
    return [called(axes) for axes in matrix.points()]


def test_axes_are_crossed() -> None:
    """All values are combined, the last axis varying fastest, and set in the scenarios."""
    matrix = swept(axes={"tcp": TCP, "queue": QUEUE})
    assert matrix.axes == ("tcp", "queue")
    assert names(matrix) == [
        "tcp=newreno,queue=droptail",
        "tcp=newreno,queue=codel target=2 ms",
        "tcp=cubic beta=0.8,queue=droptail",
        "tcp=cubic beta=0.8,queue=codel target=2 ms",
    ]
    chosen = [(cell.scenario.flows[0].tcp.name, cell.scenario.network.dumbbell) for cell in matrix.cells()]
    assert [(tcp, bell.bottleneck.queue.name) for tcp, bell in chosen if bell is not None and bell.bottleneck.queue] == [
        ("newreno", "droptail"),
        ("newreno", "codel"),
        ("cubic", "droptail"),
        ("cubic", "codel"),
    ]


def test_cells_share_what_is_alike() -> None:
    """A cell that is read after others is the same as by itself, and has the tables that are alike in common with them."""
    count = {"key": "flows.*.count", "values": [1, 2]}
    loss = {"key": "network.dumbbell.bottleneck.loss", "values": [0.0, 0.5, 1.0]}
    cells = list(swept(axes={"count": count, "tcp": TCP, "queue": QUEUE, "loss": loss}).cells())
    assert len(cells) == 24
    for cell in cells:
        alone = swept(axes={"count": count, "tcp": TCP, "queue": QUEUE, "loss": loss}).cell(cell.axes)
        assert (cell.scenario, cell.given.keys) == (alone.scenario, alone.given.keys)
        assert text(cell.specification) == text(alone.specification)
    assert cells[0].scenario.network.dumbbell is not cells[1].scenario.network.dumbbell
    assert cells[0].scenario.network.dumbbell is cells[6].scenario.network.dumbbell


def test_shared_values_keep_their_type() -> None:
    """Data that are equal in Python but of other types are not taken for each other: true is no count."""
    matrix = swept(axes={"count": {"key": "flows.*.count", "values": [1, {"label": "yes", "value": True}]}})
    cells = matrix.cells()
    next(cells)
    with pytest.raises(InputError, match=r"^small.toml: cell count=yes: flows\[0\].count: must be a valid integer, not True$"):
        next(cells)


def test_zipped_axes() -> None:
    """Zipped axes vary together, and are crossed with the others."""
    rate = {"key": "network.dumbbell.bottleneck.rate", "values": ["10 Mbit/s", "20 Mbit/s"]}
    wait = {"key": "network.dumbbell.bottleneck.delay", "values": ["1 ms", "2 ms"]}
    matrix = swept(axes={"rate": rate, "tcp": TCP, "wait": wait}, zip=[["wait", "rate"]])
    assert matrix.size == 4
    assert [tuple(axes.values()) for axes in matrix.points()] == [
        ("10 Mbit/s", "newreno", "1 ms"),
        ("10 Mbit/s", "cubic beta=0.8", "1 ms"),
        ("20 Mbit/s", "newreno", "2 ms"),
        ("20 Mbit/s", "cubic beta=0.8", "2 ms"),
    ]


def test_exclusions() -> None:
    """`exclude` removes the combinations that match."""
    matrix = swept(axes={"tcp": TCP, "queue": QUEUE}, exclude=[{"tcp": "cubic", "queue": ["droptail"]}])
    assert matrix.size == len(names(matrix)) == 3
    assert "tcp=cubic beta=0.8,queue=droptail" not in names(matrix)


def test_overrides_define_labels() -> None:
    """The values of an axis without a key mean what the overrides set."""
    overrides = [{"when": {"load": "heavy"}, "set": {"flows.*.count": 100}}]
    matrix = swept(axes={"load": ["light", "heavy"]}, overrides=overrides)
    assert [flow_count(cell.specification) for cell in matrix.cells()] == [2, 100]


def test_axis_named_by_key() -> None:
    """An axis without a `key` sets the key that is its name."""
    matrix = swept(axes={"network.dumbbell.bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"], "duration": ["5 s", "6 s"]})
    runs = [cell.specification for cell in matrix.cells()]
    assert [(run["links"][0]["rate"], run["duration"]) for run in runs] == [
        (10**6, 5 * 10**12),
        (10**6, 6 * 10**12),
        (2 * 10**6, 5 * 10**12),
        (2 * 10**6, 6 * 10**12),
    ]


def test_axis_of_a_variable() -> None:
    """An axis sets one of the scenario's variables, which a program's command names, or one of a program's environment."""
    sweep = {
        "axes": {"word": {"key": "variables.word", "values": ["b", 5]}, "x": {"key": "programs.0.environment.X", "values": ["1"]}}
    }
    data = scenario_data(programs=[{"at": "a", "run": "echo {word}"}], variables={"word": "a"})
    matrix = file.from_data({**data, "sweep": sweep}, "small.toml")
    cells = list(matrix.cells())
    assert [cell.axes for cell in cells] == [{"word": "b", "x": "1"}, {"word": "5", "x": "1"}]
    programs = [cell.specification.get("programs", [])[0] for cell in cells]
    assert [(each["command"], each["environment"]) for each in programs] == [(["echo", word], {"X": "1"}) for word in ("b", "5")]


def test_axis_called_like_table() -> None:
    """An axis may have the name of a table of the scenario if a `key` says what it sets."""
    matrix = swept(axes={"flows": {"key": "flows.*.count", "values": [1, 2]}})
    assert [cell.scenario.flows[0].count for cell in matrix.cells()] == [1, 2]


def test_parameter_and_algorithm_axes() -> None:
    """An axis of a parameter applies to the algorithms of another axis, in either order."""
    start = {"key": "flows.*.tcp.slow_start", "values": ["standard", "hystart"]}
    for axes in ({"tcp": TCP, "begin": start}, {"begin": start, "tcp": TCP}):
        chosen = {
            (flows.tcp.name, flows.tcp.slow_start and flows.tcp.slow_start.name)
            for cell in swept(axes=axes).cells()
            for flows in cell.scenario.flows
        }
        assert chosen == {(tcp, begin) for tcp in ("newreno", "cubic") for begin in ("standard", "hystart")}


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["10 ms", "20 ms"], ["10 ms", "20 ms"]),
        ([1, 2.5, True], ["1", "2.5", "true"]),
        (["newreno", {"name": "cubic", "beta": 0.8}], ["newreno", "cubic beta=0.8"]),
        # Keys that all tables have in common are left out.
        ([{"name": "pie", "limit": "9 packets"}, {"name": "codel", "limit": "9 packets"}], ["pie", "codel"]),
        ([{"name": "pie", "target": "2 ms"}, {"name": "pie", "target": "5 ms"}], ["pie target=2 ms", "pie target=5 ms"]),
        ([{"label": "far", "value": "90 ms"}, {"label": "near", "value": "1 ms"}], ["far", "near"]),
        ([{"profile": "rfc", "sack": False}, "linux-6"], ["rfc sack=false", "linux-6"]),
    ],
)
def test_value_labels(values: list[Any], labels: list[str]) -> None:
    """Tables are labelled by the keys in which they differ."""
    matrix = swept(axes={"what": {"key": "description", "values": values}})
    assert [axes["what"] for axes in matrix.points()] == labels


@pytest.mark.parametrize(
    ("text", "steps", "spacing", "expected"),
    [
        ("10 ms..50 ms", 5, "linear", ["10 ms", "20 ms", "30 ms", "40 ms", "50 ms"]),
        # 10 ms times 20 to the power of 0, 1/4, 1/2, 3/4 and 1
        ("10 ms..200 ms", 5, "log", ["10 ms", "21.15 ms", "44.72 ms", "94.57 ms", "200 ms"]),
        ("1 Mbit/s..1 Gbit/s", 4, "log", ["1 Mbit/s", "10 Mbit/s", "100 Mbit/s", "1000 Mbit/s"]),
        ("0.1..0.9", 3, "linear", [0.1, 0.5, 0.9]),
        ("1..100", 3, "log", [1, 10, 100]),
        ("1..4", 3, "linear", [1, 2, 4]),
        ("10 packets..1000 packets", 5, "log", ["10 packets", "32 packets", "100 packets", "316 packets", "1000 packets"]),
        ("1 KiB..2 KiB", 4, "linear", ["1 KiB", "1365 B", "1707 B", "2 KiB"]),
    ],
)
def test_ranges(text: str, steps: int, spacing: Any, expected: list[object]) -> None:
    """Ranges have even steps, linear or logarithmic, between their ends."""
    assert Range.of(text, spacing).spread(steps) == expected


RATE = {"key": "network.dumbbell.bottleneck.rate", "range": "1 Mbit/s..1 Gbit/s", "spacing": "log"}
COUNT = {"key": "flows.*.count", "range": "1..50"}


def test_drawn_cells() -> None:
    """Drawn cells are all different, with values of lists and of ranges; more cells, or another axis, leave the others be."""
    drawn = swept(axes={"tcp": TCP, "rate": RATE}, draw={"cells": 50, "seed": 7})
    points = list(drawn.points())
    assert drawn.size == len(points) == len({tuple(point.values()) for point in points}) == 50
    assert all(10**6 <= rate <= 10**9 for rate in (cell.specification["links"][0]["rate"] for cell in drawn.cells()))
    assert {point["tcp"] for point in points} == {"newreno", "cubic beta=0.8"}
    assert list(swept(axes={"tcp": TCP, "rate": RATE}, draw={"cells": 10, "seed": 7}).points()) == points[:10]
    wider = swept(axes={"tcp": TCP, "rate": RATE, "count": COUNT}, draw={"cells": 50, "seed": 7})
    assert [{**point, "count": None} for point in points] == [{**point, "count": None} for point in wider.points()]
    assert list(swept(axes={"tcp": TCP, "rate": RATE}, draw={"cells": 10, "seed": 8}).points()) != points[:10]


def test_drawn_values_are_spread() -> None:
    """Every value of a range is equally likely, or with logarithmic spacing every ratio: a third of the rates in each decade."""
    points = swept(axes={"rate": RATE, "count": COUNT}, draw={"cells": 900}).points()
    rates, counts = zip(*((amount(point["rate"]), amount(point["count"])) for point in points), strict=True)
    decades = [sum(10**decade <= rate < 10 ** (decade + 1) for rate in rates) for decade in (6, 7, 8)]
    # Binomial with 900 and 1/3 or 1/2: a deviation is 14.1 or 15, and five of them are never exceeded.
    assert all(abs(number - 300) < 5 * 14.1 for number in decades)
    assert abs(sum(count <= 25 for count in counts) - 450) < 5 * 15


def test_drawn_cells_obey_exclusions_and_selections() -> None:
    """What a sweep excludes is never drawn, and --only takes those of the drawn cells that it names."""
    sweep: dict[str, Any] = {"axes": {"tcp": TCP, "queue": QUEUE, "rate": RATE}, "draw": {"cells": 40}}
    drawn = swept(**sweep, exclude=[{"tcp": "newreno", "queue": "codel"}])
    assert drawn.size == 40
    assert not any(point["tcp"] == "newreno" and point["queue"].startswith("codel") for point in drawn.points())
    chosen = drawn.only({"queue": ["codel"]})
    assert list(chosen.points()) == [point for point in drawn.points() if point["queue"].startswith("codel")]
    assert chosen.size == len(list(chosen.points()))


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        ({"axis": {}}, 'sweep: unknown key "axis", did you mean "axes"?'),
        ({"axes": {"d": {"kee": "duration"}}}, 'sweep.axes.d: unknown key "kee", did you mean "key"?'),
        (
            {"axes": {"d": {"key": "network.dumbbell.botleneck.rate", "values": ["1 s"]}}},
            'axes.d.key: network.dumbbell: unknown key "botleneck", did you mean "bottleneck"?',
        ),
        ({"axes": {"d": {"key": "flows.tcp", "values": ["cubic"]}}}, '"flows" is a list; write "flows.*" for all entries'),
        ({"axes": {"d": {"key": "duration.x", "values": ["cubic"]}}}, '"duration" is not a table and has no key "x"'),
        (
            {"axes": {"d": {"key": "seed", "values": [1, 2]}}},
            "axes and overrides cannot set seed; set the number of seeds per cell",
        ),
        ({"axes": {"duration": []}}, "sweep.axes.duration.values: must have 1 or more"),
        ({"axes": {"duration": "5 s"}}, "sweep.axes.duration: '5 s' is not an axis; write its values in brackets"),
        ({"axes": "duration"}, "sweep.axes: must be a table"),
        ({"axes": {"d": {"key": "duration"}}}, 'sweep.axes.d: give either "values" or "range"'),
        (
            {"axes": {"d": {"key": "duration", "range": "1 s..2 s"}}},
            'axes.d: a range needs "steps", its number of values, or the sweep "draw"',
        ),
        ({"draw": {"cells": 3}}, "sweep: draw: there are no axes"),
        ({"axes": {"tcp": TCP}, "draw": {"cells": 3}}, "sweep: draw: no more than 2 of 3 cells were found that differ"),
        ({"axes": {"tcp": TCP}, "draw": {"cells": 0}}, "sweep.draw.cells: must be greater than or equal to 1, not 0"),
        (
            {"axes": {"tcp": TCP, "queue": QUEUE}, "zip": [["tcp", "queue"]], "draw": {"cells": 1}},
            'cannot be combined with "zip"',
        ),
        (
            {"axes": {"rate": RATE, "tcp": TCP}, "exclude": [{"rate": "1 Mbit/s"}], "draw": {"cells": 1}},
            'exclude[0]: values of "rate" are drawn from a range, and cannot be named',
        ),
        ({"axes": {"d": {"key": "duration", "values": ["1 s"], "steps": 3}}}, '"steps" and "spacing" need a "range"'),
        ({"axes": {"d": {"key": "duration", "range": "1 s", "steps": 3}}}, '"1 s" is not a range'),
        ({"axes": {"d": {"key": "duration", "range": "1 s..2 B", "steps": 3}}}, "one end is a duration, the other a size"),
        ({"axes": {"d": {"key": "duration", "range": "1 s..2", "steps": 3}}}, "both ends need a unit, or neither"),
        ({"axes": {"d": {"key": "duration", "range": "2 s..1 s", "steps": 3}}}, "the second end must be greater"),
        (
            {"axes": {"d": {"key": "duration", "range": "0 s..1 s", "steps": 3, "spacing": "log"}}},
            "a logarithmic range must begin above 0",
        ),
        ({"axes": {"d": {"key": "flows.*.count", "range": "1..3", "steps": 9}}}, "2 values have the label"),
        ({"axes": {"duration": ["5 s", "5 s"]}}, '2 values have the label "5 s"'),
        ({"axes": {"jain": {"key": "duration", "values": ["5 s"]}}}, 'axis "jain": the results have a column of that name'),
        ({"axes": {"Seed": {"key": "duration", "values": ["5 s"]}}}, 'axis "Seed": the results have a column of that name'),
        ({"axes": {"seeds": {"key": "duration", "values": ["5 s"]}}}, 'axis "seeds": the results have a column of that name'),
        ({"axes": {"jain_ci_low": {"key": "duration", "values": ["5 s"]}}}, 'axis "jain_ci_low": the results have a column'),
        (
            {"axes": {"d": {"key": "duration", "values": ["5 s"]}, "D": {"key": "warm_up", "values": ["1 s"]}}},
            'the results have an axis "d", and SQL ignores case',
        ),
        ({"axes": {"flows": ["one", "two"]}}, 'axes.flows: would replace all of "flows" in the scenario; rename the axis, or'),
        ({"axes": {"network": ["a"]}}, 'axes.network: would replace all of "network" in the scenario; rename the axis, or'),
        ({"axes": {"duratoin": ["5 s", "6 s"]}}, 'sets nothing; give it a "key", or use its values in overrides'),
        ({"axes": {"duratoin": ["5 s", "6 s"]}}, 'did you mean "duration"?'),
        (
            {"axes": {"load": [{"count": 1}]}, "overrides": [{"when": {"load": "count=1"}, "set": {}}]},
            'without a "key" its values must be names, not tables',
        ),
        ({"axes": {"tcp": TCP}, "zip": [["tcp", "rate"]]}, 'zip[0]: unknown axis "rate"'),
        ({"axes": {"tcp": TCP}, "zip": [["tcp"]]}, "zip[0]: needs two axes or more"),
        ({"axes": {"tcp": TCP, "queue": QUEUE}, "zip": [["tcp", "queue"]] * 2}, 'zip[1]: the axis "tcp" is already zipped'),
        (
            {"axes": {"tcp": TCP, "duration": ["5 s"]}, "zip": [["tcp", "duration"]]},
            "the same number of values: tcp has 2, duration has 1",
        ),
        ({"axes": {"tcp": TCP}, "exclude": [{"tpc": "newreno"}]}, 'exclude[0]: unknown axis "tpc", did you mean "tcp"?'),
        ({"axes": {"tcp": TCP}, "exclude": [{"tcp": "newrino"}]}, 'unknown value of axis tcp "newrino", did you mean "newreno"?'),
        ({"axes": {"tcp": TCP}, "exclude": [{"tcp": ["newreno", "cubic"]}]}, "sweep.exclude: no cell is left"),
        ({"axes": {"tcp": TCP}, "exclude": [{"tcp": {"a": 1}}]}, "write the value's label"),
        ({"axes": {"tcp": TCP}, "overrides": [{"when": {"tpc": "x"}, "set": {}}]}, 'overrides[0].when: unknown axis "tpc"'),
        (
            {"axes": {"tcp": TCP}, "overrides": [{"when": {"tcp": "cubic"}, "set": {"flows.*.cuont": 1}}]},
            'sweep.overrides[0]: set: flows.*.cuont: flows.*: unknown key "cuont", did you mean "count"?',
        ),
        ({"seeds": 0}, "sweep.seeds: must be greater than or equal to 1"),
        ({"until": "ci(jane) < 0.02"}, 'until: unknown metric "jane", did you mean "jain"?'),
        ({"until": "ci(share_pct) < 1"}, 'until: "share_pct" is a metric of groups only; write ci(share_pct, GROUP)'),
        ({"until": "jain < 0.02"}, 'until: "jain < 0.02" is not a condition; write a metric and a bound'),
        ({"until": "ci(jain) < 0"}, "the bound must be a number greater than 0"),
        ({"until": "ci(jain) < nan"}, "the bound must be a number greater than 0"),
        ({"until": "ci(jain) < much"}, '"much" is not a number'),
        ({"until": "ci(jain) < 0.02", "most_seeds": 2}, "most_seeds: must be greater than or equal to 3"),
        ({"until": "ci(jain) < 0.02", "seeds": 5}, 'give either "seeds" or "until"'),
        ({"most_seeds": 5}, 'most_seeds: needs "until"'),
    ],
)
def test_bad_sweeps(sweep: Mapping[str, Any], message: str) -> None:
    """A wrong sweep is a one-line error with the key and what is allowed."""
    with pytest.raises(InputError) as error:
        swept(**sweep)
    assert str(error.value).startswith("small.toml: sweep")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_misspelt_sweep() -> None:
    """An unknown top-level key like "sewep" suggests "sweep"."""
    with pytest.raises(InputError, match='unknown key "sewep", did you mean "sweep"'):
        file.from_data({**scenario_data(), "sewep": {}}, "small.toml")


def refused(matrix: Matrix) -> str:
    with pytest.raises(InputError) as error:
        plan(Campaign.of_matrix(matrix, 1), Inventor())
    return str(error.value)


def test_invalid_cell_is_named() -> None:
    """The error of a cell that is no valid scenario names the cell."""
    matrix = swept(axes={"duration": ["5 s", "1 s"]})
    assert refused(matrix).startswith("small.toml: cell duration=1 s: warm_up: ")


def test_axis_without_target() -> None:
    """An axis that sets something the scenario does not have is an error."""
    matrix = swept(axes={"far": {"key": "network.links.0.delay", "values": ["1 ms", "2 ms"]}})
    assert 'the scenario has no "network.links.0.delay" to set' in refused(matrix)


def test_same_cells_are_refused() -> None:
    """Cells with the same specification are an error: one value spelt twice, or an override that undoes an axis."""
    assert "the cells duration=5 s and duration=5000 ms are the same run; exclude one" in refused(
        swept(axes={"duration": ["5 s", "5000 ms"]})
    )
    undone = [{"when": {"tcp": ["newreno", "cubic"]}, "set": {"flows.*.tcp": "bbr"}}]
    assert "are the same run" in refused(swept(axes={"tcp": TCP}, overrides=undone))


def test_only_and_changes() -> None:
    """`only` and changes select and change the cells of a sweep."""
    matrix = swept(axes={"tcp": TCP, "queue": QUEUE})
    assert names(matrix.only({"tcp": ["CUBIC"], "queue": ["droptail"]})) == ["tcp=cubic beta=0.8,queue=droptail"]
    with pytest.raises(InputError, match='--only: unknown value of axis tcp "bbr"'):
        matrix.only({"tcp": ["bbr"]})
    changed = matrix.with_changes({"duration": "7 s"})
    assert {cell.scenario.duration for cell in changed.cells()} == {7 * 10**12}


def test_key_paths() -> None:
    """Key paths set values in tables, list elements and names given as text, and leave the original as it was."""
    before: Mapping[str, Any] = {"flows": [{"count": 1}, {"count": 2, "tcp": "cubic"}], "stack": "rfc"}
    data = before
    for path, value in (
        ("flows.*.count", 3),
        ("flows.1.tcp.beta", 0.8),
        ("probe.queue_series", "1 s"),
        ("stack.minimum_rto", "1 s"),
    ):
        data = KeyPath.of(path).assigned(data, value)
    assert data == {
        "flows": [{"count": 3}, {"count": 3, "tcp": {"name": "cubic", "beta": 0.8}}],
        "probe": {"queue_series": "1 s"},
        "stack": {"profile": "rfc", "minimum_rto": "1 s"},
    }
    assert before == {"flows": [{"count": 1}, {"count": 2, "tcp": "cubic"}], "stack": "rfc"}


SWEEP_TOML = """
[sweep]
seeds = 3

[sweep.axes]
tcp = { key = "flows.*.tcp", values = ["newreno", { name = "cubic", beta = 0.8 }] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["codel", "pie"] }
"""


@pytest.fixture
def swept_file(tmp_path: Path) -> Path:
    path = tmp_path / "swept.toml"
    path.write_text(SMALL_TOML + SWEEP_TOML, encoding="utf-8")
    return path


def test_run_shows_cells(swept_file: Path, tmp_path: Path, capsys: Capture) -> None:
    """`run` shows a row for each cell, and the results have the axes as columns."""
    assert status(["run", str(swept_file), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("4 cells, 3 seeds each: 12 runs, 48 simulated seconds\n")
    assert "cubic beta=0.8 │ pie" in shown
    assert " ± " in shown
    runs = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert runs.columns[:4] == ["key", "tcp", "queue", "seed"]
    assert runs.height == 12


def test_seeds_option_overrides_file(swept_file: Path, capsys: Capture) -> None:
    """`--seeds` overrides the file; a single cell is shown as a scenario."""
    assert status(["run", str(swept_file), "--seeds", "1", "--only", "tcp=cubic", "--only", "queue=pie"]) == 0
    assert "mean Mbit/s" in capsys.readouterr().out  # a single cell is shown as a scenario


def test_check_covers_every_cell(swept_file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` checks every cell with the backend and names the one it refuses."""
    assert status(["check", str(swept_file)]) == 0
    assert 'scenario "small" is valid: 4 cells, the first with 4 nodes' in capsys.readouterr().out
    register(monkeypatch, lambda: Inventor(refused=frozenset({1})))
    assert status(["check", str(swept_file)]) == 2
    assert f"{swept_file}: cell tcp=newreno,queue=codel: it makes no sense" in complaint(capsys)


def test_load_refuses_sweeps(swept_file: Path) -> None:
    """`load` refuses a file of several scenarios, and `expand` returns them."""
    with pytest.raises(InputError, match="the file has 4 scenarios"):
        sojourn.load(swept_file)
    assert sojourn.expand(swept_file).size == 4


def test_scenario_without_sweep(scenario_file: Callable[..., Path]) -> None:
    """A scenario without a sweep is one cell with its name."""
    assert names(sojourn.expand(scenario_file())) == ["scenario=small"]


def test_largest_seed(scenario: Callable[..., sojourn.Scenario]) -> None:
    """Seeds beyond 2^63 - 1 are an error."""
    largest = 2**63 - 1
    assert len(plan(Campaign.of_scenario(scenario(seed=largest - 1), 2), Inventor())) == 2
    with pytest.raises(InputError, match=f"seed: {largest} is too large: 2 seeds count up from it"):
        plan(Campaign.of_scenario(scenario(seed=largest), 2), Inventor())


def test_keys_of_cells() -> None:
    """The keys computed for a cell at once are those of its runs."""
    for cell in swept(axes={"tcp": TCP, "queue": QUEUE}).cells():
        runs = [cell.run(repetition, INVENTOR) for repetition in range(3)]
        found = list(requests(text(runs[0].specification), [1, 2, 3]))
        assert found == [run.request for run in runs]
        assert [key(request, INVENTOR) for request in found] == [run.key for run in runs]


@pytest.mark.parametrize("speed", [10.0, 1e4, 1e7])
@pytest.mark.parametrize("overhead", [0.0, 0.004, 1.0])
def test_speed_estimate(speed: float, overhead: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Speed and overhead are recovered from a clock that adds a fixed time a run and a time a packet."""
    now = 0.0

    def carry_out(run: Run) -> None:
        nonlocal now
        assert run.specification["warm_up"] < run.specification["duration"]
        slowest = min(link["rate"] for link in run.specification["links"])
        now += overhead + slowest * run.simulated_seconds / 12_000 / speed

    monkeypatch.setattr("sojourn.sweeps.estimate.time.perf_counter", lambda: now)
    (cell,) = swept().cells()
    found = estimate.measure(cell.run(0, INVENTOR), carry_out)
    assert found.packets_per_second == pytest.approx(speed, rel=1e-6)
    assert found.overhead == pytest.approx(overhead, abs=1e-6)
    assert found.seconds(3, 1000) == pytest.approx(3 * overhead + 1000 / speed, rel=1e-5)


def test_plan(swept_file: Path, tmp_path: Path, capsys: Capture) -> None:
    """`plan` shows the axes, the runs that are missing, and an estimate of their packets."""
    out = str(tmp_path / "out")
    assert status(["run", str(swept_file), "--only", "tcp=cubic", "--only", "queue=pie", "--out", out]) == 0
    capsys.readouterr()
    assert status(["plan", str(swept_file), "--out", out]) == 0
    shown = capsys.readouterr().out
    assert "newreno, cubic beta=0.8" in shown
    assert "4 cells, 3 seeds each: 12 runs, 48 simulated seconds\n" in shown
    assert f"{out} has the results of 3 of 12 runs\n" in shown
    # Nine runs of 4 s at 10 Mbit/s are left.
    assert f"{9 * 4 * 10e6 / 12_000:,.0f} packets of 1500 bytes" in shown


def test_axis_of_several_keys() -> None:
    """An axis sets each of its keys to the same value, so that both directions of a link have one discipline."""
    bottleneck = "network.dumbbell.bottleneck"
    keys = [f"{bottleneck}.queue.name", f"{bottleneck}.reverse.queue.name"]
    data = scenario_data()
    data["network"]["dumbbell"]["bottleneck"]["reverse"] = {"queue": {"name": "droptail", "limit": "50 packets"}}
    matrix = file.from_data(data | {"sweep": {"axes": {"queue": {"key": keys, "values": ["pie", "fq_codel"]}}}}, "small.toml")
    assert matrix.described()["queue"] == (", ".join(keys), ["pie", "fq_codel"])
    for cell, name in zip(matrix.cells(), ["pie", "fq_codel"], strict=True):
        there, back, *_ = cell.specification["links"]
        assert (there["queue"]["name"], back["queue"]["name"]) == (name, name)
        assert (there["queue"]["limit"], back["queue"]["limit"]) == ({"packets": 100}, {"packets": 50})
    for wrong, line in [([], "key: must "), ([f"{bottleneck}.rat"], 'key: network.dumbbell.bottleneck: unknown key "rat"')]:
        with pytest.raises(InputError, match=line):
            file.from_data(data | {"sweep": {"axes": {"queue": {"key": wrong, "values": ["pie"]}}}}, "small.toml")


def test_range_of_bandwidth_delay_products() -> None:
    """A limit in BDP takes a range: 0.25 to 8 in five doublings, which figures draw as quantities."""
    matrix = swept(
        axes={
            "limit": {
                "key": "network.dumbbell.bottleneck.queue.limit",
                "range": "0.25 BDP..8 BDP",
                "steps": 6,
                "spacing": "log",
            }
        }
    )
    labels = matrix.described()["limit"][1]
    assert labels == ["0.25 BDP", "0.5 BDP", "1 BDP", "2 BDP", "4 BDP", "8 BDP"]
    assert [amount(label) for label in labels] == [0.25, 0.5, 1, 2, 4, 8]
    limits = [cell.specification["links"][0]["queue"]["limit"]["bandwidth_delay_products"] for cell in matrix.cells()]
    assert limits == [0.25, 0.5, 1, 2, 4, 8]
    with pytest.raises(InputError, match="unknown unit"):
        swept(axes={"limit": {"key": "network.dumbbell.bottleneck.queue.limit", "range": "1 BDP..8 packets", "steps": 3}})


def test_cost_is_that_of_links_with_data() -> None:
    """On 20 Mbit/s down and 2 up a download costs what 20 Mbit/s carry, an upload what 2 do; flows share a cost.

    A plan, whose backend says it while it checks the run, has the same.
    """

    def cost(*flows: dict[str, Any]) -> float:
        data = scenario_data(flows=[{"tcp": "newreno", **flow} for flow in flows])
        data["network"]["dumbbell"]["bottleneck"] |= {"rate": "20 Mbit/s", "reverse": {"rate": "2 Mbit/s"}}
        (cell,) = file.from_data(data, "small.toml").cells()
        known = cell.run(0, INVENTOR).cost
        assert plan(Campaign.of_cells("small", [cell]), backends.named("simulator")).cost == known
        return known / 4e6

    down, up = {"from": "a", "to": "b"}, {"from": "b", "to": "a"}
    assert cost(down) == 20
    assert cost(up) == 2
    assert cost(down, down, up) == cost({**down, "both_ways": True}) == 22


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (59.6, "1 min"), (61, "1 min 1 s"), (7200, "2 h"), (7261, "2 h 1 min"), (90000, "1 d 1 h")],
)
def test_durations_in_two_units(seconds: float, text: str) -> None:
    """Durations are shown in at most two units."""
    assert show.duration(seconds) == text


#: Axes whose values mean nothing to a scenario, for what is counted without one.
LETTERS = {axis: [f"{axis}{number}" for number in range(3)] for axis in "abcd"}

conditions = st.dictionaries(
    st.sampled_from(list(LETTERS)), st.lists(st.integers(0, 2), min_size=1, unique=True), min_size=1
).map(lambda chosen: {axis: [f"{axis}{number}" for number in numbers] for axis, numbers in chosen.items()})


@given(st.lists(conditions, max_size=4), conditions, st.booleans())
def test_cells_are_counted(exclude: list[dict[str, list[str]]], only: dict[str, list[str]], zipped: bool) -> None:
    """The number of cells, which is computed, and the cells are those that a search of all combinations finds."""
    overrides = [{"when": {axis: values}, "set": {"duration": "4 s"}} for axis, values in LETTERS.items()]
    sweep = {"axes": LETTERS, "overrides": overrides, "exclude": exclude, "zip": [["a", "d"]] if zipped else []}

    def matches(condition: dict[str, list[str]], point: dict[str, str]) -> bool:
        return all(point[axis] in values for axis, values in condition.items())

    points = [dict(zip(LETTERS, labels, strict=True)) for labels in itertools.product(*LETTERS.values())]
    left = [
        point
        for point in points
        if not any(matches(condition, point) for condition in exclude) and (not zipped or point["a"][1] == point["d"][1])
    ]
    if not left:
        with pytest.raises(InputError, match=r"small\.toml: sweep\.exclude: no cell is left"):
            swept(**sweep)
        return
    matrix = swept(**sweep)
    assert list(matrix.points()) == left
    assert matrix.size == len(left)
    wanted = [point for point in left if matches(only, point)]
    if wanted:
        narrowed = matrix.only(only)
        assert list(narrowed.points()) == wanted
        assert narrowed.size == len(wanted)


HUGE = {
    "cells": ("[sweep]\n", "10,000,000 cells x 1 seed: 10,000,000 runs"),
    "all but one cell excluded": (
        '[sweep]\nexclude = [{ "flows.0.count" = 1 }]\n',
        "9,999,000 cells x 1 seed: 9,999,000 runs",
    ),
    "cells until precise": (
        '[sweep]\nuntil = "ci(jain) < 0.1"\nmost_seeds = 10\n',
        "10,000,000 cells x up to 10 seeds: 100,000,000 runs",
    ),
}


@pytest.mark.parametrize(("sweep", "figure"), HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("command", ["check", "plan", "run"])
def test_huge_sweep_is_refused(command: str, sweep: str, figure: str, tmp_path: Path, capsys: Capture) -> None:
    """More cells than a campaign may have are one line with their number, before any of them is made."""
    path = tmp_path / "huge.toml"
    delay = '"network.dumbbell.bottleneck.delay" = { range = "1 us..1000 us", steps = 1000 }\n'
    count = '"flows.0.count" = { range = "1..10000", steps = 10000 }\n'
    path.write_text(f"{SMALL_TOML}{sweep}[sweep.axes]\n{count}{delay}")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Matrix, "cell", None)  # none is made
        assert status([command, str(path)]) == 2
    assert complaint(capsys) == f"sojourn: {path}: {figure}; at most 1,000,000 cells and 10,000,000 runs\n"


@pytest.mark.parametrize("command", ["check", "plan", "run"])
def test_huge_seeds_are_refused(command: str, tmp_path: Path, capsys: Capture) -> None:
    """More runs than a campaign may have are one line with their number; a million runs of one cell are fine."""
    path = tmp_path / "huge.toml"
    path.write_text(f"{SMALL_TOML}[sweep]\nseeds = 100000000000\n")
    assert status([command, str(path)]) == 2
    figure = "1 cell x 100,000,000,000 seeds: 100,000,000,000 runs"
    assert complaint(capsys) == f"sojourn: {path}: {figure}; at most 1,000,000 cells and 10,000,000 runs\n"
    assert len(plan(Campaign.of_matrix(sojourn.expand(path), 1_000_000), Inventor())) == 1_000_000


def test_many_cells_are_announced(capsys: Capture) -> None:
    """Where no bar shows it, the number of many cells is said before they are checked, and that of few is not."""
    for cells, said in ((MANY - 1, ""), (MANY, "checking 10,000 cells\n")):
        with checking(cells):
            assert capsys.readouterr().err == said


def test_too_many_steps() -> None:
    """A range has at most a million values, and more are refused before they are made."""
    with pytest.raises(InputError, match=r"axes\.count\.steps: must be less than or equal to 1000000, not 1000000000"):
        swept(axes={"count": {"key": "flows.0.count", "range": "1..1000000000", "steps": 10**9}})


def test_dictionary_is_run(scenario_file: Callable[..., Path]) -> None:
    """`sojourn.run` takes a scenario file's tables as a dictionary: the runs are those of the file, and its errors name keys."""
    sweep = {"seeds": 2, "axes": {"tcp": TCP}}
    file_of_same = scenario_file()
    text_of_sweep = (
        '[sweep]\nseeds = 2\naxes.tcp = { key = "flows.*.tcp", values = ["newreno", { name = "cubic", beta = 0.8 }] }\n'
    )
    file_of_same.write_text(SMALL_TOML + text_of_sweep, encoding="utf-8")
    data = {**tomllib.loads(SMALL_TOML), "sweep": sweep}
    found = sojourn.run(data, backend=Inventor(), only={"tcp": "newreno"}, changes={"duration": "5 s"})
    of_file = sojourn.run(file_of_same, backend=Inventor(), only={"tcp": "newreno"}, changes={"duration": "5 s"})
    assert found.runs.equals(of_file.runs)
    assert found.command.startswith("sojourn.run(<scenario small>, only=")
    with pytest.raises(InputError, match=r'the scenario: unknown key "flow", did you mean "flows"'):
        sojourn.run({**scenario_data(), "flow": []})


def test_wrong_change_is_named(scenario_file: Callable[..., Path], capsys: Capture) -> None:
    """Of two changes that only make sense together and a wrong one, the wrong one is named, wherever it stands."""
    right = ["--set", "warm_up='5 s'", "--set", "duration='9 s'"]
    for changes in ([*right, "--set", "flows.0.count=0"], ["--set", "flows.0.count=0", *right]):
        assert status(["check", str(scenario_file()), *changes]) == 2
        assert complaint(capsys).startswith("sojourn: --set flows.0.count: flows[0].count: ")


@pytest.mark.parametrize("nested", [800 * "[" + 800 * "]", 60 * "{ a = " + "1" + 60 * " }", 20_000 * "["])
def test_deeply_nested(nested: str, scenario_file: Callable[..., Path], capsys: Capture) -> None:
    """Tables and lists that are nested too deeply are one line, in a file and in --set."""
    path = scenario_file()
    assert status(["check", str(path), "--set", f"flows={nested}"]) == 2
    assert "nested too deeply" in complaint(capsys)
    path.write_text(f"a = {nested}\n", encoding="utf-8")
    assert status(["check", str(path)]) == 2
    assert "nested too deeply" in complaint(capsys)
