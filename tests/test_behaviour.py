"""Snapshots of the behaviour of every congestion control and queue discipline: a change shows as changed rows.

They do not say what is right: ``docs/behaviour.md`` and the engine's tests against published values do. After an intended
change, ``pytest tests/test_behaviour.py --snapshot-update`` rewrites them. To compute all rows takes long: ``make test`` checks
some of them, ``make test-long`` all.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

import sojourn
from conftest import scenario_data
from sojourn import catalogue
from sojourn.metrics import formulas
from sojourn.scenario import from_data

HOST_LINK = {"rate": "1 Gbit/s", "delay": "5 ms"}
BOTTLENECK = {"rate": "50 Mbit/s", "delay": "10 ms"}

#: Buffers in BDP and packets: 50 Mbit/s times 40 ms are 166 packets of 1500 bytes.
BUFFERS = {"0.5": 83, "1": 166, "4": 666}


class Table(SingleFileSnapshotExtension):
    """A snapshot in a separate text file."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


def behaviour(controls: list[str], buffer: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Runs one flow of each of these controls; returns the flows and the bottleneck's queue."""
    data = scenario_data(
        duration="80 s",
        warm_up="30 s",
        # A packet's transmission time at the bottleneck, to avoid phase effects, which a single flow does not have.
        sender_overhead="240 us" if len(controls) > 1 else "0 s",
        network=dumbbell({"name": "droptail", "limit": f"{buffer} packets"}),
        flows=[{"from": "a", "to": "b", "start_within": "1 s", "tcp": control} for control in controls],
    )
    result = sojourn.run(from_data(data, "behaviour"))
    return result.flows, result.queues


def dumbbell(queue: dict[str, Any]) -> dict[str, Any]:
    """Returns a path of 50 Mbit/s and 40 ms with this queue."""
    hosts = {"senders": [{"name": "a", **HOST_LINK}], "receivers": [{"name": "b", **HOST_LINK}]}
    return {"dumbbell": {"bottleneck": {**BOTTLENECK, "queue": queue}, **hosts}}


def controls() -> list[str]:
    """All but sources without feedback, which have no behaviour: the scenario sets their rate."""
    return [control.name for control in catalogue.load().congestion_controls if not control.one_way]


def lines(names: Iterable[str], buffers: Iterable[str]) -> Iterator[str]:
    yield f"{'':12} {'buffer':>6} | {'alone':>30} | {'against New Reno':>30}"
    columns = f"{'util %':>8} {'queue pk':>10} {'drops %':>10}"
    yield f"{'':12} {'BDP':>6} | {columns} | {'share %':>8} {'queue pk':>10} {'drops %':>10}"
    for control in names:
        for name in buffers:
            packets = BUFFERS[name]
            _, queues = behaviour([control], packets)
            (alone,) = queues.iter_rows(named=True)
            flows, queues = behaviour([control, "newreno"], packets)
            (shared,) = queues.iter_rows(named=True)
            mine, all_bytes = flows["bytes_delivered"][0], flows["bytes_delivered"].sum()
            yield (
                f"{control:12} {name:>6} | {100 * alone['utilisation']:8.1f} {_length(alone)} | "
                f"{100 * mine / all_bytes:8.1f} {_length(shared)}"
            )


def _length(queue: dict[str, float]) -> str:
    return f"{queue['mean_packets']:10.1f} {100 * queue['drops'] / queue['arrivals']:10.3f}"


@pytest.mark.long
def test_control_snapshot(snapshot: SnapshotAssertion) -> None:
    """A snapshot of every congestion control, alone and against New Reno, behind buffers of 0.5, 1 and 4 BDP."""
    assert "\n".join(line.rstrip() for line in lines(controls(), BUFFERS)) + "\n" == snapshot(extension_class=Table)


#: One controlled by loss, one by delay, one by rate.
SOME = ("cubic", "vegas", "bbr")


def snapshot_rows(test: str, place: slice, value: str) -> list[str]:
    """Returns the rows of a snapshot that have this value in these columns."""
    table = Path(__file__).parent / "__snapshots__" / "test_behaviour" / f"{test}.txt"
    return [line for line in table.read_text(encoding="utf-8").splitlines() if line[place].strip() == value]


def test_control_snapshot_one_bdp() -> None:
    """The rows of the snapshot of some congestion controls for a buffer of 1 BDP."""
    _, _, *now = lines(SOME, ["1"])
    kept = snapshot_rows("test_control_snapshot", slice(12, 19), "1")
    assert now == [row for row in kept if row.split()[0] in SOME]


#: The loads: for each, congestion controls and their numbers of flows.
LOADS: dict[str, dict[str, int]] = {
    "cubic 1": {"cubic": 1},
    "cubic 10": {"cubic": 10},
    "cubic 100": {"cubic": 100},
    "newreno 10": {"newreno": 10},
    "bbr 10": {"bbr": 10},
    "cbr 1.2": {"cbr": 1},
    "cbr+cubic 10": {"cbr": 1, "cubic": 10},
}

#: An unresponsive flow of 1.2 times the bottleneck's rate.
CBR = {"name": "cbr", "rate": "60 Mbit/s", "packet_size": "1500 B"}

#: Disciplines that need the hungriest group of flows as a parameter: that of the unresponsive flow, if there is one.
NEED_HUNGRIEST = ("codel_static", "apd_static")


def queue_behaviour(discipline: str, load: str) -> str:
    """Returns the row of one discipline under one load."""
    queue = {"name": discipline, "limit": "666 packets"}
    if discipline == "tbf":
        queue["rate"] = "40 Mbit/s"
    if discipline in NEED_HUNGRIEST:
        queue["hungriest"] = next(iter(LOADS[load]))
    flows = [
        {
            "from": "a",
            "to": "b",
            "group": control,
            "count": count,
            "start_within": "1 s",
            "tcp": CBR if control == "cbr" else control,
        }
        for control, count in LOADS[load].items()
    ]
    data = scenario_data(duration="40 s", warm_up="10 s", sender_overhead="240 us", network=dumbbell(queue), flows=flows)
    result = sojourn.run(from_data(data, "behaviour"))
    (seen,) = result.queues.iter_rows(named=True)
    sojourns = (seen["sojourn_mean"], seen["sojourn_p99"])
    mean, tail = (f"{'-':>9}" if time is None else f"{1000 * time:9.2f}" for time in sojourns)
    jain = formulas.jain(result.flows["bytes_delivered"].to_numpy())
    return (
        f"{discipline:15} {load:13} | {100 * seen['utilisation']:8.1f} {mean} {tail} "
        f"{100 * seen['drops'] / seen['arrivals']:8.2f} {0 if jain is None else jain:6.3f}"
    )


def queue_lines(loads: Iterable[str]) -> Iterator[str]:
    yield f"{'':15} {'flows':13} | {'util %':>8} {'mean ms':>9} {'p99 ms':>9} {'drops %':>8} {'Jain':>6}"
    cells = [(discipline.name, load) for discipline in catalogue.load().queues for load in loads]
    with ThreadPoolExecutor() as pool:
        yield from pool.map(lambda cell: queue_behaviour(*cell), cells)


#: It says that no flow has ECN, as none has here.
without_ecn = pytest.mark.filterwarnings("ignore:step on the link")


@without_ecn
@pytest.mark.long
def test_queue_snapshot(snapshot: SnapshotAssertion) -> None:
    """A snapshot of every queue discipline under seven loads."""
    assert "\n".join(queue_lines(LOADS)) + "\n" == snapshot(extension_class=Table)


@without_ecn
def test_queue_snapshot_ten_cubic() -> None:
    """The rows of the snapshot of queue disciplines for ten CUBIC flows."""
    _, *now = queue_lines(["cubic 10"])
    assert now == snapshot_rows("test_queue_snapshot", slice(16, 30), "cubic 10")
