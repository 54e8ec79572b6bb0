"""How many seeds a cell gets when its precision decides: a bound of a confidence interval."""

import math
import re
from dataclasses import dataclass
from typing import Self

from sojourn import metrics, names

#: Seeds that each cell has at least: a deviation of two values says next to nothing.
LEAST_SEEDS = 3

#: Seeds that a cell has at most unless told otherwise.
MOST_SEEDS = 100

_CONDITION = re.compile(r"\s*ci\(\s*(?P<metric>\w+)\s*(?:,\s*(?P<group>\S.*?)\s*)?\)\s*<\s*(?P<bound>\S+)\s*")


@dataclass(frozen=True)
class StoppingRule:
    """Seeds are added until half the width of the 95 % confidence interval of a metric's mean is below a bound."""

    metric: str
    #: In the metric's unit.
    bound: float
    #: Where it ends in any case.
    most_seeds: int = MOST_SEEDS
    #: The group of flows whose metric it is; none of the whole run.
    group: str | None = None

    @property
    def told(self) -> str:
        """What the interval is of: ``jain``, or ``share_pct, downloads``."""
        return self.metric if self.group is None else f"{self.metric}, {self.group}"

    @classmethod
    def of(cls, text: str, most_seeds: int = MOST_SEEDS) -> Self:
        """Reads ``ci(jain) < 0.02``, or of a group of flows ``ci(share_pct, downloads) < 1``."""
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise ValueError(f'"{text}" is not a condition; write a metric and a bound, such as "ci(jain) < 0.02"')
        metric, group = match["metric"], match["group"]
        known = [each.name for each in (metrics.of_run() if group is None else metrics.of_group())]
        if metric not in known and metric in metrics.METRICS:
            instead = f"write ci({metric}, GROUP)" if group is None else f"write ci({metric})"
            raise ValueError(f'"{metric}" is a metric of {"groups" if group is None else "runs"} only; {instead}')
        names.check("metric", metric, known)
        try:
            bound = float(match["bound"])
        except ValueError:
            raise ValueError(f'"{text}": "{match["bound"]}" is not a number') from None
        if not 0 < bound < math.inf:
            raise ValueError(f'"{text}": the bound must be a number greater than 0')
        return cls(metric, bound, most_seeds, group)
