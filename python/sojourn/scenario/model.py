"""A scenario: a network, the flows that cross it, and what is measured."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, PrivateAttr, ValidationInfo, model_validator

from sojourn.errors import within
from sojourn.scenario.applications import Exchange, Page, Periodic
from sojourn.scenario.arrivals import Arrivals
from sojourn.scenario.base import MOST_ENTRIES, Few, Name, OneOrSeveral, Table, check_repeated
from sojourn.scenario.choices import StackChoice, TcpChoice
from sojourn.scenario.codepoints import Codepoint
from sojourn.scenario.files import from_file
from sojourn.scenario.hosts import named_by
from sojourn.scenario.network import Network
from sojourn.scenario.programs import Program
from sojourn.scenario.quantities import Duration, PositiveDuration
from sojourn.scenario.reading import folder_of
from sojourn.scenario.sizes import RandomSize, Sizes
from sojourn.scenario.vectors import Vectors, read
from sojourn.scenario.video import Video
from sojourn.units import DURATION, LARGEST

_VECTORS, _VECTORS_SCHEMA = from_file(read, "File of connection vectors in either format of Tmix.")

#: The most programs of a scenario.
MOST_PROGRAMS = 1_000

#: What happens on connections that do not just carry data one way.
Application = Exchange | Page | Vectors | Video | Periodic


class Flows(Table):
    """A group of identical flows: ``count`` from each host of ``from`` to each host of ``to``."""

    origins: OneOrSeveral = Field(alias="from")
    targets: OneOrSeveral = Field(alias="to")
    count: int = Field(1, ge=1, le=LARGEST, description="Number of flows per pair of hosts.")
    tcp: TcpChoice
    start: Duration | None = Field(None, description="Earliest start; 0 s by default.")
    start_within: Duration | None = Field(
        None,
        description="Each flow starts at a random time within this long after start. By default 0 s if start is given; else 1 s, "
        "or a tenth of the time until stop or the end if that is shorter.",
    )
    stop: Duration | None = Field(None, description="Time at which flows that have not ended are aborted.")
    size: RandomSize | None = Field(
        None, description="Amount of data to send per flow, unlimited by default; of flows that arrive a distribution, too."
    )
    arrivals: Arrivals | None = Field(
        None, description="Connections arrive by themselves, each for one transfer, or sessions of a page or exchanges."
    )
    exchange: Exchange | None = Field(None, description='Requests of "to" and responses of "from" on one connection.')
    page: Page | None = Field(None, description='Pages that "to" loads from "from".')
    vectors: Annotated[Vectors | None, _VECTORS, _VECTORS_SCHEMA] = None
    video: Video | None = Field(None, description='Video with an adaptive bit rate, which "to" watches.')
    periodic: Periodic | None = Field(None, description='Messages of "from" at equal times on one connection.')
    both_ways: bool = Field(False, description='Whether as many flows run from each host of "to" to each of "from".')
    group: Name | None = Field(None, description='Name of these flows in results; by default "from-to", numbered if taken.')
    dscp: Codepoint = Field(
        0, description="Codepoint of differentiated services of their packets in both directions, such as EF; cake sorts by it."
    )
    stack: StackChoice | None = Field(None, description="Settings of these flows that differ from the scenario's stack.")

    @model_validator(mode="after")
    def _stack_has_a_use(self) -> Self:
        if self.one_way and self.stack is not None:
            raise ValueError(f"stack: {self.tcp.name} has no stack, because it only sends")
        return self

    @property
    def application(self) -> Application | None:
        """What happens on its connections, if they do not just carry data one way."""
        return next(iter(self._applications().values()), None)

    def _applications(self) -> dict[str, Application]:
        keys = ("exchange", "page", "vectors", "video", "periodic")
        return {key: table for key in keys if (table := getattr(self, key)) is not None}

    def _endless(self) -> str | None:
        """What a session of the application lacks that never ends, as words before that; none if it ends."""
        if self.exchange is not None and self.exchange.count is None:
            return 'without "count" '
        if self.video is not None and self.video.length is None:
            return 'without "length" '
        return "" if self.periodic is not None else None

    @model_validator(mode="after")
    def _sessions_are_whole(self) -> Self:
        if self.application is None:
            return self
        key, *others = self._applications()
        alone, endless = self.vectors is not None, None if self.arrivals is None else self._endless()
        said = [each for each in ("count", "start_within") if alone and each in self.model_fields_set]
        return self.without(
            *((True, f'{other}: give either "{other}" or "{key}"') for other in others),
            (self.size is not None, f"size: the {key} says how much is sent"),
            (self.one_way or self.tcp.control.rate_based, f"{key}: {self.tcp.name} opens no connection"),
            (alone and self.arrivals is not None, "arrivals: the file of vectors says when connections begin"),
            *((True, f"{each}: the file of vectors says how many connections there are, and when they begin") for each in said),
            (self.arrivals is not None and self.arrivals.file is not None, "arrivals.file: a file has transfers, not sessions"),
            (endless is not None, f"{key}: a session {endless}never ends, so sessions that arrive would be more and more"),
        )

    @property
    def file(self) -> str | None:
        """The key of the file that its connections are from, if they are."""
        return "vectors" if self.vectors is not None else "arrivals.file" if self.arrivals and self.arrivals.file else None

    @model_validator(mode="after")
    def _arrivals_are_whole(self) -> Self:
        if self.arrivals is None:
            if isinstance(self.size, Sizes):
                raise ValueError('size: random sizes are for flows that arrive by themselves; give "arrivals"')
            return self
        has_sizes, has_none = self.arrivals.file is not None, self.size is None and self.application is None
        return self.without(
            ("count" in self.model_fields_set, "count: flows that arrive by themselves are as many as arrive"),
            (self.start_within is not None, "start_within: flows that arrive by themselves start when they arrive"),
            (self.one_way or self.tcp.control.rate_based, f"arrivals: {self.tcp.name} opens no connection"),
            (has_sizes and self.size is not None, "size: the file of arrivals has the sizes"),
            (has_none and not has_sizes, 'arrivals: give "size", a quantity or a distribution, or "page", "exchange" or "video"'),
        )

    @property
    def one_way(self) -> bool:
        """Whether nothing comes back to these senders."""
        return self.tcp.control.one_way

    def ends(self, network: Network, place: str = "") -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Each entry of ``from`` with each of ``to``, called ``from-to``, and the pairs of hosts that they stand for.

        If the flows run both ways, then each entry of ``to`` with each of ``from`` follows. Errors begin with ``place``.
        """
        hosts = network.end_hosts
        there, back = [], []
        for origin in self.origins:
            for target in self.targets:
                with within(f"{place}from"):
                    origins = named_by(origin, network.groups, hosts)
                with within(f"{place}to"):
                    targets = named_by(target, network.groups, hosts)
                if (number := len(origins) * len(targets)) > MOST_ENTRIES:
                    raise ValueError(f"{place}from: {number:,} pairs of hosts; at most {MOST_ENTRIES:,}")
                pairs = list(product(origins, targets))
                there.append((f"{origin}-{target}", pairs))
                back.append((f"{target}-{origin}", [(target, origin) for origin, target in pairs]))
        yield from there
        if self.both_ways:
            yield from back


