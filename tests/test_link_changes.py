"""Links whose rate, delay and loss change during a run, compared with arithmetic."""

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from sojourn import figures
from sojourn.errors import InputError
from sojourn.scenario import Scenario
from sojourn.specification import bottleneck_rate, specify

CBR = {"name": "cbr", "rate": "8 Mbit/s", "packet_size": "1000 B"}


def one_link(**link: Any) -> dict[str, Any]:
    """A network of one link, by default of 10 Mbit/s and 5 ms."""
    return {"links": [{"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "5 ms", "queue": "droptail"} | link]}


def unresponsive(**keys: Any) -> list[dict[str, Any]]:
    """A constant-rate source of 1000 packets/s of 1000 bytes."""
    return [{"from": "a", "to": "b", "tcp": CBR} | keys]


def test_rate_changes(scenario: Callable[..., Scenario]) -> None:
    """A source of 1000 packets/s fills the queue at 500 packets/s on 4 Mbit/s, and 16 Mbit/s drains it at 1000 packets/s."""
    network = one_link(changes=[{"at": "1 s", "rate": "4 Mbit/s"}, {"at": "3 s", "rate": "16 Mbit/s"}])
    result = sojourn.run(scenario(network=network, flows=unresponsive(), warm_up="0 s", probe={"queue_series": "500 ms"}))
    waiting = result.series.filter(kind="queue", measure="packets").sort("time")
    expected = [0, 0, 0, 250, 500, 750, 1000, 500, 0]
    for (time, packets), should in zip(waiting.select("time", "value").iter_rows(), expected, strict=False):
        assert packets == pytest.approx(should, abs=2), f"{time} s"
    (queue,) = result.queues.iter_rows(named=True)
    assert queue["departures"] == pytest.approx(4000, abs=3)
    # Of 10, 8 and 16 Mbit that it could have carried it lacks a fifth of the first second's; the queue is empty at the end.
    assert queue["utilisation"] == pytest.approx((8 + 8 + 16) / (10 + 8 + 16), abs=0.001)


def test_mean_rate_over_window(scenario: Callable[..., Scenario]) -> None:
    """The bottleneck's rate is the mean from 1 to 4 s: one second each at 10, 4 and 16 Mbit/s."""
    changes = [{"at": "2 s", "rate": "4 Mbit/s"}, {"at": "3 s", "rate": "16 Mbit/s"}]
    run = specify(scenario(network=one_link(changes=changes), flows=unresponsive()), 1)
    assert bottleneck_rate(run) == 10_000_000


def test_shorter_delay_keeps_order(scenario: Callable[..., Scenario]) -> None:
    """New Reno retransmits nothing when the delay falls from 40 to 5 ms, and its RTT samples include both."""
    links = one_link(delay="40 ms", changes=[{"at": "2 s", "delay": "5 ms"}])
    flows = [{"from": "a", "to": "b", "tcp": "newreno", "stack": {"receive_buffer": "30 kB"}}]
    result = sojourn.run(scenario(network=links, flows=flows, warm_up="0 s"))
    (flow,) = result.flows.iter_rows(named=True)
    assert flow["retransmissions"] == 0
    # An ACK covers two segments of 1.2 ms each.
    assert flow["rtt_min"] == pytest.approx(0.010 + 2 * 0.0012, abs=0.0001)
    assert flow["rtt_max"] >= 0.08


def test_loss_ratio_changes(scenario: Callable[..., Scenario]) -> None:
    """1 % for 20 s and 10 % for 20 s of 1000 packets/s lose 2200 packets, within four binomial deviations."""
    network = one_link(loss=0.01, reverse={"loss": 0.3}, changes=[{"at": "20 s", "loss": 0.1}])
    back = {"from": "b", "to": "a", "tcp": CBR}
    result = sojourn.run(scenario(network=network, flows=[*unresponsive(), back], duration="40 s", warm_up="0 s"))
    deviation = math.sqrt(20_000 * (0.01 * 0.99 + 0.1 * 0.9))
    (queue,) = result.queues.iter_rows(named=True)
    assert queue["total_link_losses"] == pytest.approx(2_200, abs=4 * deviation)
    assert queue["total_arrivals"] == pytest.approx(40_000, abs=1)
    backwards = result.flows.filter(pl.col("flow_group") == "b-a")["bytes_delivered"].item() / 1000
    assert backwards == pytest.approx(28_000, abs=4 * math.sqrt(40_000 * 0.3 * 0.7) + 10)


def test_outage(scenario: Callable[..., Scenario]) -> None:
    """TCP survives an outage of three seconds: it times out, retransmits and completes."""
    changes = [{"at": at, "loss": loss, "reverse": {"loss": loss}} for at, loss in (("2 s", 1.0), ("5 s", 0.0))]
    flows = [{"from": "a", "to": "b", "tcp": "newreno", "size": "10 MB"}]
    result = sojourn.run(scenario(network=one_link(changes=changes), flows=flows, duration="30 s", warm_up="0 s"))
    (flow,) = result.flows.iter_rows(named=True)
    assert flow["timeouts"] >= 1
    assert flow["bytes_delivered"] == 10_000_000
    assert flow["completed"] > 10_000_000 * 8 / 10e6 + 3


def test_rate_of_zero(scenario: Callable[..., Scenario]) -> None:
    """A second at 0 bit/s fills the queue with the 1000 packets of that second, and utilisation does not count it."""
    network = one_link(changes=[{"at": "1 s", "rate": "0 bit/s"}, {"at": "2 s", "rate": "16 Mbit/s"}])
    result = sojourn.run(scenario(network=network, flows=unresponsive(), warm_up="0 s", probe={"queue_series": "500 ms"}))
    waiting = result.series.filter(kind="queue", measure="packets").sort("time")["value"].to_list()
    assert waiting == pytest.approx([0, 0, 0, 500, 1000, 500, 0, 0], abs=2)
    (queue,) = result.queues.iter_rows(named=True)
    assert queue["utilisation"] == pytest.approx((8 + 0 + 16 + 8) / (10 + 0 + 32), abs=0.001)


def test_link_down_throughout_window(scenario: Callable[..., Scenario]) -> None:
    """A link at 0 bit/s throughout the window has rate and utilisation 0, and no measure is NaN."""
    flows = [*unresponsive(), {"from": "a", "to": "b", "tcp": "newreno"}]
    result = sojourn.run(scenario(network=one_link(changes=[{"at": "0 s", "rate": "0 bit/s"}]), flows=flows))
    for frame in (result.runs, result.queues, result.flows):
        (nans,) = frame.select(pl.sum_horizontal(pl.col(pl.Float64).is_nan().any())).to_series().unique()
        assert not nans
    assert (result.runs["bottleneck_mbps"][0], result.queues["utilisation"][0]) == (0, 0)


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ({"loss": 1.5}, "loss"),
        ({"loss": -0.1}, "loss"),
        ({"changes": [{"at": "1 s"}]}, "at least one of"),
        (
            {"changes": [{"at": "2 s", "rate": "1 Mbit/s"}, {"at": "1 s", "rate": "2 Mbit/s"}]},
            r"changes\[1\].at: \"1 s\" must be later",
        ),
        ({"changes": [{"at": "4 s", "rate": "1 Mbit/s"}]}, "after the end"),
        ({"rate": "0 bit/s"}, "rate must be greater than 0"),
        ({"changes": [{"at": "1 s", "rate": "-1 bit/s"}]}, "rate must be 0 or more"),
        ({"changes": [{"at": "1 s", "speed": "1 Mbit/s"}]}, "speed"),
        ({"one_way": True, "changes": [{"at": "1 s", "reverse": {"loss": 0.1}}]}, "a one-way link has no changes.reverse"),
        ({"one_way": True, "reverse": {"loss": 0.1}}, "a one-way link has no reverse"),
        ({"changes": [{"at": "1 s", "reverse": {}}]}, "at least one of"),
    ],
)
def test_bad_changes(scenario: Callable[..., Scenario], link: dict[str, Any], message: str) -> None:
    """Impossible losses and changes are a one-line error."""
    with pytest.raises(sojourn.InputError, match=message) as caught:
        scenario(network=one_link(**link), flows=unresponsive())
    assert "\n" not in str(caught.value)


def test_delay_and_capacity_figures(scenario: Callable[..., Scenario]) -> None:
    """Queueing delay and capacity follow the link's rate: what waits is sent at the rates to come.

    8 Mbit/s fill the queue of 4 Mbit/s from 1 to 3 s, and 16 Mbit/s drain it. At 2.5 s, 6 Mbit wait: 2 Mbit are sent until
    3 s, and 4 Mbit take 0.25 s more.
    """
    network = one_link(changes=[{"at": "1 s", "rate": "4 Mbit/s"}, {"at": "3 s", "rate": "16 Mbit/s"}])
    probe = {"queue_series": "500 ms", "flow_series": "250 ms"}
    flows = [*unresponsive(), {"from": "a", "to": "b", "tcp": "newreno", "start": "3.5 s"}]
    result = sojourn.run(scenario(network=network, flows=flows, warm_up="0 s", duration="5 s", probe=probe))
    waits = points(figures.draw("delay-over-time", result))
    expected = {0.5: 0, 1: 0, 1.5: 500, 2: 1000, 2.5: 750, 3: 500, 3.5: 250}
    assert {time: waits[time] for time in expected} == pytest.approx(expected, abs=4)
    # A packet leaves after as long: the longest of all have waited for a second.
    assert result.queues["sojourn_max"].item() == pytest.approx(1, rel=0.01)
    chart = figures.draw("capacity-over-time", result)
    rates = points(chart, "capacity")
    assert {rates[time] for time in (0.5, 1)} == {10}
    assert {rates[time] for time in (1.25, 2, 3)} == {4}
    assert {rates[time] for time in (3.25, 4.75)} == {16}
    received = result.series.filter(measure="bytes_received")["value"].sort()[-1]
    assert sum(points(chart, "throughput").values()) * 0.25 == pytest.approx(received * 8e-6, rel=1e-4)


def test_capacity_of_a_trace(scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """The capacity of a trace is what it offers between two samples, again and again, and nothing is sent in an outage."""
    (tmp_path / "on-off.csv").write_text("time_s,rate_mbit_s\n0,8\n0.5,0\n1,8\n", encoding="utf-8")
    network = one_link(rate={"trace": str(tmp_path / "on-off.csv")})
    flows = [{"from": "a", "to": "b", "tcp": "newreno"}]
    probe = {"queue_series": "250 ms", "flow_series": "250 ms"}
    result = sojourn.run(scenario(network=network, flows=flows, warm_up="0 s", duration="4 s", probe=probe))
    chart = figures.draw("capacity-over-time", result)
    rates = points(chart, "capacity")
    assert [rates[time] for time in (0.25, 0.5, 0.75, 1, 1.25, 2.75)] == [8, 8, 0, 0, 8, 0]
    throughputs = points(chart, "throughput")
    assert sum(throughputs.values()) <= sum(rates.values())
    # What waits at 1.75 s, in an outage, has to wait for its end at least.
    assert points(figures.draw("delay-over-time", result))[1.75] > 250


def test_capacity_of_flows_over_the_bottleneck(scenario: Callable[..., Scenario]) -> None:
    """Of the flows only those count that have to cross the bottleneck, not those of the opposite direction."""
    probe = {"queue_series": "250 ms", "flow_series": "250 ms"}
    flows = [{"from": ends[0], "to": ends[1], "tcp": "newreno"} for ends in ("ab", "ba")]
    result = sojourn.run(scenario(network=one_link(), flows=flows, warm_up="0 s", duration="4 s", probe=probe))
    received = result.series.filter(measure="bytes_received", which="0")["value"].sort()[-1]
    over = points(figures.draw("capacity-over-time", result), "throughput")
    assert sum(over.values()) * 0.25 == pytest.approx(received * 8e-6, rel=1e-4)


def test_no_capacity_at_random_times(scenario: Callable[..., Scenario]) -> None:
    """Changes at times that the seed decides have no schedule that could be drawn."""
    network = one_link(changes=[{"at": "1 s", "rate": "4 Mbit/s", "every": "1 s", "spread": "100 ms"}])
    result = sojourn.run(scenario(network=network, flows=unresponsive(), duration="4 s", probe={"queue_series": "500 ms"}))
    with pytest.raises(InputError, match=r"^figure delay-over-time: the bottleneck's rate changes at times"):
        figures.draw("delay-over-time", result)


def points(chart: figures.Chart, line: str = "") -> dict[float, float]:
    """Returns the values of a line of a figure, by time."""
    (data,) = chart.to_dict()["datasets"].values()
    rows = pl.read_csv(io.StringIO(data), infer_schema_length=None)
    return dict(rows.filter(pl.col("colour").fill_null("") == line).select("time", "value").iter_rows())
