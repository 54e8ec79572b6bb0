"""The flows of a run, one by one: who sends what to whom, from when to when."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn import _engine, specification
from sojourn.backends.linux import stack, topology
from sojourn.backends.linux.limits import Impossible
from sojourn.backends.linux.units import NANOSECONDS, nanoseconds
from sojourn.specification import RunSpecification

#: The headers of a packet of UDP, and the largest of its payloads.
UDP_HEADERS, LARGEST_PAYLOAD = 28, 65507

#: Flows have ports of their own.
MOST_FLOWS = 20_000

#: Sources of packets, without connections.
RATE_BASED = ("cbr", "voice", "ping", "tfrc")

#: The packets of calls on the link at most, with headers (crates/engine/src/traffic/voice).
_CALL_PACKET = 200

#: The number that each generated packet carries, in bytes (session.c).
_NUMBER = 4


@dataclass(frozen=True)
class Flow:
    """One flow of a run."""

    number: int
    #: Its entry in the specification.
    entry: Mapping[str, Any]
    #: In ns.
    start: int
    #: In ns; 0 if it does not stop.
    stop: int
    #: See the engine's ``long_lived``.
    is_long_lived: bool

    @property
    def ends(self) -> tuple[int, int]:
        """The host that sends and the one that receives."""
        return self.entry["from"], self.entry["to"]

    @property
    def back(self) -> tuple[int, int]:
        """The ends of what comes back."""
        return self.ends[::-1]

    @property
    def is_tcp(self) -> bool:
        """Whether it has a connection."""
        return self.entry["source"]["name"] not in RATE_BASED

    @property
    def is_session(self) -> bool:
        """Whether both ends of its connections write."""
        return "application" in self.entry

    @property
    def is_generated(self) -> bool:
        """Whether the engine says when it has which connections, or which packets (crates/engine/src/simulation/generator.rs)."""
        if self.is_tcp:
            return "arrivals" in self.entry or self.is_session
        return bool(self.entry["source"]["name"] != "cbr") or self.entry["size"] is not None


def flows(run: RunSpecification) -> Iterator[Flow]:
    """All flows in order of declaration, each with its own start, which is that of the simulator."""
    if sum(entry["count"] for entry in run["flows"]) > MOST_FLOWS:
        raise Impossible("count", f"at most {MOST_FLOWS} flows")
    written = specification.text(run)
    groups = zip(run["flows"], _engine.long_lived(written), strict=True)
    entries = (group for group in groups for _ in range(group[0]["count"]))
    for number, ((entry, is_long_lived), start) in enumerate(zip(entries, _engine.flow_starts(written), strict=True)):
        stop = 0 if entry["stop"] is None else nanoseconds(entry["stop"])
        yield Flow(number, entry, nanoseconds(start), stop, is_long_lived)


def cbr(run: RunSpecification, flow: Flow, extra_headers: int) -> str:
    """A constant-rate source as the guest takes it: payload, gap, and its randomness."""
    parameters = flow.entry["source"]["parameters"]
    payload = parameters["packet_size"] - UDP_HEADERS - extra_headers
    if not 0 <= payload <= LARGEST_PAYLOAD:
        raise Impossible("tcp.packet_size", f"a packet of UDP has from {UDP_HEADERS + extra_headers} bytes")
    gap = round(parameters["packet_size"] * 8 * NANOSECONDS / parameters["rate"])
    chance = _drawn(run["seed"], flow.number, "cbr")
    times = f"{nanoseconds(parameters['on'])} {nanoseconds(parameters['off'])} {int(parameters['exponential'])}"
    return f"{payload} {gap} {int(parameters['poisson'])} {times} {chance}"


def largest_packet(run: RunSpecification, flow: Flow) -> int:
    """The largest packet of a rate-based source on the link, with headers."""
    source = flow.entry["source"]
    match source["name"]:
        case "voice":
            return _CALL_PACKET
        case "ping":
            return max(int(source["parameters"][size]) for size in ("request_size", "answer_size"))
        case "tfrc":
            used = run["stacks"][source["stack"]]
            return stack.packet_size(used) - topology.INTERNET_HEADERS + int(used["header_size"])
    return int(source["parameters"]["packet_size"])


def check_packets(flow: Flow, headers: int) -> None:
    """Packets that the engine generates carry a number behind headers of so many bytes."""
    source = flow.entry["source"]
    for size in {"cbr": ("packet_size",), "ping": ("request_size", "answer_size")}.get(source["name"], ()):
        if not headers + _NUMBER <= source["parameters"][size] <= headers + LARGEST_PAYLOAD:
            raise Impossible(f"tcp.{size}", f"a packet of {source['name']} on Linux has from {headers + _NUMBER} bytes")


def _drawn(seed: int, flow: int, purpose: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed} {flow} {purpose}".encode(), digest_size=8).digest())
