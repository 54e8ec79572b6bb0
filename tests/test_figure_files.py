"""Figures as files for print: grey with hatches, TikZ, and the points as CSV."""

import csv
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import sojourn
from conftest import SMALL_TOML, Capture
from sojourn import colours, figures
from sojourn.analysis.result import Result
from sojourn.cli.commands import status
from sojourn.figures import grey, tikz
from sojourn.figures.points import points
from sojourn.figures.saving import svg
from sojourn.store import Store

AXES = """
[probe]
queue_series = "100 ms"

[sweep.axes]
delay = { key = "network.dumbbell.bottleneck.delay", values = ["20 ms", "5 ms"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel", "pie"] }
"""

#: Figures with each kind of mark: bars, lines with dashes, points with ellipses, fields with a gradient, boxes.
KINDS = ("throughput", "queue-over-time", "delay-goodput", "heatmap-sojourn-mean", "box-flows.rtt_mean", "line-sojourn-mean")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six small cells, three seeds each."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "sweep.toml").write_text(SMALL_TOML + AXES, encoding="utf-8")
    sojourn.run(folder / "sweep.toml", 3, out=folder / "results", jobs=1)
    return folder / "results"


@pytest.fixture
def store(directory: Path) -> Iterator[Store]:
    with sojourn.open(directory) as opened:
        yield opened


@pytest.mark.parametrize("name", KINDS)
def test_grey_has_no_colours(name: str, store: Store) -> None:
    """Every colour in a grey figure has as much red as green and blue."""
    drawn = grey.in_grey(svg(figures.draw(name, store)))
    found = re.findall(r'"(#[0-9a-f]{6})"', drawn) + re.findall(r'"rgb\((\d+), ?(\d+), ?(\d+)\)"', drawn)
    assert found
    for colour in found:
        parts = [colour[place : place + 2] for place in (1, 3, 5)] if isinstance(colour, str) else list(colour)
        assert len(set(parts)) == 1, colour


def test_bars_have_hatches(store: Store) -> None:
    """In grey the bars of a queue and its symbol in the legend have one hatch, and those of another queue another."""
    root = ElementTree.fromstring(grey.in_grey(svg(figures.draw("throughput", store))))
    marks = {kind: set[str]() for kind in ("role-mark", "role-legend-symbol")}
    for group in root.iter(f"{{{grey.SVG}}}g"):
        for kind, found in marks.items():
            if kind in group.get("class", "") and "rule" not in group.get("class", ""):
                found.update(part.get("fill", "") for part in group)
    assert marks["role-mark"] == marks["role-legend-symbol"]
    assert len(marks["role-mark"]) == 3
    patterns = {f"url(#{part.get('id')})" for part in root.iter(f"{{{grey.SVG}}}pattern")}
    assert {fill for fill in marks["role-mark"] if fill.startswith("url")} == patterns


@pytest.mark.parametrize(
    ("colour", "expected"), [("#ffffff", "#ffffff"), ("#000000", "#000000"), ("#0000ff", "#4c4c4c"), ("none", "none")]
)
def test_levels_of_grey(colour: str, expected: str) -> None:
    """A grey is as light as its colour: blue has 0.0722 of the luminance of white (WCAG 2.2)."""
    assert grey.level(colour) == expected


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<svg"), ("tex", b"% ")])
def test_plot_in_grey(form: str, start: bytes, directory: Path, tmp_path: Path) -> None:
    """`plot --grey` writes every format."""
    out = tmp_path / f"figure.{form}"
    assert status(["plot", str(directory), "--figure", "throughput", "--grey", "--out", str(out)]) == 0
    made = out.read_bytes()
    assert made.startswith(start)
    assert not any(colour.encode() in made for colour in colours.PALETTE)


