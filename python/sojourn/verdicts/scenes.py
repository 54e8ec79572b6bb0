"""What verdicts need to know of a run that its frames do not say: round-trip times, and what the discipline promises."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from sojourn import _engine, specification
from sojourn.analysis.result import Result
from sojourn.specification import RunSpecification

#: Picoseconds in a second.
_SECOND = 1e12

#: Disciplines whose thresholds of the average queue are automatic: the lower is what the link sends in half the target delay, at
#: least this many packets, and the upper this many times as much (docs/catalogue.md).
_LEAST_PACKETS, _TIMES = 5, 3

SCENES: Mapping[str, Any] = {
    "key": pl.String(),
    "scene": pl.String(),
    "bottleneck": pl.String(),
    "discipline": pl.String(),
    "promised_s": pl.Float64(),
    "packet_bits": pl.Float64(),
}

PATHS: Mapping[str, Any] = {
    "key": pl.String(),
    "flow_group": pl.String(),
    "sender": pl.String(),
    "receiver": pl.String(),
    "base_rtt_s": pl.Float64(),
}


def tables(result: Result) -> dict[str, pl.DataFrame]:
    """The tables ``scenes`` and ``paths`` of a result's runs that have a bottleneck."""
    scenes: list[tuple[object, ...]] = []
    paths: list[tuple[object, ...]] = []
    known: dict[str, tuple[tuple[object, ...], list[tuple[object, ...]]] | None] = {}
    for key, text in result.columns("runs", ["key", "specification"]).iter_rows():
        run: RunSpecification = json.loads(text)
        same = json.dumps({name: value for name, value in run.items() if name != "seed"})
        if same not in known:
            known[same] = _told(run)
        told = known[same]
        if told is not None:
            scenes.append((key, *told[0]))
            paths.extend((key, *path) for path in told[1])
    return {
        "scenes": pl.DataFrame(scenes, schema=SCENES, orient="row"),
        "paths": pl.DataFrame(paths, schema=PATHS, orient="row"),
    }


def _told(run: RunSpecification) -> tuple[tuple[object, ...], list[tuple[object, ...]]] | None:
    """What is said of the runs of one cell, whatever their seed; none without a bottleneck."""
    link = specification.bottleneck(run)
    if link is None:
        return None
    nodes = run["nodes"]
    trips = _engine.base_round_trips(specification.text(specification.simulated(run)))
    paths = dict.fromkeys(
        (flow["group"], nodes[flow["from"]], nodes[flow["to"]], trip / _SECOND)
        for flow, trip in zip(run["flows"], trips, strict=True)
        if trip is not None
    )
    number = sum(flow["count"] for flow in run["flows"])
    packet = max((8.0 * stack["segment_size"] + 8.0 * stack["header_size"] + 96 for stack in _stacks(run)), default=12000.0)
    rate = specification.bottleneck_rate(run) or 0.0
    round_trip = min((float(path[-1]) for path in paths), default=0.0)
    promised = max(promise(link["queue"], rate, round_trip, number), packet / rate if rate else 0.0)
    discipline = link["queue"].get("name", "")
    name = f"{nodes[link['from']]}->{nodes[link['to']]}"
    return (_scene(run, link), name, discipline, promised or None, packet), list(paths)


def _stacks(run: RunSpecification) -> list[Mapping[str, Any]]:
    return [run["stacks"][flow["stack"]] for flow in run["flows"] if flow.get("stack") is not None]


def promise(queue: Mapping[str, Any], rate: float, round_trip: float, flows: int) -> float:
    """The delay that a discipline promises, in seconds.

    Args:
        queue: as specifications have it.
        rate: of its link, in bit/s.
        round_trip: the least base round-trip time of a flow, in seconds.
        flows: how many flows there are.
    """
    parameters: Mapping[str, Any] = queue.get("parameters", {})
    if "target" in parameters:
        return float(parameters["target"]) / _SECOND
    if isinstance(most := parameters.get("max"), Mapping) and rate:
        packet = 8.0 * parameters.get("mean_packet_size", 1500)
        bits = most.get("packets", 0) * packet + 8.0 * most.get("bytes", 0)
        if not bits:
            bits = _TIMES * max(_LEAST_PACKETS * packet, parameters.get("target_delay", 0) / _SECOND / 2 * rate)
        return float(bits / rate)
    return round_trip / (2 * math.sqrt(max(1, flows)))


def _scene(run: RunSpecification, bottleneck: Mapping[str, Any]) -> str:
    """What all runs have in common that differ only in their seed and in the discipline of the bottleneck, as a hash."""
    links = [{**link, "queue": link["queue"]["limit"]} if link is bottleneck else link for link in run["links"]]
    said = {**{name: value for name, value in run.items() if name != "seed"}, "links": links}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
