"""What a guest captured at the near end of a link: packets as they were but for their ports, in order of time.

In the guest both ends of a flow have a port of its number, which may be some service's. Here they are those of the simulator's
captures: the sender's is one that nobody has registered (RFC 6335, section 6), the receiver's is discard. Of connections that
come and go the end that opens them keeps its port, which is below those of the other flows. Packets of programs are as they were.
"""

import struct
from collections.abc import Iterator
from heapq import merge
from operator import itemgetter
from pathlib import Path
from socket import inet_aton

from sojourn.backends.linux import traffic
from sojourn.backends.linux.plan import ARRIVED, SENT, extra_headers
from sojourn.backends.linux.topology import address
from sojourn.backends.linux.units import NANOSECONDS, nanoseconds
from sojourn.specification import RunSpecification, rate_steps, simulated

#: What comes before the bytes of a packet (capture.c): when (ns), its length, and how many bytes there are.
_RECORD = struct.Struct("=qII")

#: The sender's ports, one a flow, and the receiver's, and those above when they are used up (crates/pcapng).
_FIRST_PORT, _PORTS, _DISCARD = 49152, 65536 - 49152, 9

#: The guest's port of the first flow (guest.h), and where a packet has addresses and ports: none of a flow has options of IP's.
_GUESTS_FIRST_PORT, _SOURCE, _TARGET, _ENDS = 5000, slice(12, 16), slice(16, 20), slice(20, 24)

#: When (ns since the start), whether it leaves or arrives, its length, and its first bytes, from its IP header on.
Packet = tuple[int, bool, int, bytes]


def packets(run: RunSpecification, link: int, folder: Path) -> Iterator[Packet]:
    """The packets of flows and programs that a run's guest captured into a folder, up to the end of the run."""
    end = nanoseconds(run["duration"])
    both = merge(_sent(run, link, folder / SENT), _read(folder / ARRIVED, leaves=False), key=itemgetter(0))
    flows_of_run = tuple(traffic.flows(simulated(run)))
    senders = [inet_aton(address(flow.entry["from"])) for flow in flows_of_run]
    hosts = [{inet_aton(address(host)) for host in flow.ends} for flow in flows_of_run]
    has_programs = "programs" in run
    for time, leaves, length, content in both:
        if time >= end:
            return
        source, target = content[_ENDS][:2], content[_ENDS][2:]
        ports = [int.from_bytes(port) - _GUESTS_FIRST_PORT for port in (source, target)]
        flow = next((flow for flow in ports if 0 <= flow < len(senders)), None)
        # A program may have such a port too, but hardly between the same hosts.
        if has_programs and (flow is None or {content[_SOURCE], content[_TARGET]} != hosts[flow]):
            yield time, leaves, length, content
            continue
        if flow is None:
            continue
        if source == target:
            own = _ports(flow, content[_SOURCE] == senders[flow])
        else:
            own = _DISCARD.to_bytes(2) + target if flow == ports[0] else source + _DISCARD.to_bytes(2)
        yield time, leaves, length, content[: _ENDS.start] + own + content[_ENDS.stop :]


def _ports(flow: int, is_sent: bool) -> bytes:
    more, place = divmod(flow, _PORTS)
    ends = (_FIRST_PORT + place, _DISCARD + more)
    return b"".join(port.to_bytes(2) for port in (ends if is_sent else reversed(ends)))


def _read(path: Path, *, leaves: bool) -> Iterator[Packet]:
    if not path.exists():
        return
    with path.open("rb") as file:
        while head := file.read(_RECORD.size):
            time, length, captured = _RECORD.unpack(head)
            content = file.read(captured)
            # Before the run begins, the kernel looks for neighbours and routers of IPv6.
            if time >= 0:
                yield time, leaves, length, content


def _sent(run: RunSpecification, link: int, path: Path) -> Iterator[Packet]:
    """Packets that leave, each when its last bit has been sent: the guest saw them when the transmitter was to take them."""
    extra = extra_headers(run, tuple(traffic.flows(simulated(run))))
    # At a rate of 0 nothing leaves but what had begun to.
    rates = [(nanoseconds(at), rate) for at, rate in rate_steps(run["links"][link], run["duration"]) if rate]
    free = 0.0
    for time, leaves, length, content in _read(path, leaves=True):
        rate = next(rate for at, rate in reversed(rates) if at <= time)
        free = max(free, time) + 8 * (length + extra) * NANOSECONDS / rate
        yield int(free), leaves, length, content
