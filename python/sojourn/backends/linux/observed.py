"""Flows that programs made, as the guest saw them: connections of TCP, and datagrams of UDP and QUIC by addresses and ports.

The guest looks at the packets of hosts, where they leave and where they arrive, and asks the kernel of their sockets (observed.c,
sockets.c). A connection is a flow in the direction in which it carried more; datagrams are a flow in each direction. Such flows
follow those of the scenario, in the order in which they began.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.backends.linux import reading
from sojourn.backends.linux.algorithms import MODULES
from sojourn.backends.linux.plan import Plan
from sojourn.backends.linux.units import NANOSECONDS
from sojourn.backends.result import FLOW_SERIES, FLOWS, RunResult, frame
from sojourn.specification import RunSpecification

TCP = "tcp"

#: Congestion controls of Linux by our names.
_NAMES = {module.name: name for name, module in MODULES.items()}

#: Each conversation has two directions, whose numbers are twice its own, and one more.
_DIRECTIONS = 2


@dataclass
class Records:
    """What the guest wrote."""

    #: Of each conversation its protocol, and of both ends the host and the port; the first end began.
    ends: dict[int, tuple[str, list[tuple[int, int]]]] = field(default_factory=dict)
    #: When a conversation was established, and reset.
    conversations: dict[int, reading.Values] = field(default_factory=dict)
    #: Of directions, by their numbers.
    ways: dict[int, reading.Values] = field(default_factory=dict)
    delays: dict[int, reading.Values] = field(default_factory=dict)
    bins: dict[int, dict[int, int]] = field(default_factory=dict)
    series: list[list[int]] = field(default_factory=list)


def result(run: RunSpecification, plan: Plan, text: str, folder: Path) -> RunResult:
    """What a guest wrote as frames: see ``reading.result``; with the flows of its programs, if it has any."""
    found = reading.result(run, plan, text, folder)
    return added(run, found, text) if plan.programs else found


def records(text: str) -> Records:
    """Reads what a result has of such flows."""
    found = Records()
    for line in text.splitlines():
        if not line.startswith("observed"):
            continue
        kind, *words = line.split()
        number = int(words[0])
        match kind:
            case "observed":
                places = [(int(words[at].removeprefix("n")), int(words[at + 1])) for at in (2, 4)]
                found.ends[number] = words[1], places
                found.conversations[number] = reading.pairs(words[6:])
            case "observed-way":
                found.ways[number] = reading.pairs(words[1:])
            case "observed-delay":
                found.delays[number] = reading.pairs(words[1:])
            case "observed-delays":
                found.bins.setdefault(number, {})[int(words[1])] = int(words[2])
            case "observed-at":
                found.series.append([int(word) for word in words])
    return found


def added(run: RunSpecification, result: RunResult, text: str) -> RunResult:
    """A result with the flows that programs made."""
    found = records(text)
    first = result.flows.height
    directions = sorted(_directions(found), key=lambda each: (_start(found, *each), each))
    numbers = {_DIRECTIONS * conversation + end: first + place for place, (conversation, end) in enumerate(directions)}
    rows = [_flow(run, found, *each) | {"flow": first + place} for place, each in enumerate(directions)]
    columns = {name: [row.get(name) for row in rows] for name in FLOWS}
    series = _series(found, numbers)
    arrived = sum(int(found.ways[number]["total_arrived"]) for number in numbers)
    return replace(
        result,
        flows=pl.concat([result.flows, frame(columns, FLOWS)]),
        flow_series=pl.concat([result.flow_series, frame(series, FLOW_SERIES)]).sort("time", maintain_order=True),
        data_packets_delivered=result.data_packets_delivered + arrived,
    )


def _directions(found: Records) -> Iterator[tuple[int, int]]:
    """Conversations and the end that sends, of those directions that are flows."""
    for conversation, (protocol, _) in found.ends.items():
        ways = [found.ways[_DIRECTIONS * conversation + end] for end in range(_DIRECTIONS)]
        if protocol == TCP:
            there, back = (int(way["total_bytes"]) for way in ways)
            yield conversation, int(back > there)
        else:
            yield from ((conversation, end) for end, way in enumerate(ways) if int(way["total_sent"]))


def _start(found: Records, conversation: int, end: int) -> int:
    """When a flow sent its first packet; a connection, when its SYN was sent."""
    protocol, _ = found.ends[conversation]
    way = found.ways[_DIRECTIONS * conversation + (0 if protocol == TCP else end)]
    return int(way.get("first", 0))


def _flow(run: RunSpecification, found: Records, conversation: int, end: int) -> dict[str, Any]:
    protocol, places = found.ends[conversation]
    whole, way = found.conversations[conversation], found.ways[_DIRECTIONS * conversation + end]
    is_tcp = protocol == TCP
    completed = reading.seconds(way, "completed")
    return {
        "flow_group": _label(run, protocol, places, end),
        "sender": run["nodes"][places[end][0]],
        "receiver": run["nodes"][places[1 - end][0]],
        "algorithm": _NAMES.get(way.get("algorithm", protocol), way.get("algorithm", protocol)),
        "start": _start(found, conversation, end) / NANOSECONDS,
        "established": reading.seconds(whole, "established"),
        "completed": completed,
        "stopped": reading.seconds(whole, "reset") if completed is None else None,
        "bytes_delivered": int(way["bytes"]),
        "total_bytes_delivered": int(way["total_bytes"]),
        "packets_dropped": int(way["lost"]),
        "segments_sent": int(way["sent"]),
        "retransmissions": int(way["again"]),
        "timeouts": _count(way, "timeouts") if is_tcp else 0,
        "fast_recoveries": None if is_tcp else 0,
        "mark_reductions": None if is_tcp else 0,
        "undone_reductions": None if is_tcp else 0,
        **{name: int(way[name]) / reading.MICROSECONDS if name in way else None for name in ("rwnd_limited", "sndbuf_limited")},
        **reading.rtts(way),
        **reading.delays(found.delays.get(_number(conversation, end)), found.bins.get(_number(conversation, end), {})),
        "long_lived": False,
    }


def _number(conversation: int, end: int) -> int:
    return _DIRECTIONS * conversation + end


def _label(run: RunSpecification, protocol: str, places: Sequence[tuple[int, int]], end: int) -> str:
    """What the flow is called: the port is that of the end that was called, since the other's is another each time."""
    names = [run["nodes"][host] for host, _ in places]
    if places[1][1]:
        names[1] = f"{names[1]}:{places[1][1]}"
    return f"{protocol} {names[end]}-{names[1 - end]}"


def _count(values: Mapping[str, str], name: str) -> int | None:
    return int(values[name]) if name in values else None


def _series(found: Records, numbers: Mapping[int, int]) -> dict[str, list[Any]]:
    rows = [row for row in found.series if row[1] in numbers]
    return {
        "time": [row[0] / NANOSECONDS for row in rows],
        "flow": [numbers[row[1]] for row in rows],
        "cwnd": [row[2] if row[2] >= 0 else None for row in rows],
        "ssthresh": [row[3] if row[3] >= 0 else None for row in rows],
        "rtt": [row[4] / NANOSECONDS if row[4] >= 0 else None for row in rows],
        "bytes_delivered": [row[5] for row in rows],
        "bytes_received": [row[6] for row in rows],
    }
