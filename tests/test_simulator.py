"""The simulator as a backend: what needs the real engine."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from sojourn import _engine, backends
from sojourn.analysis.frames import NAMES
from sojourn.backends.columns import COLUMNS
from sojourn.backends.result import FRAMES
from sojourn.errors import InputError, RunCancelled
from sojourn.scenario import Scenario
from sojourn.specification import specify, text


def test_two_flows_fill_bottleneck(scenario: Callable[..., Scenario]) -> None:
    """Two flows use the whole bottleneck, throughput is bytes over time, and packets of the queue are conserved."""
    result = sojourn.run(scenario(duration="20 s", warm_up="5 s"))
    (run,) = result.runs.iter_rows(named=True)
    assert 9.0 < run["total_mbps"] < 10.0
    assert run["total_mbps"] * 1e6 / 8 * run["window_s"] == pytest.approx(result.flows["bytes_delivered"].sum())
    assert 0.95 < run["utilisation"] <= 1.0
    (queue,) = result.queues.iter_rows(named=True)
    assert queue["link"] == "left->right"
    assert queue["total_arrivals"] == queue["total_departures"] + queue["total_drops"] + queue["queued_at_end"]


def test_only_seeds_change_runs(scenario: Callable[..., Scenario]) -> None:
    """Two seeds give different runs, and the same seeds the same runs."""
    flows = [{"from": "a", "to": "b", "count": 3, "start_within": "1 s", "tcp": "cubic"}]
    result = sojourn.run(scenario(flows=flows), seeds=2)
    first, second = (frame.drop("key", "seed") for frame in result.flows.partition_by("seed"))
    assert not first.equals(second)
    again = sojourn.run(scenario(flows=flows), seeds=2)
    assert again.flows.equals(result.flows)


def test_files_independent_of_workers(scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """The simulator's results have the same bytes for one and two workers."""
    sampled = scenario(
        probe={"queue_series": "100 ms", "flow_series": "50 ms"},
        flows=[{"from": "a", "to": "b", "count": 3, "start_within": "1 s", "tcp": "compound"}],
    )
    written = []
    for attempt, jobs in enumerate([1, 2, 2]):
        directory = tmp_path / str(attempt)
        sojourn.run(sampled, seeds=6, out=directory, jobs=jobs)
        written.append({path.name: path.read_bytes() for path in directory.glob("*.parquet")})
    assert written[0] == written[1] == written[2]
    assert set(written[0]) == {f"{name}.parquet" for name in NAMES}


def test_values_have_the_types_of_their_columns(scenario: Callable[..., Scenario]) -> None:
    """The engine gives whole numbers, real ones, words and truth values where its table of columns says so, or nothing."""
    video = {"rule": "throughput", "ladder": ["300 kbit/s", "700 kbit/s"], "segment": "1 s", "buffer": "10 s"}
    kinds: list[dict[str, Any]] = [{"tcp": "cubic"}, {"size": "20 kB"}, {"tcp": "voice"}, {"tcp": "ping"}, {"video": video}]
    data = scenario(
        flows=[{"from": "a", "to": "b", "tcp": "newreno", "group": str(number), **kind} for number, kind in enumerate(kinds)],
        probe={"queue_series": "500 ms", "flow_series": "1 s"},
    )
    tables = _engine.run(text(specify(data, 1)))
    types = {"UInt32": int, "UInt64": int, "Float64": float, "String": str, "Boolean": bool}
    for frame in FRAMES:
        assert [*tables[frame]] == [column.name for column in COLUMNS[frame]]
        for column in COLUMNS[frame]:
            assert {type(value) for value in tables[frame][column.name]} <= {types[column.type], type(None)}, (frame, column)


def test_series_intervals(scenario: Callable[..., Scenario]) -> None:
    """Series have all measures at the intervals given, and the bytes delivered never fall."""
    series = sojourn.run(scenario(probe={"queue_series": "500 ms", "flow_series": "1 s"})).series
    assert set(series.filter(kind="queue")["measure"]) == {"packets", "bytes", "drops"}
    assert set(series.filter(kind="flow")["measure"]) == {"cwnd", "ssthresh", "rtt", "bytes_delivered", "bytes_received"}
    times = series.filter(kind="queue", measure="packets")["time"]
    assert times.diff().drop_nulls().to_list() == pytest.approx([0.5] * (len(times) - 1))
    delivered = series.filter(kind="flow", which="0", measure="bytes_delivered")["value"]
    assert delivered.is_sorted()
    assert delivered[-1] > 0


