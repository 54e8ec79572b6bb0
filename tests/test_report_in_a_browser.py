"""Reports in a real browser: Debian's chromium, driven by Playwright. Skipped if it is not installed."""

import contextlib
import itertools
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import browsers
import browsing
import sojourn
from browsing import CHROMIUM, Scheme, chromium
from conftest import SMALL_TOML
from doubles import Inventor
from sojourn import report
from sojourn.colours import PALETTE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: reports are not opened")

SWEEP = """
[probe]
queue_series = "100 ms"
flow_series = "100 ms"

[sweep.axes]
tcp = { key = "flows.*.tcp", values = ["newreno", "cubic"] }
delay = { key = "network.dumbbell.bottleneck.delay", values = ["5 ms", "20 ms"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel"] }
"""


#: Minimum contrast of text with its background (WCAG 2.2, success criterion 1.4.3).
LEAST_CONTRAST = 4.5

#: Roles that need an accessible name.
NAMED = {
    "button",
    "link",
    "combobox",
    "checkbox",
    "tab",
    "tabpanel",
    "region",
    "image",
    "img",
    "navigation",
    "DisclosureTriangle",
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("browser") / "study"
    sojourn.reproduce("piotrowska", 2, only={"load": "UC", "scenario": "DC"}, out=directory, backend=Inventor())
    return report.write(directory)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    (folder / "sweep.toml").write_text(SMALL_TOML + SWEEP, encoding="utf-8")
    sojourn.run(folder / "sweep.toml", 3, out=folder / "campaign")
    return report.write(folder / "campaign")


browser = pytest.fixture(scope="module")(chromium)


class Watched(browsing.Watched):
    """A report."""

    def __init__(self, browser: Browser, file: Path, width: int = 1440, scheme: Scheme = "light") -> None:
        super().__init__(browser, file.as_uri(), width, scheme)

    def scroll_through(self) -> None:
        """Brings every chart into view, so that it is drawn."""
        for chart in self.page.locator("[data-chart]").all():
            chart.scroll_into_view_if_needed()
            expect(chart.locator("svg").first).to_be_attached(timeout=30_000)


@pytest.mark.parametrize(
    ("what", "width", "scheme"),
    [
        pytest.param(*way, marks=() if way == ("study", 1440, "light") else pytest.mark.long)
        for way in itertools.product(("study", "campaign"), (1440, 390), ("light", "dark"))
    ],
)
def test_report_opens(what: str, width: int, scheme: Scheme, browser: Browser, request: pytest.FixtureRequest) -> None:
    """A report opens without an error or a request, and fits the width of the window."""
    watched = Watched(browser, request.getfixturevalue(what), width, scheme)
    watched.scroll_through()
    assert watched.complaints == []
    assert watched.asked_elsewhere() == []
    assert watched.page.evaluate("document.documentElement.scrollWidth") == width
    watched.page.close()


#: A word and a sentence that are wider than a telephone.
LONG = ("label_" * 25, "A label that is a whole sentence about what its value means and for which links it was chosen")


@pytest.mark.parametrize(("name", "scheme"), browsers.EACH)
def test_axe_finds_nothing(
    study: Path, campaign: Path, name: str, scheme: Scheme, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """axe-core finds nothing in the report of a study and in that of a campaign with figures over time."""
    assert browsers.violations([study, campaign], name, scheme, tmp_path, request) == {}


@pytest.fixture(scope="module")
def long_labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One axis with a long name and long labels, and a group with a long name."""
    folder = tmp_path_factory.mktemp("browser")
    word, sentence = (
        f'{{ label = "{label}", value = "{queue}" }}' for label, queue in zip(LONG, ("droptail", "codel"), strict=True)
    )
    axis = f'"{LONG[0]}" = {{ key = "network.dumbbell.bottleneck.queue.name", values = [{word}, {sentence}] }}'
    text = SMALL_TOML.replace('tcp = "newreno"', f'tcp = "newreno"\ngroup = "{LONG[0]}"')
    flows = '[[flows]]\nfrom = "a"\nto = "b"\ntcp = "cubic"\n'
    (folder / "long.toml").write_text(f'{text}{flows}[probe]\nflow_series = "1 s"\n[sweep.axes]\n{axis}\n', encoding="utf-8")
    sojourn.run(folder / "long.toml", 2, out=folder / "out")
    return report.write(folder / "out")


def test_long_labels_fit(browser: Browser, long_labels: Path) -> None:
    """Long names of axes, values and groups do not make a page wider than a telephone."""
    watched = Watched(browser, long_labels, 390)
    watched.scroll_through()
    watched.page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    assert watched.page.evaluate("document.documentElement.scrollWidth") == 390
    assert watched.complaints == []
    watched.page.close()


def test_groups_fit_laptop(browser: Browser, tmp_path: Path) -> None:
    """The table of downloads and calls over two axes, with all its metrics, needs no scrolling on a screen of 1280 pixels."""
    text = SMALL_TOML.replace('tcp = "newreno"', 'tcp = "newreno"\ngroup = "downloads"')
    call = 'tcp = { name = "cbr", rate = "80 kbit/s", packet_size = "200 B" }'
    text += f'[[flows]]\nfrom = "a"\nto = "b"\ngroup = "calls"\n{call}\n[sweep.axes]\n'
    text += 'tcp = { key = "flows.0.tcp", values = ["newreno", "cubic"] }\n'
    text += 'queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel"] }\n'
    (tmp_path / "calls.toml").write_text(text, encoding="utf-8")
    sojourn.run(tmp_path / "calls.toml", 3, out=tmp_path / "out")
    watched = Watched(browser, report.write(tmp_path / "out"), 1280)
    table = watched.page.locator("#groups .scroll").first
    assert "one-way delay" in table.inner_text()
    assert table.evaluate("each => each.scrollWidth - each.clientWidth") == 0
    watched.page.close()


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.long), "dark"])
def test_print_has_figures(scheme: Scheme, browser: Browser, long_labels: Path) -> None:
    """A print has every figure, drawn or not when it is asked for, in colours for paper."""
    page = Watched(browser, long_labels, scheme=scheme).page
    charts = page.locator("[data-chart]").count()
    assert page.locator("[data-chart] svg").count() < charts
    printed = page.pdf(print_background=True)
    page.close()
    lines = [line for stream in _streams(printed) for line in stream.splitlines()]
    # The first colour of the palette, which every figure has and nothing else does.
    red, green, blue = (f"{int(PALETTE[0][place : place + 2], 16) / 255:.3f}"[1:].encode() for place in (1, 3, 5))
    assert sum(line.startswith(red) and b" " + green in line and b" " + blue[:3] in line for line in lines) >= charts
    # The ink of text in the scheme for dark screens, #e7eaef, would not be read on paper.
    assert not any(line.startswith(b".905882") for line in lines)


def _streams(printed: bytes) -> Iterator[bytes]:
    """The compressed parts of a PDF."""
    for begin in re.finditer(rb"stream\r?\n", printed):
        with contextlib.suppress(zlib.error):
            yield zlib.decompressobj().decompress(printed[begin.end() :])


@pytest.mark.parametrize("what", [pytest.param("study", marks=pytest.mark.long), "campaign"])
def test_controls_have_names(what: str, browser: Browser, request: pytest.FixtureRequest) -> None:
    """Every control, region and image has an accessible name."""
    watched = Watched(browser, request.getfixturevalue(what))
    watched.scroll_through()
    watched.page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    tree = watched.page.context.new_cdp_session(watched.page).send("Accessibility.getFullAXTree")
    found: dict[str, list[str]] = {}
    for node in tree["nodes"]:
        role = node.get("role", {}).get("value")
        if not node["ignored"] and role in NAMED:
            found.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    assert {"button", "link", "combobox", "checkbox", "tab", "region"} <= set(found)
    assert [role for role, names in found.items() if not all(names)] == []
    watched.page.close()


def test_text_contrast(browser: Browser, campaign: Path) -> None:
    """The contrast of text is at least 4.5 on light and on dark screens (WCAG 2.2, success criterion 1.4.3)."""
    page = Watched(browser, campaign).page
    style = "(name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
    pairs = [(text, behind) for text in ("ink", "faint", "accent") for behind in ("page", "raised")]
    pairs += [(text, f"{verdict}-tint") for verdict in ("holds", "fails", "undecided") for text in (verdict, "ink", "faint")]
    papers = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours = {name: page.evaluate(style, f"--{name}") for name in _NAMES}
        papers.add(colours["page"])
        contrasts = {pair: _contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
        assert {pair: contrast for pair, contrast in contrasts.items() if contrast < LEAST_CONTRAST} == {}, scheme
    assert len(papers) == 2
    page.close()


_NAMES = (
    *("page", "raised", "ink", "faint", "accent", "holds", "fails", "undecided"),
    *("holds-tint", "fails-tint", "undecided-tint"),
)


def _contrast(one: str, other: str) -> float:
    darker, lighter = sorted(map(_luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_table_values_by_keyboard(browser: Browser, study: Path) -> None:
    """Tab and the arrow keys move through the values of a table and show their details; Escape hides them."""
    page = Watched(browser, study).page
    tip, values = page.locator("#tip"), page.locator("#table-2 .value")
    expect(tip).to_be_hidden()
    page.locator("#table-2 .scroll").focus()
    page.keyboard.press("Tab")
    expect(values.first).to_be_focused()
    expect(tip).to_contain_text("95 % interval")
    expect(values.first).to_have_attribute("aria-describedby", "tip")
    page.keyboard.press("ArrowRight")
    expect(values.nth(1)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(values.nth(4)).to_be_focused()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.close()


def test_value_details_on_hover(browser: Browser, study: Path) -> None:
    """Hovering over a value shows the published value."""
    page = Watched(browser, study).page
    page.locator("#table-4 .value").first.hover()
    expect(page.locator("#tip")).to_contain_text("published 814")
    page.close()


def test_claim_and_row_filters(browser: Browser, study: Path) -> None:
    """Claims can be filtered by verdict, and table rows by agreement."""
    page = Watched(browser, study).page
    page.get_by_role("button", name=re.compile("^Undecided")).click()
    assert page.locator("li[data-verdict=undecided]:visible").count() == page.locator("li[data-verdict=undecided]").count() > 0
    assert page.locator("li[data-verdict]:visible").count() == page.locator("li[data-verdict=undecided]").count()
    rows = page.locator("#tables tbody tr")
    every = rows.count()
    page.get_by_role("button", name="Only rows with a value that does not agree").click()
    assert page.locator("#tables tbody tr:visible").count() == page.locator("#tables tbody tr[data-differs]").count() <= every
    page.close()


def test_cell_filter(browser: Browser, campaign: Path) -> None:
    """The filter hides cells in the matrix and in the charts, and can be reset."""
    watched = Watched(browser, campaign)
    page = watched.page
    page.locator("#filters summary").click()
    page.get_by_label("cubic", exact=True).uncheck()
    expect(page.locator("#filtered")).to_have_text("4 of 8 cells")
    assert page.locator("#matrix tbody th:visible").all_text_contents() == ["newreno", "newreno"]
    page.get_by_label("20 ms", exact=True).uncheck()
    expect(page.locator("#filtered")).to_have_text("2 of 8 cells")
    assert page.locator("#matrix tbody th:visible").all_text_contents() == ["newreno"]
    watched.scroll_through()
    assert watched.complaints == []
    page.get_by_role("button", name="Show all cells").click()
    expect(page.locator("#filtered")).to_have_text("all 8 cells")
    page.close()


def test_filter_of_odd_names(browser: Browser, tmp_path: Path) -> None:
    """Names with commas, quotes, markup and those of JavaScript's own can be filtered and chosen, in charts too."""
    values = '{ label = "__proto__", value = "droptail" }, { label = "<b>a,  \\"b\\"", value = "codel" }'
    axis = f'"__proto__, \'x\'" = {{ key = "network.dumbbell.bottleneck.queue.name", values = [{values}] }}'
    (tmp_path / "odd.toml").write_text(f"{SMALL_TOML}[sweep.axes]\n{axis}\n", encoding="utf-8")
    sojourn.run(tmp_path / "odd.toml", 2, out=tmp_path / "out", backend=Inventor())
    watched = Watched(browser, report.write(tmp_path / "out"))
    page = watched.page
    watched.scroll_through()
    page.locator("#filters summary").click()
    page.get_by_label("__proto__", exact=True).uncheck()
    expect(page.locator("#filtered")).to_have_text("1 of 2 cells")
    assert page.locator("#cells tbody th:visible").all_text_contents() == ['<b>a,  "b"']
    page.locator("[data-chart='axis-0']").scroll_into_view_if_needed()
    expect(page.locator("[data-chart='axis-0'] path[aria-roledescription=bar]")).to_have_count(1)
    page.locator("select").select_option('<b>a,  "b"')
    expect(page.locator("#cell-shown h3")).to_have_text("__proto__, 'x' <b>a,  \"b\"")
    assert watched.complaints == []
    page.close()


def test_heat_map_selects_cell(browser: Browser, campaign: Path) -> None:
    """A click on a heat map shows that cell over time, and the menus select another."""
    watched = Watched(browser, campaign)
    page = watched.page
    page.get_by_role("tab", name="Drop ratio").click()
    page.get_by_role("button", name=re.compile("newreno, 5 ms, codel: drop ratio")).click()
    expect(page.locator("#cell-shown h3")).to_have_text("tcp newreno, delay 5 ms, queue codel")
    for title in ("Queue length (packets)", "Congestion window (kB)", "Round-trip time (ms)"):
        page.locator("#cell-shown figcaption", has_text=title).scroll_into_view_if_needed()  # it is drawn when it comes near
        expect(page.get_by_role("img", name=re.compile(re.escape(title)))).to_be_visible()
    page.get_by_label("queue", exact=True).select_option("droptail")
    expect(page.locator("#cell-shown h3")).to_have_text("tcp newreno, delay 5 ms, queue droptail")
    assert watched.complaints == []
    page.close()


def test_labels_do_not_collide(browser: Browser, tmp_path: Path) -> None:
    """No two labels of an axis that stand flat overlap, though the values of the axis are many and long."""
    values = [f"{number}.25 Mbit/s" for number in range(11, 17)]
    axis = f'rate = {{ key = "network.dumbbell.bottleneck.rate", values = {values} }}'
    (tmp_path / "many.toml").write_text(f"{SMALL_TOML}[sweep.axes]\n{axis}\n", encoding="utf-8")
    sojourn.run(tmp_path / "many.toml", out=tmp_path / "out", backend=Inventor())
    watched = Watched(browser, report.write(tmp_path / "out"))
    watched.scroll_through()
    overlapping = watched.page.evaluate(
        """() => [...document.querySelectorAll(".role-axis-label")].flatMap((axis) => {
            const flat = [...axis.querySelectorAll("text")].filter((text) => text.style.display !== "none"
                && text.getAttribute("opacity") !== "0" && !(text.getAttribute("transform") || "").includes("rotate"));
            const boxes = flat.map((text) => [text.textContent, text.getBoundingClientRect()]);
            return boxes.flatMap(([one, a], place) => boxes.slice(place + 1).filter(([, b]) =>
                a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).map(([other]) => one + other));
        })"""
    )
    assert watched.page.locator(".role-axis-label text").count() > 20
    assert overlapping == []
    watched.page.close()


def test_tabs_by_arrow_keys(browser: Browser, campaign: Path) -> None:
    """The arrow keys select the next tab and show its panel."""
    page = Watched(browser, campaign).page
    page.get_by_role("tab", name="Jain's index").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Drop ratio")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#panel-drop_pct")).to_be_visible()
    expect(page.locator("#panel-jain")).to_be_hidden()
    page.close()
