"""Who proposes the points of a search: places of the unit cube, some at a time, for what is told of the values of others."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sojourn.exploration import gaussian
from sojourn.exploration.space import TRIED, Dimension
from sojourn.exploration.surrogate import Surrogate

#: Points of a generation at least. It does not depend on how many runs are made at once, so that no search does.
LEAST_POINTS = 5

#: Points of a generation that are anywhere, in case the model is wrong.
BY_CHANCE = 1

#: Candidates that a model is asked about: anywhere, and near each of the best places so far.
ANYWHERE, NEAR, PARENTS = 500, 120, 5

#: The most promising candidates, whose values are seen together.
CONTENDERS = 200

#: Standard deviations of candidates near a place, and the share of coordinates that are moved.
DEVIATIONS, MOVED = (0.02, 0.08, 0.25), 0.5

#: Weights of two aims in a generation, and what a weighed sum adds so that no aim is left out of account (Knowles 2006).
TRADES, ADDED = 3, 0.05

#: Draws of places that conditions are asked about at once, at most.
MOST_AT_ONCE = 256

#: Says which places meet the conditions of the space.
Allows = Callable[[Sequence[Sequence[float]]], Sequence[bool]]

#: What each seed of a point is worth, for each aim: more is better, minus infinity is nothing at all.
Worth = Sequence[Sequence[float]]


class Proposer(Protocol):
    """Proposes generations of places, each after it was told what the one before was worth."""

    def ask(self) -> list[list[float]]:
        """The places of the next generation."""
        ...

    def tell(self, worth: Sequence[Worth]) -> None:
        """What each place of that generation is worth."""
        ...


@dataclass
class Evenly:
    """Proposes places by chance, all equally likely, whatever it is told: what others must be better than."""

    dimensions: Sequence[Dimension]
    allows: Allows
    seed: int

    def __post_init__(self) -> None:
        self._chance = random.Random(f"evenly {self.seed}")

    def ask(self) -> list[list[float]]:
        return _anywhere(len(self.dimensions), LEAST_POINTS, self._chance, self.allows)

    def tell(self, worth: Sequence[Worth]) -> None:
        """See ``Proposer.tell``: it makes no difference."""


@dataclass
class Learning:
    """Proposes where a model of what it was told expects an improvement, by one aim or by several that are traded for each other.

    The first generation is a Latin hypercube. Of each later one ``BY_CHANCE`` places are anywhere. Several aims are weighed
    anew for each part of a generation (ParEGO: Knowles 2006).
    """

    dimensions: Sequence[Dimension]
    #: Whether places meet the conditions of the space.
    allows: Allows
    #: The place of the same point in which coordinates that it does not use are in the middle.
    settle: Callable[[Sequence[float]], list[float]]
    seed: int
    #: Places of the first generation.
    first: int
    aims: int = 1

    def __post_init__(self) -> None:
        gaussian.check("a search")
        self._chance = random.Random(f"learning {self.seed}")
        self._asked: list[list[float]] = []
        #: Places, and of each what its seeds are worth for each aim.
        self._known: dict[tuple[float, ...], Worth] = {}

    def ask(self) -> list[list[float]]:
        if not self._known:
            self._asked = _hypercube(len(self.dimensions), self.first, self._chance, self.allows)
        else:
            self._asked = self._promising()
            self._asked += _anywhere(len(self.dimensions), BY_CHANCE, self._chance, self.allows)
        self._asked = [self.settle(place) for place in self._asked]
        return self._asked

    def tell(self, worth: Sequence[Worth]) -> None:
        self._known |= {tuple(place): each for place, each in zip(self._asked, worth, strict=True)}

    def _promising(self) -> list[list[float]]:
        found: list[list[float]] = []
        parts = 1 if self.aims == 1 else TRADES
        for _ in range(parts):
            values = self._weighed()
            places = [place for place, each in zip(self._known, values, strict=True) for _ in each]
            model = Surrogate(self.dimensions, places, [value for each in values for value in each])
            contenders = self._contenders(self._candidates(values), model)
            chosen = [self.settle(contenders[index]) for index in model.chosen(contenders, 2 * LEAST_POINTS)]
            new = [place for place in chosen if tuple(place) not in self._known and place not in found]
            found += new[: (LEAST_POINTS - BY_CHANCE) // parts]
        return found

    def _weighed(self) -> list[Sequence[float]]:
        """What each seed of each place is worth by weights that chance gives the aims."""
        if self.aims == 1:
            return [each[0] for each in self._known.values()]
        share = self._chance.random()
        ends = [_ends([value for each in self._known.values() for value in each[aim]]) for aim in range(self.aims)]
        return [
            [_traded(values, (share, 1 - share), ends) for values in zip(*each, strict=True)] for each in self._known.values()
        ]

    def _candidates(self, values: Sequence[Sequence[float]]) -> list[list[float]]:
        """Places anywhere, and places near the best."""
        places = [[self._chance.random() for _ in self.dimensions] for _ in range(ANYWHERE)]
        means = [math.fsum(each) / len(each) for each in values]
        order = sorted(range(len(means)), key=lambda row: -means[row])[:PARENTS]
        known = list(self._known)
        for row in order:
            for deviation in DEVIATIONS:
                places += [self._near(known[row], deviation) for _ in range(NEAR // len(DEVIATIONS))]
        return places

    def _contenders(self, candidates: Sequence[list[float]], model: Surrogate) -> list[list[float]]:
        """The most promising candidates that meet the conditions."""
        ranked, found = [candidates[index] for index in model.ranked(candidates)], list[list[float]]()
        for first in range(0, len(ranked), CONTENDERS):
            some = ranked[first : first + CONTENDERS]
            found += [place for place, is_fine in zip(some, self.allows(some), strict=True) if is_fine]
            if len(found) >= CONTENDERS // 2:
                break
        return found

    def _near(self, place: Sequence[float], deviation: float) -> list[float]:
        """A place near another: some of its coordinates are moved, at least one."""
        moved = {self._chance.randrange(len(place))}
        moved |= {index for index in range(len(place)) if self._chance.random() < MOVED}
        found = list(place)
        for index in sorted(moved):
            if self.dimensions[index].kind == "choice":
                found[index] = self._chance.random()
            else:
                found[index] = min(max(self._chance.gauss(place[index], deviation), 0.0), 1.0)
        return found


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The least and the largest that is finite."""
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    return min(finite), max(finite)


