"""Reports of results that are known beforehand, and errors of results that cannot be reported."""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import SMALL_TOML, Capture, complaint, scenario_data
from doubles import Inventor
from sojourn import report
from sojourn.analysis import summary
from sojourn.api import notebook
from sojourn.backends.result import PROGRAMS, RunResult, frame
from sojourn.campaign import Campaign, plan, run
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.metrics import METRICS
from sojourn.report import contents, prose, vega
from sojourn.runs import Cell
from sojourn.scenario import from_data
from sojourn.specification import RunSpecification
from sojourn.statistics import estimate
from sojourn.store import Store
from sojourn.study import library

LARGEST = 5_000_000

SWEEP = """
[sweep.axes]
tcp = { key = "flows.*.tcp", values = ["newreno", "cubic"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel"] }
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, sojourn.Reproduction]:
    """A directory with a part of piotrowska and invented results."""
    directory = tmp_path_factory.mktemp("report") / "study"
    found = sojourn.reproduce("piotrowska", 2, only={"load": "UC", "scenario": "DC"}, out=directory, backend=Inventor())
    return directory, found


@pytest.fixture(scope="module")
def study_page(study: tuple[Path, sojourn.Reproduction]) -> str:
    """Its report."""
    return report.write(study[0]).read_text(encoding="utf-8")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A directory with a sweep of four cells."""
    file = tmp_path / "sweep.toml"
    file.write_text(SMALL_TOML + SWEEP, encoding="utf-8")
    sojourn.run(file, 2, out=tmp_path / "out", backend=Inventor())
    return tmp_path / "out"


