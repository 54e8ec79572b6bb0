"""The laboratory in a real browser: chromium, driven by Playwright. Skipped if it, or the built page, is not there."""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

import browsing
import sojourn
from browsing import AXE, CHROMIUM, Scheme, chromium
from laboratory import MISSING, PAGE, Headless
from sojourn import _engine

pytestmark = pytest.mark.skipif(MISSING is not None or CHROMIUM is None, reason=MISSING or "chromium is not installed")

Json = dict[str, Any]

#: How long a machine that is busy with other tests may take, in ms.
PATIENCE = 180_000

expect.set_options(timeout=PATIENCE)

#: What a tile without a number shows: an en dash.
NOTHING = "\N{EN DASH}"


browser = pytest.fixture(scope="module")(chromium)


@pytest.fixture(scope="module")
def lab() -> Iterator[Headless]:
    headless = Headless()
    yield headless
    headless.close()


class Watched(browsing.Watched):
    """The laboratory."""

    def __init__(self, browser: Browser, hash_: str = "", width: int = 1440, scheme: Scheme = "light", before: str = "") -> None:
        super().__init__(browser, PAGE.as_uri() + hash_, width, scheme, before)
        self.page.set_default_timeout(PATIENCE)

    def settle(self, state: str = "traced") -> None:
        """Waits until the runs that are shown are over."""
        self.page.wait_for_function(f"document.body.dataset.state === {state!r}", timeout=PATIENCE)

    def choose(self, preset: str) -> None:
        self.page.evaluate("document.body.dataset.state = 'waiting'")
        self.page.click(f"[data-preset={preset}]")
        self.settle()

    def tile(self, label: str, side: str = "a") -> str:
        return self.page.locator(f"[data-number='{label}'] dd.{side}").inner_text().split("\n")[-1].strip()

    @property
    def notice(self) -> str:
        return self.page.inner_text("#notice")


def state_of(page: Page) -> Json:
    """The settings that are shown."""
    found: Json = page.evaluate("lab.shown()")
    return found


def test_presets_run(browser: Browser, lab: Headless) -> None:
    """Each preset runs, names its paper in a story of three sentences, and shows the numbers of the command line."""
    watched = Watched(browser)
    watched.settle()
    for preset in lab.ask("presets"):
        watched.choose(preset["id"])
        story = watched.page.inner_text("#story p >> nth=0")
        assert len(re.findall(r"[.!](?: |$)", story.replace(" s. ", " s "))) == 3, story
        assert watched.page.inner_text("#story a") == preset["paper"]["text"]
        for side in ("a", "b"):
            setting = preset["state"][side]
            if setting is not None:
                tables = _engine.run(json.dumps(lab.ask("specify", setting=setting)))
                assert watched.tile("drops", side).replace(",", "") == str(sum(tables["flows"]["packets_dropped"]))
                shown = float(watched.tile("p99 sojourn", side).split()[0])
                assert shown == pytest.approx(1000 * tables["queues"]["sojourn_p99"][0], rel=6e-3)
    assert watched.complaints == []
    assert watched.asked_elsewhere() == []
    watched.page.close()


def test_links_restore_what_was_set(browser: Browser) -> None:
    """What is set by hand is in the address, and a page that is opened with it shows the same numbers."""
    first = Watched(browser)
    first.settle()
    first.page.evaluate("document.body.dataset.state = 'waiting'")
    first.page.get_by_label("Queue discipline").select_option("fq_codel")
    first.settle()
    first.page.get_by_label("Rate", exact=True).fill("35 Mbit/s")
    first.page.evaluate("document.body.dataset.state = 'waiting'")
    first.page.keyboard.press("Enter")
    first.settle()
    shown = [first.tile(label) for label in ("p99 sojourn", "drops", "Jain")]
    assert state_of(first.page)["a"]["bottleneck"]["rate"] == 35_000_000
    second = Watched(browser, first.page.evaluate("location.hash"))
    second.settle()
    assert [second.tile(label) for label in ("p99 sojourn", "drops", "Jain")] == shown
    assert second.page.get_by_label("Queue discipline").input_value() == "fq_codel"
    first.page.close()
    second.page.close()


