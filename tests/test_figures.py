import io
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sojourn
from conftest import SMALL_TOML, Capture, complaint
from doubles import Inventor
from sojourn import figures
from sojourn.analysis.frames import NAMES, found
from sojourn.analysis.result import Result
from sojourn.api import notebook
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.figures import Drawn, distributions, over_time, sizing, tradeoffs
from sojourn.figures.saving import Format
from sojourn.figures.values import unit_of
from sojourn.store import Store

SWEEP = """
[probe]
queue_series = "100 ms"
flow_series = "100 ms"
queue_state = true
flow_state = true

[sweep.axes]
tcp = { key = "flows.*.tcp", values = ["newreno", "cubic"] }
delay = { key = "network.dumbbell.bottleneck.delay", values = ["20 ms", "5 ms"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel", "pie"] }
"""

#: The first bytes of a file of each format.
STARTS: dict[Format, bytes] = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "tex": b"% ", "csv": b""}

ALONE = {"tcp": "cubic", "delay": "5 ms", "queue": "codel"}


def sweep_file(directory: Path, text: str = SWEEP) -> Path:
    path = directory / "sweep.toml"
    path.write_text(SMALL_TOML + text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of twelve small cells, three seeds each, with samples over time."""
    folder = tmp_path_factory.mktemp("figures")
    sojourn.run(sweep_file(folder), 3, out=folder / "results", jobs=1)
    return folder / "results"


@pytest.fixture
def store(directory: Path) -> Iterator[Store]:
    with sojourn.open(directory) as opened:
        yield opened


#: When flows start.
SPREAD = 'start_within = "200 ms"\n'


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Two cells with calls, requests, datagrams, a transfer of each class of sizes and each application, three seeds each."""
    folder = tmp_path_factory.mktemp("people")
    sources = ['{ name = "cbr", rate = "80 kbit/s", packet_size = "200 B" }', '"voice"', '"ping"']
    sources += [f'"newreno"\nsize = "{size}"' for size in ("50 kB", "1 MB", "11 MB")]
    applications = ["page = { objects = 1 }", 'exchange = { response = "1 kB" }', 'periodic = { size = "1 kB", every = "50 ms" }']
    applications += ['video = { rule = "bola", segment = "20 ms", buffer = "200 ms" }']
    sources += [f'"newreno"\ngroup = "applications"\n{application}' for application in applications]
    sources += ['"newreno"\ngroup = "query"\nsize = "10 kB"\ncount = 2\nstart = "300 ms"']
    flows = "".join(
        f'[[flows]]\nfrom = "a"\nto = "b"\ntcp = {source}\n{"" if "start =" in source else SPREAD}' for source in sources
    )
    text = SMALL_TOML.partition("[[flows]]")[0].replace('"10 Mbit/s"', '"100 Mbit/s"').replace('"1 s"', '"0 s"')
    axes = '[sweep.axes]\ndelay = { key = "network.dumbbell.bottleneck.delay", values = ["20 ms", "5 ms"] }\n'
    (folder / "people.toml").write_text(text + flows + axes, encoding="utf-8")
    return sojourn.run(folder / "people.toml", 3)


#: Figures of what only some flows have: those of ``people``.
OF_PEOPLE = re.compile(
    "delay-(mean|p95|p99)|jitter|mos|mouth-to-ear|call-loss|rpm|completion-time|slowdown|transfers|(page-load|response|message|query)-time|video"
)


@pytest.fixture
def invented(tmp_path: Path) -> Result:
    """Six cells, two seeds s each; all queue values are s, and flows 0 and 1 deliver 1000 s and 1000 s + 1 bytes."""
    return sojourn.run(sweep_file(tmp_path, SWEEP.replace('"20 ms", ', "")), 2, backend=Inventor())


def six_digits(numbers: Any) -> Any:
    """Compares numbers with those of a chart, which have six digits."""
    return pytest.approx(numbers, rel=1e-5)


def drawn(chart: figures.Chart) -> pl.DataFrame:
    """Returns the data of a chart as Vega would read them."""
    (found,) = chart.to_dict()["datasets"].values()
    return pl.read_csv(io.StringIO(found), infer_schema_length=None)


def objects(part: Any) -> Iterator[Mapping[str, Any]]:
    """Yields all objects in a chart."""
    if isinstance(part, Mapping):
        yield part
    for inner in part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ():
        yield from objects(inner)


#: A figure of each function that draws some.
OF_EACH_FUNCTION = sorted({figure.drawn_by: figure.name for figure in reversed(figures.available().values())}.values())

#: One of them of each module of these functions.
OF_EACH_MODULE = sorted({figures.available()[name].drawn_by.partition(":")[0]: name for name in OF_EACH_FUNCTION}.values())


def of_format(name: str, form: Format) -> Any:
    """The case of a figure and a format; one of each module as SVG, and one figure in all formats, are not long."""
    short = (name in OF_EACH_MODULE and form == "svg") or name == "throughput"
    return pytest.param(name, form, marks=() if short else pytest.mark.long)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(figures.available().keys() - OF_EACH_FUNCTION))
