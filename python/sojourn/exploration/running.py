"""Makes the runs of points, and reads from them what is looked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from sojourn import campaign as campaigns
from sojourn.analysis.result import Result
from sojourn.analysis.several_backends import beside
from sojourn.backends.backend import Backend
from sojourn.campaign import Campaign, Observer, Plan, PlannedCell
from sojourn.campaign.execution import Execute
from sojourn.errors import InputError
from sojourn.exploration.space import Point, Space
from sojourn.exploration.store import Buffered
from sojourn.names import BACKEND

#: What is read of a point.
ReadT = TypeVar("ReadT")

#: Reads it from the runs of some cells, given as the labels of their axes, with some seeds: something for each cell.
Read = Callable[[Result, Sequence[Mapping[str, str]], Sequence[int]], Sequence[ReadT]]


@dataclass
class Runner(Generic[ReadT]):
    """Makes the runs of points of a space, as many at once as it is given."""

    space: Space
    read: Read[ReadT]
    #: What carries out the runs: one backend, or the two that are compared.
    carriers: Sequence[Backend]
    store: Buffered
    jobs: int | None = None
    elsewhere: Execute | None = None
    observer: Observer = field(default_factory=Observer)
    #: Why points have no scenario or no run, the first of each kind.
    problems: list[str] = field(default_factory=list)
    #: Cells by the key of their first run: points that only look different share them.
    _cells: dict[str, Sequence[PlannedCell]] = field(default_factory=dict)

    @property
    def axes(self) -> tuple[str, ...]:
        """What tells cells apart: the names of the space, and the backend if there are several."""
        return (*self.space.names, BACKEND) if len(self.carriers) > 1 else self.space.names

    def values(self, points: Sequence[Point], seeds: int, after: int = 0) -> list[ReadT | None]:
        """What is read of so many seeds of each point, after the first ones; none of a point that is no scenario."""
        planned = [self._planned(point) for point in points]
        asked = {cells[0].name: cells for cells in planned if cells is not None}
        if not asked:
            return [None] * len(points)
        every = [replace(cell, seed=cell.seed + after) for cells in asked.values() for cell in cells]
        backends = tuple(carrier.identity for carrier in self.carriers)
        plan = Plan(self.space.name, self.axes, every, seeds, backends)
        outcome = campaigns.run(plan, self.carriers, self.store, jobs=self.jobs, elsewhere=self.elsewhere, observer=self.observer)
        self.problems += [failure.failure for failure in outcome.failures[:1] if not self.problems]
        result = self.store.result(self.space.names, plan.run_keys)
        if len(backends) > 1:
            result = beside(result)
        labels = [{name: cells[0].axes[name] for name in self.space.names} for cells in asked.values()]
        found = self.read(result, labels, range(every[0].seed, every[0].seed + seeds))
        by_name = dict(zip(asked, found, strict=True))
        return [None if cells is None else by_name[cells[0].name] for cells in planned]

    def _planned(self, point: Point) -> Sequence[PlannedCell] | None:
        """The cell of a point, checked, once for each backend; none if it is no scenario for one of them."""
        try:
            campaign = Campaign.of_cells(self.space.name, [self.space.cell(point)])
            cells = campaigns.plan(campaign, self.carriers).cells
        except InputError as error:
            self.problems += [str(error)] if not self.problems else []
            return None
        return self._cells.setdefault(next(cells[0].keys(1)), cells)
