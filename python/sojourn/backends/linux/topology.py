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

from sojourn.backends.linux import direct, disciplines, impairments, interfaces, planned, shaping
from sojourn.backends.linux.algorithms import Added
from sojourn.backends.linux.disciplines import Limit, Place
from sojourn.backends.linux.interfaces import Device
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.shaping import Line, Wire
from sojourn.backends.linux.units import NANOSECONDS, nanoseconds
from sojourn.scenario.network import PLAIN
from sojourn.scenario.programs import address
from sojourn.units import PICOSECONDS

__all__ = ["LinkDevices", "Network", "address", "build", "node"]

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

#: The protocol of packets that hold a link up, which nobody understands (changes.c).
HOLDERS_PROTOCOL = 0x88B5

#: Bytes after each of which PTM sends one more.
PTM_BLOCK = 64

#: Packets that a netem may hold; it makes no use of a queue.
_ROOM = 10_000_000


@dataclass
class Network:
    """What makes the network of a run: its namespaces, messages of netlink for them, and after these commands of ``tc``."""

    namespaces: tuple[str, ...]
    #: Lines of the guest's plan, in order.
    messages: list[str] = field(default_factory=list)
    tc: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    #: Files of distributions for ``tc``.
    tables: dict[str, str] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _filtered: set[tuple[str, str]] = field(default_factory=set)

    def number(self, device: str) -> int:
        """The number of a device: each has its own, though namespaces would allow for the same."""
        return self._numbers.setdefault(device, interfaces.FIRST + len(self._numbers))

    def send(self, namespace: str, what: str, message: bytes) -> None:
        """Has a message sent in a namespace; ``what`` is made is told if that fails."""
        self.messages.append(f"message {namespace} {what} {message.hex()}")

    def let_filters(self, namespace: str, device: str) -> None:
        """Lets filters stand on a device's ways in and out, if they may not yet."""
        if (namespace, device) not in self._filtered:
            self._filtered.add((namespace, device))
            self.send(namespace, device, shaping.filtered(self.number(device)))

    def pair(self, one: tuple[str, str], other: tuple[str, str], hardware: bytes, mtu: int) -> None:
        """A pair of devices, up, each a namespace and a name."""
        devices = [Device(namespace, self.number(name), name) for namespace, name in (one, other)]
        there = interfaces.FIRST_DESCRIPTOR + self.namespaces.index(devices[1].namespace)
        self.send(devices[0].namespace, devices[0].name, interfaces.pair(devices[0], devices[1], there, hardware, mtu))
        for device in devices:
            self.send(device.namespace, device.name, interfaces.up(device.number))

    def dummy(self, namespace: str, name: str, mtu: int) -> None:
        """A device that does nothing with its packets, up."""
        self.send(namespace, name, interfaces.dummy(Device(namespace, self.number(name), name), mtu))
        self.send(namespace, name, interfaces.up(self.number(name)))


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
    #: Two devices at the origin that packets pass before ``out``: they go out at one and come in at the other, where a policer
    #: drops some; none if there is no policer.
    policed: tuple[str, str] | None = None

    @property
    def entry(self) -> str:
        """The device at the origin to which packets are routed."""
        return self.policed[0] if self.policed else self.out

    @property
    def sees_all(self) -> str:
        """The device at the origin that sees all that the origin sends."""
        return self.entry if self.policed else self.all or self.mirror or self.out

    @property
    def losing(self) -> Iterator[tuple[str, str, int]]:
        """Where packets are lost but at the wire and by plan: namespaces, devices, and handles of what counts them."""
        if self.late is not None:
            yield from ((WIRE, self.late, handle) for handle in (shaping.HANDLE, shaping.FILTERS))
        if self.policed is not None:
            yield self.origin, self.policed[1], shaping.FILTERS


def node(index: int) -> str:
    """The namespace of a node."""
    return f"n{index}"


def hardware(index: int) -> bytes:
    """The hardware address of both ends of a link."""
    return bytes((2, 0, 0, 0, index >> 8 & 255, index & 255))


def build(
    links: list[dict[str, Any]],
    namespaces: tuple[str, ...],
    mtu: int,
    overhead: int,
    first: Mapping[int, int],
    limits: Sequence[Limit],
    limitations: Limitations,
    added: Added,
    captured: int | None = None,
) -> tuple[Network, list[LinkDevices]]:
    """What makes a network, and its links' devices.

    ``overhead`` is the bytes of headers of a packet beyond those that the kernel counts, and negative. Of the ``first`` links, on
    which senders send, and of the ``captured`` one each packet must be seen before any queue; ``first`` has the time (ps) up to
    which a sender takes over each packet.
    """
    network = Network((*namespaces, WIRE))
    found: list[LinkDevices] = []
    for index, link in enumerate(links):
        devices = _devices(index, link, first, limitations, is_captured=index == captured)
        found.append(devices)
        _create(network, index, devices, mtu, has_queue=link["queue"] is not None)
        if devices.policed is not None:
            _police(network, devices, link["impairments"]["policer"], overhead + ETHERNET_HEADER)
        if link["queue"] is not None:
            _shape(network, devices, link, overhead)
            _discipline(network, devices, link["queue"], limits[index], Place(link["rate"], mtu, limitations), added)
            _pass_on(network, f"a{index}", f"b{index}", is_held=is_held(link))
        if devices.wire is not None:
            namespace, device = devices.wire
            made = wire(link, overhead, devices.sender_overhead)
            network.send(namespace, device, shaping.wire(network.number(device), made, is_new=True))
        if devices.late is not None:
            _pass_on(network, f"c{index}", devices.late, is_held=is_held(link))
            network.tc[WIRE] += _impair(devices.late, link["impairments"], mtu, overhead + ETHERNET_HEADER)
            network.tables |= impairments.tables(link["impairments"])
        _filters(network, link, devices)
    return network, found


