"""Whether a metric of a cell is known well enough, and how many seeds it gets if it is not."""

import math

import polars as pl

from sojourn import repetition
from sojourn.campaign.planning import Plan
from sojourn.results import Result
from sojourn.statistics import estimate
from sojourn.sweep.stopping import StoppingRule

#: By how much seeds grow from batch to batch: few batches for a cell that needs many, few seeds too many for one that does not.
GROWTH = 1.5


def more(seeds: int, rule: StoppingRule) -> int:
    """How many seeds the next batch of a cell has."""
    return min(rule.most_seeds, math.ceil(seeds * GROWTH))


def halves(result: Result, batch: Plan, metric: str) -> list[float | None]:
    """Half the width of a metric's interval in each cell of a batch; none where fewer than two runs have the metric.

    An interval that is looked at before it is decided whether to go on is a little too narrow: it falls below the bound sooner
    when the runs so far happen to be alike.
    """
    runs = result.columns("runs", [*batch.axes, metric]).drop_nulls(metric)
    by_cell = {labels: frame[metric] for labels, frame in runs.partition_by(batch.axes, as_dict=True).items()}
    return [_half(by_cell.get(tuple(cell.axes.values()))) for cell in batch.cells]


def repeated(result: Result, batch: Plan) -> list[bool]:
    """Whether all seeds so far of each cell of a batch gave the same run, so that more of them would add nothing."""
    cells = set(repetition.repeated(lambda columns: result.columns("runs", columns), batch.axes).rows())
    return [tuple(cell.axes.values()) in cells for cell in batch.cells]


def _half(values: pl.Series | None) -> float | None:
    if values is None or len(values) < 2:
        return None
    mean, _, high = estimate(values.to_list())
    return None if high is None else high - mean