def test_every_figure_is_drawn(name: str, store: Store, people: Result) -> None:
    """Every figure is a chart that Vega-Lite's schema allows."""
    assert figures.draw(name, people if OF_PEOPLE.search(name) else store).to_dict()["$schema"]


@pytest.mark.parametrize(
    ("name", "form"), [of_format(*way) for way in itertools.product(sorted({*OF_EACH_FUNCTION, "throughput"}), STARTS)]
)
def test_figures_in_formats(name: str, form: Format, store: Store, people: Result, tmp_path: Path) -> None:
    """A figure of each function is saved in each format, without other files."""
    path = tmp_path / f"figure.{form}"
    figures.save(figures.draw(name, people if OF_PEOPLE.search(name) else store), path, form)
    assert path.read_bytes().startswith(STARTS[form])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", OF_EACH_FUNCTION)
def test_axes_and_commands(name: str, store: Store) -> None:
    """Every quantitative axis has its unit, and every figure the commands and version that made it."""
    chart = figures.draw(name, store, {"tcp": "cubic"}, seeds=[1, 2]).to_dict()
    told = "95 % interval (from|to)|Seeds|Least|First quartile|Median|Third quartile|Greatest|Values?"
    unit = re.compile(rf".*\((Mbit/s|ms|s|%|packets|packets/s|kB|1: all equal)\)|{told}")
    numbers = [each for each in objects(chart) if each.get("type") == "quantitative" and each.get("title") is not None]
    assert {each["field"] for each in numbers} >= {"value"} or {"x", "y"} <= {each["field"] for each in numbers}
    for each in numbers:
        assert unit.fullmatch(each["title"]), each
    made, plotted = chart["usermeta"]["sojourn"]["command"].splitlines()
    assert made.startswith("sojourn.run(")
    assert plotted.startswith("sojourn plot ")
    assert plotted.endswith(f"--figure {name} --only tcp=cubic --seed 1 --seed 2")
    assert "".join(chart["title"]["subtitle"][1:]).replace(" ", "") == f"{made}{plotted}".replace(" ", "")
    assert chart["usermeta"]["sojourn"]["version"] == sojourn.__version__


@pytest.mark.parametrize(
    ("name", "low", "mean", "high"),
    [
        # The t quantile of one degree of freedom is 12.7062; the interval of the values 1 and 2 is 1.5 -+ 12.7062 / 2, cut at 0.
        ("heatmap-sojourn-median", 0, 1500, 1500 + 12.7062 * 500),
        ("heatmap-sojourn-p99", 0, 1500, 1500 + 12.7062 * 500),
        ("heatmap-drop-ratio", 0, 1.5, 1.5 + 12.7062 / 2),
        # No link has a utilisation of 1.5; the mean of such invented values remains in its interval.
        ("heatmap-utilisation", 0, 150, 150),
        # Two flows with 1000 s and 1000 s + 1 bytes in 3 s.
        ("throughput", None, (2001 + 4001) * 8e-6 / 3 / 2, None),
        ("throughput-by-algorithm", None, (2001 + 4001) * 8e-6 / 3 / 2, None),
    ],
)
def test_means_and_intervals(name: str, low: float | None, mean: float, high: float | None, invented: Result) -> None:
    """Cells show the mean over seeds and Student's 95 % interval."""
    cells = drawn(figures.draw(name, invented))
    assert cells.height == 6
    assert cells["seeds"].to_list() == [2] * 6
    assert cells["value"].to_list() == six_digits([mean] * 6)
    if low is not None:
        assert cells["low"].to_list() == six_digits([low] * 6)
        assert cells["high"].to_list() == six_digits([high] * 6)


@pytest.mark.parametrize(
    ("name", "column"), [("heatmap-fairness", "jain"), ("fairness", "jain"), ("sojourn-mean", "sojourn_mean_s")]
)
def test_cells_match_runs(name: str, column: str, store: Store) -> None:
    """The values drawn are the means of the runs of each cell."""
    expected = store.runs.group_by("tcp", "delay", "queue").agg(pl.col(column).mean())[column].sort().to_list()
    factor = 1e3 if column.endswith("_s") else 1
    assert sorted(drawn(figures.draw(name, store))["value"]) == six_digits([value * factor for value in expected])


