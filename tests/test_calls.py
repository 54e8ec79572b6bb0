"""What scripts and notebooks call: each command is a function or a method, and says what the command says."""

import inspect
import json
import re
from html import unescape
from operator import attrgetter
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import altair as alt
import polars as pl
import pytest

import sojourn
from commands_table import PAIRS
from conftest import ROOT, Capture, complaint, scenario_data
from sojourn.calls import progress
from sojourn.campaign import Tally
from sojourn.cli.commands import COMMANDS, status

CALL = {"from": "a", "to": "b", "group": "call", "tcp": {"name": "cbr", "rate": "1 Mbit/s", "packet_size": "500 B"}}
DOWNLOAD = {"from": "a", "to": "b", "group": "download", "tcp": "cubic", "start_within": "500 ms"}
QUEUE = {"key": "bottleneck.queue.name", "values": ["droptail", "codel"]}


def question() -> dict[str, Any]:
    """A call beside a download, behind two queues."""
    data = scenario_data(flows=[CALL, DOWNLOAD], probe={"queue_series": "100 ms"}, sender_overhead="1 ms")
    return {**data, "sweep": {"axes": {"queue": QUEUE}, "seeds": 3}}


@pytest.fixture(scope="module")
def result() -> sojourn.Result:
    return sojourn.run(question())


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("calls") / "results"
    sojourn.run(question(), out=out)
    return out


