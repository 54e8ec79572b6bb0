"""Short run: the cost of a run that is hardly more than its beginning and its end."""

import statistics

from sojourn.bench import piotrowska, process
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Target
from sojourn.specification import RunSpecification
from sojourn.units import PICOSECONDS

#: Calls in one process. The first is not counted: it loads the engine's pages.
CALLS = 201

MILLISECOND = PICOSECONDS // 1000


def measure(extent: Extent, notify: Notify) -> Part:
    """Times calls of ``_engine.run`` on a specification's text, one after the other in one process."""
    notify("short run")
    execution = process.measure(specification(), max(2, round(CALLS * min(1.0, extent.scale))))
    wall = statistics.median(execution.wall_seconds[1:]) * 1e3
    cpu = statistics.median(execution.cpu_seconds[1:]) * 1e3
    calls = len(execution.cpu_seconds) - 1
    return Part(
        title="Short run: 9 flows for 10 simulated ms, starts within 1 ms",
        method=f"Medians of {calls} calls of the engine in one process, after one that is not counted.",
        measurements=[
            Measurement("wall time of a call", wall, "ms", Target("below", 2.0)),
            Measurement("CPU time of a call", cpu, "ms", Target("below", 2.0)),
        ],
        rows=[
            {
                "calls": calls,
                "data_packets": execution.data_packets,
                "wall_milliseconds": wall,
                "cpu_milliseconds": cpu,
                "first_call_wall_milliseconds": execution.wall_seconds[0] * 1e3,
            }
        ],
    )


def specification() -> RunSpecification:
    """The data centre with 9 flows, for 10 ms."""
    cell = piotrowska.specification(piotrowska.FEW_FLOWS, 0.01)
    return {**cell, "flows": [{**group, "start_within": MILLISECOND} for group in cell["flows"]]}
