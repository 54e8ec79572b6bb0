"""When a measured figure agrees with a published one.

A figure agrees when |measured - published| <= max(15 % of published, floor). The floor keeps figures near zero from being held
to a precision that neither the paper's print nor a handful of seeds can have.
"""

#: The part of the published figure that a measured one may be off.
RELATIVE = 0.15

#: How far each metric may be off in any case, in its own unit; those that are never near zero have no floor.
FLOORS = {
    "jain": 0.05,
    "drop_pct": 0.1,
    "queue_mean_pkts": 5.0,
    "queue_sd_pkts": 10.0,
    "share_pct": 3.0,
    "utilisation": 0.03,  # a share, too: 3 points
}

#: The same for throughputs, as a part of the fair share: the bottleneck's rate over the number of flows in the run.
THROUGHPUT_FLOOR = 0.05


def tolerance(metric: str, published: float, fair_share_mbps: float) -> float:
    """How far the measured figure may be from the published one, in the metric's unit."""
    floor = THROUGHPUT_FLOOR * fair_share_mbps if metric.endswith("_mbps") else FLOORS.get(metric, 0.0)
    return max(RELATIVE * abs(published), floor)


def agrees(metric: str, published: float, measured: float | None, fair_share_mbps: float) -> bool:
    """Whether the two agree; what was not measurable does not."""
    return measured is not None and abs(measured - published) <= tolerance(metric, published, fair_share_mbps)
