"""Where verdicts begin: places of maps that are tried, ever nearer to the borders, and what came of it.

The first places are spread evenly. Then those are tried where it is least clear, by what is known so far, whether a verdict
holds, on all maps together. Places get few seeds at first, and all of ``SEEDS`` where these differ, as they do near borders.
What is tried depends on what runs say alone, and not on how many are made at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING

from sojourn.analysis.result import Result
from sojourn.exploration import gaussian
from sojourn.exploration.frontier import Frontier, Outlook
from sojourn.exploration.hunt import Purse
from sojourn.exploration.operating import OperatingRange, Tried
from sojourn.exploration.plane import Place, Plane
from sojourn.exploration.running import Runner
from sojourn.verdicts import Definition, Observed, observe

if TYPE_CHECKING:
    from sojourn.exploration.frontier import Numbers

#: Seeds of a place, at first and where they differ: six that agree are the least for a verdict (docs/measures.md).
FIRST_SEEDS, SEEDS = 2, 6

#: Places of a map that are spread evenly, besides its corners: at least, and at most.
LEAST_SPREAD, MOST_SPREAD = 16, 32

#: Corners of a map.
CORNERS: Sequence[Place] = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))

#: The share of a budget that evenly spread places may have.
SPREADING = 0.4

#: What the runs of a place say of a verdict that cannot be asked of them.
NOT_ASKED: Sequence[tuple[bool, float | None]] = ((False, None),)

#: New places of a generation, and those that get all seeds. It does not depend on how many runs are made at once.
NEW, DEEPER = 8, 2


def least_runs(plane: Plane) -> int:
    """The least budget in runs: the first places of each map, and as many runs again near borders."""
    return 2 * FIRST_SEEDS * (LEAST_SPREAD + len(CORNERS)) * len(plane.sheets)


def read(
    asked: Sequence[Definition], result: Result, cells: Sequence[Mapping[str, str]], _seeds: Sequence[int]
) -> list[Observed]:
    """What the runs of each cell say of the verdicts that are asked."""
    found = observe(result, asked)
    return [found.get(tuple(axes[axis] for axis in result.axes), {}) for axes in cells]


@dataclass
class Exploration:
    """A range under way."""

    plane: Plane
    asked: Sequence[Definition]
    runner: Runner[Observed]
    purse: Purse
    seed: int
    progress: Callable[["Exploration"], None] = lambda _: None
    #: All places that were tried, map by map, by what their points are called.
    tried: list[dict[tuple[str, ...], Tried]] = field(default_factory=list)

    def go(self) -> None:
        """Tries places until the budget is spent, or everything is clear."""
        self.tried = [{} for _ in self.plane.sheets]
        self._try([(number, place) for number in range(len(self.plane.sheets)) for place in self._spread(number)])
        self.progress(self)
        while True:
            with gaussian.alone():
                known = self.frontiers()
                new = self._unclear(known)
            spent = self.purse.spent
            self._deepen()
            self._try(new)
            if self.purse.spent == spent:
                return
            self.progress(self)

    def frontiers(self) -> list[list[Frontier]]:
        """What is known of each verdict that could be asked somewhere on each map; where it could not, it does not hold."""
        found: list[list[Frontier]] = []
        for tried in self.tried:
            answered = [one for one in tried.values() if one.said]
            possible = [each for each in self.asked if any(each.id in one.said for one in answered)]
            found.append([Frontier(each, {one.place: one.said.get(each.id, NOT_ASKED) for one in answered}) for each in possible])
        return found

    def _spread(self, number: int) -> list[Place]:
        """The places of a map that are tried first: its corners, and a Sobol sequence."""
        from scipy.stats import qmc

        sheet = self.plane.sheets[number]
        size = MOST_SPREAD
        room = None if self.purse.budget.runs is None else self.purse.budget.runs * SPREADING / len(self.plane.sheets)
        while room is not None and size > LEAST_SPREAD and FIRST_SEEDS * (size + len(CORNERS)) > room:
            size //= 2
        sequence = qmc.Sobol(2, scramble=True, rng=self.seed)
        found: list[Place] = []
        wanted = [*CORNERS]
        # Conditions may leave little of a map.
        for _ in range(16):
            drawn = [(float(x), float(y)) for x, y in sequence.random(size)]
            places = [self.plane.nearest(place) for place in [*wanted, *drawn]]
            fine = self.plane.allowed(sheet, places)
            found += [place for place, is_fine in zip(places, fine, strict=True) if is_fine]
            wanted = []
            if len(found) >= size:
                break
        return found[: size + len(CORNERS)]

    def _name(self, number: int, place: Place) -> tuple[str, ...]:
        return tuple(self.plane.space.labels(self.plane.point(self.plane.sheets[number], place)).values())

    def _try(self, wanted: Iterable[tuple[int, Place]]) -> None:
        """Runs places of maps with the first seeds, as far as they can be paid for."""
        new: list[Tried] = []
        for number, place in wanted:
            name = self._name(number, place)
            if name not in self.tried[number] and self.purse.take(1, FIRST_SEEDS):
                point = self.plane.point(self.plane.sheets[number], place)
                self.tried[number][name] = Tried(number, place, point)
                new.append(self.tried[number][name])
        self._run(new, FIRST_SEEDS)

    def _deepen(self) -> None:
        """Gives all seeds to some of the places whose seeds differ."""
        differing = (
            each for tried in self.tried for each in tried.values() if each.seeds < SEEDS and any(map(each.differs, each.said))
        )
        self._run([each for each in islice(differing, DEEPER) if self.purse.take(1, SEEDS - each.seeds)], SEEDS)

    def _run(self, places: Sequence[Tried], seeds: int) -> None:
        # Map by map: beside a cell that differs only in having DropTail a verdict says more, which a place alone could not.
        for _, found in groupby(sorted(places, key=attrgetter("sheet")), attrgetter("sheet")):
            its = list(found)
            for each, said in zip(its, self.runner.values([each.point for each in its], seeds), strict=True):
                each.said, each.seeds = said or {}, seeds

    @cached_property
    def _grids(self) -> "list[tuple[Numbers, list[tuple[str, ...]]]]":
        """The places of each map that may be tried, and what their points are called."""
        import numpy as np

        found = []
        for number, sheet in enumerate(self.plane.sheets):
            fine = self.plane.allowed(sheet, self.plane.candidates)
            places = [place for place, is_fine in zip(self.plane.candidates, fine, strict=True) if is_fine]
            found.append((np.array(places).reshape(-1, 2), [self._name(number, place) for place in places]))
        return found

    def _unclear(self, known: Sequence[Sequence[Frontier]]) -> list[tuple[int, Place]]:
        """The places to try next: each time that where a verdict is least clear, as if those before it had been tried."""
        import numpy as np

        outlooks: list[list[Outlook]] = [
            [each.outlook(places) for each in frontiers if not each.is_plain]
            for (places, _), frontiers in zip(self._grids, known, strict=True)
        ]
        left = [
            np.array([name not in tried for name in called]) for (_, called), tried in zip(self._grids, self.tried, strict=True)
        ]
        found: list[tuple[int, Place]] = []
        while len(found) < NEW:
            best, number, index = 0.0, -1, -1
            for map_, its in enumerate(outlooks):
                if its and left[map_].any():
                    unclear = np.where(left[map_], np.max([each.unclear for each in its], axis=0), -np.inf)
                    if unclear.max() > best:
                        best, number, index = float(unclear.max()), map_, int(unclear.argmax())
            if number < 0:
                break
            left[number][index] = False
            x, y = self._grids[number][0][index]
            found.append((number, (float(x), float(y))))
            for each in outlooks[number]:
                each.choose(index)
        return found


def explore(
    plane: Plane,
    asked: Sequence[Definition],
    runner: Runner[Observed],
    purse: Purse,
    seed: int = 0,
    progress: Callable[[Exploration], None] = lambda _: None,
) -> OperatingRange:
    """Finds where on the maps of a space verdicts begin to hold.

    Args:
        plane: the maps.
        asked: the verdicts.
        runner: makes the runs, and reads from them what ``read`` does.
        purse: what may be spent; it has been opened.
        seed: that of the places that are tried first.
        progress: called after each generation.
    """
    exploration = Exploration(plane, asked, runner, purse, seed, progress)
    exploration.go()
    with gaussian.alone():
        known = exploration.frontiers()
    tried = [each for sheet in exploration.tried for each in sheet.values()]
    return OperatingRange(plane, asked, tried, known, purse.spent, runner.problems[0] if runner.problems else None)
