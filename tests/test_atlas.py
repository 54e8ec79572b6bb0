"""The atlas: its landmarks make scenarios, what it says is kept and asked again, and a kernel's word stands beside it."""

import json
import re
import string
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser

import atlas_page
import browsing
import lab_setting
from browsing import CHROMIUM, Scheme
from conftest import Capture, complaint
from laboratory import MISSING, Headless
from made import atlas as kept
from sojourn import api, atlas, backends
from sojourn.api import Mapped, mapping
from sojourn.atlas import ALONE, BESIDE, DISCIPLINES, TCPS, Pair, folder, rows
from sojourn.atlas.planes import PLANES, planes
from sojourn.campaign import CampaignOutcome, Observer
from sojourn.cli.commands import status
from sojourn.exploration.space import Space
from sojourn.verdicts import definitions

#: A published pair of each landmark is asked again: those of the quick tests are cheap, `make test-long` asks all.
QUICK = {"mobile", "home"}
AGAIN = dict.fromkeys(atlas.available(), ("cubic", "codel"))


@pytest.mark.parametrize("name", atlas.available())
def test_landmarks_make_scenarios(name: str) -> None:
    """Each algorithm has its place there; half of the flows are CUBIC's where a pair is not alone, or one of three."""
    landmark = atlas.load(name)
    assert landmark.source
    queues = [queue for queue in DISCIPLINES if landmark.has(Pair("cubic", queue, ALONE))]
    for pair in [*(Pair(tcp, "droptail", BESIDE) for tcp in TCPS), *(Pair("cubic", queue, ALONE) for queue in queues)]:
        run = landmark.cell(pair).specification
        flows: Counter[str] = Counter()
        for flow in run["flows"]:
            flows[flow["source"]["name"]] += flow["count"]
        assert set(flows) == {pair.tcp, "cubic"}
        if pair.beside == BESIDE and pair.tcp != "cubic":
            assert flows["cubic"] in (flows[pair.tcp], flows[pair.tcp] / 2)
        assert pair.queue in {link["queue"]["name"] for link in run["links"] if link["queue"]}
        assert run["probe"]["queue_series"]


def test_cubic_fills_a_tail_drop_buffer(tmp_path: Path) -> None:
    """At home 175 packets of 1514 bytes are 106 ms, of which CUBIC leaves more than half standing, and CoDel does not."""
    planned = api.plan_atlas(["home"], ["cubic"], ["droptail", "codel"], [ALONE])
    ((_, found),) = api.survey(planned, out=tmp_path / "out", jobs=1)
    waits = dict(found.select("queue", "sojourn_p50_s").unique().iter_rows())
    assert 0.5 < waits["droptail"] / (175 * 1514 * 8 / 20e6) <= 1
    assert waits["codel"] < 0.02
    standing = found.filter(verdict="standing-queue")
    assert dict(standing.select("queue", "state").iter_rows()) == {"droptail": "holds", "codel": "does not hold"}


class Counting(Observer):
    """Counts the runs that were found."""

    def __init__(self) -> None:
        self.found = self.made = 0

    def ended(self, outcome: CampaignOutcome, /) -> None:
        self.found += outcome.found
        self.made += outcome.finished - outcome.found