def test_two_settings_and_their_differences(browser: Browser) -> None:
    """B begins as A, on the same seed, so that nothing differs; then what is changed differs."""
    watched = Watched(browser)
    watched.settle()
    watched.page.evaluate("document.body.dataset.state = 'waiting'")
    watched.page.get_by_role("button", name="Compare A | B").click()
    watched.settle()
    assert watched.tile("drops", "change") == "±0"
    watched.page.evaluate("document.body.dataset.state = 'waiting'")
    watched.page.get_by_label("Seed").fill("7")
    watched.settle()
    assert state_of(watched.page)["b"]["seed"] == state_of(watched.page)["a"]["seed"] == 7
    assert watched.tile("drops", "change") == "±0"
    watched.page.evaluate("document.body.dataset.state = 'waiting'")
    watched.page.get_by_label("Queue discipline").select_option("codel")
    watched.settle()
    found = state_of(watched.page)
    assert (found["a"]["bottleneck"]["queue"]["name"], found["b"]["bottleneck"]["queue"]["name"]) == ("droptail", "codel")
    assert watched.tile("p99 sojourn", "change").startswith("\N{MINUS SIGN}")
    watched.page.close()


def cell(page: Page, side: str, group: str, column: str) -> str:
    """What the table of groups has."""
    return page.inner_text(f".groups[data-side='{side}'] tr[data-group='{group}'] [data-number='{column}']")


def test_groups_have_their_numbers(browser: Browser) -> None:
    """Prague waits below a millisecond, CUBIC does not; a policer's drops count, and shares of other rates are not compared."""
    watched = Watched(browser)
    watched.settle()
    watched.choose("l4s")
    assert 0 < float(cell(watched.page, "B", "prague", "p99 wait").removesuffix(" ms")) < 1
    assert float(cell(watched.page, "B", "cubic", "mean wait").removesuffix(" ms")) > 5
    assert watched.tile("p99 sojourn", "change").endswith("ms worse")
    watched.choose("policer")
    assert int(watched.tile("drops").replace(",", "")) > 100
    assert cell(watched.page, "A", "video", "lost").startswith(watched.tile("drops"))
    assert watched.tile("utilisation", "change") == "of another rate"
    assert watched.tile("drops", "change").endswith(" better")
    watched.page.close()


def test_inside_of_algorithms_is_shown(browser: Browser) -> None:
    """Queues of a scheduler, the state of a discipline, and the phase of BBR stand at the playhead, and follow it."""
    watched = Watched(browser)
    page = watched.page
    watched.settle()
    watched.choose("l4s")
    words = page.locator("#stage-b-side .state")
    expect(words).to_contain_text(re.compile(r"DualPI2: base probability [\d.]+ % · classic probability"))
    expect(page.locator("#stages figure >> nth=0").locator(".state")).to_contain_text(re.compile("CoDel: (waiting|dropping)"))
    before = words.inner_text()
    page.locator("#time").fill("700")
    expect(words).not_to_have_text(before)
    assert page.locator("#chart-inside-probability .plot-of-side:visible").count() == 1
    watched.choose("bbr-cubic")
    assert not page.locator("#chart-inside-probability").is_visible()
    inside = page.locator("#chart-inside-flow")
    expect(inside).to_contain_text("BDP that it takes")
    expect(inside.locator(".state >> nth=0")).to_contain_text(
        re.compile("(startup|drain|probe bw|probe rtt) · .*in flight [\\d,.]+ segments")
    )
    inside.get_by_label("Flow to look into").select_option(label="cubic")
    expect(inside.locator(".state >> nth=0")).to_contain_text("w max")
    assert watched.complaints == []
    page.close()


def test_several_seeds_are_a_band(browser: Browser) -> None:
    """Five seeds have a band behind the queue, a range in the tiles, and say how many of them agree on a difference."""
    watched = Watched(browser)
    page = watched.page
    watched.settle()
    watched.choose("codel")
    page.get_by_label("Runs", exact=True).select_option("5")
    page.wait_for_function("document.body.dataset.seeds === '5'")
    expect(page.locator("#chart-queue .legend >> nth=0")).to_contain_text(re.compile(r"5 seeds [\d,]+ to [\d,]+"))
    tile = page.locator("[data-number='p99 sojourn']")
    value, low, high = (float(part) for part in re.findall(r"[\d.]+", tile.locator("dd.a").inner_text()))
    assert low <= value <= high
    assert low < high
    expect(tile.locator("dd.change")).to_have_text(re.compile("better, 5 of 5 seeds$"))
    page.get_by_label("Runs", exact=True).select_option("1")
    expect(page.locator("#chart-queue .legend >> nth=0")).not_to_contain_text("seeds")
    assert watched.complaints == []
    page.close()


