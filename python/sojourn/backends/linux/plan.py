"""A run as the guest takes it: a script that makes its network, and a plan of its flows and of what is measured."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sojourn import _engine, specification
from sojourn.backends.linux import algorithms, changes, interfaces, observing, programs, stack, topology, traffic, twins
from sojourn.backends.linux.algorithms import Added
from sojourn.backends.linux.answers import Answer
from sojourn.backends.linux.disciplines import Limit
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.topology import LinkDevices, Network, address, node
from sojourn.backends.linux.traffic import Flow
from sojourn.backends.linux.twins import Host
from sojourn.backends.linux.units import nanoseconds
from sojourn.errors import InputError
from sojourn.linux.source import OLDEST
from sojourn.scenario import chance
from sojourn.specification import RunSpecification

#: The guest's memory in MiB: what it may need at least, most of it for packets, then for each flow and for each node, whose taps
#: have 1 MiB each. 2000 flows between two hosts use 320 in all, 500 between 1000 hosts 1373. What is not used costs a sixtieth.
_LEAST_MEMORY, _MEMORY_OF_FLOW, _MEMORY_OF_NODE = 1024, 0.5, 1.5

#: Flows above so many have twice as much: 900 of Hybla, whose windows wait at their hosts, use 1584 MiB.
_MANY_FLOWS = 500


#: The least that IPv4 needs (RFC 791, section 3.2).
_LEAST_MTU = 68

#: Files of captured packets, of those that leave over a link and those that arrive over the link back.
SENT, ARRIVED = "capture-sent", "capture-arrived"

#: Settings of all hosts and routers. A timeout would change the hash that packets carry (sk_rethink_txhash), so that one
#: flow would be in two queues of a discipline; on a real path a router computes the hash itself, of the headers.
_OF_NODES = ("ipv4/ip_forward 1", "core/txrehash 0")

#: Settings of the kernel: bursts are not lost between two devices, and buffers of sockets never press.
_OF_KERNEL = ("core/netdev_max_backlog 10000000", "ipv4/tcp_mem 100000000 100000000 100000000")

#: A congestion control as the name of a module and its parameters by their paths.
Translate = Callable[[Mapping[str, Any]], tuple[str, dict[str, str]]]


@dataclass(frozen=True)
class Besides:
    """What a guest writes besides the result."""

    #: The link whose packets are captured.
    capture: int | None = None
    #: How often the states of connections are written, in ps.
    connections: int | None = None
    #: How often progress is reported, in ps.
    moments: int | None = None
    #: The program, by its number, that has a terminal.
    terminal: int | None = None


@dataclass(frozen=True)
class Plan:
    """Everything that a guest is given."""

    #: Files by their names.
    files: Mapping[str, str]
    #: In MiB.
    memory: int
    flows: tuple[Flow, ...]
    #: Links with a discipline, in the order in which the guest numbers them.
    queues: tuple[int, ...]
    #: Namespaces from which just one flow sends: what they count is what this flow did.
    single_senders: Mapping[int, str]
    #: What says when its flows have which connections or packets, and makes their transfers; none if it has nothing to say.
    generator: _engine.Generator | None
    #: Links into the run's folder: what its programs may see of the machine, by the links' names.
    seen: Mapping[str, str] = field(default_factory=dict)
    #: What its programs are called.
    programs: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer | None:
        """What the guest is answered, if it asks."""
        return self.generator.tell if self.generator is not None and any(flow.is_generated for flow in self.flows) else None


def plan(
    run: RunSpecification,
    limitations: Limitations,
    modules: Mapping[str, str] | None = None,
    besides: Besides = Besides(),
    *,
    version: tuple[int, ...] = OLDEST,
) -> Plan:
    """Translates a run for a kernel of a ``version`` with ``modules`` besides its own.

    What Linux does otherwise is noted in ``limitations``.

    Raises:
        Impossible: Linux cannot carry it out.
        InputError: nothing can.
    """
    links, started, places = run["links"], run.get("programs", []), run.get("places", {})
    programs.check_version(started, version)
    for state in ("queue_state", "flow_state"):
        if run["probe"].get(state):
            raise Impossible(f"probe.{state}", "the kernel tells no inner states; the simulator does")
    run = specification.simulated(run)
    flows = tuple(traffic.flows(run))
    with_programs = programs.with_routes(run, started)
    try:
        ways, most = _engine.layout(specification.text(with_programs))
    except _engine.SpecificationError as error:
        raise InputError(str(error)) from None
    limits = [Limit() if limit is None else Limit(**dict([limit])) for limit in most]
    added = Added(run.get("plugins", ()), modules or {}, version)
    translate = partial(algorithms.translate, limitations=limitations, added=added)
    paths = _paths(with_programs, ways)
    extra = extra_headers(run, flows)
    overhead = extra - topology.ETHERNET_HEADER
    sizes = [_packet_size(run, flow) - (0 if flow.is_tcp else extra) for flow in flows]
    mtu = max(_LEAST_MTU, *sizes, *([programs.MTU] if started else []))
    sent, answered = _tapped(flows)
    tcp = [flow for flow in flows if flow.is_tcp]
    longest = run["sender_overhead"]
    first_links: dict[int, int] = {}
    for ends, flow in sent:
        overhead_of_flow = longest if _stack(run, flow)[chance.SWITCH] else 0
        if first_links.setdefault(paths[ends][0], overhead_of_flow) != overhead_of_flow:
            raise Impossible(f"stack.{chance.SWITCH}", "a sender on Linux takes the same time over the packets of all its flows")
    last_links = {paths[ends][-1] for ends in answered}
    looked_at = programs.hosts(started)
    for index in observing.leaving(run, looked_at):
        first_links.setdefault(index, 0)
    hosts, spaces = _stacks(run, tcp, translate, added, limitations)
    nodes = tuple(node(index) for index in range(len(run["nodes"])))
    nodes += tuple(space for host in hosts.values() for space, _ in host.twins)
    network, devices = topology.build(links, nodes, mtu, overhead, first_links, limits, limitations, added, besides.capture)
    for host in hosts.values():
        twins.join(network, host, *twins.links_of(paths, host.index), devices, mtu)
    _addresses_and_routes(run, hosts, flows, paths, devices, network)
    if started:
        programs.add_second_protocol(network, run, paths, devices)
        programs.join_ways(network, run, started, devices)
    queues = tuple(index for index, link in enumerate(links) if link["queue"] is not None)
    seen = [f"sent {each.origin} {each.sees_all}" for each in (devices[index] for index in sorted(first_links))]
    seen += [f"received {each.target} {each.into}" for each in (devices[index] for index in sorted(last_links))]
    senders = _single_senders(tcp, spaces)
    schedule = changes.Schedule()
    for link, own in zip(links, devices, strict=True):
        changes.add(schedule, network, link, own, mtu, overhead, run["seed"], run["duration"])
    asked = run["probe"]["queue_statistics"] or run["probe"]["queue_series"] or besides.moments
    measured = queues if asked else ()
    lines = [
        f"duration {nanoseconds(run['duration'])}",
        f"warm_up {nanoseconds(run['warm_up'])}",
        *(f"{probe} {nanoseconds(run['probe'][probe])}" for probe in ("queue_series", "flow_series") if run["probe"][probe]),
        *_network(network),
        *_settings(hosts, nodes, tcp, translate),
        *programs.lines(run, started, besides.terminal),
        *(_flow(run, flow, spaces, extra, mtu, translate) for flow in flows),
        *(f"counters {space}" for space in senders.values()),
        *(_queue(number, devices[index], overhead) for number, index in enumerate(measured)),
        *(
            f"loses {number} {' '.join(map(str, place))}"
            for number, index in enumerate(measured)
            for place in devices[index].losing
        ),
        *seen,
        *observing.lines(run, looked_at, devices),
        *_besides(run, devices, besides),
        *schedule.lines,
    ]
    files = network.tables | {
        _batch(namespace): "".join(f"{line}\n" for line in commands) for namespace, commands in network.tc.items()
    }
    files |= programs.files(run, started)
    files["plan"] = "\n".join(lines) + "\n"
    memory = programs.MEMORY if started else 0
    shares = len(flows) + max(0, len(flows) - _MANY_FLOWS)
    memory += math.ceil(_LEAST_MEMORY + _MEMORY_OF_FLOW * shares + _MEMORY_OF_NODE * len(nodes))
    has_transfers = any(flow.is_generated or flow.entry["size"] is not None for flow in flows)
    generator = _engine.Generator(specification.text(run)) if has_transfers else None
    return Plan(files, memory, flows, measured, senders, generator, programs.seen(started, places), programs.called(started))


def _tapped(flows: tuple[Flow, ...]) -> tuple[list[tuple[tuple[int, int], Flow]], list[tuple[int, int]]]:
    """Between which hosts data go, each with a flow of theirs, and between which the acknowledgements: in sessions both ways."""
    sent = [(flow.ends, flow) for flow in flows] + [(flow.back, flow) for flow in flows if flow.is_tcp and flow.is_session]
    answered = [flow.back for flow in flows if flow.is_tcp] + [flow.ends for flow in flows if flow.is_tcp and flow.is_session]
    return sent, answered


def _paths(run: RunSpecification, ways: list[tuple[list[int], list[int]]]) -> dict[tuple[int, int], list[int]]:
    """The paths of all flows, and back of those that are answered."""
    found: dict[tuple[int, int], list[int]] = {}
    hops: dict[tuple[int, int], int] = {}
    for entry, (there, back) in zip(run["flows"], ways, strict=True):
        for origin, target, path in ((entry["from"], entry["to"], there), (entry["to"], entry["from"], back)):
            for index in path:
                if hops.setdefault((run["links"][index]["from"], target), index) != index:
                    names = f"{run['nodes'][origin]} to {run['nodes'][target]}"
                    raise Impossible("links", f"Linux routes by destination: the path from {names} leaves another on its way")
            if path:
                found[origin, target] = path
    return found


def extra_headers(run: RunSpecification, flows: tuple[Flow, ...]) -> int:
    """Bytes of headers that the specification counts and IP and TCP do not have."""
    sizes = {_stack(run, flow)["header_size"] for flow in flows if flow.is_tcp}
    if len(sizes) > 1:
        raise Impossible("stack.header_size", "a kernel counts the same headers for the packets of all flows")
    return int(next(iter(sizes), topology.INTERNET_HEADERS)) - topology.INTERNET_HEADERS


def _packet_size(run: RunSpecification, flow: Flow) -> int:
    if flow.is_tcp:
        return stack.packet_size(_stack(run, flow))
    return traffic.largest_packet(run, flow)


def _stack(run: RunSpecification, flow: Flow) -> Mapping[str, Any]:
    found: Mapping[str, Any] = run["stacks"][flow.entry["source"]["stack"]]
    return found


def _stacks(
    run: RunSpecification, tcp: list[Flow], translate: Translate, added: Added, limitations: Limitations
) -> tuple[dict[int, Host], dict[tuple[int, int], str]]:
    """The hosts with their stacks, and the namespace of each connection's end, by its flow and its host."""
    hosts: dict[int, Host] = {}
    spaces: dict[tuple[int, int], str] = {}
    for flow in tcp:
        module, _ = translate(flow.entry["source"])
        wishes = algorithms.wishes(flow.entry["source"], added)
        used = wishes.over(_stack(run, flow))
        sysctls = tuple(stack.sysctls(used, module, wishes, limitations, added.version).items())
        own = (sysctls, tuple(stack.route_options(used, limitations).items()))
        for host in flow.ends:
            spaces[flow.number, host] = hosts.setdefault(host, Host(host)).add(own, flow.number)
    return hosts, spaces


