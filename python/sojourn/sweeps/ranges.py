"""Values of an axis that lie evenly between two ends."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Self

from sojourn.errors import within
from sojourn.units import BDP, DURATION, PACKETS, RATE, SIZE, Dimension, number_and_unit

Spacing = Literal["linear", "log"]

#: How exactly the values between the ends are written.
SIGNIFICANT_DIGITS = 4


@dataclass(frozen=True)
class Range:
    """All that lies between two ends, such as ``10 ms..200 ms``."""

    start: Decimal
    #: In the unit of the lower end.
    end: Decimal
    spacing: Spacing
    #: What a file would say of a value.
    write: Callable[[Decimal], str | int | float]

    @classmethod
    def of(cls, text: str, spacing: Spacing) -> Self:
        """A range as files write it.

        Numbers have no unit; if both ends are written without a fraction, all values are whole.
        """
        low, dots, high = text.partition("..")
        if not dots:
            raise ValueError(f'"{text}" is not a range; write its two ends, such as "10 ms..200 ms"')
        with within(f'"{text}"'):
            (start, unit), (end, end_unit) = number_and_unit(low), number_and_unit(high)
        write = _writer(text, low, high, unit, end_unit)
        if unit is not None and end_unit is not None and unit != BDP:
            factors = _dimension(text, unit).units
            end *= Decimal(factors[_dimension(text, end_unit).spellings.get(end_unit, end_unit)])
            end /= factors[_dimension(text, unit).spellings.get(unit, unit)]
        if not start < end:
            raise ValueError(f'"{text}": the second end must be greater than the first')
        if spacing == "log" and start <= 0:
            raise ValueError(f'"{text}": a logarithmic range must begin above 0')
        return cls(start, end, spacing, write)

    def at(self, share: float) -> str | int | float:
        """The value at a share of the way from the lower end to the upper, with four significant digits.

        A quantity that would be no whole number of its base unit is rounded to one.
        """
        return self.write(_between(float(self.start), float(self.end), share, self.spacing))

    def spread(self, steps: int) -> list[str | int | float]:
        """So many values, evenly, the ends as they are written among them."""
        between = (self.at(step / (steps - 1)) for step in range(1, steps - 1))
        return [self.write(self.start), *between, self.write(self.end)]


def _between(start: float, end: float, share: float, spacing: Spacing) -> Decimal:
    value = start * math.pow(end / start, share) if spacing == "log" else start + (end - start) * share
    return Decimal(f"{value:.{SIGNIFICANT_DIGITS}g}")


def _writer(text: str, low: str, high: str, unit: str | None, end_unit: str | None) -> Callable[[Decimal], str | int | float]:
    if unit is None and end_unit is None:
        return float if any(mark in low + high for mark in ".eE") else round
    if unit is None or end_unit is None:
        raise ValueError(f'"{text}": both ends need a unit, or neither')
    if unit == end_unit == BDP:
        return lambda value: f"{value.normalize():f} {BDP}"
    dimension, other = _dimension(text, unit), _dimension(text, end_unit)
    if dimension is not other:
        raise ValueError(f'"{text}": one end is a {dimension.name}, the other a {other.name}')
    return lambda value: _quantity(value, dimension, dimension.spellings.get(unit, unit))


def _quantity(value: Decimal, dimension: Dimension, unit: str) -> str:
    in_base_units = value * dimension.units[unit]
    if in_base_units != int(in_base_units):
        base = next(name for name, factor in dimension.units.items() if factor == 1)
        return f"{round(in_base_units)} {base}"
    return f"{value.normalize():f} {unit}"


def _dimension(text: str, unit: str) -> Dimension:
    for dimension in (DURATION, RATE, SIZE, PACKETS):
        if unit in dimension.units or unit in dimension.spellings:
            return dimension
    raise ValueError(f'"{text}": unknown unit "{unit}"')