def test_charts_are_read_and_saved(browser: Browser, tmp_path: Path) -> None:
    """A chart's values are read by pointer and by keys, stand in a table, and are saved as they are drawn."""
    watched = Watched(browser)
    page = watched.page
    watched.settle()
    chart = page.locator("#chart-queue")
    value = chart.locator(".legend .value")
    chart.locator(".plot").focus()
    page.keyboard.press("Home")
    expect(value).to_have_text("0")
    page.keyboard.press("End")
    expect(value).not_to_have_text("0")
    expect(page.locator("#announcement")).to_contain_text(re.compile(r"^30 s: queued \d+"))
    at_the_end = value.inner_text()
    # The last of several moments in one frame is the one that is read.
    move = """moments => { for (const moment of moments) {
        const slider = document.getElementById("time");
        slider.value = moment;
        slider.dispatchEvent(new Event("input"));
    } }"""
    page.evaluate(move, ["1000", "100"])
    expect(value).not_to_have_text(at_the_end)
    page.evaluate(move, ["100", "1000"])
    expect(value).to_have_text(at_the_end)
    chart.locator(".plot").hover(position={"x": 50, "y": 60})
    expect(value).not_to_have_text(at_the_end)
    waits = page.locator("#chart-sojourn")
    waits.locator(".plot").focus()
    page.keyboard.press("End")
    expect(page.locator("#announcement")).to_contain_text(re.compile(r"ms: download 100, call 100$"))
    chart.get_by_text("Values and files").click()
    rows = chart.locator(".values tbody tr")
    expect(rows.nth(29)).to_be_attached()
    assert rows.count() <= 61
    saved = {}
    for kind in ("CSV", "SVG", "PNG"):
        with page.expect_download() as download:
            chart.get_by_role("button", name=kind).click()
        saved[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[kind])
    lines = list(csv.reader(saved["CSV"].read_text(encoding="utf-8").splitlines()))
    assert lines[0] == ["time, s", "queued, packets"]
    shown = [[float(text.replace(",", "")) for text in row.locator("td").all_inner_texts()] for row in rows.all()]
    stride = (len(lines) - 2) // (len(shown) - 1)
    assert [float(line[1]) for line in lines[1::stride]] == pytest.approx([each[1] for each in shown], rel=0.01, abs=0.01)
    assert ElementTree.parse(saved["SVG"]).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert saved["PNG"].read_bytes().startswith(b"\x89PNG")
    assert watched.complaints == []
    page.close()


