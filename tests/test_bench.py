"""The benchmark, made small: what it runs and how its measurements are computed. No test asserts a speed or a time."""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from conftest import Capture, complaint
from doubles import Inventor
from own_files import needs_compiler
from sojourn import _engine, catalogue
from sojourn.backends import simulator
from sojourn.bench import (
    callgrind,
    cells,
    footprint,
    history,
    instructions,
    linux,
    loss,
    machine,
    ns3,
    parts,
    piotrowska,
    process,
    queues,
    scaling,
    short_run,
    speed,
    startup,
    worker,
    yardstick,
)
from sojourn.bench.measurements import Bound, Extent, Measurement, Part, Target, geometric_mean
from sojourn.bench.parts import PARTS
from sojourn.bench.report import Report, tables
from sojourn.cli.commands import status
from sojourn.errors import InputError, RunFailed
from sojourn.specification import RunSpecification, flow_count, text
from sojourn.table import render
from sojourn.units import PICOSECONDS

SMALL = Extent(seconds=0.1, repeat=1)

Measured = Callable[..., dict[str, Any]]


@pytest.fixture
def measured(tmp_path: Path, capsys: Capture) -> Measured:
    """Measures one part with the command line and returns it as in the JSON file."""

    def measure(name: str) -> dict[str, Any]:
        out = tmp_path / "bench.json"
        amount = ["--seconds", str(SMALL.seconds), "--repeat", str(SMALL.repeat)]
        assert status(["bench", "--only", name, *amount, "--out", str(out)]) == 0
        report = json.loads(out.read_text(encoding="utf-8"))
        assert report["format"] == 2
        assert report["extent"] == asdict(SMALL)
        assert report["machine"] == asdict(machine.this()) | {"date": report["machine"]["date"]}
        assert report["machine"]["engine"] == str(simulator.IDENTITY)
        (part,) = report["parts"]
        assert part["name"] == name
        shown = capsys.readouterr().out
        for measurement in part["measurements"]:
            assert measurement["name"] in shown
            assert math.isfinite(measurement["value"])
            target = measurement["target"]
            assert measurement["met"] == (None if target is None else Target(**target).met_by(measurement["value"]))
        found: dict[str, Any] = part
        return found

    return measure


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes runs in this process, since starting one takes longer than a short run, and shortens the yardstick."""

    def measure(specification: RunSpecification, _calls: int = 1) -> process.Execution:
        began = time.process_time()
        frames = _engine.run(text(specification))
        seconds = [time.process_time() - began]
        return process.Execution(**worker.counts(frames), memory_bytes=0, cpu_seconds=seconds, wall_seconds=seconds)

    monkeypatch.setattr(process, "measure", measure)
    monkeypatch.setattr(yardstick, "PACKETS", 1_000)


def value(part: dict[str, Any], name: str) -> float:
    (found,) = [float(measurement["value"]) for measurement in part["measurements"] if measurement["name"] == name]
    return found


@pytest.mark.usefixtures("in_this_process")
def test_cells_of_study(measured: Measured) -> None:
    """The part `cells` runs all cells with a single congestion control, and one without queue statistics."""
    part = measured("cells")
    *rows, without = part["rows"]
    assert [(row["scenario"], row["load"], row["tcp"], row["queue"]) for row in rows] == [
        (scenario, load, tcp, queue)
        for scenario in ("DC", "AL")
        for load in ("UC", "MC", "HC")
        for tcp in ("newreno", "cubic", "compound")
        for queue in ("droptail", "pie", "codel")
    ]
    for row in [*rows, without]:
        assert row["flows"] == {"UC": 9, "MC": 90, "HC": 900}[row["load"]]
        assert row["data_packets"] > 0
        assert row["packets_per_cpu_second"] == pytest.approx(row["data_packets"] / row["cpu_seconds"])
        assert 1 < row["steps_a_packet"] < 10
    assert {row["queue_statistics"] for row in rows} == {"on"}
    assert without["queue_statistics"] == "off"
    speeds = [row["packets_per_cpu_second"] for row in rows]
    assert value(part, "slowest cell") == min(speeds)
    assert value(part, "geometric mean") == pytest.approx(math.prod(speed ** (1 / 54) for speed in speeds))
    assert value(part, "without queue statistics") == without["packets_per_cpu_second"]
    shares = [row["share_of_bare_loop"] for row in rows]
    assert value(part, "slowest cell, share") == min(shares)
    assert value(part, "without queue statistics, share") == without["share_of_bare_loop"]


def test_steps_of_a_run() -> None:
    """Steps are those of the whole run, and hardly more if it is cut: fewer than its events, since hosts run ahead."""
    run = text(piotrowska.specification(piotrowska.FEW_FLOWS, 0.5))
    stepping = _engine.Stepping(run)
    assert stepping.steps == 0
    stepping.advance(4 * PICOSECONDS // 10, 2**63)
    before = stepping.steps
    stepping.advance(PICOSECONDS // 2, 2**63)
    assert 0 < before < stepping.steps
    assert speed.steps(run) == pytest.approx(stepping.steps, rel=0.01)
    assert speed.steps(run) < _engine.run(run)["summary"]["events"]


def test_share_of_bare_loop() -> None:
    """A run that delivers a thousand packets in 2 ms is half as fast as a loop that delivers a million a second."""
    execution = process.Execution(1000, 0, 0, 0, 0, 0, [0.002, 0.001, 0.003], [0.0] * 3)
    assert speed.Timed(execution, 1e6).share == pytest.approx(0.5)


@pytest.mark.usefixtures("in_this_process")
def test_instructions_in_rows_of_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On request, rows of speed have the instructions of their runs, each run counted once."""
    asked: list[int] = []

    def one_run(run: RunSpecification) -> tuple[int, int]:
        asked.append(flow_count(run))
        return 1, 1000 * flow_count(run)

    monkeypatch.setattr(callgrind, "one_run", one_run)
    monkeypatch.setattr(scaling, "LARGE", [scaling.Size(180, 2, 1.0)])
    part = scaling.measure(Extent(seconds=0.2, repeat=2, instructions=True), notify=lambda _: None)
    assert asked == [90, 180]
    for row in part.rows:
        assert row["instructions_a_packet"] == pytest.approx(1000 * int(row["flows"]) / int(row["data_packets"]))


