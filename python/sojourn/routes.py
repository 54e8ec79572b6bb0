"""Which nodes can reach which over directed links, and the routes that packets take."""

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from sojourn.units import DURATION


class Link(Protocol):
    """What a route depends on: rate in bit/s, propagation delay in ps."""

    @property
    def origin(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def rate(self) -> int: ...
    @property
    def delay(self) -> int: ...


def reachable(origin: str, links: Iterable[tuple[str, str]]) -> set[str]:
    """All nodes that packets from ``origin`` can get to, itself included."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for start, end in links:
        neighbours[start].append(end)
    found = {origin}
    waiting = deque([origin])
    while waiting:
        for neighbour in neighbours[waiting.popleft()]:
            if neighbour not in found:
                found.add(neighbour)
                waiting.append(neighbour)
    return found


#: The size of the packet for which routes are shortest.
REFERENCE_PACKET_BYTES = 1500


def route(origin: str, target: str, nodes: Sequence[str], links: Sequence[Link]) -> list[int]:
    """The places among ``links`` of those that packets between two nodes cross.

    As the engine does it (``network/routes.rs``): a link costs its delay and the transmission of a full packet, then a hop;
    among equals the node named first goes first, and of its links the one named first.

    Raises:
        ValueError: there is no route.
    """
    index = {node: place for place, node in enumerate(nodes)}
    leaving: Mapping[str, list[int]] = defaultdict(list)
    for place, link in enumerate(links):
        leaving[link.origin].append(place)
    best, arrived_by = {origin: (0, 0)}, dict[str, int]()
    waiting = [(0, 0, index[origin])]
    while waiting:
        cost, hops, place = heapq.heappop(waiting)
        node = nodes[place]
        if best[node] < (cost, hops):
            continue
        for place in leaving[node]:
            link = links[place]
            reached = (cost + link.delay + _transmission_time(link.rate), hops + 1)
            if link.target not in best or reached < best[link.target]:
                best[link.target] = reached
                arrived_by[link.target] = place
                heapq.heappush(waiting, (*reached, index[link.target]))
    if target not in best:
        raise ValueError(f'there is no route from "{origin}" to "{target}"')
    crossed: list[int] = []
    node = target
    while node != origin:
        crossed.append(arrived_by[node])
        node = links[arrived_by[node]].origin
    return crossed[::-1]


def _transmission_time(rate: int) -> int:
    """Of a full packet, rounded up to a whole picosecond."""
    return -(-8 * REFERENCE_PACKET_BYTES * DURATION.units["s"] // rate)
