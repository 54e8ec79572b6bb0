"""What disciplines tell of their drops and marks beside the kernel's common counts: ours back from Linux's.

The reports are the structures of include/uapi/linux/pkt_sched.h in Linux 6.1, in hexadecimal digits as they came; later kernels
add at their ends.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Told:
    """What a discipline tells of itself, since it began; null where it does not tell."""

    #: Packets dropped because the queue was full.
    overflow: int | None = None
    marks: int | None = None
    #: Whether it never drops for another reason.
    everything_overflows: bool = False


def told(kind: str, report: str) -> Told:
    """Reads the report of a discipline of this kind of Linux's; ``-`` is none."""
    if kind not in _READERS:
        return Told()
    return _READERS[kind](b"" if report == "-" else bytes.fromhex(report))


def _numbers(report: bytes, count: int) -> tuple[int, ...]:
    return struct.unpack(f"={count}I", report[: 4 * count])


def _fifo(_: bytes) -> Told:
    return Told(marks=0, everything_overflows=True)


def _codel(report: bytes) -> Told:
    *_, overflow, marks, _, above_threshold = _numbers(report, 9)
    return Told(overflow, marks + above_threshold)


def _fq_codel(report: bytes) -> Told:
    _, _, overflow, marks, _, _, _, above_threshold, _, over_memory = _numbers(report, 10)
    return Told(overflow + over_memory, marks + above_threshold)


def _pie(report: bytes) -> Told:
    # A 64-bit probability comes first.
    *_, overflow, _, marks = _numbers(report[8:], 8)
    return Told(overflow, marks)


def _fq_pie(report: bytes) -> Told:
    _, _, overflow, over_memory, marks = _numbers(report, 5)
    return Told(overflow + over_memory, marks)


def _red(report: bytes) -> Told:
    _, overflow, _, marks = _numbers(report, 4)
    return Told(overflow, marks)


def _sfb(report: bytes) -> Told:
    _, _, _, overflow, _, marks = _numbers(report, 6)
    return Told(overflow, marks)


def _dualpi2(report: bytes) -> Told:
    # Marks of both queues, those of the L4S queue's threshold among them (struct tc_dualpi2_xstats of Linux 6.17).
    *_, marks = _numbers(report, 7)
    return Told(marks=marks)


#: Attributes of CAKE's report (TCA_CAKE_STATS_TIN_STATS, TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS).
_TINS, _MARKED = 10, 8


def _cake(report: bytes) -> Told:
    tins = [tin for number, tins in _attributes(report) if number == _TINS for _, tin in _attributes(tins)]
    marked = [content for tin in tins for number, content in _attributes(tin) if number == _MARKED]
    return Told(marks=sum(_numbers(content, 1)[0] for content in marked))


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


_READERS: dict[str, Callable[[bytes], Told]] = {
    "pfifo": _fifo,
    "bfifo": _fifo,
    "pfifo_head_drop": _fifo,
    "sfq": _fifo,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "fq_pie": _fq_pie,
    "red": _red,
    "choke": _red,
    "sfb": _sfb,
    "cake": _cake,
    "dualpi2": _dualpi2,
}