def test_csv_has_the_points(directory: Path, tmp_path: Path, store: Store, capsys: Capture) -> None:
    """`plot --out x.csv` writes what is plotted under the names of axes and metric, with intervals and seeds."""
    out = tmp_path / "points.csv"
    assert status(["plot", str(directory), "--figure", "line-sojourn-mean", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    titles = ["delay", "queue", "delay (ms)", "Mean sojourn time (ms)", "95 % interval from", "95 % interval to", "Seeds"]
    assert list(rows[0]) == titles
    assert {(row["delay"], float(row["delay (ms)"])) for row in rows} == {("5 ms", 5.0), ("20 ms", 20.0)}
    means = store.runs.group_by("delay", "queue").agg(pl.col("sojourn_mean_s").mean() * 1e3)
    expected = {(delay, queue): mean for delay, queue, mean in means.rows()}
    assert {(row["delay"], row["queue"]): float(row["Mean sojourn time (ms)"]) for row in rows} == pytest.approx(
        expected, rel=1e-5
    )
    assert all(
        float(row["95 % interval from"]) <= float(row["Mean sojourn time (ms)"]) <= float(row["95 % interval to"]) for row in rows
    )


@pytest.mark.parametrize("name", KINDS)
def test_csv_of_each_kind(name: str, store: Store, tmp_path: Path) -> None:
    """Every kind of figure has its points with the axes as columns, and none that only says how it is drawn."""
    out = tmp_path / "points.csv"
    figures.save(figures.draw(name, store), out, "csv")
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert {"delay", "queue"} <= set(rows[0])
    assert not {"panel_row", "colour", "group", "value", "at", "place", "light", "shape"} & set(rows[0])
    assert {row["queue"] for row in rows} == {"droptail", "codel", "pie"}


def test_columns_that_are_called_alike(store: Store) -> None:
    """An axis that is called like the metric does not take its place."""
    title = "Total throughput (Mbit/s)"
    renamed = Result(lambda name: store.scan(name).rename({"delay": title}))
    rows = points(figures.draw("throughput", renamed))
    assert {title, f"{title} (2)"} <= set(rows.columns)
    assert set(rows[title]) == {"5 ms", "20 ms"}


def balanced(text: str) -> bool:
    """Whether braces match, as TeX counts them."""
    depth = 0
    for character in re.sub(r"\\[{}]", "", text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


#: A number of a file, and a coordinate.
NUMBER = r"-?\d+(?:\.\d+)?"
POINT = rf"\({NUMBER},{NUMBER}\)"

#: The commands of a picture: paths of moves, lines, curves and rectangles, and nodes with a text.
CURVE = rf"\.\. controls {POINT} and {POINT} \.\. {POINT}"
PATH = rf"\\path\[[^\]]*\] {POINT}(?:\s+(?:{POINT}|-- {POINT}|-- cycle|{CURVE}|rectangle {POINT}))*;"
NODE = rf"\\node\[[^\]]*\] at {POINT} \{{.*\}};"


@pytest.mark.parametrize("name", KINDS)
def test_tikz_is_well_formed(name: str, store: Store) -> None:
    """A picture has only paths and nodes that TikZ knows, as large as the figure, and every text of the figure."""
    drawn = svg(figures.draw(name, store))
    picture = tikz.tikz(drawn, "said")
    head, _, rest = picture.partition("\\begin{tikzpicture}")
    assert head.startswith("% said\n% The document needs \\usepackage{tikz}")
    body = rest.partition("]\n")[2].removesuffix("\\end{tikzpicture}%\n")
    assert not re.sub(rf"(?:{PATH}|{NODE})\n", "", body)
    assert balanced(body)
    width, height = re.findall(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', drawn)[0]
    assert f"(0,0) rectangle ({float(width):g},{float(height):g});" in body
    texts = [
        text
        for element in ElementTree.fromstring(drawn).iter()
        if (text := element.text) and element.tag.endswith(("text", "tspan"))
    ]
    assert texts
    for text in texts:
        assert f"{{{tikz.escaped(text)}}};" in body


def test_tikz_draws_circles_and_places() -> None:
    """A circle at (30, 40) of 100 by 100 points is four curves around (30, 60) of TeX, whose y axis points up."""
    circle = "M5,0A5,5,0,1,1,-5,0A5,5,0,1,1,5,0"
    path = f'<path transform="translate(20,20)" d="{circle}" fill="#ff0000"/>'
    text = f'<svg xmlns="{grey.SVG}" width="100" height="100"><g transform="translate(10,20)">{path}</g></svg>'
    picture = tikz.tikz(text, "")
    found = [tuple(map(float, point)) for point in re.findall(r"\((-?[\d.]+),(-?[\d.]+)\)", picture)][2:]
    ends = [found[0], *found[3::3]]
    assert ends == [(35, 60), (30, 55), (25, 60), (30, 65), (35, 60)]
    assert "fill={rgb,255:red,255;green,0;blue,0}" in picture


def test_tikz_escapes() -> None:
    """What TeX would take for a command is printed."""
    assert tikz.escaped("a_b 5 % --out {x}") == r"a\_b 5 \% {-}{-}out \{x\}"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("in_print", [False, True])
def test_tikz_compiles(in_print: bool, directory: Path, tmp_path: Path) -> None:
    """LaTeX sets the pictures, in grey too, each as wide as the figure."""
    pictures = []
    for name in KINDS:
        out = tmp_path / f"{name}.tex"
        assert status(["plot", str(directory), "--figure", name, "--out", str(out), *(["--grey"] if in_print else [])]) == 0
        pictures.append(f"\\setbox0=\\hbox{{\\input{{{name}.tex}}}}\\message{{WIDTH \\the\\wd0}}\\box0\\par")
    document = [
        "\\documentclass{article}\\usepackage{tikz}\\usetikzlibrary{patterns}\\begin{document}",
        *pictures,
        "\\end{document}",
    ]
    (tmp_path / "all.tex").write_text("\n".join(document), encoding="utf-8")
    told = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-2000:]
    widths = [float(width) for width in re.findall(r"WIDTH ([\d.]+)pt", told.stdout.replace("\n", ""))]
    expected = [
        float(found[1])
        for name in KINDS
        if (found := re.search(r"rectangle \(([\d.]+),", (tmp_path / f"{name}.tex").read_text()))
    ]
    # A point of TeX is 1/72.27 inch, one of a figure 1/72.
    assert widths == pytest.approx([72.27 / 72 * width for width in expected], abs=0.1)
