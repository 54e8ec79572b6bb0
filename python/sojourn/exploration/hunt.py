"""The search itself: generations of points, more seeds for those that look best, and what came of it.

A point of one seed may look best by luck. So a point that looks better than the best so far gets more seeds, ``RUNGS`` in all,
as long as its mean over them stays better; only with all of them it is the best. What is proposed, and how many seeds a point
gets, depends on values alone, and not on how many runs are made at once.
"""

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

from sojourn.errors import InputError
from sojourn.exploration.aim import Aim, Sought, Values
from sojourn.exploration.disagreement import Disagreement
from sojourn.exploration.proposing import Proposer, Worth
from sojourn.exploration.running import Runner
from sojourn.exploration.space import Point, Space
from sojourn.metrics import METRICS

#: Seeds of a point: at first, if it looks best, and if it still does.
RUNGS = (1, 3, 10)

#: Seeds that confirm a finding, none of which the search has seen.
SEEDS = 10

#: The least budget in runs: two generations, the seeds of a best point, and those that confirm it.
LEAST_RUNS = 50

#: The same for a disagreement, which needs three seeds of each point on both backends.
LEAST_RUNS_OF_TWO = 150

#: Generations without a point that is new after which a search ends.
MOST_STALE = 50

#: How a budget is written, and the units of time that it may have.
_BUDGET = re.compile(r"(?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(?P<unit>runs?|s|min|h)?")
SECONDS = {"s": 1, "min": 60, "h": 3600}

#: The share of a budget, without the seeds that confirm, for the search; the rest is for shrinking.
SEARCHING = 0.75


@dataclass(frozen=True)
class Budget:
    """How many runs a search makes, or how long it takes."""

    runs: int | None
    seconds: float | None

    @classmethod
    def of(cls, text: str, place: str, least: int = LEAST_RUNS) -> Self:
        """Reads ``200 runs``, or a time.

        Raises:
            InputError: it is none, or too little to say anything; the text begins with ``place``.
        """
        match = _BUDGET.fullmatch(text.strip())
        if match is None:
            raise InputError(f'{place}: "{text}" is no budget; write "200 runs", or a time such as "5 min"')
        number, unit = float(match["number"]), match["unit"]
        if unit in SECONDS:
            if number == 0:
                raise InputError(f"{place}: {text}: too little to say anything; it must be more than 0 {unit}")
            return cls(None, number * SECONDS[unit])
        if number < least or not number.is_integer():
            raise InputError(f"{place}: {text}: too little to say anything; at least {least} whole runs")
        return cls(int(number), None)


@dataclass
class Trial:
    """A point and what its runs gave."""

    point: Point
    aims: Sequence[Sought]
    #: Of each aim, a value for each seed.
    values: Values = field(default_factory=list)

    @property
    def seeds(self) -> int:
        """How many seeds it has."""
        return len(self.values[0]) if self.values else 0

    def mean(self, aim: int = 0) -> float | None:
        """What it is worth by an aim: the mean over its seeds, or how far backends are apart; none if too few have values."""
        return self.aims[aim].mean(self.values[aim]) if self.values else None

    @property
    def repeated(self) -> bool:
        """Whether several seeds gave the same."""
        return self.seeds > 1 and all(len(set(of_aim)) == 1 for of_aim in self.values)


