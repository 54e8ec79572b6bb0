"""Changes of links during a run: rates, delays and losses over time as messages for the guest, each at its time.

No shaper of Linux has a rate of 0. A link that is held up has packets of nobody to send instead, which take as long as it is held
up: so those that wait keep waiting, and the one that is being sent has left.
"""

import hashlib
import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sojourn.backends.linux import shaping
from sojourn.backends.linux.limits import Impossible
from sojourn.backends.linux.topology import ETHERNET_HEADER, LinkDevices, Network, rates, wire
from sojourn.backends.linux.units import nanoseconds
from sojourn.scenario import traces
from sojourn.units import PICOSECONDS

#: What of a link changes, and the trace of each that may have one.
_KEYS = ("rate", "delay", "loss")

#: A link that is held up for long is so again and again: HTB forgets what a class owes beyond 60 s (sch_htb.c, mbuffer).
_HELD_AT_ONCE = 25 * PICOSECONDS

#: At which rate, in bit/s, packets hold a link up.
_RATE = 10_000_000

#: The most changes of a run, each of which costs the host a tenth of a millisecond.
_MOST = 1_000_000


@dataclass
class Schedule:
    """What is due when."""

    #: Lines of the guest's plan with what is done, in the order of their numbers.
    actions: dict[str, int] = field(default_factory=dict)
    #: Times (ns), each with the number of what is due.
    due: list[tuple[int, int]] = field(default_factory=list)

    def add(self, at: int, action: str) -> None:
        """Something is due at a time, in ns, after what was added for this time before."""
        if len(self.due) == _MOST:
            raise Impossible("duration", f"links on Linux change up to {_MOST:,} times")
        self.due.append((at, self.actions.setdefault(action, len(self.actions))))

    @property
    def lines(self) -> Iterator[str]:
        """Lines of the guest's plan."""
        yield from self.actions
        yield from (f"at {at} {number}" for at, number in sorted(self.due, key=lambda each: each[0]))


def add(
    schedule: Schedule,
    network: Network,
    link: Mapping[str, Any],
    devices: LinkDevices,
    mtu: int,
    overhead: int,
    seed: int,
    duration: int,
) -> None:
    """Adds the changes of a link up to the end of the run; ``overhead`` is that of ``topology.build``."""
    present = {key: link[key] for key in _KEYS}
    # A rate of 0 leaves the transmitter as it is.
    made = dict(present)
    moments = list(_moments(link, seed, duration))
    for place, (at, changed) in enumerate(moments):
        present |= changed
        until = moments[place + 1][0] if place + 1 < len(moments) else duration
        wanted = {**present, "rate": present["rate"] or made["rate"]}
        _set(schedule, network, nanoseconds(at), link, devices, made, wanted, overhead)
        made = wanted
        if not present["rate"]:
            for start in range(at, until, _HELD_AT_ONCE):
                held = min(until - start, _HELD_AT_ONCE)
                _hold(schedule, network, nanoseconds(start), held, link, devices, made, mtu, overhead)


def _moments(link: Mapping[str, Any], seed: int, end: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """When something changes before the end, and to what; in order, each time once."""
    every: list[Iterator[tuple[int, str, Any]]] = [_trace(link, key, end) for key in ("rate", "delay")]
    every += [_changes(link, seed, end)]
    together: dict[int, dict[str, Any]] = defaultdict(dict)
    for at, key, value in heapq.merge(*every, key=lambda change: change[0]):
        together[at][key] = value
    yield from sorted(together.items())


def _trace(link: Mapping[str, Any], key: str, end: int) -> Iterator[tuple[int, str, Any]]:
    before: int | None = None
    for at, value in traces.steps(link[f"{key}_trace"], end) if f"{key}_trace" in link else ():
        if value != before:
            yield at, key, value
        before = value


def _changes(link: Mapping[str, Any], seed: int, end: int) -> Iterator[tuple[int, str, Any]]:
    found = [
        (at, key, change[key])
        for change in link["changes"]
        for at in (_repeated(link, change, seed, end) if "repeat" in change else (change["at"],))
        for key in _KEYS
        if change[key] is not None and at < end
    ]
    yield from sorted(found, key=lambda change: change[0])


def _repeated(link: Mapping[str, Any], change: Mapping[str, Any], seed: int, end: int) -> Iterator[int]:
    """The times of a change that repeats: with the same spread those of both directions are late by the same."""
    pair = "-".join(map(str, sorted((link["from"], link["to"]))))
    for number, at in enumerate(range(change["at"], end, change["repeat"]["every"])):
        digest = hashlib.blake2b(f"{seed} {pair} {number} changes".encode(), digest_size=8).digest()
        yield at + (int.from_bytes(digest) * change["repeat"]["spread"] >> 64)


def _set(
    schedule: Schedule,
    network: Network,
    at: int,
    link: Mapping[str, Any],
    devices: LinkDevices,
    made: Mapping[str, Any],
    wanted: Mapping[str, Any],
    overhead: int,
) -> None:
    """What changes a link at a time, in ns, if anything does."""
    if wanted == made:
        return
    now = {**link, **wanted}
    if link["queue"] is not None and wanted["rate"] != made["rate"]:
        for message in rates(network.number(devices.out), now, is_new=False):
            schedule.add(at, f"change {devices.origin} {message.hex()}")
    if devices.wire is not None:
        namespace, device = devices.wire
        message = shaping.wire(network.number(device), wire(now, overhead, devices.sender_overhead), is_new=False)
        schedule.add(at, f"change {namespace} {message.hex()}")


def _hold(
    schedule: Schedule,
    network: Network,
    at: int,
    time: int,
    link: Mapping[str, Any],
    devices: LinkDevices,
    made: Mapping[str, Any],
    mtu: int,
    overhead: int,
) -> None:
    """What holds a link up for a time, in ps: packets at a rate at which that takes few of them."""
    slow = {**made, "rate": _RATE, "loss": 0.0}
    _set(schedule, network, at, link, devices, made, slow, overhead)
    # A packet counts its bytes and the overhead, which takes the 14 of its header off.
    largest = mtu + ETHERNET_HEADER
    count, rest = divmod(round(time * _RATE / (8 * PICOSECONDS)), largest + overhead)
    last = max(rest - overhead, ETHERNET_HEADER + 1) if rest else 0
    priority = shaping.HOLDING if link["queue"] is not None else 0
    schedule.add(at, f"hold {devices.origin} {devices.out} {priority} {count} {largest} {last}")
    _set(schedule, network, at, link, devices, slow, made, overhead)