def test_events_of_bare_loop() -> None:
    """A data packet crosses three links, and every second one's ACK three more; packets in flight at the end do not count."""
    assert _engine.bare_loop(9, 10, 100_000) / 100_000 == pytest.approx(4.5, rel=1e-3)


@pytest.mark.usefixtures("in_this_process")
def test_controls_of_catalogue(measured: Measured) -> None:
    """The part `controls` measures every congestion control that receives ACKs or feedback, relative to New Reno, but for pings.

    Each sends there: one whose routers are missing delivers hardly a packet for a second of a CPU, and its row says nothing."""
    part = measured("controls")
    names = {control.name for control in catalogue.load().congestion_controls if not control.one_way}
    assert {row["control"] for row in part["rows"]} == names - {"newreno", "ping"}
    assert min(row["share_of_new_renos_speed"] for row in part["rows"]) > 0.05
    shares = {f"slowest: {row['control']}": row["share_of_new_renos_speed"] for row in part["rows"]}
    ((name, value),) = [(entry["name"], entry["value"]) for entry in part["measurements"]]
    assert value == shares[name] == min(shares.values())


@pytest.mark.usefixtures("in_this_process")
def test_queues_of_catalogue(measured: Measured) -> None:
    """The part `queues` measures every discipline relative to DropTail, and schedulers by the number of flows."""
    part = measured("queues")
    known = {discipline.name: discipline for discipline in catalogue.load().queues}
    shares = {(row["queue"], row["sources"]): row["share_of_droptails_speed"] for row in part["rows"]}
    with_tcp = {name: share for (name, sources), share in shares.items() if sources == "90 New Reno"}
    assert with_tcp.keys() == known.keys() - {"droptail"}
    slowest, *flat = part["measurements"]
    assert slowest["name"] == f"slowest: {min(with_tcp, key=with_tcp.__getitem__)}"
    assert slowest["value"] == min(with_tcp.values())
    schedulers = [name for name, discipline in known.items() if discipline.class_ == "scheduler"]
    assert [entry["value"] for entry in flat] == [shares[name, "10 cbr"] / shares[name, "10000 cbr"] for name in schedulers]


