"""Scenarios with values at their bounds, and files of any contents: each is refused in one line, or taken with all that follows.

A scenario that is not refused takes no more memory than is estimated.
"""

import gc
import resource
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import IN_CI, scenario_data
from sojourn import _engine
from sojourn.errors import InputError
from sojourn.scenario import from_data
from sojourn.specification import specify, text
from sojourn.sweeps import file
from sojourn.units import LARGEST

DURATIONS = ["1 ps", "1 ns", "1 us", "1 ms", "1 s", "9000000 s", f"{LARGEST} ps", f"{LARGEST + 1} ps"]
RATES = ["1 bit/s", "1 kbit/s", "100 Mbit/s", "1000 Gbit/s", f"{LARGEST} bit/s"]
SIZES = ["1 B", "1500 B", "1 GB", f"{LARGEST} B"]
NUMBERS = [0, 1, 1000, 10**6, 2**31, 2**32, 2**63, 10**20]
LIMITS = ["1 packets", "1 B", "1 BDP", "0.001 BDP", "1e9 BDP", f"{LARGEST} packets", f"{LARGEST} B"]

NETWORK = "network.dumbbell"
BOTTLENECK = f"{NETWORK}.bottleneck"

#: Keys and values at and beyond their bounds.
BOUNDS: dict[str, list[Any]] = {
    "duration": DURATIONS,
    "warm_up": ["0 s", *DURATIONS],
    "sender_overhead": DURATIONS,
    f"{BOTTLENECK}.rate": RATES,
    f"{BOTTLENECK}.delay": DURATIONS,
    f"{BOTTLENECK}.loss": [0.0, 1e-9, 0.5, 1.0],
    f"{BOTTLENECK}.device_queue": ["0 packets", "1000000 packets", f"{LARGEST} packets"],
    f"{BOTTLENECK}.queue": ["droptail", "fq_codel", "cake", "sfq", "pie", "red", {"name": "sred", "zombies": 10**6}],
    f"{BOTTLENECK}.queue.limit": LIMITS,
    f"{BOTTLENECK}.reverse.queue": ["droptail", {"name": "fq_codel", "queues": 65536}],
    f"{BOTTLENECK}.aggregation": [{}, {"packets": "1 packets"}, {"packets": "1000000 packets", "airtime": f"{LARGEST} ps"}],
    f"{BOTTLENECK}.impairments": [{"slot": "3600 s"}, {"duplication": 1.0}, {"jitter": {"mean": "3600 s", "reorders": True}}],
    f"{NETWORK}.senders.0.count": NUMBERS,
    f"{NETWORK}.senders.0.rate": RATES,
    f"{NETWORK}.senders.0.delay": DURATIONS,
    f"{NETWORK}.receivers.0.rate": RATES,
    "flows.0.count": NUMBERS,
    "flows.0.size": SIZES,
    "flows.0.start_within": DURATIONS,
    "flows.0.tcp": [
        "cubic",
        "bbr",
        "bbr3",
        "tfrc",
        {"name": "cbr", "rate": "1000 Gbit/s", "packet_size": "1 B"},
        {"name": "cbr", "rate": "1 Gbit/s", "on": "1 us", "off": "1 ps"},
    ],
    "stack.recovery": ["rack", "prr"],
    "stack.receive_offload": ["1 ps", "10 ms", "11 ms"],
    "stack.send_offload": [True],
    "stack.segment_size": ["1 B", "65000 B"],
    "stack.initial_window": [1, 10**6],
    "stack.send_buffer": ["1 B", "1 GB"],
    "stack.receive_buffer": ["1 B", "1 GB"],
    "stack.reading_rate": ["0 bit/s", "1 bit/s", "1000 Gbit/s"],
    "probe.queue_series": DURATIONS,
    "probe.flow_series": DURATIONS,
}

