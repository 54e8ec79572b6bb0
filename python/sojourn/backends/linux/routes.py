"""Shortest paths, as the simulator finds them (crates/engine/src/network/routes.rs).

A link costs its delay and the transmission of a full packet, then a hop; of equals the node named first goes first, and of its
links the one named first.
"""

import heapq
from collections.abc import Sequence
from typing import Any

from sojourn.units import PICOSECONDS

#: The size of the packet for which paths are shortest.
REFERENCE_PACKET = 1500


def transmission(size: int, rate: int) -> int:
    """How long a link takes to send so many bytes, in ps."""
    return -(-size * 8 * PICOSECONDS // rate)


def path(links: Sequence[dict[str, Any]], nodes: int, origin: int, target: int) -> list[int] | None:
    """The links from one node to another; none if there is no way."""
    leaving: list[list[int]] = [[] for _ in range(nodes)]
    for index, link in enumerate(links):
        leaving[link["from"]].append(index)
    best: dict[int, tuple[int, int]] = {origin: (0, 0)}
    arrived_by: dict[int, int] = {}
    open_nodes = [(0, 0, origin)]
    while open_nodes:
        cost, hops, node = heapq.heappop(open_nodes)
        if best[node] < (cost, hops):
            continue
        for index in leaving[node]:
            link = links[index]
            reached = (cost + link["delay"] + transmission(REFERENCE_PACKET, link["rate"]), hops + 1)
            if link["to"] not in best or reached < best[link["to"]]:
                best[link["to"]] = reached
                arrived_by[link["to"]] = index
                heapq.heappush(open_nodes, (*reached, link["to"]))
    if target not in best:
        return None
    found: list[int] = []
    while target != origin:
        found.append(arrived_by[target])
        target = links[arrived_by[target]]["from"]
    return found[::-1]