def _addresses_and_routes(
    run: RunSpecification,
    hosts: Mapping[int, Host],
    flows: tuple[Flow, ...],
    paths: Mapping[tuple[int, int], list[int]],
    devices: list[LinkDevices],
    network: Network,
) -> None:
    answered = {ends for flow in flows if flow.is_tcp for ends in (flow.ends, flow.back)}
    for index in range(len(run["nodes"])):
        twins_of_node = [space for space, _ in hosts[index].twins] if index in hosts else []
        for space in (node(index), *twins_of_node):
            network.send(space, "lo", interfaces.up(interfaces.LOOPBACK))
            network.send(space, "address", interfaces.address(address(index)))
    known: set[tuple[int, int]] = set()
    for (origin, target), path in paths.items():
        for place, index in enumerate(path):
            hop = run["links"][index]["from"]
            if place and (hop, target) in known:
                continue
            known.add((hop, target))
            # At its origin a route has what each of the host's stacks says.
            has_stacks = not place and (origin, target) in answered
            stacks = enumerate(hosts[origin].stacks) if has_stacks else ()
            spaces = {hosts[origin].space(number): dict(metrics) for number, (_, metrics) in stacks} or {node(hop): {}}
            for space, metrics in spaces.items():
                route = interfaces.route(address(target), network.number(devices[index].entry), address(hop), metrics)
                network.send(space, "route", route)


