"""The site of docs/: it builds without warnings, loads nothing from elsewhere, and agrees with the code and results."""

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import algorithm_pages
import browsers
import lab_setting
import navigation
import origins
import study_pages
from browsing import CHROMIUM, Scheme, Watched, chromium
from conftest import ROOT
from laboratory import MISSING, Headless
from sojourn import catalogue
from sojourn.analysis.frames import NAMES, columns
from sojourn.metrics import METRICS
from sojourn.scenario import from_data
from sojourn.specification import specify
from sojourn.study import library

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: pages are not opened")

#: A page of each kind.
KINDS = (
    *("index.html", "tutorial.html", "measures.html", "catalogue.html", "cards.html", "cards/bbr.html", "atlas-map.html"),
    *("studies/piotrowska.html", "congestion-controls/bbr.html", "queue-disciplines/codel.html", "decisions/index.html"),
    "notebooks/home-line.html",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from chromium()


#: Pages that people write, each of another build: those in docs/ and the first one. Of pages that programs make, such as those of
#: algorithms, and of texts without more than prose, such as decisions, one is as good as all.
WRITTEN = sorted({"index.html", *(f"{path.stem}.html" for path in (ROOT / "docs").glob("*.md"))} - set(KINDS))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built as `make docs` does, without results; once for all processes that tests run in."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    site = folder / "site"
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not site.exists():
            environment = {**os.environ, "SOJOURN_RESULTS": str(folder / "none"), "NO_MKDOCS_2_WARNING": "1"}
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder / "building")]
            built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            assert built.returncode == 0, built.stderr
            (folder / "building").rename(site)
    return site


