"""Measures the laboratory in headless chromium, with the same run in Node beside it, which says how quiet the machine is.

make lab-bench
"""

import itertools
import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

LAB = Path(__file__).parent
PAGE = LAB / "dist" / "laboratory.html"
OPTIONS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--enable-precise-memory-info")
#: Ten flows for a minute at 50 Mbit/s.
MINUTE = {"duration": 60 * 10**12, "warmUp": 10 * 10**12}
REPEAT = 7
#: Flows behind FQ-CoDel, whose queues are drawn one by one, while time is played.
MANY = 60


def headless(process: "subprocess.Popen[str]", request: str, **given: Any) -> Any:
    """What the page's modules answer in Node."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"request": request, **given}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())["answer"]


def opened(page: Page, address: str) -> float:
    """Milliseconds from opening to the first picture with data."""
    page.goto(address)
    page.wait_for_function("performance.getEntriesByName('sojourn:drawn').length > 0", polling=5, timeout=60_000)
    first: float = page.evaluate("performance.getEntriesByName('sojourn:drawn')[0].startTime")
    return first


CHANGE = """async (rate) => {
    const next = (name) => new Promise((resolve) => {
        new PerformanceObserver((list, observer) => {
            for (const entry of list.getEntries()) if (entry.name === name) { observer.disconnect(); resolve(entry.startTime); }
        }).observe({ entryTypes: ["mark"] });
    });
    const input = [...document.querySelectorAll("#panel input")].find((each) => each.labels?.[0]?.textContent === "Rate");
    const drawn = next("sojourn:drawn"), done = next("sojourn:done-A");
    const began = performance.now();
    input.value = rate;
    input.dispatchEvent(new Event("change"));
    const first = await drawn - began;
    await done;
    const whole = await next("sojourn:drawn") - began;
    return [first, whole];
}"""


def played(page: Page) -> list[float]:
    """Milliseconds between frames of some seconds of playing."""
    page.click("#play")
    page.wait_for_timeout(4_000)
    frames = page.evaluate("lab.frames()")
    page.click("#play")
    return [after - before for before, after in itertools.pairwise(frames[10:])]


def memory(browser_pid: int) -> list[float]:
    """Megabytes of each of the browser's renderers: the memory that is theirs alone and their part of what they share."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            command = (each / "cmdline").read_bytes()
            if b"--type=renderer" not in command or not _descends(each, browser_pid):
                continue
            rollup = (each / "smaps_rollup").read_text()
        except OSError:
            continue
        found.append(next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1000)
    return sorted(found, reverse=True)


def _descends(process: Path, ancestor: int) -> bool:
    while process.name != "1":
        parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
        if int(parent) == ancestor:
            return True
        process = Path("/proc") / parent
        if parent == "0":
            return False
    return False


def main() -> int:
    """Prints the measurements."""
    chromium = shutil.which("chromium")
    if not PAGE.is_file() or chromium is None or shutil.which("node") is None:
        print("the laboratory is not built (make lab), or chromium or node is not installed")
        return 1
    node = subprocess.Popen(["node", str(LAB / "headless.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    setting = headless(node, "example", control="cubic", more=MINUTE)
    setting["bottleneck"].update(rate=50_000_000, limit={"packets": 200})
    setting["groups"][0]["count"] = 10
    run = headless(node, "specify", setting=setting)
    in_node = [headless(node, "run", specification=run)["ms"] for _ in range(REPEAT)]
    many = json.loads(json.dumps(setting))
    many["groups"][0]["count"] = MANY
    many["bottleneck"]["queue"] = {"name": "fq_codel", "parameters": {}}
    address = PAGE.as_uri() + headless(node, "hash", state={"a": setting, "b": None, "own": []})
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(OPTIONS))
        opening = []
        for _ in range(REPEAT):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            opening.append(opened(page, PAGE.as_uri()))
            page.close()
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        opened(page, address)
        page.wait_for_function("document.body.dataset.state === 'traced'", timeout=60_000)
        changes = []
        for count in range(2 * REPEAT):
            changes.append(page.evaluate(CHANGE, f"{51 - count % 2} Mbit/s"))
            page.wait_for_timeout(200)
        firsts, wholes = ([each[place] for each in changes[2:]] for place in (0, 1))
        page.evaluate("document.body.dataset.state = 'waiting'")
        page.evaluate(CHANGE, "49 Mbit/s")
        page.wait_for_function("document.body.dataset.state === 'traced'", timeout=60_000)
        gaps = played(page)
        crowded = browser.new_page(viewport={"width": 1440, "height": 900})
        opened(crowded, PAGE.as_uri() + headless(node, "hash", state={"a": many, "b": None, "own": []}))
        crowded.wait_for_function("document.body.dataset.state === 'traced'", timeout=60_000)
        gaps_of_many = played(crowded)
        crowded.close()
        began = time.monotonic()
        # Each change differs from the one before: one to what is there already is none.
        for count in range(200):
            page.evaluate(CHANGE, f"{40 + count % 17} Mbit/s")
        seconds = time.monotonic() - began
        page.wait_for_function("document.body.dataset.state === 'traced'", timeout=60_000)
        heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
        process = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        pid = next(int(each["id"]) for each in process if each["type"] == "browser")
        of_renderers = memory(pid)
        browser.close()
    node.stdin.close() if node.stdin else None
    node.wait(timeout=10)

    def line(what: str, values: list[float], target: str) -> None:
        print(f"{what:58} {statistics.median(values):8.1f}  ({min(values):.1f} to {max(values):.1f})  {target}")

    line("the run in Node, ms", in_node, "")
    line("from opening to the first picture, ms", opening, "target 1000")
    line("from a change to the first redrawing, ms", firsts, "target 150")
    line("from a change to the whole run redrawn, ms", wholes, "target 150")
    line("time between frames while playing, ms", gaps, "target 16.7")
    for flows, each, target in ((10, gaps, 60), (MANY, gaps_of_many, 50)):
        late = f"{sum(gap > 25 for gap in each)} of {len(each)} late"
        what = f"frames a second while playing, {flows} flows"
        print(f"{what:58} {1000 / statistics.mean(each):8.1f}  ({late})  target {target}")
    # The page has a renderer of its own, the largest; chromium keeps others, for pages to come.
    page_renderer, *others = of_renderers
    beside = f"its heap {heap:.0f}; other renderers {sum(others):.0f}; {seconds:.0f} s"
    print(f"{'the page after 200 changes, MB':58} {page_renderer:8.1f}  ({beside})  target 300")
    return 0


if __name__ == "__main__":
    sys.exit(main())
