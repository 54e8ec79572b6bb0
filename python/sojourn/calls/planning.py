"""What running something would mean, as a function."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import api, backends
from sojourn import campaign as campaigns
from sojourn.backends.backend import Backend
from sojourn.calls.display import Tables
from sojourn.campaign import randomness
from sojourn.scenario import Scenario
from sojourn.sweeps.matrix import Matrix


def plan(
    scenario: Scenario | Matrix | str | Path | Mapping[str, Any],
    seeds: int | None = None,
    *,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: str | Backend = backends.DEFAULT,
) -> Tables:
    """What running a scenario or a sweep would mean; nothing is run but the beginning of its largest run. See ``sojourn.run``.

    Returns:
        Two frames by their names: ``plan``, one row with the numbers of cells, of seeds of each and of runs, the simulated
        seconds, the runs that ``out`` has already, and about how many seconds the others take; and ``axes``, a row an axis.

    Raises:
        InputError: a cell is no valid scenario, or the directory is no store.
    """
    wanted, carrier = api.campaign(scenario, seeds, only, changes), backends.named(backend)
    planned = campaigns.plan(wanted, carrier)
    found = api.extent(planned, carrier, out, jobs)
    row = {
        "cells": len(planned.cells),
        "seeds": planned.repetitions,
        "runs": len(planned),
        "simulated_s": planned.simulated_seconds,
        "kept": found.kept,
        "estimated_s": found.seconds,
    }
    axes = [
        {"axis": name, "sets": key, "count": len(labels), "values": labels} for name, (key, labels) in wanted.described.items()
    ]
    columns = {"axis": pl.String(), "sets": pl.String(), "count": pl.Int64(), "values": pl.List(pl.String())}
    heading = randomness.line(cell.random for cell in planned.cells)
    return Tables({"plan": pl.DataFrame([row]), "axes": pl.DataFrame(axes, schema=columns)}, heading)
