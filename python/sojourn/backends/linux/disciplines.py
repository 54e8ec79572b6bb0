"""Queue disciplines: our names and parameters as words of ``tc``.

What a discipline of Linux has fixed is noted as a limitation: it is refused if somebody set the parameter to something else.
Values and limits are those of Linux 6.1, net/sched, and of iproute2's tc.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn import _engine
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.units import microseconds, milliseconds

#: Packets and bytes of a queue without a limit: nothing fills it.
ENDLESS_PACKETS, ENDLESS_BYTES = 10_000_000, 2**31 - 1

#: SFB's lengths of bins are 16 bits, and its probabilities 16 bits after the point (net/sched/sch_sfb.c, struct sfb_bucket).
_SFB_MOST = 65535

#: SFQ's packets of a queue, and as many queues (net/sched/sch_sfq.c, SFQ_MAX_DEPTH).
_SFQ_MOST = 127

#: PIE's gains are sixteenths, up to 32 of them (tc-pie(8); net/sched/sch_pie.c, pie_change).
PIE_STEPS, PIE_MOST = 16, 32


@dataclass(frozen=True)
class Place:
    """Where a discipline is."""

    #: Of the link, in bit/s.
    rate: int
    #: The largest packet on the link's device, without the Ethernet header.
    mtu: int
    limitations: Limitations

    def note(self, parameter: str, reason: str) -> None:
        """Notes that Linux does not do what a parameter says."""
        self.limitations.note(f"queue.{parameter}", reason)


@dataclass(frozen=True)
class Limit:
    """A limit in packets or in bytes; neither is none."""

    packets: int | None = None
    bytes: int | None = None

    def in_packets(self, discipline: str) -> int:
        """The limit of a discipline that counts packets."""
        if self.bytes is not None:
            raise Impossible("queue.limit", f"{discipline} of Linux counts packets, not bytes")
        return ENDLESS_PACKETS if self.packets is None else self.packets

    def in_bytes(self, packet_size: int) -> int:
        """The limit of a discipline that counts bytes; packets are of this size."""
        if self.packets is not None:
            return self.packets * packet_size
        return ENDLESS_BYTES if self.bytes is None else self.bytes


Parameters = Mapping[str, Any]
Words = Callable[[Parameters, Limit, Place], list[object]]


def words(name: str, parameters: Parameters, limit: Limit, place: Place) -> str:
    """A discipline as ``tc qdisc add ...`` takes it, after the handle."""
    if name == "drr":
        # Each class has a queue of its own and nothing is common to all (net/sched/sch_drr.c, drr_enqueue).
        raise Impossible("queue.name", "DRR of Linux has a limit for each of its queues and none for all of them; sfq has one")
    if name not in DISCIPLINES:
        raise Impossible("queue.name", f"Linux has no {name} (it has {', '.join(DISCIPLINES)})")
    return " ".join(str(word) for word in DISCIPLINES[name](parameters, limit, place))


def below(name: str, limit: Limit) -> str | None:
    """What a discipline has in place of its own queue, as ``tc`` takes it: tbf's counts bytes."""
    return f"pfifo limit {limit.packets}" if name == "tbf" and limit.packets is not None else None


def fixed(place: Place, parameters: Parameters, name: str, *allowed: object, why: str) -> None:
    """Notes a parameter that Linux has a fixed value for, if it is another."""
    if parameters[name] not in allowed:
        place.note(name, why)


def _droptail(_: Parameters, limit: Limit, __: Place) -> list[object]:
    if limit.bytes is not None:
        return ["bfifo", "limit", limit.bytes]
    return ["pfifo", "limit", limit.in_packets("pfifo")]


def _drophead(_: Parameters, limit: Limit, __: Place) -> list[object]:
    return ["pfifo_head_drop", "limit", limit.in_packets("pfifo_head_drop")]


def _codel_settings(parameters: Parameters, place: Place) -> list[object]:
    fixed(place, parameters, "mtu", place.mtu, place.mtu + 14, why="Linux takes the device's MTU")
    fixed(place, parameters, "rules", "linux", why="CoDel of Linux has its own arithmetic")
    threshold = parameters["ce_threshold"]
    return [
        *("target", f"{microseconds(parameters['target'])}us", "interval", f"{microseconds(parameters['interval'])}us"),
        "ecn" if parameters["ecn"] else "noecn",
        *(("ce_threshold", f"{microseconds(threshold)}us") if threshold else ()),
    ]


