"""Pages of ours in Chromium and in Firefox, light and dark, and what axe-core finds in them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from browsing import AXE, CHROMIUM, Scheme, launched
from marionette import FIREFOX, Firefox

#: A function that shows an address, and one that returns what the body of a function returns there.
Driver = tuple[Callable[[str], None], Callable[[str], Any]]

#: Each browser and each scheme once: a scheme is one set of colours in both browsers.
EACH = [("chromium", "light"), ("firefox", "dark")]

#: What axe-core finds: it runs as a script of the page, whatever a driver's own scripts may see of that.
_JUDGED = f"""
const script = document.createElement("script");
script.textContent = {json.dumps(AXE.read_text(encoding="utf-8") if AXE.is_file() else "")} + `;
    axe.run(document, {{ resultTypes: ["violations"] }}).then(({{ violations }}) => {{
        const short = violations.map(({{ id, nodes }}) => [id, nodes.slice(0, 3).map((each) => each.target)]);
        document.body.dataset.found = JSON.stringify(short);
    }});`;
delete document.body.dataset.found;
document.head.append(script);
while (!document.body.dataset.found) await new Promise((resolve) => setTimeout(resolve, 50));
return document.body.dataset.found;
"""


@contextmanager
def driven(name: str, folder: Path, scheme: Scheme, running: Callable[[], Browser] | None = None) -> Iterator[Driver]:
    """A browser with a window of 1280 by 900 pixels, and a folder for its profile; skips the test if it is not installed.

    Where a fixture has a Chromium running, as returned by `running`, that one is used: Playwright has one at a time.
    """
    if {"chromium": CHROMIUM, "firefox": FIREFOX}[name] is None:
        pytest.skip(f"{name} is not installed")
    if name == "firefox":
        with Firefox.started(folder, is_dark=scheme == "dark") as firefox:
            firefox.resize(1280, 900)
            yield firefox.open, firefox.run
    elif running is not None:
        with _page(running(), scheme) as driver:
            yield driver
    else:
        with sync_playwright() as playwright, launched(playwright) as browser, _page(browser, scheme) as driver:
            yield driver


@contextmanager
def _page(browser: Browser, scheme: Scheme) -> Iterator[Driver]:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    yield lambda address: _nothing(page.goto(address)), lambda body: page.evaluate(f"(async () => {{ {body} }})()")
    page.close()


def _nothing(_: object) -> None:
    """Nothing."""


def judged(run: Callable[[str], Any]) -> list[Any]:
    """What axe-core finds wrong in the page that is shown: its rules, and the first places of each."""
    if not AXE.is_file():
        pytest.skip("axe-core, a package of the laboratory, is not installed")
    found: list[Any] = json.loads(run(_JUDGED))
    return found


def violations(
    pages: Iterable[Path], name: str, scheme: Scheme, folder: Path, request: pytest.FixtureRequest
) -> Mapping[str, list[Any]]:
    """What axe-core finds in files that are pages, in the Chromium of the fixture `browser` or in a Firefox of its own.

    Pages in which it finds nothing are left out.
    """
    found = {}
    with driven(name, folder, scheme, lambda: request.getfixturevalue("browser")) as (show, run):
        for page in pages:
            show(page.as_uri())
            found[str(page)] = judged(run)
    return {page: wrong for page, wrong in found.items() if wrong}
