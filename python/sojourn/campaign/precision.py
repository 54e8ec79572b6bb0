"""Whether a metric of a cell is known well enough, and how many seeds it gets if it is not."""

import math

from sojourn.analysis import estimates, repetition
from sojourn.analysis.estimates import CellEstimates
from sojourn.analysis.result import Result
from sojourn.campaign.planning import Plan
from sojourn.sweeps.stopping import StoppingRule

#: By how much seeds grow from batch to batch: few batches for a cell that needs many, few seeds too many for one that does not.
FACTOR = 1.5


def more(seeds: int, rule: StoppingRule) -> int:
    """How many seeds the next batch of a cell has."""
    return min(rule.most_seeds, math.ceil(seeds * FACTOR))


def halves(result: Result, batch: Plan, rule: StoppingRule) -> list[float | None]:
    """Half the width of a metric's interval in each cell of a batch; none where fewer than two runs have the metric.

    An interval that is looked at before it is decided whether to go on is a little too narrow: it falls below the bound sooner
    when the runs so far happen to be alike.
    """
    metric = rule.metric
    rows = result.scan("runs") if rule.group is None else result.scan("groups").filter(flow_group=rule.group)
    by_cell = estimates.of_cells(rows, batch.axes, [metric])
    return [_half(by_cell.get(tuple(cell.axes.values())), metric) for cell in batch.cells]


def repeated(result: Result, batch: Plan) -> list[bool]:
    """Whether all seeds so far of each cell of a batch gave the same run, so that more of them would add nothing."""
    cells = repetition.labels(result.repeated, batch.axes)
    return [tuple(cell.axes.values()) in cells for cell in batch.cells]


def _half(cell: CellEstimates | None, metric: str) -> float | None:
    found = None if cell is None else cell.measured[metric]
    return None if found is None else found.half
