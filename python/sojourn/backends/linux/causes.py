"""What disciplines tell of their drops and marks beside the kernel's common counts: ours back from Linux's.

The reports are the structures of include/uapi/linux/pkt_sched.h in Linux 6.1, in hexadecimal digits as they came; later kernels
add at their ends.
"""

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Told:
    """What a discipline tells of itself, since it began; null where it does not tell."""

    #: Packets dropped because the queue was full.
    overflow: int | None = None
    marks: int | None = None
    #: Whether it never drops for another reason.
    everything_overflows: bool = False


#: Disciplines that drop only when they are full and mark nothing.
_FIFOS = ("pfifo", "bfifo", "pfifo_head_drop", "sfq", "tbf")

#: The places, among the 32-bit numbers of a report, of drops for want of room and of marks; those of several reasons add up.
_PLACES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "codel": ((5,), (6, 8)),
    "fq_codel": ((2, 9), (3, 7)),
    "pie": ((7,), (9,)),
    "fq_pie": ((2, 3), (4,)),
    "red": ((1,), (3,)),
    "choke": ((1,), (3,)),
    "sfb": ((3,), (5,)),
    # Marks of both queues, those of the L4S queue's threshold among them (struct tc_dualpi2_xstats of Linux 6.17).
    "dualpi2": ((), (6,)),
}


def told(kind: str, report: str) -> Told:
    """Reads the report of a discipline of this kind of Linux's; ``-`` is none."""
    content = b"" if report == "-" else bytes.fromhex(report)
    if kind in _FIFOS:
        return Told(marks=0, everything_overflows=True)
    if kind == "cake":
        return Told(marks=_marked_by_cake(content))
    overflow, marks = (_total(content, places) for places in _PLACES.get(kind, ((), ())))
    return Told(overflow, marks)


def _total(report: bytes, places: tuple[int, ...]) -> int | None:
    return sum(struct.unpack_from("=I", report, 4 * place)[0] for place in places) if places else None


#: Attributes of CAKE's report (TCA_CAKE_STATS_TIN_STATS, TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS).
_TINS, _MARKED = 10, 8


def _marked_by_cake(report: bytes) -> int:
    tins = [tin for number, tins in _attributes(report) if number == _TINS for _, tin in _attributes(tins)]
    return sum(_total(content, (0,)) or 0 for tin in tins for number, content in _attributes(tin) if number == _MARKED)


def _attributes(content: bytes) -> list[tuple[int, bytes]]:
    """The attributes of netlink (netlink(7)): length, type, content, padding to four bytes."""
    found = []
    while len(content) >= 4:
        length, kind = struct.unpack("=HH", content[:4])
        if length < 4:
            break
        # The upper two bits are flags (NLA_TYPE_MASK).
        found.append((kind & 0x3FFF, content[4:length]))
        content = content[(length + 3) // 4 * 4 :]
    return found
