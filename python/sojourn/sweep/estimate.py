"""How long a campaign will take, from how fast this machine carries out a short run of its largest cell."""

import time

from sojourn.backends import Backend
from sojourn.runs import Run

#: Bits of a packet as runs' costs are told in packets.
PACKET = 1500 * 8

#: Seconds that the short run should take at least, and the share of the run's duration that is tried first.
ENOUGH, FIRST = 0.3, 0.01


def packets(cost: float) -> float:
    """A run's cost in packets of 1500 bytes: as many as its slowest link can carry in its duration."""
    return cost / PACKET


def packets_per_second(run: Run, backend: Backend) -> float:
    """How many packets' worth of a run's cost one worker does in a second.

    The run is carried out from its beginning, first a hundredth of it, then ever longer until that takes a third of a second or
    the run is over; flows that start later than that start within the time that is simulated.

    Raises:
        RunFailed: the run failed.
    """
    share = FIRST
    while True:
        short = _shortened(run, share)
        began = time.perf_counter()
        backend.run(short.specification)
        elapsed = time.perf_counter() - began
        if elapsed >= ENOUGH or short.specification["duration"] == run.specification["duration"]:
            return packets(short.cost) / elapsed
        share *= max(2.0, min(10.0, ENOUGH / elapsed))


def _shortened(run: Run, share: float) -> Run:
    whole = run.specification
    duration = min(whole["duration"], max(1, round(whole["duration"] * share)))
    flows = [
        {**flow, "start": min(flow["start"], duration // 2), "start_within": min(flow["start_within"], duration // 2)}
        for flow in whole["flows"]
    ]
    links = [{**link, "changes": [change for change in link["changes"] if change["at"] < duration]} for link in whole["links"]]
    warm_up = min(whole["warm_up"], duration - 1)
    return Run(run.axes, run.seed, {**whole, "duration": duration, "warm_up": warm_up, "flows": flows, "links": links})
