"""The network of a run: a namespace for each node, a pair of devices for each one-way link.

A link without a discipline is a netem at its origin with the link's rate and delay: an unlimited FIFO, a transmitter and a
wire. A link with a discipline has HTB at its origin, which hands the discipline's packets to the device one by one as they are
transmitted, and netem behind it, in a namespace between the two nodes, with the same rate, for the time of transmission, and
the delay.

HTB takes a packet from its discipline when its bucket is not empty, and lets the bucket run below empty: a bucket of next to
nothing is a transmitter that holds one packet, and each packet more in the bucket is one more that a device below the
discipline holds (``device_queue``). Sizes are those of the specification: Ethernet's 14 bytes are taken off wherever the kernel
counts them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sojourn.backends.linux import direct, disciplines, impairments, planned
from sojourn.backends.linux.algorithms import Added
from sojourn.backends.linux.direct import Direct
from sojourn.backends.linux.disciplines import Limit, Place
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.units import nanoseconds
from sojourn.scenario.network import PLAIN
from sojourn.units import PICOSECONDS

#: The namespace between nodes.
WIRE = "wire"

#: Headers of IP and TCP without options, and of Ethernet, as the kernel counts them.
INTERNET_HEADERS, ETHERNET_HEADER = 40, 14

#: A link without a discipline that takes less than this for a full packet is passed at once: a 10 Gbit/s link of no length, say.
NEGLIGIBLE = 2 * PICOSECONDS // 10**6
FULL_PACKET = 1500

#: The guest's timers are up to half a microsecond late (arch/um/kernel/time.c, TIMER_MULTIPLIER); a bucket of this long makes up
#: for that, so that the link loses nothing of its rate.
LATENESS = 2 * PICOSECONDS // 10**6

#: Packets that a netem may hold; it makes no use of a queue.
_ROOM = 10_000_000


@dataclass
class Batches:
    """Commands of ``ip`` and ``tc`` for each namespace."""

    ip: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    tc: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    #: Disciplines that the guest makes: namespace, device, and the discipline.
    direct: list[tuple[str, str, Direct]] = field(default_factory=list)
    #: Files of distributions for ``tc``.
    tables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LinkDevices:
    """The devices of a one-way link."""

    origin: str
    target: str
    #: Where the origin sends, where the target receives.
    out: str
    into: str
    #: A device at the origin that sees each packet before any queue but those lost by plan; none if ``out`` does, or nobody asks.
    mirror: str | None
    #: The name of the device of netem, and its namespace; none if the link is passed at once.
    wire: tuple[str, str] | None
    #: The time (ps) up to which netem holds each packet besides, in order, for its sender.
    sender_overhead: int = 0
    #: A device at the origin that sees each packet, lost by plan or not; none if the mirror or ``out`` does.
    all: str | None = None
    #: The device of the netem with the link's impairments, in the namespace between the nodes; none if it has none.
    late: str | None = None

    @property
    def sees_all(self) -> str:
        """The device at the origin that sees all that the origin sends."""
        return self.all or self.mirror or self.out


def node(index: int) -> str:
    """The namespace of a node."""
    return f"n{index}"


def address(index: int) -> str:
    """The address of a node."""
    number = index + 1
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def build(
    links: list[dict[str, Any]],
    mtu: int,
    overhead: int,
    first: Mapping[int, int],
    limits: Sequence[Limit],
    limitations: Limitations,
    added: Added,
    captured: int | None = None,
) -> tuple[Batches, list[LinkDevices]]:
    """The commands that make a network, and its links' devices.

    ``overhead`` is the bytes of headers of a packet beyond those that the kernel counts, and negative. Of the ``first`` links, on
    which senders send, and of the ``captured`` one each packet must be seen before any queue; ``first`` has the time (ps) up to
    which a sender takes over each packet.
    """
    batches = Batches()
    found: list[LinkDevices] = []
    for index, link in enumerate(links):
        devices = _devices(index, link, first, limitations, is_captured=index == captured)
        found.append(devices)
        _create(batches, index, devices, mtu, has_queue=link["queue"] is not None)
        if link["queue"] is not None:
            place = Place(link["rate"], mtu, limitations)
            made = direct.translate(link["queue"], limits[index], place, added)
            made_by_tc: list[str] = []
            if made is not None:
                batches.direct.append((devices.origin, devices.out, made))
            else:
                made_by_tc = _discipline(devices.out, link["queue"], limits[index], place)
            batches.tc[devices.origin] += [*_shaper(devices.out, link, overhead), *made_by_tc]
            batches.tc[WIRE] += _redirect(f"a{index}", f"b{index}")
        if devices.wire is not None:
            namespace, device = devices.wire
            made_by = netem(link, overhead, devices.sender_overhead)
            batches.tc[namespace].append(f"qdisc add dev {device} root handle 1: {made_by}")
        if devices.late is not None:
            asked, headers = link["impairments"], overhead + ETHERNET_HEADER
            late = f"qdisc add dev {devices.late} root handle 1: {impairments.netem(asked, _ROOM)}"
            errors = impairments.bit_errors(devices.late, asked["bit_error_ratio"], mtu, headers)
            batches.tc[WIRE] += [*_redirect(f"c{index}", devices.late), late, f"qdisc add dev {devices.late} clsact", *errors]
            batches.tables |= impairments.tables(asked)
        filters = list(_filters(link, devices))
        if filters:
            batches.tc[devices.origin] += [f"qdisc add dev {devices.out} clsact", *filters]
    return batches, found


def _redirect(into: str, out: str) -> list[str]:
    """What comes in at one device leaves by another."""
    return [f"qdisc add dev {into} clsact", f"filter add dev {into} ingress matchall action mirred egress redirect dev {out}"]


def _filters(link: Mapping[str, Any], devices: LinkDevices) -> Iterator[str]:
    """What packets meet before the queue: who sees them, and the losses by plan."""
    start = f"filter add dev {devices.out} egress"
    if devices.all is not None:
        yield f"{start} prio 1 matchall action mirred egress mirror dev {devices.all} continue"
    if link["drop"] is not None:
        yield from planned.filters(devices.out, link["drop"], devices.mirror, is_senders=devices.all is not None)
    elif devices.mirror is not None:
        yield f"{start} matchall action mirred egress mirror dev {devices.mirror}"


def changes(link: dict[str, Any], devices: LinkDevices, overhead: int) -> list[tuple[int, str, str]]:
    """The changes of a link: when (ns), in which namespace, and the command of ``tc``."""
    found: list[tuple[int, str, str]] = []
    present = dict(link)
    for change in link["changes"]:
        for key in ("rate", "delay", "loss"):
            if change[key] is not None:
                present[key] = change[key]
        if "repeat" in change:
            raise Impossible("changes", "changes on Linux do not repeat")
        if present["rate"] == 0:
            raise Impossible("changes", "Linux's shapers have no rate of 0")
        at = nanoseconds(change["at"])
        if link["queue"] is not None and change["rate"] is not None:
            found.append((at, devices.origin, f"class change {_rate_class(devices.out, present)}"))
        if devices.wire is not None:
            namespace, device = devices.wire
            found.append(
                (at, namespace, f"qdisc change dev {device} root handle 1: {netem(present, overhead, devices.sender_overhead)}")
            )
    return found


def netem(link: Mapping[str, Any], overhead: int, sender_overhead: int = 0) -> str:
    """A transmitter and a wire, as ``tc`` takes them (tc-netem(8)).

    netem sends a packet its delay after it came, or when the one before has been sent if that is later, and the time of its
    transmission after that: what a FIFO and a wire do, in the other order. So packets stay in order with a random delay too.
    """
    loss = f" loss random {100 * link['loss']:.10g}%" if link["loss"] else ""
    # A jitter is uniform around the delay, to both sides (net/sched/sch_netem.c, tabledist).
    delay, jitter = nanoseconds(link["delay"]) + nanoseconds(sender_overhead) / 2, nanoseconds(sender_overhead) / 2
    times = f"{delay / 1000:.3f}us" + (f" {jitter / 1000:.3f}us" if sender_overhead else "")
    return f"netem limit {_ROOM} delay {times}{loss} rate {link['rate']}bit {overhead}"


def _devices(
    index: int, link: dict[str, Any], first: Mapping[int, int], limitations: Limitations, is_captured: bool
) -> LinkDevices:
    origin, target = node(link["from"]), node(link["to"])
    out, into = f"l{index}", f"m{index}"
    for key in ("rate", "delay"):
        if f"{key}_trace" in link:
            raise Impossible(key, "links of the backend linux follow no trace")
    if "aggregation" in link:
        raise Impossible("aggregation", "links of the backend linux send packets one by one")
    if "framing" in link:
        key = next(key for key, plain in PLAIN.items() if link["framing"][key] != plain)
        raise Impossible(key, "links of the backend linux add nothing to packets")
    sees_all = f"s{index}" if index in first and link["drop"] is not None else None
    sender_overhead = first.get(index, 0)
    late = f"d{index}" if "impairments" in link else None
    if link["queue"] is not None:
        if sender_overhead:
            limitations.note("sender_overhead", "a host with a queue of its own sends at once on Linux")
        return LinkDevices(origin, target, out, into, f"t{index}", (WIRE, f"b{index}"), all=sees_all, late=late)
    passage = link["delay"] + FULL_PACKET * 8 * PICOSECONDS // link["rate"]
    if passage + sender_overhead < NEGLIGIBLE and not link["loss"] and not link["changes"]:
        return LinkDevices(origin, target, out, into, None, None, all=sees_all, late=late)
    mirror = f"t{index}" if index in first or is_captured else None
    return LinkDevices(origin, target, out, into, mirror, (origin, out), sender_overhead, sees_all, late)


def _create(batches: Batches, index: int, devices: LinkDevices, mtu: int, has_queue: bool) -> None:
    """Pairs of devices: one, and one more for each place on the wire where packets wait.

    Both ends of a pair have the same address and there is no ARP: a packet's destination is then its own device's address
    (net/ipv4/arp.c, arp_constructor), which is the other end's too.
    """
    hardware = f"address 02:00:00:00:{index >> 8 & 255:02x}:{index & 255:02x} mtu {mtu} gso_max_segs 1"

    def pair(one: str, here: str, other: str, there: str) -> None:
        batches.ip[""].append(f"link add {one} netns {here} {hardware} type veth peer name {other} netns {there} {hardware}")
        batches.ip[here].append(f"link set {one} up arp off")
        batches.ip[there].append(f"link set {other} up arp off")

    places = [(f"a{index}", f"b{index}")] if has_queue else []
    if devices.late is not None:
        places.append((f"c{index}", devices.late))
    last, space = devices.out, devices.origin
    for into, out in places:
        pair(last, space, into, WIRE)
        last, space = out, WIRE
    pair(last, space, devices.into, devices.target)
    for copy in filter(None, (devices.mirror, devices.all)):
        batches.ip[""].append(f"link add {copy} netns {devices.origin} mtu {mtu} type dummy")
        batches.ip[devices.origin].append(f"link set {copy} up arp off")


def _shaper(device: str, link: Mapping[str, Any], overhead: int) -> list[str]:
    return [
        f"qdisc add dev {device} root handle 1: stab overhead {overhead} linklayer ethernet htb default 1",
        f"class add {_rate_class(device, link)}",
    ]


def _discipline(device: str, queue: Mapping[str, Any], limit: Limit, place: Place) -> list[str]:
    words = disciplines.words(queue["name"], queue["parameters"], limit, place)
    below = disciplines.below(queue["name"], limit)
    return [
        f"qdisc add dev {device} parent 1:1 handle 10: {words}",
        *([] if below is None else [f"qdisc add dev {device} parent 10:1 {below}"]),
    ]


def _rate_class(device: str, link: Mapping[str, Any]) -> str:
    bucket = link["device_queue"] * FULL_PACKET + max(link["rate"] * LATENESS // (8 * PICOSECONDS), 1)
    rate = f"{link['rate']}bit"
    return f"dev {device} parent 1: classid 1:1 htb rate {rate} ceil {rate} burst {bucket} cburst {bucket} quantum {FULL_PACKET}"
