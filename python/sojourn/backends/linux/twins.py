"""Hosts whose flows have different stacks: a namespace for each stack, all of them the same host to everybody else.

A kernel has one stack for a namespace. The first stack of a host is in the host's own; for each further one a twin has the host's
address, its links' devices by their names and hardware addresses, and its routes. What leaves a twin's device leaves the host's
at once, as it is, and what arrives for a flow of the twin, which is told by its port, goes on to the twin's. So paths, delays
and what routers see are the same as if the host had all stacks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sojourn.backends.linux import shaping
from sojourn.backends.linux.topology import LinkDevices, Network, hardware, node

#: The port of the first flow, at both ends (guest.h).
FIRST_PORT = 5000

_PORT_BITS = 16

#: A host's stack: its sysctls, and the metrics of the routes that its flows take.
Stack = tuple[tuple[tuple[str, str], ...], tuple[tuple[str, int], ...]]


@dataclass
class Host:
    """The stacks of a host, and which flow has which."""

    index: int
    stacks: dict[Stack, list[int]] = field(default_factory=dict)

    def add(self, stack: Stack, flow: int) -> str:
        """Gives a flow its stack; returns the namespace."""
        self.stacks.setdefault(stack, []).append(flow)
        return self.space(list(self.stacks).index(stack))

    def space(self, place: int) -> str:
        """The namespace of one of its stacks, in order."""
        return f"{node(self.index)}t{place}" if place else node(self.index)

    @property
    def twins(self) -> Iterator[tuple[str, list[int]]]:
        """The namespaces besides the host's own, and their flows."""
        for place, flows in enumerate(self.stacks.values()):
            if place:
                yield self.space(place), flows


def join(
    network: Network, host: Host, leaving: Iterable[int], arriving: Iterable[int], devices: Sequence[LinkDevices], mtu: int
) -> None:
    """Makes the devices of a host's twins, for the links on which it sends and on which it receives."""
    own = node(host.index)
    for place, (twin, flows) in enumerate(host.twins, start=1):
        for index in leaving:
            out, behind = devices[index].entry, f"o{index}t{place}"
            network.pair((twin, out), (own, behind), hardware(index), mtu)
            network.send(own, behind, shaping.filtered(network.number(behind)))
            network.send(own, behind, shaping.passed_on(network.number(behind), shaping.INGRESS, network.number(out)))
        for index in arriving:
            into, before = devices[index].into, f"i{index}t{place}"
            network.pair((twin, into), (own, before), hardware(index), mtu)
            network.let_filters(own, into)
            for port, mask in blocks(FIRST_PORT + flow for flow in flows):
                # Connections of arrivals and sessions have the flow's port at one end only.
                for end in ("dport", "sport"):
                    match = f"protocol ip prio 1 u32 match ip {end} {port} {mask:#x}"
                    redirect = f"action mirred egress redirect dev {before}"
                    network.tc[own].append(f"filter add dev {into} ingress {match} {redirect}")


def blocks(ports: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Ports as numbers and masks, as few as aligned runs allow."""
    left = sorted(ports)
    while left:
        first, size = left[0], 1
        while first % (2 * size) == 0 and left[: 2 * size] == list(range(first, first + 2 * size)):
            size *= 2
        yield first, (1 << _PORT_BITS) - size
        left = left[size:]


def links_of(paths: Mapping[tuple[int, int], Sequence[int]], host: int) -> tuple[list[int], list[int]]:
    """The links on which a host sends, and those on which it receives."""
    leaving = {path[0] for (origin, _), path in paths.items() if origin == host}
    return sorted(leaving), sorted({path[-1] for (_, target), path in paths.items() if target == host})
