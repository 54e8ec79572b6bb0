"""What the scenes of the laboratory say of their runs: each number in the steps of a story is that of the run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote_plus

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import ROOT
from laboratory import MISSING, Headless, column
from scenes import MARK, framed

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

Json = dict[str, Any]

#: A number with its unit, as a step writes it; "15 ms" and "BBRv3" are told apart by the letter before.
NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?: (%|s|ms|us|packets?|segments?|Mbit/s|kB|BDP|flows?|timeouts?))?")

#: What measures are multiplied by to be in a unit; the others are counts.
SCALE = {"%": 100, "ms": 1000, "us": 1e6, "Mbit/s": 1e-6}


@pytest.fixture(scope="module")
def lab() -> Iterator[Headless]:
    with Headless.of_engine() as headless:
        yield headless


@dataclass
class Outcome:
    """A run, and what steps may say of it."""

    setting: Json
    run: Json

    def of(self, measure: str, group: str) -> float:
        """The value of a measure, in seconds, bit/s or as a share; of a group of flows, or of all."""
        queue, flows = self.run["numbers"]["queues"][0], self._flows(group)
        seconds: float = (self.setting["duration"] - self.setting["warm_up"]) / 1e12

        def total(name: str, of: list[Json] = flows) -> float:
            return float(sum(flow[name] for flow in of))

        match measure:
            case "wait":
                return float(self._waits(group).mean() if group else queue["sojourn_mean"])
            case "p99":
                return float(np.quantile(self._waits(group), 0.99) if group else queue["sojourn_p99"])
            case "goodput":
                return total("bytes_delivered") * 8 / seconds
            case "share":
                return total("bytes_delivered") / total("bytes_delivered", self._flows(""))
            case "retransmissions" | "timeouts":
                return total(measure)
            case "done":
                assert all(flow["completed"] for flow in flows), "a flow has not ended"
                return float(max(flow["completed"] for flow in flows))
            case "longest":
                return float(queue["max_packets"])
            case "utilisation" | "drops" | "marks":
                return float(queue[measure])
        raise AssertionError(f"no measure is called {measure}")

    def _flows(self, group: str) -> list[Json]:
        return [flow for flow in self.run["numbers"]["flows"] if group in ("", flow["flow_group"])]

    def _waits(self, group: str) -> NDArray[Any]:
        packets = self.run["packets"]
        flow, fate = column(packets["flow"], "u4"), column(packets["fate"], "u4")
        arrived, left = column(packets["arrived"]), column(packets["left"])
        ours = np.isin(flow, [each["flow"] for each in self._flows(group)])
        sent = (fate == 1) | (fate == 2)
        waits: NDArray[Any] = (left - arrived)[ours & sent & (left >= self.setting["warm_up"] / 1e12)]
        return waits


class Stage:
    """The runs of a scene with what a step changes in it."""

    def __init__(self, lab: Headless, scene: Json, step: Json) -> None:
        self._lab = lab
        link = "&".join([f"#{scene['id']}", *(f"{key}={quote_plus(value)}" for key, value in step.get("changes", {}).items())])
        self._state = lab.ask("state", hash=link)
        self.outcome = cache(self._outcome)

    def given(self) -> str:
        """The scenarios of both sides."""
        return "\n".join(self._lab.ask("toml", setting=self._state[side]) for side in "ab" if self._state[side])

    def _outcome(self, side: str, traced: bool) -> Outcome:
        setting = self._state[side]
        return Outcome(setting, self._lab.ask("run", specification=self._lab.ask("specify", setting=setting), traced=traced))

    def value(self, claim: str) -> float:
        side, measure, *group = claim.split(maxsplit=2)
        return self.outcome(side, bool(group) and measure in ("wait", "p99")).of(measure, *group or [""])


def rounded(value: float, like: str) -> str:
    """A value with as many digits as a number has that is written."""
    digits = len(like.partition(".")[2])
    return f"{value:,.{digits}f}" if digits or "," in like or abs(value) < 1000 else f"{value:.0f}"


def agree(said: str, value: float) -> bool:
    """Whether a number says a value: exactly, to as many digits as it has; one that ends with zeros may be round."""
    plain = said.replace(",", "")
    if rounded(value, said).replace(",", "") == plain:
        return True
    zeros = 0 if "." in plain else len(plain) - len(plain.rstrip("0"))
    return zeros > 0 and plain != "0" and round(value, -zeros) == float(plain)


@cache
def all_scenes() -> list[Json]:
    """The scenes of the page, if it is built."""
    if MISSING is not None:
        return []
    headless = Headless()
    found: list[Json] = headless.ask("presets")
    headless.close()
    return found


STEPS = [
    pytest.param(scene, number, id=f"{scene['id']}-{number + 1}")
    for scene in all_scenes()
    for number, _ in enumerate(scene["steps"])
]


@pytest.mark.parametrize(("scene", "number"), STEPS)
def test_steps_are_true(lab: Headless, scene: Json, number: int) -> None:
    """Each number in what a step has seen is that of the run, to the digits that it has, or is given."""
    step = scene["steps"][number]
    stage = Stage(lab, scene, step)
    wrong = {}
    for said, claim in step["claims"].items():
        assert said in step["seen"], f"{said} is claimed, but not said"
        match = NUMBER.fullmatch(said)
        assert match is not None, said
        value = stage.value(claim) * SCALE.get(match[2], 1)
        if not agree(match[1], value):
            wrong[said] = f"{claim}: {value:.6g}"
    assert wrong == {}
    rest = step["seen"]
    for said in sorted(step["claims"], key=len, reverse=True):
        rest = rest.replace(said, "")
    given = stage.given()
    unknown = [match[0] for match in NUMBER.finditer(rest) if not re.search(rf"(?<![\w.]){re.escape(match[0])}", given)]
    assert unknown == []


@pytest.mark.parametrize("scene", all_scenes(), ids=lambda scene: scene["id"])
def test_scenes_have_steps(scene: Json) -> None:
    """Each scene has a task and says where to look; what a step changes is a change."""
    assert len(scene["steps"]) >= 2
    for step in scene["steps"]:
        assert step["task"].endswith(".")
        assert step["look"].endswith(".")
        assert step["claims"]


def test_radio_is_the_trace(lab: Headless) -> None:
    """The rates of the radio link are the means of each second of examples/cellular.csv."""
    rows = (ROOT / "examples" / "cellular.csv").read_text(encoding="utf-8").split()[1:]
    values = [float(row.split(",")[1]) for row in rows]
    (scene,) = (each for each in lab.ask("presets") if each["id"] == "radio")
    bottleneck = scene["state"]["a"]["bottleneck"]
    shown = [bottleneck["rate"], *(change["rate"] for change in bottleneck["changes"])]
    for second, rate in enumerate(shown):
        assert rate / 1e6 == pytest.approx(np.mean(values[10 * second : 10 * second + 10]), abs=0.0501)
    assert [change["at"] for change in bottleneck["changes"]] == [10**12 * second for second in range(1, len(shown))]
    assert len(shown) * 10**12 == scene["state"]["a"]["duration"]


def test_docs_list_the_scenes(lab: Headless) -> None:
    """docs/lab.md has each scene with its link, in order; the links there and those of frames in the docs can be shown whole."""
    text = (ROOT / "docs" / "lab.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `#(\S+)` \| (.+) \|$", text, re.MULTILINE) == [
        (scene["id"], scene["title"]) for scene in lab.ask("presets")
    ]
    links = re.findall(r"laboratory\.html(#\S+)", text)
    links += [f"#{mark[1]}" for page in (ROOT / "docs").glob("*.md") for mark in MARK.finditer(page.read_text(encoding="utf-8"))]
    assert len(links) >= 3
    for link in links:
        assert lab.ask("shown", hash=link)["problem"] is None, link


def test_scenes_in_the_docs() -> None:
    """A scene stands in a frame with a title, or nowhere if the laboratory is not built."""
    page = "Before.\n\n<!-- scene: codel&b=off: A queue & a call -->\n\nAfter."
    assert framed(page, None) == "Before.\n\n\n\nAfter."
    found = framed(page, "../laboratory.html")
    assert '<iframe src="../laboratory.html#codel&amp;b=off&amp;embed=on" title="A queue &amp; a call" ' in found