def _codel(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    return ["codel", "limit", limit.in_packets("codel"), *_codel_settings(parameters, place)]


def _fq_codel(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    return [
        *("fq_codel", "limit", limit.in_packets("fq_codel"), "flows", parameters["queues"], "quantum", parameters["quantum"]),
        *("drop_batch", parameters["drop_batch"], "memory_limit", ENDLESS_BYTES),
        *_codel_settings(parameters, place),
    ]


def _pie_settings(parameters: Parameters, place: Place) -> list[object]:
    gains: list[object] = []
    for gain in ("alpha", "beta"):
        steps = parameters[gain] * PIE_STEPS
        if steps != round(steps) or not 0 <= steps <= PIE_MOST:
            place.note(gain, f"PIE's gains in Linux are sixteenths up to {PIE_MOST / PIE_STEPS:g}")
        gains += [gain, min(max(round(steps), 0), PIE_MOST)]
    fixed(place, parameters, "maximum_burst", 150 * 10**9, why="PIE of Linux lets bursts of 150 ms pass")
    fixed(place, parameters, "mean_packet_size", place.mtu, place.mtu + 14, why="PIE of Linux takes the device's MTU")
    fixed(place, parameters, "rules", "linux", why="PIE of Linux differs from RFC 8033 in details")
    fixed(place, parameters, "derandomise", True, why="PIE of Linux always avoids drops too close together or too far apart")
    fixed(place, parameters, "cap_adjustment", True, why="PIE of Linux always caps its adjustments")
    # tc rounds up to whole milliseconds what the kernel counts in ticks.
    return [
        *("target", f"{microseconds(parameters['target'])}us", "tupdate", f"{microseconds(parameters['update_interval'])}us"),
        *gains,
        "ecn" if parameters["ecn"] else "noecn",
    ]


def _pie(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    fixed(place, parameters, "scaling", "rfc8033", why="PIE of Linux scales its gains as RFC 8033 does")
    fixed(place, parameters, "high_delay", 250 * 10**9, why="PIE of Linux adds two points above 250 ms")
    fixed(place, parameters, "mark_threshold", 0.1, why="PIE of Linux marks below a drop probability of 0.1")
    fixed(place, parameters, "departure_threshold", 16384, why="PIE of Linux measures the departure rate over 16 KiB")
    measured = "dq_rate_estimator" if parameters["estimator"] == "departure_rate" else "no_dq_rate_estimator"
    return ["pie", "limit", limit.in_packets("pie"), *_pie_settings(parameters, place), measured]


def _fq_pie(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    percent = parameters["mark_threshold"] * 100
    if percent != round(percent):
        place.note("mark_threshold", "FQ-PIE of Linux takes whole percents")
    return [
        *("fq_pie", "limit", limit.in_packets("fq_pie"), "flows", parameters["queues"], "quantum", parameters["quantum"]),
        *("ecn_prob", round(percent), "memory_limit", ENDLESS_BYTES, *_pie_settings(parameters, place)),
    ]


def _logarithm(parameters: Parameters, place: Place, weight: float) -> int:
    """The logarithm of RED's weight, which Linux has as a power of two."""
    logarithm = -math.log2(weight)
    if parameters["weight"] and (logarithm != round(logarithm) or not 1 <= logarithm < 32):
        place.note("weight", "RED's weight in Linux is a power of two, such as 0.001953125")
    return min(max(round(logarithm), 1), 31)


def burst_of_weight(least: int, size: int, logarithm: int) -> int:
    """The ``burst`` for which tc finds this weight: the inverse of iproute2's tc/tc_red.c, tc_red_eval_ewma."""
    for burst in range(max(least // size, 1), 2**20):
        found = _weight_of_burst(least, burst, size)
        if found == logarithm:
            return burst
        if found is not None and found > logarithm:
            break
    raise Impossible("queue.weight", f"tc finds no burst for a weight of 2^-{logarithm} and a min of {least} bytes")


def _weight_of_burst(least: int, burst: int, size: int) -> int | None:
    target, weight = burst + 1 - least / size, 0.5
    if target < 1.0:
        return None
    for logarithm in range(1, 32):
        if target <= (1 - (1 - weight) ** burst) / weight:
            return logarithm
        weight /= 2
    return None


#: Bits of RED's average, in which a threshold has as many more as the weight's logarithm (include/net/red.h, red_check_params).
_RED_BITS = 31


def _red_settings(parameters: Parameters, place: Place, name: str, unit: int = 1) -> tuple[int, int, list[object]]:
    fixed(place, parameters, "gentle", False, why=f"{name} of Linux drops every packet above max")
    fixed(place, parameters, "wait", False, why=f"{name} of Linux does not wait between drops")
    fixed(place, parameters, "byte_mode", False, why=f"{name} of Linux drops packets of all sizes alike")
    *thresholds, weight = _engine.red_settings(json.dumps(parameters), place.rate)
    least, most = map(round, thresholds)
    size = parameters["mean_packet_size"]
    logarithm = _logarithm(parameters, place, weight)
    if round(most / unit).bit_length() + logarithm > _RED_BITS:
        said = f"{_RED_BITS} bits for its average: too few for a max of {most} bytes and a weight of 2^-{logarithm}"
        raise Impossible("queue.weight", f"{name} of Linux has {said}")
    burst = burst_of_weight(least, size, logarithm)
    settings: list[object] = ["burst", burst, "probability", parameters["maximum_probability"], "bandwidth", f"{place.rate}bit"]
    return least, most, [*settings, *(["ecn"] if parameters["ecn"] else [])]


def _red(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    fixed(place, parameters, "rules", "linux", why="RED of Linux has its own arithmetic")
    return _red_words(parameters, limit, place)


#: How RED of Linux adapts its probability (include/net/red.h, red_adaptative_algo).
_ADAPTATION = {"interval": 500 * 10**9, "alpha": 0.01, "beta": 0.9, "top": 0.5, "bottom": 0.01}


def _ared(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    for name, value in _ADAPTATION.items():
        fixed(place, parameters, name, value, why="RED of Linux adapts every 500 ms, by 0.01 or a tenth, between 0.01 and 0.5")
    own = {name: value for name, value in parameters.items() if name not in _ADAPTATION}
    return [*_red_words({**own, "rules": "linux"}, limit, place), "adaptive"]


def _red_words(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    fixed(place, parameters, "queue_in_bytes", True, why="RED of Linux measures the queue in bytes")
    least, most, settings = _red_settings(parameters, place, "RED")
    if parameters["ecn"] and parameters["hard_drop"]:
        settings.append("harddrop")
    size = parameters["mean_packet_size"]
    return ["red", "limit", limit.in_bytes(size), "min", least, "max", most, "avpkt", size, *settings]


def _clamped(place: Place, limit: int, most: int, discipline: str) -> int:
    """A limit in packets, which Linux cuts off."""
    if limit > most:
        place.note("limit", f"{discipline} of Linux has at most {most} packets")
    return min(limit, most)


def _choke(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    fixed(place, parameters, "rules", "linux", why="CHOKe of Linux has its own arithmetic")
    fixed(place, parameters, "queue_in_bytes", False, why="CHOKe of Linux measures the queue in packets")
    size = parameters["mean_packet_size"]
    least, most, settings = _red_settings(parameters, place, "CHOKe", size)
    if parameters["ecn"] and parameters["hard_drop"]:
        place.note("hard_drop", "CHOKe of tc marks packets above max")
    # tc-choke(8): limits are in packets; the kernel refuses more (net/sched/sch_choke.c, CHOKE_MAX_QUEUE).
    packets, maximum = _clamped(place, limit.in_packets("choke"), 65536, "CHOKe"), round(most / size)
    if packets <= maximum:
        # iproute2's tc/q_choke.c, choke_parse_opt.
        raise Impossible("queue.limit", f"CHOKe of tc has a limit above max, {maximum} packets")
    return ["choke", "limit", packets, "min", round(least / size), "max", maximum, *settings]


def _sfb(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    fixed(place, parameters, "ecn", True, why="SFB of Linux always marks packets that can be marked")
    for name in ("bin_size", "maximum"):
        if parameters[name] > _SFB_MOST:
            place.note(name, f"SFB of Linux counts up to {_SFB_MOST} packets in a bin")
    for name in ("increment", "decrement"):
        if 0 < parameters[name] < 1 / _SFB_MOST:
            place.note(name, f"SFB of Linux counts probabilities in steps of 1/{_SFB_MOST}")
    if parameters["penalty_rate"] != round(parameters["penalty_rate"]):
        place.note("penalty_rate", "SFB of Linux takes whole packets a second")
    return [
        *("sfb", "rehash", milliseconds(parameters["rehash_interval"]), "db", milliseconds(parameters["warmup_time"])),
        *("limit", limit.in_packets("sfb"), "max", parameters["maximum"], "target", parameters["bin_size"]),
        *("increment", f"{parameters['increment']:.6f}", "decrement", f"{parameters['decrement']:.6f}"),
        *("penalty_rate", round(parameters["penalty_rate"]), "penalty_burst", parameters["penalty_burst"]),
    ]


def _sfq(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    queues = parameters["queues"]
    if queues & (queues - 1):
        raise Impossible("queue.queues", "SFQ of Linux has a power of two of queues")
    period = parameters["perturbation"]
    if period % 10**12:
        raise Impossible("queue.perturbation", "SFQ of Linux takes whole seconds")
    if parameters["depth"] > _SFQ_MOST:
        place.note("depth", f"SFQ of Linux has at most {_SFQ_MOST} packets in a queue")
    depth = min(parameters["depth"], _SFQ_MOST)
    # net/sched/sch_sfq.c: at most depth times 127 flows, and SFQ_MAX_FLOWS is below 65536.
    packets = _clamped(place, limit.in_packets("sfq"), depth * _SFQ_MOST, "SFQ")
    return [
        *("sfq", "limit", packets, "depth", depth, "quantum", parameters["quantum"], "divisor", queues, "flows", _SFQ_MOST),
        *("perturb", period // 10**12),
    ]


def _tbf(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    if parameters["burst"] > ENDLESS_BYTES:
        place.note("burst", f"tbf of Linux holds at most {ENDLESS_BYTES} bytes")
    most = min(parameters["burst"], ENDLESS_BYTES)
    size = ENDLESS_BYTES if limit.packets is not None else limit.in_bytes(place.mtu)
    return ["tbf", "rate", f"{parameters['rate']}bit", "burst", most, "limit", size]


#: CAKE's names of what a link is shared between.
_ISOLATION = {
    "flows": "flows",
    "src_host": "srchost",
    "dst_host": "dsthost",
    "dual_src_host": "dual-srchost",
    "dual_dst_host": "dual-dsthost",
    "triple": "triple-isolate",
}


#: CAKE counts the memory of packets against its limit (net/sched/sch_cake.c, cake_enqueue, ``truesize``): what a packet
#: of 1500 bytes takes, and the most that can be told.
_MEMORY_OF_FULL, _FULL, _MOST_MEMORY = 2304, 1500, 2**32 - 1

#: CAKE's names of its ACK filters.
_ACK_FILTER = {"off": "no-ack-filter", "conservative": "ack-filter", "aggressive": "ack-filter-aggressive"}


def _cake(parameters: Parameters, limit: Limit, place: Place) -> list[object]:
    interval = parameters["interval"]
    # net/sched/sch_cake.c, cake_set_rate: tc has only the interval and takes a twentieth of it as the target.
    fixed(place, parameters, "target", interval // 20, why="CAKE of tc has a target of a twentieth of the interval")
    fixed(place, parameters, "ecn", True, why="CAKE of Linux always marks packets that can be marked")
    if limit.packets is not None:
        raise Impossible("queue.limit", "CAKE of Linux counts bytes, not packets")
    bandwidth = parameters["bandwidth"]
    return [
        "cake",
        *(("bandwidth", f"{bandwidth}bit") if bandwidth else ("unlimited",)),
        *(parameters["tins"], _ISOLATION[parameters["isolation"]]),
        # Raw: sizes are those of the specification already, without Ethernet's header (topology.py).
        *("raw", "overhead", parameters["overhead"], "mpu", parameters["mpu"], parameters["framing"]),
        *(("ingress",) if parameters["ingress"] else ()),
        *("rtt", f"{microseconds(interval)}us", "no-split-gso", _ACK_FILTER[parameters["ack_filter"]]),
        *(("memlimit", min(limit.bytes * _MEMORY_OF_FULL // _FULL, _MOST_MEMORY)) if limit.bytes is not None else ()),
    ]


#: What Linux has of the catalogue, by name.
DISCIPLINES: dict[str, Words] = {
    "droptail": _droptail,
    "drophead": _drophead,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "fq_pie": _fq_pie,
    "red": _red,
    "ared": _ared,
    "choke": _choke,
    "sfb": _sfb,
    "sfq": _sfq,
    "tbf": _tbf,
    "cake": _cake,
}
