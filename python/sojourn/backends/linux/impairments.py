"""What happens to packets on a wire besides transmission and delay: a second netem, behind that of the link, and filters.

A policer is none of this: it stands before the queue (topology.py).

netem draws as the simulator does where its model is the same: the chain of Gilbert and Elliott loses a packet by the state that
the packet finds and then takes a step (net/sched/sch_netem.c, loss_gilb_ell), and its uniform delays are that.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sojourn.backends.linux.limits import Impossible
from sojourn.backends.linux.units import NANOSECONDS, nanoseconds

#: A distribution of delays for ``tc``, which reads it from the folder of a run.
EXPONENTIAL = "exponential"

#: netem multiplies a table's entries, 16 bits each, by the jitter and divides by this (NETEM_DIST_SCALE); the mean is 2.5 times
#: less than the jitter, so that the table holds up to ten times the mean.
_SCALE, _MEANS = 8192, 2.5
_ENTRIES, _LARGEST = 4096, 32767

#: The least delay with a table, in ns: ``tc`` takes none of 0, and older ones count in us.
_LEAST = 1000

#: The longest jitter, in ns (struct netem_sched_data, tabledist).
_LONGEST = 2**31 - 1

#: A rate at which nothing takes time: with a rate, netem keeps packets in order.
_AT_ONCE = 10**15

#: The largest number that ``tc`` takes for a chance of one in so many (tc/m_gact.c), and the most actions for one chance.
_MOST, _ACTIONS = 10_000, 4

#: Sizes of TCP's packets without data: headers of 40 bytes and options of up to 40; and bits that tell others apart.
_HEADERS, _DIGITS = range(40, 84, 4), 4


def is_on_wire(impairments: Mapping[str, Any]) -> bool:
    """Whether there is any besides a policer."""
    return any(value for name, value in impairments.items() if name != "policer")


def netem(impairments: Mapping[str, Any], room: int) -> str:
    """The second netem of a link, as ``tc`` takes it (tc-netem(8))."""
    words = [f"netem limit {room}", *_delay(impairments["jitter"])]
    bursts = impairments["burst_loss"]
    if bursts:
        chances = (bursts[name] for name in ("enter", "leave", "inside", "outside"))
        words.append("loss gemodel " + " ".join(_percent(chance) for chance in chances))
    if impairments["duplication"]:
        words.append(f"duplicate {_percent(impairments['duplication'])}")
    if impairments["slot"]:
        slot = f"{nanoseconds(impairments['slot']) / 1000:.3f}us"
        words.append(f"slot {slot} {slot}")
    return " ".join(words)


def _delay(jitter: Mapping[str, Any] | None) -> list[str]:
    if not jitter:
        return []
    mean = nanoseconds(jitter["mean"])
    is_uniform = jitter["distribution"] == "uniform"
    spread = mean if is_uniform else round(mean * _MEANS)
    if spread > _LONGEST:
        raise Impossible("impairments.jitter.mean", f"netem draws delays of up to {2 * _LONGEST / NANOSECONDS:.1f} s")
    least, table = (mean, "") if is_uniform else (_LEAST, f" distribution {EXPONENTIAL}")
    order = [] if jitter["reorders"] else [f"rate {_AT_ONCE}bit"]
    return [f"delay {least / 1000:.3f}us {spread / 1000:.3f}us{table}", *order]


def tables(impairments: Mapping[str, Any]) -> dict[str, str]:
    """The files of distributions that ``tc`` needs for a link."""
    jitter = impairments["jitter"]
    if not jitter or jitter["distribution"] != EXPONENTIAL:
        return {}
    # The quantiles in the middle of equal shares.
    quantiles = (-math.log((place + 0.5) / _ENTRIES) for place in range(_ENTRIES))
    entries = [min(round(quantile / _MEANS * _SCALE), _LARGEST) for quantile in quantiles]
    return {f"{EXPONENTIAL}.dist": "".join(f"{entry}\n" for entry in entries)}


def _percent(chance: float) -> str:
    return f"{100 * chance:.10g}%"


def bit_errors(device: str, ratio: float, mtu: int, extra: int) -> Iterator[str]:
    """Filters of a device that has a ``clsact``, which lose packets by their sizes.

    Sizes that are frequent are told exactly: those without data, and the largest. Others are told by their first digits.

    Args:
        device: the device.
        ratio: the share of bits that are wrong.
        mtu: the largest packet.
        extra: the bytes of a packet that IP does not have.
    """

    def lose(size: float, match: str) -> str:
        loss = -math.expm1(8 * (size + extra) * math.log1p(-ratio)) if ratio < 1 else 1.0
        return f"filter add dev {device} egress protocol ip prio 1 u32 match u16 {match} at 2 {' '.join(chance(loss))}"

    if not ratio:
        return
    for size in (*_HEADERS, mtu):
        yield lose(size, f"{size} 0xffff")
    for bits in range(_DIGITS + 1, 17):
        width = 1 << (bits - _DIGITS)
        for first in range(1 << (bits - 1), 1 << bits, width):
            if first <= mtu:
                yield lose(first + (width - 1) / 2, f"{first} {0x10000 - width:#x}")


def chance(probability: float) -> Iterator[str]:
    """Actions that lose a packet with a probability: ``tc`` takes chances of one in a whole number."""
    if probability * _MOST < 1:
        # One in so many gets as far as the second.
        first = min(max(math.ceil(1 / (probability * _MOST)), 1), _MOST)
        yield f"action ok random netrand pipe {first}"
        yield f"action ok random netrand drop {min(max(round(1 / (probability * first)), 1), _MOST)}"
        return
    for _ in range(_ACTIONS):
        one_in = max(math.ceil(1 / probability), 1)
        if one_in > _MOST:
            break
        yield f"action pipe random netrand drop {one_in}"
        if one_in == 1:
            break
        probability = 1 - (1 - probability) / (1 - 1 / one_in)
        if probability <= 0:
            break
    yield "action ok"
