"""The network of a scenario: a dumbbell, or any graph of links."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from sojourn.errors import within
from sojourn.scenario.aggregation import Aggregation
from sojourn.scenario.base import MOST_ENTRIES, Few, Name, Table, check_repeated
from sojourn.scenario.choices import QueueChoice
from sojourn.scenario.hosts import Count, Drawn, Group, HostDelay, LinkDelay, Spread, members
from sojourn.scenario.impairments import Impairments
from sojourn.scenario.quantities import Duration, Packets, PositiveDuration, Rate, RateOrZero, SizeOrZero
from sojourn.scenario.traces import Trace, TracedDuration, TracedRate
from sojourn.units import DURATION, LARGEST

Json = dict[str, Any]

#: The routers at the two ends of a dumbbell's bottleneck.
ROUTERS = ("left", "right")

#: The cells of a link, by the words of tc-cake(8): none, those of ATM (ADSL), or the encoding of PTM (VDSL2).
Cells = Literal["noatm", "atm", "ptm"]

#: What a link adds to each packet, headers of the layers below and cells, where that is nothing.
PLAIN: Json = {"overhead": 0, "mpu": 0, "framing": "noatm"}

#: The most bytes of headers, and of the least size (tc-cake(8)).
MOST_BYTES = 256

#: What a link has whose delay is drawn: the ends that it is drawn between.
DELAY_RANGE = "delay_range"

DeviceQueue = Annotated[
    Packets,
    Field(description="Packets that the device below the queue holds, besides the one it transmits."),
]


class Drop(Table):
    """Losses by pattern, for exact experiments: which data packets the link loses."""

    every: int | None = Field(None, ge=1, le=LARGEST, description="Lose every n-th data packet.")
    listed: list[Annotated[int, Field(le=LARGEST)]] | None = Field(
        None, min_length=1, description="Lose these data packets, counted from 1 in order of arrival."
    )

    @model_validator(mode="after")
    def _one_pattern(self) -> Self:
        return self.without(
            ((self.every is None) == (self.listed is None), 'give either "every" or "listed"'),
            (self.listed is not None and min(self.listed) < 1, "listed: packet numbers start at 1"),
        )

    def as_json(self) -> Json:
        """The pattern as a run's specification has it."""
        return {"every": self.every} if self.every is not None else {"listed": self.listed}


@dataclass(frozen=True)
class DirectedLink:
    """One direction of a link, as packets see it."""

    origin: str
    target: str
    #: Of a trace its mean, and of a delay that is drawn that of no seed.
    rate: int
    delay: int
    queue: QueueChoice | None
    device_queue: int
    #: As a run's specification has them.
    drop: Json | None = None
    loss: float = 0.0
    changes: list[Json] = field(default_factory=list)
    #: What few links have, as a run's specification has it.
    more: Mapping[str, Any] = field(default_factory=dict)


def _device_queue_has_a_queue(device_queue: int, *queues: QueueChoice | None) -> None:
    if device_queue and all(queue is None for queue in queues):
        raise ValueError("device_queue needs a queue to take packets from")


def _check_number(what: str, number: int) -> None:
    if number > MOST_ENTRIES:
        raise ValueError(f"{number:,} {what}; at most {MOST_ENTRIES:,}")


class Host(Table):
    """An end host of a dumbbell and its access link, symmetric except for the queue; or several identical hosts."""

    name: Name = Field(min_length=1, description="Name in flows and results; with count, that of the group.")
    count: Count = Field(None, description="Number of hosts, called name1, name2 and so on; by default one called name.")
    rate: Rate = Field(description="Rate of the link to its router, in both directions.")
    delay: HostDelay = Field(
        0, description="One-way propagation delay of the link to its router, or a range over the hosts of a group."
    )
    queue: QueueChoice | None = Field(None, description="Queue at the host's egress; an unlimited FIFO by default.")
    device_queue: DeviceQueue = 0

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        _device_queue_has_a_queue(self.device_queue, self.queue)
        lone = isinstance(self.delay, Spread) and self.count is None
        return self.without((lone, "delay: a range needs a group of hosts; give their count"))

    def members(self) -> list[str]:
        """The hosts that it stands for."""
        return members(self.name, self.count)


Loss = Annotated[float, Field(ge=0, le=1, description="Random loss probability of every packet, 0 to 1.")]