class Probe(Table):
    """What is measured during the run."""

    queue_statistics: bool = Field(True, description="Measure the queues; if false, results have no queues.")
    queue_series: PositiveDuration | None = Field(None, description="Interval between samples of queue lengths and drops.")
    flow_series: PositiveDuration | None = Field(None, description="Interval between samples of each flow's window and RTT.")
    queue_state: bool = Field(False, description="Sample the inner state of disciplines too, at the samples of queue_series.")
    flow_state: bool = Field(
        False, description="Sample the inner state of congestion controls too, at the samples of flow_series."
    )

    @model_validator(mode="after")
    def _has_samples(self) -> Self:
        for of in ("queue", "flow"):
            if getattr(self, f"{of}_state") and getattr(self, f"{of}_series") is None:
                raise ValueError(f"{of}_state: needs {of}_series, whose samples it adds to")
        return self

    def __deepcopy__(self, _: object = None) -> Self:
        """Itself, which does not change: pydantic copies defaults."""
        return self


class Scenario(Table):
    """A whole scenario file. The measuring window is from ``warm_up`` to ``duration``."""

    name: Name = Field(min_length=1, description="Name in results.")
    description: str = Field("", description="For readers.")
    seed: int = Field(1, ge=0, le=2**63 - 1, description="Seed of all random numbers; repetitions count up from it.")
    duration: PositiveDuration = Field(description="Simulated time.")
    warm_up: Duration = Field(0, description="Start of the measuring window, which lasts to the end.")
    sender_overhead: Duration | None = Field(
        None,
        description="Delay each packet at its sender by a random time up to this, to avoid phase effects. By default the time "
        "that the first link with a queue takes to send 1500 bytes; 0 s is off.",
    )
    stack: StackChoice = Field(StackChoice(None, {}))
    network: Network
    flows: Annotated[list[Flows], Few] = Field([], description="What crosses the network; a scenario with programs needs none.")
    programs: list[Program] = Field([], max_length=MOST_PROGRAMS, description="Programs on its hosts, on the backend linux.")
    variables: dict[Name, str | int | float] = Field({}, description="Words that commands of programs have in braces.")
    probe: Probe = Probe()
    #: What paths in it are relative to: programs see it.
    _folder: Path = PrivateAttr(default_factory=Path)  # a default would be copied deeply for each scenario

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.warm_up >= self.duration:
            warm_up, duration = DURATION.format(self.warm_up), DURATION.format(self.duration)
            raise ValueError(f'warm_up: "{warm_up}" must be shorter than the duration, "{duration}"')
        self._changes_are_in_time()
        pairs_of: list[int] = []
        number = 0
        for index, flows in enumerate(self.flows):
            pairs = [pair for _, hosts in flows.ends(self.network, f"flows[{index}].") for pair in hosts]
            pairs_of.append(len(pairs))
            number += len(pairs)
            if number > MOST_ENTRIES:
                raise ValueError(f"flows: more than {MOST_ENTRIES:,} pairs of hosts in all, which is the most")
            for origin, target in pairs:
                if origin == target:
                    raise ValueError(f'flows[{index}]: "from" and "to" are both "{origin}"')
            if flows.file is not None and len(pairs) > 1:
                raise ValueError(f"flows[{index}].{flows.file}: the flows of a file run between one pair of hosts")
            self._is_in_time(index, flows)
        with within("flows"):
            check_repeated(zip(self.flows, pairs_of, strict=True))
        return self

    @model_validator(mode="after")
    def _programs_fit(self, info: ValidationInfo) -> Self:
        if not self.flows and not self.programs:
            raise ValueError("flows: give at least one, or programs")
        if self.variables and not self.programs:
            raise ValueError("variables: only commands of programs have variables")
        hosts = self.network.end_hosts
        variables = {name: str(value) for name, value in self.variables.items()}
        if clash := next((name for name in variables if name in hosts), None):
            raise ValueError(f'variables: "{clash}" is a host')
        for place, program in enumerate(self.programs):
            with within(f"programs[{place}]"):
                program.check(hosts, variables, self.duration)
        self._folder = folder_of(info)
        return self

    @property
    def folder(self) -> Path:
        """What paths in it are relative to."""
        return self._folder

    def _is_in_time(self, index: int, flows: Flows) -> None:
        start = flows.start or 0
        if start >= self.duration:
            raise ValueError(f'flows[{index}].start: "{DURATION.format(start)}" is after the end of the scenario')
        if flows.stop is None:
            return
        stop, last_start = DURATION.format(flows.stop), start + (flows.start_within or 0)
        if flows.stop >= self.duration:
            raise ValueError(f'flows[{index}].stop: "{stop}" is after the end of the scenario')
        if flows.stop <= last_start:
            latest = DURATION.format(last_start)
            raise ValueError(f'flows[{index}].stop: "{stop}" must be later than the last start, "{latest}"')

    def _changes_are_in_time(self) -> None:
        for link in self.network.directed_links:
            for change in link.changes:
                if change["at"] >= self.duration:
                    ends, moment = f'"{link.origin}" to "{link.target}"', DURATION.format(change["at"])
                    raise ValueError(f'changes of the link from {ends}: at "{moment}" is after the end of the scenario')
