"""From a scenario to one fully specified run: every default filled in, every quantity an integer in base units.

This is what backends are given. It says what happens in the network, not how to bring it about.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, NotRequired, TypedDict

from sojourn import catalogue
from sojourn.catalogue import Algorithm, Profile, Value
from sojourn.errors import InputError, within
from sojourn.plugins.source import Source
from sojourn.scenario import chance, content, traces
from sojourn.scenario.choices import DEFAULT_PROFILE, QueueChoice, SlowStartChoice, StackChoice
from sojourn.scenario.model import Flows, Probe, Scenario
from sojourn.scenario.network import DELAY_RANGE, DirectedLink
from sojourn.scenario.programs import Program, address, filled
from sojourn.units import BandwidthDelayProducts

Json = dict[str, Any]

#: What the scenario's folder is called among the places of a run.
FOLDER = "scenario"

#: The keys of a run's programs.
_OF_PROGRAMS = ("programs", "content", "places")

#: How runs are written.
_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)


class RunSpecification(TypedDict):
    """One run. Times are in picoseconds, sizes in bytes, rates in bit/s; the measuring window is [warm_up, duration)."""

    seed: int
    duration: int
    warm_up: int
    sender_overhead: int
    nodes: list[str]
    links: list[Json]
    stacks: list[dict[str, Value]]
    flows: list[Json]
    probe: Json
    #: Its programs, if it has any, and a digest of what they read in the scenario's folder; the simulator has no use for them.
    programs: NotRequired[list[Json]]
    content: NotRequired[str]
    #: Where that folder (``FOLDER``) and those of roots are, by what they are called. It changes nothing: ``text`` leaves it out.
    places: NotRequired[dict[str, str]]
    #: Its plugins, if it has any, in the order in which flows and queues refer to them.
    plugins: NotRequired[list[Json]]


def specify(scenario: Scenario, seed: int) -> RunSpecification:
    """The run of a scenario with one seed.

    Raises:
        InputError: there is too much in the folders that programs read.
    """
    nodes = scenario.network.nodes()
    index = {node: position for position, node in enumerate(nodes)}
    stacks: list[dict[str, Value]] = []
    names = _Names(flows.group for flows in scenario.flows)
    plugins: list[Source] = []
    flows = [entry for group in scenario.flows for entry in _flows(scenario, group, index, stacks, names, plugins)]
    specification: RunSpecification = {
        "seed": seed,
        "duration": scenario.duration,
        "warm_up": scenario.warm_up,
        "sender_overhead": chance.sender_overhead(scenario, stacks),
        "nodes": nodes,
        "links": [_link(link, index, plugins) for link in scenario.network.directed_links],
        "stacks": stacks,
        "flows": flows,
        "probe": _probe(scenario.probe),
    }
    if scenario.programs:
        _add_programs(specification, scenario, index)
    if plugins:
        specification["plugins"] = [source.as_json() for source in plugins]
    return with_seed(specification, seed)


def _probe(probe: Probe) -> Json:
    """What is measured; a run that asks for no inner state is the same as before there was any."""
    return {key: value for key, value in probe.model_dump().items() if value or not key.endswith("_state")}


def with_seed(specification: RunSpecification, seed: int) -> RunSpecification:
    """The same run with another seed, which decides delays that are drawn."""
    links = specification["links"]
    if any(DELAY_RANGE in link for link in links):
        nodes = specification["nodes"]
        links = [{**link, "delay": _drawn_delay(link, nodes, seed)} if DELAY_RANGE in link else link for link in links]
    return {**specification, "seed": seed, "links": links}


def texts(written: str, seeds: Iterable[int]) -> Iterator[str]:
    """The texts of a run with several seeds, for less than writing each costs; it is given with any of them."""
    if (around := around_seed(written)) is None:
        specification: RunSpecification = json.loads(written)
        yield from (text(with_seed(specification, seed)) for seed in seeds)
        return
    before, after = around
    yield from (f"{before}{seed}{after}" for seed in seeds)


def around_seed(written: str) -> tuple[str, str] | None:
    """What stands before the seed in the text of a run and what after it, if nothing else depends on the seed."""
    if f'"{DELAY_RANGE}":' in written:
        return None
    first, comma, rest = written.partition(",")  # the seed stands first
    head, colon, _ = first.partition(":")
    return head + colon, comma + rest


def text(specification: RunSpecification) -> str:
    """The run as JSON, always written the same way, wherever the files of its programs are."""
    written = specification
    if "places" in specification:
        written = {key: value for key, value in specification.items() if key != "places"}  # type: ignore[assignment]
    return _JSON.encode(written)


def simulated(specification: RunSpecification) -> RunSpecification:
    """The run without its programs: what the engine knows of."""
    rest = {key: value for key, value in specification.items() if key not in _OF_PROGRAMS}
    return specification if "programs" not in specification else rest  # type: ignore[return-value]


def flow_count(specification: RunSpecification) -> int:
    """How many flows the run has."""
    return sum(flow["count"] for flow in specification["flows"])


def bottleneck(specification: RunSpecification) -> Json | None:
    """The first link that has a queue: the bottleneck, as summaries understand it."""
    return next((link for link in specification["links"] if link["queue"] is not None), None)


def only_way(specification: RunSpecification, link: Json, sender: str, receiver: str) -> bool:
    """Whether all ways from one node to another lead over a link."""
    ends = ((each["from"], each["to"]) for each in specification["links"] if each is not link)
    others = [tuple(specification["nodes"][node] for node in pair) for pair in ends]
    reached, new = {sender}, {sender}
    while new:
        new = {target for origin, target in others if origin in new} - reached
        reached |= new
    return receiver not in reached


def link_name(specification: RunSpecification, link: Json) -> str:
    """What a link is called in results: ``left->right``."""
    origin, target = (specification["nodes"][link[end]] for end in ("from", "to"))
    return f"{origin}->{target}"


def bottleneck_rate(specification: RunSpecification) -> float | None:
    """The rate of the bottleneck, in bit/s.

    Of a link whose rate changes it is the mean over the measuring window.
    """
    link = bottleneck(specification)
    if link is None:
        return None
    return mean_rate(link, specification["warm_up"], specification["duration"])


def mean_rate(link: Json, start: int, end: int) -> float:
    """The mean rate of a link from one time to another, in bit/s."""
    if "rate_trace" in link:
        return traces.mean(link["rate_trace"], start, end)
    steps = rate_steps(link, end)
    ends = [*(at for at, _ in steps[1:]), end]
    carried = sum(rate * max(0, min(until, end) - max(at, start)) for (at, rate), until in zip(steps, ends, strict=True))
    return float(carried / (end - start))


def rate_steps(link: Json, end: int) -> list[tuple[int, int]]:
    """The rates of a link up to a time, in bit/s, and from when on, in ps; those that repeat without their spread."""
    if "rate_trace" in link:
        return list(traces.steps(link["rate_trace"], end))
    made = ((at, change["rate"]) for change in link["changes"] if change["rate"] is not None for at in _moments(change, end))
    return [(0, link["rate"]), *sorted(made, key=itemgetter(0))]


def _moments(change: Json, end: int) -> Iterable[int]:
    """When a change is made before the end; repetitions without their spread."""
    return range(change["at"], end, change["repeat"]["every"]) if "repeat" in change else (change["at"],)


def _link(link: DirectedLink, index: dict[str, int], plugins: list[Source]) -> Json:
    return {
        "from": index[link.origin],
        "to": index[link.target],
        "rate": link.rate,
        "delay": link.delay,
        "queue": None if link.queue is None else _queue(link.queue, plugins),
        "device_queue": link.device_queue,
        "drop": link.drop,
        "loss": link.loss,
        "changes": link.changes,
        **link.more,
    }


def _drawn_delay(link: Json, nodes: list[str], seed: int) -> int:
    """The delay of a link with a seed, by the two nodes: it is that of both directions, and no other link changes it."""
    low, high = map(int, link[DELAY_RANGE])
    first, second = sorted((link["from"], link["to"]))
    digest = hashlib.sha256(f"{seed} {nodes[first]} {nodes[second]}".encode()).digest()
    return low + (int.from_bytes(digest[:8], "big") * (high - low) >> 64)


def _queue(queue: QueueChoice, plugins: list[Source]) -> Json:
    limit: Json | None = None
    if isinstance(queue.limit, BandwidthDelayProducts):
        # The engine knows the routes, and so the round-trip times.
        amount = queue.limit.amount
        limit = {"bandwidth_delay_products": int(amount) if amount == int(amount) else float(amount)}
    elif queue.limit is not None:
        limit = {queue.limit.unit: queue.limit.amount}
    values = _filled(queue.parameters, queue.discipline)
    return {"name": queue.name, "limit": limit, "parameters": values, **_plugin(queue.plugin, plugins)}


def _plugin(plugin: Source | None, plugins: list[Source]) -> Json:
    """The place of a plugin among those of the run; nothing for what is built in."""
    if plugin is None:
        return {}
    if plugin not in plugins:
        plugins.append(plugin)
    return {"plugin": plugins.index(plugin)}


def _add_programs(specification: RunSpecification, scenario: Scenario, index: dict[str, int]) -> None:
    """Programs, what they read, and where that is."""
    folder = scenario.folder.resolve()
    places = {FOLDER: str(folder)}
    programs = []
    for place, program in enumerate(scenario.programs):
        with within(f"programs[{place}].root: {program.root}", InputError):
            root = program.image or program.folder
        if root is not None:
            places[root] = str(program.root)
        programs.append(_program(scenario, program, root, index))
    texts = [text for program in programs for text in (" ".join(program["command"]), *program["environment"].values())]
    with within(f"programs: what they name in {folder}", InputError):
        specification["content"] = content.of_named(folder, texts)
    specification["programs"], specification["places"] = programs, places


def _program(scenario: Scenario, program: Program, root: str | None, index: dict[str, int]) -> Json:
    hosts = scenario.network.end_hosts

    def value_of(name: str) -> str:
        return address(index[name]) if name in hosts else str(scenario.variables[name])

    return {
        "name": program.called,
        "host": index[program.at],
        "command": [filled(word, value_of) for word in program.command],
        "environment": {name: filled(text, value_of) for name, text in program.environment.items()},
        "start": program.start,
        "stop": program.stop,
        "expect": program.expect,
        "cpu": program.cpu,
        "root": root,
        "keep": program.keep,
    }


class _Names:
    """Names for the groups that have none: each entry of a scenario is one of its own."""

    def __init__(self, given: Iterable[str | None]) -> None:
        self._taken = {name for name in given if name is not None}
        #: How often each has been asked for: what is taken once stays so.
        self._numbers: Counter[str] = Counter()

    def of(self, ends: str) -> str:
        """``from-to`` as it is, or with a number after it if that is taken."""
        while True:
            self._numbers[ends] += 1
            number = self._numbers[ends]
            name = ends if number == 1 else f"{ends} {number}"
            if name not in self._taken:
                self._taken.add(name)
                return name


def _flows(
    scenario: Scenario,
    group: Flows,
    index: dict[str, int],
    stacks: list[dict[str, Value]],
    names: _Names,
    plugins: list[Source],
) -> list[Json]:
    control = group.tcp.control
    source = {
        "name": control.name,
        "slow_start": _slow_start(scenario.stack, group),
        "parameters": _of_control(scenario.stack, group),
        "stack": _stack_index(scenario, group, stacks),
        **_plugin(group.tcp.plugin, plugins),
    }
    pairs = [
        (name, pair)
        for name, hosts in ((group.group or names.of(ends), hosts) for ends, hosts in group.ends(scenario.network))
        for pair in hosts
    ]
    return [
        {
            "count": group.count,
            "from": index[origin],
            "to": index[target],
            "group": name,
            "start": group.start or 0,
            "start_within": chance.start_within(scenario, group),
            "stop": group.stop,
            **_of_size(group, pair, len(pairs)),
            **({"dscp": group.dscp} if group.dscp else {}),
            "source": source,
        }
        for pair, (name, (origin, target)) in enumerate(pairs)
    ]


def _of_size(group: Flows, pair: int, pairs: int) -> Json:
    """How much the flows of a pair of hosts send, when they arrive if they do so by themselves, and their application."""
    application = {} if group.application is None else {"application": group.application.as_json()}
    if group.vectors is not None:
        return {"size": None, "arrivals": group.vectors.arrivals(), **application}
    if group.arrivals is None:
        return {"size": group.size, **application}
    return {"size": None, "arrivals": group.arrivals.as_json(group.size, pair, pairs), **application}


def _of_control(stack: StackChoice, group: Flows) -> dict[str, Value]:
    """The parameters of a congestion control: what is set, or else what the stack's profile says of it, or its default."""
    control = group.tcp.control
    if group.tcp.plugin is not None:
        return _filled(group.tcp.parameters, control)
    return {**_profile(_layers(stack, group.stack)).defaults_of(control), **group.tcp.parameters}