def drop(page: Page, name: str, text: str) -> None:
    page.locator("#file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})


def test_scenarios_come_and_go(browser: Browser) -> None:
    """The scenario that is copied is taken back; one with an error is told with its line, and the page stays as it was."""
    watched = Watched(browser)
    watched.settle()
    toml = watched.page.evaluate("lab.scenario()")
    drops = watched.tile("drops")
    drop(watched.page, "bad.toml", toml.replace('"20 Mbit/s"', '"20 Mbit"'))
    expect(watched.page.locator("#notice")).to_contain_text(re.compile(r'bad\.toml: Line \d+: .*rate: "20 Mbit": unknown unit'))
    assert watched.tile("drops") == drops
    watched.page.evaluate("document.body.dataset.state = 'waiting'")
    drop(watched.page, "lab.toml", toml.replace('"20 Mbit/s"', '"10 Mbit/s"'))
    watched.settle()
    assert watched.notice == ""
    assert state_of(watched.page)["a"]["bottleneck"]["rate"] == 10_000_000
    watched.page.close()


@pytest.mark.parametrize(
    ("hash_", "sentence"),
    [
        ("#v7.e30", "This link is of version 7"),
        ("#v2.e3", "cut short"),
        ("#nonsense", 'This page has no scene "nonsense", so this is the first one. It has: bufferbloat, codel'),
        ("#codel&b.bottleneck.queue.limit", 'cut short: "b.bottleneck.queue.limit" has no value'),
        (
            "#codel&b.bottleneck.queue.limit=7+cups",
            'left out: network.dumbbell.bottleneck.queue.limit: "7 cups": unknown unit "cups"',
        ),
        ("#codel&state=v2.eyJhIj", "What was changed cannot be shown. This link was cut short"),
        ("#codel&time=noon", 'time: "noon" is not a duration'),
    ],
)
def test_bad_links_show_a_page(browser: Browser, hash_: str, sentence: str) -> None:
    """A link that cannot be used is told in a sentence, over a page that works."""
    watched = Watched(browser, hash_)
    watched.settle()
    assert sentence in watched.notice
    assert watched.tile("drops") != NOTHING
    assert watched.complaints == []
    watched.page.close()


def changed(watched: Watched, label: str, text: str) -> None:
    """Writes into a field, and waits for the run."""
    watched.page.evaluate("document.body.dataset.state = 'waiting'")
    watched.page.get_by_label(label, exact=True).fill(text)
    watched.page.keyboard.press("Enter")
    watched.settle()


#: A clock a thousand times slower: whatever happens follows what was before at once.
SLOW_CLOCK = "const now = performance.now.bind(performance); performance.now = () => now() / 1000;"


def test_the_first_change_can_be_undone_however_soon(browser: Browser) -> None:
    """What a page opened with is one step back, also from a change that follows within the time in which changes are one step."""
    watched = Watched(browser, before=SLOW_CLOCK)
    watched.settle()
    page = watched.page
    changed(watched, "Buffer", "5 packets")
    assert page.evaluate("location.hash") == "#bufferbloat&bottleneck.queue.limit=5+packets"
    page.evaluate("document.body.dataset.state = 'waiting'")
    page.get_by_role("button", name="Undo").click(timeout=10_000)
    watched.settle()
    assert page.evaluate("location.hash") == "#bufferbloat"


def test_stories_stay_and_say_what_was_changed(browser: Browser) -> None:
    """A story stays when a field is edited, with what was changed; the tries are in a table, and Back and Undo go back."""
    watched = Watched(browser)
    watched.settle()
    page = watched.page
    drops = watched.tile("retransmissions")
    changed(watched, "Buffer", "5 packets")
    assert page.inner_text("#story h2") == "Bufferbloat"
    assert "Changed: buffer 1000 \N{RIGHTWARDS ARROW} 5 packets." in page.inner_text("#story")
    assert page.evaluate("location.hash") == "#bufferbloat&bottleneck.queue.limit=5+packets"
    watched.choose("codel")
    page.locator("#tries summary").click()
    rows = [row.split("\t") for row in page.locator("#tries tbody tr").all_inner_texts()]
    assert [(row[1], row[2].strip()) for row in rows[:2]] == [
        ("Bufferbloat", "\N{EN DASH}"),
        ("Bufferbloat", "buffer 1000 \N{RIGHTWARDS ARROW} 5 packets"),
    ]
    assert len(rows) == 4  # two sides of the last
    page.evaluate("document.body.dataset.state = 'waiting'")
    page.go_back()
    watched.settle()
    assert page.evaluate("location.hash") == "#bufferbloat&bottleneck.queue.limit=5+packets"
    assert page.get_by_label("Buffer", exact=True).input_value() == "5 packets"
    page.evaluate("document.body.dataset.state = 'waiting'")
    page.get_by_role("button", name="Undo").click()
    watched.settle()
    assert page.evaluate("location.hash") == "#bufferbloat"
    assert watched.tile("retransmissions") == drops
    assert page.get_by_role("button", name="Undo").is_disabled()
    page.evaluate("document.body.dataset.state = 'waiting'")
    page.get_by_role("button", name="Show try 2").click()
    watched.settle()
    assert page.get_by_label("Buffer", exact=True).input_value() == "5 packets"
    page.get_by_role("button", name="Back to the scene").click()
    expect(page.locator("#story")).not_to_contain_text("Changed:")
    assert watched.complaints == []
    page.close()


def test_steps_are_done(browser: Browser, lab: Headless) -> None:
    """A step makes its change in the scene, shows where to look, and says what there is to see."""
    watched = Watched(browser, "#bufferbloat")
    watched.settle()
    page = watched.page
    step = lab.ask("presets")[0]["steps"][1]
    page.get_by_role("button", name="Next").click()
    assert step["task"] in page.inner_text(".step")
    page.evaluate("document.body.dataset.state = 'waiting'")
    page.get_by_role("button", name="Do it").click()
    watched.settle()
    assert state_of(page)["a"]["bottleneck"]["limit"] == {"packets": 50}
    assert page.locator(".looked-at").get_attribute("id") == "numbers"
    page.get_by_text("What there is to see").click()
    assert step["seen"] in page.inner_text(".step")
    page.close()


def test_links_say_moment_speed_and_title(browser: Browser) -> None:
    """The dialog gives a link that shows the same at the same moment under a title, and a frame for other pages."""
    watched = Watched(browser, "#bbr-cubic&time=3+s&speed=1/100")
    watched.settle()
    page = watched.page
    assert page.inner_text("#moment").startswith("3.0")
    assert page.get_by_label("Speed").input_value() == "0.01"
    page.get_by_role("button", name="Share").click()
    page.get_by_label("Title").fill("Who wins?")
    link, frame = (page.get_by_label(label, exact=True).input_value() for label in ("Link", "For a page of yours"))
    hash_ = "#bbr-cubic&time=3+s&speed=1/100&title=Who+wins%3F"
    assert link == PAGE.as_uri() + hash_
    assert f'src="{PAGE.as_uri()}{hash_}&embed=on"'.replace("&", "&amp;") in frame
    page.get_by_role("button", name="Close", exact=True).click()
    page.close()
    other = Watched(browser, hash_ + "&embed=on", width=800)
    other.settle()
    assert other.page.inner_text("#story h2") == "Who wins?"
    assert not other.page.locator("#settings").is_visible()
    assert other.page.locator("#stage-a").is_visible()
    href = other.page.get_by_role("link", name="Open it in the laboratory").get_attribute("href")
    assert href == "#bbr-cubic&title=Who+wins%3F"
    other.page.close()


def test_cell_of_a_sweep_is_chosen(browser: Browser) -> None:
    """Of a scenario with a sweep the page shows the cell that is chosen."""
    watched = Watched(browser)
    watched.settle()
    page = watched.page
    text = (Path(sojourn.__file__).parent / "examples" / "sweep.toml").read_text(encoding="utf-8")
    page.evaluate("document.body.dataset.state = 'waiting'")
    drop(page, "sweep.toml", text)
    watched.settle()
    assert page.inner_text("#story h2") == "sweep.toml"
    assert state_of(page)["a"]["bottleneck"]["delay"] == 5 * 10**9
    page.evaluate("document.body.dataset.state = 'waiting'")
    page.get_by_role("region", name="Cell of the sweep").get_by_label("wait").select_option(label="80 ms")
    watched.settle()
    assert state_of(page)["a"]["bottleneck"]["delay"] == 80 * 10**9
    page.close()


def test_what_cannot_run_dims_the_picture(browser: Browser) -> None:
    """A setting that cannot run is told, over a picture that is dimmed, since it is of another; then the next one runs."""
    watched = Watched(browser)
    watched.settle()
    page = watched.page
    page.get_by_label("Measured from").fill("29 s")
    page.keyboard.press("Enter")
    watched.settle()
    page.locator("summary", has_text="Name, times").first.click()
    page.get_by_label("Starts spread over").first.fill("20 s")
    page.keyboard.press("Enter")
    page.get_by_label("Stop").first.fill("15 s")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("Setting A cannot be run: flows[0].stop: is not between")
    watched.settle("wrong")
    assert float(page.evaluate("getComputedStyle(document.getElementById('stages')).opacity")) < 0.5
    watched.choose("bufferbloat")
    assert page.evaluate("getComputedStyle(document.getElementById('stages')).opacity") == "1"
    assert watched.notice == ""
    page.close()


#: Elements whose text may not lie over that of another.
OVERLAPS = """() => {
    const texts = "button, h1, h2, h3, p, dt, dd, label, summary, legend, output, select, input, th, td, li";
    const boxes = [...document.querySelectorAll(texts)]
        .filter((each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !each.closest("#transport")
            && !each.matches(".hidden, .skip") && !each.querySelector("button, input, select, p, label"))
        .map((each) => ({ each, box: each.getBoundingClientRect() })).filter(({ box }) => box.width > 1 && box.height > 1);
    const found = [];
    for (let one = 0; one < boxes.length; one += 1)
        for (let other = one + 1; other < boxes.length; other += 1) {
            const [a, b] = [boxes[one], boxes[other]];
            if (a.each.contains(b.each) || b.each.contains(a.each)) continue;
            const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
            const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
            if (wide > 2 && high > 3) found.push([a.each.textContent || a.each.id, b.each.textContent || b.each.id, wide, high]);
        }
    return found;
}"""


@pytest.mark.parametrize("shape", ["phone", "zoomed", "wide", "printed"])
def test_nothing_overlaps(browser: Browser, shape: str) -> None:
    """On a phone, at 200 % of 1280 pixels, on paper, and as usual, no text lies over another, and all fits the width."""
    watched = Watched(browser, "#incast", width={"phone": 390, "zoomed": 640, "wide": 1280, "printed": 794}[shape])
    watched.settle()
    page = watched.page
    page.locator("#tries summary").click()
    if shape == "printed":
        page.emulate_media(media="print")
        page.wait_for_timeout(300)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
    page.close()


def test_long_runs_are_asked_about(browser: Browser, lab: Headless) -> None:
    """A run that would take minutes is not begun: the page says how long it takes, and offers less."""
    state = lab.ask("presets")[0]["state"]
    state["a"]["bottleneck"]["rate"] = 10_000_000_000
    state["a"]["duration"] = 600 * 10**12
    for sender in state["a"]["senders"]:
        sender["rate"] = 10_000_000_000
    state["a"]["receiver"]["rate"] = 10_000_000_000
    watched = Watched(browser, lab.ask("hash", state=state))
    expect(watched.page.locator("#notice")).to_contain_text("million packets, which take about")
    assert watched.page.get_by_role("button", name=re.compile(r"Run [\d.]+ s of it")).is_visible()
    watched.page.close()


def test_without_webassembly(browser: Browser) -> None:
    """A browser without WebAssembly is told so."""
    watched = Watched(browser, before="delete globalThis.WebAssembly")
    expect(watched.page.locator("#notice")).to_contain_text("needs WebAssembly, which this browser does not have")
    assert watched.complaints == []
    watched.page.close()


def test_links_with_code_ask_first(browser: Browser, lab: Headless) -> None:
    """JavaScript that a link brings does not run before the user has agreed."""
    state = lab.ask("presets")[0]["state"]
    state["own"] = [{"name": "mine", "text": lab.ask("template")}]
    state["a"]["groups"][0]["tcp"] = {"name": "mine", "parameters": {}}
    watched = Watched(browser, lab.ask("hash", state=state))
    expect(watched.page.locator("#notice")).to_contain_text("run it only if you trust it")
    assert watched.page.evaluate("document.body.dataset.state") is None
    watched.page.get_by_role("button", name="Run it").click()
    watched.settle()
    assert watched.tile("drops") != NOTHING
    watched.page.close()


def test_algorithm_is_written(browser: Browser) -> None:
    """An algorithm is written in the page, runs, and fails with its line when it is wrong."""
    watched = Watched(browser)
    watched.settle()
    watched.page.get_by_role("button", name="Write an algorithm").click()
    area = watched.page.get_by_label("Text")
    good = area.input_value()
    area.fill(good.replace("increase(window, ack) {", "increase(window, ack) {\n    nonesuch();"))
    watched.page.get_by_role("dialog").get_by_role("button", name="Run it").click()
    expect(watched.page.locator("#notice")).to_contain_text(re.compile(r"mine\.js:\d+: increase: ReferenceError"))
    watched.page.get_by_role("button", name="Write an algorithm").click()
    area.fill(good.replace("number(0.5,", "number(0.8,"))
    watched.page.evaluate("document.body.dataset.state = 'waiting'")
    watched.page.get_by_role("dialog").get_by_role("button", name="Run it").click()
    watched.settle()
    assert watched.notice == ""
    assert watched.page.get_by_label("Congestion control").first.input_value() == "mine"
    watched.page.close()


#: Puts the page's timers of 10 s, by which it gives up a run, and messages to its workers into the hands of a test.
WATCH = """{
    const { setTimeout: later, clearTimeout: never, Worker: Usual } = globalThis;
    globalThis.silence = null;
    globalThis.setTimeout = (call, ms, ...given) => ms === 10_000 ? ((globalThis.silence = call), -1) : later(call, ms, ...given);
    globalThis.clearTimeout = (timer) => timer === -1 ? (globalThis.silence = null) : never(timer);
    globalThis.held = null;
    globalThis.Worker = class extends Usual {
        postMessage(...given) {
            if (globalThis.held) globalThis.held.push(() => super.postMessage(...given));
            else super.postMessage(...given);
        }
    };
    globalThis.release = () => { for (const send of globalThis.held.splice(0)) send(); globalThis.held = null; };
}"""


def test_endless_algorithm_is_stopped(browser: Browser) -> None:
    """A hook that never returns ends its run after 10 s; the page goes on, with two sides too, however slowly engines start."""
    watched = Watched(browser, before=WATCH)
    watched.settle()
    page = watched.page
    assert page.evaluate("silence") is None
    page.get_by_role("button", name="Write an algorithm").click()
    area = page.get_by_label("Text")
    area.fill(area.input_value().replace("increase(window, ack) {", "increase(window, ack) {\n    for (;;);"))
    before = page.evaluate("location.hash")
    page.get_by_role("dialog").get_by_role("button", name="Run it").click()
    page.wait_for_function("before => silence && location.hash !== before", arg=before)
    page.evaluate("held = []; silence()")
    expect(page.locator("#notice")).to_contain_text("nothing was heard of it for 10 s")
    page.evaluate("document.body.dataset.state = 'waiting'")
    page.click("[data-preset=codel]")
    page.wait_for_function("document.querySelector('#story h2').textContent.includes('CoDel')")
    assert page.evaluate("silence") is None  # the engine starts, which is no run
    page.evaluate("release()")
    watched.settle()
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_page_is_accessible(browser: Browser, width: int, scheme: Scheme) -> None:
    """axe-core finds nothing, with one setting and with two, all parts open, in the dialog too; and the page fits its width."""
    watched = Watched(browser, width=width, scheme=scheme)
    watched.settle()
    watched.page.evaluate(AXE.read_text(encoding="utf-8"))
    for step in ("one", "two", "dialog"):
        if step == "two":
            watched.choose("l4s")
        if step == "dialog":
            watched.page.get_by_role("button", name="Write an algorithm").click()
        watched.page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
        found = watched.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        wrong = [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found["violations"]]
        assert wrong == [], step
        assert watched.page.evaluate("document.documentElement.scrollWidth") == width
    watched.page.close()


def test_keyboard_alone(browser: Browser) -> None:
    """A preset is chosen, time is played and stopped, and a discipline is set without a pointer."""
    watched = Watched(browser)
    watched.settle()
    page = watched.page

    def reach(selector: str) -> None:
        for _ in range(120):
            if page.evaluate("each => document.activeElement.matches(each)", selector):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{selector} is not reached")

    reach("[data-preset=codel]")
    page.evaluate("document.body.dataset.state = 'waiting'")
    page.keyboard.press("Enter")
    watched.settle()
    assert page.inner_text("#story h2") == "CoDel to the rescue"
    reach("#play")
    before = page.inner_text("#moment")
    page.keyboard.press("Space")
    expect(page.locator("#moment")).not_to_have_text(before)
    page.keyboard.press("Space")
    after = page.inner_text("#moment")
    page.wait_for_timeout(200)
    assert page.inner_text("#moment") == after
    reach("#panel select")
    page.evaluate("document.body.dataset.state = 'waiting'")
    page.keyboard.press("r")
    watched.settle()
    assert page.get_by_label("Queue discipline").input_value().startswith("r")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    page.close()


def test_offline_from_a_folder(browser: Browser, tmp_path: Path) -> None:
    """The page is one file: alone in a folder, without a network, it works."""
    shutil.copy(PAGE, tmp_path / "alone.html")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "alone.html").as_uri())
    page.wait_for_function("document.body.dataset.state === 'traced'", timeout=PATIENCE)
    context.close()
