"""The scenarios that the benchmark has besides the study's cells: a sender, a receiver and a bottleneck between them."""

from collections.abc import Mapping
from typing import Any

from sojourn.scenario import Scenario, from_data

Given = Mapping[str, Any]
"""Keys of a scenario's table."""

#: A host's link that limits nothing.
FAST = {"rate": "10 Gbit/s"}


def dumbbell(name: str, duration: str, bottleneck: Given, flows: Given, access: Given = FAST, **keys: Any) -> Scenario:
    """Flows of New Reno, if they say nothing else, over a bottleneck; ``access`` is the link of either host."""
    hosts = {"senders": [{"name": "sender", **access}], "receivers": [{"name": "receiver", **access}]}
    data = {
        **{"name": name, "duration": duration, **keys},
        "network": {"dumbbell": {**hosts, "bottleneck": bottleneck}},
        "flows": [{"from": "sender", "to": "receiver", "tcp": "newreno", **flows}],
    }
    return from_data(data, f"bench {name}")
