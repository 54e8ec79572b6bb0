"""What was simulated, in a few lines: the bottleneck, how long, and the groups of flows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn import _engine, catalogue, specification
from sojourn.report.contents import Contents
from sojourn.specification import RunSpecification, bottleneck
from sojourn.units import DURATION, PACKETS, RATE, SIZE

#: Values of a fact that are listed; of more the number is said.
MOST_VALUES = 6


@dataclass(frozen=True)
class Group:
    """A group of flows: its name, how many flows, their congestion control, ends and base round-trip time."""

    name: str
    flows: str
    algorithm: str
    ends: str
    round_trip: str


@dataclass(frozen=True)
class Facts:
    """What the cells have in common, and the values that differ between them."""

    #: What each line is about, and what it says.
    network: Sequence[tuple[str, str]]
    groups: Sequence[Group]
    #: How many cells these are of.
    cells: int


def facts(contents: Contents) -> Facts:
    """The facts of a report's cells."""
    specifications: list[RunSpecification] = [json.loads(text) for text in contents.specifications]
    return Facts(_network(specifications), _groups(specifications), len(specifications))


def _network(specifications: Sequence[RunSpecification]) -> list[tuple[str, str]]:
    bottlenecks = [(each, link) for each in specifications if (link := bottleneck(each)) is not None]
    lines = {
        "Bottleneck": (f"{each['nodes'][link['from']]} to {each['nodes'][link['to']]}" for each, link in bottlenecks),
        "Bottleneck rate": (_rate(link) for _, link in bottlenecks),
        "Queue discipline": (link["queue"]["name"] for _, link in bottlenecks),
        "Queue limit": (_limit(link["queue"]["limit"]) for _, link in bottlenecks),
        "Duration": (DURATION.format(each["duration"]) for each in specifications),
        "Warm-up": (DURATION.format(each["warm_up"]) for each in specifications),
    }
    found = ((name, _listed(values)) for name, values in lines.items())
    return [(name, text) for name, text in found if text]


def _rate(link: Mapping[str, Any]) -> str:
    if "rate_trace" in link:
        return f"{link['rate'] / 1e6:.4g} Mbit/s on average over {link['rate_trace']['name']}"
    changes = any(change["rate"] is not None for change in link["changes"])
    return f"{RATE.format(link['rate'])} at the start" if changes else RATE.format(link["rate"])


def _limit(limit: Mapping[str, Any] | None) -> str:
    match limit:
        case {"packets": packets}:
            return PACKETS.format(packets)
        case {"bytes": size}:
            return SIZE.format(size)
        case {"bandwidth_delay_products": amount}:
            return f"{amount:g} BDP"
        case _:
            return "the discipline's own"


def _groups(specifications: Sequence[RunSpecification]) -> list[Group]:
    """The groups of all cells, in the order in which they are first named."""
    found: dict[str, list[tuple[int, str, str, str]]] = {}
    for each in specifications:
        counts: dict[str, int] = {}
        for flows in each["flows"]:
            counts[flows["group"]] = counts.get(flows["group"], 0) + flows["count"]
        round_trips = _engine.base_round_trips(specification.text(specification.simulated(each)))
        for flows, round_trip in zip(each["flows"], round_trips, strict=True):
            ends = f"{each['nodes'][flows['from']]} to {each['nodes'][flows['to']]}"
            shown = "none: nothing returns" if round_trip is None else DURATION.format(round_trip)
            found.setdefault(flows["group"], []).append((counts[flows["group"]], _algorithm(flows["source"]), ends, shown))
    return [Group(name, *(_listed(map(str, values)) for values in zip(*rows, strict=True))) for name, rows in found.items()]


def _algorithm(source: Mapping[str, Any]) -> str:
    """The congestion control, with the parameters that are not the catalogue's defaults."""
    known = {control.name: control.parameters for control in catalogue.load().congestion_controls}
    parameters = () if "plugin" in source else known.get(source["name"], ())
    values = source["parameters"]
    changed = [
        f"{parameter.name} = {parameter.format(values[parameter.name])}"
        for parameter in parameters
        if values.get(parameter.name, parameter.default) != parameter.default
    ]
    return f"{source['name']} ({', '.join(changed)})" if changed else str(source["name"])


def _listed(values: Iterable[str]) -> str:
    """Different values, in order; of many the first, and how many more there are."""
    distinct = list(dict.fromkeys(values))
    more = len(distinct) - MOST_VALUES
    return ", ".join(distinct[:MOST_VALUES]) + (f" and {more} more" if more > 0 else "")
