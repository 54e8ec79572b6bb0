"""Campaigns: the cost of everything but simulating, and the speed of two workers relative to one.

The CPU time of everything but simulating is that of the whole process, from checking the cells to writing the Parquet files, less
what the worker threads spend in calls of the engine. Both come from the same runs at the same time, so that changes of the
machine's speed do not matter.
"""

import statistics
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from sojourn import _engine, backends, specification
from sojourn.backends.result import RunResult
from sojourn.backends.simulator import result_of
from sojourn.bench.dumbbell import dumbbell
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Target
from sojourn.campaign import Campaign, Plan, plan
from sojourn.campaign import run as run_campaign
from sojourn.runs import Cell
from sojourn.specification import RunSpecification
from sojourn.store import Store

#: Simulated seconds of runs that take about 10 ms and 1 s of CPU time, and the number of runs.
SHORT, SHORT_RUNS = 40.0, 2_000
LONG, LONG_RUNS = 4_000.0, 10


@dataclass(frozen=True)
class Took:
    """A campaign, and the seconds that it took: wall time, CPU time of the process, and CPU time in the simulator."""

    runs: int
    simulated_seconds: float
    workers: int
    wall_seconds: float
    cpu_seconds: float
    simulating_cpu_seconds: float

    @property
    def share(self) -> float:
        """The simulator's share of the CPU time."""
        return self.simulating_cpu_seconds / self.cpu_seconds


class Timed:
    """The simulator, with the CPU time of the engine alone, without what makes frames of its columns."""

    def __init__(self) -> None:
        simulator = backends.named(backends.DEFAULT)
        self.identity, self.check, self.cancel = simulator.identity, simulator.check, simulator.cancel
        #: CPU seconds of each run.
        self.seconds: list[float] = []

    def run(self, run: RunSpecification, /) -> RunResult:
        """Makes a run and times it."""
        text = specification.text(run)
        began = time.thread_time()
        tables = _engine.run(text)
        self.seconds.append(time.thread_time() - began)
        return result_of(tables)


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures campaigns of short and of long runs."""
    runs = max(2, round(SHORT_RUNS * extent.scale))
    short = [_campaign(notify, SHORT, runs, 2) for _ in range(extent.repeat)]
    long = [[_campaign(notify, LONG * extent.scale, LONG_RUNS, jobs) for jobs in (1, 2)] for _ in range(extent.repeat)]
    share = statistics.median(took.share for took in short)
    overhead = statistics.median(100 * (1 - two.share) for _, two in long)
    ratio = statistics.median(one.wall_seconds / two.wall_seconds for one, two in long)
    return Part(
        title="Campaigns: cost besides simulating, two workers",
        method=(
            f"{runs} runs of about 10 ms and {LONG_RUNS} of about 1 s, kept in a store; CPU time of the process and, of that, of "
            f"calls of the engine. Medians of {extent.repeat}."
        ),
        measurements=[
            Measurement("short runs: engine's share of CPU time", share, "of all", Target("at least", 0.7)),
            Measurement("runs of 1 s: CPU time besides simulating", overhead, "% of all", Target("below", 3.0)),
            Measurement("two workers: runs a second", ratio, "times one", Target("at least", 1.9)),
        ],
        rows=[asdict(took) for took in (*short, *(took for both in long for took in both))],
    )


def _campaign(notify: Notify, seconds: float, runs: int, jobs: int) -> Took:
    notify(f"campaign: {runs} runs of {seconds:g} simulated seconds, workers: {jobs}")
    timed = Timed()
    with tempfile.TemporaryDirectory() as directory:
        wall, cpu = time.perf_counter(), time.process_time()
        with Store(Path(directory) / "store", create=True) as store:
            run_campaign(_planned(seconds, runs), timed, store, jobs=jobs)
        return Took(runs, seconds, jobs, time.perf_counter() - wall, time.process_time() - cpu, sum(timed.seconds))


def _planned(seconds: float, runs: int) -> Plan:
    """Runs of two New Reno flows through CoDel on 10 Mbit/s that differ in their seeds."""
    scenario = dumbbell(
        "campaign",
        f"{seconds:f} s",
        {"rate": "10 Mbit/s", "delay": "5 ms", "queue": {"name": "codel", "limit": "100 packets"}},
        {"count": 2, "start": "0 s"},
        {"rate": "100 Mbit/s", "delay": "1 ms"},
        sender_overhead="0 s",
    )
    cell = Cell({"rate": "10 Mbit/s", "tcp": "newreno"}, scenario)
    return plan(Campaign.of_cells("bench campaign", [cell], runs), backends.named(backends.DEFAULT))
