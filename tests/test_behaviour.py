"""How every congestion control behaves, as a table that is kept: a change in one shows as a difference of lines.

The table is no expectation of what is right, which ``docs/behaviour.md`` and the engine's tests against published figures say.
After a change that is meant, ``pytest tests/test_behaviour.py --snapshot-update`` writes it anew.
"""

from collections.abc import Iterator

import polars as pl
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

import sojourn
from conftest import scenario_data
from sojourn import catalogue
from sojourn.scenario import from_data

#: 50 Mbit/s and 40 ms: a product of 166 packets of 1500 bytes.
BUFFERS = {"0.5": 83, "1": 166, "4": 666}


class Table(SingleFileSnapshotExtension):
    """A text file of its own."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


def behaviour(controls: list[str], buffer: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The flows and the bottleneck's queue of one run with a flow of each of these controls."""
    link = {"rate": "1 Gbit/s", "delay": "5 ms"}
    data = scenario_data(
        duration="80 s",
        warm_up="30 s",
        # The time of a packet at the bottleneck, against phase effects; a flow alone has none.
        sender_overhead="240 us" if len(controls) > 1 else "0 s",
        network={
            "dumbbell": {
                "bottleneck": {
                    "rate": "50 Mbit/s",
                    "delay": "10 ms",
                    "queue": {"name": "droptail", "limit": f"{buffer} packets"},
                },
                "senders": [{"name": "a", **link}],
                "receivers": [{"name": "b", **link}],
            }
        },
        flows=[{"from": "a", "to": "b", "start_within": "1 s", "tcp": control} for control in controls],
    )
    result = sojourn.run(from_data(data, "behaviour"))
    return result.flows, result.queues


def lines() -> Iterator[str]:
    yield f"{'':12} {'buffer':>6} | {'alone':>30} | {'against New Reno':>30}"
    columns = f"{'util %':>8} {'queue pk':>10} {'drops %':>10}"
    yield f"{'':12} {'BDP':>6} | {columns} | {'share %':>8} {'queue pk':>10} {'drops %':>10}"
    for control in catalogue.load().congestion_controls:
        # A source that only sends has no behaviour: its rate is whatever a scenario says.
        if control.one_way:
            continue
        for name, packets in BUFFERS.items():
            _, queues = behaviour([control.name], packets)
            (alone,) = queues.iter_rows(named=True)
            flows, queues = behaviour([control.name, "newreno"], packets)
            (shared,) = queues.iter_rows(named=True)
            mine, all_bytes = flows["bytes_delivered"][0], flows["bytes_delivered"].sum()
            yield (
                f"{control.name:12} {name:>6} | {100 * alone['utilisation']:8.1f} {_length(alone)} | "
                f"{100 * mine / all_bytes:8.1f} {_length(shared)}"
            )


def _length(queue: dict[str, float]) -> str:
    return f"{queue['mean_packets']:10.1f} {100 * queue['drops'] / queue['arrivals']:10.3f}"


def test_behaviour_is_what_it_was(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(line.rstrip() for line in lines()) + "\n" == snapshot(extension_class=Table)
