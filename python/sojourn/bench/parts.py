"""The parts of the benchmark, by name, in the order in which they are measured."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from sojourn.bench import (
    callgrind,
    campaign,
    cells,
    controls,
    footprint,
    instructions,
    large_stores,
    learning,
    linux,
    loss,
    many_runs,
    own,
    packetdrill,
    queues,
    reproduction,
    scaling,
    short_run,
    startup,
)
from sojourn.bench.measurements import Extent, Notify, Part

PARTS: dict[str, Callable[[Extent, Notify], Part]] = {
    "cells": cells.measure,
    "controls": controls.measure,
    "queues": queues.measure,
    "own": own.measure,
    "instructions": instructions.measure,
    "growth": scaling.measure,
    "loss": loss.measure,
    "startup": startup.measure,
    "short-run": short_run.measure,
    "memory": footprint.measure,
    "packetdrill": packetdrill.measure,
    "learning": learning.measure,
    "study": reproduction.measure,
    "campaign": campaign.measure,
    "many-runs": many_runs.measure,
    "large-stores": large_stores.measure,
    "linux": linux.measure,
}


def measurable(notify: Notify) -> list[str]:
    """The parts that can be measured here: all of them with valgrind, Gymnasium, PettingZoo and a Linux kernel that is built."""
    lacking = {"instructions": callgrind.missing(instructions.OPTION), "learning": learning.missing(), "linux": linux.missing()}
    for what in filter(None, lacking.values()):
        notify(f"{what}; left out")
    return [name for name in PARTS if lacking.get(name) is None]


def measure(names: Iterable[str], extent: Extent, notify: Notify) -> list[Part]:
    """Measures the named parts, in the order of ``PARTS``."""
    wanted = set(names)
    return [replace(part(extent, notify), name=name) for name, part in PARTS.items() if name in wanted]
