"""Shrinks a finding to what it needs, as a property test does: fewer of what is counted, rounder numbers, what the file has.

A simpler point takes the place of the finding as long as it keeps ``KEPT`` of what the finding is above the point in the
middle of the first generation. It is looked at with ``RUNGS[1]`` seeds first, and taken only if it keeps as much with all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Any

from sojourn.exploration.hunt import RUNGS, Hunt, Trial
from sojourn.exploration.space import Point, amount_of
from sojourn.sweeps.searched import Entry
from sojourn.units import number_and_unit

#: What a shrunk finding keeps of the effect.
KEPT = 0.9

#: Significant digits that a number is rounded to, the fewest first.
DIGITS = (1, 2)


@dataclass
class Shrinker:
    """Makes the best point of a search simpler."""

    hunt: Hunt
    #: Points of the first generation, in whose middle the effect begins.
    first: int

    def go(self) -> Trial | None:
        """The simplest point that was found with what is left of the budget; none if the search found none."""
        best = self.hunt.best
        if best is None:
            return None
        known = [self.hunt.worth(trial)[0] for trial in [*self.hunt.trials.values()][: self.first] if trial.mean() is not None]
        top = self.hunt.worth(best)[0]
        least = top - (1 - KEPT) * max(0.0, top - median(known or [top]))
        found, changed, refused = best, True, set[tuple[str, ...]]()
        while changed:
            changed = False
            for name in self.hunt.space.names:
                for point in self._simpler(found.point, name):
                    label = tuple(self.hunt.space.labels(point).values())
                    if label in refused or not self.hunt.space.allows([point])[0]:
                        continue
                    trial = self.hunt.trials.get(label) or Trial(point, self.hunt.aims)
                    for rung in RUNGS[1:]:
                        if not trial.repeated and not self.hunt.evaluate([trial], rung):
                            return found
                        if self.hunt.worth(trial)[0] < least:
                            refused.add(label)
                            break
                    else:
                        found, changed = trial, True
                        break
        return found

    def _simpler(self, point: Point, name: str) -> Iterator[Point]:
        """Points that are simpler in one name, the simplest first."""
        if name not in point:
            return
        entry, value = self.hunt.space.searched.space[name], point[name]
        as_before = self.hunt.space.of_file(name)
        if as_before == value:
            return
        if as_before is not None:
            yield {**point, name: as_before}
        for simpler in _of_steps(entry, value) if entry.steps is not None else _values(entry, value):
            yield {**point, name: simpler}


def _values(entry: Entry, value: Any) -> Iterator[Any]:
    """Simpler values of a choice, a whole number or a quantity."""
    if entry.listed is not None:
        for choice in entry.choices:
            if choice.data == value:
                return
            yield choice.data
    elif isinstance(value, int):
        low = int(entry.ends.start)
        yield from sorted({low + (value - low) // part for part in (value - low + 1, 8, 4, 2)} | {max(low, value - 1)} - {value})
    else:
        yield from _rounder(entry, value)


def _rounder(entry: Entry, value: Any) -> Iterator[Any]:
    """A quantity with fewer digits, within its bounds."""
    number, unit = number_and_unit(str(value))
    digits = len(number.normalize().as_tuple().digits)
    low, high = (amount_of(entry.ends.write(end)) for end in (entry.ends.start, entry.ends.end))
    for fewer in DIGITS:
        if fewer < digits:
            rounded = Decimal(f"{number:.{fewer}g}")
            text = f"{rounded.normalize():f}" + (f" {unit}" if unit else "")
            simpler = text if unit else float(rounded)
            if low <= amount_of(simpler) <= high:  # type: ignore[operator]  # bounds and quantities are numbers
                yield simpler


def _of_steps(entry: Entry, value: list[Any]) -> Iterator[list[Any]]:
    """A sequence with steps at their lowest or like the one before, or with rounder ones."""
    low = entry.ends.write(entry.ends.start)
    if any(step != low for step in value):
        half = len(value) // 2
        for first, last in ((0, half), (half, len(value)), *((place, place + 1) for place in range(len(value)))):
            simpler = [low if first <= place < last else step for place, step in enumerate(value)]
            if simpler != value:
                yield simpler
    for place in range(1, len(value)):
        if low != value[place] != value[place - 1]:
            yield [*value[:place], value[place - 1], *value[place + 1 :]]
    for place, step in enumerate(value):
        for simpler_step in [] if step == low else _rounder(entry, step):
            yield [*value[:place], simpler_step, *value[place + 1 :]]
