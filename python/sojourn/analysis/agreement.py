"""When a measured value agrees with a published one, or with that of another backend or build.

They agree when |measured - published| <= max(15 % of published, floor). Each metric has its floor, which keeps values near zero
from being compared with a precision that neither the paper's print nor a handful of seeds can have.
"""

from sojourn.metrics import METRICS

#: The part of the published value that a measured one may be off.
RELATIVE = 0.15


def tolerance(metric: str, published: float, fair_share_mbps: float) -> float:
    """How far the measured value may be from the published one, in the metric's unit."""
    entry = METRICS[metric]
    return max(RELATIVE * abs(published), entry.floor, entry.fair_share_floor * fair_share_mbps)


def agrees(metric: str, published: float, measured: float | None, fair_share_mbps: float) -> bool:
    """Whether the two agree; what was not measurable does not."""
    return measured is not None and abs(measured - published) <= tolerance(metric, published, fair_share_mbps)
