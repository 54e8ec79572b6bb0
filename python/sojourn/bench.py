"""How fast the simulator is: delivered data packets per CPU second, and peak memory, on cells of a fixed matrix.

Each cell runs in a process of its own, one after the other, so that its peak memory is its own and no other run shares the
machine with it.
"""

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

from sojourn import _engine
from sojourn.errors import RunFailed
from sojourn.runs import PICOSECONDS
from sojourn.specification import flow_count
from sojourn.specification import text as text_of
from sojourn.study import library

#: The cells: the data centre of the study piotrowska, which has the fastest links, with New Reno.
STUDY = "piotrowska"
CELLS = {"scenario": ["DC"], "tcp": ["newreno"]}


@dataclass(frozen=True)
class Measurement:
    """One cell's figures; the peak is of the whole process, the baseline is what it held before the run."""

    name: str
    flows: int
    queue: str
    data_packets: int
    cpu_seconds: float
    peak_megabytes: float
    baseline_megabytes: float

    @property
    def packets_per_cpu_second(self) -> float:
        """Data packets delivered to receivers for each second of CPU time."""
        return self.data_packets / self.cpu_seconds


@dataclass(frozen=True)
class Report:
    """All cells, and what they were measured on."""

    version: str
    machine: str
    cores: int
    simulated_seconds: int
    cells: list[Measurement]


def measure(seconds: int, on_cell: Callable[[Measurement], None]) -> Report:
    """Measures all cells for so many simulated seconds each.

    Raises:
        RunFailed: a cell's process failed.
    """
    study = library.load(STUDY)
    cells: list[Measurement] = []
    for axes in study.selection(CELLS):
        (run,) = study.runs([axes], 1)
        specification = text_of({**run.specification, "duration": seconds * PICOSECONDS, "warm_up": 0})
        command = [sys.executable, "-m", "sojourn.bench"]
        process = subprocess.run(command, input=specification, capture_output=True, text=True, check=False)
        if process.returncode != 0:
            raise RunFailed(f"bench {run.key}: {process.stderr.strip().splitlines()[-1:]}")
        flows = flow_count(run.specification)
        cell = Measurement(name=f"{flows} flows, {axes['queue']}", flows=flows, queue=axes["queue"], **json.loads(process.stdout))
        cells.append(cell)
        on_cell(cell)
    return Report(_engine.version(), _machine(), os.cpu_count() or 1, seconds, cells)


def text(report: Report) -> str:
    """The report as JSON."""
    cells = [{**asdict(cell), "packets_per_cpu_second": cell.packets_per_cpu_second} for cell in report.cells]
    return json.dumps({**asdict(report), "cells": cells}, indent=2) + "\n"


def table(report: Report) -> Table:
    """The report as a table."""
    made = Table(
        title=f"Sojourn {report.version} on {report.machine}, New Reno at 1 Gbit/s, {report.simulated_seconds} simulated s",
        title_justify="left",
        title_style="bold",
    )
    for heading in ("flows", "queue", "data packets", "CPU s", "packets / CPU s", "peak MB", "of which before the run"):
        made.add_column(heading, justify="left" if heading == "queue" else "right")
    for cell in report.cells:
        made.add_row(
            str(cell.flows),
            cell.queue,
            f"{cell.data_packets:,}",
            f"{cell.cpu_seconds:.2f}",
            f"{cell.packets_per_cpu_second:,.0f}",
            f"{cell.peak_megabytes:.0f}",
            f"{cell.baseline_megabytes:.0f}",
        )
    return made


def _machine() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        models = [line.partition(":")[2].strip() for line in facts if line.startswith("model name")]
    except OSError:
        models = []
    return models[0] if models else platform.processor() or platform.machine()


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def _measure_one() -> None:
    specification = sys.stdin.read()
    baseline = _peak_megabytes()
    before = time.process_time()
    tables = _engine.run(specification)
    figures = {
        "data_packets": tables["summary"]["data_packets_delivered"],
        "cpu_seconds": time.process_time() - before,
        "peak_megabytes": _peak_megabytes(),
        "baseline_megabytes": baseline,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    _measure_one()
