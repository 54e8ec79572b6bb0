"""Planned losses: filters before a queue that lose exactly the data packets that a scenario names.

The filters stand where packets leave for a device, before its queue. What carries no data passes them uncounted. The kernel's
action ``gact`` counts: with ``determ`` each n-th packet has another fate than the others (net/sched/act_gact.c, gact_determ).
A great number is a product: what one counter takes out, the next one counts. A listed packet is the first of the multiples of its
number: more counters in a row take out each second one of these.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sojourn.backends.linux.limits import Impossible

#: The largest number that ``tc`` takes (iproute2, tc/m_gact.c).
MOST = 10_000

#: Actions of one filter beside the first and the last (TCA_ACT_MAX_PRIO is 32): a listed packet's number, n, is lost again at
#: n * 2**30 or, with more counters for the number, n * 2**28, which no run reaches.
_HALVINGS, _COUNTERS = 30, 3

#: IPv4's header, and TCP's: its length in words of four bytes is the upper half of a byte (RFC 9293, section 3.1).
_INTERNET_HEADER, _LEAST_WORDS, _MOST_WORDS = 20, 5, 15


def filters(device: str, loss: Mapping[str, Any], seen_by: str | None, *, is_senders: bool) -> Iterator[str]:
    """The filters of a device, as commands of ``tc``, in the order in which packets meet them.

    Args:
        device: the device; it has a ``clsact``.
        loss: the specification's.
        seen_by: the device that has a copy of each packet that is not lost.
        is_senders: whether senders are at the same node. TCP learns of a packet that its own host drops, takes it for not sent
            and the queue for full (net/ipv4/tcp_output.c, __tcp_transmit_skb), but not of one that is trapped
            (net/core/dev.c, sch_handle_egress), which the kernel does not count.
    """
    passes = "" if seen_by is None else f"action mirred egress mirror dev {seen_by} "
    start = f"filter add dev {device} egress"
    lost = "trap" if is_senders else "drop"
    for words in range(_LEAST_WORDS, _MOST_WORDS + 1):
        length = f"match u16 {_INTERNET_HEADER + 4 * words} 0xffff at 2 match u8 {words << 4:#x} 0xf0 at 32"
        yield f"{start} protocol ip prio 2 u32 match ip protocol 6 0xff {length} {passes}action ok"
    every, listed = loss.get("every"), sorted(set(loss.get("listed") or ()))
    if every is not None:
        *others, last = _counters("drop.every", every)
        counted = "".join(f"action continue random determ pipe {number} " for number in others)
        yield f"{start} prio 3 matchall {counted}action continue random determ {lost} {last}"
    for place, number in enumerate(listed):
        # Packets that a filter before this one has lost do not reach it.
        counters = _counters("drop.listed", number - place)
        counted = "".join(f"action continue random determ pipe {counter} " for counter in counters)
        halvings = "action pipe random determ continue 2 " * (_HALVINGS + 1 - len(counters))
        yield f"{start} prio {3 + place} matchall {counted}{halvings}action {lost}"
    if seen_by is not None:
        yield f"{start} prio {3 + len(listed) + 1} matchall {passes}".rstrip()


def _counters(key: str, number: int) -> list[int]:
    """How far counters in a row count, whose product is a number."""
    found: list[int] = []
    left = number
    while left > MOST and len(found) < _COUNTERS - 1:
        found.append(next(part for part in range(MOST, 0, -1) if left % part == 0))
        left //= found[-1]
    if left > MOST:
        raise Impossible(key, f"tc counts to {MOST}, and to products of such numbers, but not to {number}")
    return [*found, left]
