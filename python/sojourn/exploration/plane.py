"""Maps of a space: two of its names with bounds are the axes, and each combination of its choices has a map of its own.

Other names with bounds stay as the scenario has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Self

from sojourn import names
from sojourn.errors import InputError
from sojourn.exploration.space import Dimension, Point, Space, amount_of
from sojourn.sweeps.file import RANGE, SEARCH
from sojourn.units import number_and_unit

#: Values of an axis that a map has at most, both ends among them, and those that are tried: nearer to each other many borders are
#: ragged.
MOST_VALUES, MOST_TRIED = 41, 21

#: Maps that are drawn beside each other at most.
MOST_SHEETS = 48

#: A place of a map: how far along each axis, from 0 to 1.
Place = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """An axis of a map."""

    name: str
    dimension: Dimension

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.dimension.kind == "whole"

    @cached_property
    def unit(self) -> str:
        """The unit in which its values are told, that of the lower end of its range; empty of mere numbers."""
        low, _, _ = (self.dimension.entry.range or "").partition("..")
        return number_and_unit(low)[1] or ""

    @property
    def is_log(self) -> bool:
        """Whether it is divided into equal factors."""
        return self.dimension.entry.ends.spacing == "log"

    @cached_property
    def shares(self) -> list[float]:
        """Where on the way from 0 to 1 its values on the map are."""
        return self._spread(MOST_VALUES)

    @cached_property
    def tried(self) -> list[float]:
        """Where those of them are that are tried."""
        return self._spread(MOST_TRIED)

    def _spread(self, most: int) -> list[float]:
        """So many places, evenly; of few whole numbers all."""
        if self.is_whole and self.dimension.size <= most:
            return [self.dimension.share(value) for value in self.dimension.whole]
        even = [step / (most - 1) for step in range(most)]
        return sorted({self.dimension.share(self.dimension.at(share)) for share in even}) if self.is_whole else even

    def number(self, value: Any) -> float:
        """A value of the axis as a number of its unit."""
        base, one = amount_of(value), amount_of(f"1 {self.unit}".rstrip())
        assert isinstance(base, float), "axes have bounds"
        assert isinstance(one, float), "it is a unit"
        return round(base / one, 9)

    def at(self, share: float) -> float:
        """The number at a share of the way."""
        return self.number(self.dimension.at(share))

    @property
    def title(self) -> str:
        """What it is called, with its unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def text(self, number: float) -> str:
        """A number of it with its unit."""
        return f"{number:.4g} {self.unit}".rstrip()


@dataclass(frozen=True)
class Sheet:
    """One map: what all its points have in common."""

    #: Where the choices are in the unit cube of the space, by dimension.
    shares: Mapping[int, float]
    #: What they are called.
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Plane:
    """The axes of a space's maps, and its maps."""

    space: Space
    x: Axis
    y: Axis
    sheets: Sequence[Sheet]

    @classmethod
    def of(cls, space: Space, axes: Sequence[str] | None, place: str | None = None) -> Self:
        """The maps of a space.

        Args:
            space: the space.
            axes: the names that run from left to right and from bottom to top; the first two with bounds unless given.
            place: what errors call that.

        Raises:
            InputError: there are no such axes, or more maps than can be shown.
        """
        by_name = {
            each.name: each
            for each in space.dimensions
            if each.kind != "choice" and each.entry.steps is None and not each.entry.when
        }
        where = place or f"{space.origin}: {RANGE}.axes"
        if axes is None:
            if len(by_name) < 2:
                found = f"there is only {next(iter(by_name))}" if by_name else "there is none"
                raise InputError(f"{space.origin}: {SEARCH}.space: a map needs two names with a range as its axes; {found}")
            axes = list(by_name)[:2]
        names.check("name", axes, space.names, InputError, f"{where}: ")
        if len(axes) != 2 or axes[0] == axes[1]:
            raise InputError(f"{where}: must be two names")
        for name in axes:
            if name not in by_name:
                raise InputError(f"{where}: {name}: {_why_not(space, name)}")
        x, y = (Axis(name, by_name[name]) for name in axes)
        sheets = list(_sheets(space))
        if len(sheets) > MOST_SHEETS:
            raise InputError(f"{space.origin}: {SEARCH}.space: its choices make {len(sheets)} maps; at most {MOST_SHEETS}")
        return cls(space, x, y, sheets)

    def point(self, sheet: Sheet, place: Place) -> Point:
        """The point of the space at a place of a map."""
        along = {self.x.name: place[0], self.y.name: place[1]}
        shares = [sheet.shares.get(number, along.get(each.name, 0.5)) for number, each in enumerate(self.space.dimensions)]
        point = dict(self.space.at(shares))
        for name, entry in self.space.searched.space.items():
            if name in point and entry.listed is None and name not in along:
                held = None if entry.steps is not None else self.space.of_file(name)
                point.pop(name)
                if held is not None:
                    point[name] = held
        return point

    def nearest(self, place: Place) -> Place:
        """The place that is tried instead of another."""
        x, y = (
            min(axis.tried, key=lambda tried: abs(tried - share)) for axis, share in zip((self.x, self.y), place, strict=True)
        )
        return x, y

    @property
    def candidates(self) -> list[Place]:
        """All places that may be tried, row by row."""
        return [(x, y) for y in self.y.tried for x in self.x.tried]

    @cached_property
    def places(self) -> list[Place]:
        """All places of a map's grid, row by row."""
        return [(x, y) for y in self.y.shares for x in self.x.shares]

    def allowed(self, sheet: Sheet, places: Sequence[Place]) -> list[bool]:
        """Which places of a map meet the conditions of the space."""
        return self.space.allows([self.point(sheet, place) for place in places])


def _why_not(space: Space, name: str) -> str:
    entry = space.searched.space[name]
    if entry.listed is not None:
        return "has choices, which have no order; an axis needs a range"
    return "is a sequence" if entry.steps is not None else 'has a "when"; an axis is there on all maps'


def _sheets(space: Space) -> Iterator[Sheet]:
    """A map for each combination of choices that makes a difference."""
    choices = [(number, each) for number, each in enumerate(space.dimensions) if each.kind == "choice"]
    seen: set[tuple[str, ...]] = set()
    for chosen in product(*([each.share(value) for value in range(each.size)] for _, each in choices)):
        shares = {number: share for (number, _), share in zip(choices, chosen, strict=True)}
        point = space.at([shares.get(number, 0.5) for number in range(len(space.dimensions))])
        labels = {each.name: space.labels(point)[each.name] for _, each in choices}
        if tuple(labels.values()) not in seen:
            seen.add(tuple(labels.values()))
            yield Sheet(shares, labels)
