"""Large stores: peak memory of the commands that read them, which must not grow with the number of runs, and time of a query."""

import statistics
import tempfile
import time
from pathlib import Path

from sojourn import api, backends
from sojourn.bench import many_runs, synthetic
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.campaign import plan

#: Runs of the smaller and of the larger store.
FEWER, MORE = 100_000, 1_000_000

#: Runs of each cell that are carried out; the others repeat them.
SAMPLE = 50

#: Two cells that are compared.
CELLS = ("rate=5 Mbit/s,tcp=cubic,queue=codel", "rate=5 Mbit/s,tcp=cubic,queue=pie")

#: Figures of each kind: bars, a trade-off, distributions and boxes.
FIGURES = ("throughput", "throughput-by-algorithm", "delay-goodput", "flow-throughputs", "box-sojourn-mean")


def commands(file: Path, seeds: int, results: Path) -> dict[str, list[str]]:
    """The commands that are measured, by what they are called."""
    drawn = {
        f"plot {figure}": ["plot", str(results), "--figure", figure, "--out", str(results / f"{figure}.svg")]
        for figure in FIGURES
    }
    return {
        "resume": ["run", str(file), "--seeds", str(seeds), "--out", str(results)],
        "query": ["query", str(results), many_runs.QUERY],
        "compare": ["compare", str(results), *CELLS],
        "report": ["report", str(results)],
        **drawn,
    }


def fill(directory: Path, runs: int) -> tuple[Path, int, Path]:
    """Makes a store of about that many runs of ``many_runs.SCENARIO``: its file, the seeds of each cell, and the store."""
    file, seeds, results = directory / "many.toml", max(1, runs // many_runs.CELLS), directory / str(runs)
    file.write_text(many_runs.SCENARIO, encoding="utf-8")
    carrier = backends.named(backends.DEFAULT)
    synthetic.fill(results, plan(api.campaign(file, seeds), carrier), carrier, SAMPLE)
    # What opens it first puts all keys into the journal.
    api.open(results).close()
    return file, seeds, results


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures each command with two stores, of which the larger has ten times as many runs, and a query of that."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as directory:
        for runs in (round(FEWER * extent.scale), round(MORE * extent.scale)):
            notify(f"large-stores: {runs} runs")
            file, seeds, results = fill(Path(directory), runs)
            rows += many_runs.measured("large-stores", runs, commands(file, seeds, results), notify)
        answered = statistics.median(_answered(results) for _ in range(extent.repeat))
    more = rows[len(rows) // 2 :]
    return Part(
        title="Large stores: peak memory of commands that read them",
        method=(
            f"Each command in a process of its own, with {rows[0]['runs']} and with {more[0]['runs']} runs in {many_runs.CELLS} "
            f"cells, of each of which up to {SAMPLE} were carried out; the others repeat them. Queries of the larger store, the "
            f"median of {extent.repeat}."
        ),
        measurements=[
            *many_runs.peaks(more),
            Measurement("query for one cell", answered, "s", Target("below", 1.0)),
        ],
        rows=rows,
    )


def _answered(results: Path) -> float:
    """Seconds of a query for one cell of a store that is open."""
    cell = CELLS[0].replace("=", " = '").replace(",", "' and ") + "'"
    with api.open(results) as store:
        began = time.perf_counter()
        store.sql(f"select avg(jain), count(*) from runs where {cell}")
        return time.perf_counter() - began
