"""Quantities with units, read exactly.

Scenario files say ``"100 Mbit/s"`` or ``"2 ms"``; everything behind them computes with integers: picoseconds, bytes, bits
a second. The way between is exact decimal arithmetic, so that 0.1 ms is 100 000 000 ps and not a rounding of it; what no
whole number of the base unit can express is an error.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from sojourn import names

#: Picoseconds in a second: times are integers in picoseconds.
PICOSECONDS = 10**12

#: The largest value the engine's signed and unsigned 64-bit integers both hold.
LARGEST = 2**63 - 1

_QUANTITY = re.compile(r"\s*(?P<number>[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s*(?P<unit>\S.*?)?\s*")


#: Quantities that are kept as they were read or shown last: the cells of a sweep have most of theirs in common.
KEPT = 4096


@dataclass(frozen=True, eq=False)
class Dimension:
    """A kind of quantity: its name, an example for messages, its units as multiples of the base unit."""

    name: str
    example: str
    units: Mapping[str, int]
    #: Units that are only other spellings, accepted but not advertised.
    spellings: Mapping[str, str]

    def parse(self, text: object) -> int:
        """The quantity in the base unit.

        Raises:
            ValueError: no string, no number, no or an unknown unit, or no whole number of the base unit.
        """
        return _parsed(_string(text, self), self)

    def format(self, value: int) -> str:
        """The shortest way to write a value: in the largest unit that needs no fraction."""
        for unit, factor in sorted(self.units.items(), key=lambda item: -item[1]):
            if value and value % factor == 0:
                return f"{value // factor} {unit}"
        return f"0 {next(iter(self.units))}"

    def approximate(self, value: int) -> str:
        """A value for people: exact if that takes four digits or fewer, else with four significant digits."""
        return _approximate(value, self)


DURATION = Dimension(
    name="duration",
    example="2 ms",
    units={"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1},
    spellings={"µs": "us", "μs": "us"},  # the micro sign and the Greek letter
)
RATE = Dimension(
    name="rate",
    example="100 Mbit/s",
    units={"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9},
    spellings={},
)
SIZE = Dimension(
    name="size",
    example="1500 B",
    units={"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    spellings={},
)
PACKETS = Dimension(name="number of packets", example="900 packets", units={"packets": 1}, spellings={"packet": "packets"})


class QueueLimit(NamedTuple):
    """How much a queue holds, in packets or in bytes."""

    amount: int
    unit: Literal["packets", "bytes"]


#: The unit of a limit that depends on the network.
BDP = "BDP"


class BandwidthDelayProducts(NamedTuple):
    """How much a queue holds, in products of its link's rate and a round-trip time."""

    amount: Decimal


def parse_queue_limit(text: object) -> QueueLimit | BandwidthDelayProducts:
    """Reads ``"900 packets"``, ``"64 KiB"`` or ``"8 BDP"``.

    Raises:
        ValueError: no quantity of packets, bytes or bandwidth-delay products, or none that is greater than zero.
    """
    number, unit = _split(text, PACKETS)
    if unit == BDP:
        if number <= 0:
            raise ValueError(f'"{text}": a queue limit must be more than 0 {BDP}')
        return BandwidthDelayProducts(number)
    limit = _length(text, unit, (*PACKETS.units, *SIZE.units, BDP))
    if limit.amount == 0:
        raise ValueError(f'"{text}": a queue limit must be more than 0 {limit.unit}')
    return limit


def parse_queue_length(text: object) -> QueueLimit:
    """Reads ``"50 packets"``, ``"64 KiB"`` or ``"0 packets"``.

    Raises:
        ValueError: no quantity of packets or bytes, or one that is less than zero.
    """
    _, unit = _split(text, PACKETS)
    return _length(text, unit, (*PACKETS.units, *SIZE.units))


def _length(text: object, unit: str, allowed: Iterable[str]) -> QueueLimit:
    in_packets = PACKETS.spellings.get(unit, unit) in PACKETS.units
    if not in_packets and unit not in SIZE.units:
        raise ValueError(_unknown_unit(str(text), unit, allowed))
    limit = QueueLimit(PACKETS.parse(text), "packets") if in_packets else QueueLimit(SIZE.parse(text), "bytes")
    if limit.amount < 0:
        raise ValueError(f'"{text}": a queue length must be at least 0 {limit.unit}')
    return limit


def number_and_unit(text: str) -> tuple[Decimal, str | None]:
    """The two parts of a quantity, whatever its dimension; a mere number has no unit.

    Raises:
        ValueError: there is no number.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is not a quantity; write a number and a unit')
    return Decimal(match["number"]), match["unit"]


@lru_cache(KEPT)
def _parsed(text: str, dimension: Dimension) -> int:
    number, unit = _split(text, dimension)
    factor = dimension.units.get(dimension.spellings.get(unit, unit))
    if factor is None:
        raise ValueError(_unknown_unit(text, unit, dimension.units))
    return _whole(text, number * factor, dimension)


@lru_cache(KEPT, typed=True)
def _approximate(value: int, dimension: Dimension) -> str:
    if len((exact := dimension.format(value)).split()[0]) <= 4:
        return exact
    unit, factor = max(dimension.units.items(), key=lambda item: item[1] if item[1] <= value else -item[1])
    return f"{float(f'{value / factor:.4g}'):g} {unit}"


def _string(text: object, dimension: Dimension) -> str:
    if not isinstance(text, str):
        raise ValueError(f'{text!r} has no unit; write a {dimension.name} as a string, such as "{dimension.example}"')
    return text


def _split(given: object, dimension: Dimension) -> tuple[Decimal, str]:
    text = _string(given, dimension)
    try:
        number, unit = number_and_unit(text)
    except ValueError:
        raise ValueError(
            f'"{text}" is not a {dimension.name}; write a number and a unit, such as "{dimension.example}"'
        ) from None
    if unit is None:
        raise ValueError(f'"{text}" has no unit; write a {dimension.name} such as "{dimension.example}"')
    return number, unit


def _unknown_unit(text: str, unit: str, allowed: Iterable[str]) -> str:
    return f'"{text}": {names.unknown("unit", unit, allowed)}'


def _whole(text: str, value: Decimal, dimension: Dimension) -> int:
    if abs(value) > LARGEST:
        raise ValueError(f'"{text}" is too large for a {dimension.name}')
    whole = int(value)
    if whole != value:
        base = next(unit for unit, factor in dimension.units.items() if factor == 1)
        raise ValueError(f'"{text}" is not a whole number of {base}')
    return whole


class Measured(NamedTuple):
    """What a label says if it is a number, a fraction or a quantity."""

    #: In base units.
    amount: Fraction
    #: The units of its kind as multiples of the base unit; of a mere number, a unit without a name.
    units: Mapping[str, int]


def measured(label: str) -> Measured | None:
    """Reads a label such as ``"20 ms"``, ``"0.5 BDP"``, ``"0.1"`` or ``"1/3"``; none if it is nothing of the kind."""
    for dimension in (DURATION, RATE, SIZE, PACKETS):
        try:
            return Measured(Fraction(dimension.parse(label)), dimension.units)
        except ValueError:
            continue
    try:
        return Measured(Fraction(label.removesuffix(BDP)), {BDP if label.endswith(BDP) else "": 1})
    except (ValueError, ZeroDivisionError):
        return None


def amount(label: str) -> Fraction | None:
    """How much a label says, in base units, if it is a number, a fraction or a quantity."""
    found = measured(label)
    return None if found is None else found.amount