def test_an_atlas_goes_on_where_it_ended(tmp_path: Path) -> None:
    """Runs that are there are not made again, and other pairs join those that are there."""
    first = api.plan_atlas(["mobile"], ["cubic"], ["droptail"], [ALONE], seeds=2)
    counting = Counting()
    list(api.survey(first, out=tmp_path, jobs=1, observer=counting))
    assert (counting.made, counting.found) == (2, 0)
    before = pl.read_parquet(tmp_path / folder.ATLAS)
    more = api.plan_atlas(["mobile"], ["cubic"], ["codel"], [ALONE], seeds=2)
    list(api.survey(more, out=tmp_path, jobs=1, observer=counting))
    assert (counting.made, counting.found) == (4, 2), "DropTail is what CoDel is held to, and was there"
    after = pl.read_parquet(tmp_path / folder.ATLAS)
    assert after.filter(queue="droptail").equals(before)
    assert set(after["queue"]) == {"droptail", "codel"}
    assert pl.read_parquet(tmp_path / folder.CURVES).height == 2


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.long) for name in AGAIN])
def test_a_published_pair_is_the_same_again(name: str, tmp_path: Path) -> None:
    """By the engine that made it, what is published of a pair is what runs give; by another, no verdict is the opposite."""
    tcp, queue = AGAIN[name]
    planned = api.plan_atlas([name], [tcp], [queue], [ALONE])
    ((_, found),) = api.survey(planned, out=tmp_path, jobs=1)
    published = kept.cell(name, tcp, queue)
    is_same = kept.made()["engine"] == str(backends.named(backends.DEFAULT).identity)
    for row in found.iter_rows(named=True):
        other = published[row["verdict"]]
        if is_same:
            value = other["value"]
            assert row["state"] == other["state"], row["verdict"]
            assert row["value"] == (None if value is None else pytest.approx(value, rel=1e-3)), row["verdict"]
        else:
            assert rows.agreement(row["state"], other["state"]) != "differs", row["verdict"]


def test_all_verdicts_are_asked_somewhere() -> None:
    """No verdict and no landmark is left out of the whole atlas, and a control that has one pair at a landmark has all."""
    asked = kept.recorded().filter(pl.col("state") != atlas.NOT_ASKED)
    assert set(asked["verdict"]) == {each.id for each in definitions()}
    assert set(asked["landmark"]) == set(atlas.available())
    for (name, tcp), of in asked.group_by("landmark", "tcp"):
        queues = len(atlas.load(str(name)).disciplines) or len(DISCIPLINES)
        assert of.select(atlas.AXES).unique().height == (1 if tcp == BESIDE else 2) * queues


def table(*found: tuple[str, str, str, float]) -> pl.DataFrame:
    """Rows of an atlas: tcp, verdict, state and value."""
    empty = dict.fromkeys(rows.ROWS)
    said = [
        {
            **empty,
            "landmark": "home",
            "tcp": tcp,
            "queue": "codel",
            "beside": ALONE,
            "verdict": verdict,
            "state": state,
            "value": value,
        }
        for tcp, verdict, state, value in found
    ]
    return pl.DataFrame(said, schema=rows.ROWS)


def test_cells_at_a_border() -> None:
    """A verdict is undecided, or within a tenth of its threshold, which is 0.9 of utilisation and 2 for a standing queue."""
    found = table(
        ("open", "unused", "undecided", 0.5),
        ("near", "unused", "does not hold", 0.98),
        ("far", "unused", "does not hold", 1.0),
        ("high", "standing-queue", "holds", 2.21),
        ("starved", "starvation", "does not hold", 0.0),
    )
    assert rows.at_border(found)["tcp"].to_list() == ["open", "near"]


def test_one_in_ten_others_are_drawn() -> None:
    """Some tenth of the pairs that are at no border, the same ones for one seed, whichever others there are."""
    many = table(*((f"tcp{number}", "unused", "does not hold", 1.0) for number in range(400)))
    drawn = api.charting.to_check(many, 1)
    assert 20 <= len(drawn) <= 65  # 40 of a binomial distribution: four standard deviations
    half = api.charting.to_check(many.head(200), 1)
    assert set(half) == {pair for pair in drawn if int(pair.tcp.removeprefix("tcp")) < 200}
    assert api.charting.to_check(many, 2) != drawn


def test_checks_that_share_their_reference_follow_each_other() -> None:
    """DropTail's runs are made once for a group, which begins with DropTail itself; the group with most pairs comes first."""
    vegas = [Pair("vegas", "red", ALONE)]
    cubic = [Pair("cubic", queue, ALONE) for queue in ("pie", "droptail", "codel")]
    mixed = [cubic[0], *vegas, *cubic[1:]]
    assert api.charting.cheapest_first(mixed) == [cubic[1], cubic[0], cubic[2], *vegas]


