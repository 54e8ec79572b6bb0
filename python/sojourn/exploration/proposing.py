"""Who proposes the points of a search: places of the unit cube, some at a time, for what is told of the values of others."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sojourn.errors import InputError
from sojourn.exploration.space import Dimension

#: What is said where the optimiser is not installed.
NEEDED = "a search needs the package cmaes; install sojourn[search]"

#: Points of a generation at least. It does not depend on how many runs are made at once, so that no search does.
LEAST_POINTS = 8

#: Standard deviations of the first generation of a strategy: about the best place so far, and anywhere.
NEAR, WIDE = 0.2, 0.3

#: Generations without a better place after which a strategy begins anew.
PATIENCE = 8

#: Strategies that work at a front side by side.
STRATEGIES = 4

#: Whole numbers between the bounds of a dimension up to which it is no real one.
FEW = 100

#: How often a strategy is asked for a generation that meets the conditions.
MOST_TRIES = 20

#: Says which places meet the conditions of the space.
Allows = Callable[[Sequence[Sequence[float]]], Sequence[bool]]


class Proposer(Protocol):
    """Proposes generations of places, each after it was told what the one before was worth."""

    def ask(self) -> list[list[float]]:
        """The places of the next generation."""
        ...

    def tell(self, worth: Sequence[Sequence[float]]) -> None:
        """What each place of that generation is worth, for each aim: more is better, minus infinity is nothing at all."""
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
        found: list[list[float]] = []
        while len(found) < LEAST_POINTS:
            places = [[self._chance.random() for _ in self.dimensions] for _ in range(LEAST_POINTS)]
            found += [place for place, is_fine in zip(places, self.allows(places), strict=True) if is_fine]
        return found[:LEAST_POINTS]

    def tell(self, worth: Sequence[Sequence[float]]) -> None:
        """See ``Proposer.tell``: it makes no difference."""


@dataclass
class Evolving:
    """CatCMA with Margin (Hamano et al. 2025): an evolution strategy for reals, whole numbers and choices together.

    The first generation is a Latin hypercube, and the strategy begins at the best place of it. After ``PATIENCE`` generations
    without a better place it begins anew somewhere else. It is told ranks, which is all that it goes by.
    """

    dimensions: Sequence[Dimension]
    #: Whether places meet the conditions of the space.
    allows: Allows
    seed: int
    #: Places of the first generation.
    first: int

    def __post_init__(self) -> None:
        _ = _cmaes()  # says what is missing before anything is run
        self._chance = random.Random(f"evolving {self.seed}")
        self._strategy: Any = None
        self._asked: list[Any] = []
        self._places: list[list[float]] = []
        self._best, self._patience, self._begun = -math.inf, 0, 0

    def ask(self) -> list[list[float]]:
        if self._strategy is None:
            self._places = _hypercube(len(self.dimensions), self.first, self._chance, self.allows)
            return self._places
        found: list[tuple[Any, list[float]]] = []
        population = self._strategy.population_size
        for _ in range(MOST_TRIES):
            asked = [self._strategy.ask() for _ in range(2 * population)]
            places = [_place(self.dimensions, solution) for solution in asked]
            fine = self.allows(places)
            found += [pair for pair, is_fine in zip(zip(asked, places, strict=True), fine, strict=True) if is_fine]
            if len(found) >= population:
                break
        else:
            # Where conditions leave hardly anything of what it proposes, it begins anew where they do.
            self._begin(_hypercube(len(self.dimensions), 1, self._chance, self.allows)[0], WIDE)
            return self.ask()
        self._asked, self._places = (list(each) for each in zip(*found[:population], strict=True))
        return self._places

    def tell(self, worth: Sequence[Sequence[float]]) -> None:
        values = [each[0] for each in worth]
        best = max(values)
        if self._strategy is None:
            self._best = best
            self._begin(self._places[values.index(best)], NEAR)
            return
        if len(set(values)) > 1:  # where all are alike there is nothing to learn
            order = sorted(range(len(values)), key=lambda place: -values[place])
            self._strategy.tell([(self._asked[place], float(rank)) for rank, place in enumerate(order)])
        self._patience = 0 if best > self._best else self._patience + 1
        self._best = max(best, self._best)
        if self._patience >= PATIENCE:
            self._best = -math.inf
            self._begin(_hypercube(len(self.dimensions), 1, self._chance, self.allows)[0], WIDE)

    def _begin(self, at: Sequence[float], deviation: float) -> None:
        """Begins at a place, with a standard deviation as a share of each dimension."""
        self._patience = 0
        self._strategy = _cmaes().CatCMAwM(**_start(self.dimensions, at, deviation), seed=_seed(self.seed, self._begun))
        self._begun += 1


@dataclass
class Trading:
    """COMO-CatCMA with Margin: strategies side by side, each for a part of the front between two aims."""

    dimensions: Sequence[Dimension]
    allows: Allows
    seed: int

    def __post_init__(self) -> None:
        cmaes = _cmaes()
        chance = random.Random(f"trading {self.seed}")
        starts = _hypercube(len(self.dimensions), STRATEGIES, chance, self.allows)
        kernels = [
            cmaes.CatCMAwM(**_start(self.dimensions, at, WIDE), seed=_seed(self.seed, number)) for number, at in enumerate(starts)
        ]
        self._strategy = cmaes.COMOCatCMAwM(**_cube(self.dimensions), kernels=kernels, seed=_seed(self.seed, STRATEGIES))
        self._asked: list[Any] = []
        self._worst = [math.inf, math.inf]

    def ask(self) -> list[list[float]]:
        self._asked = list(self._strategy.ask_iter())
        return [_place(self.dimensions, solution) for solution in self._asked]

    def tell(self, worth: Sequence[Sequence[float]]) -> None:
        finite = [each for each in worth if all(map(math.isfinite, each))]
        for aim in range(2):
            self._worst[aim] = min([self._worst[aim], *(each[aim] for each in finite)])
        # What has no value counts as the worst of all that have one.
        worst = [each if math.isfinite(each) else 0.0 for each in self._worst]
        told = [each if all(map(math.isfinite, each)) else worst for each in worth]
        self._strategy.tell([(asked, [-value for value in each]) for asked, each in zip(self._asked, told, strict=True)])


def _cmaes() -> Any:
    try:
        import cmaes
    except ImportError:
        raise InputError(NEEDED) from None
    return cmaes


def _seed(seed: int, number: int) -> int:
    """A seed for NumPy's generator, which takes no large ones."""
    return random.Random(f"strategy {seed} {number}").randrange(2**32)