def _impair(device: str, asked: Mapping[str, Any], mtu: int, headers: int) -> Iterator[str]:
    yield f"qdisc add dev {device} root handle 1: {impairments.netem(asked, _ROOM)}"
    yield f"qdisc add dev {device} clsact"
    yield from impairments.bit_errors(device, asked["bit_error_ratio"], mtu, headers)


def _police(network: Network, devices: LinkDevices, policer: Mapping[str, Any], headers: int) -> None:
    assert devices.policed is not None
    if headers < 0:
        raise Impossible("impairments.policer", "a policer of Linux counts no fewer bytes than IP and TCP have")
    if shaping.bucket_of_policer(policer["rate"], policer["burst"]) > shaping.LARGEST_BUCKET:
        longest = shaping.LARGEST_BUCKET * shaping.BUCKET_UNIT // NANOSECONDS
        raise Impossible("impairments.policer.burst", f"a policer of Linux holds what its rate gives in {longest} s")
    into = devices.policed[1]
    network.send(devices.origin, into, shaping.filtered(network.number(into)))
    numbers = network.number(into), network.number(devices.out)
    network.send(devices.origin, into, shaping.policed(*numbers, policer["rate"], policer["burst"], headers))


def is_held(link: Mapping[str, Any]) -> bool:
    """Whether a link has a rate of 0 at some time."""
    trace = link.get("rate_trace", {})
    values = [change["rate"] for change in link["changes"]] + [value for _, value in trace.get("steps", ())]
    return 0 in values or 0 in trace.get("slots", {}).get("counts", ())


def _pass_on(network: Network, into: str, out: str, *, is_held: bool) -> None:
    """What comes in at one device of the wire leaves by another, but for what has only held the link up."""
    network.send(WIRE, into, shaping.filtered(network.number(into)))
    if is_held:
        network.tc[WIRE].append(f"filter add dev {into} ingress protocol {HOLDERS_PROTOCOL:#x} prio 1 matchall action drop")
    passed = shaping.passed_on(network.number(into), shaping.INGRESS, network.number(out), place=2 if is_held else 1)
    network.send(WIRE, into, passed)


def _shape(network: Network, devices: LinkDevices, link: Mapping[str, Any], overhead: int) -> None:
    number = network.number(devices.out)
    network.send(devices.origin, devices.out, shaping.transmitter(number, overhead))
    for message in rates(number, link, is_new=True):
        network.send(devices.origin, devices.out, message)
    if is_held(link):
        network.send(devices.origin, devices.out, shaping.holding(number, FULL_PACKET))


def _discipline(
    network: Network, devices: LinkDevices, queue: Mapping[str, Any], limit: Limit, place: Place, added: Added
) -> None:
    """The discipline under test: by a message if ``tc`` need not know it."""
    made = direct.translate(queue, limit, place, added)
    if made is not None:
        message = shaping.discipline(network.number(devices.out), made.kind, made.options)
        network.send(devices.origin, made.kind, message)
        return
    words = disciplines.words(queue["name"], queue["parameters"], limit, place)
    network.tc[devices.origin].append(f"qdisc add dev {devices.out} parent 1:1 handle 10: {words}")
    below = disciplines.below(queue["name"], limit)
    if below is not None:
        network.tc[devices.origin].append(f"qdisc add dev {devices.out} parent 10:1 {below}")


def _filters(network: Network, link: Mapping[str, Any], devices: LinkDevices) -> None:
    """What packets meet before the queue: who sees them, and the losses by plan."""
    device, egress = network.number(devices.out), shaping.EGRESS
    if link["drop"] is None and devices.all is None and devices.mirror is None:
        return
    network.send(devices.origin, devices.out, shaping.filtered(device))
    if devices.all is not None:
        copied = shaping.copied(device, egress, network.number(devices.all), goes_on=True)
        network.send(devices.origin, devices.out, copied)
    if link["drop"] is not None:
        is_senders = devices.all is not None
        network.tc[devices.origin] += planned.filters(devices.out, link["drop"], devices.mirror, is_senders=is_senders)
    elif devices.mirror is not None:
        network.send(devices.origin, devices.out, shaping.copied(device, egress, network.number(devices.mirror)))


