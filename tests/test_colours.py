"""The palette for all eyes and pages, and the places in it, which are the same in every picture."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import sojourn
from conftest import SMALL_TOML
from doubles import Inventor
from sojourn import catalogue, colours, figures
from sojourn.analysis.result import Result
from sojourn.figures import look
from sojourn.report import contents, overtime
from sojourn.watch.beside import Beside

Numbers = NDArray[np.float64]

#: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6),
#: 2009, with all of one kind of cones missing (severity 1.0), for linear RGB.
EYES: Mapping[str, Sequence[Sequence[float]]] = {
    "all cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}

#: Pages that colours stand on: paper, a black terminal, and the dark pages of reports and of the laboratory.
PAGES = ("#ffffff", "#000000", "#14171c", "#1b2028")

#: sRGB to XYZ, and the white of D65 (IEC 61966-2-1).
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(colour: str) -> Numbers:
    """A colour as linear RGB (IEC 61966-2-1)."""
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def seen(colour: str, eyes: str) -> Numbers:
    """Linear RGB of what somebody with such eyes sees."""
    return np.clip(np.array(EYES[eyes]) @ linear(colour), 0, 1)


def contrast(one: Numbers, other: Numbers) -> float:
    """The contrast of two colours in linear RGB (WCAG 2.2)."""
    low, high = sorted(float(XYZ[1] @ each) + 0.05 for each in (one, other))
    return high / low


def lab(rgb: Numbers) -> Numbers:
    """L*, a* and b* (CIE 1976) of a colour in linear RGB."""
    parts = XYZ @ rgb / WHITE
    x, y, z = np.where(parts > 216 / 24389, np.cbrt(parts), (24389 / 27 * parts + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(one: Numbers, other: Numbers) -> float:
    """CIEDE2000 of two colours in L*a*b* (ISO/CIE 11664-6)."""
    lightness, chroma = np.array([one[0], other[0]]), np.array([np.hypot(*one[1:]), np.hypot(*other[1:])])
    mean = chroma.mean()
    factor = 1 + 0.5 * (1 - np.sqrt(mean**7 / (mean**7 + 25.0**7)))
    a, b = np.array([one[1], other[1]]) * factor, np.array([one[2], other[2]])
    chroma, hue = np.hypot(a, b), np.degrees(np.arctan2(b, a)) % 360
    apart = (hue[1] - hue[0] + 180) % 360 - 180 if chroma.prod() else 0.0
    middle = (hue[0] + apart / 2) % 360 if chroma.prod() else hue.sum()
    mean_lightness, mean_chroma = lightness.mean(), chroma.mean()
    hues = 2 * np.sqrt(chroma.prod()) * np.sin(np.radians(apart / 2))
    turned = [(-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.20, 4, -63)]
    weight = 1 + sum(share * np.cos(np.radians(times * middle + shift)) for share, times, shift in turned)
    of_lightness = 1 + 0.015 * (mean_lightness - 50) ** 2 / np.sqrt(20 + (mean_lightness - 50) ** 2)
    parts = np.array(
        [
            (lightness[1] - lightness[0]) / of_lightness,
            (chroma[1] - chroma[0]) / (1 + 0.045 * mean_chroma),
            hues / (1 + 0.015 * mean_chroma * weight),
        ]
    )
    rotation = np.sin(np.radians(60 * np.exp(-(((middle - 275) / 25) ** 2))))
    turn = -2 * np.sqrt(mean_chroma**7 / (mean_chroma**7 + 25.0**7)) * rotation
    return float(np.sqrt((parts**2).sum() + turn * parts[1] * parts[2]))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, -1.0, 2.0), (50.0, 0.0, 0.0), 2.3669),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((50.0, 2.5, 0.0), (58.0, 24.0, 15.0), 19.4535),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
        ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
    ],
)
def test_differences(one: tuple[float, ...], other: tuple[float, ...], expected: float) -> None:
    """The measure of differences has the published values (Sharma, Wu and Dalal, Color Research and Application 30(1), 2005)."""
    assert difference(np.array(one), np.array(other)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("colour", colours.PALETTE)
def test_colours_stand_out_from_pages(colour: str, page: str) -> None:
    """Every colour stands out from every page by 3 to 1 (WCAG 2.2, 1.4.11)."""
    assert contrast(linear(colour), linear(page)) >= 3


@pytest.mark.parametrize("eyes", EYES)
def test_colours_for_all_eyes(eyes: str) -> None:
    """Any two colours differ by 10, and the first four by 11; of Okabe and Ito's two differ by 8."""
    found = {
        (one, other): difference(lab(seen(colours.PALETTE[one], eyes)), lab(seen(colours.PALETTE[other], eyes)))
        for one, other in itertools.combinations(range(colours.MOST), 2)
    }
    assert min(found.values()) >= 10, min(found, key=lambda pair: found[pair])
    assert min(value for (_, other), value in found.items() if other < 4) >= 11


def test_grey() -> None:
    """In grey the first four colours differ in lightness by 4 of 100; lines and points also differ in dash and shape."""
    lightness = [lab(linear(colour))[0] for colour in colours.PALETTE]
    assert min(abs(one - other) for one, other in itertools.combinations(lightness[:4], 2)) >= 4
    assert len({json.dumps(dash) for dash in look.DASHES}) == len(set(look.SHAPES)) == colours.MOST


def test_every_algorithm_has_a_colour() -> None:
    """The table has all algorithms of the catalogue and no others."""
    table = json.loads(Path(colours.__file__).with_name("colours.json").read_text(encoding="utf-8"))
    known = catalogue.load()
    assert set(table["congestion_controls"]) == {entry.name for entry in known.congestion_controls}
    assert set(table["queues"]) == {entry.name for entry in known.queues}
    places = {*table["congestion_controls"].values(), *table["queues"].values()}
    assert places == set(range(len(table["palette"])))


