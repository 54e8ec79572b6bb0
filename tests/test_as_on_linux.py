"""The profile linux-6 and the rules of Linux give a kernel's figures where they once did not.

The figures are of Linux 7.2 on the backend linux: the means of the same scenarios with seeds 1 to 3, made once.
"""

from collections.abc import Mapping
from typing import Any

import pytest

import sojourn
from sojourn.analysis.agreement import agrees


def scenario(
    flows: list[dict[str, Any]], bottleneck: Mapping[str, Any], stack: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """Returns a dumbbell with hosts a, b and c, d at 1 Gbit/s and 0.1 ms from its bottleneck."""
    access = {"rate": "1 Gbit/s", "delay": "0.1 ms"}
    return {
        "name": "as-on-linux",
        "stack": {"profile": "linux-6", "pacing_burst": 1, **(stack or {})},
        "network": {
            "dumbbell": {
                "senders": [{"name": "a", **access}, {"name": "b", **access}],
                "receivers": [{"name": "c", **access}, {"name": "d", **access}],
                "bottleneck": dict(bottleneck),
            }
        },
        "flows": flows,
        **more,
    }


@pytest.mark.parametrize(
    ("listed", "seconds", "timeouts"),
    [
        ([22, 24, 31], 0.2057, 0),
        ([22, 24, 26, 31, 32], 0.2059, 0),
        ([22, 24, 31, 33], 0.4486, 1),
        ([22, 24, 26, 28, 31, 33], 0.2859, 0),
    ],
)
def test_a_retransmission_that_is_lost_is_found_by_those_sent_after_it(listed: list[int], seconds: float, timeouts: int) -> None:
    """A transfer of 30 segments loses some, and retransmissions of these. What is SACKed of later ones shows that."""
    bottleneck = {"rate": "100 Mbit/s", "delay": "20 ms", "queue": {"name": "droptail", "limit": "1000 packets"}}
    flow = {"from": "a", "to": "c", "tcp": "newreno", "size": "43440 B", "start": "0 s"}
    (row,) = sojourn.run(scenario([flow], {**bottleneck, "drop": {"listed": listed}}, duration="2 s", warm_up="0 s")).flows.rows(
        named=True
    )
    assert row["completed"] == pytest.approx(seconds, rel=0.03)
    assert (row["retransmissions"], row["timeouts"]) == (len(listed), timeouts)


#: A flow beside calls of 210 bytes a packet, of which RED's limit of 15,000 bytes holds many.
CALLS = [
    {"from": "a", "to": "c", "group": "one", "tcp": "cubic", "start_within": "2 s"},
    {"from": "b", "to": "d", "group": "two", "tcp": {"name": "cbr", "rate": "2.57 Mbit/s"}},
]
RED = {"name": "red", "limit": "10 packets", "rules": "linux"}

#: As many flows as fit into a queue of ten packets.
CUBICS = [{"from": "a", "to": "c", "tcp": "cubic", "count": 8, "start_within": "0 s"}]
FQ_CODEL = {"name": "fq_codel", "limit": "10 packets", "rules": "linux", "ecn": True}


@pytest.mark.parametrize(
    ("flows", "bottleneck", "stack", "figures"),
    [
        (
            CALLS,
            {"rate": "4.267 Mbit/s", "delay": "16.749 ms", "queue": RED},
            {},
            {"drop_pct": 1.448, "queue_mean_pkts": 22.94, "rtt_mean_s": 0.0578},
        ),
        (
            CUBICS,
            {"rate": "5.525 Mbit/s", "delay": "2.456 ms", "queue": FQ_CODEL},
            {"ecn": "classic"},
            {"drop_pct": 9.014, "jain": 0.9605, "queue_mean_pkts": 8.657},
        ),
    ],
    ids=["red", "fq_codel"],
)
def test_limits_of_disciplines(
    flows: list[dict[str, Any]], bottleneck: Mapping[str, Any], stack: Mapping[str, Any], figures: Mapping[str, float]
) -> None:
    """RED's limit is in bytes; FQ-CoDel drops from the first of equally long queues, and counts that."""
    runs = sojourn.run(scenario(flows, bottleneck, stack, duration="10 s", warm_up="3 s"), seeds=3).runs
    for metric, figure in figures.items():
        assert agrees(metric, figure, runs[metric].mean(), 0.5), (metric, runs[metric].mean(), figure)  # type: ignore[arg-type]
