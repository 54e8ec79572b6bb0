"""How much of what scenarios can say a Linux kernel carries out: keys one by one, the examples, and the scenarios of the docs."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import ROOT, scenario_data
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.plan import plan
from sojourn.errors import InputError
from sojourn.linux.cache import SECCOMP
from sojourn.linux.source import OLDEST
from sojourn.runs import Cell
from sojourn.scenario import from_data

#: The part of a scenario's keys that Linux carries out at least.
LEAST_SHARE = 0.9


def refusal(cell: Cell) -> str | None:
    """Returns the line with which Linux refuses a cell; none if it carries it out."""
    limitations = Limitations()
    try:
        # Programs need a newer kernel than the oldest.
        plan(cell.specification, limitations, version=SECCOMP if cell.scenario.programs else OLDEST)
        limitations.refuse(cell.given)
    except Impossible as problem:
        return str(problem.refused(cell.given))
    except InputError as error:
        return str(error)
    return None


def flow(**keys: Any) -> dict[str, Any]:
    """Keys of an entry of flows."""
    return {"flows": [{"from": "a", "to": "b", "tcp": "cubic", **keys}]}


def link(**keys: Any) -> dict[str, Any]:
    """Keys of the bottleneck."""
    data: dict[str, Any] = scenario_data()
    data["network"]["dumbbell"]["bottleneck"] |= keys
    return {"network": data["network"]}


def listed(**keys: Any) -> dict[str, Any]:
    """Keys of a link of a list."""
    return {"network": {"links": [{"from": "a", "to": "b", "rate": "10 Mbit/s", **keys}]}}


def host(**keys: Any) -> dict[str, Any]:
    """Keys of a dumbbell's host."""
    data: dict[str, Any] = scenario_data()
    data["network"]["dumbbell"]["senders"][0] |= keys
    return {"network": data["network"]}


def change(**keys: Any) -> dict[str, Any]:
    """Keys of a change of the bottleneck."""
    return link(changes=[{"at": "1 s", **({"rate": "5 Mbit/s"} if keys.keys() <= {"every", "spread"} else {}), **keys}])


def program(**keys: Any) -> dict[str, Any]:
    """Keys of a program."""
    return {"programs": [{"at": "a", "run": "true", **keys}]}


POISSON = {"process": "poisson", "rate": 5}
SIZES: dict[str, Any] = {"distribution": "lognormal", "mean": "50 kB", "sigma": 1.2, "least": "1 kB", "most": "1 MB"}
PARETO = {"distribution": "pareto", "shape": 1.2, "least": "4 kB", "most": "10 MB"}
POINTS = {"distribution": "empirical", "name": "web-search"}
VIDEO = {"rule": "bba0", "segment": "1 s"}

