"""How much of a difference from a published value is chance: how far our own runs differ.

A published value comes from few runs, often one, and varies with them. Where our own runs do not agree with each other, agreement
with the paper tells little.
"""

from collections.abc import Sequence

from sojourn.analysis.agreement import agrees
from sojourn.statistics import LEAST_FOR_INTERVAL


def self_agreement(metric: str, values: Sequence[float], fair_share_mbps: float) -> float | None:
    """The share of seeds whose value would agree with the mean of all other seeds if that were published.

    None if there are fewer than two seeds.
    """
    if len(values) < LEAST_FOR_INTERVAL:
        return None
    total, others = sum(values), len(values) - 1
    return sum(agrees(metric, (total - value) / others, value, fair_share_mbps) for value in values) / len(values)
