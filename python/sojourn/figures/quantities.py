"""An axis of quantities: where its values lie to scale, in which unit, and whether the scale is linear or logarithmic."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np

from sojourn import units
from sojourn.errors import InputError
from sojourn.figures.drawn import Scale

#: Values of an axis that each have a tick; of more Vega chooses ticks.
MOST_TICKS = 12

#: The share of an axis that is left free on either side.
FREE = 0.04

#: Points between the marks of two series at one place, and the share of the least distance of places that they take at most.
APART, TAKEN = 4, 0.6


@dataclass(frozen=True)
class Quantities:
    """The values of an axis, as numbers of one unit."""

    #: What the axis is called, with its unit.
    title: str
    #: Each label's number.
    numbers: Mapping[str, float]
    scale: Scale
    #: Labels that stand for numbers in place of these, where they have no unit in common.
    ticks: Sequence[str] = ()

    def encoding(self, field: str, series: int, width: int) -> alt.X:
        """The horizontal axis of a panel so wide, with room for so many series beside each other; its values have the ticks."""
        numbers = sorted(set(self.numbers.values()))
        places = self._places
        free = max(FREE * self._span, (series + 1) / 2 * self._step(series, width))
        ends = [self._number(places[0] - free), self._number(places[-1] + free)]
        axis: dict[str, Any] = {"grid": True, "labelOverlap": "greedy", "format": ".6~g"}
        if len(numbers) <= MOST_TICKS:
            axis["values"] = numbers
        if self.ticks:
            axis |= {"labelExpr": f"{list(self.ticks)}[datum.value]".replace("'", '"'), "labelOverlap": False}
        scale = alt.Scale(type=self.scale, domain=ends, nice=False, zero=False)
        return alt.X(f"{field}:Q", title=self.title, scale=scale, axis=alt.Axis(**axis))

    def beside(self, series: Sequence[str], width: int) -> list[tuple[str, str, float]]:
        """Where each series has its mark at each label: beside the others in a panel so wide, and not on them."""
        step = self._step(len(series), width)
        shifts = [(told, (place - (len(series) - 1) / 2) * step) for place, told in enumerate(series)]
        return [
            (label, told, self._number(self._place(number) + shift))
            for label, number in self.numbers.items()
            for told, shift in shifts
        ]

    @cached_property
    def _places(self) -> list[float]:
        return sorted({self._place(each) for each in self.numbers.values()})

    @property
    def _span(self) -> float:
        return self._places[-1] - self._places[0] or 1.0

    def _step(self, series: int, width: int) -> float:
        """How far the marks of two of so many series are apart."""
        nearest = min((later - earlier for earlier, later in pairwise(self._places)), default=self._span)
        return min(APART / width * self._span, TAKEN * nearest / series)

    def _place(self, number: float) -> float:
        return math.log(number) if self.scale == "log" else number

    def _number(self, place: float) -> float:
        return math.exp(place) if self.scale == "log" else place


def of(figure: str, axis: str, labels: Sequence[str], wanted: Scale | None = None) -> Quantities | None:
    """The quantities that the labels of an axis say; none if one says none.

    The scale is logarithmic if values lie more evenly so, unless one is given.

    Raises:
        InputError: a logarithmic scale is wanted that cannot have the values.
    """
    found = {label: measured for label in labels if (measured := units.measured(label)) is not None}
    if len(found) < len(labels):
        return None
    if len({tuple(measured.units) for measured in found.values()}) > 1:
        if wanted is not None:
            raise InputError(f"figure {figure}: values of {axis} have no unit in common, so that they have no scale")
        order = sorted(labels, key=lambda label: found[label].amount)
        return Quantities(axis, {label: float(place) for place, label in enumerate(order)}, "linear", order)
    unit, factor = _unit(list(labels), found)
    numbers = {label: float(found[label].amount / factor) for label in labels}
    if wanted == "log" and min(numbers.values()) <= 0:
        least = min(numbers, key=lambda label: numbers[label])
        raise InputError(f"figure {figure}: --x-scale log: {axis} has the value {least}; a logarithmic scale begins above 0")
    scale: Scale = wanted or ("log" if _is_geometric(sorted(set(numbers.values()))) else "linear")
    return Quantities(f"{axis} ({unit})" if unit else axis, numbers, scale)


def _unit(labels: Sequence[str], found: Mapping[str, units.Measured]) -> tuple[str, int]:
    """The unit that all labels have, or else the largest that is no larger than their geometric mean, and its factor."""
    known = found[labels[0]].units
    own = {units.number_and_unit(label)[1] or "" for label in labels} if len(known) > 1 else set(known)
    if len(own) == 1 and (unit := next(iter(own))) in known:
        return unit, known[unit]
    sizes = [float(each.amount) for each in found.values() if each.amount > 0] or [1.0]
    middle = math.exp(sum(map(math.log, sizes)) / len(sizes))
    factors = {factor: unit for unit, factor in known.items()}
    factor = max((factor for factor in factors if factor <= middle), default=min(factors))
    return factors[factor], factor


def _is_geometric(numbers: Sequence[float]) -> bool:
    """Whether steps between values are more alike as ratios than as differences; of two values if one is ten times the other."""
    if numbers[0] <= 0 or len(numbers) < 2:
        return False
    if len(numbers) == 2:
        return numbers[1] >= 10 * numbers[0]
    steps = np.diff(numbers), np.diff(np.log(numbers))
    linear, log = (float(each.std() / each.mean()) for each in steps)
    return log < linear