def _kinds(dimensions: Sequence[Dimension]) -> tuple[list[int], list[int], list[int]]:
    """The places of real dimensions or nearly so, whole ones, and choices; those of one value are left out."""
    reals = [place for place, each in enumerate(dimensions) if each.kind == "real" or (each.kind == "whole" and each.size > FEW)]
    wholes = [place for place, each in enumerate(dimensions) if each.kind == "whole" and place not in reals]
    choices = [place for place, each in enumerate(dimensions) if each.kind == "choice" and each.size > 1]
    return reals, wholes, choices


def _cube(dimensions: Sequence[Dimension]) -> dict[str, Any]:
    """The unit cube as the strategy wants it."""
    reals, wholes, choices = _kinds(dimensions)
    steps = [[dimensions[place].share(value) for value in dimensions[place].whole] for place in wholes]
    return {
        "x_space": [[0.0, 1.0]] * len(reals) or None,
        "z_space": steps or None,
        "c_space": [dimensions[place].size for place in choices] or None,
    }


def _start(dimensions: Sequence[Dimension], at: Sequence[float], deviation: float) -> dict[str, Any]:
    """Where a strategy begins: half of the weight of each choice is on that of the place."""
    import numpy as np

    reals, wholes, choices = _kinds(dimensions)
    ordered = [*reals, *wholes]
    begin: dict[str, Any] = {**_cube(dimensions), "population_size": max(LEAST_POINTS, 4 + int(3 * math.log(len(dimensions))))}
    if ordered:
        begin |= {"mean": np.array([at[place] for place in ordered]), "cov": np.eye(len(ordered)) * deviation**2}
    if choices:
        weights = np.zeros((len(choices), max(dimensions[place].size for place in choices)))
        for row, place in enumerate(choices):
            size = dimensions[place].size
            weights[row, :size] = 0.5 / size
            weights[row, dimensions[place].at(at[place])] += 0.5
        begin["cat_param"] = weights
    return begin


def _place(dimensions: Sequence[Dimension], solution: Any) -> list[float]:
    """The place of the unit cube that a strategy proposes."""
    reals, wholes, choices = _kinds(dimensions)
    place = [0.5] * len(dimensions)
    for index, coordinate in zip(reals, solution.x if reals else (), strict=True):
        place[index] = float(coordinate)
    for index, coordinate in zip(wholes, solution.z if wholes else (), strict=True):
        place[index] = float(coordinate)
    for index, chosen in zip(choices, solution.c if choices else (), strict=True):
        place[index] = dimensions[index].share(int(chosen.argmax()))
    return place


def _hypercube(dimensions: int, number: int, chance: random.Random, allows: Allows) -> list[list[float]]:
    """So many places of which each has a part of each dimension to itself, as far as conditions let them.

    The space has been checked: there are such places.
    """
    found: list[list[float]] = []
    while len(found) < number:
        size = max(number, LEAST_POINTS)
        columns = [chance.sample(range(size), size) for _ in range(dimensions)]
        places = [[(column[row] + chance.random()) / size for column in columns] for row in range(size)]
        found += [place for place, is_fine in zip(places, allows(places), strict=True) if is_fine]
    return found[:number]