def wire(link: Mapping[str, Any], overhead: int, sender_overhead: int = 0) -> Wire:
    """A transmitter and a wire, as netem takes them (tc-netem(8)).

    netem sends a packet its delay after it came, or when the one before has been sent if that is later, and the time of its
    transmission after that: what a FIFO and a wire do, in the other order. So packets stay in order with a random delay too.
    """
    # A jitter is uniform around the delay, to both sides (net/sched/sch_netem.c, tabledist).
    jitter = nanoseconds(sender_overhead) // 2
    rate, line = carried(link)
    delay = nanoseconds(link["delay"]) + jitter
    return Wire(_ROOM, delay, jitter, link["loss"], rate, overhead + line.overhead, line.has_cells)


def carried(link: Mapping[str, Any]) -> tuple[int, Line]:
    """The rate of a link's line, in bit/s, and what the line adds to packets.

    Neither HTB nor netem has PTM: its byte for each 64 is taken off the rate, without the last one's rest.
    """
    layers = link.get("framing", PLAIN)
    rate = link["rate"] * PTM_BLOCK // (PTM_BLOCK + 1) if layers["framing"] == "ptm" else link["rate"]
    return rate, Line(layers["overhead"], layers["mpu"], layers["framing"] == "atm")


def _devices(
    index: int, link: dict[str, Any], first: Mapping[int, int], limitations: Limitations, is_captured: bool
) -> LinkDevices:
    origin, target = node(link["from"]), node(link["to"])
    out, into = f"l{index}", f"m{index}"
    if "aggregation" in link:
        raise Impossible("aggregation", "links of the backend linux send packets one by one")
    if link["queue"] is None and "framing" in link and link["framing"]["mpu"] > link["framing"]["overhead"] + INTERNET_HEADERS:
        raise Impossible("mpu", "a link without a queue on Linux is a netem, which has no least packet")
    if link["drop"] is not None and is_held(link):
        raise Impossible("drop", "planned losses of a link on Linux would count what holds it up at a rate of 0")
    asked = link.get("impairments", {})
    policed = (f"p{index}", f"q{index}") if asked.get("policer") else None
    if link["drop"] is not None and policed is not None:
        raise Impossible("drop", "planned losses of a link on Linux would not count what its policer drops")
    sees_all = f"s{index}" if index in first and link["drop"] is not None else None
    sender_overhead = first.get(index, 0)
    late = f"d{index}" if impairments.is_on_wire(asked) else None
    if link["queue"] is not None:
        if sender_overhead:
            limitations.note("sender_overhead", "a host with a queue of its own sends at once on Linux")
        return LinkDevices(origin, target, out, into, f"t{index}", (WIRE, f"b{index}"), 0, sees_all, late, policed)
    passage = link["delay"] + FULL_PACKET * 8 * PICOSECONDS // link["rate"]
    is_steady = not link["changes"] and not any(f"{key}_trace" in link for key in ("rate", "delay"))
    if passage + sender_overhead < NEGLIGIBLE and not link["loss"] and is_steady:
        return LinkDevices(origin, target, out, into, None, None, 0, sees_all, late, policed)
    mirror = f"t{index}" if index in first or is_captured else None
    return LinkDevices(origin, target, out, into, mirror, (origin, out), sender_overhead, sees_all, late, policed)


def _create(network: Network, index: int, devices: LinkDevices, mtu: int, has_queue: bool) -> None:
    """Pairs of devices: one, and one more for each place on the wire where packets wait.

    Both ends of a pair have the same address and there is no ARP: a packet's destination is then its own device's address
    (net/ipv4/arp.c, arp_constructor), which is the other end's too.
    """
    places = [(f"a{index}", f"b{index}")] if has_queue else []
    if devices.late is not None:
        places.append((f"c{index}", devices.late))
    if devices.policed is not None:
        before, behind = devices.policed
        network.pair((devices.origin, before), (devices.origin, behind), hardware(index), mtu)
    last = devices.origin, devices.out
    for into, out in places:
        network.pair(last, (WIRE, into), hardware(index), mtu)
        last = WIRE, out
    network.pair(last, (devices.target, devices.into), hardware(index), mtu)
    for copy in filter(None, (devices.mirror, devices.all)):
        network.dummy(devices.origin, copy, mtu)


def rates(device: int, link: Mapping[str, Any], *, is_new: bool) -> Iterator[bytes]:
    """Makes the classes of HTB with a link's rate, or changes them: one or, if it is held up at times, one below another.

    The one below lends what it sends from that above, which may owe the time of other packets too.
    """
    rate, line = carried(link)
    bucket = link["device_queue"] * FULL_PACKET + max(rate * LATENESS // (8 * PICOSECONDS), 1)
    if not is_held(link):
        yield shaping.rate(device, rate, bucket, FULL_PACKET, line, is_new=is_new)
        return
    yield shaping.rate(device, rate, bucket, FULL_PACKET, line, is_new=is_new, handle=shaping.ABOVE)
    yield shaping.borrowing(device, rate, bucket, FULL_PACKET, line, is_new=is_new)