def test_heat_map_layout(store: Store) -> None:
    """A heat map has a row for each congestion control, a column for each queue and panels for other axes."""
    cells = drawn(figures.draw("heatmap-fairness", store))
    assert set(cells.select("panel_row", "row", "column").rows()) == {
        (delay, tcp, queue)
        for delay, tcp, queue in itertools.product(("5 ms", "20 ms"), ("cubic", "newreno"), ("codel", "droptail", "pie"))
    }


def test_queue_over_time(store: Store) -> None:
    """The queue over time is that of the first seed unless another is given."""
    samples = drawn(figures.draw("queue-over-time", store, ALONE)).select("time", "value")
    expected = store.series.filter(**ALONE, seed=1, kind="queue", measure="packets").select("time", "value")
    assert samples["time"].to_list() == six_digits(expected["time"].to_list())
    assert samples["value"].to_list() == expected["value"].to_list()
    other = drawn(figures.draw("queue-over-time", store, ALONE, seeds=[2]))["value"].to_list()
    assert other == store.series.filter(**ALONE, seed=2, kind="queue", measure="packets")["value"].to_list()


def test_throughput_over_time_adds_up(store: Store) -> None:
    """Throughputs over time add up to the bytes that each flow received, which are at least those delivered."""
    rates = drawn(figures.draw("throughput-over-time", store, ALONE))
    delivered = store.series.filter(**ALONE, seed=1, measure="bytes_delivered")["value"]
    received = store.series.filter(**ALONE, seed=1, measure="bytes_received")["value"]
    assert (received >= delivered).all()
    last = store.series.filter(**ALONE, seed=1, measure="bytes_received").filter(pl.col("time") == pl.col("time").max())
    got = rates.group_by("colour", maintain_order=True).agg(pl.col("value").sum() * 0.1 * 1e6 / 8)
    assert sorted(got["value"]) == six_digits(sorted(last["value"]))


def test_throughput_within_link_rate(tmp_path: Path) -> None:
    """No point of throughput over time is above the link's rate, although losses are repaired late (conservation)."""
    lossy = SMALL_TOML.replace('rate = "10 Mbit/s"', 'loss = 0.01, rate = "10 Mbit/s"')
    file = tmp_path / "lossy.toml"
    file.write_text(lossy + '[probe]\nflow_series = "20 ms"\n', encoding="utf-8")
    result = sojourn.run(file)
    delivered = result.series.filter(measure="bytes_delivered", which="0")["value"].diff().max()
    assert isinstance(delivered, float)
    assert delivered * 8e-6 / 0.02 > 10  # a repair hands over at once what has waited for it
    rates = drawn(figures.draw("throughput-over-time", result))
    assert rates.filter(pl.col("value") > 10).height == 0
    assert rates.group_by("time").agg(pl.col("value").sum()).filter(pl.col("value") > 10).height == 0


def test_drops_over_time_add_up(store: Store) -> None:
    """Drops over time add up to all drops sampled."""
    alone = ALONE | {"queue": "droptail"}
    rates = drawn(figures.draw("loss-over-time", store, alone))
    (drops,) = store.queues.filter(**alone, seed=1)["total_drops"]
    sampled = store.series.filter(**alone, seed=1, measure="drops")["value"].max()
    assert drops > 0
    assert (rates["value"] * 0.1).sum() == six_digits(sampled)


def test_many_flows_are_averaged(tmp_path: Path) -> None:
    """More flows than can be drawn are shown as the mean of each algorithm."""
    file = sweep_file(tmp_path, '[probe]\nflow_series = "500 ms"\n')
    result = sojourn.run(file, changes={"flows.0.count": 12})
    means = drawn(figures.draw("cwnd-over-time", result))
    expected = (
        result.series.filter(measure="cwnd").drop_nulls("value").group_by("time").agg(pl.col("value").mean() / 1e3).sort("time")
    )
    assert set(means["colour"]) == {"newreno"}
    assert means["value"].to_list() == six_digits(expected["value"].to_list())


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=1000), st.integers(1, 100))
def test_thinning_keeps_extremes(values: list[int], stretches: int) -> None:
    """A thinned line keeps its minimum and maximum, only has samples of the line, and stays in order."""
    line = pl.DataFrame({"line": "a", "time": [0.1 * place for place in range(len(values))], "value": values})
    thinned = over_time.thinned(line, stretches)
    assert thinned.height <= 2 * stretches
    assert thinned["value"].min() == min(values)
    assert thinned["value"].max() == max(values)
    assert set(thinned.rows()) <= set(line.rows())
    assert thinned["time"].is_sorted()


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=2000))
def test_cumulative_distribution(values: list[int]) -> None:
    """A thinned distribution rises from 0 to 100 % and lies on the exact one."""
    steps = distributions.cumulative(pl.DataFrame({"cell": "a", "value": values}), ["cell"])
    share = steps["share"].to_list()
    assert (share[0], share[-1]) == (0, 100)
    assert share == sorted(share)
    assert steps["value"].to_list() == sorted(steps["value"].to_list())
    for place, reached in steps.select("value", "share").rows():
        exact = [100 * np.mean(np.asarray(values) < place), 100 * np.mean(np.asarray(values) <= place)]
        assert exact[0] - 1e-9 <= reached <= exact[1] + 1e-9
    assert max(later - earlier for earlier, later in itertools.pairwise(share)) <= max(0.5, 100 / len(values)) + 0.5