#: For each key of the schema, by its table, something that uses it. Tables of sweeps say what is run, not what a run is.
KEYS: dict[str, dict[str, dict[str, Any]]] = {
    "Scenario": {
        "name": {},
        "description": {"description": "text"},
        "seed": {"seed": 3},
        "duration": {"duration": "5 s"},
        "warm_up": {"warm_up": "2 s"},
        "sender_overhead": {"sender_overhead": "1 ms"},
        "stack": {"stack": "linux-6"},
        "network": {},
        "flows": {},
        "programs": {},
        "variables": {**program(run="echo {word}"), "variables": {"word": 5}},
        "probe": {"probe": {}},
    },
    "Aggregation": {
        **{
            name: link(aggregation={name: size})
            for name, size in (("packets", "8 packets"), ("size", "9 kB"), ("header", "40 B"))
        },
        **{name: link(aggregation={name: "1 ms"}) for name in ("airtime", "access", "response")},
        "response_size": link(aggregation={"response_size": "32 B"}),
    },
    "Program": {
        "at": program(),
        "run": program(),
        "name": program(name="nothing"),
        "start": program(start="1 s"),
        "stop": program(stop="1 s"),
        "expect": program(expect="any"),
        "cpu": program(cpu="1 us per system call"),
        "root": program(root="."),
        "environment": program(environment={"A": "b"}),
        "keep": program(keep=["*.qlog"]),
    },
    "Arrivals": {
        "process": flow(size="9 kB", arrivals={"process": "deterministic", "rate": 5}),
        "load": flow(size="9 kB", arrivals={"process": "poisson", "load": 0.3}),
        "rate": flow(size="9 kB", arrivals=POISSON),
        "users": flow(size="9 kB", arrivals={"users": 3, "think": "1 s"}),
        "think": flow(size="9 kB", arrivals={"users": 3, "think": "1 s"}),
        "file": flow(arrivals={"file": "times.csv"}),
    },
    "Both": {
        "queue": link(queue=None, both={"queue": "codel"}),
        "drop": link(both={"drop": {"every": 100}}),
        "loss": link(both={"loss": 0.01}),
        "impairments": link(both={"impairments": {"duplication": 0.01}}),
        "aggregation": link(queue=None, both={"queue": "droptail", "aggregation": {}}),
    },
    "Bottleneck": {
        "rate": {},
        "delay": {},
        "queue": {},
        "both": link(both={"loss": 0.01}),
        "both_queues": link(queue=None, both_queues={"name": "codel"}),
        "device_queue": link(device_queue="10 packets"),
        "drop": link(drop={"every": 100}),
        "loss": link(loss=0.01),
        "impairments": link(impairments={"duplication": 0.01}),
        "aggregation": link(aggregation={}),
        "reverse": link(reverse={"rate": "1 Mbit/s"}),
        "overhead": link(overhead="40 B"),
        "mpu": link(mpu="64 B"),
        "framing": link(framing="atm"),
        "changes": change(rate="5 Mbit/s"),
    },
    "BurstLoss": {
        name: link(impairments={"burst_loss": {"enter": 0.01, "leave": 0.2, "inside": 0.9, "outside": 0.001}})
        for name in ("enter", "leave", "inside", "outside")
    },
    "Change": {
        "at": change(rate="5 Mbit/s"),
        "rate": change(rate="5 Mbit/s"),
        "delay": change(delay="9 ms"),
        "loss": change(loss=0.01),
        "reverse": change(reverse={"loss": 0.01}),
        "every": change(every="2 s"),
        "spread": change(every="2 s", spread="500 ms"),
    },
    "Counts": {
        **{
            name: flow(page={"objects": {**SIZES, "mean": 20, "least": 1, "most": 90}})
            for name in ("distribution", "mean", "sigma", "least", "most")
        },
        "shape": flow(page={"objects": {"distribution": "pareto", "shape": 1.5, "least": 2}}),
        "name": flow(page={"objects": {"distribution": "empirical", "name": "web-objects"}}),
        "file": flow(page={"objects": {"distribution": "empirical", "file": "objects.csv"}}),
    },
    "Drop": {"every": link(drop={"every": 100}), "listed": link(drop={"listed": [5, 17]})},
    "Dumbbell": {"bottleneck": {}, "senders": {}, "receivers": {}},
    "Exchange": {
        "request": flow(exchange={"response": "9 kB", "request": "1 kB"}),
        "response": flow(exchange={"response": SIZES}),
        "count": flow(exchange={"response": "9 kB", "count": 3}),
        "think": flow(exchange={"response": "9 kB", "think": "1 s"}),
    },
    "Flows": {
        "from": {},
        "to": {},
        "count": flow(count=3),
        "tcp": {},
        "start": flow(start="1 s"),
        "start_within": flow(start_within="1 s"),
        "stop": flow(stop="2 s"),
        "size": flow(size="90 kB"),
        "arrivals": flow(size="9 kB", arrivals=POISSON),
        "exchange": flow(exchange={"response": "9 kB"}),
        "page": flow(page={"objects": 3}),
        "vectors": flow(vectors="tmix"),
        "video": flow(video=VIDEO),
        "periodic": flow(periodic={"size": "2 kB", "every": "1 s"}),
        "both_ways": flow(both_ways=True),
        "group": flow(group="downloads"),
        "dscp": flow(dscp="EF"),
        "stack": flow(stack="linux-6"),
    },
    "Group": {
        name: {"network": {"hosts": [{"name": "a", "count": 3}], "links": [{"from": "a", "to": "b", "rate": "10 Mbit/s"}]}}
        for name in ("name", "count")
    },
    "Host": {
        "name": {},
        "count": host(count=3),
        "rate": {},
        "delay": host(count=3, delay={"range": "5 ms..50 ms"}),
        "queue": host(queue="codel"),
        "device_queue": host(queue="codel", device_queue="10 packets"),
    },
    "Impairments": {
        "policer": link(impairments={"policer": {"rate": "5 Mbit/s", "burst": "50 KiB"}}),
        "burst_loss": link(impairments={"burst_loss": {"enter": 0.01, "leave": 0.2}}),
        "bit_error_ratio": link(impairments={"bit_error_ratio": 1e-7}),
        "duplication": link(impairments={"duplication": 0.01}),
        "jitter": link(impairments={"jitter": {"mean": "2 ms"}}),
        "slot": link(impairments={"slot": "5 ms"}),
    },
    "Jitter": {
        "mean": link(impairments={"jitter": {"mean": "2 ms"}}),
        "distribution": link(impairments={"jitter": {"mean": "2 ms", "distribution": "exponential"}}),
        "reorders": link(impairments={"jitter": {"mean": "2 ms", "reorders": True}}),
    },
    "Link": {
        "from": listed(),
        "to": listed(),
        "rate": listed(rate={"trace": "rate.csv"}),
        "delay": listed(delay="9 ms"),
        "queue": listed(queue="codel"),
        "both": listed(both={"queue": "codel"}),
        "both_queues": listed(both_queues="codel"),
        "device_queue": listed(queue="codel", device_queue="10 packets"),
        "drop": listed(drop={"every": 100}),
        "loss": listed(loss=0.01),
        "impairments": listed(impairments={"duplication": 0.01}),
        "aggregation": listed(queue="droptail", aggregation={}),
        "reverse": listed(reverse={"rate": "1 Mbit/s"}),
        "overhead": listed(overhead="40 B"),
        "mpu": listed(mpu="64 B"),
        "framing": listed(framing="ptm"),
        "changes": listed(changes=[{"at": "1 s", "rate": "5 Mbit/s"}]),
        "one_way": {
            "network": {
                "links": [{"from": one, "to": other, "rate": "10 Mbit/s", "one_way": True} for one, other in ("ab", "ba")]
            }
        },
    },
    "Network": {
        "dumbbell": {},
        "links": listed(),
        "hosts": {"network": {"hosts": [{"name": "a", "count": 3}], "links": [{"from": "a", "to": "b", "rate": "10 Mbit/s"}]}},
    },
    "Page": {
        "objects": flow(page={"objects": 3}),
        "request": flow(page={"objects": 3, "request": "1 kB"}),
        "first": flow(page={"objects": 3, "first": "9 kB"}),
        "size": flow(page={"objects": 3, "size": SIZES}),
        "connections": flow(page={"objects": 3, "connections": 2}),
        "multiplexed": flow(page={"objects": 3, "multiplexed": True}),
        "interleaved": flow(page={"objects": 3, "multiplexed": True, "interleaved": True}),
        "frame": flow(page={"objects": 3, "multiplexed": True, "interleaved": True, "frame": "4 KiB"}),
    },
    "Periodic": {
        "size": flow(periodic={"size": "2 kB", "every": "1 s"}),
        "every": flow(periodic={"size": SIZES, "every": "1 s"}),
        "rate": flow(periodic={"size": "1448 B", "rate": "3 Mbit/s"}),
    },
    "Policer": {name: link(impairments={"policer": {"rate": "5 Mbit/s", "burst": "50 KiB"}}) for name in ("rate", "burst")},
    "Probe": {
        "queue_statistics": {"probe": {"queue_statistics": False}},
        "queue_series": {"probe": {"queue_series": "100 ms"}},
        "flow_series": {"probe": {"flow_series": "100 ms"}},
        "queue_state": {"probe": {"queue_series": "100 ms", "queue_state": True}},
        "flow_state": {"probe": {"flow_series": "100 ms", "flow_state": True}},
    },
    "Reverse": {
        "rate": link(reverse={"rate": "1 Mbit/s"}),
        "delay": link(reverse={"delay": "9 ms"}),
        "queue": link(reverse={"queue": "codel"}),
        "drop": link(reverse={"drop": {"every": 100}}),
        "loss": link(reverse={"loss": 0.01}),
        "impairments": link(reverse={"impairments": {"duplication": 0.01}}),
        "aggregation": link(reverse={"queue": "droptail", "aggregation": {}}),
    },
    "ReverseChange": {
        "rate": link(reverse={"rate": "1 Mbit/s"}, changes=[{"at": "1 s", "reverse": {"rate": "2 Mbit/s"}}]),
        "delay": link(reverse={"delay": "9 ms"}, changes=[{"at": "1 s", "reverse": {"delay": "2 ms"}}]),
        "loss": change(reverse={"loss": 0.01}),
    },
    "Sizes": {
        **{name: flow(size=SIZES, arrivals=POISSON) for name in ("distribution", "mean", "sigma", "least", "most")},
        "shape": flow(size=PARETO, arrivals=POISSON),
        "name": flow(size=POINTS, arrivals=POISSON),
        "file": flow(size={"distribution": "empirical", "file": "sizes.csv"}, arrivals=POISSON),
    },
    "Video": {
        "rule": flow(video={"rule": "bola"}),
        "ladder": flow(video={**VIDEO, "ladder": ["1 Mbit/s", "2 Mbit/s"]}),
        "sizes": flow(video={"rule": "bba1", "segment": "500 ms", "sizes": "segments.csv"}),
        "segment": flow(video=VIDEO),
        "buffer": flow(video={**VIDEO, "buffer": "9 s"}),
        "start_after": flow(video={**VIDEO, "start_after": "2 s"}),
        "length": flow(video={**VIDEO, "length": "9 s"}),
        "reservoir": flow(video={**VIDEO, "reservoir": "9 s"}),
        "cushion": flow(video={**VIDEO, "cushion": "30 s"}),
    },
}

