"""Units as pydantic types: strings in a scenario file, integers in base units once read."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from sojourn.units import BDP, DURATION, PACKETS, RATE, SIZE, Dimension


def at_least(dimension: Dimension, least: int) -> Callable[[object], int]:
    """Reads a quantity of at least so many base units, 0 or 1."""

    def read(value: object) -> int:
        quantity = dimension.parse(value)
        if quantity < least:
            bound = "greater than 0" if least == 1 else "0 or more"
            raise ValueError(f'"{value}": a {dimension.name} must be {bound}')
        return quantity

    return read


def _at_least(dimension: Dimension, least: int) -> BeforeValidator:
    return BeforeValidator(at_least(dimension, least))


def dimension_schema(dimension: Dimension) -> dict[str, Any]:
    """The JSON Schema of a quantity."""
    units = "|".join([*dimension.units, *dimension.spellings])
    return {
        "type": "string",
        "pattern": rf"^\s*[0-9.eE+-]+\s*({units})\s*$",
        "examples": [dimension.example],
    }


def _schema(dimension: Dimension) -> WithJsonSchema:
    return WithJsonSchema(dimension_schema(dimension))


Duration = Annotated[int, _at_least(DURATION, 0), _schema(DURATION)]
"""Picoseconds, 0 or more."""
PositiveDuration = Annotated[int, _at_least(DURATION, 1), _schema(DURATION)]
"""Picoseconds, more than 0."""
Rate = Annotated[int, _at_least(RATE, 1), _schema(RATE)]
"""Bits a second, more than 0."""
RateOrZero = Annotated[int, _at_least(RATE, 0), _schema(RATE)]
"""Bits a second, 0 or more."""
Size = Annotated[int, _at_least(SIZE, 1), _schema(SIZE)]
"""Bytes, more than 0."""
SizeOrZero = Annotated[int, _at_least(SIZE, 0), _schema(SIZE)]
"""Bytes, 0 or more."""
Packets = Annotated[int, _at_least(PACKETS, 0), _schema(PACKETS)]
"""A number of packets, 0 or more."""


def _length_schema(more_units: list[str], examples: list[str]) -> dict[str, Any]:
    units = "|".join([*PACKETS.units, *PACKETS.spellings, *SIZE.units, *more_units])
    return {"type": "string", "pattern": rf"^\s*[0-9.eE+-]+\s*({units})\s*$", "examples": examples}


#: The JSON Schema of a length of a queue, which ``units.parse_queue_length`` reads.
QUEUE_LENGTH_SCHEMA = _length_schema([], ["900 packets", "64 KiB"])
#: The JSON Schema of a queue's limit, which ``units.parse_queue_limit`` reads.
LIMIT_SCHEMA = _length_schema([BDP], ["900 packets", "64 KiB", "8 BDP"]) | {
    "description": "Maximum length; unlimited by default."
}