def json_of(capsys: Capture, *arguments: object) -> Any:
    """What a command prints with --json."""
    assert status([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_command_has_a_function() -> None:
    """No command lacks a function or method, or a reason for having none; all that are named are there, with a docstring."""
    assert list(PAIRS) == COMMANDS
    for name, pair in PAIRS.items():
        assert pair.about, name
        for called in pair.calls:
            assert inspect.getdoc(attrgetter(called)(sojourn)), called
    without = {name for name, pair in PAIRS.items() if not pair.calls}
    assert without == {"linux", "watch", "lab", "shell", "oracle", "packetdrill", "bench"}


def test_plot_is_a_chart(result: sojourn.Result) -> None:
    """A figure is an Altair chart of the cells that are chosen, which can be changed."""
    chart = result.plot("queue-over-time", only={"queue": "codel"}, titled=False)
    changed = chart.properties(title="mine").to_dict(validate=False)
    assert isinstance(chart, alt.TopLevelMixin)
    assert changed["title"] == "mine"
    with pytest.raises(sojourn.InputError, match='unknown value of axis queue "codle", did you mean "codel"'):
        result.plot("queue-over-time", only={"queue": "codle"})


def test_compare_says_what_the_command_says(result: sojourn.Result, directory: Path, capsys: Capture) -> None:
    """A comparison has the numbers of `compare`, of two cells, of groups, and of whole campaigns."""
    for one, other in (("queue=droptail", "queue=codel"), ("queue=codel,group=call", "queue=codel,group=download")):
        told = json_of(capsys, "compare", directory, one, other)
        for of in (result, sojourn.open(directory)):
            found = of.compare(one, other)
            rows = {(row["group"], row["metric"]): row for row in found.iter_rows(named=True)}
            said = {(row["group"], row["metric"]): row for row in told}
            assert rows.keys() == said.keys()
            for place, row in said.items():
                for name in ("seeds", "a", "b", "difference", "difference_ci_low", "p"):
                    assert rows[place][name] == (pytest.approx(row[name]) if row[name] is not None else None), (place, name)
    jain = result.compare({"queue": "droptail"}, {"queue": "codel"}, ["jain"])
    assert jain.select("metric", "title", "unit").row(0) == ("jain", "Jain's index of long-lived flows", "")
    same = result.compare(sojourn.open(directory))
    assert same["agrees"].all()
    assert same["difference"].abs().max() == 0
    with pytest.raises(sojourn.InputError, match="name two cells"):
        result.compare("queue=codel")
    with pytest.raises(sojourn.InputError, match='unknown axis "quue", did you mean "queue"'):
        result.compare({"quue": "codel"}, {"queue": "pie"})


def test_query_of_memory_and_of_a_directory(result: sojourn.Result, directory: Path) -> None:
    """The same query finds the same in results that are in no directory; it reads no files."""
    sql = "select queue, flow_group, avg(total_mbps) as mbps from groups group by all order by all"
    assert result.query(sql).equals(sojourn.open(directory).query(sql))
    with pytest.raises(sojourn.InputError, match="a query reads only files of the results directory"):
        result.query(f"select * from '{directory / 'runs.parquet'}'")
    with pytest.raises(sojourn.InputError, match="a query only reads"):
        result.query("drop table runs")


def test_cells_are_the_tables_of_run(result: sojourn.Result, tmp_path: Path, capsys: Capture) -> None:
    """`cells` and `cells_by_group` have the means and intervals of `run`, without metrics that no cell has."""
    import tomli_w

    file = tmp_path / "question.toml"
    file.write_text(tomli_w.dumps(question()), encoding="utf-8")
    told = json_of(capsys, "run", file)
    for name, frame in (("cells", result.cells), ("groups", result.cells_by_group)):
        for row, said in zip(frame.iter_rows(named=True), told[name], strict=True):
            assert row == {key: pytest.approx(said[key]) if isinstance(said[key], float) else said[key] for key in row}
    assert "fct_mean_s" not in result.cells.columns
    assert result.cells["queue"].to_list() == ["droptail", "codel"]


def test_named_metrics(result: sojourn.Result) -> None:
    """Metrics get the names and units of tables; other columns stay."""
    named = sojourn.named(result.cells)
    assert named.columns[:4] == ["queue", "seeds", "Total throughput (Mbit/s)", "Total throughput (Mbit/s): low"]
    milliseconds = (1e3 * result.cells["sojourn_mean_s"]).to_list()
    assert named["Mean sojourn time (ms)"].to_list() == pytest.approx(milliseconds)
    assert sojourn.named(result.series).equals(result.series)


def test_verdicts(result: sojourn.Result, directory: Path) -> None:
    """Verdicts are those of a directory with the same runs; an unknown one is refused."""
    found = result.verdicts()
    assert found.sort(pl.all()).equals(sojourn.open(directory).verdicts().sort(pl.all()))
    assert result.verdicts(["standing-queue"])["verdict"].unique().to_list() == ["standing-queue"]
    with pytest.raises(sojourn.InputError, match='unknown verdict "standing", did you mean "standing-queue"'):
        result.verdicts(["standing"])


def test_report_without_a_directory(result: sojourn.Result, directory: Path, tmp_path: Path) -> None:
    """A report of results in memory has the figures and numbers of that of a directory, and the call."""
    page = result.report(tmp_path / "memory.html").read_text(encoding="utf-8")
    other = sojourn.open(directory).report(tmp_path / "directory.html").read_text(encoding="utf-8")
    for text in ("<h1", "sojourn.run("):
        assert text in page
        assert text in other
    assert abs(len(page) - len(other)) < 0.01 * len(other)
    with pytest.raises(sojourn.InputError, match=r"no directory .*/nowhere"):
        result.report(tmp_path / "nowhere" / "report.html")


def test_report_of_a_study(tmp_path: Path) -> None:
    """The report of a reproduction has its published values."""
    study = sojourn.reproduce("piotrowska", only={"scenario": "AL", "load": "UC", "tcp": "cubic", "queue": "pie"})
    page = study.report(tmp_path / "study.html").read_text(encoding="utf-8")
    assert "Piotrowska" in page
    assert isinstance(study.result, sojourn.Result)
    assert study.claims.columns[:2] == ["id", "claim"]


def test_plan(capsys: Capture) -> None:
    """A plan has the numbers and axes of `plan`, of a dictionary and of a sweep."""
    example = ROOT / "examples" / "sweep.toml"
    told = json_of(capsys, "plan", example)
    found = sojourn.plan(example)
    assert found["axes"].rows(named=True) == told["axes"]
    counted = ["cells", "seeds", "runs", "simulated_s", "kept"]
    assert found["plan"].select(counted).row(0, named=True) == {name: told["plan"][0][name] for name in counted}
    assert sojourn.plan(sojourn.sweep(question(), {"duration": ["5 s", "6 s"]}), 2)["plan"]["runs"].item() == 8
    assert "<table" in found._repr_html_()


def test_check(tmp_path: Path, capsys: Capture) -> None:
    """Valid input is a row; of bad input the error is the line of the command."""
    assert sojourn.check(question()).select("scenario", "links", "flows", "cells").row(0) == ("small", 6, 2, 2)
    assert sojourn.check("piotrowska").select("study", "cells").row(0) == ("piotrowska", 72)
    assert sojourn.check("rfc7928")["questions"].item() > 10
    own = sojourn.new("tcp", "mine", folder=tmp_path)
    assert sojourn.check(own[0])["kind"].to_list() == ["control"]
    assert sojourn.check(own[1])["scenario"].item()
    file = tmp_path / "bad.toml"
    file.write_text('name = "bad"\nduratoin = "4 s"\n', encoding="utf-8")
    assert status(["check", str(file)]) == 2
    line = complaint(capsys).removeprefix("sojourn: ").rstrip("\n")
    with pytest.raises(sojourn.InputError) as error:
        sojourn.check(file)
    assert str(error.value) == line


@pytest.mark.parametrize("what", ["tcp", "metrics", "studies", "figures", "features", "actions", "rewards"])
def test_list(what: str, capsys: Capture) -> None:
    """A list has the rows of `list`."""
    assert sojourn.list(what).rows(named=True) == json_of(capsys, "list", what)


@pytest.mark.parametrize("name", ["codel", "linux-6", "web-search"])
def test_describe(name: str, capsys: Capture) -> None:
    """A description has the tables of `describe`."""
    told = json_of(capsys, "describe", name)
    found = sojourn.describe(name)
    assert list(found) == list(told)
    assert found["entries"]["name"].to_list() == [row["name"] for row in told["entries"]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sojourn.list("queue"), 'unknown kind "queue", did you mean "queues"'),
        (lambda: sojourn.describe("codle"), 'unknown name "codle", did you mean "codel"'),
        (lambda: sojourn.export(scenario_data(), "pcap", "out"), 'unknown format "pcap", did you mean "pcapng"'),
        (lambda: sojourn.export(scenario_data(), "pcapng"), "pcapng: give out"),
        (lambda: sojourn.export(question(), "tcp-info"), "2 cells; choose one with --only"),
        (lambda: sojourn.load(question()), "the file has 2 scenarios"),
        (lambda: sojourn.schema("scene"), 'unknown schema "scene"'),  # type: ignore[arg-type]
        (lambda: sojourn.open("/nowhere"), "/nowhere"),
        (lambda: sojourn.run({"name": "x"}), "the scenario: duration: this key is required"),
    ],
)
def test_wrong_calls(call: Any, said: str) -> None:
    """What is wrong in a call is one line of an InputError."""
    with pytest.raises(sojourn.InputError, match=said) as error:
        call()
    assert "\n" not in str(error.value)


