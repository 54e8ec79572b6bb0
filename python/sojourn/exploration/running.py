"""Makes the runs of points, and asks them for the values that a search looks for."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sojourn import campaign as campaigns
from sojourn.backends.backend import Backend
from sojourn.campaign import Campaign, Observer, Plan, PlannedCell
from sojourn.campaign.execution import Execute
from sojourn.errors import InputError
from sojourn.exploration.aim import Aim, values
from sojourn.exploration.space import Point, Space
from sojourn.exploration.store import Buffered

#: Of each aim, a value for each seed; none where the run has none or failed.
Values = list[list[float | None]]


@dataclass
class Runner:
    """Makes the runs of points of a space, as many at once as it is given."""

    space: Space
    aims: Sequence[Aim]
    carrier: Backend
    store: Buffered
    jobs: int | None = None
    elsewhere: Execute | None = None
    observer: Observer = field(default_factory=Observer)
    #: Why points have no scenario or no run, the first of each kind.
    problems: list[str] = field(default_factory=list)
    #: Cells by the key of their first run: points that only look different share them.
    _cells: dict[str, PlannedCell] = field(default_factory=dict)

    def values(self, points: Sequence[Point], seeds: int, after: int = 0) -> list[Values | None]:
        """The values of so many seeds of each point, after the first ones; none of a point that is no scenario."""
        planned = [self._planned(point) for point in points]
        cells = [
            replace(cell, seed=cell.seed + after) for cell in {cell.name: cell for cell in planned if cell is not None}.values()
        ]
        if not cells:
            return [None] * len(points)
        first = cells[0]
        plan = Plan(self.space.name, self.space.names, cells, seeds, (first.backend,))
        outcome = campaigns.run(plan, self.carrier, self.store, jobs=self.jobs, elsewhere=self.elsewhere, observer=self.observer)
        self.problems += [failure.failure for failure in outcome.failures[:1] if not self.problems]
        result = self.store.result(self.space.names, plan.run_keys)
        found = values(result, self.aims, [cell.axes for cell in cells], range(first.seed, first.seed + seeds))
        by_name = {cell.name: each for cell, each in zip(cells, found, strict=True)}
        return [None if cell is None else by_name[cell.name] for cell in planned]

    def _planned(self, point: Point) -> PlannedCell | None:
        """The cell of a point, checked; none if it is no scenario."""
        try:
            campaign = Campaign.of_cells(self.space.name, [self.space.cell(point)])
            (cell,) = campaigns.plan(campaign, self.carrier).cells
        except InputError as error:
            self.problems += [str(error)] if not self.problems else []
            return None
        return self._cells.setdefault(next(cell.keys(1)), cell)