def embedded(page: str) -> Mapping[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: Mapping[str, Any] = json.loads(found[1])
    return data


def tips(page: str) -> list[str]:
    return [tip.replace("&#39;", "'").replace("\N{NO-BREAK SPACE}", " ") for tip in re.findall(r'data-tip="([^"]*)"', page)]


def test_published_values(study: tuple[Path, sojourn.Reproduction], study_page: str) -> None:
    """A study's report shows the published value, our interval and the agreement of each cell."""
    _, found = study
    details = tips(study_page)
    assert sum("; published " in tip for tip in details) == found.cells.height
    agreeing = int(found.cells["agrees"].sum())
    assert sum(tip.endswith("; agrees") for tip in details) == agreeing
    assert f"{agreeing} of {found.cells.height} agree" in study_page
    # Inventor's queue lengths are the seeds, 1 and 2, whose interval is 1.5 ± 12.7 * 0.5, and of one more 1.5 ± 12.7 * 0.87;
    # both from 0 on.
    length = (
        "DC, UC, newreno, droptail, mean queue length: ours 2 packets, 95 % interval 0 to 8 packets, "
        "of one more seed 0 to 13 packets; published 814 packets"
    )
    assert f"{length}; does not agree" in details


def test_legend_of_chance(study_page: str, tmp_path: Path) -> None:
    """The legend explains the sign of chance where a value has it, which one seed cannot show."""
    told = "but one seed may be as far from the others</span>"
    assert told in study_page
    only = {"load": "UC", "scenario": "DC", "tcp": "newreno", "queue": "pie"}
    sojourn.reproduce("piotrowska", 1, only=only, out=tmp_path, backend=Inventor())
    page = report.write(tmp_path).read_text(encoding="utf-8")
    assert "does not agree</span>" in page
    assert told not in page


def test_study_sections(study: tuple[Path, sojourn.Reproduction], study_page: str) -> None:
    """A study's report has its claims, command, assumptions and the figures of the cells that were run."""
    page, (_, found) = study_page, study
    for judged in found.judged:
        assert f"<b>{judged.claim.id}</b>" in page
    true = sum(2 * judged.held > judged.seeds for judged in found.judged)
    # Two seeds decide nothing (test_fewest_seeds_that_decide).
    headline = f'<p class="big">{true} <span>of {len(found.judged)} claims true on most of these 2 seeds</span></p>'
    assert headline in page
    assert "claims hold</span>" not in page
    assert f"{len(library.claims(found.study)) - len(found.judged)} more claims cannot be judged from these runs" in page
    assert "sojourn.reproduce(" in page
    assert "<h3>Assumptions</h3>" in page
    assert "Figure 2. Data centre, uncongested: queue length" in page
    assert "Figure 9." not in page  # the access link was not run
    assert page.count("sojourn plot ") == page.count('class="drawn"')


ONE_AXIS = """
[sweep.axes]
{axis}
[probe]
flow_series = "1 s"
"""

QUEUE = 'queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel"] }'

RATE = 'rate = { key = "network.dumbbell.bottleneck.rate", values = ["10 Mbit/s", "2 Mbit/s", "5 Mbit/s"] }'


def one_axis(folder: Path, axis: str) -> Path:
    """A directory with a sweep of one axis and two groups, of a scenario that has a name and a description."""
    text = SMALL_TOML.replace('name = "small"', 'name = "home"\ndescription = "Two groups <share> a line"')
    text = text.replace('tcp = "newreno"', 'tcp = "newreno"\ngroup = "downloads"')
    text += '[[flows]]\nfrom = "a"\nto = "b"\ntcp = "cubic"\ngroup = "upload"\n'
    file = folder / "one.toml"
    file.write_text(text + ONE_AXIS.format(axis=axis), encoding="utf-8")
    sojourn.run(file, 3, out=folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def rates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of ``one_axis`` of rates."""
    return report.write(one_axis(tmp_path_factory.mktemp("rates"), RATE))


@pytest.fixture(scope="module")
def queues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of ``one_axis`` of queues."""
    return report.write(one_axis(tmp_path_factory.mktemp("queues"), QUEUE))


def test_one_axis(rates: Path, queues: Path) -> None:
    """With one axis every main metric of the runs is drawn over it: by a line in order of size, of names by bars; no heat map."""
    for made, title, mark in ((rates, "rate (Mbit/s)", "line"), (queues, "queue", "bar")):
        page = made.read_text(encoding="utf-8")
        charts = [chart["spec"] for name, chart in embedded(page)["charts"].items() if name.startswith("axis-")]
        with sojourn.open(made.parent) as store:
            known = [name for name in METRICS if METRICS[name].main and store.runs[name].is_not_null().any()]
        assert len(charts) == len(known) > 5
        for chart in charts:
            assert {"rule", mark} <= {layer["mark"]["type"] for layer in chart["layer"]}
            assert chart["layer"][0]["encoding"]["x"]["title"] == title
        assert 'class="heat"' not in page
        assert " \\ " not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    ticks = charts_of(rates)["axis-0"]["spec"]["layer"][0]["encoding"]["x"]["axis"]["values"]
    assert ticks == [2, 5, 10]


def charts_of(report_file: Path) -> Mapping[str, Any]:
    charts: Mapping[str, Any] = embedded(report_file.read_text(encoding="utf-8"))["charts"]
    return charts


def test_facts_and_names(rates: Path) -> None:
    """A report says what was simulated: name, description, rate, base RTT (2 · (1 + 5 + 1) ms), queue, duration, groups."""
    page = rates.read_text(encoding="utf-8")
    assert "<title>home: report</title>" in page
    assert "<h1>home</h1>" in page
    assert """http-equiv="Content-Security-Policy" content="default-src 'none';""" in page
    assert "Two groups &lt;share&gt; a line" in page
    facts = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page))
    assert (
        facts
        | {
            "Bottleneck rate": "10 Mbit/s, 2 Mbit/s, 5 Mbit/s",
            "Queue discipline": "codel",
            "Queue limit": "100 packets",
            "Duration": "4 s",
            "Warm-up": "1 s",
        }
        == facts
    )
    rows = re.findall(
        r'<tr><th scope="row">(\w+)</th><td class="number">(\d)</td><td>(\w+)</td><td>a to b</td><td>14 ms</td>', page
    )
    assert rows == [("downloads", "2", "newreno"), ("upload", "1", "cubic")]
    lines = [line["name"] for chart in embedded(page)["samples"]["0"] for line in chart["lines"]]
    assert set(lines) == {"capacity", "throughput", "downloads 1: newreno", "downloads 2: newreno", "upload: cubic"}


def test_facts_show_changed_parameters(tmp_path: Path) -> None:
    """A report names the parameters of an algorithm that are not the catalogue's: those that a profile or the file sets."""
    file = tmp_path / "small.toml"
    changed = 'tcp = { name = "hstcp", low_window = 20.0 }'
    file.write_text('stack = "linux-6"\n' + SMALL_TOML.replace('tcp = "newreno"', changed), encoding="utf-8")
    sojourn.run(file, 1, out=tmp_path / "out", backend=Inventor())
    page = report.write(tmp_path / "out").read_text(encoding="utf-8")
    assert "<td>hstcp (low_window = 20.0, rules = linux)</td>" in page