def test_how_a_kernel_agrees() -> None:
    """Only two decided verdicts can differ."""
    assert rows.agreement("holds", "holds") == "same"
    assert rows.agreement("holds", "does not hold") == "differs"
    assert rows.agreement("undecided", "holds") == "undecided"
    assert rows.agreement("not asked", "holds") is None
    assert rows.agreement("holds", None) is None


def test_a_check_stands_in_the_cell(tmp_path: Path) -> None:
    """What another backend says is joined to the verdicts of its pair, and is not lost when the landmark is judged again."""
    planned = api.plan_atlas(["mobile"], ["vegas", "cubic"], ["codel"], [ALONE], seeds=2)
    list(api.survey(planned, out=tmp_path, jobs=1))
    kept_there = folder.Folder(tmp_path)
    found = kept_there.rows("mobile")
    assert found is not None
    vegas = found.filter(tcp="vegas")
    said = vegas.select(
        *rows.PLACE,
        check=pl.lit("linux:it"),
        check_state=pl.lit("holds"),
        check_value="value",
        check_held="held",
        check_seeds="seeds",
    )
    kept_there.add_check("mobile", said)
    list(api.survey(planned, out=tmp_path, jobs=1))
    whole = pl.read_parquet(tmp_path / folder.ATLAS)
    assert whole.filter(tcp="vegas")["check"].unique().to_list() == ["linux:it"]
    assert whole.filter(tcp="cubic")["check"].unique().to_list() == [None]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--landmark", "homes"], 'unknown landmark "homes", did you mean "home"?'),
        (["--tcp", "cubik"], '--tcp: unknown congestion control "cubik", did you mean "cubic"?'),
        (["--tcp", "cbr"], 'unknown congestion control "cbr"'),
        # What sends at a rate of its own is not in the list of what is known, either.
        (["--tcp", "none"], "dctcp, prague, vcp)"),
        (["--queue", "codle"], '--queue: unknown queue discipline "codle", did you mean "codel"?'),
        (["--beside", "bbr"], 'unknown beside "bbr"'),
        (["--tcp", "cubic", "--beside", "cubic"], "no pair is left"),
        (["--landmark", "piotrowska-al", "--queue", "red"], "has only droptail, codel, pie"),
        (["--check", "simulator"], "--check simulator: carries out the runs"),
        (["--seeds", "0"], "0 is not in the range x>=1"),
    ],
)
def test_bad_input(arguments: list[str], said: str, tmp_path: Path, capsys: Capture) -> None:
    """One line, before anything is run."""
    assert status(["atlas", "--out", str(tmp_path / "out"), *arguments]) == 2
    assert said in complaint(capsys)
    assert not (tmp_path / "out").exists()


def test_a_file_is_no_directory(tmp_path: Path, capsys: Capture) -> None:
    """One line, before anything is run."""
    (tmp_path / "out").touch()
    assert status(["atlas", "--out", str(tmp_path / "out"), "--landmark", "mobile", "--tcp", "cubic", "--queue", "codel"]) == 2
    assert "is a file; give a directory" in complaint(capsys)


def test_what_needs_a_parameter_is_left_out() -> None:
    """With --all, a discipline that has to be told something is none of the pairs."""
    planned = api.plan_atlas(["mobile"], ["cubic"], [], [ALONE], whole=True, seeds=1)
    (landmark,) = planned.landmarks
    assert any("codel_static" in reason for reason in landmark.left_out)
    assert "avq" in {pair.queue for pair in landmark.wanted}


@pytest.mark.parametrize("name", atlas.available())
def test_spaces_of_ranges(name: str) -> None:
    """The landmark lies in the space of rates and delays around it, and is the scenario that the atlas runs."""
    pair = Pair("bbr", "droptail", BESIDE)
    for plane, data in planes(atlas.load(name), pair).items():
        space = Space.of(data, "it")
        assert space.names == tuple(plane.split("-"))
        if plane == "rate-delay":
            bottleneck = data["network"]["dumbbell"]["bottleneck"]
            here = {"rate": bottleneck["rate"], "delay": bottleneck["delay"]}
            assert space.cell(here).specification == atlas.load(name).cell(pair).specification
            assert all(0 < share < 1 for share in space.shares(here))


