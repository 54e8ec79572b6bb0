"""How long a campaign will take, from how fast this machine carries out the beginning of its largest cell's first run."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sojourn.runs import Run
from sojourn.specification import RunSpecification

#: Bits of a packet, in which the costs of runs are counted.
PACKET = 1500 * 8

#: Seconds that the longest beginning should take at least, and the share of the run's duration that the shortest has.
ENOUGH, FIRST = 0.3, 0.01


@dataclass(frozen=True)
class Speed:
    """What one worker does."""

    packets_per_second: float
    #: Seconds that each run takes besides, however short it is.
    overhead: float

    def seconds(self, runs: float, packets: float) -> float:
        """Seconds for a number of runs with a total number of packets."""
        return packets / self.packets_per_second + runs * self.overhead


def packets(cost: float) -> float:
    """A run's cost in packets of 1500 bytes: as many as the links that limit its flows can carry in its duration."""
    return cost / PACKET


def measure(run: Run, carry_out: Callable[[Run], object]) -> Speed:
    """The speed at which a worker carries out a run.

    A hundredth of the run is carried out, and then ever more of it until that takes 0.3 s or the run is over. What the two differ
    by is the speed. Flows and programs that would start later start within the time that is simulated.
    """

    def timed(share: float) -> tuple[float, float]:
        short = _beginning(run, share)
        began = time.perf_counter()
        carry_out(short)
        return packets(short.cost), time.perf_counter() - began

    timed(FIRST)  # for what is only done the first time
    few, soon = timed(FIRST)
    share, many, late = FIRST, few, soon
    while share == FIRST or (late < ENOUGH and share < 1):
        share = min(1.0, share * max(2.0, min(10.0, ENOUGH / late)))
        many, late = timed(share)
    if late <= soon:  # the machine was busy with something else
        return Speed(many / late, 0.0)
    speed = (many - few) / (late - soon)
    return Speed(speed, max(0.0, soon - few / speed))


def _beginning(run: Run, share: float) -> Run:
    whole = run.specification
    duration = max(1, round(whole["duration"] * share))
    flows = [
        {**flow, "start": min(flow["start"], duration // 2), "start_within": min(flow["start_within"], duration // 2)}
        for flow in whole["flows"]
    ]
    links = [{**link, "changes": [change for change in link["changes"] if change["at"] < duration]} for link in whole["links"]]
    warm_up = min(whole["warm_up"], duration - 1)
    begun: RunSpecification = {**whole, "duration": duration, "warm_up": warm_up, "flows": flows, "links": links}
    if "programs" in whole:
        # They are ended before they have done what they are to do.
        early = {"stop": None, "expect": "any"}
        begun["programs"] = [{**each, **early, "start": min(each["start"], duration // 2)} for each in whole["programs"]]
    return replace(run, specification=begun)