def test_site_is_self_contained(site: Path) -> None:
    """No page or style sheet loads anything from another site."""
    loads = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?((?:https?:)?//[^\"' >]+)")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        assert loads.findall(page.read_text(encoding="utf-8")) == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import\s*)[\"']?(?:https?:)?//", style.read_text(encoding="utf-8")), style


def test_site_is_complete(site: Path) -> None:
    """Studies, congestion controls and disciplines have pages; slow starts and profiles a section of the catalogue."""
    for name in library.available():
        assert (site / "studies" / f"{name}.html").is_file()
    shown = (site / "catalogue.html").read_text(encoding="utf-8")
    known = catalogue.load()
    for entry in (*known.slow_starts, *known.profiles):
        assert re.search(rf"<h3[^>]*>{re.escape(entry.name)}<", shown), entry.name
    for folder, entries in (("congestion-controls", known.congestion_controls), ("queue-disciplines", known.queues)):
        for entry in entries:
            assert f'href="{folder}/{entry.name}.html"' in shown
            page = (site / folder / f"{entry.name}.html").read_text(encoding="utf-8")
            pictures = re.findall(r'<img [^>]*src="([^"]+)"', page)
            assert pictures or entry.unresponsive, entry.name
            assert all((site / folder / picture).read_text(encoding="utf-8").startswith("<svg") for picture in pictures)


@needs_chromium
def test_search_works_in_a_folder(site: Path, browser: Browser) -> None:
    """Where no server hands out its pages the search finds a discipline's page, and asks for nothing elsewhere."""
    watched = Watched(browser, (site / "studies" / "linux.html").as_uri())
    watched.page.locator("input[name=query]").press_sequentially("choke")
    expect(watched.page.locator(".md-search-result__meta")).to_contain_text("matching documents")
    hrefs = watched.page.locator(".md-search-result__link").evaluate_all("all => all.map((each) => each.href)")
    assert any("/queue-disciplines/choke.html" in each for each in hrefs)
    assert watched.complaints == []
    assert watched.asked_elsewhere() == []
    watched.page.close()


@pytest.mark.parametrize(("name", "scheme"), browsers.EACH)
def test_pages_are_accessible(site: Path, name: str, scheme: Scheme, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """axe-core finds nothing on a page of each kind."""
    assert browsers.violations([site / kind for kind in KINDS], name, scheme, tmp_path, request) == {}


def test_written_pages_are_accessible(site: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """axe-core finds nothing on any page that people write."""
    assert browsers.violations([site / page for page in WRITTEN], "chromium", "light", tmp_path, request) == {}


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_scenes_of_algorithms_open_in_the_laboratory() -> None:
    """The link of each algorithm's page holds a setting that the laboratory takes, and that is the page's scenario."""
    known = catalogue.load()
    scenes = [
        *(scene for each in known.congestion_controls if (scene := algorithm_pages.scene_of_control(each))),
        *map(algorithm_pages.scene_of_queue, known.queues),
    ]
    with Headless.of_engine() as headless:
        for scene in scenes:
            state = lab_setting.state(scene)
            assert state is not None
            assert headless.ask("state", hash=lab_setting.address(state)) == state, scene["name"]
            there, here = headless.ask("specify", setting=state["a"]), specify(from_data(scene, scene["name"]), 1)
            assert there["flows"] == here["flows"]
            assert there["links"] == here["links"]


def test_pages_list_parameters() -> None:
    """The page of CoDel lists all its parameters and its inner state."""
    codel = catalogue.load().queue("codel")
    shown = "\n".join(algorithm_pages.details(codel))
    for name in (*(each.name for each in codel.parameters), *(each.name for each in codel.state)):
        assert f"| `{name}` |" in shown


def test_columns_are_defined() -> None:
    """docs/measures.md defines every column and metric."""
    defined = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    named = {*METRICS, *(column for frame in NAMES for column in columns(frame))}
    assert [name for name in sorted(named) if f"`{name}`" not in defined] == []


def test_navigation_sections() -> None:
    """The navigation puts each page into its section."""
    found = navigation.navigation(["studies/new.md", "new.md", "add-a-thing.md", "index.md", "architecture.md", "tutorial.md"])
    assert found == [
        *("index.md", "tutorial.md"),
        {"Guide": ["new.md"]},
        {"Algorithms": []},
        {"Notebooks": []},
        {"Studies": ["studies/new.md"]},
        {"Extending": ["add-a-thing.md"]},
        {"Development": ["architecture.md"]},
    ]


def test_links_between_pages() -> None:
    """Links between files become links between pages; links to other files become text."""
    pages = ["index.md", "measures.md", "studies/piotrowska.md", "decisions/index.md", "decisions/008-flight-size.md"]
    text = "[a](../../docs/measures.md#over-seeds), [b](study.toml), [c](https://x.org/y), [d](#here), [e](../../docs/decisions)"
    expected = "[a](../measures.md#over-seeds), b, [c](https://x.org/y), [d](#here), [e](../decisions/index.md)"
    assert origins.relinked(text, "studies/piotrowska.md", pages) == expected
    assert origins.relinked("[p](studies/piotrowska/README.md)", "index.md", pages) == "[p](studies/piotrowska.md)"


def test_study_page_verdicts(tmp_path: Path) -> None:
    """The page of a study with results shows agreement, values and verdicts; without results it says so."""
    results = tmp_path / "piotrowska"
    results.mkdir()
    cells = [
        "table,scenario,load,tcp,queue,metric,published,measured,ci_low,ci_high,agrees",
        "2,DC,UC,newreno,pie,q1_mbps,56.7,50.25,49,51.5,true",
        "2,DC,HC,newreno,pie,q1_mbps,83.54,22.2,,,false",
        "3,DC,UC,newreno,pie,jain,1,1,,,true",
    ]
    (results / "cells.csv").write_text("\n".join(cells), encoding="utf-8")
    claims = ["id,claim,source,verdict,held,seeds,evidence", 'P-01,c,s,holds,10,10,"10 of 10 seeds [0.69, 1.00]; least_mbps 965"']
    (results / "claims.csv").write_text("\n".join(claims), encoding="utf-8")
    page = study_pages.page("piotrowska", tmp_path)
    assert "| 1 | 2 | 50 |\n" in page
    assert "| all |  | 2 | 3 | 67 |" in page
    assert "    | UC | `q1_mbps` | 56.7 | 50.25 (49.00 to 51.50) | ✓ yes |\n" in page
    assert "    | HC | `q1_mbps` | 83.54 | 22.20 | ✗ no |\n" in page
    assert "1 claim on 10 seeds: 1 hold, 0 fail, 0 undecided (" in page
    assert r"| ✓ holds | 10 of 10 seeds \[0.69, 1.00\]; least\_mbps 965 |" in page
    without = study_pages.page("piotrowska", tmp_path / "none")
    assert "without results" in without
    assert "P-101" in without
