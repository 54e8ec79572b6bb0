"""Tables fit the width they are printed for, and lose no number."""

import csv
import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sojourn
from conftest import ROOT, Capture, scenario_data
from sojourn import digits
from sojourn.analysis import summary
from sojourn.analysis.estimates import over_seeds
from sojourn.cli.commands import status
from sojourn.metrics import METRICS
from sojourn.scenario import from_data
from sojourn.statistics import estimate
from sojourn.table import Table, label, measured, number, of_frame, render, text, write_csv, write_json

ScenarioFile = Callable[..., Path]

WIDTHS = [60, 80, 120, 200]

SWEEP = """
[sweep]
seeds = 2

[sweep.axes]
tcp = { key = "flows.0.tcp", values = ["cubic", "newreno"] }
queue = { key = "network.dumbbell.bottleneck.queue", values = ["codel", "droptail"] }
"""


def table_of(labels: list[str], values: list[float], sentence: str) -> Table:
    """Returns a table with two names, a sentence and four intervals in every row."""
    rows = [
        {
            **{"name": name, "other": name[::-1], "words": sentence},
            **{f"m{place}{end}": value * (place + 1) for place in range(4) for end in ("", "_ci_low", "_ci_high")},
        }
        for name, value in zip(labels, values, strict=True)
    ]
    columns = [
        label("name", keep=True),
        label("other", keep=True),
        *(measured(f"m{place}", f"Measured value number {place} (ms)", "{:.2f}".format, rank=place) for place in range(4)),
        text("words", rank=9),
    ]
    return Table("made", "A title that is long enough to need more than one line of sixty columns on a terminal", columns, rows)


@pytest.mark.parametrize("width", WIDTHS)
@given(
    labels=st.lists(st.text("abcdefgh-", min_size=1, max_size=10), min_size=1, max_size=5),
    value=st.floats(-1e9, 1e9),
    sentence=st.text("abc ", max_size=90),
)
def test_tables_keep_numbers_whole(width: int, labels: list[str], value: float, sentence: str) -> None:
    """No line is wider than asked for, every column is shown or named below, and no number is cut."""
    values = [value / (place + 1) for place in range(len(labels))]
    table = table_of(labels, values, sentence)
    shown = render(table, width)
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    flat = " ".join(shown.split())
    left_out = flat.partition("Left out at")[2]
    for place in range(4):
        column = f"Measured value number {place} (ms)"
        assert column in left_out or all(f"{value * (place + 1):.2f} ± 0.00" in shown for value in values) or column in flat
    assert all(f"{value:.2f} ± 0.00" in shown for value in values)
    whole = render(table, None)
    assert "Left out" not in whole
    assert all(f"{value * 4:.2f} ± 0.00" in whole for value in values)


@given(mean=st.floats(-1e4, 1e4), half=st.floats(0.11, 1e7))
def test_digits_follow_the_interval(mean: float, half: float) -> None:
    """Half of an interval has one digit, or two if the first is 1, and the mean the same place; neither is moved by much."""
    shown, of_half = digits.of_interval(mean, half=half) or ("", "")
    significant = of_half.replace(".", "").strip("0")
    assert len(significant) <= (2 if significant.startswith("1") else 1)
    assert shown.partition(".")[2].isdigit() == of_half.partition(".")[2].isdigit()
    assert len(shown.partition(".")[2]) == len(of_half.partition(".")[2])
    assert abs(float(of_half) - half) <= half / 5 * (1 + 1e-6)
    assert abs(float(shown) - mean) <= half / 4 * (1 + 1e-6)
    assert float(shown) != 0 or not shown.startswith("-")


def test_means_with_intervals() -> None:
    """Beside an interval the digits are its; a value alone, or one that is the same with all seeds, has those of its column."""
    column = measured("m", "", lambda value: f"{value * 1e3:.2f}", 1e3)

    def shown(mean: float, half: float | None, above: float | None = None) -> str:
        low, high = (None, None) if half is None else (mean - half, mean + (half if above is None else above))
        return str(column.show({"m": mean, "m_ci_low": low, "m_ci_high": high}))

    assert shown(0.5134567, 0.0162) == "513 ± 16"
    assert shown(0.5134567, 0.0262) == "510 ± 30"
    assert shown(0.5134567, 0.00995) == "513 ± 10"
    assert shown(0.5134567, 0.0000312) == "513.46 ± 0.03"
    assert shown(0.0, 0.000312) == "0.0 ± 0.3"
    assert shown(0.5134567, None) == "513.46"
    assert shown(0.5134567, 0.0) == "513.46 ± 0.00"
    # A bound cuts one side off.
    assert shown(0.97, 0.0423, 0.03) == "970 [930, 1000]"
    for metric in METRICS.values():
        mean, half = 3.14159 / metric.factor, 0.0234 / metric.factor
        assert metric.numbers(mean, mean - half, half=half) == ["3.14", "3.12", "0.02"]


