"""Speed of a run, and what says beside it whether the machine or the engine has changed.

A bare event loop is timed right after each process, since a machine's speed may change from one minute to the next. Steps of the
event loop and instructions do not depend on the machine.
"""

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from sojourn import _engine
from sojourn.bench import callgrind, process, yardstick
from sojourn.bench.measurements import Extent, Measurement, Notify, Row, Target
from sojourn.plugins.loading import Loaded
from sojourn.specification import RunSpecification, text

#: More than any run lasts or takes.
END = 2**63


@dataclass(frozen=True)
class Timed:
    """Calls of a run in a process of its own, and what the bare loop delivered then for each CPU second."""

    execution: process.Execution
    bare_loop: float

    @property
    def share(self) -> float:
        """The run's speed as a share of the bare loop's."""
        return 1 / self.execution.cost / self.bare_loop


def timed(specification: RunSpecification, calls: int = 1) -> Timed:
    """Times a number of calls of the engine, then the bare loop."""
    return Timed(process.measure(specification, calls), yardstick.bare_loop(1))


def columns(specification: RunSpecification, timings: Sequence[Timed], extent: Extent) -> Row:
    """What rows of speed say of a run; speed and share are medians of its timings."""
    packets = timings[0].execution.data_packets
    return {
        "packets_per_cpu_second": 1 / statistics.median(each.execution.cost for each in timings),
        "share_of_bare_loop": statistics.median(each.share for each in timings),
        **{name: count / packets for name, count in _counts(text(specification), extent.instructions).items()},
    }


@cache
def _counts(run: str, instructions: bool) -> dict[str, int]:
    """What is counted of a run, once for all rows that time it."""
    counts = {"steps_a_packet": steps(run)}
    if instructions:
        counts["instructions_a_packet"] = callgrind.one_run(json.loads(run))[1]
    return counts


def steps(run: str, plugins: Sequence[Loaded] = ()) -> int:
    """How many steps of the event loop a run takes, by its specification's text: it is made once more for that."""
    stepping = _engine.Stepping(run, plugins)
    stepping.advance(END, END)
    return stepping.steps


def relative(run: RunSpecification, reference: RunSpecification, name: str, extent: Extent, notify: Notify, what: str) -> Row:
    """What rows of speed say of a run, and first, under this name, its speed as a share of a reference's.

    Speed is delivered data packets for each CPU second, the share the median of ``extent.repeat`` shares, of runs made in turn.
    """
    shares: list[float] = []
    timings: list[Timed] = []
    for turn in range(extent.repeat):
        notify(f"{what}, {turn + 1} of {extent.repeat}")
        base = process.measure(reference)
        timings.append(timed(run))
        shares.append(base.cost / timings[-1].execution.cost)
    return {name: statistics.median(shares), **columns(run, timings, extent)}


def slowest(rows: Iterable[Row], of: str, name: str, unit: str) -> Measurement:
    """The least of the speeds relative to a reference's, which rows have under this name, and what has it."""
    row = min(rows, key=lambda row: row[name])
    return Measurement(f"slowest: {row[of]}", float(row[name]), unit, Target("at least", 0.6))
