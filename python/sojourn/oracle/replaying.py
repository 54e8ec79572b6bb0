"""One sequence of events through a built-in congestion control and a module of Linux, in the process of users' code."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import InputError, RunFailed
from sojourn.oracle.pairs import SLOW_STARTS
from sojourn.plugins import processes
from sojourn.plugins.worker import OK, REPLAY, WRONG
from sojourn.scenario import from_data
from sojourn.specification import RunSpecification, specify
from sojourn.units import PICOSECONDS

#: The stack around both: that for which the built-in algorithms follow Linux.
PROFILE = "linux-6"

#: The rate of the path, which has a buffer of one bandwidth-delay product.
RATE = 50_000_000

#: The columns of a replay: windows in segments, rates in bit/s, times in seconds.
KINDS = {
    **{"event": pl.UInt64, "time": pl.Float64, "kind": pl.String, "rtt": pl.Float64},
    **{f"{who}_{what}": pl.Float64 for who in ("leader", "follower") for what in ("cwnd", "ssthresh", "pacing_rate")},
}


@dataclass(frozen=True)
class Sequence:
    """A sequence of events."""

    #: How many.
    events: int = 20_000
    #: Of random losses, marks, timeouts, pauses and delays; without one the sequence is a plan.
    seed: int | None = None
    #: Of the path without a queue, in picoseconds.
    rtt: int = 40 * PICOSECONDS // 1000


def replay(name: str, module: Path, sequence: Sequence, changes: Mapping[str, Any] | None = None) -> pl.DataFrame:
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
    ours = _specified({"name": name, **slow_start, **(changes or {})}, name)
    linux = _specified({"linux": module.name}, name, module.parent)
    request = {
        "stack": ours["stacks"][0],
        "leader": linux["flows"][0]["source"],
        "follower": ours["flows"][0]["source"],
        "events": sequence.events,
        "rtt": sequence.rtt,
        "rate": RATE,
        "seed": sequence.seed,
    }
    try:
        answer, found, *output = processes.ask((REPLAY, processes.PATIENCE, json.dumps(request), linux["plugins"]))
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


def _specified(tcp: Mapping[str, Any], name: str, folder: Path | None = None) -> RunSpecification:
    """A run with a flow of this algorithm."""
    link = {"rate": "1 Gbit/s", "delay": "1 ms"}
    data = {
        "name": name,
        "duration": "1 s",
        "stack": PROFILE,
        "network": {
            "dumbbell": {
                "bottleneck": {**link, "queue": {"name": "droptail", "limit": "100 packets"}},
                "senders": [{"name": "a", **link}],
                "receivers": [{"name": "b", **link}],
            }
        },
        "flows": [{"from": "a", "to": "b", "tcp": tcp}],
    }
    try:
        return specify(from_data(data, name, folder), 1)
    except InputError as error:
        place = "" if folder is not None else "--set: "
        wrong = InputError(str(error).replace(f"{name}: flows[0].tcp: ", place))
        wrong.output = error.output
        raise wrong from None
