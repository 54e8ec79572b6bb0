"""Axes of quantities: positions to scale, marks beside each other, and figures of shares over such an axis."""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import SMALL_TOML, Capture, complaint
from doubles import Inventor
from sojourn import figures
from sojourn.analysis.result import Result
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.figures import quantities
from sojourn.figures.points import points

BUFFERS = ["0.25 BDP", "0.5 BDP", "1 BDP", "2 BDP", "4 BDP"]

AXES = """
[sweep.axes]
tcp = { key = "flows.1.tcp", values = ["cubic", "newreno"] }
buffer = { key = "network.dumbbell.bottleneck.queue.limit", values = ["0.25 BDP", "0.5 BDP", "1 BDP", "2 BDP", "4 BDP"] }
rate = { key = "network.dumbbell.bottleneck.rate", values = ["8 Mbit/s", "800 kbit/s"] }
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty cells of two groups of flows, with invented results."""
    folder = tmp_path_factory.mktemp("quantities")
    text = SMALL_TOML.replace("count = 2\n", 'group = "old"\n')
    text += '\n[[flows]]\nfrom = "a"\nto = "b"\ntcp = "cubic"\ngroup = "new"\n'
    (folder / "sweep.toml").write_text(text + AXES, encoding="utf-8")
    sojourn.run(folder / "sweep.toml", 3, out=folder / "results", backend=Inventor())
    return folder / "results"


@pytest.fixture
def result(directory: Path) -> Iterator[sojourn.Store]:
    with sojourn.open(directory) as opened:
        yield opened


def parts(part: Any) -> Iterator[Mapping[str, Any]]:
    """Yields all objects in a chart."""
    if isinstance(part, Mapping):
        yield part
    for inner in part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ():
        yield from parts(inner)


def horizontal(chart: figures.Chart) -> Mapping[str, Any]:
    """The horizontal axis of a chart."""
    found: Mapping[str, Any] = next(part["x"] for part in parts(chart.to_dict(validate=False)) if "x" in part)
    return found


@pytest.mark.parametrize(
    ("labels", "title", "numbers", "scale"),
    [
        (["5 ms", "10 ms", "20 ms"], "axis (ms)", [5, 10, 20], "log"),
        (["10 ms", "20 ms", "30 ms"], "axis (ms)", [10, 20, 30], "linear"),
        (["0.5 BDP", "1 BDP", "2 BDP", "8 BDP"], "axis (BDP)", [0.5, 1, 2, 8], "log"),
        (["500 kbit/s", "10 Mbit/s", "1 Gbit/s"], "axis (Mbit/s)", [0.5, 10, 1000], "log"),
        (["900 ms", "1 s", "1.1 s"], "axis (ms)", [900, 1000, 1100], "linear"),
        (["1 packets", "10 packet", "100 packets"], "axis (packets)", [1, 10, 100], "log"),
        (["0", "1", "10"], "axis", [0, 1, 10], "linear"),
        (["1/4", "1/2"], "axis", [0.25, 0.5], "linear"),
        (["1 Mbit/s", "10 Mbit/s"], "axis (Mbit/s)", [1, 10], "log"),
    ],
)
def test_positions_to_scale(labels: list[str], title: str, numbers: list[float], scale: str) -> None:
    """Labels become numbers in the unit that all have, or one between; evenly spaced ratios have a logarithmic scale."""
    found = quantities.of("figure", "axis", labels)
    assert found is not None
    assert list(found.numbers.values()) == pytest.approx(numbers)
    assert (found.title, str(found.scale)) == (title, scale)


def test_no_unit_in_common() -> None:
    """Packets and bytes have no common scale: they stand in the order of their numbers; names are no quantities."""
    found = quantities.of("figure", "axis", ["100 packets", "64 KiB"])
    assert found is not None
    assert (found.title, found.ticks) == ("axis", ["100 packets", "64 KiB"])
    with pytest.raises(InputError, match="values of axis have no unit in common"):
        quantities.of("figure", "axis", ["100 packets", "64 KiB"], "log")
    assert quantities.of("figure", "axis", ["5 ms", "codel"]) is None


def test_buffers_in_bdp_are_numbers(result: sojourn.Store) -> None:
    """An axis of buffers in BDP is numeric with its unit, its values have the ticks, and points stand to scale."""
    chart = figures.draw("line-throughput", result, {"tcp": "cubic", "rate": "8 Mbit/s"})
    axis = horizontal(chart)
    assert (axis["type"], axis["title"], axis["scale"]["type"]) == ("quantitative", "buffer (BDP)", "log")
    assert axis["axis"]["values"] == [0.25, 0.5, 1, 2, 4]
    assert points(chart)["buffer (BDP)"].to_list() == [0.25, 0.5, 1, 2, 4]
    linear = horizontal(figures.draw("line-throughput", result, {"tcp": "cubic", "rate": "8 Mbit/s"}, x_scale="linear"))
    assert linear["scale"]["type"] == "linear"


def test_axis_with_most_values_is_horizontal(result: sojourn.Store) -> None:
    """Of two axes of quantities the one with more values is horizontal, wherever it stands."""
    assert horizontal(figures.draw("line-throughput", result, {"tcp": "cubic"}))["title"] == "buffer (BDP)"


def test_series_stand_beside_each_other(result: sojourn.Store) -> None:
    """Marks of several series at one value are dodged, around the value and by less than the distance of values."""
    chart = figures.draw("line-throughput", result, {"rate": "8 Mbit/s"})
    rows = pl.read_csv(next(iter(chart.to_dict(validate=False)["datasets"].values())).encode())
    for _, same in rows.group_by("x"):
        assert same["at"].n_unique() == 2
        assert same["at"].log().mean() == pytest.approx(same["x"].log().mean(), abs=1e-4)
    ends = rows.group_by("x").agg(low=pl.col("at").min(), high=pl.col("at").max()).sort("x")
    assert all(before < after for before, after in itertools.pairwise([value for row in ends.rows() for value in row[1:]]))


