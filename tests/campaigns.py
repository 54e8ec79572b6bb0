"""Campaigns in separate processes, for tests of stores that several processes use or that crashes interrupt."""

import multiprocessing
import resource
import signal
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

from conftest import scenario_data
from sojourn import backends
from sojourn.campaign import Campaign, Plan, plan, run
from sojourn.errors import StoreFailed
from sojourn.runs import Cell
from sojourn.scenario import from_data
from sojourn.store import Store

#: A server process with all modules loaded; forking it is much faster than importing them in each process.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["sojourn.campaign", "sojourn.store", "sojourn.backends.simulator", "duckdb", "conftest"])

FAILED = 3


def start(directory: Path, repetitions: int, complaint: Path | None = None, largest_file: int | None = None) -> BaseProcess:
    """Starts a process that continues the campaign in a directory to its end, or writes the error to ``complaint``."""
    process = CONTEXT.Process(target=_run, args=(directory, repetitions, complaint, largest_file))
    process.start()
    return process


def small(repetitions: int) -> Plan:
    """A campaign of two cells whose runs take a few milliseconds."""
    cells = [
        Cell(
            {"tcp": tcp},
            from_data(scenario_data(flows=[{"from": "a", "to": "b", "count": 2, "tcp": tcp, "start_within": "1 s"}]), tcp),
        )
        for tcp in ("newreno", "cubic")
    ]
    return plan(Campaign.of_cells("crash", cells, repetitions), backends.named("simulator"))


def _run(directory: Path, repetitions: int, complaint: Path | None, largest_file: int | None) -> None:
    if largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    try:
        with Store(directory, create=True, notify=_refuse) as store:
            run(small(repetitions), backends.named("simulator"), store, jobs=2)
    except StoreFailed as error:
        if complaint is not None:
            complaint.write_text(str(error), encoding="utf-8")
        sys.exit(FAILED)


def _refuse(message: str) -> None:
    """Fails the test: a process that ends must leave nothing damaged."""
    raise AssertionError(message)