def test_places_of_algorithms() -> None:
    """An algorithm has its place in any company and spelling; of two that want the same the first of the table has it."""
    alone = colours.slots(["bbr"])["bbr"]
    assert colours.slots(["own", "cubic", "BBR", "vegas"])["BBR"] == alone
    assert colours.slots(["FQ-CoDel"])["FQ-CoDel"] == colours.slots(["fqcodel"])["fqcodel"]
    for order in (["vegas", "reno"], ["reno", "vegas"]):
        both = colours.slots(order)
        assert both["vegas"] == colours.slots(["vegas"])["vegas"]
        assert both["reno"] != both["vegas"]
    many = colours.slots([f"own {number}" for number in range(20)])
    assert [list(many.values()).count(place) for place in range(colours.MOST)] == [3, 3, 3, 3, 2, 2, 2, 2]


def test_places_of_groups_and_flows() -> None:
    """Groups have the colours of their algorithms where these differ; the first flow of a group has its group's."""
    bbr = colours.slots(["bbr"])["bbr"]
    assert colours.of_groups({"mine": "bbr", "theirs": "cubic"})["mine"] == bbr
    alike = colours.of_groups({"long": "cubic", "short": "cubic"})
    assert alike == {"long": 0, "short": 1}
    flows = colours.of_flows([("long", 1), ("long", 2), ("short", 1)], alike)
    assert flows == {("long", 1): 0, ("long", 2): 2, ("short", 1): 1}


AXES = """
[probe]
queue_series = "100 ms"
flow_series = "100 ms"

[sweep.axes]
tcp = { key = "flows.*.tcp", values = ["cubic", "newreno"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["pie", "codel", "droptail"] }
"""


def colours_of(chart: figures.Chart) -> dict[str, str]:
    """The colour of each label in a chart."""
    found: dict[str, str] = {}

    def look_into(part: object) -> None:
        if isinstance(part, Mapping):
            scale = part.get("color", {}).get("scale", {}) if isinstance(part.get("color"), Mapping) else {}
            found.update(zip(scale.get("domain", ()), scale.get("range", ()), strict=True))
        for inner in part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ():
            look_into(inner)

    look_into(chart.to_dict(validate=False))
    return found


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Six cells of two congestion controls and three queues, with invented results."""
    file = tmp_path_factory.mktemp("colours") / "sweep.toml"
    file.write_text(SMALL_TOML + AXES, encoding="utf-8")
    return sojourn.run(file, 2, backend=Inventor())


def test_same_colours_in_all_figures(result: Result) -> None:
    """A queue has the same colour in each figure of a report, whatever cells are drawn beside it."""
    expected = {name: colours.PALETTE[place] for name, place in colours.slots(["droptail", "codel", "pie"]).items()}
    for name in ("throughput", "box-sojourn-mean", "delay-goodput", "fairness-delay", "cdf-throughput"):
        assert colours_of(figures.draw(name, result)) == expected, name
        chosen = colours_of(figures.draw(name, result, {"queue": ["codel", "pie"]}))
        assert chosen == {queue: expected[queue] for queue in ("codel", "pie")}, name
    of_tcp = {name: colours.PALETTE[colours.slots([name])[name]] for name in ("cubic", "newreno")}
    assert colours_of(figures.draw("throughput", result, {"queue": "codel"})) == of_tcp
    assert colours_of(figures.draw("throughput-by-algorithm", result, {"queue": "codel"})) == of_tcp


def test_own_algorithms_keep_their_colours(result: Result) -> None:
    """What the table does not know has the colour that it has among all cells, also if only some are drawn."""
    rename = {"droptail": "mine", "codel": "yours", "pie": "theirs"}
    own = Result(lambda name: result.scan(name).with_columns(pl.col("queue").replace(rename)))
    every = colours_of(figures.draw("delay-goodput", own))
    assert len(set(every.values())) == 3
    some = colours_of(figures.draw("delay-goodput", own, {"queue": ["mine", "yours"]}))
    assert some == {name: every[name] for name in ("mine", "yours")}


def test_report_has_the_same_colours(tmp_path: Path) -> None:
    """Flows over time in a report have the colours and dashes that they have in figures."""
    text = SMALL_TOML + '\n[[flows]]\nfrom = "a"\nto = "b"\ntcp = "bbr"\ngroup = "bbr"\n[probe]\nflow_series = "500 ms"\n'
    (tmp_path / "flows.toml").write_text(text, encoding="utf-8")
    found = sojourn.run(tmp_path / "flows.toml", out=tmp_path / "out")
    (charts,) = overtime.samples(contents.read(tmp_path / "out")).values()
    lines = next(chart["lines"] for chart in charts if chart["heading"].startswith("Congestion window"))
    drawn = figures.draw("cwnd-over-time", found)
    assert {line["name"]: line["colour"] for line in lines} == colours_of(drawn)
    assert len({json.dumps(line["dash"]) for line in lines}) == len(lines) == 3
    assert colours_of(drawn)["bbr: bbr"] == colours.PALETTE[colours.slots(["bbr"])["bbr"]]


def test_watch_has_the_same_colours() -> None:
    """The panels of runs side by side have the colours of their queues."""
    beside = Beside("", {"codel": None, "droptail": None}, 1.0)  # type: ignore[dict-item]
    assert beside._colours == {name: colours.PALETTE[place] for name, place in colours.slots(["codel", "droptail"]).items()}
