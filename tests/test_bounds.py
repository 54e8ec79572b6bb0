"""Everything that a scenario counts, at its bounds: refused in one line or accepted, it takes little memory."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sojourn import catalogue
from sojourn.catalogue import Algorithm, Parameter

#: What a check may take besides what its process has when everything is loaded, in bytes.
ALLOWED = 10**9

#: Checks scenarios, each in a process of its own whose data are limited; prints of each status, peak of memory and what was said.
CHECK = """
import json, os, resource, sys, tempfile
from pathlib import Path
import sojourn.backends, sojourn.cli.check, sojourn.cli.show, sojourn.study.library
from sojourn.cli.commands import status
import sojourn.api
sojourn.backends.several("simulator")

def check(number, case):
    folder = Path(tempfile.mkdtemp(dir=sys.argv[2]))
    for name, text in case["files"].items():
        (folder / name).write_text(text)
    (folder / "s.toml").write_text(case["text"])
    said = folder / "said"
    child = os.fork()
    if not child:
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(1, 2)
        there = int(Path("/proc/self/status").read_text().partition("VmData:")[2].split()[0]) * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (there + int(sys.argv[3]),) * 2)
        ended = 99
        try:
            ended = status(["check", str(folder / "s.toml")])
        finally:
            sys.stdout.flush()
            os._exit(ended)
    _, ended, used = os.wait4(child, 0)
    return {"status": os.waitstatus_to_exitcode(ended), "peak": used.ru_maxrss * 1024, "said": said.read_text()}

