"""Comparison with ns-3: the same cells of the study piotrowska in both simulators, in turn, for the same simulated time.

ns-3 runs ``bench/ns3/dumbbell.cpp`` of this repository, compiled against Debian's ``libns3-dev``. Compound is not in ns-3 and is
left out. Two things differ from the study, in both simulators:

- the stack is that of later releases of ns-3, with an initial window of ten segments and PRR, which are 3.37's defaults and make
  it faster than the stack of release 3.30;
- flows start evenly spaced, not at random, so that they start at the same times in both.

The two are not copies of each other: ns-3.37's CUBIC and PIE have details that the study's do not. That they do the same work is
checked by the packets they deliver, which are about as many.

ns-3 can be faster: Debian's build has logging compiled in, and with the study's socket buffers of 16 MiB its lists of segments,
which it walks for every acknowledgement with SACK blocks, grow to thousands after slow start.
"""

import json
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from sojourn.bench import piotrowska, speed
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target, geometric_mean, values
from sojourn.errors import InputError, RunFailed
from sojourn.specification import RunSpecification, flow_count
from sojourn.units import PICOSECONDS

CONTROLS = ["newreno", "cubic"]

#: Shorter than the other parts: ns-3 takes minutes for what takes Sojourn seconds.
STANDARD = Extent(seconds=1.0, repeat=1)

#: Changes to the study, for both simulators.
CHANGES = {"stack.profile": "ns3-3.48"}

#: In a clone; an installed package has no such file.
SOURCE = Path(__file__).parents[3] / "bench" / "ns3" / "dumbbell.cpp"

#: Not from pkg-config, which names libraries that Debian's package of ns-3.37 does not contain.
LIBRARIES = ["core", "network", "internet", "point-to-point", "traffic-control", "applications"]

#: The greatest allowed difference between the packets delivered by both, as a share of the greater count.
TOLERANCE = 0.10

NEEDED = "bench --against ns3: needs Debian's package libns3-dev (ns-3.37) and a C++ compiler"


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures the CPU time of each cell in both, the medians of ``extent.repeat`` processes each."""
    rows: list[Row] = []
    compiler = find_compiler()
    with tempfile.TemporaryDirectory() as directory:
        notify("ns-3: compiling")
        program = build(compiler, Path(directory))
        cells = piotrowska.cells({"tcp": CONTROLS})
        for number, axes in enumerate(cells):
            notify(f"ns-3: {'/'.join(axes.values())}, {number + 1} of {len(cells)}")
            rows.append({**axes, **_compared(program, piotrowska.specification(axes, extent.seconds, CHANGES), extent)})
    ratios = values(rows, "ratio")
    return Part(
        name="ns3",
        title=f"Speed relative to ns-3 in {len(rows)} cells of the study piotrowska, data packets for each CPU second",
        method=(
            f"Runs in turn, medians of {extent.repeat}. ns-3 as Debian builds it, with logging compiled in. CPU time of "
            "Simulator::Run() alone, but of a whole call of Sojourn. Compound is not in ns-3 and is left out."
        ),
        measurements=[
            Measurement("speed, geometric mean", geometric_mean(ratios), "times ns-3's", Target("at least", 100.0)),
            Measurement("speed, least", min(ratios), "times ns-3's"),
            Measurement("speed, greatest", max(ratios), "times ns-3's"),
            Measurement(
                f"packets differ by more than {TOLERANCE:.0%}",
                sum(row["same"] == "no" for row in rows),
                "cells",
                Target("at most", 0),
            ),
        ],
        rows=rows,
    )


def find_compiler() -> str:
    """The path of a C++ compiler that finds ns-3."""
    if not SOURCE.is_file():
        raise InputError("bench --against ns3: needs a clone of Sojourn's repository; an installed package has no bench/ns3")
    compiler = shutil.which("c++")
    if compiler is None or not _has_ns3(compiler):
        raise InputError(NEEDED)
    return compiler


def build(compiler: str, directory: Path) -> Path:
    """Compiles the program into a directory and returns its path."""
    program = directory / "dumbbell"
    command = [compiler, "-std=c++17", "-O2", str(SOURCE), "-o", str(program), *(f"-lns3-{library}" for library in LIBRARIES)]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False)
    if compiled.returncode != 0:
        complaints = [line for line in compiled.stderr.splitlines() if "error" in line or "cannot find" in line]
        raise RunFailed(f"bench --against ns3: {SOURCE.name} does not compile: {''.join(complaints[:1])}")
    return program


def evenly_started(specification: RunSpecification) -> RunSpecification:
    """The same cell, its flows starting evenly spaced over ``start_within``: one of each group, then the next of each.

    The program for ns-3 starts its flows in the same way.
    """
    groups = specification["flows"]
    total = flow_count(specification)
    rounds = range(groups[0]["count"])
    flows = [
        {**group, "count": 1, "start": group["start_within"] * (turn * len(groups) + place) // total, "start_within": 0}
        for turn in rounds
        for place, group in enumerate(groups)
    ]
    return {**specification, "flows": flows}


def arguments(specification: RunSpecification) -> list[str]:
    """The program's arguments for a cell of the study."""
    nodes = specification["nodes"]
    left, right = nodes.index("left"), nodes.index("right")
    links = specification["links"]
    (bottleneck,) = [link for link in links if (link["from"], link["to"]) == (left, right)]
    senders = [link for link in links if link["to"] == left and link["from"] != right]
    receivers = [link for link in links if link["from"] == right and link["to"] != left]
    group, stack = specification["flows"][0], specification["stacks"][0]
    control, discipline = group["source"], bottleneck["queue"]
    values = {
        "tcp": control["name"],
        "queue": discipline["name"],
        "senderRate": f"{senders[0]['rate']}bps",
        "receiverRate": f"{receivers[0]['rate']}bps",
        "bottleneckRate": f"{bottleneck['rate']}bps",
        "senderDelays": ",".join(_nanoseconds(link["delay"]) for link in senders),
        "receiverDelays": ",".join(_nanoseconds(link["delay"]) for link in receivers),
        "bottleneckDelay": _nanoseconds(bottleneck["delay"]),
        "queueLimit": discipline["limit"]["packets"],
        "deviceQueue": bottleneck["device_queue"],
        "hostQueue": senders[0]["queue"]["limit"]["packets"],
        "flowsPerPair": group["count"],
        "segment": stack["segment_size"],
        "buffer": stack["send_buffer"],
        "initialWindow": stack["initial_window"],
        "seconds": specification["duration"] / PICOSECONDS,
        "startWithin": group["start_within"] / PICOSECONDS,
        "seed": specification["seed"],
    }
    times = {name: value for name, value in discipline["parameters"].items() if name in ("target", "interval")}
    values |= {name: _nanoseconds(int(value)) for name, value in times.items()}
    if "beta" in control["parameters"]:
        values["cubicBeta"] = control["parameters"]["beta"]
    return [f"--{name}={value}" for name, value in values.items()]


