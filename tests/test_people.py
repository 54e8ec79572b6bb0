"""What people notice: calls, responsiveness, both directions at once, and throughputs over time."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn
from sojourn import _engine
from sojourn.analysis.comparison import compare_cells
from sojourn.analysis.result import Result
from sojourn.metrics import METRICS, formulas
from sojourn.metrics.observation import Arrays
from sojourn.metrics.over_time import Samples
from sojourn.scenario import Scenario
from sojourn.specification import specify, text

MakeScenario = Callable[..., Scenario]


def entry(group: str, tcp: Any = "cubic", **keys: Any) -> dict[str, Any]:
    return {"from": "a", "to": "b", "group": group, "tcp": tcp, "start_within": "0 s"} | keys


@pytest.fixture
def line(scenario: MakeScenario) -> Callable[..., Result]:
    """Runs flows over 10 Mbit/s down and 1 Mbit/s up, 20 ms one way, with queues of 100 packets."""

    def made(*flows: dict[str, Any], **keys: Any) -> Result:
        queue = {"name": "droptail", "limit": "100 packets"}
        link = {"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "20 ms"}
        links = {"links": [link | {"queue": queue, "reverse": {"rate": "1 Mbit/s", "queue": queue}}]}
        settings = {"duration": "20 s", "warm_up": "5 s", "network": links} | keys
        return sojourn.run(scenario(flows=list(flows), **settings))

    return made


def test_both_ways_between_hosts(scenario: MakeScenario) -> None:
    """Flows both ways are those of an entry and of one with the hosts exchanged; without a name they are two groups."""
    both = specify(scenario(flows=[{"from": "a", "to": "b", "tcp": "cubic", "count": 2, "both_ways": True}]), 1)
    one, other = ({"from": x, "to": y, "tcp": "cubic", "count": 2} for x, y in (("a", "b"), ("b", "a")))
    assert both == specify(scenario(flows=[one, other]), 1)
    assert [flow["group"] for flow in both["flows"]] == ["a-b", "b-a"]


def test_upload_delays_acknowledgements(line: Callable[..., Result]) -> None:
    """A full queue of 100 packets of 1500 bytes at 1 Mbit/s is 1.2 s on the way of a download's acknowledgements."""
    download, upload = entry("download", size="20 kB", start="10 s"), entry("upload", **{"from": "b", "to": "a"})
    alone, beside = (line(*flows).flows.row(0, named=True) for flows in ((download,), (download, upload)))
    assert alone["rtt_max"] < 0.1
    # CUBIC leaves the queue at least 0.7 full.
    assert 0.7 * 1.2 < beside["rtt_min"] < 1.3


def test_call_between_two(line: Callable[..., Result]) -> None:
    """Beside an upload the far end hears badly: the queue of 1.2 s on the way there. The other direction stays good."""
    calls = entry("call", "voice", both_ways=True)
    result = line(calls, entry("upload", **{"from": "b", "to": "a"}))
    down, up = result.flows.filter(flow_group="call").sort("flow")["mos"].to_list()
    assert down == pytest.approx(4.37, abs=0.03)  # Cole and Rosenbluth's fit at 40 ms and a packet's 20 ms of speech
    assert up < 2
    group = result.groups.filter(flow_group="call").row(0, named=True)
    assert (group["mos"], group["mos_least"]) == (pytest.approx((down + up) / 2), up)
    assert group["mouth_to_ear_s"] > 0.5 * (0.06 + 0.7 * 1.2)