def test_marks_stay_in_their_panel() -> None:
    """However many series stand beside each other, the axis has room for them."""
    found = quantities.of("figure", "axis", BUFFERS)
    assert found is not None
    for series, width in itertools.product((1, 2, 8), (40, 400)):
        scale: Any = found.encoding("at", series, width)["scale"]
        low, high = scale["domain"]
        marks = [at for _, _, at in found.beside([str(number) for number in range(series)], width)]
        assert low < min(marks) < max(marks) < high


def test_shares_of_groups(result: sojourn.Store) -> None:
    """`line-share` has a line a group over the axis; the shares of a cell add up to 100 %."""
    chart = figures.draw("line-share", result, {"tcp": "newreno", "rate": "8 Mbit/s"})
    rows = points(chart)
    assert set(rows["group"]) == {"old", "new"}
    sums = rows.group_by("buffer").agg(pl.col("Share of all throughput (%)").sum())
    assert sums["Share of all throughput (%)"].to_list() == pytest.approx([100] * 5, rel=1e-4)
    assert figures.available()["line-throughput-by-group"].metric.name == "total_mbps"  # type: ignore[attr-defined]


def test_delay_points_to_better(result: sojourn.Store) -> None:
    """The delay of a trade-off falls to the right where that is wished, and the figure's command says so."""
    assert "scale" not in horizontal(figures.draw("delay-goodput", result, {"buffer": "1 BDP"}))
    chart = figures.draw("delay-goodput", result, {"buffer": "1 BDP"}, reverse_delay=True)
    assert horizontal(chart)["scale"]["reverse"] is True
    assert chart.to_dict(validate=False)["usermeta"]["sojourn"]["command"].endswith(" --reverse-delay")


def test_log_scale_needs_more_than_zero(tmp_path: Path, capsys: Capture) -> None:
    """A logarithmic scale of a value that is 0 is an error that names axis and value."""
    axis = '[sweep.axes]\nwait = { key = "network.dumbbell.bottleneck.delay", values = ["0 ms", "5 ms"] }\n'
    (tmp_path / "zero.toml").write_text(SMALL_TOML + axis, encoding="utf-8")
    sojourn.run(tmp_path / "zero.toml", out=tmp_path / "out", backend=Inventor())
    out = str(tmp_path / "zero.png")
    assert status(["plot", str(tmp_path / "out"), "--figure", "line-throughput", "--x-scale", "log", "--out", out]) == 2
    assert "--x-scale log: wait has the value 0 ms; a logarithmic scale begins above 0" in complaint(capsys)


def test_inner_panels_have_no_titles(result: sojourn.Store) -> None:
    """Panels whose scales differ have numbers each, and what the axes say once, above the panels; filters still find the axes."""
    scaled = pl.when(pl.col("tcp") == "cubic").then(100).otherwise(1)
    uneven = Result(
        lambda name: result.scan(name).with_columns(pl.col("total_mbps") * scaled) if name == "runs" else result.scan(name)
    )
    spec = figures.draw("line-throughput", uneven).to_dict(validate=False)
    assert spec["resolve"]["scale"]["y"] == "independent"
    assert spec["facet"]["title"] == ["Total throughput (Mbit/s)", "tcp"]
    assert all(layer["encoding"]["y"]["title"] is None for layer in spec["spec"]["layer"])
    from sojourn.report.charts import fields

    assert fields(spec, ["tcp", "buffer", "rate"]) == {"panel_row": ["tcp"], "group": ["buffer"], "colour": ["rate"]}


def test_long_titles_stand_once(result: sojourn.Store) -> None:
    """What an axis says stands once where it is longer than each of several rows of panels is high."""
    rows = figures.draw("fairness-delay", result).to_dict(validate=False)
    assert rows["facet"]["title"] == ["Jain's index of long-lived flows (1: all equal)", "buffer"]
    assert all(layer["encoding"]["y"]["title"] is None for layer in rows["spec"]["layer"])
    one_row = figures.draw("fairness-delay", result, {"buffer": ["1 BDP", "2 BDP"]}).to_dict(validate=False)
    short = figures.draw("delay-goodput", result).to_dict(validate=False)
    assert one_row["facet"]["title"] == short["facet"]["title"] == "buffer"


def test_long_labels_are_broken(result: sojourn.Store) -> None:
    """Labels that are longer than their column stand in lines that fit it, and none is cut."""
    long = {"cubic": "CUBIC with HyStart++ and pacing at 120 %", "newreno": "New Reno with SACK and limited transmit"}
    named = Result(lambda name: result.scan(name).with_columns(pl.col("tcp").replace(long)))
    flat = horizontal(figures.draw("throughput", named, {"buffer": "1 BDP", "rate": "8 Mbit/s"}))
    assert "labelExpr" not in flat["axis"]
    assert flat["axis"]["labelAngle"] == 0
    narrow = horizontal(figures.draw("throughput", named, {"buffer": "1 BDP", "rate": "8 Mbit/s"}, width=200, titled=False))
    assert narrow["axis"]["labelAngle"] == 0
    assert '["CUBIC with", "HyStart++ and", "pacing at 120 %"]' in narrow["axis"]["labelExpr"]
    panels = figures.draw("throughput", named, {"rate": "8 Mbit/s", "buffer": ["1 BDP", "2 BDP"]}, width=200, titled=False)
    legend = next(part["legend"] for part in parts(panels.to_dict(validate=False)) if "columns" in part.get("legend", {}))
    assert legend["labelLimit"] >= 5 * len(long["cubic"]) or legend["columns"] == 1
