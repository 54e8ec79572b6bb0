"""Seeds added cell by cell until a metric is known well enough."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import polars as pl

from sojourn.campaign import Conducted, Plan, PlannedCell
from sojourn.statistics import estimate
from sojourn.store import Keeper
from sojourn.sweep.stopping import StoppingRule

#: By how much seeds grow from batch to batch: few batches for a cell that needs many, few seeds too many for one that does not.
GROWTH = 1.5


@dataclass(frozen=True)
class Unsettled:
    """A cell that has as many seeds as it may have, and is not known well enough for all that."""

    cell: PlannedCell
    #: Half the width of the interval, in the metric's unit; none if fewer than two runs have the metric.
    half: float | None

    def told(self, rule: StoppingRule) -> str:
        """The same on one line."""
        half = "not to be had" if self.half is None else f"{self.half:.3g}"
        return f"{self.cell.name}: after {rule.most_seeds} seeds ci({rule.metric}) is {half}, and not below {rule.bound:g}"


@dataclass(frozen=True)
class Settled:
    """A campaign whose cells got as many seeds as they need, or as they may have."""

    conducted: Conducted
    unsettled: list[Unsettled]


def conduct_until(planned: Plan, rule: StoppingRule | None, keeper: Keeper, conduct: Callable[[Plan], Conducted]) -> Settled:
    """Carries out a plan and then more and more seeds of those cells whose metric's interval is not yet below the bound.

    An interval that is looked at before it is decided whether to go on is a little too narrow: it falls below the bound sooner
    when the runs so far happen to be alike.

    Args:
        planned: the plan with the least number of seeds.
        rule: what decides, and how many seeds a cell gets at most; without one the plan is carried out as it is.
        keeper: what keeps the results.
        conduct: carries out a plan with the keeper; runs that it has must not be made again.
    """
    if rule is None:
        return Settled(conduct(planned), [])
    seeds = dict.fromkeys(range(len(planned.cells)), 0)
    open_cells = list(seeds)
    repetitions, finished, found = planned.repetitions, 0, 0
    while True:
        batch = replace(planned, cells=[planned.cells[index] for index in open_cells], repetitions=repetitions)
        conducted = conduct(batch)
        before = sum(seeds[index] for index in open_cells)
        seeds |= dict.fromkeys(open_cells, repetitions)
        # What earlier batches have made is found again.
        finished += conducted.finished - before
        found += conducted.found - before
        halves = _halves(conducted, batch, rule.metric)
        wide = {index: half for index, half in zip(open_cells, halves, strict=True) if half is None or half >= rule.bound}
        if not wide or conducted.failures or repetitions >= rule.most_seeds:
            break
        open_cells = list(wide)
        repetitions = min(rule.most_seeds, math.ceil(repetitions * GROWTH))

    def run_keys() -> Iterator[str]:
        return chain.from_iterable(cell.keys(seeds[index]) for index, cell in enumerate(planned.cells))

    result = keeper.result(planned.axes, run_keys)
    unsettled = [Unsettled(planned.cells[index], half) for index, half in wide.items()]
    return Settled(Conducted(result, conducted.failures, finished, found), unsettled)


def _halves(conducted: Conducted, batch: Plan, metric: str) -> list[float | None]:
    runs = conducted.result.columns("runs", [*batch.axes, metric]).drop_nulls(metric)
    by_cell = {labels: frame[metric] for labels, frame in runs.partition_by(batch.axes, as_dict=True).items()}
    return [_half(by_cell.get(tuple(cell.axes.values()))) for cell in batch.cells]


def _half(values: pl.Series | None) -> float | None:
    if values is None or len(values) < 2:
        return None
    mean, _, high = estimate(values.to_list())
    return None if high is None else high - mean
