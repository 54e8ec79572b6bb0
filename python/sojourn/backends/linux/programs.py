"""Programs of a run, as its guest takes them: what they see, their commands, and the network between their hosts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path

from sojourn import catalogue
from sojourn.backends.linux import interfaces, runaways, shaping
from sojourn.backends.linux.interfaces import second_address
from sojourn.backends.linux.limits import Impossible
from sojourn.backends.linux.topology import LinkDevices, Network, address, node
from sojourn.backends.linux.units import nanoseconds
from sojourn.linux import images
from sojourn.linux.cache import BUILD, SECCOMP
from sojourn.linux.source import RECOMMENDED
from sojourn.scenario.programs import IMAGE
from sojourn.specification import FOLDER, Json, RunSpecification

#: What programs need besides the guest itself, in MiB: their memory, and files that they write or that are read for them.
MEMORY = 2048

#: The largest packets of Ethernet, which programs expect.
MTU = 1500

#: What programs have in their environment. Nothing of the caller's is there.
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    # OpenSSL and BoringSSL do without the processor's own random numbers, RDRAND and RDSEED, which come from no seed
    # (OPENSSL_ia32cap(3)).
    "OPENSSL_ia32cap": "~0x4000000000000000:~0x40000",
}

#: The profile whose flow stands for what programs send: only its route matters.
_PROFILE, _CONTROL = "linux-6", "newreno"

#: The root of programs that have none of their own: the machine's file system.
MACHINE = "/"


def check_version(programs: Sequence[Json], version: tuple[int, ...]) -> None:
    """Checks that a kernel of a version can run programs: in earlier ones they are traced, which nobody has tried.

    Raises:
        Impossible: it cannot.
    """
    if programs and version < SECCOMP:
        told, least = (".".join(map(str, numbers)) for numbers in (version, SECCOMP))
        raise Impossible("programs", f"they need Linux {least} or later, not {told}: `{BUILD} {RECOMMENDED}` builds one")


def hosts(programs: Sequence[Json]) -> list[int]:
    """The hosts of programs, each once."""
    return sorted({program["host"] for program in programs})


def called(programs: Sequence[Json]) -> tuple[str, ...]:
    """What programs are called, in their order."""
    return tuple(program["name"] for program in programs)


def with_routes(run: RunSpecification, programs: Sequence[Json]) -> RunSpecification:
    """The run with a flow for each way between hosts of programs: they have its routes, and limits in BDP are of its RTT."""
    if not programs:
        return run
    known = catalogue.load()
    stack = known.profile(_PROFILE).settings_with(known.congestion_control(_CONTROL))
    source = {"name": _CONTROL, "slow_start": "standard", "parameters": {}, "stack": len(run["stacks"])}
    alike = {"count": 1, "group": "programs", "start": 0, "start_within": 0, "stop": None, "size": None, "source": source}
    ways = [{**alike, "from": origin, "to": target} for origin, target in permutations(hosts(programs), 2)]
    return {**run, "stacks": [*run["stacks"], stack], "flows": [*run["flows"], *ways]}


def add_second_protocol(
    network: Network, run: RunSpecification, paths: Mapping[tuple[int, int], list[int]], devices: Sequence[LinkDevices]
) -> None:
    """Addresses and routes of IPv6 beside those of IPv4."""
    for index in range(len(run["nodes"])):
        network.send(node(index), "address", interfaces.address(second_address(index)))
    known: set[tuple[int, int]] = set()
    for (_, target), path in paths.items():
        for index in path:
            hop = run["links"][index]["from"]
            if (hop, target) not in known:
                known.add((hop, target))
                device = network.number(devices[index].out)
                network.send(node(hop), "route", interfaces.route(second_address(target), device, second_address(hop), {}))


def join_ways(network: Network, run: RunSpecification, programs: Sequence[Json], devices: Sequence[LinkDevices]) -> None:
    """On hosts of programs, what comes from a neighbour comes in at the device that leads to it, as if both ways were one device.

    A program may answer over the device at which a question came (``IP_PKTINFO`` with ``ipi_ifindex``, ip(7)). Over the device of
    the other way the answer would reach the neighbour too, but without its host's link.
    """
    ways = {(link["from"], link["to"]): own for link, own in zip(run["links"], devices, strict=True)}
    for host in hosts(programs):
        for (origin, target), own in ways.items():
            back = ways.get((host, origin))
            if target == host and back is not None:
                into = network.number(own.into)
                network.let_filters(own.target, own.into)
                network.send(own.target, own.into, shaping.received(into, network.number(back.entry)))


def _roots(programs: Sequence[Json]) -> list[str | None]:
    return list(dict.fromkeys(program["root"] for program in programs))


def place(root: str | None, places: Mapping[str, str]) -> Path:
    """The folder of a program's root."""
    if root is None:
        return Path(MACHINE)
    return images.place(root) if root.startswith(IMAGE) else Path(places[root])


def seen(programs: Sequence[Json], places: Mapping[str, str]) -> dict[str, str]:
    """Links for the run's folder: the roots of programs and the scenario's folder."""
    if not programs:
        return {}
    return {f"root-{number}": str(place(root, places)) for number, root in enumerate(_roots(programs))} | {
        "scenario": places[FOLDER]
    }


def lines(run: RunSpecification, programs: Sequence[Json], terminal: int | None = None) -> Iterator[str]:
    """Lines of the guest's plan."""
    roots = _roots(programs)
    yield from (f"root {number}" for number in range(len(roots)))
    if programs:
        forwarding = "/proc/sys/net/ipv6/conf/all/forwarding 1"
        yield from (f"set {node(index)} {forwarding}" for index in range(len(run["nodes"])))
        allowed = "/proc/sys/net/ipv4/ping_group_range 0 2147483647"
        yield from (f"set {node(index)} {allowed}" for index in hosts(programs))
    for number, program in enumerate(programs):
        stop = run["duration"] if program["stop"] is None else program["stop"]
        root = roots.index(program["root"])
        times = " ".join(str(nanoseconds(time)) for time in (program["start"], stop, program["cpu"] or 0))
        yield f"program {number} {root} {node(program['host'])} {times}"
        if number == terminal:
            yield "terminal"
        yield from (f"keep {number} {pattern}" for pattern in program["keep"])
    if programs:
        yield "programs"


def files(run: RunSpecification, programs: Sequence[Json]) -> dict[str, str]:
    """Files for the guest: the names of hosts, and the words of each program."""
    if not programs:
        return {}
    words = ((index, name) for index, name in enumerate(run["nodes"]) if name.split() == [name])
    names = "".join(f"{address(index)}\t{name}\n{second_address(index)}\t{name}\n" for index, name in words)
    found = {"hosts": f"127.0.0.1\tlocalhost\n::1\tlocalhost\n{names}"}
    for number, program in enumerate(programs):
        environment = {**ENVIRONMENT, **program["environment"], runaways.VARIABLE: str(number)}
        command = program["command"]
        parts = [str(len(command)), *command, *(f"{name}={value}" for name, value in environment.items())]
        found[f"program-{number}"] = "".join(f"{word}\0" for word in parts)
    return found