def _slow_start(stack: StackChoice, group: Flows) -> str | Json:
    """The slow start: what is set, or else what the stack's profile says of the congestion control, or the default.

    A name, or if there are parameters the name and their values.
    """
    profile = {} if group.tcp.plugin is not None else _profile(_layers(stack, group.stack)).slow_start_with(group.tcp.control)
    usual = profile.pop("name", catalogue.load().slow_starts[0].name)
    chosen = group.tcp.slow_start or SlowStartChoice(name=str(usual), parameters={})
    given = {**(profile if chosen.name == usual else {}), **chosen.parameters}
    values = _filled(given, catalogue.load().slow_start(chosen.name))
    return {"name": chosen.name, "parameters": values} if values else chosen.name


def _layers(default: StackChoice, own: StackChoice | None) -> list[StackChoice]:
    """What sets a group's stack, in order; the first names the profile."""
    return [default] if own is None else [own] if own.profile is not None else [default, own]


def _profile(layers: list[StackChoice]) -> Profile:
    return catalogue.load().profile(layers[0].profile or DEFAULT_PROFILE)


def _stack_index(scenario: Scenario, group: Flows, stacks: list[dict[str, Value]]) -> int:
    layers = _layers(scenario.stack, group.stack)
    stack = _profile(layers).settings_with(group.tcp.control)
    if scenario.sender_overhead:
        stack[chance.SWITCH] = True
    for layer in layers:
        stack |= layer.settings
    if stack not in stacks:
        stacks.append(stack)
    return stacks.index(stack)


def _filled(given: Mapping[str, Value], algorithm: Algorithm) -> dict[str, Value]:
    return {parameter.name: given.get(parameter.name, parameter.default) for parameter in algorithm.parameters}