cases = json.loads(Path(sys.argv[1]).read_text())
print(json.dumps([check(*each) for each in enumerate(cases)]))
"""

SCENARIO = """
name = "bounds"
duration = "{duration}"
{top}
[network.dumbbell.bottleneck]
rate = {rate}
delay = "10 ms"
queue = {queue}
{bottleneck}
{changes}
[[network.dumbbell.senders]]
name = "a"
rate = "100 Mbit/s"
{senders}
[[network.dumbbell.receivers]]
name = "b"
rate = "100 Mbit/s"
{receivers}
[[flows]]
from = "{sender}"
to = "b"
tcp = {tcp}
{flows}
{tail}
"""

USUAL = {
    **{"duration": "10 s", "rate": '"10 Mbit/s"', "queue": '{ name = "droptail", limit = "100 packets" }', "tcp": '"cubic"'},
    "sender": "a",
    **dict.fromkeys(("top", "bottleneck", "changes", "senders", "receivers", "flows", "tail"), ""),
}

FLOW = '[[flows]]\nfrom = "a"\nto = "b"\ntcp = "cubic"\n'
APPLICATIONS = {
    "nothing": "",
    "size": 'size = "1 MB"',
    "video": 'video = { rule = "bba0" }',
    "page": "page = { objects = 10 }",
    "periodic": 'periodic = { size = "1 kB", every = "1 s" }',
    "exchange": 'exchange = { response = "1 kB" }',
}

#: What is written there, and how the one line begins; none where it is accepted.
Case = tuple[dict[str, str] | str, str | None]


def changed(every: int) -> str:
    return "".join(f'[[network.links.changes]]\nat = "{each + 1} us"\nrate = "1 Mbit/s"\n' for each in range(every))


def groups(number: int, rate: str = '"1 Mbit/s"', changes: int = 0) -> str:
    """So many groups of the most hosts, each with a link to a router."""
    hosts = "".join(f'[[network.hosts]]\nname = "g{each}x"\ncount = 1000\n' for each in range(number))
    link = 'to = "r"\nrate = ' + rate + "\n" + changed(changes)
    links = "".join(f'[[network.links]]\nfrom = "g{each}x"\n{link}' for each in range(number))
    return f'name = "bounds"\nduration = "10 s"\n{hosts}{links}[[flows]]\nfrom = "g0x1"\nto = "r"\ntcp = "cubic"\n'


def counts() -> Iterator[tuple[str, Case]]:
    for name, application in APPLICATIONS.items():
        for number, refused in ((2**32 - 1, "flows[0]"), (2**63 - 1, ""), (2**63, "flows[0].count: must be less than")):
            yield f"{name} {number}", ({"flows": f"count = {number}\n{application}"}, refused)
    for name in ("cbr", "voice", "ping", "tfrc", "bbr"):
        yield name, ({"tcp": f'"{name}"', "flows": "count = 4294967295"}, "")
    yield "a million flows", ({"flows": "count = 1000000"}, None)
    yield "a million paced flows", ({"tcp": '"tfrc"', "flows": "count = 1048576"}, None)
    yield "users", ({"flows": 'arrivals = { users = 1000000, think = "1 ps" }\nsize = "1 B"'}, None)
    whole = "page = { objects = 10000, connections = 256 }"
    yield "pages of users", ({"flows": f'arrivals = {{ users = 1000000, think = "1 s" }}\n{whole}'}, "flows[0].arrivals")
    for given in ("rate = 1e9", "load = 1000"):
        yield given, ({"flows": f'arrivals = {{ process = "poisson", {given} }}\nsize = "1 B"'}, "flows[0].arrivals")
    yield "exchanges", ({"flows": f'exchange = {{ response = "1 B", count = {2**53} }}'}, None)
    yield "messages", ({"flows": 'periodic = { size = "1 B", every = "1 ps" }'}, "flows[0] (a-b): ")
    yield "segments", ({"flows": 'video = { rule = "bba0", segment = "1 ps", length = "1000000 s" }'}, None)
    yield "above the host's rate", ({"tcp": '{ name = "cbr", rate = "10 Gbit/s", packet_size = "50 B" }'}, "link a -> left: ")


def lists() -> Iterator[tuple[str, Case]]:
    yield "flows", ({"tail": 100_000 * FLOW}, "flows: 100,001 entries; at most 100,000")
    pairs = 'from = ["a", "a"]\nto = "b"\ntcp = "cubic"\n'
    yield "pairs", ({"senders": "count = 1000", "receivers": "count = 1000"}, "flows[0].from: 1,000,000 pairs of hosts")
    hosts = {"senders": "count = 300", "receivers": "count = 200"}
    yield "pairs in all", ({**hosts, "tail": f"[[flows]]\n{pairs}"}, "flows: more than 100,000 pairs")
    yield "groups", (groups(1000), "network: 1,000,000 links; at most 100,000")
    senders = 100 * '[[network.dumbbell.senders]]\nname = "s"\ncount = 1000\nrate = "1 Mbit/s"\n'
    yield "hosts", ({"changes": senders}, "network.dumbbell: 100,002 hosts; at most 100,000")
    yield "changes of a group", (groups(1, changes=5000), "network: links: with all hosts about ")
    yield "a trace of a group", (groups(1, '{ trace = "trace.csv" }'), "network: links: with all hosts about ")
    yield "a repeated trace", ({"rate": '{ trace = "short.csv" }', "duration": "1000000 s"}, "the trace short.csv: up to ")
    video = 'video = { rule = "bba0", sizes = "sizes.csv" }'
    yield "sizes of pairs", ({**hosts, "flows": video}, "flows: with all hosts about ")
    rings = 'queue = "droptail"\ndevice_queue = "1000000 packets"\n'
    yield "devices", ({"senders": f"count = 1000\n{rings}"}, "device_queue: 1,000,000,000 packets in all devices")
    yield "a frame", ({"bottleneck": 'aggregation = { packets = "1000000 packets" }'}, None)
    for key in ("every", "listed"):
        listed = str if key == "every" else lambda number: f"[{number}]"
        yield key, ({"bottleneck": f"drop = {{ {key} = {listed(2**63 - 1)} }}"}, None)
        refused = f"network.dumbbell.bottleneck.drop.{key}"
        yield f"{key} beyond", ({"bottleneck": f"drop = {{ {key} = {listed(2**64)} }}"}, refused)


def _axis(cells: int, seeds: int) -> Case:
    axis = f'[sweep.axes]\n"flows.*.count" = {list(range(1, cells + 1))}\n'
    return {"tail": f"[sweep]\nseeds = {seeds}\n{axis}"}, f"{cells:,} cells x {seeds} seeds: {cells * seeds:,} runs"


def longest_axis() -> Iterator[tuple[str, Case]]:
    """A million values, which take ten seconds to read."""
    yield "an axis", _axis(1_000_000, seeds=11)


def samples() -> Iterator[tuple[str, Case]]:
    for key in ("queue_series", "flow_series"):
        yield key, ({"tail": f'[probe]\n{key} = "1 ps"'}, f"probe.{key}: ")
        yield f"{key} of little", ({"tail": f'[probe]\n{key} = "10 us"'}, None)
    axes = "".join(f'{axis} = {{ key = "{axis}", range = "1 ms..100 s", steps = 1000000 }}\n' for axis in ("duration", "warm_up"))
    yield "axes", ({"tail": f"[sweep.axes]\n{axes}"}, "sweep.axes: 2,000,000 values in all; at most 1,000,000")
    yield "an axis", _axis(100_000, seeds=101)
    for number in (10_000_001, 2**64):
        yield f"{number} seeds", ({"tail": f"[sweep]\nseeds = {number}"}, f"1 cell x {number:,} seeds")
        until = f'[sweep]\nuntil = "ci(jain) < 0.01"\nmost_seeds = {number}'
        yield f"up to {number} seeds", ({"tail": until}, f"1 cell x up to {number:,} seeds")
    yield "a seed", ({"top": f"seed = {2**63}"}, "seed: must be less than")


def _greatest(entry: Algorithm) -> str:
    """The numbers and sizes of an entry of the catalogue at the greatest that each may be, as a table of a scenario."""

    def shown(parameter: Parameter) -> str:
        value = int(parameter.maximum if parameter.maximum is not None else 2**63 - 1)
        return str(value) if parameter.kind == "integer" else f'"{parameter.format(value)}"'

    counted = [parameter for parameter in entry.parameters if parameter.kind in ("integer", "size")]
    return ", ".join([f'name = "{entry.name}"', *(f"{parameter.name} = {shown(parameter)}" for parameter in counted)])


def parameters() -> Iterator[tuple[str, Case]]:
    """What disciplines and congestion controls count; some values contradict each other, so both ends are fine."""
    known = catalogue.load()
    for queue in known.queues:
        yield f"queue {queue.name}", ({"queue": f"{{ {_greatest(queue)} }}"}, "?")
        many = f"count = 1000\nqueue = {{ {_greatest(queue)} }}"
        yield f"queues {queue.name}", ({"senders": many, "sender": "a1"}, "?")
    for control in known.congestion_controls:
        yield f"control {control.name}", ({"tcp": f"{{ {_greatest(control)} }}", "flows": "count = 100000"}, "?")
    settings = [setting for setting in known.stack_settings if setting.kind == "integer" and setting.maximum is not None]
    stack = ", ".join(f"{setting.name} = {int(setting.maximum or 0)}" for setting in settings)
    yield "stack", ({"flows": f"count = 1000\nstack = {{ {stack} }}"}, "?")


FILES = {
    "trace.csv": "time_s,rate_mbit_s\n" + "".join(f"{each / 1e4},1\n" for each in range(20_000)),
    "short.csv": "time_s,rate_mbit_s\n0,1\n0.001,2\n0.002,2\n",
    "sizes.csv": "low,high\n" + 2000 * "1000,2000\n",
}


@pytest.mark.parametrize(
    "cases",
    [counts, lists, samples, *(pytest.param(cases, marks=pytest.mark.long) for cases in (parameters, longest_axis))],
    ids=lambda cases: cases.__name__,
)
def test_counts_take_little(cases: Callable[[], Iterator[tuple[str, Case]]], tmp_path: Path) -> None:
    """Whatever is counted, at its bound and beyond, is accepted or refused in one line, and neither takes a gigabyte.

    A process whose data are limited to that checks each.
    """
    tried = dict(cases())
    asked: list[dict[str, Any]] = []
    for given, _ in tried.values():
        text = given if isinstance(given, str) else SCENARIO.format(**{**USUAL, **given})
        asked.append({"text": text, "files": {name: made for name, made in FILES.items() if name in text}})
    (tmp_path / "cases.json").write_text(json.dumps(asked), encoding="utf-8")
    command = [sys.executable, "-c", CHECK, str(tmp_path / "cases.json"), str(tmp_path), str(ALLOWED)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for (name, (_, refused)), each in zip(tried.items(), found, strict=True):
        said = each["said"]
        assert each["peak"] < ALLOWED, f"{name}: {each}"
        assert each["status"] in {None: (0,), "?": (0, 2)}.get(refused, (2,)), f"{name}: {each}"
        if each["status"] == 2:
            assert said.count("\n") == 1, f"{name}: {said}"
            assert f"s.toml: {'' if refused in (None, '?') else refused}" in said, f"{name}: {said}"
            assert " column " not in said, f"{name}: {said}"