def test_series_count_drops(scenario: Callable[..., Scenario]) -> None:
    """The series of drops counts from the start; its increase over the measuring window is the drops of the window."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "12 Mbit/s", "packet_size": "1500 B"}}]
    result = sojourn.run(scenario(flows=flows, duration="10 s", warm_up="4.05 s", probe={"queue_series": "50 ms"}))
    counted = result.series.filter(measure="drops").sort("time")
    queue = result.queues.row(0, named=True)
    assert counted["value"][0] == 0
    assert counted["value"].is_sorted()
    before = counted.filter(pl.col("time") <= 4.051)["value"][-1]
    assert before == pytest.approx(queue["total_drops"] - queue["drops"], abs=1)
    # 1000 packets/s arrive, of which the link drops a sixth: the last sample, at most 50 ms old, lacks up to 10.
    assert counted["value"][-1] == pytest.approx(queue["total_drops"], abs=10)
    assert queue["drops"] > 500


def test_rate_based_flow_columns(scenario: Callable[..., Scenario]) -> None:
    """Constant-rate and TFRC flows have null in the columns that only apply to TCP."""
    sources = [{"name": "cbr", "rate": "1 Mbit/s", "packet_size": "1250 B"}, "tfrc"]
    flows = [{"from": "a", "to": "b", "tcp": source} for source in sources]
    result = sojourn.run(scenario(flows=flows, duration="31 s", warm_up="1 s", probe={"flow_series": "1 s"}))
    cbr, tfrc = result.flows.iter_rows(named=True)
    assert (cbr["algorithm"], tfrc["algorithm"]) == ("cbr", "tfrc")
    # 100 packets/s.
    assert cbr["segments_sent"] == 3000
    assert (cbr["rtt_samples"], cbr["rtt_mean"]) == (0, None)
    # 9 Mbit/s remain, less 52 of 1500 bytes of headers; packets queued when the window opened may add to it.
    assert 0.85 * 9 < tfrc["bytes_delivered"] * 8 / 30e6 < 9 * 1448 / 1500 + 100 * 1448 * 8 / 30e6
    assert 0.014 < tfrc["rtt_min"] < tfrc["rtt_mean"] < tfrc["rtt_max"]
    for flow in (cbr, tfrc):
        assert (flow["established"], flow["completed"], flow["aborted"]) == (None, None, None)
        assert flow["retransmissions"] == 0
    assert result.runs["never_established"].to_list() == [0]
    assert result.series.filter(kind="flow")["which"].unique().to_list() == ["1"]


def test_stopped_flow(scenario: Callable[..., Scenario]) -> None:
    """A flow delivers nothing after its stop, and the other flow takes over the link."""
    leaving = {"from": "a", "to": "b", "group": "leaving", "tcp": "newreno", "stop": "2 s"}
    staying = {"from": "a", "to": "b", "group": "staying", "tcp": "newreno"}
    # A queue of 100 packets and a round trip of 14 ms have ended 134 ms after the stop.
    result = sojourn.run(scenario(flows=[leaving, staying], duration="8 s", warm_up="2200 ms"))
    left, stayed = result.flows.iter_rows(named=True)
    assert (left["stopped"], left["completed"], left["aborted"]) == (2.0, None, None)
    assert (left["bytes_delivered"], left["segments_sent"]) == (0, 0)
    assert left["total_bytes_delivered"] > 0
    assert stayed["stopped"] is None
    assert stayed["bytes_delivered"] * 8 / 5.8 > 0.9 * 10e6 * 1448 / 1500
    assert result.runs["aborted"].to_list() == [0]


def test_bdp_of_longest_round_trip(scenario: Callable[..., Scenario]) -> None:
    """A limit in BDP uses the longest round-trip time of the flows; queues flooded by unanswered sources reach it."""
    near, far = ({"name": name, "rate": "100 Mbit/s", "delay": delay} for name, delay in (("near", "1 ms"), ("far", "20 ms")))
    sink = {"name": "b", "rate": "100 Mbit/s", "delay": "4 ms", "queue": {"name": "droptail", "limit": "0.5 BDP"}}
    queues = {"queue": {"name": "droptail", "limit": "2 BDP"}, "reverse": {"queue": {"name": "droptail", "limit": "1 BDP"}}}
    network = {
        "dumbbell": {"bottleneck": {"rate": "12 Mbit/s", "delay": "5 ms", **queues}, "senders": [near, far], "receivers": [sink]}
    }
    flood = {"name": "cbr", "rate": "200 Mbit/s", "packet_size": "1500 B"}
    floods = [{"from": "far", "to": "b", "tcp": flood}, {"from": "b", "to": "far", "tcp": flood}]

    def longest(*origins: str) -> list[int]:
        flows = [{"from": origin, "to": "b", "tcp": "cubic"} for origin in origins]
        result = sojourn.run(scenario(network=network, flows=[*flows, *floods], duration="2 s", warm_up="1 s"))
        return result.queues["max_packets"].to_list()

    # 12 Mbit/s are one packet of 1500 bytes each millisecond; the round trips are 20 and 58 ms.
    assert longest("near") == [40, 20, 84]
    assert longest("near", "far") == [116, 58, 242]


def test_too_short_on_time(scenario_file: Callable[..., Path]) -> None:
    """An `on` time shorter than the interval between packets is a one-line error."""
    source = 'tcp = { name = "cbr", rate = "1 kbit/s", packet_size = "1500 B", on = "1 s", off = "1 s" }'
    path = scenario_file(('tcp = "newreno"', source))
    with pytest.raises(InputError) as caught:
        sojourn.run(path)
    expected = "flows[0] (a-b): on: 1 s is shorter than the gap of 12 s between packets at this rate and packet_size"
    assert str(caught.value) == f"{path}: {expected}"


def test_without_queue_statistics(scenario: Callable[..., Scenario]) -> None:
    """Without queue statistics there are no queue rows, and flows are the same."""
    measured = sojourn.run(scenario())
    unmeasured = sojourn.run(scenario(probe={"queue_statistics": False}))
    assert measured.queues.height > 0
    assert unmeasured.queues.height == 0
    keys = [column for column in measured.flows.columns if column != "key"]
    assert unmeasured.flows.select(keys).equals(measured.flows.select(keys))


def test_listed_losses(scenario: Callable[..., Scenario]) -> None:
    """The listed packets are lost and retransmitted, and the transfer completes."""
    links = [{"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "5 ms", "queue": "droptail", "drop": {"listed": [3, 50]}}]
    flows = [{"from": "a", "to": "b", "tcp": "newreno", "size": "300 kB"}]
    result = sojourn.run(scenario(network={"links": links}, flows=flows, warm_up="0 s"))
    assert result.queues["total_link_losses"].to_list() == [2]
    (flow,) = result.flows.iter_rows(named=True)
    assert flow["bytes_delivered"] == 300_000
    assert flow["retransmissions"] >= 2
    assert flow["completed"] is not None


def test_engine_errors_are_input_errors(scenario: Callable[..., Scenario]) -> None:
    """A specification that the engine refuses is an input error."""
    impossible = scenario(stack={"minimum_rto": "90 s", "maximum_rto": "60 s"})
    with pytest.raises(InputError, match="minimum_rto"):
        sojourn.run(impossible)
    broken = specify(scenario(), seed=1)
    broken["nodes"] = []
    with pytest.raises(InputError):
        backends.named("simulator").run(broken)


def test_run_can_be_cancelled(scenario: Callable[..., Scenario]) -> None:
    """A long run ends soon after it is cancelled."""
    backend = backends.named("simulator")
    threading.Timer(0.2, backend.cancel).start()
    started = time.monotonic()
    with pytest.raises(RunCancelled):
        backend.run(specify(scenario(duration="1000000 s"), seed=1))
    assert time.monotonic() - started < 20


def test_runs_release_interpreter_lock(scenario: Callable[..., Scenario]) -> None:
    """The engine releases the interpreter lock: a run finishes while another one goes on in a second thread."""
    backend = backends.named("simulator")

    def endless() -> None:
        with pytest.raises(RunCancelled):
            backend.run(specify(scenario(duration="1000000 s"), 1))

    runner = threading.Thread(target=endless)
    runner.start()
    result = sojourn.run(scenario())
    assert runner.is_alive()
    backend.cancel()
    runner.join(timeout=20)
    assert not runner.is_alive()
    assert result is not None
