"""The hooks of own algorithms: each is called in every language, and what documents them names them all."""

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import ROOT
from laboratory import MISSING, Headless, Refused
from own_files import SCALABLE, SCALABLE_C, WriteScenario, needs_compiler, own_tcp
from sojourn import _engine, api, catalogue
from sojourn.plugins import CongestionControl
from sojourn.plugins.hooks import hooks_of

#: Hooks as the engine lists them, and the fields of what they are shown, each with its kind.
OWN = json.loads(_engine.catalogue())["own"]

pytestmark = pytest.mark.usefixtures("own_cache")

#: Halves the window after each pause, and records what it was told.
PAUSES = (
    SCALABLE
    + """
    def on_idle(self, window, idle, now):
        self.record("idle", idle)
        self.record("now", now)
        window.cwnd = max(window.mss, window.cwnd // 2)
        self.record("halved", window.cwnd)
"""
)

#: The same in C.
PAUSES_C = SCALABLE_C.replace("    double a, b;", "    double a, b;\n    struct sojourn_recorder *recorder;").replace(
    "SOJOURN_CONGESTION_CONTROL(",
    """static void take_recorder(void *state, struct sojourn_recorder *recorder)
{
    ((struct scalable *)state)->recorder = recorder;
}

static void on_idle(void *state, struct sojourn_window *window, sojourn_time idle, sojourn_time now)
{
    struct sojourn_recorder *recorder = ((struct scalable *)state)->recorder;
    sojourn_record(recorder, "idle", sojourn_seconds(idle));
    sojourn_record(recorder, "now", sojourn_seconds(now));
    window->cwnd = window->cwnd / 2 > window->mss ? window->cwnd / 2 : window->mss;
    sojourn_record(recorder, "halved", (double)window->cwnd);
}

SOJOURN_CONGESTION_CONTROL(.take_recorder = take_recorder, .on_idle = on_idle, """,
)

#: The flows write a message each second.
WRITES = 'periodic = { size = "20 kB", every = "1 s" }'

GOVERNS = PAUSES.replace("    a =", "    governs = True\n\n    def on_delivery(self, window, delivery): ...\n\n    a =")


@pytest.mark.parametrize(
    ("name", "text"), [("mine.py", PAUSES), ("mine.py", GOVERNS), pytest.param("mine.c", PAUSES_C, marks=needs_compiler)]
)
def test_hears_of_pauses(scenario_file: WriteScenario, name: str, text: str) -> None:
    """An own algorithm, one that governs too, is told how long its application had nothing to send, and its window is taken."""
    path = own_tcp(scenario_file, name, text)
    path.write_text(path.read_text(encoding="utf-8") + WRITES, encoding="utf-8")
    series = sojourn.run(path).series
    found = series.filter(which=series["which"][0])
    idle, now, halved = (found.filter(measure=measure)["value"].to_list() for measure in ("idle", "now", "halved"))
    assert len(idle) == 3
    assert all(0.5 < each < 1 for each in idle)
    assert now == pytest.approx([now[0], now[0] + 1, now[0] + 2])
    assert halved[1] < halved[0]