def test_columns_leave_by_rank() -> None:
    """What says the same in all rows leaves first, then columns of a higher rank; both are named below the table."""
    rows = [{"name": name, "same": "s" * 20, "a": 1, "b": 2, "c": "x" * 20} for name in ("one", "two")]
    columns = [label("name", keep=True), label("same", keep=True), number("a"), number("b", rank=2), label("c", rank=1)]
    table = Table("made", "", columns, rows)
    assert render(table, 70).count("\n") == 6
    shown = " ".join(render(table, 45).split())
    assert "In all rows: same ssssssssssssssssssss." in shown
    assert "Left out" not in shown
    shown = " ".join(render(table, 36).split())
    assert "Left out at 36 columns: b. Widen the terminal, or see all with --json or --csv." in shown
    assert "x" * 20 in shown


def test_json_and_csv_values() -> None:
    """JSON and CSV have every value of a frame as it is; JSON has null for what it cannot say."""
    rows = {"x": [0.1 + 0.2, math.pi], "n": [2**63, 1], "word": ['a "quoted", word', None], "flag": [True, False]}
    frame = pl.DataFrame(rows, schema={"x": pl.Float64, "n": pl.UInt64, "word": pl.String, "flag": pl.Boolean})
    table = of_frame("made", frame)
    as_json, as_csv = io.StringIO(), io.StringIO()
    write_json(table, as_json)
    assert json.loads(as_json.getvalue()) == frame.rows(named=True)
    write_csv(table, as_csv)
    assert pl.read_csv(io.StringIO(as_csv.getvalue()), schema=frame.schema).equals(frame)
    odd = of_frame("odd", pl.DataFrame({"x": [math.inf, math.nan], "list": [[1, 2], []]}))
    both_json, both_csv = io.StringIO(), io.StringIO()
    write_json([table, odd], both_json)
    assert json.loads(both_json.getvalue())["odd"] == [{"x": None, "list": [1, 2]}, {"x": None, "list": []}]
    write_csv([table, odd], both_csv)
    both = list(csv.DictReader(io.StringIO(both_csv.getvalue())))
    assert [row["table"] for row in both] == ["made", "made", "odd", "odd"]
    assert [row["list"] for row in both] == ["", "", "[1, 2]", "[]"]


