"""A page of ours in Debian's chromium, driven by Playwright."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

CHROMIUM = shutil.which("chromium")

#: The judge of accessibility, a package that the laboratory is built with.
AXE = Path(__file__).parents[1] / "lab" / "node_modules" / "axe-core" / "axe.min.js"

Scheme = Literal["light", "dark"]

_OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


def chromium() -> Iterator[Browser]:
    """The browser; a fixture yields from it."""
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


def launched(playwright: Playwright) -> Browser:
    """Debian's chromium, started."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=list(_OPTIONS))


class Watched:
    """A page, its errors and its requests. A script may run before those of the page."""

    def __init__(self, browser: Browser, address: str, width: int = 1440, scheme: Scheme = "light", before: str = "") -> None:
        self.page: Page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        if before:
            self.page.add_init_script(before)
        self.page.goto(address)

    def asked_elsewhere(self) -> list[str]:
        """The requests for what is not in the page's file."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]