def test_distribution_has_all_seeds(store: Store) -> None:
    """The distribution of throughputs has the flows of all seeds."""
    curve = drawn(figures.draw("flow-throughputs", store, ALONE))
    flows = store.flows.filter(**ALONE)["bytes_delivered"] * 8 / 1e6 / 3
    assert curve["value"].to_list()[1:] == six_digits(sorted(flows))


def test_throughputs_of_own_window(tmp_path: Path) -> None:
    """A flow's throughput is over the measuring window of its own run, where those of cells differ."""
    file = sweep_file(tmp_path, '[sweep.axes]\nlength = { key = "duration", values = ["4 s", "11 s"] }\n')
    result = sojourn.run(file, 2, backend=Inventor())
    rates = figures.Drawn.of(result).throughputs.sort("axis length", "seed", "flow")
    windows = {"4 s": 3, "11 s": 10}
    delivered = [(length, 1000 * seed + flow) for length in ("11 s", "4 s") for seed in (1, 2) for flow in (0, 1)]
    assert rates["mbps"].to_list() == pytest.approx([sent * 8 / 1e6 / windows[length] for length, sent in delivered])


def test_blocks_do_not_show(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The throughput of each algorithm is the same, in however many blocks the flows are read."""
    whole = drawn(figures.draw("throughput-by-algorithm", store))
    monkeypatch.setattr("sojourn.figures.bars.AT_ONCE", 1)
    assert drawn(figures.draw("throughput-by-algorithm", store)).equals(whole)


def test_seeds_of_drawn_cells(store: Store) -> None:
    """All seeds are drawn unless some are chosen, each once and in order; then only rows with these."""
    assert list(figures.Drawn.of(store).seeds) == [1, 2, 3]
    chosen = figures.Drawn.of(store, ALONE, [3, 1, 3])
    assert list(chosen.seeds) == [1, 3]
    assert chosen.frame("runs").select("seed").collect()["seed"].to_list() == [1, 3]


def test_ellipse() -> None:
    """An ellipse is at one standard deviation (Mahalanobis distance 1) from the mean, and needs three points."""
    runs = pl.DataFrame({"x": [1.0, 2.0, 4.0, 3.0], "y": [10.0, 30.0, 20.0, 40.0]})
    points = runs.to_numpy()
    inverse = np.linalg.inv(np.cov(points.T, ddof=0))
    for outline in tradeoffs.ellipse(runs):
        apart = np.asarray(outline) - points.mean(axis=0)
        assert apart @ inverse @ apart == pytest.approx(1)
    assert tradeoffs.ellipse(runs.head(2)) == []


def test_delay_goodput_medians(store: Store) -> None:
    """The points of delay and goodput are medians over seeds."""
    rows = drawn(figures.draw("delay-goodput", store, {"tcp": "cubic", "delay": "5 ms"}))
    medians = rows.filter(part="median").sort("colour").select("x", "y").rows()
    runs = store.runs.filter(tcp="cubic", delay="5 ms").group_by("queue").agg(pl.col("sojourn_mean_s", "total_mbps").median())
    expected = runs.sort("queue").select(pl.col("sojourn_mean_s") * 1e3, "total_mbps").rows()
    assert [value for row in medians for value in row] == six_digits([value for row in expected for value in row])
    assert rows.filter(part="ellipse").height == 3 * tradeoffs.OUTLINE


def test_delay_goodput_of_groups(grouped: Result) -> None:
    """Each group of a cell has its median over seeds of RTT and throughput of a flow, and its ellipse."""
    rows = drawn(figures.draw("delay-goodput-by-group", grouped))
    medians = rows.filter(part="median").sort("shape", "colour").select("shape", "colour", "x", "y").rows()
    groups = grouped.groups.group_by("queue", "flow_group").agg(pl.col("rtt_mean_s", "avg_mbps").median())
    expected = groups.sort("queue", "flow_group").select("queue", "flow_group", pl.col("rtt_mean_s") * 1e3, "avg_mbps").rows()
    assert [row[:2] for row in medians] == [row[:2] for row in expected]
    assert [value for row in medians for value in row[2:]] == six_digits([value for row in expected for value in row[2:]])
    assert rows.filter(part="ellipse").height == 4 * tradeoffs.OUTLINE


@pytest.mark.parametrize(
    ("seeds", "told"), [([1], "seed 1"), ([1, 2], "medians over 2 seeds; ellipses need 3"), ([1, 2, 3], "ellipses one standard")]
)
def test_few_seeds_promise_no_ellipse(store: Store, seeds: list[int], told: str) -> None:
    """The caption of delay and goodput promises ellipses only where there are any."""
    source = Drawn.of(store, {"tcp": "cubic", "delay": "5 ms"}, seeds)
    assert told in figures.available()["delay-goodput"].shown(source)
    ellipses = drawn(figures.draw("delay-goodput", store, {"tcp": "cubic", "delay": "5 ms"}, seeds)).filter(part="ellipse")
    assert bool(ellipses.height) == (len(seeds) == 3)


def test_label_order(store: Store) -> None:
    """Labels are sorted by size, or in the order given by the study."""
    assert Drawn.of(store).axes["delay"] == ["5 ms", "20 ms"]
    known = Drawn.of(store, order={"queue": ["droptail", "pie", "codel"], "tcp": []})
    assert list(known.axes) == ["queue", "tcp", "delay"]
    assert known.axes["queue"] == ["droptail", "pie", "codel"]


def test_empty_panel(tmp_path: Path) -> None:
    """A combination without runs has an empty panel."""
    file = sweep_file(tmp_path, f'{SWEEP}\n[[sweep.exclude]]\ntcp = "cubic"\ndelay = "5 ms"\n')
    rows = drawn(figures.draw("queue-over-time", sojourn.run(file, backend=Inventor())))
    empty = rows.filter(pl.col("value").is_null()).select("panel_row", "panel_column").rows()
    assert empty == [("cubic", "5 ms")]
    assert rows.height == 10


def test_campaigns_are_separate(tmp_path: Path) -> None:
    """Runs that lack an axis are not mixed with those of another campaign."""
    for text in (SWEEP, SWEEP.replace("delay =", "wait =").replace("20 ms", "30 ms").replace('"5 ms', '"7 ms')):
        sojourn.run(sweep_file(tmp_path, text), out=tmp_path / "out", backend=Inventor())
    with sojourn.open(tmp_path / "out") as opened:
        assert Drawn.of(opened).axes["wait"] == ["-", "7 ms", "30 ms"]
        assert drawn(figures.draw("heatmap-fairness", opened, {"wait": "-"})).height == 12


@pytest.mark.parametrize("name", OF_EACH_FUNCTION)
def test_axes_named_like_columns(name: str, store: Store) -> None:
    """Axes may have the names of a figure's own columns."""
    given = ["colour", "x", "low"] if "over-time" in name else ["flows", "seeds", "y"]
    new = dict(zip(("tcp", "delay", "queue"), given, strict=True))
    renamed = Result(lambda frame: store.scan(frame).rename(new))
    assert drawn(figures.draw(name, renamed)).height


def test_notebook_is_self_contained(invented: Result) -> None:
    """The HTML for notebooks has a table, a picture and the command, and loads nothing."""
    html = notebook.html(invented)
    assert html.count("<tr>") == 7
    assert "<th>Mean sojourn time (ms)</th>" in html
    assert "<td>2000 [0, 8000]</td>" in html
    assert "Means over 2 seeds" in html
    assert "sojourn.run(" in html
    assert 'src="data:image/svg+xml;base64,' in html
    assert "http" not in html


def test_plot_page_width(directory: Path, tmp_path: Path, capsys: Capture) -> None:
    """`plot` writes a PNG that is about as wide as a page."""
    out = tmp_path / "fairness.png"
    assert status(["plot", str(directory), "--figure", "heatmap-fairness", "--only", "tcp=cubic", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    points = int.from_bytes(out.read_bytes()[16:20], "big") * 72 / 300
    assert 0.85 * figures.DOCUMENT <= points <= 1.15 * figures.DOCUMENT


def test_plot_default_file(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`plot` names its file after the figure by default, and the file contains the command."""
    monkeypatch.chdir(tmp_path)
    assert status(["plot", str(directory), "--figure", "fairness", "--format", "svg"]) == 0
    text = (tmp_path / "fairness.svg").read_text(encoding="utf-8")
    assert f"sojourn plot {directory}"[:60] in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--figure", "heatmap-fairnes"], 'unknown figure "heatmap-fairnes", did you mean "heatmap-fairness"'),
        (["--figure", "fairnes"], 'unknown figure "fairnes", did you mean "fairness", "fairness-1s" or "cdf-fairness"?'),
        (["--figure", "series-packet"], 'unknown measure of series "packet", did you mean "packets"?'),
        (["--figure", "sojourn_p99_s"], 'unknown figure "sojourn_p99_s", did you mean "sojourn-p99"?'),
        (["--figure", "line-jain"], 'unknown figure "line-jain", did you mean "line-fairness"?'),
        (["--figure", "share_pct"], 'unknown figure "share_pct", did you mean "share-by-group"?'),
        (["--figure", "line-share_pct"], 'unknown figure "line-share_pct", did you mean "line-share"?'),
        (["--figure", "fairness", "--x-scale", "log"], "figure fairness: --x-scale is for lines over an axis of quantities"),
        (["--figure", "fairness", "--reverse-delay"], "figure fairness: --reverse-delay is for trade-offs with a delay"),
        (["--figure", "fairness", "--x-scale", "ln"], "--x-scale"),
        (["--figure", "fairness", "--only", "tpc=cubic"], 'unknown axis "tpc", did you mean "tcp"?'),
        (["--figure", "fairness", "--only", "tcp=bbr"], 'unknown value of axis tcp "bbr"'),
        (["--figure", "fairness", "--only", "tcp"], "--only tcp: write AXIS=VALUE"),
        (["--figure", "fairness", "--seed", "7"], 'unknown seed "7" (known: 1, 2, 3)'),
        (["--figure", "fairness", "--out", "missing/a.png"], "--out missing/a.png: no directory missing"),
        (["--figure", "fairness", "--out", "a.gif"], "--out a.gif: unknown format"),
        (["--figure", "fairness", "--format", "gif"], "--format"),
        (
            ["--figure", "fairness", "--format", "pdf", "--out", "a.png"],
            "--out a.png: the name ends in .png and --format says pdf",
        ),
        (["--figure", "fairness", "--width", "252"], '--width 252: unknown unit ""'),
        (["--figure", "fairness", "--width", "wide"], "--width wide: write a number and a unit (pt, px, mm, in), such as 252pt"),
        (["--figure", "fairness", "--width", "0mm"], "--width 0mm: must be greater than 0"),
        (["--figure", "fairness", "--width", "20pt"], "--width: the figure needs"),
        (["--figure", "fairness", "--height", "20pt"], "--height: the figure needs"),
        (["--figure", "box-flow.rtt_mean"], 'unknown frame "flow", did you mean "flows"?'),
        (["--figure", "cdf-flows.rtt_meen"], 'unknown column of numbers in flows "rtt_meen", did you mean "rtt_mean"?'),
        (["--figure", "cdf-series.packet"], 'unknown measure of series "packet", did you mean "packets"?'),
        (["--figure", "throughput", "--only", "group=a-c"], 'unknown group "a-c", did you mean "a-b"?'),
        (["--figure", "drop-ratio", "--only", "group=a-b"], "queues are not of a group of flows; choose no group"),
        ([], "--figure"),
    ],
)
def test_bad_input(
    arguments: list[str], message: str, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Bad options of `plot` are a one-line error with status 2 and no file."""
    monkeypatch.chdir(tmp_path)
    assert status(["plot", str(directory), *arguments]) == 2
    assert message in complaint(capsys)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "only", "width", "height"),
    [
        ("throughput", {}, 252, 180),
        pytest.param("heatmap-fairness", {}, 480, 300, marks=pytest.mark.long),
        pytest.param("cwnd-over-time", {"delay": "5 ms"}, 504.5, 400, marks=pytest.mark.long),
        ("line-sojourn-mean", {"tcp": "cubic"}, None, 200),
    ],
)
def test_figure_size(name: str, only: dict[str, str], width: float | None, height: float | None, store: Store) -> None:
    """A figure has exactly the size that is asked for."""
    wide, high = sizing.size(figures.draw(name, store, only, width=width, height=height, titled=False))
    assert width is None or wide == pytest.approx(width, abs=0.5)
    assert height is None or high == pytest.approx(height, abs=0.5)


@pytest.mark.parametrize(("text", "points"), [("252pt", 252), ("336px", 252), ("25.4mm", 72), ("3.5in", 252)])
def test_lengths(text: str, points: float) -> None:
    """An inch has 72 points, 96 pixels (CSS) and 25.4 mm."""
    assert sizing.points("--width", text) == pytest.approx(points)


def test_plot_without_title(directory: Path, tmp_path: Path) -> None:
    """`--no-title` leaves out the title, the seeds and the commands, and `--width` in inches is that of the file."""
    out = tmp_path / "f.svg"
    arguments = ["--figure", "fairness", "--only", "delay=5 ms", "--no-title", "--width", "4in", "--out", str(out)]
    assert status(["plot", str(directory), *arguments]) == 0
    text = out.read_text(encoding="utf-8")
    assert 'width="288"' in text
    words = re.sub(r'aria-label="[^"]*"', "", text)
    assert "Jain" in words
    assert "sojourn plot" not in words
    assert "seeds" not in words


def test_legend_wraps(tmp_path: Path) -> None:
    """A legend of eight names wraps in a figure of 252 points, which leaves the panel most of the width."""
    queues = ["droptail", "drophead", "codel", "fq_codel", "pie", "fq_pie", "cake", "cobalt"]
    text = f'queue = {{ key = "network.dumbbell.bottleneck.queue.name", values = {json.dumps(queues)} }}\n'
    text += 'tcp = { key = "flows.*.tcp", values = ["newreno", "cubic"] }\n'
    found = sojourn.run(sweep_file(tmp_path, f"[sweep.axes]\n{text}"), 2, backend=Inventor())
    for name in ("throughput", "fairness-delay"):
        chart = figures.draw(name, found, width=252, titled=False)
        assert sizing.size(chart)[0] == pytest.approx(252, abs=0.5)
        panel = getattr(chart, "spec", chart)
        assert panel.width > 0.6 * 252, name


def test_box_quartiles(store: Store) -> None:
    """A box has the quartiles and the ends of all values of a cell (numpy's quantiles)."""
    (row,) = drawn(figures.draw("box-flows.rtt_mean", store, ALONE)).select("low", "q1", "value", "q3", "high").rows()
    values = store.flows.filter(**ALONE)["rtt_mean"].to_numpy()
    assert row == six_digits(tuple(np.quantile(values, [0, 0.25, 0.5, 0.75, 1])))
    boxes = drawn(figures.draw("box-sojourn-mean", store, {"tcp": "cubic"}))
    medians = store.runs.filter(tcp="cubic").group_by("delay", "queue").agg(pl.col("sojourn_mean_s").median() * 1e3)
    assert sorted(boxes["value"]) == six_digits(sorted(medians["sojourn_mean_s"]))


@pytest.mark.parametrize(
    ("name", "frame", "column"), [("cdf-series.packets", "series", "value"), ("cdf-groups.rtt_mean_s", "groups", "rtt_mean_s")]
)
def test_distribution_of_column(name: str, frame: str, column: str, store: Store) -> None:
    """A distribution of a column has its values, from the least to the greatest."""
    rows = store.scan(frame).filter(**ALONE).collect()
    # Of samples over time those of the warm-up, which ends at 1 s, do not count.
    values = rows.filter(pl.col("time") >= 1, measure="packets")[column] if frame == "series" else rows[column]
    assert frame == "groups" or rows.filter(measure="packets")["value"].min() == 0
    curve = drawn(figures.draw(name, store, ALONE))
    assert [curve["value"].min(), curve["value"].max()] == six_digits([values.min(), values.max()])


def test_units_of_columns() -> None:
    """The unit on the axis of a column is that of its frame, and the one in which its name ends, if it does."""
    axes = {"flows": "rtt_min", "queues": "bytes_sent", "transfers": "retransmissions", "runs": "jain", "series": "cwnd"}
    assert [unit_of(*axis) for axis in axes.items()] == ["s", "B", "packets", "", "B"]
    endings = {"_s": "s", "_mbps": "Mbit/s", "_pct": "%", "_pkts": "packets"}
    for frame, ending in itertools.product(NAMES, endings):
        named = [each.name for each in found(frame) if each.name.endswith(ending)]
        assert {name: unit_of(frame, name) for name in named} == dict.fromkeys(named, endings[ending])


def test_axis_has_unit_of_column(store: Store) -> None:
    """The axis of a column's distribution says column and unit."""
    for name, title in {"cdf-series.bytes": "bytes (B)", "cdf-flows.rtt_max": "rtt_max (s)"}.items():
        assert title in [each.get("title") for each in objects(figures.draw(name, store, ALONE).to_dict())]


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Two cells of three seeds with the groups ``slow`` and ``fast``."""
    folder = tmp_path_factory.mktemp("grouped")
    text = SMALL_TOML.replace('tcp = "newreno"', 'tcp = "newreno"\ngroup = "slow"\nstart_within = "1 s"')
    text += '\n[[flows]]\nfrom = "a"\nto = "b"\ntcp = "cubic"\ngroup = "fast"\nstart_within = "1 s"\n'
    text += '[probe]\nflow_series = "100 ms"\n[sweep.axes]\n'
    text += 'queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel"] }\n'
    (folder / "groups.toml").write_text(text, encoding="utf-8")
    return sojourn.run(folder / "groups.toml", 3)


@pytest.mark.parametrize(
    ("name", "column", "factor"),
    [
        ("throughput-by-group", "total_mbps", 1),
        ("share-by-group", "share_pct", 1),
        ("round-trip-time-by-group", "rtt_mean_s", 1e3),
    ],
)
def test_metrics_by_group(name: str, column: str, factor: float, grouped: Result) -> None:
    """Bars by group are the means of the frame ``groups``; shares of a cell add up to 100 %."""
    bars = drawn(figures.draw(name, grouped)).sort("group", "colour").select("group", "colour", "value")
    expected = grouped.groups.group_by("queue", "flow_group").agg(pl.col(column).mean() * factor).sort("queue", "flow_group")
    assert bars.select("group", "colour").rows() == expected.select("queue", "flow_group").rows()
    assert bars["value"].to_list() == six_digits(expected[column].to_list())
    if column == "share_pct":
        assert bars.group_by("group").agg(pl.col("value").sum())["value"].to_list() == six_digits([100, 100])


def test_only_some_groups(grouped: Result) -> None:
    """`only` of groups leaves the flows of the others out of bars, distributions and lines over time."""
    (fast,) = drawn(figures.draw("throughput", grouped, {"group": "fast", "queue": "codel"}))["value"]
    assert fast == six_digits(grouped.groups.filter(queue="codel", flow_group="fast")["total_mbps"].mean())
    flows = drawn(figures.draw("flow-throughputs", grouped, {"group": "slow", "queue": "codel"}))
    assert flows.height == 1 + grouped.flows.filter(queue="codel", flow_group="slow").height
    names = drawn(figures.draw("throughput-over-time", grouped, {"group": "slow"}))["colour"]
    assert set(names) == {"slow 1: newreno", "slow 2: newreno"}
    every = drawn(figures.draw("throughput-over-time", grouped))["colour"]
    assert set(every) == {"slow 1: newreno", "slow 2: newreno", "fast: cubic"}


def test_figure_of_nothing(grouped: Result) -> None:
    """A metric that no group has a value of is an error, not an empty figure."""
    nothing = Result(
        lambda name: grouped.scan(name).with_columns(cs.by_name("rtt_mean_s", require_all=False) * None), grouped.axes
    )
    with pytest.raises(InputError, match="figure round-trip-time-by-group: no values in these runs"):
        figures.draw("round-trip-time-by-group", nothing)


def test_lines_follow_sizes(store: Store) -> None:
    """A line is over an axis of quantities to scale, a colour for each queue."""
    rows = drawn(figures.draw("line-sojourn-mean", store, {"tcp": "cubic"}))
    assert set(rows.select("group", "x").rows()) == {("5 ms", 5), ("20 ms", 20)}
    assert set(rows["colour"]) == {"codel", "droptail", "pie"}
    with pytest.raises(InputError, match="figure line-fairness: needs an axis whose values are quantities or numbers"):
        figures.draw("line-fairness", store, {"delay": "5 ms"})


def test_missing_samples(tmp_path: Path) -> None:
    """A figure of results without the samples it needs is an error that says how to record them."""
    result = sojourn.run(sweep_file(tmp_path, ""), backend=Inventor())
    with pytest.raises(InputError, match=r'figure cwnd-over-time: needs samples of flows over time; .* flow_series = "1 s"'):
        figures.draw("cwnd-over-time", result)
    unmeasured = sojourn.run(sweep_file(tmp_path, '[probe]\nqueue_series = "1 s"\nqueue_statistics = false\n'))
    with pytest.raises(InputError, match="figure loss-over-time: no samples of drops in the runs with seed 1"):
        figures.draw("loss-over-time", unmeasured)


def test_unreadable_figure_is_refused(tmp_path: Path) -> None:
    """Too many panels or colours are an error that says which axes to narrow."""
    counts = ", ".join(f'"{count} ms"' for count in range(1, 26))
    file = sweep_file(tmp_path, SWEEP.replace('"20 ms", "5 ms"', counts))
    result = sojourn.run(file, backend=Inventor())
    with pytest.raises(
        InputError, match="50 panels, at most 48 can be drawn; choose values of tcp, delay, such as --only tcp=newreno"
    ):
        figures.draw("queue-over-time", result)
    result = sojourn.run(file, only={"queue": "pie", "tcp": "cubic"}, backend=Inventor())
    with pytest.raises(InputError, match="25 values of delay, at most 8 can be drawn"):
        figures.draw("fairness-delay", result)


@pytest.mark.parametrize("kind", ["", "line-", "heatmap-", "box-", "cdf-"])
def test_metric_that_no_run_has(kind: str, store: Store) -> None:
    """A figure of a metric that no run has is refused in one line, whatever its kind, not drawn empty."""
    with pytest.raises(InputError, match=rf"^figure {kind}mos: no values in these runs$"):
        figures.draw(f"{kind}mos", store)
