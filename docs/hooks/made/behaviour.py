"""How each congestion control and each queue discipline behaves, as the snapshots of ``tests/test_behaviour.py`` have it."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from made.results import ROOT

SNAPSHOTS = ROOT / "tests" / "__snapshots__" / "test_behaviour"

#: In multiples of the bandwidth-delay product.
BUFFERS = ("0.5", "1", "4")


class Control(NamedTuple):
    """A congestion control behind one buffer: alone, and against New Reno."""

    utilisation: float
    queue: float
    drops: float
    share: float
    shared_queue: float
    shared_drops: float


class Queue(NamedTuple):
    """A queue discipline under one load."""

    utilisation: float
    mean: float
    tail: float
    drops: float
    jain: float


@cache
def controls() -> dict[tuple[str, str], Control]:
    """By name and buffer."""
    return {(name, buffer): Control(*values) for name, buffer, values in _rows("control", 12)}


@cache
def queues() -> dict[tuple[str, str], Queue]:
    """By name and load."""
    return {(name, load): Queue(*values) for name, load, values in _rows("queue", 15)}


def alone(*names: str) -> str:
    """The utilisation by one flow of these congestion controls, in per cent, behind each buffer."""
    return _each([[controls()[name, buffer].utilisation for name in names] for buffer in BUFFERS])


def against(*names: str) -> str:
    """The share beside New Reno of these congestion controls, in per cent, behind each buffer."""
    return _each([[controls()[name, buffer].share for name in names] for buffer in BUFFERS])


def _each(found: list[list[float]]) -> str:
    *first, last = (" to ".join(dict.fromkeys(f"{value:.0f}" for value in (min(values), max(values)))) for values in found)
    return f"{', '.join(first)} and {last} %"


def _rows(kind: str, place: int) -> Iterator[tuple[str, str, list[float]]]:
    """The rows of a table: name, what stands behind it from a column on, and numbers; what had no packet is infinite."""
    table = (SNAPSHOTS / f"test_{kind}_snapshot.txt").read_text(encoding="utf-8").splitlines()
    for line in table:
        name, condition = line[:place].strip(), line[place : line.index("|")].strip()
        if name:
            values = re.sub(r"\|", "", line[line.index("|") :]).split()
            yield name, condition, [float("inf") if value == "-" else float(value) for value in values]
