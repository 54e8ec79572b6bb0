"""Startup: what a run costs that is hardly more than its beginning and its end."""

import statistics

from sojourn.bench import piotrowska, process
from sojourn.bench.figures import Extent, Figure, Notify, Part, Target
from sojourn.specification import RunSpecification
from sojourn.units import PICOSECONDS

CELL = {"scenario": "DC", "load": "UC", "tcp": "newreno", "queue": "droptail"}

#: Calls in one process, the first of which is not counted: it loads the engine's pages.
CALLS = 201

MILLISECOND = PICOSECONDS // 1000


def measure(extent: Extent, notify: Notify) -> Part:
    """Times calls of ``_engine.run`` on a specification's text, one after the other in one process.

    Raises:
        RunFailed: the run failed.
    """
    notify("startup")
    measured = process.measure(specification(), max(2, round(CALLS * min(1.0, extent.scale))))
    wall = statistics.median(measured.wall_seconds[1:]) * 1e3
    cpu = statistics.median(measured.cpu_seconds[1:]) * 1e3
    return Part(
        name="startup",
        title="Startup: 9 flows for 10 simulated ms, starts within 1 ms",
        method=f"Medians of {len(measured.cpu_seconds) - 1} calls in one process, after one that is not counted.",
        figures=[
            Figure("wall time of a call", wall, "ms", Target("below", 2.0)),
            Figure("CPU time of a call", cpu, "ms", Target("below", 2.0)),
        ],
        measurements=[
            {
                "calls": len(measured.cpu_seconds) - 1,
                "data_packets": measured.data_packets,
                "wall_milliseconds": wall,
                "cpu_milliseconds": cpu,
                "first_call_wall_milliseconds": measured.wall_seconds[0] * 1e3,
            }
        ],
    )


def specification() -> RunSpecification:
    """The data centre with 9 flows, for 10 ms."""
    cell = piotrowska.specification(CELL, 0.01)
    return {**cell, "flows": [{**group, "start_within": MILLISECOND} for group in cell["flows"]]}