def test_export(tmp_path: Path) -> None:
    """A run is exported from a dictionary; states of connections are a frame, too."""
    frame = sojourn.export(scenario_data(), "tcp-info")
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns[:2] == ["time_s", "flow"]
    path = sojourn.export(scenario_data(), "pcapng", tmp_path / "run.pcapng")
    assert isinstance(path, Path)
    assert path.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


def test_schema(capsys: Capture) -> None:
    """The schema is that of `schema`, as a dictionary."""
    assert status(["schema"]) == 0
    assert sojourn.schema() == json.loads(capsys.readouterr().out)


def test_atlas_of_one_pair(tmp_path: Path) -> None:
    """An atlas is a frame of the verdicts that were asked, of the pairs that are named."""
    found = sojourn.find_atlas(["home"], ["cubic"], ["codel"], ["alone"], seeds=1, out=tmp_path / "atlas")
    assert found.select("landmark", "tcp", "queue").unique().rows() == [("home", "cubic", "codel")]


def test_failed_run_has_a_result_with_methods(tmp_path: Path) -> None:
    """The result that an error carries can be looked at like any other."""
    broken = "from sojourn.plugins import CongestionControl\n\n\nclass Broken(CongestionControl):\n"
    for hook in ("increase(self, window, ack)", "on_congestion(self, window, event)"):
        broken += f"    def {hook}:\n        raise ValueError('no')\n\n"
    (tmp_path / "broken.py").write_text(broken, encoding="utf-8")
    axes = {"tcp": {"key": "flows.*.tcp", "values": ["cubic", {"file": str(tmp_path / "broken.py")}]}}
    with pytest.raises(sojourn.RunFailed) as error:
        sojourn.run(sojourn.sweep(scenario_data(), axes))
    assert isinstance(error.value.result, sojourn.Result)
    assert error.value.result.cells["tcp"].to_list() == ["cubic"]


def test_progress_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel gets a bar that says how far the runs are and goes with their end; a script and a terminal get none."""
    import IPython

    assert progress.observer() is None
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=None))
    shown: list[str] = []
    handle = SimpleNamespace(update=lambda drawn: shown.append(drawn.data))

    def display(drawn: Any, **_: object) -> object:
        shown.append(drawn.data)
        return handle

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(progress, "SHOWN_AFTER", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    sojourn.run(question(), jobs=1)
    assert shown[0].startswith('<progress max="6" value="1"')
    assert "6 of 6 runs" in shown[-2]
    assert shown[-1] == ""
    assert "1 failed, 8 s left" in progress.html(Tally(cost=3.0, made=1, failed=1, cost_done=1.0), 6, 4.0)


def test_findings_first(result: sojourn.Result) -> None:
    """A notebook begins with the sentences of the findings, which are a frame, too, with their numbers."""
    found = result.findings
    first = found["text"][0]
    assert "CoDel" in first or "codel" in first
    html = unescape(result._repr_html_() or "")
    assert html.startswith(f"<p>{first}</p>")
    values = found.row(0, named=True)["values"]
    assert {"metric", "difference", "difference_ci_low"} <= values[0].keys()


def test_shown_once_in_a_notebook(result: sojourn.Result) -> None:
    """A result shows itself as HTML, its cells in the order of the file; the text that goes with it is not shown besides."""
    html = result._repr_html_() or ""
    assert html.index("<td>droptail</td>") < html.index("<td>codel</td>")
    assert "Cells" in repr(result)


def test_code_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of docs/python.md runs as it stands, one block after the other."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.MULTILINE)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(dedent(block), names)
    assert names["result"].cells["rate"].unique(maintain_order=True).to_list() == ["10 Mbit/s", "20 Mbit/s"]
    assert {"demo", "demo.html", "wait.pdf"} <= {path.name for path in tmp_path.iterdir()}
