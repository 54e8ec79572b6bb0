"""Three scenes of the laboratory in Chromium and in Firefox, as far as they are installed, light and dark."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from browsing import AXE, CHROMIUM, launched
from laboratory import MISSING, PAGE, Headless
from marionette import FIREFOX, PATIENCE, Firefox

SCENES = ("bufferbloat", "incast", "wifi")

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

#: A function that shows an address, and one that returns what the body of a function returns there.
Driver = tuple[Callable[[str], None], Callable[[str], Any]]


@contextmanager
def driven(name: str, folder: Path, is_dark: bool) -> Iterator[Driver]:
    """A browser with a window of 1280 by 900 pixels."""
    if name == "firefox":
        with Firefox.started(folder, is_dark=is_dark) as firefox:
            firefox.resize(1280, 900)
            yield firefox.open, firefox.run
        return
    with sync_playwright() as playwright:
        browser = launched(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="dark" if is_dark else "light")
        yield lambda address: void(page.goto(address)), lambda body: page.evaluate(f"(async () => {{ {body} }})()")
        browser.close()


def void(_: object) -> None:
    """Nothing."""


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("chromium", "light"),
        ("firefox", "dark"),
        pytest.param("chromium", "dark", marks=pytest.mark.long),
        pytest.param("firefox", "light", marks=pytest.mark.long),
    ],
)
def test_scenes(name: str, scheme: str, tmp_path: Path) -> None:
    """A scene shows its story and draws its queue; its goodput is the run's; axe-core finds nothing."""
    if {"chromium": CHROMIUM, "firefox": FIREFOX}[name] is None:
        pytest.skip(f"{name} is not installed")
    with Headless.of_engine() as lab, driven(name, tmp_path, scheme == "dark") as (show, run):
        for scene in (each for each in lab.ask("presets") if each["id"] in SCENES):
            show("about:blank")  # otherwise only the part after # changes, and the scene before is still there
            show(f"{PAGE.as_uri()}#{scene['id']}")
            run(WAIT)
            assert run("return document.querySelector('#story h2').textContent") == scene["title"]
            assert run("return document.getElementById('notice').textContent") == ""
            assert run(DRAWN) > 100, scene["id"]
            setting = scene["state"]["a"]
            numbers = lab.ask("run", specification=lab.ask("specify", setting=setting))["numbers"]
            seconds = (setting["duration"] - setting["warm_up"]) / 1e12
            goodput = sum(flow["bytes_delivered"] for flow in numbers["flows"]) * 8e-6 / seconds
            assert float(run(GOODPUT)) == pytest.approx(goodput, rel=1e-3)
            assert json.loads(run(JUDGED)) == []


#: Waits until the runs that are shown are over.
WAIT = f"""
const until = Date.now() + {json.dumps(PATIENCE * 1000)};
while (document.body.dataset.state !== "traced") {{
    if (Date.now() > until) throw new Error(document.body.dataset.state);
    await new Promise((resolve) => setTimeout(resolve, 50));
}}
"""

#: How many pixels of the picture differ from their neighbours to the left: those of the frame, the words and the packets.
DRAWN = """
const canvas = document.getElementById("stage-a");
const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
let edges = 0;
for (let at = 4; at < data.length; at += 4) if (data[at] !== data[at - 4] || data[at + 1] !== data[at - 3]) edges += 1;
return edges;
"""

#: What axe-core finds: it runs as a script of the page, whatever a driver's own scripts may see of that.
JUDGED = f"""
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

GOODPUT = "return document.querySelector(\"[data-number='goodput, Mbit/s'] dd.a\").textContent.replace(/^A/, '')"