def test_changed_keys_are_told(tmp_path: Path) -> None:
    """A report names the keys that its command set, since the description is of the file; without any it says nothing."""
    made = one_axis(tmp_path, RATE)
    assert "Changed:" not in report.write(made).read_text(encoding="utf-8")
    sojourn.run(tmp_path / "one.toml", changes={"flows.0.count": 1, "duration": "2 s"}, out=tmp_path / "changed")
    page = report.write(tmp_path / "changed").read_text(encoding="utf-8")
    assert "Changed: flows.0.count = 1, duration = 2 s</p>" in page


def test_groups_match_store(queues: Path) -> None:
    """The table of groups has the means of the frame ``groups``, and figures by group."""
    page = queues.read_text(encoding="utf-8")
    with sojourn.open(queues.parent) as store:
        shares = store.sql("select queue, flow_group, list(share_pct) from groups group by all order by all")
    for queue, group, of_seeds in shares.iter_rows():
        tip = next(tip for tip in tips(page) if tip.startswith(f"{queue}, {group}: share of all throughput: "))
        mean, _, high = estimate(of_seeds)
        assert high is not None
        # Digits follow the interval, half of which moves the mean by a quarter of it at most.
        assert float(tip.split(": ")[2].split()[0]) == pytest.approx(mean, abs=(high - mean) / 4)
    for figure in ("throughput", "round-trip-time", "loss-ratio"):
        assert f"--figure {figure}-by-group" in page
    # There is no call, so nothing has a one-way delay.
    assert "jitter-by-group" not in page


def test_scenario_without_axes(tmp_path: Path) -> None:
    """A scenario that is not swept has a report with its metrics and no trade-offs of cells."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL_TOML, encoding="utf-8")
    sojourn.run(file, 2, out=tmp_path / "out", backend=Inventor())
    page = report.write(tmp_path / "out").read_text(encoding="utf-8")
    assert "<h1>small</h1>" in page
    assert "small: total throughput" in page.replace("&#39;", "'")
    assert 'id="filters"' not in page


def test_report_is_self_contained(study: tuple[Path, sojourn.Reproduction], campaign: Path) -> None:
    """A report loads nothing from elsewhere and is smaller than 5 MB."""
    for directory in (study[0], campaign):
        made = report.write(directory)
        assert made.stat().st_size < LARGEST
        page = re.sub(r"<script>.*?</script>", "", made.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r'<(?:link|script|img|iframe)[^>]*(?:src|href)="(?!data:)', page)
        assert not re.search(r"url\(|@import", page)


def test_campaign_cells_and_heat_maps(campaign: Path) -> None:
    """A campaign's report has every cell, and a heat map of each main metric."""
    page = report.write(campaign).read_text(encoding="utf-8")
    cells = embedded(page)["cells"]
    labels = [tuple(cell["axes"].values()) for cell in cells]
    assert labels == [(tcp, queue) for tcp in ("newreno", "cubic") for queue in ("droptail", "codel")]
    assert all((cell["seeds"], cell["seed"]) == ("Seeds 1, 2", 1) for cell in cells)
    for title in ("Jain&#39;s index", "utilisation", "median sojourn time", "p99 sojourn time", "drop ratio"):
        assert page.count(f"cubic, codel: {title}") == 1  # the script has it for screen readers, too
    # The sojourn times are the seeds, 1 and 2 s: 1500 ± 6353 ms, from 0 on.
    assert "cubic, codel: median sojourn time: 2000 ms; 95 % interval 0 to 8000 ms, of 2 seeds" in tips(page)
    assert "Verdict" not in page