def simulate(program: Path, specification: RunSpecification) -> tuple[int, float]:
    """Delivered data packets and CPU seconds of ns-3."""
    ended = subprocess.run([str(program), *arguments(specification)], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        complaint = ended.stderr.strip().splitlines() or [f"it ended with status {ended.returncode}"]
        raise RunFailed(f"bench --against ns3: ns-3 failed: {complaint[0]}")
    counted = json.loads(ended.stdout)
    return int(counted["data_packets"]), float(counted["cpu_seconds"])


def _has_ns3(compiler: str) -> bool:
    question = "#if !__has_include(<ns3/core-module.h>)\n#error\n#endif\n"
    command = [compiler, "-std=c++17", "-E", "-x", "c++", "-"]
    return subprocess.run(command, input=question, capture_output=True, text=True, check=False).returncode == 0


def _compared(program: Path, specification: RunSpecification, extent: Extent) -> Row:
    run = evenly_started(specification)
    theirs: list[tuple[int, float]] = []
    ours: list[speed.Timed] = []
    for _ in range(extent.repeat):
        theirs.append(simulate(program, specification))
        ours.append(speed.timed(run))
    packets, ns3_packets = ours[0].execution.data_packets, theirs[0][0]
    if ns3_packets == 0:
        raise RunFailed("bench --against ns3: ns-3 delivered no packet; give more --seconds")
    ns3_speed = ns3_packets / statistics.median(seconds for _, seconds in theirs)
    columns = speed.columns(run, ours, extent)
    return {
        "flows": flow_count(specification),
        "data_packets": packets,
        "ns3_data_packets": ns3_packets,
        "same": "yes" if abs(packets - ns3_packets) <= TOLERANCE * max(packets, ns3_packets) else "no",
        **columns,
        "ns3_packets_per_cpu_second": ns3_speed,
        "ratio": float(columns["packets_per_cpu_second"]) / ns3_speed,
    }


def _nanoseconds(picoseconds: int) -> str:
    """A time as ns-3 reads it, rounded down to its clock's resolution."""
    return f"{picoseconds // 1000}ns"