class WithReverse(Table):
    """A table whose keys hold forwards or both ways, and whose table ``reverse`` has those of the reverse direction."""

    @classmethod
    def unknown(cls, key: str) -> str:
        """The keys of the reverse direction were ``reverse_rate`` and the like."""
        _, was_reverse, own = key.partition("reverse_")
        if was_reverse and own in cls.all_keys():
            return f'unknown key "{key}", write reverse.{own}, or reverse = {{ {own} = ... }}'
        return super().unknown(key)


class ReverseChange(Table):
    """What changes in the reverse direction."""

    rate: RateOrZero | None = Field(None, description="Rate; 0 holds all packets.")
    delay: Duration | None = Field(None, description="One-way propagation delay.")
    loss: Loss | None = None


class Change(WithReverse):
    """Settings of a link from a given time on; others stay as they are."""

    at: Duration = Field(description="The moment.")
    rate: RateOrZero | None = Field(
        None,
        description="Rate, also for what remains of a packet; 0 holds all packets. In both directions, unless the reverse one "
        "has its own.",
    )
    delay: Duration | None = Field(
        None,
        description="One-way propagation delay, for transmissions that end from then on. In both directions, unless the reverse "
        "one has its own.",
    )
    loss: Loss | None = None
    reverse: ReverseChange = Field(default_factory=ReverseChange, description="The same for the reverse direction alone.")
    every: PositiveDuration | None = Field(None, description="The change is made again each time that this has passed.")
    spread: Duration | None = Field(
        None,
        description="Each is later by a random time up to this, which the seed decides; changes of a link with the same every "
        "and spread are later by the same.",
    )

    def as_json(self, rate: int | None, delay: int | None, loss: float | None) -> Json:
        """What one direction of a link is from a moment on, as a run's specification has it."""
        repeat = {} if self.every is None else {"repeat": {"every": self.every, "spread": self.spread or 0}}
        return {"at": self.at, "rate": rate, "delay": delay, "loss": loss, **repeat}

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.spread is not None and self.every is None:
            raise ValueError('spread: needs "every"')
        if self.every is not None and self.spread is not None and self.spread >= self.every:
            spread, every = DURATION.format(self.spread), DURATION.format(self.every)
            raise ValueError(f'spread: "{spread}" must be shorter than every, "{every}"')
        settings = list(ReverseChange.model_fields)
        if all(getattr(way, name) is None for way in (self, self.reverse) for name in settings):
            known = ", ".join(f'"{name}"' for name in (*settings, "reverse"))
            raise ValueError(f"give at least one of {known}")
        return self


class Reverse(Table):
    """The reverse direction of a link."""

    rate: TracedRate | None = Field(None, description="Its rate at the start, or a trace; by default that of the link.")
    delay: TracedDuration | None = Field(None, description="Its one-way delay, or a trace; by default that of the link.")
    queue: QueueChoice | None = Field(None, description="Queue at its egress; an unlimited FIFO by default.")
    drop: Drop | None = None
    loss: Loss = 0.0
    impairments: Impairments | None = Field(None, description="What else happens to packets.")
    aggregation: Aggregation | None = Field(None, description="Packets leave the queue in frames, as in Wi-Fi.")


class Both(Table):
    """What the two directions of a link have alike."""

    queue: QueueChoice | None = Field(None, description="Queue at the egress of each direction.")
    drop: Drop | None = None
    loss: Loss | None = None
    impairments: Impairments | None = Field(None, description="What else happens to packets.")
    aggregation: Aggregation | None = Field(None, description="Packets leave the queue in frames, as in Wi-Fi.")


#: The table of a link that says something of both its directions, and the key that says it of their queues alone.
BOTH, BOTH_QUEUES = "both", "both_queues"


