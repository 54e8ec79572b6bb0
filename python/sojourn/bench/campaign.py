"""Campaigns: the cost of everything but simulating, the speed of two workers relative to one, and queries of a large store.

The CPU time of everything but simulating is that of the whole process, from checking the cells to writing the Parquet files, less
what the worker threads spend in calls of the engine. Both come from the same runs at the same time, so that changes of the
machine's speed do not matter.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sojourn.analysis.frames import NAMES
from sojourn.analysis.records import assemble, of_run
from sojourn.bench import backend
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.campaign import Campaign, Plan, plan
from sojourn.campaign import run as run_campaign
from sojourn.runs import Cell
from sojourn.scenario import from_data
from sojourn.store import Store, parquet, seal
from sojourn.store.query import Stream
from sojourn.store.sql import identifier, literal

#: Simulated seconds of runs that take about 10 ms and 1 s of CPU time, and the number of runs.
SHORT, SHORT_RUNS = 40.0, 2_000
LONG, LONG_RUNS = 4_000.0, 10

#: Runs of the large store, and seeds of each of its cells.
STORED, SEEDS = 1_000_000, 100


@dataclass(frozen=True)
class Took:
    """Seconds that a campaign took: wall time, CPU time of the process, and CPU time in the simulator."""

    wall: float
    cpu: float
    simulating: float


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures campaigns of short and of long runs, and queries to a large store."""
    rows: list[Row] = []
    runs = max(2, round(SHORT_RUNS * extent.scale))
    short = [_campaign(rows, notify, SHORT, runs, 2) for _ in range(extent.repeat)]
    ratios: list[float] = []
    long: list[Took] = []
    for _ in range(extent.repeat):
        one, two = (_campaign(rows, notify, LONG * extent.scale, LONG_RUNS, jobs) for jobs in (1, 2))
        long.append(two)
        ratios.append(one.wall / two.wall)
    answers = _answers(round(STORED * extent.scale), extent.repeat, notify)
    share = statistics.median(took.simulating / took.cpu for took in short)
    overhead = statistics.median(100 * (1 - took.simulating / took.cpu) for took in long)
    return Part(
        name="campaign",
        title="Campaigns: cost besides simulating, two workers, a large store",
        method=(
            f"{runs} runs of about 10 ms and {LONG_RUNS} of about 1 s, kept in a store; CPU time of the process and, of that, of "
            f"calls of the engine. Queries for one cell of a store of {round(STORED * extent.scale)} runs. Medians of "
            f"{extent.repeat}."
        ),
        measurements=[
            Measurement("short runs: engine's share of CPU time", share, "of all", Target("at least", 0.7)),
            Measurement("runs of 1 s: CPU time besides simulating", overhead, "% of all", Target("below", 3.0)),
            Measurement("two workers: runs a second", statistics.median(ratios), "times one", Target("at least", 1.9)),
            Measurement("query for one cell", statistics.median(answers), "s", Target("below", 1.0)),
        ],
        rows=rows,
    )


def _campaign(rows: list[Row], notify: Notify, seconds: float, runs: int, jobs: int) -> Took:
    notify(f"campaign: {runs} runs of {seconds:g} simulated seconds, workers: {jobs}")
    timed = backend.Timed()
    with tempfile.TemporaryDirectory() as directory:
        wall, cpu = time.perf_counter(), time.process_time()
        planned = planned_runs(seconds, runs)
        with Store(Path(directory) / "store", create=True) as store:
            run_campaign(planned, timed, store, jobs=jobs)
        took = Took(time.perf_counter() - wall, time.process_time() - cpu, timed.seconds)
    rows.append(
        {
            "runs": runs,
            "simulated_seconds": seconds,
            "workers": jobs,
            "wall_seconds": took.wall,
            "cpu_seconds": took.cpu,
            "simulating_cpu_seconds": took.simulating,
        }
    )
    return took


def planned_runs(seconds: float, runs: int) -> Plan:
    """Runs of two New Reno flows through CoDel on 10 Mbit/s that differ in their seeds."""
    access = {"rate": "100 Mbit/s", "delay": "1 ms"}
    scenario = {
        "name": "campaign",
        "duration": f"{seconds:f} s",
        "sender_overhead": "0 s",
        "network": {
            "dumbbell": {
                "senders": [{"name": "sender", **access}],
                "receivers": [{"name": "receiver", **access}],
                "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms", "queue": {"name": "codel", "limit": "100 packets"}},
            }
        },
        "flows": [{"from": "sender", "to": "receiver", "tcp": "newreno", "count": 2, "start": "0 s"}],
    }
    cell = Cell({"rate": "10 Mbit/s", "tcp": "newreno"}, from_data(scenario, "bench campaign"))
    return plan(Campaign.of_cells("bench campaign", [cell], runs), backend.measured())


def _answers(runs: int, repeat: int, notify: Notify) -> list[float]:
    """Seconds of queries for one cell of a store of this many runs, which are all alike."""
    notify(f"campaign: a store of {runs} runs")
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary) / "store"
        Store(directory, create=True).close()
        cell = make_files(directory, runs)
        with Store(directory) as store:
            return [
                _timed(lambda: store.sql(f"select avg(jain), count(*) from runs where rate = {literal(cell)}"))
                for _ in range(repeat)
            ]


def make_files(directory: Path, runs: int) -> str:
    """Writes the Parquet files of a store of such runs, all with the rows of one run; returns a value of the axis ``rate``."""
    import duckdb  # here, because the other parts should not wait for it

    run = next(planned_runs(1.0, 1).runs())
    frames = assemble([of_run(run, backend.measured().run(run.specification))], ["rate", "tcp"])
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE labels AS SELECT md5(i::VARCHAR) AS key, "
            f"format('{{:06}} Mbit/s', i // {SEEDS}) AS rate, 'newreno' AS tcp, i % {SEEDS} AS seed FROM range({runs}) AS r(i)"
        )
        metadata = literal(parquet.metadata("synthetic"))
        for name in NAMES:
            database.register("one", Stream(frames[name].drop("key", "rate", "tcp", "seed")))
            columns = ", ".join(identifier(column) for column in frames[name].columns)
            database.execute(
                f"COPY (SELECT {columns} FROM labels, one ORDER BY rate, tcp, seed) TO {literal(parquet.path(directory, name))} "
                f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{parquet.METADATA}: {metadata}}})"
            )
            database.unregister("one")
            seal.seal(parquet.path(directory, name))
    return f"{runs // SEEDS // 2:06} Mbit/s"


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
