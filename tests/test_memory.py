"""How much memory a run takes: what is estimated, what is measured, and what is refused."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import SMALL_TOML, Capture, complaint
from sojourn import _engine, api, backends
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.scenario import Scenario
from sojourn.specification import specify, text

ScenarioFile = Callable[..., Path]

#: 4 GiB: docs/scenarios.md.
MOST_BYTES = 4 * 2**30

NETWORK = "network.dumbbell"
FAST = {f"{NETWORK}.{host}.0.rate": "10 Gbit/s" for host in ("senders", "receivers")}
WIDE = {
    **FAST,
    f"{NETWORK}.bottleneck.rate": "2 Gbit/s",
    "duration": "20 s",
    "stack.send_buffer": "1 GB",
    "stack.receive_buffer": "1 GB",
}
LONG_QUEUE = {f"{NETWORK}.bottleneck.queue": {"name": "droptail", "limit": "200000 packets"}}
UNLIMITED = {f"{NETWORK}.bottleneck.queue": "droptail"}

#: Scenarios whose memory is measured, as changes of the small one: each takes 15 MB to 500 MB, most of them for one thing.
MEASURED: dict[str, dict[str, Any]] = {
    "flows": {"flows.0.count": 50_000, "flows.0.start_within": "100 ms", "duration": "1100 ms"},
    "flows that note segments": {
        "flows.0.count": 20_000,
        "flows.0.tcp": "bbr",
        "flows.0.start_within": "100 ms",
        "duration": "1100 ms",
    },
    "queue series": {"probe.queue_series": "20 us"},
    "flow series": {"probe.flow_series": "50 us"},
    "windows": {
        **WIDE,
        **UNLIMITED,
        f"{NETWORK}.bottleneck.delay": "500 ms",
        f"{NETWORK}.bottleneck.rate": "10 Gbit/s",
        "flows.0.count": 50,
        "stack.send_buffer": "16 MiB",
    },
    "a long queue": {**WIDE, **LONG_QUEUE, f"{NETWORK}.bottleneck.delay": "100 ms"},
    "a long queue and BBR": {**WIDE, **LONG_QUEUE, f"{NETWORK}.bottleneck.delay": "500 ms", "flows.0.tcp": "bbr"},
    "a long queue and RACK": {**WIDE, **LONG_QUEUE, f"{NETWORK}.bottleneck.delay": "100 ms", "stack.recovery": "rack"},
    "an unlimited queue": {
        **WIDE,
        **UNLIMITED,
        f"{NETWORK}.bottleneck.rate": "500 Mbit/s",
        "duration": "20 s",
        "flows.0.tcp": "cubic",
    },
    "an unanswered source": {
        **FAST,
        **UNLIMITED,
        "duration": "10 s",
        "flows.0.tcp": {"name": "cbr", "rate": "200 Mbit/s", "packet_size": "500 B"},
    },
}

#: What is measured in every test run; the others are long.
QUICK = "an unanswered source"

#: Prints by how much a run and the storing of its result raise a process's peak resident set, in bytes. That of getrusage may be
#: the parent's, which the process began with.
MEASURE = """
import json, sys, tempfile
from pathlib import Path
import sojourn

def run(changes):
    with tempfile.TemporaryDirectory() as directory:
        sojourn.run(sys.argv[1], changes=changes, out=directory, jobs=1)
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024