def test_report_of_many_cells(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page shows so many cells, says how many there are and how to see the others; its summary is of all cells."""
    whole = report.write(campaign).read_text(encoding="utf-8")
    monkeypatch.setattr("sojourn.report.contents.MOST_CELLS", 2)
    page = report.write(campaign).read_text(encoding="utf-8")
    assert "This page shows the first 2 of 4 cells, and no charts." in page
    assert f"sojourn query {campaign} " in page
    assert embedded(page)["cells"] == embedded(whole)["cells"][:2]
    assert embedded(page)["charts"] == {}
    assert "4 cells, 8 runs; seeds 1, 2" in page
    summaries = [re.findall(r'<section id="verdict".*?</section>', text, re.DOTALL) for text in (page, whole)]
    assert len(summaries[0]) == 1
    assert summaries[0] == summaries[1]


def test_seeds_with_a_gap(tmp_path: Path) -> None:
    """A cell has the seeds that it has: those in a row from the first to the last, others one by one."""
    cells = [
        Cell({"case": name}, from_data(scenario_data(seed=seed, duration=duration), name))
        for name, seed, duration in (("a", 1, "4 s"), ("b", 3, "5 s"))
    ]
    with Store(tmp_path, create=True) as store:
        for seeds, chosen in ((3, cells), (1, [Cell({"case": "a"}, from_data(scenario_data(seed=9), "a"))])):
            run(plan(Campaign.of_cells("test", chosen, seeds), Inventor()), Inventor(), store)
    found = contents.read(tmp_path)
    assert [list(cell.seeds) for cell in found.cells] == [[1, 2, 3, 9], [3, 4, 5]]
    assert list(found.seeds) == [1, 2, 3, 4, 5, 9]


def test_one_run_is_counted_as_one(tmp_path: Path) -> None:
    """A page of one run says so in the singular, above and in its provenance."""
    cell = Cell({"case": "a"}, from_data(scenario_data(duration="4 s"), "a"))
    with Store(tmp_path, create=True) as store:
        run(plan(Campaign.of_cells("test", [cell], 1), Inventor()), Inventor(), store)
    assert report.write(tmp_path).read_text(encoding="utf-8").count("1 cell, 1 run; seed 1<") == 2


def test_report_output_file(campaign: Path, tmp_path: Path, capsys: Capture) -> None:
    """`report` writes report.html into the directory, or the file given by `--out`."""
    assert status(["report", str(campaign)]) == 0
    assert (campaign / "report.html").exists()
    assert status(["report", str(campaign), "--out", str(tmp_path / "mine.html")]) == 0
    assert (tmp_path / "mine.html").read_bytes() == (campaign / "report.html").read_bytes()
    assert str(tmp_path / "mine.html") in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "none"], "none: not a results directory (no sojourn.json)"),
        (["report", "out", "--out", "none/report.html"], "--out none/report.html: no directory none"),
        (["report", "out", "--out", "."], "--out .: a directory; give a file"),
    ],
)
def test_bad_input(arguments: list[str], message: str, campaign: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Bad input is a one-line error with status 2."""
    monkeypatch.chdir(campaign.parent)
    assert status(arguments) == 2
    assert message in complaint(capsys)


def test_directory_without_runs(capsys: Capture, tmp_path: Path) -> None:
    """A store without runs is an error, and no report is written."""
    empty = tmp_path / "empty"
    with sojourn.Store(empty, create=True) as store:
        store.begin(["tcp"])
    assert status(["report", str(empty)]) == 2
    assert f"{empty}: no runs" in complaint(capsys)
    assert not (empty / "report.html").exists()


def test_conflicting_campaigns(campaign: Path) -> None:
    """Two runs of the same cell and seed with other settings are an error."""
    sojourn.run(campaign.parent / "sweep.toml", changes={"duration": "5 s"}, out=campaign, backend=Inventor())
    with pytest.raises(
        InputError, match="holds several runs of tcp=cubic,queue=codel with seed 1; keep each campaign in a directory of its own"
    ):
        report.write(campaign)


def test_larger_campaign_is_reported(campaign: Path, tmp_path: Path) -> None:
    """Of campaigns with different axes, the one with more runs is reported."""
    file = tmp_path / "other.toml"
    file.write_text(SMALL_TOML + '[sweep.axes]\nmss = { key = "stack.segment_size", values = ["1000 B"] }\n', encoding="utf-8")
    sojourn.run(file, out=campaign, backend=Inventor())
    found = contents.read(campaign)
    assert list(found.axes) == ["tcp", "queue"]
    assert len(found.cells) == 4


def test_report_of_changed_study(tmp_path: Path) -> None:
    """A study's report has the runs of the latest command, with its changes."""
    only = {"scenario": "DC", "load": "UC", "tcp": "cubic", "queue": "pie"}
    for changes in ({}, {"duration": "90 s"}):
        sojourn.reproduce("piotrowska", only=only, changes=changes, out=tmp_path / "out", backend=Inventor())
    found = contents.read(tmp_path / "out")
    assert found.runs == 1
    (specification,) = (json.loads(text) for text in found.result.runs["specification"])
    assert specification["duration"] == 90 * 10**12


def test_unknown_figure(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """`check` names the entry of a study's figure that does not exist."""
    right = library.load("piotrowska")
    wrong = right.model_copy(update={"figures": [right.figures[0].model_copy(update={"figure": "queue-over-tim"})]})
    monkeypatch.setattr(library, "load", lambda _: wrong)
    assert status(["check", "piotrowska"]) == 2
    message = 'study piotrowska: figures: 2: unknown figure "queue-over-tim", did you mean "queue-over-time"?'
    assert message in complaint(capsys)


@pytest.mark.parametrize("name", library.papers())
def test_figures_of_papers(name: str) -> None:
    """The figures named by every paper's study exist."""
    sojourn.api.check_study(library.load(name))


def test_readme_links() -> None:
    """Relative links and images of a README are removed, since the report stands alone."""
    made = prose.html(
        "See [the rule](../docs/measures.md#x), [RFC](https://example.org/a) and ![a picture](x.png).\n\n"
        "|a|\n|-|\n|1|\n\n|b|\n|-|\n|2|",
        "Results",
    )
    assert re.findall(r'href="([^"]*)"', made) == ["https://example.org/a"]
    assert "the rule" in made
    assert "<img" not in made
    assert re.findall(r'aria-label="([^"]*)"', made) == ["Results: table 1", "Results: table 2"]


def test_markers_of_numbers_are_not_shown(tmp_path: Path) -> None:
    """Comments of a README, which say how its numbers are made, are not part of a report."""
    readme = tmp_path / "README.md"
    readme.write_text("## A\n\nof <!-- make: 2 +\n3 -->5<!-- end --> values\n", encoding="utf-8")
    assert [section.html for section in prose.sections(readme)] == ["<p>of 5 values</p>\n"]


def test_markup_is_escaped(tmp_path: Path) -> None:
    """Markup in a README or a label is shown as text."""
    assert "<script>" not in prose.html("<script>alert(1)</script>", "A")
    file = tmp_path / "odd.toml"
    label = '{ label = "</script><b>", value = "cubic" }'
    file.write_text(
        f'{SMALL_TOML}[sweep.axes]\ntcp = {{ key = "flows.*.tcp", values = [{label}, "newreno"] }}\n', encoding="utf-8"
    )
    sojourn.run(file, out=tmp_path / "out", backend=Inventor())
    page = report.write(tmp_path / "out").read_text(encoding="utf-8")
    assert "</script><b>" not in page
    assert embedded(page)["axes"]["tcp"] == ["</script><b>", "newreno"]


def test_report_matches_store(campaign: Path) -> None:
    """The means in a report are those that SQL computes from the store."""
    found = contents.read(campaign)
    with sojourn.open(campaign) as store:
        expected = store.sql("SELECT tcp, queue, avg(jain) AS jain FROM runs GROUP BY ALL ORDER BY ALL")
    measured = pl.DataFrame([{**cell.axes, "jain": cell.measured["jain"].mean} for cell in found.cells if cell.measured["jain"]])
    assert measured.sort("tcp", "queue").equals(expected)


def ended(**changes: Any) -> dict[str, Any]:
    """A row of a program that ended well, with some columns changed."""
    row: dict[str, Any] = {
        "program": 0,
        "name": "client",
        "host": "b",
        "command": "client",
        "start": 1.0,
        "end": 2.5,
        "status": 0,
        "signal": None,
    }
    row |= {"stopped": False, "output": "", "errors": "", "files_kept": 0, "files_left_out": 0, **changes}
    return row | {f"bytes_{stream}": len(row[stream]) for stream in ("output", "errors")}


def with_programs(folder: Path, rows: list[dict[str, Any]], **keys: Any) -> Path:
    """A directory with runs without flows whose programs ended so."""

    class Programs(Inventor):
        def run(self, run: RunSpecification, /) -> RunResult:
            columns = {name: [row[name] for row in rows] for name in PROGRAMS}
            files = {f"{row['program']}-{row['name']}/output": row["output"].encode() for row in rows}
            return replace(super().run(run), programs=frame(columns, PROGRAMS), files=files)

    data = scenario_data(flows=[], programs=[{"at": "b", "run": "client"}] * len(rows), **keys)
    sojourn.run(data, out=folder / "out", backend=Programs())
    return folder / "out"


def test_programs_are_reported(tmp_path: Path) -> None:
    """How a program ended is told; what it wrote is escaped, and cut with the file that has all of it."""
    written = {"output": "<b>first</b>\n" + "x" * 5000 + "\nlast", "errors": "", "command": "client --to <home>"}
    directory = with_programs(tmp_path, [ended(**written), ended(program=1, status=None, signal="SIGTERM", stopped=True)])
    page = report.write(directory).read_text(encoding="utf-8")
    section = re.search(r'<section id="programs".*?</section>', page, re.DOTALL)
    assert section
    assert "client on b, 1.000 s to 2.500 s: status 0" in section[0]
    assert "client on b, 1.000 s to 2.500 s: stopped" in section[0]
    assert "client --to &lt;home&gt;" in section[0]
    assert "<b>" not in section[0]
    assert "first" not in section[0]
    assert "last</pre>" in section[0]
    assert re.search(r"all of it is in <code>[^<]*/programs/[0-9a-f]+/0-client/output</code>", section[0])


def test_a_report_without_programs_has_no_section_of_them(campaign: Path) -> None:
    """The page of a scenario without programs does not speak of any."""
    assert 'id="programs"' not in report.write(campaign).read_text(encoding="utf-8")


def test_programs_in_a_notebook_and_a_terminal(tmp_path: Path) -> None:
    """A notebook shows how programs ended, escaped, as the terminal does, and no empty table of flows."""
    directory = with_programs(tmp_path, [ended(output="one\n<i>two</i>\n")])
    with Store(directory) as store:
        found = store.result(["scenario"], None)
        shown, printed = notebook.html(found), [table.name for table in summary.of_cell(found)]
    assert "<td>client</td><td>b</td><td>1.000</td><td>2.500</td><td>0</td><td>&lt;i&gt;two&lt;/i&gt;</td>" in shown
    assert printed == ["queues", "programs"]


def test_programs_of_a_sweep_stand_in_a_table(tmp_path: Path) -> None:
    """Each program of each cell has a row: how long it ran, how it ended, its last line; the cells are in order."""
    axes = {"rate": {"key": "network.dumbbell.bottleneck.rate", "values": ["10 Mbit/s", "5 Mbit/s"]}}
    rows = [ended(output="one\ntwo\n"), ended(program=1, status=None, signal="SIGKILL", start=2.0, end=5.0)]
    directory = with_programs(tmp_path, rows, sweep={"axes": axes})
    with Store(directory) as store:
        found = store.result(["rate"], None)
        order = [["10 Mbit/s"], ["5 Mbit/s"]]
        table = summary.of_cells(found, order)[-1]
        shown = notebook.html(found)
    heads = ["rate", "name", "host", "seeds", "took s", "status", "last line"]
    assert [column.heading for column in table.columns] == heads
    assert [[str(column.show(row)) for column in table.columns] for row in table.rows] == [
        [rate, "client", "b", "1", *ending] for (rate,) in order for ending in (["1.500", "0", "two"], ["3.000", "SIGKILL", ""])
    ]
    assert "<td>client</td><td>b</td><td>1</td><td>3.000</td><td>SIGKILL</td>" in shown


def test_script_of_charts_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made once for all processes; made anew where what is kept is damaged, and each time where nothing can be kept."""

    def script() -> str:
        vega.script.cache_clear()
        return str(vega.script())

    made, carry_out = list[str](), subprocess.run

    def counted(*words: Any, **how: Any) -> Any:
        made.append("once")
        return carry_out(*words, **how)

    monkeypatch.setattr(vega, "BUNDLE", "print('<script></script>')")
    monkeypatch.setattr(subprocess, "run", counted)
    try:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert script() == script() == "<script><\\/script>\n"
        assert made == ["once"]
        (kept,) = (tmp_path / "sojourn" / "report").iterdir()
        whole = kept.read_bytes()
        for damaged in (whole[:-1], whole.replace(b"script", b"scripT", 1), b""):
            kept.write_bytes(damaged)
            made.clear()
            assert script() == script() == "<script><\\/script>\n"
            assert made == ["once"]
            assert kept.read_bytes() == whole
        monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
        assert script() == "<script><\\/script>\n"
    finally:
        vega.script.cache_clear()