def test_intervals_are_students() -> None:
    """Means and intervals over seeds are those of `estimate`; a single value has no interval, and nulls are left out."""
    values = [1.0, 2.5, 4.0, None, 7.0, None, None]
    runs = pl.DataFrame({"axis": ["a", "a", "a", "a", "b", "b", "c"], "value": values})
    first, second, third = over_seeds(runs.lazy(), ["axis"], ["value"]).rows()
    assert first == ("a", 4, *map(pytest.approx, estimate([1.0, 2.5, 4.0])))
    assert second == ("b", 2, 7.0, None, None)
    assert third == ("c", 1, None, None, None)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a results directory of a small sweep."""
    from conftest import SMALL_TOML

    folder = tmp_path_factory.mktemp("sweep")
    file = folder / "sweep.toml"
    file.write_text(SMALL_TOML + SWEEP, encoding="utf-8")
    sojourn.run(file, out=folder / "out")
    return folder


def lines_of_tables(shown: str) -> list[str]:
    """Returns the lines of tables."""
    return [line for line in shown.splitlines() if line.startswith(("┃", "│"))]


@pytest.mark.parametrize("width", [pytest.param(width, marks=() if width == 60 else pytest.mark.long) for width in WIDTHS])
def test_commands_fit_width(width: int, sweep: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """What commands print fits the width that COLUMNS states, and cuts nothing."""
    monkeypatch.setenv("COLUMNS", str(width))
    file, out = str(sweep / "sweep.toml"), str(sweep / "out")
    for arguments in (
        ["run", file, "--out", out],
        ["run", file, "--out", out, "--only", "tcp=cubic", "--only", "queue=codel"],
        ["plan", file, "--out", out],
        ["compare", out, "tcp=cubic,queue=codel", "tcp=newreno,queue=codel"],
        ["query", out, "select * from runs"],
        *(["list", what] for what in ("tcp", "queues", "profiles", "studies")),
        *(["describe", name] for name in ("cubic", "pie", "linux-6", "piotrowska")),
    ):
        assert status(arguments) == 0
        shown = capsys.readouterr().out
        assert "…" not in shown
        lines = shown.splitlines()[1:] if arguments[0] == "describe" else lines_of_tables(shown)
        assert max(map(len, lines)) <= width, arguments


def test_programs_get_tables_only(sweep: Path, capsys: Capture) -> None:
    """With --json and --csv, standard output has nothing but the tables."""
    file, out = str(sweep / "sweep.toml"), str(sweep / "out")
    for arguments, names in (
        (["run", file, "--out", out], {"findings", "cells"}),
        (["run", file, "--out", out, "--only", "tcp=cubic", "--only", "queue=codel"], {"findings", "flows", "queues"}),
        (["plan", file, "--out", out], {"plan", "axes"}),
        (["describe", "cubic"], {"entries", "parameters", "state"}),
        (["watch", file, "--only", "tcp=cubic", "--only", "queue=codel", "--speed", "max"], {"findings", "flows", "queues"}),
    ):
        assert status([*arguments, "--json"]) == 0
        assert set(json.loads(capsys.readouterr().out)) == names
        assert status([*arguments, "--csv"]) == 0
        assert {row["table"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))} == names
    for arguments in (
        ["compare", out, "tcp=cubic,queue=codel", "tcp=newreno,queue=codel"],
        ["list", "tcp"],
        ["query", out, "select * from runs"],
    ):
        assert status([*arguments, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert status([*arguments, "--csv"]) == 0
        lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        assert len(lines) == len(rows) > 0
        assert list(lines[0]) == list(rows[0])
    assert status(["list", "tcp", "--json", "--csv"]) == 2
    assert capsys.readouterr().err == "sojourn: --json, --csv: give one of them\n"


def test_result_prints_as_table(
    scenario_file: ScenarioFile, sweep: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """At the Python prompt a result is the table that the command prints."""
    monkeypatch.setenv("COLUMNS", "80")
    for file in (scenario_file(), sweep / "sweep.toml"):
        assert status(["run", str(file)]) == 0
        printed = capsys.readouterr().out
        assert lines_of_tables(repr(sojourn.run(file))) == lines_of_tables(printed) != []


def test_percentiles_of_few_samples() -> None:
    """A 99th percentile says on how many transfers, packets of a flow and packets of a queue it rests if they are below 100.

    In the window of 3 s: a packet every 100 ms, and one every 10 ms; the transfers are two.
    """
    network = scenario_data()["network"]
    between = {"from": "a", "to": "b"}

    def noted(*flows: dict[str, object]) -> str:
        found = sojourn.run(from_data(scenario_data(network=network, flows=[between | flow for flow in flows]), "test"))
        return "\n".join(line for table in summary.tables(found) for line in table.notes if line.startswith("p99"))

    def source(rate: str) -> dict[str, object]:
        return {"group": rate, "tcp": {"name": "cbr", "rate": rate, "packet_size": "1000 B"}}

    rare, often = source("80 kbit/s"), source("800 kbit/s")
    assert noted(rare) == (
        "p99 rests on few packets of a flow: 80 kbit/s on 30.\np99 rests on few packets a run: left->right on 30."
    )
    assert noted(rare, often) == "p99 rests on few packets of a flow: 80 kbit/s on 30."
    assert noted(often) == ""
    transfers = {"group": "two", "tcp": "newreno", "size": "150 kB", "count": 2, "start": "1.5 s"}
    assert noted(transfers, often) == "p99 rests on few transfers a run: two on 2."


def test_cells_of_few_samples() -> None:
    """The table of several cells says the same of all: the least and the greatest number."""
    axes = {"rate": {"key": "flows.0.tcp.rate", "values": ["80 kbit/s", "160 kbit/s"]}}
    flows = [{"from": "a", "to": "b", "group": "ticks", "tcp": {"name": "cbr", "rate": "80 kbit/s", "packet_size": "1000 B"}}]
    found = sojourn.run(scenario_data(flows=flows, sweep={"axes": axes}))
    *_, last = summary.tables(found)
    assert "p99 rests on few packets of a flow: ticks on 30 to 60." in last.notes


def test_axis_of_bdp_as_number(tmp_path: Path) -> None:
    """An axis is text, and SQL makes numbers of one whose values have one unit, as docs/results.md says."""
    axes = {"buffer": {"key": "network.dumbbell.bottleneck.queue.limit", "range": "0.5 BDP..16 BDP", "steps": 2}}
    found = sojourn.run(scenario_data(sweep={"axes": axes}), out=tmp_path / "out")
    assert found.runs["buffer"].to_list() == ["0.5 BDP", "16 BDP"]
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    (query,) = re.findall(r'^    sojourn query results "(select split_part.*)"$', page, re.MULTILINE)
    with sojourn.open(tmp_path / "out") as store:
        assert store.sql(query)["bdp"].to_list() == [0.5, 16]