def of_both(link: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """What a link given as plain data says of both its directions at once: how it says that, and the value, by key."""
    found = {key: (f"{BOTH}.{key}", value) for key, value in dict(link.get(BOTH, {})).items()}
    return found | ({"queue": (BOTH_QUEUES, link[BOTH_QUEUES])} if BOTH_QUEUES in link else {})


class TwoWay(WithReverse):
    """A link with a queue, and losses, of its own in each direction."""

    @model_validator(mode="before")
    @classmethod
    def _both_directions(cls, given: object) -> object:
        """What is said of both directions is said of each."""
        if not isinstance(given, Mapping) or not {BOTH, BOTH_QUEUES} & given.keys():
            return given
        both, reverse = given.get(BOTH, {}), given.get("reverse", {})
        if not isinstance(both, Mapping) or not isinstance(reverse, Mapping):
            return given
        if unknown := next((key for key in both if key not in Both.all_keys()), None):
            raise ValueError(f"{BOTH}: {Both.unknown(str(unknown))}")
        if BOTH_QUEUES in given and "queue" in both:
            raise ValueError(f'{BOTH_QUEUES}: give either it or "{BOTH}.queue"')
        others = {key: value for key, value in given.items() if key not in (BOTH, BOTH_QUEUES)}
        said = of_both(given)
        for key, (word, _) in said.items():
            for way, there in ((key, others), (f"reverse.{key}", reverse)):
                if key in there:
                    raise ValueError(f'{word}: give either it or "{way}"')
        of_each = {key: value for key, (_, value) in said.items()}
        return {**others, **of_each, "reverse": {**reverse, **of_each}}

    rate: TracedRate = Field(description="Rate at the start, or a trace.")
    queue: QueueChoice | None = Field(None, description="Queue at its egress, forwards; an unlimited FIFO by default.")
    both: Both | None = Field(None, description="What both directions have, instead of saying it of each.")
    both_queues: QueueChoice | None = Field(None, description="The queue of both directions: both.queue.")
    device_queue: DeviceQueue = 0
    drop: Drop | None = None
    loss: Loss = 0.0
    impairments: Impairments | None = Field(None, description="What else happens to packets.")
    aggregation: Aggregation | None = Field(None, description="Packets leave the queue in frames, as in Wi-Fi.")
    reverse: Reverse = Field(default_factory=Reverse, description="The reverse direction, where it differs.")
    overhead: SizeOrZero = Field(
        0, le=MOST_BYTES, description="Bytes of headers below IP that each packet has on the link, in both directions."
    )
    mpu: SizeOrZero = Field(0, le=MOST_BYTES, description="Least size of a packet on the link, overhead included.")
    framing: Cells = Field(
        "noatm", description="Cells of the link: atm is that of ADSL, 48 bytes in 53; ptm that of VDSL2, 64 bytes in 65."
    )
    changes: Annotated[list[Change], Few] = Field([], description="Changes during the scenario, in order of time.")

    @model_validator(mode="after")
    def _device_is_fed(self) -> Self:
        _device_queue_has_a_queue(self.device_queue, self.queue, self.reverse.queue)
        return self

    @property
    def layers(self) -> Json:
        """What the link adds to each packet, in both directions."""
        return {key: getattr(self, key) for key in PLAIN}

    @model_validator(mode="after")
    def _frames_have_a_queue(self) -> Self:
        ways: tuple[tuple[str, TwoWay | Reverse], ...] = (("aggregation", self), ("reverse.aggregation", self.reverse))
        for key, way in ways:
            if way.aggregation is not None:
                self.without(
                    (way.queue is None, f"{key} needs a queue to take packets from"),
                    (self.device_queue, f"{key} and device_queue exclude each other"),
                    (self.layers != PLAIN, f"{key} has a header of its own, so overhead, mpu and framing cannot be set"),
                )
        return self

    @model_validator(mode="after")
    def _traces_are_not_changed(self) -> Self:
        ways: list[tuple[str, Table, Sequence[Table]]] = [
            ("", self, self.changes),
            ("reverse.", self.reverse, [change.reverse for change in self.changes]),
        ]
        for key, (way, link, changes) in product(("rate", "delay"), ways):
            if isinstance(getattr(link, key, None), Trace) and any(getattr(change, key) is not None for change in changes):
                raise ValueError(f"{way}{key} is a trace, so changes cannot set it")
        return self

    @model_validator(mode="after")
    def _changes_are_in_order(self) -> Self:
        for index, (before, after) in enumerate(pairwise(self.changes), start=1):
            if after.at <= before.at:
                earlier, later = DURATION.format(before.at), DURATION.format(after.at)
                raise ValueError(f'changes[{index}].at: "{later}" must be later than the previous change, "{earlier}"')
        return self


class Bottleneck(TwoWay):
    """The link between the two routers of a dumbbell; forwards is from senders to receivers."""

    delay: TracedDuration = Field(0, description="One-way propagation delay, or a trace.")


class Dumbbell(Table):
    """Senders and receivers on either side of one bottleneck; its routers are called ``left`` and ``right``."""

    bottleneck: Bottleneck
    senders: Annotated[list[Host], Few] = Field(min_length=1)
    receivers: Annotated[list[Host], Few] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        _check_number("hosts", sum(host.count or 1 for host in (*self.senders, *self.receivers)))
        seen = set(ROUTERS)
        for host in (*self.senders, *self.receivers):
            for name in dict.fromkeys((host.name, *host.members())):
                if name in seen:
                    taken = "is a router of the dumbbell" if name in ROUTERS else "is given twice"
                    raise ValueError(f'the host name "{name}" {taken}')
                seen.add(name)
        return self

    def nodes(self) -> list[str]:
        """All nodes: senders, routers, receivers."""
        senders, receivers = ([name for host in side for name in host.members()] for side in (self.senders, self.receivers))
        return [*senders, *ROUTERS, *receivers]

    def groups(self) -> dict[str, list[str]]:
        """The hosts of each entry, by its name."""
        return {host.name: host.members() for host in (*self.senders, *self.receivers)}

    def links(self) -> Iterator[DirectedLink]:
        """All directed links, the bottleneck's two first."""
        left, right = ROUTERS
        centre = self.bottleneck
        yield _forwards(left, right, centre, centre.delay)
        yield _backwards(left, right, centre, centre.delay)
        for router, hosts in ((left, self.senders), (right, self.receivers)):
            for host in hosts:
                names = host.members()
                for place, name in enumerate(names):
                    delay = _placed(host.delay, place, len(names))
                    yield _of_host(name, router, host, delay, host.queue)
                    yield _of_host(router, name, host, delay, None)


class Link(TwoWay):
    """A link between two nodes, in both directions unless ``one_way`` is set; of a group, one for each of its hosts."""

    origin: Name = Field(alias="from", min_length=1)
    target: Name = Field(alias="to", min_length=1)
    delay: LinkDelay = Field(0, description="One-way propagation delay, a trace, or a range over the hosts of a group.")
    one_way: bool = Field(False, description="This link has no reverse direction.")

    @model_validator(mode="after")
    def _ways_are_clear(self) -> Self:
        changed = any(change.reverse != ReverseChange() for change in self.changes)
        return self.without(
            (self.origin == self.target, f'"from" and "to" are both "{self.origin}"'),
            (self.one_way and self.reverse != Reverse(), "a one-way link has no reverse"),
            (self.one_way and changed, "a one-way link has no changes.reverse"),
        )


Delay = int | Trace | Drawn
"""The delay of one link."""


def _placed(delay: int | Trace | Spread, place: int, count: int) -> Delay:
    """The delay of one of the links that an entry stands for."""
    return delay.of(place, count) if isinstance(delay, Spread) else delay


def _forwards(origin: str, target: str, link: TwoWay, delay: Delay) -> DirectedLink:
    changes = [change.as_json(change.rate, change.delay, change.loss) for change in link.changes]
    return _direction(origin, target, link, link, link.rate, delay, changes)


def _backwards(origin: str, target: str, link: TwoWay, delay: Delay) -> DirectedLink:
    own = link.reverse

    def of(changed: int | None, both: int | None, differs: bool) -> int | None:
        return both if changed is None and not differs else changed

    changes = [
        change.as_json(
            of(change.reverse.rate, change.rate, own.rate is not None),
            of(change.reverse.delay, change.delay, own.delay is not None),
            change.reverse.loss,
        )
        for change in link.changes
    ]
    rate, delay = link.rate if own.rate is None else own.rate, delay if own.delay is None else own.delay
    return _direction(target, origin, link, own, rate, delay, changes)


def _direction(
    origin: str, target: str, link: TwoWay, own: TwoWay | Reverse, rate: int | Trace, delay: Delay, changes: list[Json]
) -> DirectedLink:
    """One direction of a link, which has what is its ``own``; a change of the other direction is none."""
    more = {
        "impairments": own.impairments and own.impairments.model_dump(),
        "rate_trace": rate.as_json() if isinstance(rate, Trace) else None,
        "delay_trace": delay.as_json() if isinstance(delay, Trace) else None,
        "aggregation": own.aggregation and own.aggregation.model_dump(),
        "framing": None if link.layers == PLAIN else link.layers,
    }
    return DirectedLink(
        origin=origin,
        target=target,
        rate=_steady(rate),
        delay=_steady(delay),
        queue=own.queue,
        device_queue=_ring(link, own.queue),
        drop=None if own.drop is None else own.drop.as_json(),
        loss=own.loss,
        changes=[change for change in changes if any(change[key] is not None for key in ("rate", "delay", "loss"))],
        more={key: value for key, value in more.items() if value is not None} | _range(delay),
    )


def _range(delay: Delay) -> Json:
    return {DELAY_RANGE: (delay.low, delay.high)} if isinstance(delay, Drawn) else {}


def _steady(value: Delay) -> int:
    if isinstance(value, Drawn):
        return (value.low + value.high) // 2
    return value.mean() if isinstance(value, Trace) else value


def _of_host(origin: str, target: str, host: Host, delay: Delay, queue: QueueChoice | None) -> DirectedLink:
    return DirectedLink(origin, target, host.rate, _steady(delay), queue, _ring(host, queue), more=_range(delay))


def _ring(link: Host | TwoWay, queue: QueueChoice | None) -> int:
    """A device without a queue holds nothing."""
    return link.device_queue if queue else 0


class Network(Table):
    """Either a dumbbell or a list of links."""

    dumbbell: Dumbbell | None = None
    links: Annotated[list[Link], Few, Field(min_length=1)] | None = None
    hosts: Annotated[list[Group], Few] = Field(
        [], description="Groups of hosts that links name; a dumbbell's hosts have a count instead."
    )

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        counts = {group.name: group.count for group in self.hosts}
        links = [(link, counts.get(link.origin, 1) * counts.get(link.target, 1)) for link in self.links or ()]
        _check_number("links", sum(times for _, times in links))
        with within("links"):
            check_repeated(links)
        if (self.dumbbell is None) == (self.links is None):
            raise ValueError('give either "dumbbell" or "links"')
        self._groups_are_clear()
        seen: set[tuple[str, str]] = set()
        for link in self.directed_links:
            if (link.origin, link.target) in seen:
                raise ValueError(f'two links from "{link.origin}" to "{link.target}"')
            seen.add((link.origin, link.target))
        return self

    def _groups_are_clear(self) -> None:
        if self.hosts and self.dumbbell is not None:
            raise ValueError('hosts: a dumbbell has its groups in "senders" and "receivers"')
        groups = [group.name for group in self.hosts]
        for name in groups:
            if groups.count(name) > 1:
                raise ValueError(f'hosts: the group "{name}" is given twice')
        named = [end for link in self.links or () for end in (link.origin, link.target)]
        for group in self.hosts:
            if group.name not in named:
                raise ValueError(f'hosts: no link has the group "{group.name}"')
            for name in members(group.name, group.count):
                if name in groups:
                    raise ValueError(f'hosts: "{name}" is both a group and a host of the group "{group.name}"')
        for link in self.links or ():
            in_groups = [end for end in (link.origin, link.target) if end in groups]
            if len(in_groups) == 2:
                raise ValueError(f'the link from "{link.origin}" to "{link.target}": only one end may be a group')
            if isinstance(link.delay, Spread) and not in_groups:
                raise ValueError(f'the link from "{link.origin}" to "{link.target}": delay: a range needs a group of hosts')

    def nodes(self) -> list[str]:
        """All nodes, in the order in which they are first named."""
        if self.dumbbell is not None:
            return self.dumbbell.nodes()
        groups = self.groups
        ends = (end for link in self.links or () for end in (link.origin, link.target))
        return list(dict.fromkeys(node for end in ends for node in groups[end]))

    @cached_property
    def end_hosts(self) -> frozenset[str]:
        """The nodes that may send and receive: of a dumbbell all but the routers, of a graph all."""
        return frozenset(self.nodes()) - frozenset(ROUTERS if self.dumbbell is not None else ())

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The hosts that each name stands for which the network has: a host's own, or a group's."""
        if self.dumbbell is not None:
            return self.dumbbell.groups()
        ends = dict.fromkeys(end for link in self.links or () for end in (link.origin, link.target))
        counts = {group.name: group.count for group in self.hosts}
        return {end: members(end, counts.get(end)) for end in ends}

    @cached_property
    def directed_links(self) -> list[DirectedLink]:
        """All links, one direction each, in order of declaration."""
        return list(self._links())

    def _links(self) -> Iterator[DirectedLink]:
        if self.dumbbell is not None:
            yield from self.dumbbell.links()
        groups = self.groups
        for link in self.links or ():
            ends = [(origin, target) for origin in groups[link.origin] for target in groups[link.target]]
            for place, (origin, target) in enumerate(ends):
                delay = _placed(link.delay, place, len(ends))
                yield _forwards(origin, target, link, delay)
                if not link.one_way:
                    yield _backwards(origin, target, link, delay)