def recorded(hook: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What a hook is told: a name for it, how it is written, and its kind."""
    shown = {"ack": "Ack", "delivery": "Delivery", "lost": "LostSegment"}
    for argument in hook["told"]:
        if argument in shown:
            yield from ((f"{hook['name']}_{name}", f"{argument}.{name}", kind) for name, kind in OWN["shown"][shown[argument]])
        elif argument == "event":
            yield f"{hook['name']}_now", "event.now", "time"
        elif argument != "window":
            yield f"{hook['name']}_{argument}", argument, "number" if argument == "mss" else "time"


#: What some hooks do besides.
ANSWERS = {"pacing_quantum": "return mss", "pacing_rate": "return 2e7", "on_congestion": "window.set_ssthresh(window.cwnd / 2)"}
ANSWERS_C = {
    "pacing_quantum": "return mss;",
    "pacing_rate": "return 20000000;",
    "increase_in_slow_start": "return SOJOURN_NONE;",
    "on_congestion": "sojourn_set_ssthresh(window, window->cwnd / 2);",
}


def in_python() -> str:
    """A congestion control that records all that it is told."""
    lines = ["from sojourn.plugins import CongestionControl", "class Mine(CongestionControl):"]
    for hook in OWN["hooks"]:
        lines.append(f"    def {hook['name']}(self, {', '.join(hook['told'])}):")
        for name, value, kind in recorded(hook):
            if kind != "load":
                lines.append(f"        if {value} is not None: self.record('{name}', float({value}))")
        lines.append(f"        {ANSWERS.get(hook['name'], 'pass')}")
    return "\n".join(lines)


def in_c() -> str:
    """The same in C, its hooks declared as the table says."""
    structures = {"ack": "ack", "event": "event", "delivery": "delivery", "lost": "lost_segment"}
    lines = ["#include <sojourn.h>", "struct mine { struct sojourn_recorder *recorder; };"]
    lines += ["static void take_recorder(void *state, struct sojourn_recorder *recorder)"]
    lines += ["{ ((struct mine *)state)->recorder = recorder; }"]
    for hook in OWN["hooks"]:
        told = ["void *state"]
        for argument in hook["told"]:
            if argument == "window":
                told.append(("" if hook["changes_window"] else "const ") + "struct sojourn_window *window")
            elif argument in structures:
                told.append(f"const struct sojourn_{structures[argument]} *{argument}")
            else:
                told.append(f"{'uint64_t' if argument == 'mss' else 'sojourn_time'} {argument}")
        lines.append(f"static {'uint64_t' if hook['returns'] else 'void'} {hook['name']}({', '.join(told)})\n{{")
        lines.append("    struct sojourn_recorder *recorder = ((struct mine *)state)->recorder;")
        for name, value, kind in recorded(hook):
            field = value.replace(".", "->")
            if kind == "time":
                lines.append(f'    if ({field} != SOJOURN_NONE) sojourn_record(recorder, "{name}", sojourn_seconds({field}));')
            elif kind != "load":
                lines.append(f'    sojourn_record(recorder, "{name}", (double){field});')
        lines.append(f"    {ANSWERS_C.get(hook['name'], '')}\n}}")
    hooks = ", ".join(f".{hook['name']} = {hook['name']}" for hook in OWN["hooks"])
    lines.append(
        'SOJOURN_CONGESTION_CONTROL(.title = "Hears all", .state_bytes = sizeof(struct mine), .take_recorder = take_recorder,'
    )
    return "\n".join([*lines, f"{hooks});"])


def busy(scenario_file: WriteScenario, name: str, text: str) -> Path:
    """A scenario in which everything happens: losses, pauses, slow start and congestion avoidance."""
    path = own_tcp(scenario_file, name, text)
    more = 'periodic = { size = "600 kB", every = "1 s" }'
    path.write_text(path.read_text(encoding="utf-8").replace("100 packets", "20 packets") + more, encoding="utf-8")
    return path


@needs_compiler
def test_every_hook_is_heard(scenario_file: WriteScenario) -> None:
    """All hooks are called in Python and in C, and are told the same at the same times, to the bit."""
    python, c = (sojourn.run(busy(scenario_file, *own)).series for own in (("mine.py", in_python()), ("mine.c", in_c())))
    assert python.height > 10_000
    assert python.drop("key").equals(c.drop("key"))
    heard = set(python["measure"])
    for hook in OWN["hooks"]:
        assert any(name in heard for name, *_ in recorded(hook)), hook["name"]


def in_the_page(failing: str) -> str:
    """The same in JavaScript, but that one hook fails when it is called, and says what it was told."""
    lines = ["class Mine extends CongestionControl {"]
    for hook in OWN["hooks"]:
        told = ", ".join(f"{name}: {value}" for name, value, kind in recorded(hook) if kind != "load")
        does = f"throw new Error(JSON.stringify({{ {told} }}));" if hook["name"] == failing else ANSWERS.get(hook["name"], "")
        lines.append(f"  {hook['name']}({', '.join(hook['told'])}) {{ {does} }}")
    return "\n".join([*lines, "}"])


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_every_hook_is_heard_in_the_page(scenario_file: WriteScenario) -> None:
    """All hooks are called in the laboratory's engine too, and are told first what a file in Python is told first."""
    run = api.single_run(busy(scenario_file, "mine.py", in_python()))
    heard = sojourn.run(busy(scenario_file, "mine.py", in_python())).series
    with Headless.of_engine() as lab:
        for hook in OWN["hooks"]:
            own = {"name": "mine", "text": in_the_page(hook["name"])}
            with pytest.raises(Refused) as failed:
                lab.ask("run", specification={**run.specification, "plugins": [own]})
            _, _, told = str(failed.value).partition(f": {hook['name']}: Error: ")
            for name, value in json.loads(told).items():
                if value is not None:
                    assert heard.filter(measure=name)["value"][0] == value, name


def test_hooks_in_python() -> None:
    """The class that files in Python extend has the hooks of the engine, with the arguments that they are called with."""
    assert set(hooks_of(CongestionControl)) == {hook["name"] for hook in OWN["hooks"]}
    for hook in OWN["hooks"]:
        assert list(inspect.signature(getattr(CongestionControl, hook["name"])).parameters) == ["self", *hook["told"]]


def test_fields_in_python() -> None:
    """What hooks are shown is declared for type checkers with all its fields, and with no other."""
    declared = (ROOT / "python/sojourn/_engine.pyi").read_text(encoding="utf-8")
    for name, fields in catalogue.load().shown.items():
        text = declared[declared.index(f"class {name}:") :].partition("\n\nclass ")[0]
        assert set(re.findall(r"def (\w+)\(self\)", text)) - {"rate"} == set(fields), name
