"""Registries: the examples of docs/add-a-*.md, added as one entry each, appear wherever the registries are used."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

import registry_tables
import sojourn
import study_pages
from conftest import ROOT, SMALL_TOML, Capture, complaint
from doubles import Inventor, register
from sojourn import figures, report
from sojourn.analysis import comparison
from sojourn.analysis.agreement import tolerance
from sojourn.analysis.frames import schema
from sojourn.analysis.result import Result
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.figures import Figure
from sojourn.figures import registry as figure_registry
from sojourn.metrics import METRICS, Metric
from sojourn.metrics import registry as metric_registry
from sojourn.study import library
from sojourn.sweeps.stopping import StoppingRule

SWEEP = """
[sweep.axes]
tcp = { key = "flows.*.tcp", values = ["newreno", "cubic"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel"] }
"""


def example(page: str, beginning: str) -> str:
    """Returns the block of code of a page of docs/ that begins with this text."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = (dedent(block).strip("\n") for block in re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.MULTILINE))
    (found,) = (block for block in blocks if block.startswith(beginning))
    return found


@pytest.fixture
def metric(monkeypatch: pytest.MonkeyPatch) -> Metric:
    """Registers the metric of docs/add-a-metric.md as a main metric, which is also shown where space is scarce."""
    made: Metric = eval(example("add-a-metric.md", "_throughput("), dict(vars(metric_registry)))
    main = replace(made, main=True)
    monkeypatch.setitem(METRICS, main.name, main)
    return main


@pytest.fixture
def figure(monkeypatch: pytest.MonkeyPatch) -> Figure:
    """Registers the figure of docs/add-a-figure.md."""
    made: Figure = eval(example("add-a-figure.md", "Figure("), dict(vars(figure_registry)))
    module = ModuleType("sojourn.figures.retransmissions")
    exec(example("add-a-figure.md", '"""'), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(figure_registry, "FIGURES", (*figure_registry.FIGURES, made))
    return made


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Writes a sweep of four cells."""
    path = tmp_path / "sweep.toml"
    path.write_text(SMALL_TOML + SWEEP, encoding="utf-8")
    return path


@pytest.fixture
def result(sweep: Path) -> Result:
    """The four cells, two seeds each, run with ``metric`` registered. The slower flow delivers 1000 bytes times the seed."""
    return sojourn.run(sweep, 2, out=sweep.parent / "results", backend=Inventor())


def test_metric_is_a_column(metric: Metric, result: Result) -> None:
    """A new metric is a column of the runs with the values its function computes."""
    assert metric.name in schema("runs", [])
    assert result.runs.filter(seed=2)[metric.name].to_list() == pytest.approx([2000 * 8e-6 / 3] * 4)


def test_metric_is_drawn(metric: Metric, result: Result) -> None:
    """A new metric has a plot and a heat map with its label."""
    for name in (metric.figure_name, f"heatmap-{metric.figure_name}"):
        assert metric.label in figures.svg(figures.draw(name, result)).replace("&#x27;", "'")


def test_metric_is_in_tables(metric: Metric, sweep: Path, result: Result, capsys: Capture) -> None:
    """A new main metric is in the tables of `run` and of notebooks."""
    assert status(["run", str(sweep)]) == 0
    assert "Lowest" in capsys.readouterr().out
    assert f"<th>{metric.label}</th>" in (result._repr_html_() or "")


def test_metric_is_in_reports(metric: Metric, sweep: Path, result: Result) -> None:
    """A new metric is in the data and the heat maps of reports."""
    assert result.runs.height
    page = report.write(sweep.parent / "results").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    assert {"title": metric.title, "unit": metric.unit, "main": metric.main} in json.loads(found[1])["metrics"]
    assert f"cubic, codel: {metric.title}" in page


def test_metric_is_compared(metric: Metric, result: Result) -> None:
    """A new metric is one of those that are compared between cells."""
    cells = ({"tcp": "cubic", "queue": "codel"}, {"tcp": "newreno", "queue": "codel"})
    found = {each.metric.name: each.comparison for each in comparison.compare_cells(result.runs, *cells)}
    assert found[metric.name]


def test_metric_floor_and_bound(metric: Metric) -> None:
    """A new metric has its floor of agreement, and a sweep can stop on it."""
    assert tolerance(metric.name, 0.0, 10.0) == pytest.approx(0.5)
    assert StoppingRule.of(f"ci({metric.name}) < 0.1").metric == metric.name


def test_metric_is_documented(metric: Metric) -> None:
    """A new metric and its heat map are in the tables of the documentation."""
    assert f"| `{metric.name}` | Mbit/s | flows | {metric.definition} |" in registry_tables.TABLES["metrics"]()
    assert f"| `heatmap-{metric.figure_name}` |" in "".join(made() for made in registry_tables.TABLES.values())


def test_store_without_new_metric(sweep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store made before a metric was added has null for it, and figures of it are refused."""
    sojourn.run(sweep, out=sweep.parent / "results", backend=Inventor())
    monkeypatch.setitem(METRICS, "other", replace(METRICS["jain"], name="other"))
    with sojourn.open(sweep.parent / "results") as store:
        assert store.runs["other"].null_count() == store.runs.height > 0
        with pytest.raises(InputError, match=r"^figure heatmap-fairness: no values in these runs$"):
            figures.draw("heatmap-fairness", store)


def test_figure_is_drawn_and_documented(figure: Figure, sweep: Path) -> None:
    """A new figure is drawn and is in the table of the documentation."""
    assert "Retransmissions (segments)" in figures.svg(figures.draw(figure.name, sojourn.run(sweep, backend=Inventor())))
    assert f"| `{figure.name}` | {figure.help} |" in "".join(made() for made in registry_tables.TABLES.values())


def test_figures_have_functions() -> None:
    """The function named by each figure's entry exists."""
    for figure in figures.available().values():
        module, _, function = figure.drawn_by.partition(":")
        assert callable(getattr(__import__(f"sojourn.figures.{module}", fromlist=[function]), function)), figure.name


def halving(within: Path) -> Path:
    """Writes the study of docs/add-a-study.md; its folder."""
    folder = within / "halving"
    (folder / "published").mkdir(parents=True)
    (folder / "study.toml").write_text(example("add-a-study.md", 'name = "halving"'), encoding="utf-8")
    (folder / "published" / "tables.csv").write_text(example("add-a-study.md", "table,flows"), encoding="utf-8")
    (folder / "claims.toml").write_text(example("add-a-study.md", "[[claims]]"), encoding="utf-8")
    (folder / "README.md").write_text("# Halving\n\n## Assumptions\n\nNone but these.\n", encoding="utf-8")
    return folder


def test_study_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A study given by its folder or file is checked, described, reproduced, judged and reported as those that come with Sojourn
    are, and still is when folder and results have moved together."""
    monkeypatch.chdir(tmp_path)
    halving(tmp_path / "paper")
    register(monkeypatch, Inventor)
    for given in ("paper/halving", "paper/halving/study.toml"):
        assert status(["check", given]) == 0
        assert capsys.readouterr().out.splitlines()[0] == "study halving is valid: 4 cells, 4 values, 1 claim"
        assert status(["describe", given]) == 0
        assert capsys.readouterr().out.startswith(
            "halving: Half the flows, the same queue, a study\nSource: A. Author, Journal 1 (2020)"
        )
    assert status(["reproduce", "paper/halving", "--out", "paper/results"]) == 0
    assert "sojourn claims paper/halving paper/results" in capsys.readouterr().out
    (tmp_path / "paper").rename(tmp_path / "published")
    assert status(["claims", "published/halving", "published/results"]) == 0
    assert "X-01" in capsys.readouterr().out
    assert status(["report", "published/results"]) == 0
    page = (tmp_path / "published" / "results" / "report.html").read_text(encoding="utf-8")
    assert "Half the flows, the same queue" in page
    assert "None but these." in page
    assert sojourn.reproduce(Path("published/halving"), backend=Inventor()).cells.height == 4


def test_study_that_has_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Results whose study has gone elsewhere say how to tell them where it is, and none of their runs is made again."""
    monkeypatch.chdir(tmp_path)
    halving(tmp_path)
    register(monkeypatch, Inventor)
    assert status(["reproduce", "./halving", "--out", "results"]) == 0
    (tmp_path / "halving").rename(tmp_path / "elsewhere")
    capsys.readouterr()
    assert status(["report", "results"]) == 2
    assert "sojourn reproduce STUDY --out results with its new path makes no run again" in complaint(capsys)
    assert status(["claims", "elsewhere", "results"]) == 0
    monkeypatch.delattr(Inventor, "run")
    assert status(["reproduce", "elsewhere", "--out", "results"]) == 0
    assert status(["report", "results"]) == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nowhere/halving", "nowhere/halving: "),
        ("empty", "empty: is not a study; a study is a folder with study.toml, or such a file"),
        ("bad/halving", 'bad/halving/study.toml: name: "../../evil": must be letters, digits'),
        ("all/halving", 'all/halving/study.toml: name: "all": must be'),
        ("unread/halving", "unread/halving/published/none.csv: No such file or directory"),
        ("short/halving", "tables.csv: line 2: has 2 columns, not the 5 of the first line"),
    ],
)
@pytest.mark.parametrize("command", ["check", "reproduce"])
def test_wrong_study_of_ones_own(
    command: str, given: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """A path without a study, a name that is a path, and values that cannot be read are one line each; nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for folder, old, new in (
        ("bad", '"halving"', '"../../evil"'),
        ("all", '"halving"', '"all"'),
        ("unread", "tables.csv", "none.csv"),
    ):
        file = halving(tmp_path / folder) / "study.toml"
        file.write_text(file.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    (halving(tmp_path / "short") / "published" / "tables.csv").write_text(
        "table,flows,queue,metric,value\n1,2\n", encoding="utf-8"
    )
    before = sorted(tmp_path.rglob("*"))
    assert status([command, given]) == 2
    assert message in complaint(capsys)
    assert sorted(tmp_path.rglob("*")) == before


def test_study_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The study of docs/add-a-study.md is found, checked, reproduced, documented and listed."""
    halving(tmp_path)
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    assert library.available() == library.papers() == ["halving"]
    assert status(["check", "halving"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "study halving is valid: 4 cells, 4 values, 1 claim"
    found = sojourn.reproduce("halving", backend=Inventor())
    assert (found.cells.height, len(found.judged)) == (4, 1)
    assert "| 1 | Queue length |" in study_pages.page("halving", tmp_path / "none")
    assert status(["list", "studies"]) == 0
    assert "halving" in capsys.readouterr().out