@dataclass
class Purse:
    """What is left of a budget."""

    budget: Budget
    #: Runs of each seed: one for each backend.
    times: int = 1
    #: Runs of the whole budget, or the moment at which its time ends, for what is under way now.
    runs: int = 0
    until: float = 0.0
    spent: int = 0
    begun: float = field(default_factory=time.monotonic)

    def open(self, share: float, kept: int = SEEDS) -> None:
        """Lets so much of the whole budget be spent, what was spent before included, but for the seeds that confirm."""
        if self.budget.runs is not None:
            self.runs = int((self.budget.runs - kept * self.times) * share)
        if self.budget.seconds is not None:
            self.until = self.begun + self.budget.seconds * share

    def take(self, wanted: int, seeds: int = 1) -> int:
        """How many of some points can be paid for, with so many seeds each; their runs are spent."""
        each = seeds * self.times
        if self.budget.runs is None:
            taken = wanted if time.monotonic() < self.until else 0
        else:
            taken = max(0, min(wanted, (self.runs - self.spent) // each))
        self.spent += taken * each
        return taken


@dataclass
class Hunt:
    """A search under way."""

    space: Space
    aims: Sequence[Sought]
    runner: Runner[Values]
    proposer: Proposer
    purse: Purse
    #: Called after each generation.
    progress: Callable[["Hunt"], None] = lambda _: None
    #: All points that were tried, in order, by what they are called.
    trials: dict[tuple[str, ...], Trial] = field(default_factory=dict)
    best: Trial | None = None
    #: What the file itself has, which takes part in a front.
    own: Trial | None = None

    def try_own(self) -> None:
        """Tries the point that the file itself has with all seeds, if it is one of the space."""
        point = self.space.own()
        if point is not None:
            trial = Trial(point, self.aims)
            if self.evaluate([trial], max(RUNGS)):
                self.own = self.trials[self._name(point)] = trial

    def beside(self, trial: Trial) -> list[float]:
        """Of each of two aims, the best value of points that are no worse than a point by the other."""
        mine = self.worth(trial)
        others = [self.worth(other) for other in [trial, *self.front()]]
        return [
            aim.sign * max(other[here] for other in others if other[1 - here] >= mine[1 - here])
            for here, aim in enumerate(self.aims)
        ]

    @property
    def first_seeds(self) -> int:
        """Seeds of each point at first: with one alone a difference of backends cannot be told from luck."""
        return RUNGS[1] if isinstance(self.aims[0], Disagreement) else RUNGS[0]

    def go(self) -> None:
        """Searches until the budget is spent, or nothing new is proposed any more."""
        stale = 0
        while stale < MOST_STALE:
            points = [self.space.at(place) for place in self.proposer.ask()]
            if not points:
                return
            named = {self._name(point): point for point in points}
            new = [name for name in named if name not in self.trials]
            paid = self.purse.take(len(new), self.first_seeds)
            self._try({name: named[name] for name in islice(new, paid)})
            self._check_metrics()
            self._choose([self.trials[name] for name in named if name in self.trials])
            self.progress(self)
            if paid < len(new):
                return
            stale = stale + 1 if not new else 0
            self.proposer.tell([self._of_seeds(self.trials[self._name(point)]) for point in points])

    def worth(self, trial: Trial) -> list[float]:
        """What a point is worth for each aim: more is better."""
        means = [trial.mean(aim) for aim in range(len(self.aims))]
        return [-math.inf if mean is None else aim.sign * mean for mean, aim in zip(means, self.aims, strict=True)]

    def _of_seeds(self, trial: Trial) -> Worth:
        """What each seed of a point is worth for each aim; nothing at all where it has no value."""
        return [
            [-math.inf if value is None else aim.sign * value for value in aim.told(values)] or [-math.inf]
            for aim, values in zip(self.aims, trial.values or [[] for _ in self.aims], strict=True)
        ]

    def is_better(self, trial: Trial, than: Trial | None) -> bool:
        """Whether a point is worth more than another by the first aim."""
        return self.worth(trial)[0] > (-math.inf if than is None else self.worth(than)[0])

    def evaluate(self, trials: Sequence[Trial], seeds: int) -> bool:
        """Gives points more seeds, if that can be paid for."""
        more = sum(max(0, seeds - trial.seeds) for trial in trials)
        if more and not self.purse.take(1, more):
            return False
        for trial, values in zip(trials, self.runner.values([trial.point for trial in trials], seeds), strict=True):
            trial.values = values or []
        return True

    def _name(self, point: Point) -> tuple[str, ...]:
        return tuple(self.space.labels(point).values())

    def _try(self, named: dict[tuple[str, ...], Point]) -> None:
        """Runs points with as few seeds as say something."""
        found = self.runner.values(list(named.values()), self.first_seeds) if named else []
        for (name, point), values in zip(named.items(), found, strict=True):
            self.trials[name] = Trial(point, self.aims, values or [])

    def _check_metrics(self) -> None:
        """Refuses a metric that no point of the first generation has: whether runs have it seldom depends on what varies.

        An expression may be of something rare, and is looked for to the end.
        """
        if not self.trials:
            return
        for number, aim in enumerate(self.aims):
            if isinstance(aim, Aim) and aim.text in METRICS and all(trial.mean(number) is None for trial in self.trials.values()):
                problem = next(iter(self.runner.problems), f"its definition says what it needs: {METRICS[aim.text].definition}")
                raise InputError(f"{aim.place}: {aim.text} has no value at any of the first {len(self.trials)} points: {problem}")

    def _choose(self, trials: Sequence[Trial]) -> None:
        """Gives more seeds to what looks best: by one aim what is better than the best so far, by two all of the front."""
        if len(self.aims) > 1:
            self.settle_front()
            return
        for trial in sorted(trials, key=lambda trial: -self.worth(trial)[0]):
            for rung in RUNGS:
                if not self.is_better(trial, self.best):
                    break
                if trial.seeds < rung and not trial.repeated and not self.evaluate([trial], rung):
                    return
            else:
                if self.is_better(trial, self.best):
                    self.best = trial

    def settle_front(self) -> None:
        """Gives the points of the front all their seeds, as far as the budget goes."""
        for rung in RUNGS[1:]:
            while short := [trial for trial in self.front() if trial.seeds < rung and not trial.repeated]:
                if not self.evaluate(short[:1], rung):
                    return

    def front(self) -> list[Trial]:
        """The points than which no other is better by all aims, sorted by the first."""
        worth = [(self.worth(trial), trial) for trial in self.trials.values() if trial.values]
        worth = [(each, trial) for each, trial in worth if all(map(math.isfinite, each))]
        best = [
            (each, trial)
            for each, trial in worth
            if not any(
                all(theirs >= mine for theirs, mine in zip(other, each, strict=True)) and other != each for other, _ in worth
            )
        ]
        return [trial for _, trial in sorted(best, key=lambda pair: pair[0])]
