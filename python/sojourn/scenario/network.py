"""The network of a scenario: a dumbbell, or any graph of links."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, model_validator

from sojourn.scenario.base import Table
from sojourn.scenario.choices import QueueChoice
from sojourn.scenario.quantities import Duration, Packets, Rate

#: The routers at the two ends of a dumbbell's bottleneck.
ROUTERS = ("left", "right")

DeviceQueue = Annotated[
    Packets,
    Field(description="Packets that the device below the queue takes from it and holds, besides the one it transmits."),
]


class Drop(Table):
    """Losses by pattern, for experiments that need them exact: which data packets that cross the link are lost."""

    every: int | None = Field(None, ge=1, description="Every n-th data packet is lost.")
    listed: list[int] | None = Field(None, min_length=1, description="The data packets lost, counted from 1 in order of arrival.")

    @model_validator(mode="after")
    def _one_pattern(self) -> Self:
        if (self.every is None) == (self.listed is None):
            raise ValueError('give either "every" or "listed"')
        if self.listed is not None and min(self.listed) < 1:
            raise ValueError("listed: packets are counted from 1")
        return self


@dataclass(frozen=True)
class DirectedLink:
    """One direction of a link, as packets see it."""

    origin: str
    target: str
    rate: int
    delay: int
    queue: QueueChoice | None
    device_queue: int
    drop: Drop | None


def _device_queue_has_a_queue(device_queue: int, *queues: QueueChoice | None) -> None:
    if device_queue and all(queue is None for queue in queues):
        raise ValueError("device_queue needs a queue to take packets from")


class Host(Table):
    """An end host of a dumbbell and its access link, the same both ways but for the queue."""

    name: str = Field(min_length=1, description="What flows and results call it.")
    rate: Rate = Field(description="Of its link to its router, both ways.")
    delay: Duration = Field(0, description="Propagation delay of its link to its router, one way.")
    queue: QueueChoice | None = Field(None, description="At the host's own egress; an unlimited FIFO unless given.")
    device_queue: DeviceQueue = 0

    @model_validator(mode="after")
    def _device_is_fed(self) -> Self:
        _device_queue_has_a_queue(self.device_queue, self.queue)
        return self


class Bottleneck(Table):
    """The link between the two routers of a dumbbell."""

    rate: Rate = Field(description="The same both ways.")
    delay: Duration = Field(0, description="Propagation delay, one way.")
    queue: QueueChoice | None = Field(None, description="From senders to receivers; an unlimited FIFO unless given.")
    reverse_queue: QueueChoice | None = Field(None, description="From receivers to senders; an unlimited FIFO unless given.")
    device_queue: DeviceQueue = 0
    drop: Drop | None = None
    reverse_drop: Drop | None = None

    @model_validator(mode="after")
    def _device_is_fed(self) -> Self:
        _device_queue_has_a_queue(self.device_queue, self.queue, self.reverse_queue)
        return self


class Dumbbell(Table):
    """Senders and receivers on either side of one bottleneck; its routers are called ``left`` and ``right``."""

    bottleneck: Bottleneck
    senders: list[Host] = Field(min_length=1)
    receivers: list[Host] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        seen = set(ROUTERS)
        for host in (*self.senders, *self.receivers):
            if host.name in seen:
                taken = "is a router of the dumbbell" if host.name in ROUTERS else "is given twice"
                raise ValueError(f'the host name "{host.name}" {taken}')
            seen.add(host.name)
        return self

    def nodes(self) -> list[str]:
        """All nodes: senders, routers, receivers."""
        return [*(host.name for host in self.senders), *ROUTERS, *(host.name for host in self.receivers)]

    def links(self) -> Iterator[DirectedLink]:
        """All directed links, the bottleneck's two first."""
        left, right = ROUTERS
        centre = self.bottleneck
        yield _directed(left, right, centre, centre.queue, centre.drop)
        yield _directed(right, left, centre, centre.reverse_queue, centre.reverse_drop)
        for router, hosts in ((left, self.senders), (right, self.receivers)):
            for host in hosts:
                yield _directed(host.name, router, host, host.queue, None)
                yield _directed(router, host.name, host, None, None)


class Link(Table):
    """A link between two nodes; both ways unless it says ``one_way``."""

    origin: str = Field(alias="from", min_length=1)
    target: str = Field(alias="to", min_length=1)
    rate: Rate = Field(description="The same both ways.")
    delay: Duration = Field(0, description="Propagation delay, one way.")
    queue: QueueChoice | None = Field(None, description="At its egress; an unlimited FIFO unless given.")
    reverse_queue: QueueChoice | None = Field(None, description="The same for the way back.")
    device_queue: DeviceQueue = 0
    drop: Drop | None = None
    reverse_drop: Drop | None = None
    one_way: bool = Field(False, description="There is no way back over this link.")

    @model_validator(mode="after")
    def _ways_are_clear(self) -> Self:
        if self.origin == self.target:
            raise ValueError(f'the link leads from "{self.origin}" to itself')
        if self.one_way and (self.reverse_queue is not None or self.reverse_drop is not None):
            raise ValueError("a one-way link has no reverse_queue and no reverse_drop")
        _device_queue_has_a_queue(self.device_queue, self.queue, self.reverse_queue)
        return self


def _directed(
    origin: str, target: str, link: Host | Bottleneck | Link, queue: QueueChoice | None, drop: Drop | None
) -> DirectedLink:
    """One direction of a link with the queue and the losses of that direction; a device without a queue holds nothing."""
    return DirectedLink(origin, target, link.rate, link.delay, queue, link.device_queue if queue else 0, drop)


class Network(Table):
    """Either a dumbbell or a list of links."""

    dumbbell: Dumbbell | None = None
    links: list[Link] | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        if (self.dumbbell is None) == (self.links is None):
            raise ValueError('give either "dumbbell" or "links"')
        seen: set[tuple[str, str]] = set()
        for link in self.directed_links():
            if (link.origin, link.target) in seen:
                raise ValueError(f'two links lead from "{link.origin}" to "{link.target}"')
            seen.add((link.origin, link.target))
        return self

    def nodes(self) -> list[str]:
        """All nodes, in the order in which they are first named."""
        if self.dumbbell is not None:
            return self.dumbbell.nodes()
        return list(dict.fromkeys(end for link in self.links or () for end in (link.origin, link.target)))

    def hosts(self) -> list[str]:
        """The nodes that may send and receive: of a dumbbell all but the routers, of a graph all."""
        routers = ROUTERS if self.dumbbell is not None else ()
        return [node for node in self.nodes() if node not in routers]

    def directed_links(self) -> Iterator[DirectedLink]:
        """All links, one direction each, in order of declaration."""
        if self.dumbbell is not None:
            yield from self.dumbbell.links()
        for link in self.links or ():
            yield _directed(link.origin, link.target, link, link.queue, link.drop)
            if not link.one_way:
                yield _directed(link.target, link.origin, link, link.reverse_queue, link.reverse_drop)