def test_cells_of_instructions() -> None:
    """Instructions are counted for three cells of the study, one with Linux's stack (recovery by RACK) and FQ-CoDel, and two at 1
    Gbit/s: bulk, and transfers whose target is one and a half times that."""
    *study, linux, bulk, transfers = [cell.specification(1) for cell in instructions.CELLS]
    cells = ("DC", "UC", "newreno", "droptail"), ("DC", "HC", "newreno", "pie"), ("AL", "HC", "compound", "droptail")
    for specification, labels in zip(study, cells, strict=True):
        axes = dict(zip(("scenario", "load", "tcp", "queue"), labels, strict=True))
        assert specification == piotrowska.specification(axes, 1)
    assert (flow_count(bulk), transfers["flows"][0]["arrivals"]["process"]) == (90, {"poisson": {"load": 0.8}})
    assert instructions.CELLS[-1].target == 1.5 * instructions.CELLS[-2].target
    assert {stack["recovery"] for stack in linux["stacks"]} == {"rack"}
    assert linux["links"][0]["queue"]["name"] == "fq_codel"
    assert flow_count(linux) == 90


VALGRIND = """#!/bin/sh
# Counts a million instructions of Python's start, and five million for each of the calls, which are the last argument.
out=${3#--callgrind-out-file=}
shift 3
for calls; do :; done
echo "summary: $((1000000 + calls * 5000000))" > "$out"
exec "$@"
"""


