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

_CONDITION = re.compile(r"\s*ci\(\s*(?P<metric>\w+)\s*\)\s*<\s*(?P<bound>\S+)\s*")


@dataclass(frozen=True)
class StoppingRule:
    """Seeds are added until half the width of the 95 % confidence interval of a metric's mean is below a bound."""

    metric: str
    #: In the metric's unit.
    bound: float
    #: Where it ends in any case.
    most_seeds: int = MOST_SEEDS

    @classmethod
    def of(cls, text: str, most_seeds: int = MOST_SEEDS) -> Self:
        """Reads ``ci(jain) < 0.02``.

        Raises:
            ValueError: it is no such condition, there is no such metric, or the bound is not above 0.
        """
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise ValueError(f'"{text}" is not a condition; write a metric and a bound, such as "ci(jain) < 0.02"')
        known = [metric.name for metric in metrics.of_run()]
        if match["metric"] not in known:
            raise ValueError(names.unknown("metric", match["metric"], known))
        try:
            bound = float(match["bound"])
        except ValueError:
            raise ValueError(f'"{text}": "{match["bound"]}" is not a number') from None
        if not 0 < bound < math.inf:
            raise ValueError(f'"{text}": the bound must be a number greater than 0')
        return cls(match["metric"], bound, most_seeds)
