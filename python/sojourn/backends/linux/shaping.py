"""Transmitters and wires of links, and where packets are copied or passed on, as messages for the guest.

The structures are those of the kernel's ``pkt_sched.h``, ``pkt_cls.h`` (``tc_police`` too) and ``tc_act/tc_mirred.h``.
"""

import math
import struct
from dataclasses import dataclass

from sojourn.backends.linux import netlink
from sojourn.backends.linux.netlink import attribute, nested, number, text

#: ``tcmsg``: family, device, handle, parent, and what more there is to say.
_ABOUT = struct.Struct("=B3xiIII")

_KIND, _OPTIONS, _STAB, _STAB_BASE = 1, 2, 8, 1

#: Handles: of the root's discipline, of its class with the link's rate, and of the discipline under test.
_ROOT, HANDLE, RATE_CLASS, DISCIPLINE = 0xFFFFFFFF, 0x10000, 0x10001, 0x100000

#: Of a link that is held up at times: the class above that with the discipline, and that of the packets that hold it up, which is
#: their priority too (net/sched/sch_htb.c, htb_classify). The latter is as good as endless.
ABOVE, HOLDING = 0x10002, 0x10003
_HOLDING_RATE, _HOLDING_BUCKET = 10**12, 10**7

#: Where filters stand: a device's way in and its way out.
_FILTERS, FILTERS, INGRESS, EGRESS = 0xFFFFFFF1, 0xFFFF0000, 0xFFFFFFF2, 0xFFFFFFF3

#: ``tc_htb_glob``, ``tc_ratespec`` and ``tc_htb_opt``, ``tc_sizespec``.
_HTB_GLOBAL, _RATE, _HTB, _SIZES = (struct.Struct(layout) for layout in ("=5I", "=BBHhHI", "=5I", "=BBhiIIII"))
_HTB_PARMS, _HTB_INIT, _HTB_RATE64, _HTB_CEIL64 = 1, 2, 6, 7
_HTB_VERSION, _HTB_QUANTUM_OF_RATE = 3, 10
_LINKLAYER_ETHERNET, _LINKLAYER_ATM = 1, 2

#: ``tc_netem_qopt``, ``tc_netem_rate``.
_NETEM, _NETEM_RATE = struct.Struct("=6I"), struct.Struct("=IiIi")
_NETEM_RATE_KIND, _NETEM_RATE64, _NETEM_LATENCY64, _NETEM_JITTER64 = 6, 8, 10, 11

#: ``tc_mirred``: its number, and what becomes of the packet, then what is done and to which device.
_MIRRED = struct.Struct("=IIiiiiI")
_MATCHALL_ACTIONS, _ACTION_KIND, _ACTION_OPTIONS, _MIRRED_PARMS = 2, 1, 2, 2
_CONTINUE, _DROP, _PIPE, _STOLEN = -1, 2, 3, 4
_REDIRECT, _MIRROR, _RECEIVE = 1, 2, 3
_ALL_PROTOCOLS = 0x0300

#: ``tc_police`` up to its rates: its number, what becomes of what does not conform, a limit, the bucket, the largest packet; and
#: what is behind the rates. A rate's table would tell the line's kind, which is told (net/sched/sch_api.c, qdisc_get_rtab).
_POLICE, _POLICE_REST, _TABLE, _CELL_LOG = struct.Struct("=IiIII"), bytes(12), bytes(1024), 3
_POLICE_PARMS, _POLICE_RATE, _POLICE_RESULT, _POLICE_RATE64 = 1, 2, 5, 8

#: Buckets are in units of 64 ns (net/sched/sch_api.c, psched_show): so many in a us, of which ``tc`` takes whole ones.
_MICROSECONDS, _TICKS = 10**6, 1 / 0.064
BUCKET_UNIT, LARGEST_BUCKET = 64, 2**32 - 1

#: A rate in bytes/s that is larger has an attribute of its own; a chance is a part of this.
_LARGEST = 2**32 - 1


#: Bytes of a cell of ATM: of the packet, and of its header.
_CELL, _CELL_HEADER = 48, 5


@dataclass(frozen=True)
class Line:
    """What a line adds to each packet below IP (scenarios.md, overhead and cells), but for PTM, which is taken off its rate."""

    #: Bytes of headers, and of the least packet, these included.
    overhead: int = 0
    least: int = 0
    has_cells: bool = False


PLAIN_LINE = Line()


