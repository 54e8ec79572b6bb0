"""Speed of every congestion control, relative to New Reno's.

All run in the cell of nine flows, in New Reno's place. Its round trips are short, so that all lose about as many packets: the
comparison is of the controls' work, not of the cost of their losses. One that needs routers of its own has them, and so has New
Reno beside it.
"""

from sojourn import catalogue
from sojourn.bench import piotrowska, queues, speed
from sojourn.bench.measurements import Extent, Notify, Part, Row
from sojourn.specification import RunSpecification

#: The queue of routers without which a control hardly sends.
ROUTERS = {"vcp": "vcp"}

#: What sends so seldom, whatever the network does, that its runs measure the start of a process.
SELDOM = ("ping",)

#: What the rows call a control's speed.
SHARE = "share_of_new_renos_speed"


def measure(extent: Extent, notify: Notify) -> Part:
    """Compares each control with New Reno in runs made in turn; a ratio is the median of ``extent.repeat``."""
    reference = piotrowska.specification(piotrowska.FEW_FLOWS, extent.seconds)
    # A source that only sends has no work to compare: it receives nothing.
    left_out = ("newreno", *SELDOM, *(each.name for each in catalogue.load().congestion_controls if each.one_way))
    rows: list[Row] = []
    for name in (each.name for each in catalogue.load().congestion_controls if each.name not in left_out):
        held_to = queues.queued(reference, ROUTERS[name]) if name in ROUTERS else reference
        found = speed.relative(controlled(held_to, name), held_to, SHARE, extent, notify, f"controls: {name}")
        rows.append({"control": name, **found})
    return Part(
        title="Speed of the congestion controls",
        method=(
            "Delivered data packets for each CPU second, in the study piotrowska's data centre with nine flows, as a share "
            f"of New Reno's, in processes made in turn; medians of {extent.repeat} shares."
        ),
        measurements=[speed.slowest(rows, "control", SHARE, "of New Reno's")],
        rows=rows,
    )


def controlled(specification: RunSpecification, control: str) -> RunSpecification:
    """The same run with every flow under this congestion control, its parameters at their defaults."""
    source = {"name": control, "slow_start": "standard", "parameters": {}, "stack": 0}
    return {**specification, "flows": [{**flow, "source": source} for flow in specification["flows"]]}
