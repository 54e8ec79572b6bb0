"""Devices, addresses and routes of namespaces, as messages for the guest (if_link.h, if_addr.h and rtnetlink.h of the kernel)."""

import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sojourn.backends.linux import netlink
from sojourn.backends.linux.netlink import attribute, nested, number, text

#: Structures that messages are about: ``ifinfomsg``, ``ifaddrmsg``, ``rtmsg``.
_LINK, _ADDRESS, _ROUTE = struct.Struct("=BxHiII"), struct.Struct("=BBBBI"), struct.Struct("=BBBBBBBBI")

#: What the guest calls the namespace in which it starts.
INITIAL = "-"

#: The number of ``lo`` in each namespace, and the first that a device of ours may have.
LOOPBACK, FIRST = 1, 2

#: Descriptors under which the guest has its namespaces open: this and those after it, in the order of the plan.
FIRST_DESCRIPTOR = 64

_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MTU, _IFLA_LINKINFO, _IFLA_NET_NS_FD, _IFLA_GSO_MAX_SEGS = 1, 3, 4, 18, 28, 40
_IFLA_INFO_KIND, _IFLA_INFO_DATA, _VETH_INFO_PEER = 1, 2, 1
_IFF_UP, _IFF_NOARP = 0x1, 0x80
_IFA_ADDRESS, _IFA_LOCAL, _IFA_F_NODAD = 1, 2, 2
_RTA_DST, _RTA_OIF, _RTA_PREFSRC, _RTA_METRICS = 1, 4, 7, 8
_RT_TABLE_MAIN, _RTPROT_BOOT, _RT_SCOPE_LINK, _RTN_UNICAST = 254, 3, 253, 1

#: Metrics of a route, by the names of ip-route(8).
_METRICS = {"lock": 1, "initcwnd": 11, "rto_min": 13, "quickack": 15}


@dataclass(frozen=True)
class Device:
    """A device: its namespace, its number there, and its name."""

    namespace: str
    number: int
    name: str


def pair(one: Device, other: Device, there: int, hardware: bytes, mtu: int) -> bytes:
    """Makes a pair of devices; the other one is in the namespace whose descriptor is ``there``."""
    alike = [attribute(_IFLA_ADDRESS, hardware), number(_IFLA_MTU, mtu), number(_IFLA_GSO_MAX_SEGS, 1)]
    peer = [text(_IFLA_IFNAME, other.name), *alike, number(_IFLA_NET_NS_FD, there)]
    data = nested(_IFLA_INFO_DATA, [nested(_VETH_INFO_PEER, peer, _link(other.number))])
    return _new(one, [*alike, nested(_IFLA_LINKINFO, [text(_IFLA_INFO_KIND, "veth"), data])])


def dummy(device: Device, mtu: int) -> bytes:
    """Makes a device that takes packets, cuts what a program hands down in one buffer, and does nothing with them."""
    alike = [number(_IFLA_MTU, mtu), number(_IFLA_GSO_MAX_SEGS, 1)]
    return _new(device, [*alike, nested(_IFLA_LINKINFO, [text(_IFLA_INFO_KIND, "dummy")])])


def up(device: int) -> bytes:
    """Sets a device up; ``lo`` has no ARP anyway."""
    flags = _IFF_UP if device == LOOPBACK else _IFF_UP | _IFF_NOARP
    return netlink.message(netlink.NEW_LINK, 0, _link(device, flags, flags))


def second_address(node: int) -> str:
    """The address of IPv6 of a node, which only programs use (RFC 4193)."""
    return f"fd00::{node + 1:x}"


def _packed(address: str) -> tuple[int, int, bytes]:
    """An address's protocol, its bits, and itself."""
    if ":" in address:
        return socket.AF_INET6, 128, socket.inet_pton(socket.AF_INET6, address)
    return socket.AF_INET, 32, socket.inet_aton(address)


def address(own: str) -> bytes:
    """Gives a namespace its address."""
    protocol, bits, packed = _packed(own)
    # It is valid at once: nobody else can have it.
    about = _ADDRESS.pack(protocol, bits, _IFA_F_NODAD if protocol == socket.AF_INET6 else 0, 0, LOOPBACK)
    attributes = [attribute(_IFA_LOCAL, packed), attribute(_IFA_ADDRESS, packed)]
    return netlink.message(netlink.NEW_ADDRESS, netlink.CREATE | netlink.EXCLUSIVE, about, attributes)


def route(target: str, device: int, source: str, metrics: Mapping[str, int]) -> bytes:
    """A route to an address, with metrics of ip-route(8): TCP takes the least timeout of a route only if it is locked."""
    given = dict(metrics)
    if "rto_min" in given:
        given["lock"] = 1 << _METRICS["rto_min"]
    protocol, bits, packed = _packed(target)
    about = _ROUTE.pack(protocol, bits, 0, 0, _RT_TABLE_MAIN, _RTPROT_BOOT, _RT_SCOPE_LINK, _RTN_UNICAST, 0)
    attributes = [
        attribute(_RTA_DST, packed),
        number(_RTA_OIF, device),
        attribute(_RTA_PREFSRC, _packed(source)[2]),
        *([nested(_RTA_METRICS, _numbered(given))] if given else []),
    ]
    return netlink.message(netlink.NEW_ROUTE, netlink.CREATE | netlink.REPLACE, about, attributes)


def _numbered(metrics: Mapping[str, int]) -> Iterator[bytes]:
    for name, value in sorted(metrics.items(), key=lambda metric: _METRICS[metric[0]]):
        yield number(_METRICS[name], value)


def _new(device: Device, attributes: list[bytes]) -> bytes:
    about = _link(device.number)
    return netlink.message(
        netlink.NEW_LINK, netlink.CREATE | netlink.EXCLUSIVE, about, [text(_IFLA_IFNAME, device.name), *attributes]
    )


def _link(device: int, flags: int = 0, changed: int = 0) -> bytes:
    return _LINK.pack(socket.AF_UNSPEC, 0, device, flags, changed)
