"""Messages of rtnetlink(7), as the guest sends them: devices, addresses, routes and disciplines without a process for each.

Numbers have the host's byte order, attributes are padded to four bytes (netlink(7)); names are those of the kernel's headers in
``include/uapi/linux``.
"""

import struct
from collections.abc import Iterable

#: Kinds of messages (rtnetlink.h).
NEW_LINK, NEW_ADDRESS, NEW_ROUTE, NEW_QDISC, NEW_CLASS, NEW_FILTER = 16, 20, 24, 36, 40, 44

#: Flags of messages (netlink.h): an answer is wanted always.
_REQUEST, _ACKNOWLEDGE = 0x1, 0x4
REPLACE, EXCLUSIVE, CREATE = 0x100, 0x200, 0x400

#: An attribute that has attributes.
NESTED = 0x8000

#: What a message says first: its length, kind, flags, number and sender.
_HEADER = struct.Struct("=IHHII")


def message(kind: int, flags: int, about: bytes, attributes: Iterable[bytes] = ()) -> bytes:
    """A message: what it is about, a structure of its kind, and its attributes."""
    content = padded(about) + b"".join(attributes)
    return _HEADER.pack(_HEADER.size + len(content), kind, _REQUEST | _ACKNOWLEDGE | flags, 0, 0) + content


def attribute(kind: int, content: bytes) -> bytes:
    """An attribute."""
    return padded(struct.pack("=HH", 4 + len(content), kind) + content)


def number(kind: int, value: int, layout: str = "I") -> bytes:
    """An attribute that is a number: of 32 bits unless another layout is named (see ``struct``)."""
    return attribute(kind, struct.pack(f"={layout}", value))


def text(kind: int, value: str) -> bytes:
    """An attribute that is a name."""
    return attribute(kind, value.encode() + b"\0")


def nested(kind: int, attributes: Iterable[bytes], first: bytes = b"") -> bytes:
    """An attribute of attributes, which may have a structure before them."""
    return attribute(kind | NESTED, padded(first) + b"".join(attributes))


def padded(content: bytes) -> bytes:
    """Content with zeroes up to a multiple of four bytes."""
    return content + bytes(-len(content) % 4)
