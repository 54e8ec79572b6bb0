"""Spaces around a landmark in which a pair's range is found: rate by delay, and flows by buffer."""

from collections.abc import Mapping
from typing import Any

from sojourn import units
from sojourn.atlas.landmark import Landmark
from sojourn.atlas.pairs import Pair

#: The names of the planes; that with less to run comes first.
FLOWS_BUFFER, RATE_DELAY = PLANES = ("flows-buffer", "rate-delay")

#: How much less and more than at the landmark rate and delay are, and the bounds of buffers and of flows of each group.
LEAST, MOST = 1 / 8, 4
BUFFERS, FLOWS = "0.25 BDP..8 BDP", "1..8"

#: The keys of a dumbbell's bottleneck.
_BOTTLENECK = "network.dumbbell.bottleneck"


def planes(landmark: Landmark, pair: Pair) -> dict[str, dict[str, Any]]:
    """The scenario files of a pair's ranges by their planes, without those that the landmark's link or flows do not allow."""
    data = landmark.data(pair)
    found = {}
    bottleneck = data["network"]["dumbbell"]["bottleneck"]
    if all(".." not in flow["from"] for flow in data["flows"]):
        counts = [f"flows.{place}.count" for place in range(len(data["flows"]))]
        limits = [f"{_BOTTLENECK}.queue.limit"]
        if "queue" in bottleneck.get("reverse", {}):
            limits.append(f"{_BOTTLENECK}.reverse.queue.limit")
        found[FLOWS_BUFFER] = _file(data, {"flows": {"key": counts, "range": FLOWS}, "buffer": _axis(limits, BUFFERS)})
    if "changes" not in bottleneck and units.DURATION.parse(bottleneck["delay"]):
        space = {name: _axis(f"{_BOTTLENECK}.{name}", _around(bottleneck[name])) for name in ("rate", "delay")}
        found[RATE_DELAY] = _file(data, space)
    return found


def _around(quantity: str) -> str:
    """Bounds around a quantity, in its unit."""
    number, unit = units.number_and_unit(quantity)
    return "..".join(f"{factor * float(number):g} {unit}" for factor in (LEAST, MOST))


def _axis(key: str | list[str], bounds: str) -> Mapping[str, Any]:
    return {"key": key, "range": bounds, "spacing": "log"}


def _file(data: Mapping[str, Any], space: Mapping[str, Any]) -> dict[str, Any]:
    return {**data, "search": {"space": space}, "range": {"axes": list(space)}}