#: Files that these name.
FILES = {
    "times.csv": "time_s,bytes\n0.1,20000\n0.3,50000\n",
    "tmix": "S 100000 2 0 1\nI 0 0 300\nA 0 1000 30000\n",
    "objects.csv": "objects,probability\n5,0.5\n9,1\n",
    "sizes.csv": "bytes,probability\n5000,0.5\n9000,1\n",
    "segments.csv": "low,high\n20000,40000\n50000,90000\n",
    "rate.csv": "time_s,rate_mbit_s\n0,5\n1,9\n2,5\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with the files."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_all_keys_are_tried() -> None:
    """There is something for each key of the schema, but those of sweeps, searches, ranges and episodes."""
    schema = json.loads((ROOT / "docs/scenario.schema.json").read_text())
    tables = {"Scenario": schema, **schema["$defs"]}
    keys = {name: set(table["properties"]) for name, table in tables.items() if "properties" in table}
    keys["Scenario"] -= {"sweep", "search", "range", "environment"}
    of_sweeps = ("Sweep", "Override", "Draw", "Drawn", "Searched", "Entry", "Ranged")
    assert {name: set(listed) for name, listed in KEYS.items()} == {name: keys[name] for name in keys if name not in of_sweeps}


def test_most_keys_are_carried_out(folder: Path) -> None:
    """Of a scenario's keys Linux carries out most."""
    refused = {}
    for table, keys in KEYS.items():
        for name, data in keys.items():
            asked = from_data({**scenario_data(), **json.loads(json.dumps(data), object_hook=given)}, "test", folder)
            if line := refusal(Cell({}, asked)):
                refused[f"{table}.{name}"] = line
    total = sum(map(len, KEYS.values()))
    assert 1 - len(refused) / total >= LEAST_SHARE, refused


def given(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table without what is None."""
    return {name: value for name, value in table.items() if value is not None}


#: A row of the table of docs/linux.md: where a scenario is, and the line that refuses it.
ROW = re.compile(r"^\| `(?P<place>[^`]*)` \| `(?P<line>[^`]*)` \|$", re.MULTILINE)


def told() -> dict[str, str]:
    """The refused scenarios of docs/linux.md, each with its line."""
    section = (ROOT / "docs/linux.md").read_text().partition("### Refused examples")[2].partition("\n## ")[0]
    return {row["place"]: row["line"] for row in ROW.finditer(section)}


def blocks(page: Path) -> Iterator[dict[str, Any]]:
    """The blocks of a page that are TOML."""
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", page.read_text(), re.MULTILINE):
        try:
            yield tomllib.loads("\n".join(line[4:] for line in block.split("\n")))
        except tomllib.TOMLDecodeError:
            continue


def names(entries: list[dict[str, Any]], key: str) -> list[str]:
    """The hosts that entries name."""
    found = (each[key] for each in entries)
    return [*dict.fromkeys(name for each in found for name in (each if isinstance(each, list) else [each]))]


def completed(block: dict[str, Any]) -> dict[str, Any] | None:
    """A block with what it lacks of a scenario; none if it is of something else."""
    data = scenario_data(name="block")
    if "name" in block and "network" in block:
        return block
    if "tcp" in block:
        return {**data, **flow(**block)}
    if "stack" in block or "probe" in block:
        return {**data, **block}
    if "changes" in block:
        return {**data, "duration": "45 s", **link(**block)}
    if "flows" in block and "name" not in block:
        entries = [each for each in block["flows"] if "from" in each]
        dumbbell = {**data["network"]["dumbbell"]}
        dumbbell["senders"] = [{"name": name, "rate": "1 Gbit/s", "delay": "1 ms"} for name in names(entries, "from")]
        dumbbell["receivers"] = [{"name": name, "rate": "1 Gbit/s", "delay": "1 ms"} for name in names(entries, "to")]
        return {**data, "network": {"dumbbell": dumbbell}, "flows": entries} if entries else None
    if "links" in block:
        block = {"network": {"links": block["links"]}}
    if "network" not in block:
        return None
    network = block["network"]
    if "bottleneck" in network.get("dumbbell", {}) and "senders" in network["dumbbell"]:
        one, other = (network["dumbbell"][side][0]["name"] for side in ("senders", "receivers"))
    else:
        one, other = network["links"][0]["from"], network["links"][-1]["to"]
    return {**data, **block, "flows": [{"from": one, "to": other, "tcp": "cubic"}]}


def scenarios() -> Iterator[tuple[str, Path | dict[str, Any]]]:
    """All examples, and the scenarios of README and docs and parts of such, each with where it is."""
    for path in sorted((ROOT / "examples").glob("*.toml")):
        yield f"examples/{path.name}", path
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for number, block in enumerate(blocks(page), 1):
            data = completed(block)
            if data is not None:
                yield f"{page.relative_to(ROOT)}, block {number}", data


def test_docs_have_scenarios() -> None:
    """The pages' blocks are found."""
    places = [place for place, _ in scenarios()]
    assert sum(place.startswith("docs/scenarios.md") for place in places) >= 12
    assert any(place.startswith("README.md") for place in places)


def test_refusals_are_told() -> None:
    """Each example and each scenario of the docs runs on Linux, or docs/linux.md has the line that refuses it."""
    found = {}
    for place, asked in scenarios():
        try:
            cells = list(sojourn.expand(asked).cells())
        except InputError as error:
            if re.search("mine|No such file|unknown|missing key", str(error)):
                continue  # names that the reader is to choose, and files of their own
            raise
        lines = filter(None, map(refusal, cells))
        if line := next(lines, None):
            found[place] = line
    assert told() == found
