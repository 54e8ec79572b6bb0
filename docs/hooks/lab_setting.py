"""A scenario as a setting of the laboratory, which the address of a link holds (lab/src/model/setting.ts)."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from sojourn import units

#: What the laboratory does not have of a bottleneck.
_NOT_THERE = {"changes", "aggregation", "reverse", "impairments", "device_queue"}

#: Groups of flows that the laboratory takes at most (lab/src/model/keys.ts).
MOST_GROUPS = 12


def state(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the page's address holds for a scenario given as plain data; none if the page does not have a part of it."""
    dumbbell = data["network"]["dumbbell"]
    bottleneck, receivers = dumbbell["bottleneck"], dumbbell["receivers"]
    if len(receivers) > 1 or _NOT_THERE & set(bottleneck):
        return None
    senders = [_host(host, name) for host in dumbbell["senders"] for name in _names(host)]
    groups = [
        _group(flow, sender, number)
        for number, (flow, sender) in enumerate((flow, sender) for flow in data["flows"] for sender in _from(flow))
    ]
    if len(groups) > MOST_GROUPS:
        return None
    queue = dict(bottleneck["queue"])
    limit, unit = queue.pop("limit").split()
    overhead = data.get("sender_overhead")
    setting = {
        "seed": 1,
        "duration": _time(data["duration"]),
        "warm_up": _time(data["warm_up"]),
        "sender_overhead": None if overhead is None else _time(overhead),
        "profile": data["stack"]["profile"],
        "stack": {},
        "bottleneck": {
            "rate": units.RATE.parse(bottleneck["rate"]),
            "delay": _time(bottleneck["delay"]),
            "queue": {"name": queue.pop("name"), "parameters": queue},
            "limit": {"bandwidth_delay_products": float(limit)} if unit == units.BDP else {unit: int(limit)},
            "loss": bottleneck.get("loss", 0),
            **dict.fromkeys(("policer", "reverse", "reverse_queue", "aggregation")),
            "changes": [],
        },
        "links": None,
        "senders": senders,
        "receiver": _host(receivers[0], receivers[0]["name"]),
        "groups": groups,
        "probe": {key: _time(value) if (value := data["probe"].get(key)) else None for key in ("queue_series", "flow_series")},
    }
    return {"a": setting, "b": None, "own": []}


def address(setting: Mapping[str, Any]) -> str:
    """What a link to the page ends with, for what it is to show."""
    text = base64.urlsafe_b64encode(json.dumps(setting, separators=(",", ":")).encode())
    return f"#v2.{text.decode().rstrip('=')}"


def _time(text: str) -> int:
    return units.DURATION.parse(text)


def _names(host: Mapping[str, Any]) -> list[str]:
    return [f"{host['name']}{number + 1}" for number in range(host["count"])] if "count" in host else [host["name"]]


def _from(flow: Mapping[str, Any]) -> list[str]:
    """The hosts that send, those of a range ``a1..a4`` each."""
    if isinstance(flow["from"], list):
        return list(flow["from"])
    first, _, last = flow["from"].partition("..")
    if not last:
        return [first]
    name = first.rstrip("0123456789")
    return [f"{name}{number}" for number in range(int(first[len(name) :]), int(last[len(name) :]) + 1)]


def _host(host: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {"name": name, "rate": units.RATE.parse(host["rate"]), "delay": _time(host.get("delay", "0 s"))}


def _group(flow: Mapping[str, Any], sender: str, number: int) -> Mapping[str, Any]:
    return {
        "group": f"flows{number + 1}",
        "count": flow.get("count", 1),
        "tcp": {"name": flow["tcp"], "parameters": {}},
        "stack": {},
        "from": sender,
        "start": _time(flow["start"]) if "start" in flow else None,
        "start_within": _time(flow["start_within"]) if "start_within" in flow else None,
        **dict.fromkeys(("slow_start", "to", "stop", "size", "arrivals")),
    }
