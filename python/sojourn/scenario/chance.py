"""What is left to chance where a scenario does not say: when flows start, and how long a sender takes over a packet.

Without either, flows start together, stay in step, and every seed gives the same run. The measurements behind the two defaults
are in docs/decisions/020-seeds-and-phase-effects.md.
"""

from collections.abc import Iterable, Mapping

from sojourn.scenario.model import Flows, Scenario
from sojourn.units import PICOSECONDS

#: Flows start at random within this time, or within this share of the time they have if that is shorter.
START_WITHIN, START_SHARE = PICOSECONDS, 10

#: The setting of a stack that says whether its senders take the overhead. Where a scenario gives one, all do unless their stack
#: says otherwise.
SWITCH = "random_overhead"

#: Bytes whose transmission time at the bottleneck is the maximum of the senders' overhead: a random time from zero to the
#: bottleneck's service time is what Floyd and Jacobson propose, "On traffic phase effects in packet-switched gateways", ACM CCR
#: 21(2), 1991.
OVERHEAD_BYTES = 1500


def start_within(scenario: Scenario, flows: Flows) -> int:
    """How long after ``start`` the flows of a group start at the latest, in ps; a ``start`` that is given is exact."""
    if flows.start_within is not None:
        return flows.start_within
    if flows.start is not None or flows.arrivals is not None or flows.vectors is not None:
        return 0
    ends = scenario.duration if flows.stop is None else flows.stop
    return min(START_WITHIN, ends // START_SHARE)


def sender_overhead(scenario: Scenario, stacks: Iterable[Mapping[str, object]]) -> int:
    """The maximum of the senders' random overhead, in ps.

    There is none where none of the stacks has it, or without a queue, whose first is taken for the bottleneck's.
    """
    if not any(stack[SWITCH] for stack in stacks):
        return 0
    if scenario.sender_overhead is not None:
        return scenario.sender_overhead
    bottleneck = next((link for link in scenario.network.directed_links if link.queue is not None), None)
    return 0 if bottleneck is None or not bottleneck.rate else OVERHEAD_BYTES * 8 * PICOSECONDS // bottleneck.rate
