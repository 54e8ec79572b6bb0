"""Three scenes of the laboratory in Chromium and in Firefox, as far as they are installed, light and dark."""

import json
from pathlib import Path

import pytest

from browsers import EACH, driven, judged
from browsing import Scheme
from laboratory import MISSING, PAGE, Headless
from marionette import PATIENCE

SCENES = ("bufferbloat", "incast", "wifi")

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


@pytest.mark.parametrize(("name", "scheme"), EACH)
def test_scenes(name: str, scheme: Scheme, tmp_path: Path) -> None:
    """A scene shows its story and draws its queue; its goodput is the run's; axe-core finds nothing."""
    with Headless.of_engine() as lab, driven(name, tmp_path, scheme) as (show, run):
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
            assert judged(run) == []


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

GOODPUT = "return document.querySelector(\"[data-number='goodput, Mbit/s'] dd.a\").textContent.replace(/^A/, '')"