before = run({"duration": "2 s", "probe.queue_series": "1 s", "probe.flow_series": "1 s"})
print(run(json.loads(sys.argv[2])) - before)
"""


def cases() -> list[Any]:
    return [pytest.param(name, id=name, marks=() if name == QUICK else pytest.mark.long) for name in MEASURED]


@pytest.mark.parametrize("name", cases())
def test_estimate_bounds_measured_peak(name: str, scenario_file: ScenarioFile) -> None:
    """The estimate is no less than the measured peak of making and storing a run, and no more than eight times that.

    How much memory libraries have in use at once depends on the timing of their threads: of one case, 75 to 101 MB were seen.
    """
    path, changes = scenario_file(), MEASURED[name]
    (cell,) = api.campaign(path, changes=changes).cells()
    estimate = _engine.memory(text(cell.specification))
    command = [sys.executable, "-c", MEASURE, str(path), json.dumps(changes)]
    measured = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert measured > 10e6, f"{name} takes {measured} bytes, too little to measure"
    assert measured <= estimate <= 8 * measured, f"{name}: {estimate} bytes estimated, {measured} measured"


TOO_LARGE = {
    "queue series": ({"probe.queue_series": "1 ps"}, "probe.queue_series: every 1 ps for 4 s makes 4.0e12 samples of 1 queue, "),
    "flow series": ({"probe.flow_series": "1 us"}, "probe.flow_series: every 1 us for 4 s makes 4,000,000 samples of 2 flows, "),
    "flows": ({"flows.0.count": 10**9}, "flows[0].count (a-b): 1,000,000,000 flows, "),
    "flows beyond 32 bits": ({"flows.0.count": 10**10}, "flows[0].count (a-b): 10,000,000,000 flows, "),
    "first windows": (
        {"flows.0.count": 1000, "stack.initial_window": 10**6, "stack.segment_size": "1 B", **UNLIMITED},
        "link right -> left: ",
    ),
    "wires": (
        {**WIDE, **UNLIMITED, "flows.0.count": 500, f"{NETWORK}.bottleneck.delay": "500 s", "duration": "5000 s"},
        "link left -> right: ",
    ),
    "unanswered": (
        {**UNLIMITED, "duration": "100 s", "flows.0.tcp": {"name": "cbr", "rate": "10 Gbit/s", "packet_size": "100 B"}},
        "link left -> right: ",
    ),
}


@pytest.mark.parametrize(("changes", "reason"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_too_large_run_is_refused(changes: dict[str, Any], reason: str, scenario_file: ScenarioFile) -> None:
    """A run that would take more than 4 GiB is one line with the key and the figure before anything runs, and exit status 2."""
    path = scenario_file()
    with pytest.raises(InputError) as caught:
        api.single_run(path, changes=changes)
    line = str(caught.value)
    assert line.startswith(f"{path}: {reason}"), line
    assert line.endswith(" of memory; a run may take 4 GiB")


def test_too_large_cell_is_named(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """One value of an axis that is too large refuses the campaign with the cell's name before any run."""
    path = scenario_file()
    path.write_text(SMALL_TOML + '[sweep.axes]\n"flows.0.count" = [1, 1000000000]\n', encoding="utf-8")
    assert status(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    assert f"{path}: cell flows.0.count=1000000000: flows[0].count (a-b): 1,000,000,000 flows" in complaint(capsys)
    assert not (tmp_path / "out").exists()


def test_estimate_grows_with_causes(scenario: Callable[..., Scenario]) -> None:
    """A million flows, a million samples and the longest device queue are no reason to refuse a run."""

    def estimate(**changes: Any) -> int:
        return _engine.memory(text(specify(scenario(**changes), seed=1)))

    flows = [{"from": "a", "to": "b", "count": 10**6, "tcp": "newreno"}]
    assert estimate() < estimate(flows=flows) < MOST_BYTES
    assert estimate() < estimate(probe={"queue_series": "4 us"}) < MOST_BYTES


class PanicException(BaseException):
    """What a panic in Rust arrives as."""


def test_panic_ends_one_run(scenario_file: ScenarioFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """A panic or want of memory in a run is its line with cell and seed; the others are kept, and only it is tried again."""
    whole, tried = _engine.run, list[int]()
    failing: dict[int, BaseException] = {2: PanicException("index out of bounds"), 3: MemoryError()}

    def engine(specification: str, cancellation: Any = None) -> Any:
        tried.append(json.loads(specification)["seed"])
        if tried[-1] in failing:
            raise failing[tried[-1]]
        return whole(specification, cancellation)

    def several(*_: Any) -> Any:
        raise PanicException("one of several")

    command = ["run", str(scenario_file()), "--seeds", "4", "--out", str(tmp_path / "out")]
    # Of the simulator as it is imported there.
    monkeypatch.setattr(type(backends.named("simulator")), "check", lambda *_: None)
    with monkeypatch.context() as broken:
        broken.setattr(_engine, "run", engine)
        broken.setattr(_engine, "run_all", several)
        assert status(command) == 1
    lines = capfd.readouterr().err.splitlines()
    assert lines[0].startswith("2 of 4 runs succeeded, 2 failed; ")
    assert lines[1:] == [
        "run small/3: out of memory",
        "sojourn: run small/2: the simulator found a broken invariant: index out of bounds (None) (and 1 more)",
    ]
    assert sojourn.open(tmp_path / "out").runs["seed"].to_list() == [1, 4]
    failing.clear()
    tried.clear()
    with monkeypatch.context() as mended:
        mended.setattr(_engine, "run", engine)
        mended.setattr(_engine, "run_all", several)
        assert status(command) == 0
    assert sorted(tried) == [2, 3]
