"""One run with a module of Linux and a built-in congestion control that follows it, in the process of users' code."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import InputError, RunFailed
from sojourn.oracle.pairs import SLOW_STARTS
from sojourn.plugins import processes
from sojourn.plugins.worker import OK, ORACLE, WRONG
from sojourn.scenario import from_data
from sojourn.specification import RunSpecification, specify
from sojourn.units import PICOSECONDS

#: The stack around both: that for which the built-in algorithms follow Linux, with ECN.
STACK = {"profile": "linux-6", "ecn": "classic"}

#: The rate of the bottleneck in bit/s, that of a link which is none, and the bits of a packet.
RATE, FAST, PACKET = 50_000_000, 1_000_000_000, 12_000

#: Round-trip times that a sequence has at least before its marks begin, and that an outage lasts.
LEAST, OUTAGE = 40, 6.5

#: Of a sequence with a seed: the share of packets lost, the part of the round-trip time that a delay takes on average, what the
#: application writes, with pauses between, and how outages come again.
LOSS, JITTER = 0.0005, 20
EXCHANGE = {"response": {"distribution": "exponential", "mean": "8 MB"}, "think": "500 ms"}
REPEAT = {"every": "8 s", "spread": "4 s"}

#: The columns: windows in segments, rates in bit/s, times in seconds.
KINDS = {
    **{"event": pl.UInt64, "time": pl.Float64, "kind": pl.String, "rtt": pl.Float64},
    **{f"{who}_{what}": pl.Float64 for who in ("leader", "follower") for what in ("cwnd", "ssthresh", "pacing_rate")},
}


@dataclass(frozen=True)
class Sequence:
    """A sequence of events."""

    #: How many.
    events: int = 20_000
    #: Of random losses, outages, pauses and delays; without one the sequence is a plan.
    seed: int | None = None
    #: Of the path without a queue, in picoseconds.
    rtt: int = 40 * PICOSECONDS // 1000

    @property
    def length(self) -> int:
        """How long it takes, in picoseconds, if each event acknowledges two packets and the bottleneck is never idle."""
        return max(self.events * 2 * PACKET * PICOSECONDS // RATE, LEAST * self.rtt)


def run(name: str, module: Path, sequence: Sequence, changes: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """Both algorithms after each event: columns of ``ours`` and ``linux``; windows in segments.

    Args:
        name: of the built-in algorithm.
        module: the file of the module.
        sequence: what happens.
        changes: of the built-in algorithm's parameters; by default they are those of the profile ``linux-6``.

    Raises:
        InputError: the module does not compile or lacks something, or a parameter makes no sense.
        RunFailed: the module failed.
    """
    slow_start = {"slow_start": SLOW_STARTS[name]} if name in SLOW_STARTS else {}
    ours = _specified({"name": name, **slow_start, **(changes or {})}, name, sequence)
    linux = _specified({"linux": module.name}, name, sequence, module.parent)
    request = {"specification": linux, "follower": ours["flows"][0]["source"], "events": sequence.events}
    try:
        answer, found, *output = processes.ask((ORACLE, processes.PATIENCE, json.dumps(request), linux["plugins"]))
    except processes.Crashed as crashed:
        raise RunFailed(f"{module.name}: {crashed}") from None
    if answer == WRONG:
        wrong = InputError(found)
        wrong.output = output[0]
        raise wrong
    if answer != OK:
        raise RunFailed(found)
    segment = float(str(ours["stacks"][0]["segment_size"]))
    windows = [column for column in KINDS if column.endswith(("_cwnd", "_ssthresh"))]
    rows = pl.DataFrame(found, schema=KINDS).with_columns(pl.col(windows) / segment)
    return rows.rename(lambda column: column.replace("leader_", "linux_").replace("follower_", "ours_"))


def _network(sequence: Sequence) -> dict[str, Any]:
    """A link with a buffer of one bandwidth-delay product, and one that marks.

    The first is the bottleneck at the beginning, and out half way; the second in the last quarter.
    """
    length, rtt = sequence.length, sequence.rtt
    is_random = sequence.seed is not None
    loss = LOSS if is_random else 0.0
    repeat = REPEAT if is_random else {}
    outage: list[dict[str, Any]] = [
        {"at": f"{length // 2} ps", "loss": 1.0},
        {"at": f"{length // 2 + int(OUTAGE * rtt)} ps", "loss": loss},
    ]
    marks = {"at": f"{3 * length // 4 + int(OUTAGE * rtt)} ps"}
    packets = max(2, RATE * rtt // (PACKET * PICOSECONDS))
    red = {"name": "red", "min": "1 packets", "max": f"{packets} packets", "limit": f"{2 * packets} packets"}
    first = {
        "from": "a",
        "to": "router",
        "rate": f"{RATE} bit/s",
        "delay": f"{rtt // 2} ps",
        "queue": {"name": "droptail", "limit": "1 BDP"},
        "loss": loss,
        "impairments": {"jitter": {"mean": f"{rtt // JITTER} ps"}} if is_random else {},
        "changes": [*({**change, **repeat} for change in outage), {**marks, "rate": f"{FAST} bit/s"}],
    }
    second = {
        "from": "router",
        "to": "b",
        "rate": f"{FAST} bit/s",
        "delay": "0 s",
        "queue": {**red, "weight": 1.0, "wait": False, "byte_mode": False, "ecn": True},
        "changes": [{**marks, "rate": f"{RATE} bit/s"}],
    }
    return {"links": [first, second]}


def _specified(tcp: Mapping[str, Any], name: str, sequence: Sequence, folder: Path | None = None) -> RunSpecification:
    """A run with a flow of this algorithm, as long as it takes at two segments a round trip."""
    exchange = {} if sequence.seed is None else {"exchange": EXCHANGE}
    data = {
        "name": name,
        "duration": f"{sequence.length + 2 * sequence.events * sequence.rtt} ps",
        "sender_overhead": "0 s",
        "stack": STACK,
        "network": _network(sequence),
        "flows": [{"from": "a", "to": "b", "tcp": tcp, "start": "0 s", **exchange}],
    }
    try:
        return specify(from_data(data, name, folder), 1 if sequence.seed is None else sequence.seed)
    except InputError as error:
        place = "" if folder is not None else "--set: "
        wrong = InputError(str(error).replace(f"{name}: flows[0].tcp: ", place))
        wrong.output = error.output
        raise wrong from None
