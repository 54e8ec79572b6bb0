"""Which nodes can reach which over directed links."""

from collections import defaultdict, deque
from collections.abc import Iterable


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
