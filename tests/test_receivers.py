"""What is said of flows that their receivers' windows limited."""

import sojourn
from conftest import scenario_data
from sojourn import summary
from sojourn.scenario import from_data

REMEDY = "raise stack.receive_buffer unless that is meant."


def test_small_window_is_told() -> None:
    """A window of less than the path's product limits both flows for all of the measuring window, and the tables say so."""
    result = sojourn.run(from_data(scenario_data(stack={"receive_buffer": "4 kB"}), "test"))
    assert result.flows["rwnd_limited"].to_list() == [3.0, 3.0]
    told = f"Receivers' windows limited 2 of 2 flows, for up to 3 s (rwnd_limited): {REMEDY}"
    assert result.limited == told
    assert summary.tables(result)[-1].notes == [told]


def test_large_window_is_silent() -> None:
    """Nothing is said where the network limits flows, or where they have no window."""
    flows = [{"from": "a", "to": "b", "tcp": "newreno"}, {"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "1 Mbit/s"}}]
    result = sojourn.run(from_data(scenario_data(flows=flows), "test"))
    assert result.flows["rwnd_limited"].to_list() == [0.0, None]
    assert result.limited is None


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
    assert result.limited is None
