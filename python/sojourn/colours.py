"""The colours of algorithms, groups and flows: the same in every picture of the same results.

``colours.json`` has them as data, which the laboratory reads too.
"""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from sojourn import catalogue

_TABLE = json.loads(Path(__file__).with_name("colours.json").read_text(encoding="utf-8"))

#: The palette. Every colour stands out from white, from black and from the dark pages of reports and laboratory by 3 to 1 (WCAG
#: 2.2, 1.4.11), and from every other one, also for readers who are colour-blind.
PALETTE: Sequence[str] = tuple(_TABLE["palette"])

#: How many things one picture can tell by colour.
MOST = len(PALETTE)

_Thing = TypeVar("_Thing", bound=Hashable)


def slots(labels: Iterable[str]) -> dict[str, int]:
    """The place of each label in the palette; where there are more than ``MOST`` labels some share a place.

    A label that names an algorithm, in whatever spelling, has the algorithm's place unless one before it in the table has it.
    """
    order, own = list(dict.fromkeys(labels)), _own()
    known = sorted((label for label in order if _key(label) in own), key=lambda label: own[_key(label)][1])
    return _placed(order, [(label, own[_key(label)][0]) for label in known])


def apart(labels: Sequence[str], of_all: Mapping[str, int]) -> dict[str, int]:
    """Places of some labels, as ``of_all`` has them; of those that share one there, the later has one that none of them has."""
    return _placed(labels, [(label, of_all[label]) for label in labels])


def of_flows(flows: Sequence[tuple[str, int]], of_groups: Mapping[str, int]) -> dict[tuple[str, int], int]:
    """The place of each flow, which is a group and a number: the first in a group has that of the group."""
    return _placed(flows, [(flow, of_groups[flow[0]]) for flow in flows if flow[1] == 1])


def of_groups(algorithms: Mapping[str, str | None]) -> dict[str, int]:
    """The place of each group of flows: that of its algorithm, which is given, where every group has another."""
    known = [algorithm for algorithm in algorithms.values() if algorithm is not None]
    if len(set(known)) == len(algorithms):
        places = slots(known)
        return {group: places[algorithm] for group, algorithm in algorithms.items() if algorithm is not None}
    return slots(algorithms)


def _placed(things: Sequence[_Thing], wanted: Iterable[tuple[_Thing, int]]) -> dict[_Thing, int]:
    """Gives those a place that want one which nobody before them has, and then the others one that the fewest have."""
    used = [0] * MOST
    found: dict[_Thing, int] = {}
    for thing, place in wanted:
        if not used[place]:
            found[thing], used[place] = place, 1
    for thing in things:
        if thing not in found:
            found[thing] = used.index(min(used))
            used[found[thing]] += 1
    return {thing: found[thing] for thing in things}


def _key(label: str) -> str:
    return label.casefold().replace(" ", "").replace("-", "_")


@cache
def _own() -> Mapping[str, tuple[int, int]]:
    """The place of each algorithm's names in the palette, and which comes first in the table."""
    known = catalogue.load()
    found: dict[str, tuple[int, int]] = {}
    for table, entries in (("queues", known.queues), ("congestion_controls", known.congestion_controls)):
        places = {name: (place, order) for order, (name, place) in enumerate(_TABLE[table].items())}
        for entry in entries:
            if entry.name in places:
                found |= dict.fromkeys(map(_key, (entry.name, *entry.aliases, entry.title)), places[entry.name])
    return found
