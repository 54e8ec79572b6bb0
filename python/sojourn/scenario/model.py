"""A scenario: a network, the flows that cross it, and what is measured."""

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from sojourn import names
from sojourn.scenario.base import Name, Table
from sojourn.scenario.choices import StackChoice, TcpChoice
from sojourn.scenario.network import Network
from sojourn.scenario.quantities import Duration, PositiveDuration, Size
from sojourn.units import DURATION

Hosts = Annotated[
    list[str],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
    Field(min_length=1),
]
"""One host or several; flows run between all pairs."""


class Flows(Table):
    """A group of identical flows: ``count`` from each host of ``from`` to each host of ``to``."""

    origins: Hosts = Field(alias="from")
    targets: Hosts = Field(alias="to")
    count: int = Field(1, ge=1, description="Number of flows per pair of hosts.")
    tcp: TcpChoice
    start: Duration | None = Field(None, description="Earliest start; 0 s by default.")
    start_within: Duration | None = Field(
        None,
        description="Each flow starts at a random time within this long after start. By default 0 s if start is given; else 1 s, "
        "or a tenth of the time until stop or the end if that is shorter.",
    )
    stop: Duration | None = Field(None, description="Time at which flows that have not ended are aborted.")
    size: Size | None = Field(None, description="Amount of data to send per flow; unlimited by default.")
    both_ways: bool = Field(False, description='Whether as many flows run from each host of "to" to each of "from".')
    group: Name | None = Field(None, description='Name of these flows in results; by default "from-to", numbered if taken.')
    stack: StackChoice | None = Field(None, description="Settings of these flows that differ from the scenario's stack.")

    @model_validator(mode="after")
    def _stack_has_a_use(self) -> Self:
        if self.one_way and self.stack is not None:
            raise ValueError(f"stack: {self.tcp.name} has no stack, because it only sends")
        return self

    @property
    def one_way(self) -> bool:
        """Whether nothing comes back to these senders."""
        return self.tcp.control.one_way

    def pairs(self) -> list[tuple[str, str]]:
        """All pairs of hosts that these flows run between, from the first to the second."""
        there = [(origin, target) for origin in self.origins for target in self.targets]
        return [*there, *((target, origin) for origin, target in there)] if self.both_ways else there


class Probe(Table):
    """What is measured during the run."""

    queue_statistics: bool = Field(True, description="Measure the queues; if false, results have no queues.")
    queue_series: PositiveDuration | None = Field(None, description="Interval between samples of queue lengths and drops.")
    flow_series: PositiveDuration | None = Field(None, description="Interval between samples of each flow's window and RTT.")


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
    flows: list[Flows] = Field(min_length=1)
    probe: Probe = Probe()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.warm_up >= self.duration:
            warm_up, duration = DURATION.format(self.warm_up), DURATION.format(self.duration)
            raise ValueError(f'warm_up: "{warm_up}" must be shorter than the duration, "{duration}"')
        self._changes_are_in_time()
        known = dict.fromkeys(self.network.hosts())
        for index, flows in enumerate(self.flows):
            for key, hosts in (("from", flows.origins), ("to", flows.targets)):
                for host in hosts:
                    if host not in known:
                        raise ValueError(f"flows[{index}].{key}: {names.unknown('host', host, known)}")
            for origin, target in flows.pairs():
                if origin == target:
                    raise ValueError(f'flows[{index}]: "from" and "to" are both "{origin}"')
            self._is_in_time(index, flows)
        return self

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
                if change.at >= self.duration:
                    ends, moment = f'"{link.origin}" to "{link.target}"', DURATION.format(change.at)
                    raise ValueError(f'changes of the link from {ends}: at "{moment}" is after the end of the scenario')
