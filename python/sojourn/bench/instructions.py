"""Instructions for each delivered data packet, counted by callgrind.

Counts do not vary with the machine's load as seconds do, so that a change of a per cent shows. They do vary with the compiler.
"""

import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn.bench import piotrowska, process, queues
from sojourn.bench.dumbbell import dumbbell
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.errors import InputError, RunFailed
from sojourn.specification import RunSpecification, specify

NEEDED = "bench --only instructions: needs valgrind (Debian's package valgrind)"

#: The line of a callgrind profile that has the total.
TOTAL = re.compile(r"^summary: (\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A cell of the study piotrowska, perhaps with another stack, congestion control or queue discipline than the study's."""

    name: str
    axes: dict[str, str]
    #: Instructions a packet of version 0.1.0 built by rustc 1.95, rounded up to tens.
    reference: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    queue: str | None = None

    def specification(self, seconds: float) -> RunSpecification:
        """The run, for this simulated time of a data-centre cell."""
        specification = piotrowska.specification(self.axes, seconds, self.changes)
        return specification if self.queue is None else queues.queued(specification, self.queue)


@dataclass(frozen=True)
class Gigabit:
    """A link of 1 Gbit/s with a drop-tail queue and a round trip of 10 ms, for New Reno."""

    name: str
    #: Instructions a packet that are the target.
    reference: int
    #: The flows, besides their hosts and congestion control.
    flows: dict[str, Any]

    def specification(self, seconds: float) -> RunSpecification:
        """The run, for this simulated time."""
        bottleneck = {"rate": "1 Gbit/s", "delay": "5 ms", "queue": {"name": "droptail", "limit": "1000 packets"}}
        return specify(dumbbell(self.name, f"{seconds * 1e3:.0f} ms", bottleneck, self.flows), 1)


CELLS: list[Cell | Gigabit] = [
    Cell(
        "data centre, 9 New Reno, DropTail",
        piotrowska.FEW_FLOWS,
        reference=2610,
    ),
    Cell(
        "data centre, 900 New Reno, PIE",
        {"scenario": "DC", "load": "HC", "tcp": "newreno", "queue": "pie"},
        reference=3170,
    ),
    Cell(
        "access link, 900 Compound, DropTail",
        {"scenario": "AL", "load": "HC", "tcp": "compound", "queue": "droptail"},
        reference=3160,
    ),
    Cell(
        "access link, 90 CUBIC, RACK, FQ-CoDel",
        {"scenario": "AL", "load": "MC", "tcp": "cubic", "queue": "codel"},
        reference=3780,
        changes={"stack.profile": "linux-6", "flows.*.tcp.rules": "linux"},
        queue="fq_codel",
    ),
    Gigabit("1 Gbit/s, 90 New Reno", reference=2820, flows={"count": 90}),
    Gigabit(
        # A transfer of 50 kB is 35 packets, and a handshake; the target is one and a half times the cell before.
        "1 Gbit/s, transfers of 50 kB at a load of 0.8",
        reference=4230,
        flows={"size": "50 kB", "arrivals": {"process": "poisson", "load": 0.8}},
    ),
]


def measure(extent: Extent, notify: Notify) -> Part:
    """Counts the instructions of each cell."""
    program = valgrind()
    if program is None:
        raise InputError(NEEDED)
    rows: list[Row] = []
    measurements: list[Measurement] = []
    for cell in CELLS:
        notify(f"instructions: {cell.name}")
        packets, count = one_run(program, cell.specification(extent.seconds))
        each = count / packets
        rows.append(
            {
                "cell": cell.name,
                "data_packets": packets,
                "instructions": count,
                "instructions_a_packet": each,
                "reference": cell.reference,
                "change_percent": 100 * (each / cell.reference - 1),
            }
        )
        measurements.append(Measurement(cell.name, each, "a packet", Target("at most", cell.reference)))
    return Part(
        name="instructions",
        title="Instructions for each delivered data packet",
        method=(
            "callgrind's count of a process that makes the run twice, less that of one that makes it once. Python's start is "
            "left out. The targets are the counts of version 0.1.0."
        ),
        measurements=measurements,
        rows=rows,
    )


def valgrind() -> str | None:
    """The path of valgrind, if it is installed."""
    return shutil.which("valgrind")


def one_run(program: str, specification: RunSpecification) -> tuple[int, int]:
    """Delivered data packets and instructions of one run; ``program`` is valgrind."""
    once, twice = (counted(program, specification, calls) for calls in (1, 2))
    return once[0], twice[1] - once[1]


def counted(program: str, specification: RunSpecification, calls: int) -> tuple[int, int]:
    """Delivered data packets of a run, and instructions of a process that makes it ``calls`` times."""
    with tempfile.TemporaryDirectory() as directory:
        profile = Path(directory) / "callgrind.out"
        prefix = [program, "--tool=callgrind", "--quiet", f"--callgrind-out-file={profile}"]
        # Python's hashes of strings would differ from process to process, and its instructions with them.
        execution = process.measure(specification, calls, prefix, {"PYTHONHASHSEED": "0"})
        total = TOTAL.search(profile.read_text(encoding="utf-8"))
    if total is None:
        raise RunFailed("bench: callgrind counted no instructions")
    return execution.data_packets, int(total[1])
