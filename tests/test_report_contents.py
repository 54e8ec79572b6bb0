"""What reports show of results: what was measured, with the digits it has, folded where it is long, and heat maps by panel."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import SMALL_TOML
from doubles import Inventor
from sojourn import figures, report
from sojourn.analysis.difference import best
from sojourn.analysis.summary import cells
from sojourn.metrics import METRICS
from sojourn.report import contents, heatmaps
from sojourn.statistics import Estimate

SWEEP = """
[sweep]
seeds = 2
[sweep.axes]
rate = { key = "network.dumbbell.bottleneck.rate", values = ["1 Mbit/s", "10 Mbit/s"] }
tcp = { key = "flows.*.tcp", values = ["newreno", "cubic"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel"] }
"""

#: What a report of any number of runs may have, in bytes.
LARGEST = 10_000_000


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of two networks, whose rates differ tenfold."""
    folder = tmp_path_factory.mktemp("contents")
    (folder / "small.toml").write_text(SMALL_TOML + SWEEP, encoding="utf-8")
    sojourn.run(folder / "small.toml", out=folder / "out")
    return folder / "out"


def embedded(page: str) -> Mapping[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: Mapping[str, Any] = json.loads(found[1])
    return data


def test_only_what_was_measured(swept: Path) -> None:
    """The page of a cell has the metrics that some cell has; none of pages, calls or video, of which there were none."""
    data = embedded(report.write(swept).read_text(encoding="utf-8"))
    titles = [metric["title"] for metric in data["metrics"]]
    with sojourn.open(swept) as store:
        known = [name for name in METRICS if name in store.runs.columns and store.runs[name].is_not_null().any()]
    assert titles == [METRICS[name].title for name in known]
    assert "mean page load time" not in titles
    assert 10 < len(titles) < len(METRICS) / 2


def test_tables_leave_out_what_was_not_measured(swept: Path) -> None:
    """A column without any value is none of those that people see; JSON and CSV have its name."""
    with sojourn.open(swept) as store:
        table = cells(store.result(["rate", "tcp", "queue"], None))
    shown = {name for column in table.columns for name in column.names}
    assert "total_mbps" in shown
    assert "fct_mean_s" not in shown
    assert "fct_mean_s" in table.names


def test_digits_of_cells_follow_their_intervals(swept: Path) -> None:
    """A mean in the page of a cell and in a heat map has no more places than half of its interval leaves."""
    page = report.write(swept).read_text(encoding="utf-8")
    data = embedded(page)
    place = [metric["title"] for metric in data["metrics"]].index("mean sojourn time")
    found = contents.read(swept)
    for cell, shown in zip(found.cells, data["cells"], strict=True):
        known = cell.measured["sojourn_mean_s"]
        assert known is not None
        assert known.half is not None
        expected = METRICS["sojourn_mean_s"].numbers(known.mean, half=known.half)[0]
        assert shown["told"][place][0] == expected
        (fields,) = [made for made in heatmaps.heat_maps(found) if made.metric.name == "sojourn_mean_s"]
        texts = {field.cell.number: field.text for panel in fields.panels for _, row in panel.rows for field in row if field}
        assert texts[cell.number] == expected


def test_heat_maps_have_a_scale_for_each_panel_and_the_same_in_figures(swept: Path) -> None:
    """The greatest value of a slow network has the colour of a fast one's greatest, in `plot` and in a report."""
    found = contents.read(swept)
    chart = figures.draw("heatmap-throughput", found.result).to_dict()
    (rows,) = (pl.read_csv(text.encode()) for text in chart["datasets"].values())
    by_panel = {str(panel): part for (panel,), part in rows.group_by("panel_row")}
    assert set(by_panel) == {"1 Mbit/s", "10 Mbit/s"}
    for part in by_panel.values():
        assert part["shade"].max() == pytest.approx(1)
        assert part.filter(pl.col("value") == part["value"].max())["shade"].item() == pytest.approx(1)
    (made,) = [each for each in heatmaps.heat_maps(found) if each.metric.name == "total_mbps"]
    assert {panel.title for panel in made.panels} == {"rate 1 Mbit/s", "rate 10 Mbit/s"}
    for panel in made.panels:
        fields = {(tcp, field.cell.axes["queue"]): field.colour for tcp, row in panel.rows for field in row if field}
        part = by_panel[panel.where["rate"]]
        expected = {(row["row"], row["column"]): heatmaps._colours(row["shade"])[0] for row in part.iter_rows(named=True)}
        assert channels(fields) == pytest.approx(channels(expected), abs=1)
        assert "rgb(253 231 37)" in fields.values()


def channels(colours: Mapping[Any, str]) -> list[int]:
    return [int(part) for key in sorted(colours) for part in re.findall(r"\d+", colours[key])]


def test_long_tables_are_folded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of more rows than are looked at is folded, and says how many it has; a short one is not."""
    text = SMALL_TOML + SWEEP.replace("rate = {", "# ").replace("tcp = {", "# ")
    (tmp_path / "one.toml").write_text(text, encoding="utf-8")
    sojourn.run(tmp_path / "one.toml", out=tmp_path / "out", backend=Inventor())
    folded = '<details class="table"><summary>2 cells</summary>'
    assert folded not in report.write(tmp_path / "out").read_text(encoding="utf-8")
    monkeypatch.setattr("sojourn.report.page.LONG", 1)
    assert folded in report.write(tmp_path / "out").read_text(encoding="utf-8")


def test_figures_say_which_statistic_they_show(swept: Path) -> None:
    """A caption says whether a figure shows means, as tables do, or medians."""
    page = report.write(swept).read_text(encoding="utf-8")
    captions = dict(re.findall(r"<strong>([^<]*)</strong> <small>([^<]*)</small>", page))
    assert captions["Goodput against queueing delay"].startswith("Medians over 2 seeds")
    assert captions["Total throughput"].startswith("Means over 2 seeds")


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        ("sojourn_mean_s", [(0.5, 0.49, 0.51), (0.0036, 0.003, 0.004), (0.0040, 0.0039, 0.0041)], {0.0036, 0.0040}),
        ("sojourn_mean_s", [(0.5, 0.49, 0.51), (0.0036, 0.003, 0.0042), (0.005, 0.0041, 0.006)], {0.0036, 0.005}),
        ("sojourn_mean_s", [(0.5, 0.49, 0.51), (0.0036, None, None), (0.005, None, None)], {0.0036}),
        ("total_mbps", [(19.6, 18.0, 21.0), (19.2, 19.1, 19.3)], set()),  # all are as good
        ("jain", [(0.5, 0.4, 0.6), (0.9, 0.85, 0.95)], {0.9}),
        ("drop_pct", [(0.5, 0.4, 0.6), (9.0, 8.0, 10.0)], set()),  # neither is plainly better
        ("jain", [], set()),
    ],
)
def test_best(name: str, found: list[tuple[float, float | None, float | None]], expected: set[float]) -> None:
    """The best of several means, and those that are not told from it; nothing if that is all, or nothing is better."""
    assert best(METRICS[name], [Estimate(*each) for each in found]) == expected


MANY = """
[sweep]
seeds = 2
[sweep.axes]
tcp = { key = "flows.*.tcp", values = ["newreno", "cubic"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel", "pie", "red"] }
rate = { key = "network.dumbbell.bottleneck.rate", range = "1 Mbit/s..20 Mbit/s", steps = 14, spacing = "log" }
wait = { key = "network.dumbbell.bottleneck.delay", range = "1 ms..50 ms", steps = 9, spacing = "log" }
"""


@pytest.mark.long
def test_report_of_very_many_cells(tmp_path: Path) -> None:
    """A report of as many cells as a page shows at most has at most 10 MB; what it shows does not grow with seeds."""
    (tmp_path / "many.toml").write_text(SMALL_TOML + MANY, encoding="utf-8")
    sojourn.run(tmp_path / "many.toml", out=tmp_path / "out", backend=Inventor())
    made = report.write(tmp_path / "out")
    assert "This page shows the first 1000 of 1008 cells" in made.read_text(encoding="utf-8")
    assert made.stat().st_size < LARGEST