def test_maps_go_on_where_they_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A map that is there is not made again, unless it was of another budget, and what is kept of it is its grid."""
    monkeypatch.setattr(mapping, "MAP_BUDGET", "80 runs")
    planned = api.plan_atlas(["mobile"], ["cubic"], [], [ALONE])

    def first() -> Mapped:
        return next(api.map_atlas(planned, out=tmp_path, jobs=1))

    one, other = first(), first()
    assert (one.plane, one.pair.queue, other.pair.queue) == ("flows-buffer", "droptail", "red"), "rates that change have no axis"
    table = pl.read_parquet(tmp_path / folder.RANGES)
    assert dict(table.schema) == dict(rows.RANGES)
    (of_one, of_other) = table.partition_by("queue")
    assert of_one.height == of_other.height == 8 * 21
    grid = one.found.grid.rename({"flows": "x", "buffer": "y"})
    assert of_one.select("x", "y", "any", "holds").join(grid, on=["x", "y", "any", "holds"], how="anti").is_empty()
    monkeypatch.setattr(mapping, "MAP_BUDGET", "81 runs")
    assert first().pair == one.pair
    assert pl.read_parquet(tmp_path / folder.RANGES).height == table.height


@pytest.mark.long
def test_ranges(tmp_path: Path, capsys: Capture) -> None:
    """The command maps both spaces of a pair, and leaves scenarios that ``sojourn range`` takes."""
    named = ["--landmark", "home", "--tcp", "cubic", "--queue", "codel", "--ranges"]
    assert status(["atlas", "--out", str(tmp_path / "out"), *named]) == 0
    said = capsys.readouterr().out
    for plane in ("rate-delay", "flows-buffer"):
        folder = tmp_path / "out" / "ranges" / f"home-cubic-codel-alone-{plane}"
        assert (folder / "range.html").is_file()
        assert f"home/cubic/codel/alone, {plane}: " in said
        assert api.find_range(folder.with_suffix(".toml"), budget="100 runs").runs <= 100


# The map ------------------------------------------------------------------------------------------------------------------------


def test_the_map_has_all_pairs() -> None:
    """Its data is what is published, in less than a megabyte, with a state for each verdict and a whole curve."""
    made = atlas_page.files(has_laboratory=True)
    text = made["atlas/data.js"]
    assert len(text.encode()) < 1_000_000
    assert sum(path.stat().st_size for path in kept.FOLDER.iterdir()) < 1_000_000
    data = json.loads(text.removeprefix("window.sojournAtlas = ").removesuffix(";\n"))
    assert sum(map(len, data["cells"].values())) == kept.recorded().height / len(definitions())
    for values in (each for of in data["cells"].values() for each in of.values()):
        cell = dict(zip(data["fields"], values, strict=False))
        assert len(cell["states"]) == len(cell["values"]) == len(definitions())
        assert len(cell["curve"]) == rows.PARTS


def test_the_map_has_all_ranges() -> None:
    """The file that the page loads for them has what is published at each place, in less than half a megabyte."""
    text = atlas_page.files(has_laboratory=False)["atlas/ranges.js"]
    assert len(text.encode()) < 500_000
    data = json.loads(text.removeprefix("window.sojournRanges = ").removesuffix(";\n"))
    names = [each.id for each in definitions()]
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/"
    published = {place: of.sort("y", "x") for place, of in kept.ranges().group_by("landmark", *atlas.AXES, "plane")}
    assert len(published) == sum(len(planes) for pairs in data["maps"].values() for planes in pairs.values())
    for (landmark, tcp, queue, beside, plane), of in published.items():
        sets, cells, levels, made = data["maps"][landmark][f"{tcp}/{queue}/{beside}"][plane]
        assert made == of["runs"][0]
        axes = data["planes"][landmark][plane]
        assert len(axes["x"]["numbers"]) * len(axes["y"]["numbers"]) == of.height == len(levels)
        said = [", ".join(names[digits.index(digit)] for digit in each) for each in sets]
        spelled = [
            said[string.ascii_letters.swapcase().index(letter)]
            for letter, count in re.findall(r"([A-Za-z])(\d+)", cells)
            for _ in range(int(count))
        ]
        assert spelled == of["holds"].to_list()
        # The border is between the two digits in the middle.
        assert [digits.index(each) > 31 for each in levels] == (of["holds"] != "").to_list()
        assert max(of.filter(holds="")["any"], default=0.5) <= 0.5 <= min(of.filter(pl.col("holds") != "")["any"], default=0.5)


def test_what_is_published_can_be_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory that begins with what is kept publishes the same again, and who made it."""
    tables, made = {folder.ATLAS: kept.recorded(), folder.CURVES: kept.curves(), folder.RANGES: kept.ranges()}, kept.made()
    kept.resume(tmp_path / "results")
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "published")
    kept.publish(tmp_path / "results", made["command"])
    for name, table in tables.items():
        assert pl.read_parquet(tmp_path / "published" / name).equals(table)
    assert json.loads((tmp_path / "published" / "made.json").read_text()) == made


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
@pytest.mark.parametrize("name", ["home", "fibre", "data-centre", "satellite", "kushwaha"])
def test_links_into_the_laboratory(name: str) -> None:
    """The laboratory takes the setting, and makes the command line's specification of it, but for names of groups."""
    data = atlas.load(name).data(Pair("bbr", "codel", BESIDE))
    state = lab_setting.state(data)
    assert state is not None
    with Headless.of_engine() as headless:
        assert headless.ask("state", hash=headless.ask("hash", state=state)) == state
        there = headless.ask("specify", setting=state["a"])
    here = atlas.load(name).cell(Pair("bbr", "codel", BESIDE)).specification
    assert [{**flow, "group": ""} for flow in there["flows"]] == [{**flow, "group": ""} for flow in here["flows"]]
    assert there["links"] == here["links"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from browsing.chromium()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The map without the site around it."""
    directory = tmp_path_factory.mktemp("map")
    for name, text in atlas_page.files(has_laboratory=False).items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    path = directory / "map.html"
    body = (directory / atlas_page.PLACE).read_text(encoding="utf-8")
    path.write_text(f'<!doctype html><html lang="en"><title>Map</title>{body[body.index("<link") :]}</html>', encoding="utf-8")
    return path


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: the map is not opened")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_map_in_a_browser(browser: Browser, page: Path, scheme: Scheme) -> None:
    """Keys choose a pair, whose verdicts are those that are published; the address brings another reader to the same."""
    watched = browsing.Watched(browser, page.as_uri(), scheme=scheme)
    first = watched.page.get_by_role("button", name="newreno behind droptail")
    first.focus()
    watched.page.keyboard.press("ArrowDown")
    watched.page.keyboard.press("Enter")
    assert watched.page.locator("#atlas h3").inner_text().startswith("cubic behind droptail, alone")
    shown = [row.inner_text().split("\t")[2] for row in watched.page.locator("#atlas .pair tbody tr").all()]
    landmark = watched.page.get_by_label("Landmark").input_value()
    assert shown == [row["state"] for row in kept.cell(landmark, "cubic", "droptail").values()]
    other = browsing.Watched(browser, watched.page.url, scheme=scheme)
    assert other.page.locator("#atlas h3").inner_text() == watched.page.locator("#atlas h3").inner_text()
    watched.page.get_by_label("Landmark").select_option("home")
    drawn = watched.page.locator("#atlas svg.range")
    drawn.nth(1).wait_for()
    for plane, words in zip(PLANES, [each.get_attribute("aria-label") or "" for each in drawn.all()], strict=True):
        places = kept.ranges().filter(landmark="home", tcp="cubic", queue="droptail", beside=ALONE, plane=plane)
        said = re.search(r": gets along on (\d+) % of the map", words)
        assert said is not None
        assert abs(int(said[1]) - 100 * places.filter(holds="").height / places.height) <= 0.5
    watched.page.get_by_label("Verdict").select_option("standing-queue")
    assert watched.page.get_by_role("button", name="cubic behind droptail: holds").count() == 1
    assert watched.complaints + other.complaints + watched.asked_elsewhere() == []
