"""Links whose rate, delay and loss change during a run, compared with arithmetic."""

import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import sojourn
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
