"""What is said of flows that a buffer at one of their ends limited."""

import pytest

import sojourn
from conftest import scenario_data
from sojourn.analysis import summary
from sojourn.scenario import from_data


@pytest.mark.parametrize(
    ("buffer", "column", "told"),
    [("receive_buffer", "rwnd_limited", "Receivers' windows"), ("send_buffer", "sndbuf_limited", "Senders' buffers")],
)
def test_small_buffer_is_told(buffer: str, column: str, told: str) -> None:
    """A buffer of less than the path's product limits both flows for all of the measuring window, and the tables say so."""
    result = sojourn.run(from_data(scenario_data(stack={buffer: "4 kB"}), "test"))
    assert result.flows.select("rwnd_limited", "sndbuf_limited").sum().row(0, named=True)[column] == 6.0
    assert result.flows[column].to_list() == [3.0, 3.0]
    remedy = f"raise stack.{buffer} unless that is meant."
    line = f"{told} limited 2 of 2 flows, for up to 3 s (100 % of the time) ({column}): {remedy}"
    assert result.limited == [line]
    assert summary.tables(result)[-1].notes == [line]


def test_buffer_of_linux_is_told() -> None:
    """Linux's buffer of 4 MiB holds less than 16 products of 1 MB: CUBIC alone never fills the queue, and the note says why."""
    network = {
        "senders": [{"name": "a", "rate": "1 Gbit/s", "delay": "20 ms"}],
        "receivers": [{"name": "b", "rate": "1 Gbit/s"}],
        "bottleneck": {"rate": "100 Mbit/s", "delay": "20 ms", "queue": {"name": "droptail", "limit": "16 BDP"}},
    }
    flows = [{"from": "a", "to": "b", "tcp": "cubic"}]
    given = scenario_data(stack="linux-6", network={"dumbbell": network}, flows=flows, duration="20 s", warm_up="10 s")
    result = sojourn.run(from_data(given, "test"))
    assert result.queues["drops"].to_list() == [0]
    assert result.flows["sndbuf_limited"].item() > 9
    assert [line.split(" limited")[0] for line in result.limited] == ["Senders' buffers"]


def test_large_window_is_silent() -> None:
    """Nothing is said where the network limits flows, or where they have no window."""
    flows = [{"from": "a", "to": "b", "tcp": "newreno"}, {"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "1 Mbit/s"}}]
    result = sojourn.run(from_data(scenario_data(flows=flows), "test"))
    assert result.flows["rwnd_limited"].to_list() == [0.0, None]
    assert result.limited == []


def test_growing_window_is_silent() -> None:
    """Linux's window limits the first round trips of each connection, which is no advice to anybody."""
    network = {
        "senders": [{"name": "a", "rate": "1 Gbit/s", "delay": "20 ms"}],
        "receivers": [{"name": "b", "rate": "1 Gbit/s"}],
        "bottleneck": {"rate": "100 Mbit/s", "delay": "20 ms"},
    }
    flows = [{"from": "a", "to": "b", "tcp": "hybla"}]
    given = scenario_data(stack="linux-6", network={"dumbbell": network}, flows=flows, duration="3 s", warm_up="0 s")
    result = sojourn.run(from_data(given, "test"))
    assert 0 < result.flows["rwnd_limited"][0] < 1
    assert not [line for line in result.limited if line.startswith("Receivers")]
