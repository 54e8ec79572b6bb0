"""The simulator compared with ns-3: New Reno and CUBIC under PIE and CoDel on the access link, with the stack of ns-3.48."""

import pytest

import sojourn

#: Set before the first comparison.
TOLERANCE = 0.15


@pytest.mark.parametrize("queue", ["pie", "codel"])
@pytest.mark.parametrize("tcp", ["cubic", pytest.param("newreno", marks=pytest.mark.long)])
@pytest.mark.parametrize("load", ["MC", pytest.param("HC", marks=pytest.mark.long)])
def test_results_match_ns3(load: str, tcp: str, queue: str) -> None:
    """Mean queue, drop ratio and median throughput over three seeds are within 15 % of the results of ns-3.48."""
    cells = sojourn.reproduce("ns3", seeds=3, only={"scenario": "AL", "load": load, "tcp": tcp, "queue": queue}).cells
    values = {row["metric"]: (row["published"], row["measured"]) for row in cells.iter_rows(named=True)}
    for metric in ("queue_mean_pkts", "drop_pct", "median_mbps"):
        published, measured = values[metric]
        assert abs(measured - published) <= TOLERANCE * published, metric