def test_unheard_packets(scenario: MakeScenario) -> None:
    """Of packets of which the link loses one in fifty, the listener misses 2 %."""
    links = {"links": [{"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "20 ms", "drop": {"every": 50}}]}
    result = sojourn.run(scenario(network=links, flows=[entry("call", "voice")], duration="22 s", warm_up="2 s"))
    assert result.runs["call_loss_pct"].item() == pytest.approx(2, abs=0.01)


def test_late_packets_unheard() -> None:
    """Of 80 packets that arrived and 20 that were dropped, 10 that came too late make 30 % unheard; other flows have no part."""
    missing = math.nan
    columns = {
        "late_packets": np.array([10.0, missing]),
        "packets_dropped": np.array([20.0, 5.0]),
        "delay_samples": np.array([80.0, 1000.0]),
    }
    seen: Any = SimpleNamespace(flows=Arrays(columns.__getitem__))
    assert METRICS["call_loss_pct"].compute(seen) == pytest.approx(30)


def test_responsiveness_of_idle_path(line: Callable[..., Result]) -> None:
    """On an idle path of 40 ms a minute has 1,500 round trips, less what 60 bytes take at 10 and at 1 Mbit/s."""
    found = line(entry("probes", "ping"))
    trip = 0.040 + 480 / 10e6 + 480 / 1e6
    assert found.runs["rpm"].item() == pytest.approx(60 / trip, rel=1e-6)
    assert found.flows["rtt_p99"].item() == pytest.approx(trip)


def test_responsiveness_under_load(line: Callable[..., Result]) -> None:
    """It is the mean of separate probes' and of the loaded connections' round trips a minute, as the draft has it."""
    found = line(entry("probes", "ping"), entry("download"))
    probes, download = (found.flows.row(flow, named=True) for flow in (0, 1))
    assert found.runs["rpm"].item() == pytest.approx((60 / probes["rtt_trimmed"] + 60 / download["rtt_mean"]) / 2)
    assert found.groups["rpm"].to_list() == [pytest.approx(60 / probes["rtt_trimmed"]), None]


def test_unresponsive_not_long_lived(scenario: MakeScenario) -> None:
    """Calls, probes and constant rates never want more, so fairness is not asked of them."""
    flows = [entry(name, name) for name in ("cbr", "voice", "ping", "tfrc", "cubic")]
    assert _engine.long_lived(text(specify(scenario(flows=flows), 1))) == [False, False, False, True, True]


def test_startup_is_handshake(line: Callable[..., Result]) -> None:
    """A flow starts up in a round trip: 40 ms and the transmission of SYN and SYN-ACK."""
    assert line(entry("download", size="1 kB", start="10 s")).runs["startup_s"].item() == pytest.approx(0.0405, abs=2e-4)


def sampled(rates: list[list[float]], settled: float = 0) -> Samples:
    """Flows with these throughputs in Mbit/s, in consecutive seconds."""
    delivered = np.cumsum([[0.0, *row] for row in rates], axis=1) * 1e6 / 8
    return Samples(np.arange(delivered.shape[1], dtype=np.float64), delivered, opens=0, settled=settled)


def test_convergence_of_known_rates() -> None:
    """With δ = 0.1 two flows are fair from 0.45 of the link on (Bansal et al. 2001), here in the fourth second."""
    rates = [[10, 8, 6, 5.5, 5], [0, 2, 4, 4.5, 5]]
    assert sampled(rates).convergence() == 4
    assert sampled(rates, settled=2).convergence() == 2
    assert sampled([[10, 10], [0, 1]]).convergence() is None
    assert sampled([[10, 10]]).convergence() is None


def test_instability_of_known_rates() -> None:
    """FAST's stability index: rates 4 and 6 vary by √2 around 5, and constant ones not at all; the mean over flows."""
    assert sampled([[4, 6], [7, 7]]).instability() == pytest.approx(2**0.5 / 5 / 2)


def test_fairness_by_time_scale() -> None:
    """Two flows that take turns are fair over two seconds and not at all within one; of less, such samples say nothing."""
    turns = sampled([[10, 0] * 4, [0, 10] * 4])
    assert (turns.fairness(1), turns.fairness(2), turns.fairness(0.5)) == (0.5, 1, None)
    assert turns.starved_time() == 0.5


def test_measures_over_time(line: Callable[..., Result]) -> None:
    """Fair queueing gives two flows the same within seconds and for every second; without samples nothing is said."""
    flows = [entry("one"), entry("other", start="3 s")]
    link = {"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "20 ms", "queue": "fq_codel"}
    found = line(*flows, probe={"flow_series": "100 ms"}, network={"links": [link]}).runs.row(0, named=True)
    assert 1 <= found["convergence_s"] <= 3
    assert found["jain_1s"] > 0.998
    assert found["jain_1s"] > found["jain_100ms"] > 0.9
    assert 0 < found["instability"] < 0.05
    assert found["starved_time_pct"] == 0
    names = ("convergence_s", "jain_100ms", "jain_1s", "instability", "starved_time_pct")
    assert [line(*flows).runs[name].item() for name in names] == [None] * 5


@pytest.mark.parametrize("algorithm", ["cubic", "tfrc"])
def test_late_flow_over_time(line: Callable[..., Result], algorithm: str) -> None:
    """A flow that starts in the window had nothing before, whether it is sampled then (CUBIC) or not (TFRC): no value is NaN."""
    found = line(entry("one"), entry("late", algorithm, start="6 s"), probe={"flow_series": "100 ms"})
    names = ("jain_100ms", "jain_1s", "instability", "starved_time_pct")
    assert all(math.isfinite(found.runs[name].item()) for name in names)
    late = found.groups.filter(flow_group="late")
    assert late["instability"].item() > 0.1  # in the first of fifteen seconds it had nothing


def test_starvation_of_late_flow(line: Callable[..., Result]) -> None:
    """A flow over a path that loses one packet in ten starves beside one without losses."""
    links = [
        {"from": "a", "to": "r", "rate": "100 Mbit/s"},
        {"from": "c", "to": "r", "rate": "100 Mbit/s", "drop": {"every": 10}},
        {"from": "r", "to": "b", "rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "droptail", "limit": "100 packets"}},
    ]
    found = line(entry("clean"), entry("lossy", **{"from": "c"}), network={"links": links})
    run = found.runs.row(0, named=True)
    rates = found.flows["bytes_delivered"].to_list()
    assert run["starved_pct"] == 50
    assert run["rate_ratio"] == pytest.approx(rates[0] / rates[1])


def test_losses_of_single_flow(line: Callable[..., Result]) -> None:
    """A flow alone loses in each congestion epoch, and runs of drops make up all drops."""
    found = line(entry("download", "newreno"), duration="60 s")
    queue, run = found.queues.row(0, named=True), found.runs.row(0, named=True)
    assert queue["loss_epochs"] > 0
    assert run["loss_sync_pct"] == 100
    assert run["drop_run_pkts"] * queue["drop_runs"] == pytest.approx(queue["drops"])
    assert 1 <= run["drop_run_pkts"] <= run["drop_run_max_pkts"] <= queue["drops"]
    assert run["drop_run_max_pkts"] == queue["drop_run_max"] < queue["drops"]


def test_new_measures_have_sources() -> None:
    """Each metric of what people notice that is from the literature names its source."""
    own = {
        "mos",
        "mouth_to_ear_s",
        "rpm",
        "convergence_s",
        "instability",
        "jain_1s",
        "jain_100ms",
        "rate_ratio",
        "loss_sync_pct",
        "startup_s",
    }
    assert not [name for name in own if not METRICS[name].source]


def test_harm_of_published_example() -> None:
    """Ware et al. (HotNets 2019): x alone and y beside another are harmed by (x - y) / x, or by (y - x) / y if less is better."""
    assert formulas.harm(15, 12, more_is_better=True) == pytest.approx(0.2)
    assert formulas.harm(10, 40, more_is_better=False) == pytest.approx(0.75)
    assert formulas.harm(0, 0, more_is_better=True) is None
    # Heist, ccafct: geometric means of completion times alone and beside a long flow, ms, and the harm that it prints.
    for alone, beside, harm in ((176.2, 339.3, 0.481), (176.2, 1171.3, 0.850), (976.6, 1127.7, 0.134), (976.6, 2471.9, 0.605)):
        assert formulas.harm(alone, beside, more_is_better=False) == pytest.approx(harm, abs=5e-4)


def test_harm_is_defined_for_what_people_notice() -> None:
    """Ware et al. name throughput, delay, jitter and completion time; pages, responses, calls and video are like them."""
    kinds = ("fct_", "slowdown_", "page_load_time_", "response_time_", "message_time_", "video_", "starved_", "delay_")
    of_kinds = [metric for name, metric in METRICS.items() if name.startswith(kinds)]
    assert len(of_kinds) > len(kinds)
    assert not [metric.name for metric in of_kinds if metric.better is None]
    assert all(
        METRICS[name].better is not None for name in ("rpm", "mos", "jitter_s", "call_loss_pct", "rate_ratio", "rtt_mean_s")
    )


def test_harm_between_cells(line: Callable[..., Result]) -> None:
    """A second download harms the throughput of the first, as the two means say; a count of drops is neither good nor bad."""
    runs = pl.concat(
        found.runs.with_columns(scenario=pl.lit(name))
        for name, found in (("alone", line(entry("one"))), ("beside", line(entry("one"), entry("two", start="1 s"))))
    )
    rate, drops = compare_cells(runs, {"scenario": "alone"}, {"scenario": "beside"}, ["avg_mbps", "drops"])
    x, y = runs["avg_mbps"].to_list()
    assert rate.harm == pytest.approx((x - y) / x)
    assert drops.harm is None