def test_instructions_of_one_run(measured: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instructions are those of one run; the start of Python is subtracted."""
    (tmp_path / "valgrind").write_text(VALGRIND, encoding="utf-8")
    (tmp_path / "valgrind").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    part = measured("instructions")
    for row, measurement, cell in zip(part["rows"], part["measurements"], instructions.CELLS, strict=True):
        assert row["instructions"] == 5_000_000
        assert measurement["name"] == cell.name
        assert measurement["value"] == row["instructions_a_packet"] == 5_000_000 / row["data_packets"]
        assert measurement["target"] == {"bound": "at most", "value": cell.target}


@pytest.mark.usefixtures("in_this_process")
def test_history_of_instructions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--history` adds a line for each cell to a file of the repository, of the commit that is checked out."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "--quiet"], [*who, "commit", "--quiet", "--allow-empty", "--message", "first"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    monkeypatch.setattr(callgrind, "valgrind", lambda: "valgrind")
    monkeypatch.setattr(callgrind, "one_run", lambda _: (1000, 2_500_000))
    file = tmp_path / "history.csv"
    words = ["bench", "--only", "instructions", "--seconds", "0.2", "--repeat", "1", "--history", str(file)]
    assert status(words) == status(words) == 0
    lines = history.read(file)
    assert [line.cell for line in lines] == [cell.name for cell in instructions.CELLS]
    assert {(line.seconds, line.instructions_a_packet, line.rustc) for line in lines} == {(0.2, 2500.0, history.compiler())}
    assert all(line.steps_a_packet > 0 and line.share_of_bare_loop > 0 for line in lines)


@pytest.mark.skipif(callgrind.valgrind() is None, reason="valgrind is not installed")
def test_valgrind_counts() -> None:
    """A run takes more instructions than it delivers packets."""
    packets, count = callgrind.counted(short_run.specification(), 1)
    assert 0 < packets < count


def test_without_valgrind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Without valgrind, one line says what is needed, and the other parts are measured."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(linux, "missing", lambda: None)
    assert status(["bench", "--only", "instructions"]) == 2
    line = "bench --only instructions: needs valgrind (Debian's package valgrind)"
    assert complaint(capsys) == f"sojourn: {line}\n"
    assert status(["bench", "--only", "cells", "--instructions"]) == 2
    assert complaint(capsys) == "sojourn: bench --instructions: needs valgrind (Debian's package valgrind)\n"
    messages: list[str] = []
    assert set(PARTS) - set(parts.measurable(messages.append)) == {"instructions"}
    assert messages == [f"{line}; left out"]


def test_without_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Without a Linux kernel, one line says how to build one, and the other parts are measured."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    line = "no Linux kernel is built; `sojourn linux build` makes one"
    assert status(["bench", "--only", "linux"]) == 2
    assert complaint(capsys) == f"sojourn: {line}\n"
    messages: list[str] = []
    assert "linux" not in parts.measurable(messages.append)
    assert f"{line}; left out" in messages


def test_cost_of_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost is that of the seconds which only the longer run has, also as at the known speed of a bare loop."""
    seconds = {1: 0.1, 10: 0.2}

    def spent(_backend: object, run: RunSpecification) -> float:
        return 5 + seconds[run["flows"][0]["count"]] * run["duration"] / PICOSECONDS

    monkeypatch.setattr("sojourn.bench.linux.kernel", Inventor)
    monkeypatch.setattr("sojourn.bench.linux._cpu", spent)
    monkeypatch.setattr("sojourn.bench.yardstick.bare_loop", lambda _: yardstick.KNOWN / 2)
    part = linux.measure(Extent(seconds=1.0, repeat=2), lambda _: None)
    values = [measurement.value for measurement in part.measurements]
    assert values == pytest.approx([0.1, 0.05, 0.2, 0.1])
    assert [measurement.met for measurement in part.measurements] == [None, None, None, True]


@pytest.mark.parametrize("flows", [10, 10_000])
def test_load_of_unresponsive_sources(flows: int) -> None:
    """The sources offer 10 % more than the link's rate, whatever their number."""
    specification = queues.unresponsive("codel", flows, 1)
    (group,) = specification["flows"]
    assert flow_count(specification) == flows
    assert group["source"]["parameters"]["rate"] * flows == pytest.approx(1.1e9, rel=1e-3)
    assert specification["links"][0]["queue"]["name"] == "codel"
    assert specification["links"][0]["queue"]["limit"] == {"packets": 10_000}


def test_statistics_change_no_packet() -> None:
    """A run delivers the same packets whether its queues are measured or not."""
    specification = piotrowska.specification(piotrowska.FEW_FLOWS, 0.5)
    bare = cells.without_statistics(specification)
    assert specification["probe"]["queue_statistics"]
    assert {**bare, "probe": specification["probe"]} == specification
    assert process.measure(bare).data_packets == process.measure(specification).data_packets


@pytest.mark.parametrize(("scenario", "packets_per_second"), [("DC", 1e9 / 12_000), ("AL", 1e8 / 12_000)])
def test_packets_of_both_scenarios(scenario: str, packets_per_second: float) -> None:
    """The bottleneck can send 0.83 million packets of 1500 bytes in the standard benchmark; no flow starts after 3 s."""
    specification = piotrowska.specification({**piotrowska.FEW_FLOWS, "scenario": scenario}, 10)
    assert specification["duration"] / PICOSECONDS * packets_per_second == pytest.approx(833_333, rel=1e-6)
    assert specification["warm_up"] == 0
    assert {flow["start_within"] for flow in specification["flows"]} == {3 * PICOSECONDS}


@pytest.mark.parametrize("size", [scaling.SMALL, *scaling.LARGE], ids=lambda size: str(size.flows))
def test_sizes_of_growth(size: scaling.Size) -> None:
    """Flows, rates and queue limits are those of the cell, multiplied."""
    (cell, derived) = (scaling.derived(scaling.SMALL, 1), scaling.derived(size, 1))
    assert flow_count(derived) == size.flows
    counts = [group["count"] for group in derived["flows"]]
    assert max(counts) - min(counts) <= 1
    assert counts == sorted(counts, reverse=True)
    assert derived["duration"] == size.seconds * PICOSECONDS
    assert {group["start_within"] for group in derived["flows"]} == {round(size.seconds * PICOSECONDS / 3)}
    for ours, link in zip(derived["links"], cell["links"], strict=True):
        assert ours["rate"] == size.factor * 10**9
        assert ours["delay"] == link["delay"]
        assert ours["device_queue"] == size.factor * link["device_queue"]
    limits = [link["queue"]["limit"]["packets"] for link in derived["links"] if link["queue"] is not None]
    assert limits == [900 * size.factor, *[100 * size.factor] * 3]


def test_ratios_of_growth(measured: Measured) -> None:
    """Each large run is compared with the small run before it."""
    part = measured("growth")
    rows = part["rows"]
    assert [row["flows"] for row in rows] == [90, 10_000, 90, 100_000, 90, 1_000]
    for small, large in zip(rows[::2], rows[1::2], strict=True):
        assert small["ratio"] == 1
        assert large["data_packets"] > 0
        assert large["ratio"] == pytest.approx(large["nanoseconds_a_packet"] / small["nanoseconds_a_packet"])
    assert value(part, "10,000 flows on 10 Gbit/s") == rows[1]["ratio"]
    assert value(part, "100,000 flows on 100 Gbit/s") == rows[3]["ratio"]
    assert value(part, "1,000 flows on 100 Gbit/s, delivered") == rows[5]["data_packets"]


def test_loss_burst(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    """One loss episode of ten thousand packets is compared with the same transfer without loss."""
    monkeypatch.setattr(loss, "CALLS", 1)
    part = measured("loss")
    without, burst = part["rows"]
    assert (without["lost"], without["retransmissions"]) == (0, 0)
    assert 8_000 <= burst["lost"] <= 12_000
    assert burst["retransmissions"] >= burst["lost"]
    assert value(part, "packets lost in the burst") == burst["lost"]
    assert (value(part, "loss episodes"), value(part, "timeouts")) == (1, 0)
    assert without["data_packets"] == loss.SEGMENTS
    # Segments that were retransmitted needlessly reach the receiver too.
    needless = burst["retransmissions"] - burst["lost"]
    assert burst["data_packets"] == loss.SEGMENTS + needless
    assert needless <= loss.SEGMENTS / 1000
    ratio = burst["nanoseconds_a_packet"] / without["nanoseconds_a_packet"]
    assert value(part, "cost with a burst of losses") == pytest.approx(ratio)


def test_startup_ratios(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command is measured relative to the imports, and has its own target."""
    commands = [startup.Command("nothing", [startup.PYTHON, "-c", ""], 1.0), startup.COMMANDS[-1]]
    monkeypatch.setattr(startup, "COMMANDS", commands)
    part = measured("startup")
    for row, measurement, command in zip(part["rows"], part["measurements"], commands, strict=True):
        assert row["command"] == measurement["name"] == command.name
        ratio = row["user_cpu_milliseconds"] / row["imports_user_cpu_milliseconds"]
        assert measurement["value"] == row["ratio"] == pytest.approx(ratio)
        assert measurement["target"] == {"bound": "at most", "value": command.target}


def test_failed_command() -> None:
    """A command that fails is not timed."""
    command = startup.Command("wrong", [startup.PYTHON, "-c", "raise SystemExit('please\\nnot today')"], 1.0)
    with pytest.raises(RunFailed, match=r"^bench: wrong failed: not today$"):
        startup.user_seconds(command)


def test_missing_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is the one installed beside this Python, not one found on PATH."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(InputError, match="there is no command sojourn in"):
        startup.sojourn()


def test_short_run(measured: Measured) -> None:
    """The short run has nine flows and ten simulated milliseconds."""
    part = measured("short-run")
    (row,) = part["rows"]
    assert value(part, "wall time of a call") == row["wall_milliseconds"] > 0
    assert value(part, "CPU time of a call") == row["cpu_milliseconds"] > 0
    specification = short_run.specification()
    assert (flow_count(specification), specification["duration"]) == (9, PICOSECONDS // 100)
    assert {group["start_within"] for group in specification["flows"]} == {PICOSECONDS // 1000}


def test_scripts(measured: Measured) -> None:
    """Scripts are counted for each second of CPU time that they took, and all passed."""
    part = measured("packetdrill")
    (row,) = part["rows"]
    assert value(part, "scripts for each CPU second") == pytest.approx(1000 / row["cpu_milliseconds_a_script"])
    assert row["scripts"] > 1


def test_steps_of_environments(measured: Measured) -> None:
    """Steps are counted for each second that they took, on one thread and on two, and a step has the packets of a round trip."""
    part = measured("learning")
    one, two = part["rows"]
    assert (one["threads"], two["threads"]) == (1, 2)
    assert value(part, "steps for each CPU second") == one["steps_a_cpu_second"] > 0
    assert value(part, "speed with two threads") == pytest.approx(two["steps_a_second"] / one["steps_a_second"])
    # 19 Mbit/s of payload for 50 to 100 ms; the first steps of the few have less.
    assert 19e6 * 0.05 / 8 / 1448 * 0.5 < one["packets_a_step"] < 19e6 * 0.1 / 8 / 1448 * 1.1


def test_bytes_per_packet_and_flow(measured: Measured) -> None:
    """Bytes per packet are a mean over counts; bytes per flow are the slope over flows, less its packets."""
    part = measured("memory")
    *packets, fewer, more = part["rows"]
    assert [row["packets_in_flight"] for row in packets] == [10_000, 12_500, 15_000, 17_500, 20_000]
    assert (fewer["flows"], more["flows"]) == (100, 1_100)
    for row in part["rows"]:
        assert row["retransmissions"] == 0
        assert row["memory_bytes"] > 0
    assert more["memory_bytes"] > fewer["memory_bytes"]
    packet = value(part, "a packet in flight")
    assert packet == pytest.approx(sum(row["memory_bytes"] / row["packets_in_flight"] for row in packets) / len(packets))
    slope = (more["memory_bytes"] - fewer["memory_bytes"]) / 1_000
    assert value(part, "a flow without its packets in flight") == pytest.approx(slope - 4 * packet)


@pytest.mark.parametrize(("flows", "window"), [(4, 5_000), (1_000, 4)])
def test_all_packets_in_flight(flows: int, window: int) -> None:
    """300 ms after the start, before the first segment arrives, every segment has been sent."""
    specification: RunSpecification = {**footprint.specification(flows, window), "duration": 3 * PICOSECONDS // 10}
    frames = _engine.run(text(specification))
    assert frames["summary"]["data_packets_delivered"] == 0
    assert frames["flows"]["segments_sent"] == [window] * flows


def test_whole_study(measured: Measured) -> None:
    """The part `study` runs all 72 cells of the study."""
    part = measured("study")
    (row,) = part["rows"]
    assert row["runs"] == 72
    assert row["data_packets"] > 0
    assert value(part, "wall time") == row["wall_seconds"]


@pytest.mark.parametrize(
    ("bound", "met"), [("at least", (False, True, True)), ("at most", (True, True, False)), ("below", (True, False, False))]
)
def test_target_bounds(bound: Bound, met: tuple[bool, ...]) -> None:
    """ "At least" and "at most" include the bound, "below" does not."""
    assert tuple(Target(bound, 2).met_by(value) for value in (1, 2, 3)) == met


def test_numbers_in_80_columns() -> None:
    """A terminal of 80 columns shows every number in full; longer names and units are wrapped."""
    name = "a name of so many words that it has to be wrapped"
    measurement = Measurement(name, 3_999_999, "packets/CPU s", Target("at least", 4e6))
    part = Part(name="cells", title="title", method="method", measurements=[measurement], rows=[{"value": 1}])
    *_, table = tables(Report(machine.this(), SMALL, [part]))
    assert "* 3,999,999 │ ≥ 4,000,000" in render(table, 80)


def test_geometric_mean() -> None:
    """The geometric mean of 2 and 8 is 4."""
    assert geometric_mean([2, 8]) == pytest.approx(4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "nowhere/bench.json"], "no directory nowhere"),
        (["--out", "."], "--out .: a directory; give a file"),
        (["--only", "speed"], "'speed' is not one of cells"),
        (["--against", "ns2"], "'ns2' is not 'ns3'"),
        (["--against", "ns3", "--only", "cells"], "--only cells: cannot be combined with --against ns3"),
        (["--history", "history.csv"], "--history history.csv: needs --only instructions"),
        (["--only", "instructions", "--history", "history.csv"], "--history history.csv: not in a clone of Sojourn's repository"),
        (["--seconds", "0"], "--seconds"),
        (["--repeat", "0"], "--repeat"),
    ],
)
def test_bad_input(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Bad options give one line on standard error, status 2 and no file."""
    monkeypatch.chdir(tmp_path)
    assert status(["bench", *arguments]) == 2
    assert message in complaint(capsys)
    assert list(tmp_path.iterdir()) == []


def test_failed_run() -> None:
    """A run that fails or delivers no packet is a one-line error."""
    specification = piotrowska.specification(piotrowska.FEW_FLOWS, 0.01)
    wrong: RunSpecification = {**specification, "nodes": []}
    with pytest.raises(RunFailed, match=r"^bench: a run failed: [^\n]+$"):
        process.measure(wrong)
    with pytest.raises(RunFailed, match="delivered no packet; give more --seconds"):
        process.measure({**specification, "duration": 1})


@pytest.mark.long
def test_many_runs(measured: Measured) -> None:
    """Every command is measured with the fewer and with four times as many runs, and takes memory and time."""
    rows = measured("many-runs")["rows"]
    assert [(row["runs"], row["command"]) for row in rows] == [
        (runs, command) for runs in (48, 192) for command in ("run", "resume", "query", "report")
    ]
    assert all(row["memory_megabytes"] > 10 and row["cpu_seconds"] > 0 for row in rows)


@pytest.mark.long
def test_large_stores(measured: Measured) -> None:
    """Every command is measured with the smaller and with the ten times larger store."""
    part = measured("large-stores")
    rows = part["rows"]
    fewer, more = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    assert ({row["runs"] for row in fewer}, {row["runs"] for row in more}) == ({1_000}, {10_000})
    assert [row["command"] for row in fewer] == [row["command"] for row in more]
    assert all(row["memory_megabytes"] > 10 and row["cpu_seconds"] > 0 for row in rows)
    assert value(part, "query for one cell") > 0


@needs_compiler
@pytest.mark.usefixtures("own_cache")
def test_own_languages(measured: Measured) -> None:
    """The templates of both languages are run beside New Reno."""
    rows = measured("own")["rows"]
    assert [row["language"] for row in rows] == ["python", "c"]
    assert all(row["share_of_new_renos_speed"] > 0 for row in rows)


def test_part_names() -> None:
    """The parts have the names that `--only` and the documentation use, in this order."""
    names = "cells controls queues own instructions growth loss startup short-run memory packetdrill learning study campaign"
    assert " ".join(PARTS) == f"{names} many-runs large-stores linux"


def test_ns3_arguments() -> None:
    """The arguments of the ns-3 program are those of the cell in study.toml."""
    axes = {"scenario": "AL", "load": "MC", "tcp": "cubic", "queue": "codel"}
    given = dict(argument.removeprefix("--").split("=") for argument in ns3.arguments(piotrowska.specification(axes, 2)))
    assert given == {
        "tcp": "cubic",
        "cubicBeta": "0.8",
        "queue": "codel",
        "target": "5000000ns",
        "interval": "100000000ns",
        "senderRate": "100000000bps",
        "receiverRate": "100000000bps",
        "bottleneckRate": "100000000bps",
        "senderDelays": "0ns,12000000ns,25000000ns",
        "receiverDelays": "2000000ns,37000000ns,75000000ns",
        "bottleneckDelay": "2000000ns",
        "queueLimit": "900",
        "deviceQueue": "100",
        "hostQueue": "100",
        "flowsPerPair": "10",
        "segment": "1448",
        "buffer": str(16 << 20),
        "initialWindow": "1",
        "seconds": "20.0",
        "startWithin": "3.0",
        "seed": "1",
    }


def test_ns3_starts() -> None:
    """Flows start evenly spaced, one of each group in turn."""
    axes = {"scenario": "DC", "load": "MC", "tcp": "cubic", "queue": "codel"}
    cell = piotrowska.specification(axes, 1)
    flows = ns3.evenly_started(cell)["flows"]
    assert [flow["group"] for flow in flows] == [group["group"] for group in cell["flows"]] * 10
    assert [flow["start"] for flow in flows] == [3 * PICOSECONDS // 10 * place // 90 for place in range(90)]
    assert {(flow["count"], flow["start_within"]) for flow in flows} == {(1, 0)}


def test_ns3_program_arguments() -> None:
    """The C++ program declares every argument."""
    source = ns3.SOURCE.read_text(encoding="utf-8")
    for axes in piotrowska.cells({"tcp": ns3.CONTROLS}):
        for argument in ns3.arguments(piotrowska.specification(axes, 1)):
            name = argument.removeprefix("--").partition("=")[0]
            assert f'command.AddValue("{name}"' in source


@pytest.mark.usefixtures("in_this_process")
def test_ns3_packets_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells in which ns-3 delivers other packets are counted: here those of CUBIC, with twice as many."""

    def simulate(_program: Path, specification: RunSpecification) -> tuple[int, float]:
        packets = _engine.run(text(specification))["summary"]["data_packets_delivered"]
        return packets * (2 if specification["flows"][0]["source"]["name"] == "cubic" else 1), 1.0

    monkeypatch.setattr(ns3, "find_compiler", lambda: "c++")
    monkeypatch.setattr(ns3, "build", lambda _compiler, directory: directory / "dumbbell")
    monkeypatch.setattr(ns3, "simulate", simulate)
    part = ns3.measure(Extent(seconds=0.05, repeat=1), notify=lambda _: None)
    assert len(part.rows) == 36
    for row in part.rows:
        assert row["same"] == ("no" if row["tcp"] == "cubic" else "yes")
        assert row["ns3_packets_per_cpu_second"] == row["ns3_data_packets"]
        assert float(row["ratio"]) == pytest.approx(float(row["packets_per_cpu_second"]) / int(row["ns3_data_packets"]))
    measurements = {measurement.name: measurement for measurement in part.measurements}
    assert measurements["speed, geometric mean"].value == pytest.approx(geometric_mean(float(row["ratio"]) for row in part.rows))
    assert measurements["packets differ by more than 10%"].value == 18
    assert measurements["packets differ by more than 10%"].met is False


@pytest.mark.parametrize("compiler", [None, "#!/bin/sh\nexit 1\n"], ids=["no compiler", "no library"])
def test_without_ns3(compiler: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Without a compiler or ns-3's library, one line says what is needed."""
    if compiler is not None:
        (tmp_path / "c++").write_text(compiler, encoding="utf-8")
        (tmp_path / "c++").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert status(["bench", "--against", "ns3"]) == 2
    assert complaint(capsys) == f"sojourn: {ns3.NEEDED}\n"


def test_without_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """An installed package, which lacks the ns-3 program, says that a clone is needed."""
    monkeypatch.setattr(ns3, "SOURCE", tmp_path / "dumbbell.cpp")
    assert status(["bench", "--against", "ns3"]) == 2
    assert "needs a clone of Sojourn's repository" in complaint(capsys)


def test_campaign_shares(measured: Measured) -> None:
    """The engine's CPU time is less than that of the whole process, and measurements are computed from the rows."""
    part = measured("campaign")
    assert [(row["runs"], row["workers"]) for row in part["rows"]] == [(20, 2), (10, 1), (10, 2)]
    for row in part["rows"]:
        assert 0 < row["simulating_cpu_seconds"] < row["cpu_seconds"]
    short, one, two = part["rows"]
    assert value(part, "short runs: engine's share of CPU time") == short["simulating_cpu_seconds"] / short["cpu_seconds"]
    assert value(part, "two workers: runs a second") == one["wall_seconds"] / two["wall_seconds"]
