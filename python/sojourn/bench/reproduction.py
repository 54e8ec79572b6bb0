"""The study: the time to reproduce the whole of piotrowska on all cores."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import api, backends
from sojourn.bench.measurements import STANDARD, Extent, Measurement, Notify, Part, Target
from sojourn.bench.piotrowska import STUDY
from sojourn.campaign import plan, run
from sojourn.store import Store
from sojourn.study import cells, library


def measure(extent: Extent, notify: Notify) -> Part:
    """Runs the study with one seed and compares its figures; results are written to a temporary directory."""
    notify("study")
    with tempfile.TemporaryDirectory() as directory:
        began = time.perf_counter()
        runs = _reproduce(Path(directory) / "results", _changes(extent))
        elapsed = time.perf_counter() - began
    packets = int(runs["data_packets_delivered"].sum())
    return Part(
        title=f"The study {STUDY}, one seed, on {os.cpu_count()} cores",
        method="Wall time from reading the study to its files and the comparison with the published figures.",
        measurements=[Measurement("wall time", elapsed, "s", Target("below", 60.0))],
        rows=[{"runs": runs.height, "data_packets": packets, "wall_seconds": elapsed}],
    )


def _reproduce(directory: Path, changes: dict[str, Any]) -> pl.DataFrame:
    """The runs. Claims are not judged: their queries may ask for what a shortened study does not have."""
    study, simulator = library.load(STUDY), backends.named(backends.DEFAULT)
    campaign = api.study_campaign(study, changes=changes)
    with Store(directory, create=True) as store:
        result = api.complete(run(plan(campaign, simulator), simulator, store))
    compared = cells.compare(library.published_values(study), result, list(study.axes))
    cells.write(directory / "cells.csv", cells.frame(study, compared))
    return result.runs


def _changes(extent: Extent) -> dict[str, Any]:
    """None in the standard benchmark; otherwise all times of the study, in proportion."""
    if extent.seconds == STANDARD.seconds:
        return {}
    times = {"duration": 100, "warm_up": 30, "flows.*.start_within": 3}
    return {key: f"{seconds * extent.scale:f} s" for key, seconds in times.items()}