def _traded(values: Sequence[float], shares: Sequence[float], ends: Sequence[tuple[float, float]]) -> float:
    """What values of several aims are worth together by the shares that they have: the augmented Tchebycheff sum."""
    parts = [
        share * ((value - high) / (high - low) if high > low else 0.0)
        for value, share, (low, high) in zip(values, shares, ends, strict=True)
    ]
    return min(parts) + ADDED * math.fsum(parts)


def _anywhere(dimensions: int, number: int, chance: random.Random, allows: Allows) -> list[list[float]]:
    """So many places by chance that meet the conditions, or fewer if they are hard to find."""
    return _meeting(number, lambda: [[chance.random() for _ in range(dimensions)] for _ in range(LEAST_POINTS)], chance, allows)


def _hypercube(dimensions: int, number: int, chance: random.Random, allows: Allows) -> list[list[float]]:
    """So many places of which each has a part of each dimension to itself, as far as conditions let them."""
    size = max(number, LEAST_POINTS)

    def drawn() -> list[list[float]]:
        columns = [chance.sample(range(size), size) for _ in range(dimensions)]
        return [[(column[row] + chance.random()) / size for column in columns] for row in range(size)]

    return _meeting(number, drawn, chance, allows)


def _meeting(number: int, draw: Callable[[], list[list[float]]], chance: random.Random, allows: Allows) -> list[list[float]]:
    """So many of the places drawn that meet the conditions, or fewer if none of ``TRIED`` do any more.

    Conditions are asked about more and more draws at once, since each question costs as much as hundreds of places. What is
    found, and what chance gives next, is as if each draw had been asked about by itself.
    """
    found: list[list[float]] = []
    tried, at_once = 0, 1
    while len(found) < number and tried < TRIED:
        draws, states = list[list[list[float]]](), list[tuple[Any, ...]]()
        while len(draws) < at_once:
            draws.append(draw())
            states.append(chance.getstate())
        met = iter(allows([place for places in draws for place in places]))
        for places, state in zip(draws, states, strict=True):
            found += [place for place in places if next(met)]
            tried += len(places)
            if len(found) >= number:
                chance.setstate(state)
                break
        at_once = min(2 * at_once, MOST_AT_ONCE)
    return found[:number]
