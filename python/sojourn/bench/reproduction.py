"""The study: how long it takes to reproduce the whole of piotrowska on all cores."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from sojourn import api
from sojourn.bench.figures import STANDARD, Extent, Figure, Notify, Part, Target
from sojourn.bench.piotrowska import STUDY


def measure(extent: Extent, notify: Notify) -> Part:
    """Reproduces the study with one seed, as the command line does, results being written to a temporary directory.

    Raises:
        RunFailed: a run failed.
    """
    notify("study")
    with tempfile.TemporaryDirectory() as directory:
        began = time.perf_counter()
        reproduction = api.reproduce(STUDY, changes=_changes(extent), out=Path(directory) / "results")
        elapsed = time.perf_counter() - began
    packets = int(reproduction.result.runs["data_packets_delivered"].sum())
    return Part(
        name="study",
        title=f"The study {STUDY}, one seed, on {os.cpu_count()} cores",
        method="Wall time from reading the study to its files and the comparison with the published figures.",
        figures=[Figure("wall time", elapsed, "s", Target("below", 60.0))],
        measurements=[{"runs": reproduction.result.runs.height, "data_packets": packets, "wall_seconds": elapsed}],
    )


def _changes(extent: Extent) -> dict[str, Any]:
    """None in the standard benchmark; otherwise all times of the study in proportion."""
    if extent.seconds == STANDARD.seconds:
        return {}
    times = {"duration": 100, "warm_up": 30, "flows.*.start_within": 3}
    return {key: f"{seconds * extent.scale:f} s" for key, seconds in times.items()}
