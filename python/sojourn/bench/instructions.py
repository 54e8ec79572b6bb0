"""Instructions for each delivered data packet, in cells that stand for what the engine does."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from sojourn.bench import callgrind, piotrowska, queues, speed
from sojourn.bench.dumbbell import dumbbell
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.specification import RunSpecification, specify

#: Calls in one process that is timed: a short run's first call mostly loads the engine's pages.
CALLS = 5

#: How one asks for this part.
OPTION = "--only instructions"

#: What makes the run of a cell, for this simulated time of a data-centre cell.
Specification = Callable[[float], RunSpecification]


@dataclass(frozen=True)
class Cell:
    """A cell whose instructions are counted."""

    name: str
    #: Instructions a packet, at most: what version 0.1.0 took, built by rustc 1.95, rounded up to tens, or less.
    target: int
    specification: Specification


def _of_study(scenario: str, load: str, tcp: str, queue: str) -> Specification:
    """A cell of the study piotrowska."""
    axes = {"scenario": scenario, "load": load, "tcp": tcp, "queue": queue}
    return lambda seconds: piotrowska.specification(axes, seconds)


def _of_linux(seconds: float) -> RunSpecification:
    """A cell of the study piotrowska with Linux's stack and its FQ-CoDel."""
    axes = {"scenario": "AL", "load": "MC", "tcp": "cubic", "queue": "codel"}
    changes = {"stack.profile": "linux-6", "flows.*.tcp.rules": "linux"}
    return queues.queued(piotrowska.specification(axes, seconds, changes), "fq_codel")


def _gigabit(flows: Mapping[str, Any]) -> Specification:
    """A link of 1 Gbit/s with a drop-tail queue and a round trip of 10 ms, for New Reno."""
    bottleneck = {"rate": "1 Gbit/s", "delay": "5 ms", "queue": {"name": "droptail", "limit": "1000 packets"}}
    return lambda seconds: specify(dumbbell("gigabit", f"{seconds * 1e3:.0f} ms", bottleneck, flows), 1)


CELLS = [
    Cell("data centre, 9 New Reno, DropTail", 2610, _of_study("DC", "UC", "newreno", "droptail")),
    Cell("data centre, 900 New Reno, PIE", 3170, _of_study("DC", "HC", "newreno", "pie")),
    Cell("access link, 900 Compound, DropTail", 3160, _of_study("AL", "HC", "compound", "droptail")),
    # Version 0.1.0 took 3780 for less than what this does now.
    Cell("access link, 90 CUBIC, RACK, FQ-CoDel", 3600, _of_linux),
    Cell("1 Gbit/s, 90 New Reno", 2820, _gigabit({"count": 90})),
    Cell(
        # A transfer of 50 kB is 35 packets, and a handshake; the target is one and a half times the cell before.
        "1 Gbit/s, transfers of 50 kB at a load of 0.8",
        4230,
        _gigabit({"size": "50 kB", "arrivals": {"process": "poisson", "load": 0.8}}),
    ),
]


def measure(extent: Extent, notify: Notify) -> Part:
    """Counts the instructions of each cell, and times it."""
    callgrind.check(OPTION)
    runs = {cell: cell.specification(extent.seconds) for cell in CELLS}
    rows: list[Row] = []
    measurements: list[Measurement] = []
    for cell, (packets, count) in counts(runs, notify).items():
        notify(f"instructions: {cell.name}, speed")
        each = count / packets
        timings = [speed.timed(runs[cell], CALLS) for _ in range(extent.repeat)]
        rows.append(
            {
                "cell": cell.name,
                "data_packets": packets,
                "instructions": count,
                **speed.columns(runs[cell], timings, replace(extent, instructions=False)),
                "instructions_a_packet": each,
                "reference": cell.target,
                "change_percent": 100 * (each / cell.target - 1),
            }
        )
        measurements.append(Measurement(cell.name, each, "a packet", Target("at most", cell.target)))
    return Part(
        title="Instructions for each delivered data packet",
        method=(
            "callgrind's count of a process that makes the run twice, less that of one that makes it once. Python's start is "
            "left out. The targets are the counts of version 0.1.0."
        ),
        measurements=measurements,
        rows=rows,
    )


def counts(runs: Mapping[Cell, RunSpecification], notify: Notify) -> dict[Cell, tuple[int, int]]:
    """Delivered data packets and instructions of one run of each cell; as many are counted at a time as there are cores."""

    def counted(cell: Cell) -> tuple[int, int]:
        notify(f"instructions: {cell.name}")
        return callgrind.one_run(runs[cell])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(runs, pool.map(counted, runs), strict=True))
