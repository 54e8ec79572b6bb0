"""Hosts in groups: one entry of a scenario that stands for many hosts alike, and delays that differ between them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema

from sojourn import names
from sojourn.scenario.base import Name, Table
from sojourn.scenario.quantities import at_least, dimension_schema
from sojourn.scenario.traces import Trace, read_traced_duration, traced_schema
from sojourn.units import DURATION

#: The most hosts that a group may have: a route is searched for each pair, among all links.
MOST_HOSTS = 1_000

Count = Annotated[int | None, Field(ge=1, le=MOST_HOSTS)]
"""How many hosts an entry stands for; without it, one of the entry's own name."""

Spacing = Literal["linear", "log", "random"]

#: What joins the first and the last of some hosts, or of some delays.
DOTS = ".."


def members(name: str, count: int | None) -> list[str]:
    """The hosts of an entry: ``lan`` itself, or with a count ``lan1``, ``lan2`` and so on."""
    return [name] if count is None else [f"{name}{number}" for number in range(1, count + 1)]


def named_by(text: str, groups: Mapping[str, Sequence[str]], hosts: Collection[str]) -> Sequence[str]:
    """The hosts that ``from`` or ``to`` of flows names: a host, all of a group of the network, or ``lan1..lan20``."""
    if text in groups:
        return groups[text]
    if text in hosts:
        return [text]
    first, dots, last = text.partition(DOTS)
    for group in groups.values() if dots else ():
        if first in group and last in group and group.index(first) < group.index(last):
            return group[group.index(first) : group.index(last) + 1]
    raise ValueError(names.unknown("host", text, groups))


@dataclass(frozen=True)
class Drawn:
    """A delay that the seed decides, uniformly between two ends in picoseconds."""

    low: int
    high: int


@dataclass(frozen=True)
class Spread:
    """Delays of the hosts of a group, from the first host's to the last one's, in picoseconds."""

    low: int
    high: int
    spacing: Spacing

    def of(self, place: int, count: int) -> int | Drawn:
        """The delay of one of ``count`` hosts; a single one has the lower end unless it is drawn."""
        if self.spacing == "random":
            return Drawn(self.low, self.high)
        if count == 1:
            return self.low
        if self.spacing == "log":
            # Decimal arithmetic is the same on every machine.
            ratio = Decimal(self.high) / self.low
            return round(self.low * ratio ** (Decimal(place) / (count - 1)))
        return self.low + (self.high - self.low) * place // (count - 1)


def _spread(given: Mapping[str, object]) -> Spread:
    names.check("key", given, ("range", "spacing"))
    text, spacing = given.get("range"), given.get("spacing", "linear")
    low, dots, high = str(text).partition(DOTS)
    if not isinstance(text, str) or not dots:
        raise ValueError(f'range: {text!r} is not a range; write its two ends, such as "10 ms..200 ms"')
    names.check("spacing", str(spacing), get_args(Spacing))
    found = Spread(_duration(low), _duration(high), spacing)  # type: ignore[arg-type]
    if not found.low < found.high:
        raise ValueError(f'range: "{text}": the second end must be greater than the first')
    if spacing == "log" and found.low == 0:
        raise ValueError(f'range: "{text}": a logarithmic range must begin above 0')
    return found


_duration = at_least(DURATION, 0)

_RANGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "range": {"type": "string", "examples": ["10 ms..200 ms"], "description": "Delays of the first and the last host."},
        "spacing": {
            "enum": list(get_args(Spacing)),
            "default": "linear",
            "description": "Equal steps, equal ratios, or drawn uniformly for each host.",
        },
    },
    "required": ["range"],
    "additionalProperties": False,
}


def _delay_of_hosts(given: object) -> int | Spread:
    if isinstance(given, Spread):
        return given
    return _spread(given) if isinstance(given, Mapping) else _duration(given)


def _delay_of_link(given: object, info: ValidationInfo) -> int | Trace | Spread:
    if isinstance(given, Spread):
        return given
    return _spread(given) if isinstance(given, Mapping) and "range" in given else read_traced_duration(given, info)


HostDelay = Annotated[
    int | Spread,
    PlainValidator(_delay_of_hosts),
    WithJsonSchema({"anyOf": [dimension_schema(DURATION), _RANGE_SCHEMA]}),
]
"""Picoseconds, 0 or more; or a range over the hosts of a group."""

LinkDelay = Annotated[
    int | Trace | Spread,
    PlainValidator(_delay_of_link),
    WithJsonSchema({"anyOf": [*traced_schema(DURATION)["anyOf"], _RANGE_SCHEMA]}),
]
"""Picoseconds, 0 or more; a trace; or a range over the hosts of a group."""


class Group(Table):
    """Hosts alike, each of which has a link of its own wherever a link names their group."""

    name: Name = Field(min_length=1, description="Name of the group; its hosts are called name1, name2 and so on.")
    count: int = Field(ge=1, le=MOST_HOSTS, description="Number of hosts.")