mutations = st.dictionaries(st.sampled_from(list(BOUNDS)), st.integers(0, 7), min_size=1, max_size=5).map(
    lambda chosen: {key: BOUNDS[key][number % len(BOUNDS[key])] for key, number in chosen.items()}
)

#: What a run may take, and up to what it is run here.
MOST_BYTES, RUN = 4 * 2**30, 200 * 10**6

#: What the allocator and the test itself may take besides.
SLACK = 20 * 10**6

#: So many events are enough for the first windows of thousands of flows.
EVENTS = 20_000


def resident() -> int:
    """Returns the bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def check(changes: dict[str, Any]) -> None:
    """Has the small scenario with these changes refused, or run for a while in no more memory than is estimated."""
    try:
        (cell,) = file.from_data(scenario_data(), "fuzz").with_changes(changes).cells()
        specification = text(specify(cell.scenario, seed=1))
        estimate = _engine.memory(specification)
        if estimate > MOST_BYTES:
            _engine.Stepping(specification)
            raise AssertionError(f"{estimate} bytes are not refused: {changes}")
        if estimate > RUN:
            return
        gc.collect()
        before = resident()
        run = _engine.Stepping(specification)
        run.advance(cell.scenario.duration, EVENTS)
        taken = resident() - before
    except (InputError, _engine.SpecificationError):
        return
    assert taken <= estimate + SLACK, f"{taken} bytes taken, {estimate} estimated: {changes}"


@settings(max_examples=15, derandomize=True)
@given(mutations)
def test_bounds_keep_within_memory(changes: dict[str, Any]) -> None:
    """A scenario at its bounds is refused, or its run so far takes no more memory than was estimated."""
    check(changes)


@pytest.mark.long
@settings(max_examples=250 if IN_CI else 1000)
@given(mutations)
def test_many_bounds_keep_within_memory(changes: dict[str, Any]) -> None:
    """The same for many more scenarios, others each time."""
    check(changes)


#: Lines of both formats of connection vectors, whole and broken. Most lists of them have a connection that can be read.
LINES = st.one_of(
    st.sampled_from(
        ["SEQ 6000 9 1 2", "CONC 1000 9 9 1 2", "S 6000 9 1 2", "C 1000 9 9 1 2", "S 0 0", "SEQ", "C 1 1", "m 1460 1460"]
    ),
    st.sampled_from(
        ["w 64240 6432", "r 1176194", "l 0.0 0.0", "# nothing", "", "> 245", "< 510", "t 51257", "< 0", "c> 2", "t> 88", "c< 14"]
    ),
    st.builds("{} {} {} {}".format, st.sampled_from("IA"), *3 * [st.sampled_from([0, 0, 7, 10**15])]),
    st.text(max_size=20),
)


@settings(max_examples=200)
@given(st.sampled_from(["", "SEQ 0 9", "CONC 0 9 9", "S 0 9", "C 0 9 9"]), st.lists(LINES, max_size=12))
def test_any_connection_vectors(tmp_path_factory: pytest.TempPathFactory, first: str, lines: list[str]) -> None:
    """Whatever a file of vectors holds, "it is read, or refused in one line that names it."""
    folder = tmp_path_factory.mktemp("vectors")
    (folder / "tmix").write_text("\n".join([first, *lines]), encoding="utf-8")
    flow = {"from": "a", "to": "b", "tcp": "newreno", "vectors": "tmix", "start": "0 s"}
    try:
        (flows,) = from_data(scenario_data(flows=[flow]), "fuzz", folder).flows
    except InputError as error:
        complaint = str(error)
        assert complaint.startswith('fuzz: flows[0].vectors: "tmix"')
        assert complaint.isprintable()
        return
    found = flows.vectors
    assert found is not None
    starts = [vector.start for vector in found.vectors]
    assert starts == sorted(starts)
    for vector in found.vectors:
        assert vector.writes
        assert all(write.size > 0 and write.wait >= 0 for write in vector.writes)