def _settings(hosts: Mapping[int, Host], nodes: tuple[str, ...], tcp: list[Flow], translate: Translate) -> Iterator[str]:
    """Lines for the sysctls of all hosts and the parameters of all modules."""
    known: dict[str, str] = {}
    for flow in tcp:
        module, parameters = translate(flow.entry["source"])
        for path, value in parameters.items():
            # Modules belong to the kernel: one value for all hosts.
            if known.setdefault(path, value) != value:
                raise Impossible("tcp", f"all flows with {module} on Linux have the same parameters")
    yield from (f"set {interfaces.INITIAL} /proc/sys/net/{setting}" for setting in _OF_KERNEL)
    for host in hosts.values():
        for place, (sysctls, _) in enumerate(host.stacks):
            yield from (f"set {host.space(place)} /proc/sys/net/ipv4/{name} {value}" for name, value in sysctls)
    yield from (f"set {nodes[0]} {path} {value}" for path, value in known.items())
    yield from (f"set {space} /proc/sys/net/{setting}" for space in nodes for setting in _OF_NODES)


def _flow(
    run: RunSpecification, flow: Flow, spaces: Mapping[tuple[int, int], str], extra: int, mtu: int, translate: Translate
) -> str:
    sender, receiver = flow.ends
    kinds = ("connections", "datagrams") if flow.is_generated else ("tcp", "udp")
    kind = kinds[0 if flow.is_tcp else 1]
    used_spaces = " ".join(spaces.get((flow.number, host), node(host)) for host in flow.ends)
    ends = f"{used_spaces} {address(sender)} {address(receiver)}"
    # The codepoint stands above the two bits of ECN (RFC 3168, section 5).
    tos = flow.entry.get("dscp", 0) << 2
    line = f"flow {kind} {ends} {flow.start} {0 if flow.is_generated else flow.stop} {tos}"
    if not flow.is_tcp and flow.is_generated:
        headers = traffic.UDP_HEADERS + extra
        traffic.check_packets(flow, headers)
        return f"{line} {headers}"
    if not flow.is_tcp:
        return f"{line} {traffic.cbr(run, flow, extra)}"
    used = _stack(run, flow)
    module, _ = translate(flow.entry["source"])
    own = stack.packet_size(used) - topology.INTERNET_HEADERS
    segment = 0 if own + topology.INTERNET_HEADERS == mtu else own
    paced = int(bool(used["pacing"]))
    reading_rate = int(used["reading_rate"]) // 8
    if flow.is_generated:
        return f"{line} {module} {segment} {paced} {int(flow.is_session)} {reading_rate}"
    return f"{line} {module} {flow.entry['size'] or 0} {segment} {paced} {reading_rate}"