@dataclass(frozen=True)
class Wire:
    """netem: a transmitter and a wire; times are in ns, the rate in bit/s, ``overhead`` in bytes of each packet."""

    limit: int
    delay: int
    jitter: int
    loss: float
    rate: int
    overhead: int
    has_cells: bool = False


def wire(device: int, made: Wire, *, is_new: bool) -> bytes:
    """Makes a device's netem, or changes it."""
    loss = round(made.loss * _LARGEST)
    rate, cells = max(made.rate // 8, 1), (_CELL, _CELL_HEADER) if made.has_cells else (0, 0)
    options = [
        *([number(_NETEM_RATE64, rate, "Q")] if rate > _LARGEST else []),
        attribute(_NETEM_RATE_KIND, _NETEM_RATE.pack(min(rate, _LARGEST), made.overhead, *cells)),
        number(_NETEM_LATENCY64, made.delay, "q"),
        number(_NETEM_JITTER64, made.jitter, "q"),
    ]
    return _qdisc(device, _ROOT, HANDLE, "netem", [_options(options, _NETEM.pack(0, made.limit, loss, 0, 0, 0))], is_new=is_new)


def transmitter(device: int, overhead: int) -> bytes:
    """Makes a device's HTB, which counts so many bytes more of each packet."""
    sizes = _SIZES.pack(0, 0, 0, overhead, _LINKLAYER_ETHERNET, 0, 0, 0)
    glob = attribute(_HTB_INIT, _HTB_GLOBAL.pack(_HTB_VERSION, _HTB_QUANTUM_OF_RATE, 1, 0, 0))
    attributes = [_options([glob]), nested(_STAB, [attribute(_STAB_BASE, sizes)])]
    return _qdisc(device, _ROOT, HANDLE, "htb", attributes, is_new=True)


def rate(
    device: int, bits: int, bucket: int, quantum: int, line: Line = PLAIN_LINE, *, is_new: bool, handle: int = RATE_CLASS
) -> bytes:
    """Makes the class with the rate of a device's HTB, in bit/s, and its bucket, in bytes; or changes it."""
    speed, ticks = _speed(bits), _ticks(bucket, bits)
    return _class(device, (handle, HANDLE), (speed, speed), (ticks, ticks), quantum, 0, line, is_new=is_new)


def borrowing(device: int, bits: int, bucket: int, quantum: int, line: Line = PLAIN_LINE, *, is_new: bool) -> bytes:
    """The same for a class below another, ``ABOVE``: it has next to no rate of its own, and lends up to so much."""
    buckets = int(_MICROSECONDS * _TICKS), _ticks(bucket, bits)
    return _class(device, (RATE_CLASS, ABOVE), (1, _speed(bits)), buckets, quantum, 1, line, is_new=is_new)


def holding(device: int, quantum: int) -> bytes:
    """The class of packets that hold the class above up: they pass at once, before others."""
    ticks = _ticks(_HOLDING_BUCKET, _HOLDING_RATE)
    speed = _speed(_HOLDING_RATE)
    return _class(device, (HOLDING, ABOVE), (speed, speed), (ticks, ticks), quantum, 0, PLAIN_LINE, is_new=True)


def _speed(bits: int) -> int:
    """A rate in bytes a second."""
    return max(bits // 8, 1)


def _ticks(bucket: int, bits: int) -> int:
    return int(bucket * _MICROSECONDS // _speed(bits) * _TICKS)


def _class(
    device: int,
    at: tuple[int, int],
    speeds: tuple[int, int],
    buckets: tuple[int, int],
    quantum: int,
    rank: int,
    line: Line,
    *,
    is_new: bool,
) -> bytes:
    """A class of HTB: its handle and the one above, what it has and what it lends, its buckets of both, and its rank."""
    layer = _LINKLAYER_ATM if line.has_cells else _LINKLAYER_ETHERNET
    own, most = (_RATE.pack(0, layer, line.overhead, -1, line.least, min(speed, _LARGEST)) for speed in speeds)
    kinds = zip((_HTB_RATE64, _HTB_CEIL64), speeds, strict=True)
    larger = [number(kind, speed, "Q") for kind, speed in kinds if speed > _LARGEST]
    options = [*larger, attribute(_HTB_PARMS, own + most + _HTB.pack(*buckets, quantum, 0, rank))]
    flags = netlink.CREATE | netlink.EXCLUSIVE if is_new else 0
    about = _ABOUT.pack(0, device, *at, 0)
    return netlink.message(netlink.NEW_CLASS, flags, about, [text(_KIND, "htb"), _options(options)])


def discipline(device: int, kind: str, options: bytes) -> bytes:
    """Makes a discipline below the rate, with attributes of its own."""
    return _qdisc(device, RATE_CLASS, DISCIPLINE, kind, [_options([options])] if options else [], is_new=True)


def filtered(device: int) -> bytes:
    """Lets filters stand on a device's ways in and out."""
    return _qdisc(device, _FILTERS, FILTERS, "clsact", [], is_new=True)


def passed_on(device: int, where: int, target: int, *, place: int = 1) -> bytes:
    """Each packet is sent over another device instead; the filter has this place among others."""
    return _mirred(device, where, _REDIRECT, _STOLEN, target, place)


def received(device: int, target: int) -> bytes:
    """Each packet that comes in at a device comes in at another instead, unless a filter for some has taken it before."""
    return _mirred(device, INGRESS, _RECEIVE, _STOLEN, target, place=2)


def copied(device: int, where: int, target: int, *, goes_on: bool = False) -> bytes:
    """Another device has a copy of each packet; filters after this one see it if it ``goes_on``."""
    return _mirred(device, where, _MIRROR, _CONTINUE if goes_on else _PIPE, target)


def policed(device: int, target: int, bits: int, burst: int, overhead: int) -> bytes:
    """Each packet that comes in at a device is sent over another, unless it does not conform: then it is dropped.

    At a device's way in, a packet has as many bytes as IP has (net/core/dev.c, sch_handle_ingress).

    Args:
        device: the number of the device.
        target: that of the other one.
        bits: the rate, in bit/s.
        burst: what the bucket holds, in bytes.
        overhead: bytes of a packet that IP does not have.
    """
    speed = _speed(bits)
    rate = _RATE.pack(_CELL_LOG, _LINKLAYER_ETHERNET, overhead, -1, 0, min(speed, _LARGEST))
    bucket = _POLICE.pack(0, _DROP, 0, bucket_of_policer(bits, burst), _LARGEST) + rate + bytes(_RATE.size) + _POLICE_REST
    parameters = [
        attribute(_POLICE_PARMS, bucket),
        attribute(_POLICE_RATE, _TABLE),
        number(_POLICE_RESULT, _PIPE),
        *([number(_POLICE_RATE64, speed, "Q")] if speed > _LARGEST else []),
    ]
    redirect = attribute(_MIRRED_PARMS, _MIRRED.pack(0, 0, _STOLEN, 0, 0, _REDIRECT, target))
    return _filter(device, INGRESS, 1, [("police", parameters), ("mirred", [redirect])])


def bucket_of_policer(bits: int, burst: int) -> int:
    """The bucket of a policer, in the kernel's units of 64 ns: no less than what it has to hold."""
    return math.ceil(burst * _MICROSECONDS / _speed(bits) * _TICKS)


def _mirred(device: int, where: int, what: int, fate: int, target: int, place: int = 1) -> bytes:
    parameters = attribute(_MIRRED_PARMS, _MIRRED.pack(0, 0, fate, 0, 0, what, target))
    return _filter(device, where, place, [("mirred", [parameters])])


def _filter(device: int, where: int, place: int, actions: list[tuple[str, list[bytes]]]) -> bytes:
    """A filter that all packets meet, at this place among others, with actions in a row: each a kind and its attributes."""
    numbered = [
        nested(order, [text(_ACTION_KIND, kind), nested(_ACTION_OPTIONS, attributes)])
        for order, (kind, attributes) in enumerate(actions, start=1)
    ]
    about = _ABOUT.pack(0, device, 0, where, place << 16 | _ALL_PROTOCOLS)
    attributes = [text(_KIND, "matchall"), _options([nested(_MATCHALL_ACTIONS, numbered)])]
    return netlink.message(netlink.NEW_FILTER, netlink.CREATE | netlink.EXCLUSIVE, about, attributes)


def _qdisc(device: int, parent: int, handle: int, kind: str, attributes: list[bytes], *, is_new: bool) -> bytes:
    flags = netlink.CREATE | netlink.EXCLUSIVE if is_new else 0
    about = _ABOUT.pack(0, device, handle, parent, 0)
    return netlink.message(netlink.NEW_QDISC, flags, about, [text(_KIND, kind), *attributes])


def _options(attributes: list[bytes], first: bytes = b"") -> bytes:
    return nested(_OPTIONS, attributes, first)