def _queue(number: int, devices: LinkDevices, overhead: int) -> str:
    assert devices.wire is not None, "a link with a discipline has a wire"
    return f"queue {number} {devices.origin} {devices.out} {devices.mirror} {overhead} {' '.join(devices.wire)}"


def _besides(run: RunSpecification, devices: list[LinkDevices], besides: Besides) -> Iterator[str]:
    """Lines for what is written besides the result."""
    for name in ("connections", "moments"):
        interval = getattr(besides, name)
        if interval:
            yield f"{name} {max(nanoseconds(interval), 1)}"
    if besides.capture is not None:
        there = devices[besides.capture]
        # Behind the discipline, or before netem, which is queue, transmitter and wire in one.
        seen = there.out if run["links"][besides.capture]["queue"] is not None else there.mirror or there.out
        yield f"capture {SENT} {there.origin} {seen} 1"
        back = way_back(run, besides.capture)
        if back is not None:
            yield f"capture {ARRIVED} {devices[back].target} {devices[back].into} 0"


def way_back(run: RunSpecification, link: int) -> int | None:
    """The first link between the same nodes in the other direction."""
    ends = run["links"][link]["to"], run["links"][link]["from"]
    return next((index for index, back in enumerate(run["links"]) if (back["from"], back["to"]) == ends), None)


def _single_senders(tcp: list[Flow], spaces: Mapping[tuple[int, int], str]) -> dict[int, str]:
    """The namespace of each flow that is the only one to send from it; those of sessions send from both of their hosts."""
    senders: dict[str, list[Flow]] = {}
    for flow in tcp:
        for host in flow.ends if flow.is_session else flow.ends[:1]:
            senders.setdefault(spaces[flow.number, host], []).append(flow)
    return {flows[0].number: space for space, flows in senders.items() if len(flows) == 1 and not flows[0].is_session}


def _network(network: Network) -> Iterator[str]:
    """Lines for namespaces, for what is in them, and for what ``tc`` does."""
    yield from (f"namespace {name}" for name in network.namespaces)
    yield from network.messages
    yield from (f"tc {namespace} {_batch(namespace)}" for namespace in network.tc)


def _batch(namespace: str) -> str:
    """The file with a namespace's commands for ``tc``."""
    return f"{namespace}.tc"
