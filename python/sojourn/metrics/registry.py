"""All metrics. Whatever computes, shows, compares or documents one reads its entry here; see docs/add-a-metric.md to add one.

Nothing heavy is imported: commands read this that compute nothing.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from sojourn.metrics import formulas, transfers, video
from sojourn.metrics.metric import MILLISECONDS, PERCENT, TIME_FLOOR, Better, Metric, Scope

if TYPE_CHECKING:
    from sojourn.metrics.formulas import Array
    from sojourn.metrics.observation import Arrays, Observation
    from sojourn.metrics.over_time import Samples

#: Throughputs agree with published ones within this part of the fair share.
FAIR_SHARE_FLOOR = 0.05

#: The intervals in which fairness is looked at, s, besides the whole measuring window.
TIME_SCALES = (0.1, 1.0)


def _of_flows(formula: "Callable[[Array], float | None]") -> "Callable[[Observation], float | None]":
    """A formula of the flows' throughputs; a group without flows has no value."""
    return lambda seen: formula(seen.flows["throughput"]) if len(seen.flows["throughput"]) else None


def _of_queue(value: Callable[[dict[str, Any]], float | None]) -> "Callable[[Observation], float | None]":
    """A value of the bottleneck's queue; a run without queues has none."""
    return lambda seen: None if seen.bottleneck is None else value(seen.bottleneck)


def _of_samples(flows: "Arrays", what: str) -> float | None:
    """The mean of all samples of the flows, which each have the same weight."""
    counts = flows[f"{what}_samples"]
    sampled = counts > 0
    sums = counts[sampled] * flows[f"{what}_mean"][sampled]
    return formulas.total(sums) / formulas.total(counts[sampled]) if sampled.any() else None


def _total(flows: "Arrays", column: str) -> float:
    return formulas.total(flows[column])


def _mean_of_known(column: str, over: str = "the flows that have one") -> dict[str, Any]:
    """What defines the mean of a column over the flows that have a value."""
    told = f"mean of `{column}` over {over}"
    return {"needs": column, "definition": told, "compute": lambda seen: formulas.of_known(formulas.mean, seen.flows[column])}


def _column_of_queue(column: str, more: str = "") -> dict[str, Any]:
    """What defines a value that is a column of ``queues``."""
    return {"definition": f"`{column}`{more}", "compute": _of_queue(lambda queue: queue[column])}


def _long_lived(seen: "Observation") -> "Array":
    """The throughputs of the long-lived flows."""
    throughputs: Array = seen.flows["throughput"][seen.flows["long_lived"]]
    return throughputs


def _fairness(seen: "Observation") -> float | None:
    rates = _long_lived(seen)
    return formulas.jain(rates) if len(rates) else None


def _share_of_link(seen: "Observation") -> float | None:
    rate = seen.bottleneck_mbps
    return None if rate is None else formulas.share(_total(seen.flows, "throughput"), rate)


def _in_percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _over_time(formula: "Callable[[Samples], float | None]") -> "Callable[[Observation], float | None]":
    """A formula of the throughputs of long-lived flows over time; there is no value without samples."""
    return lambda seen: None if seen.samples is None else formula(seen.samples.of(seen.flows["long_lived"]))


def _unheard(seen: "Observation") -> float | None:
    calls = seen.flows.of(seen.flows["late_packets"] == seen.flows["late_packets"])
    dropped = _total(calls, "packets_dropped")
    return formulas.percentage(dropped + _total(calls, "late_packets"), dropped + _total(calls, "delay_samples"))


def _responsiveness(seen: "Observation") -> float | None:
    separate = formulas.of_known(formulas.mean, seen.flows["rtt_trimmed"])
    if not separate:
        return None
    loaded = _of_samples(seen.flows.of(seen.flows["long_lived"]), "rtt")
    return (60 / separate + 60 / loaded) / 2 if loaded else 60 / separate


def _fairness_within(scale: float) -> Metric:
    name, told = (f"{scale:g}s", f"{scale:g} s") if scale >= 1 else (f"{1000 * scale:g}ms", f"{1000 * scale:g} ms")
    return Metric(
        name=f"jain_{name}",
        title=f"Jain's index within {told}",
        decimals=3,
        better=Better.MORE,
        figure=f"fairness-{name}",
        definition=(
            f"mean over intervals of {told} of Jain's index of the long-lived flows; null unless `flow_series` is at most {told}"
        ),
        source="Jain, Chiu and Hawe, DEC-TR-301, 1984; Koksal, Kassab and Balakrishnan, SIGMETRICS 2000: short-term fairness",
        needs="flow_series",
        compute=_over_time(lambda samples: samples.fairness(scale)),
        ends=(0, 1),
        bounds=(0, 1),
    )


def _rate_ratio(seen: "Observation") -> float | None:
    rates = _long_lived(seen)
    return float(rates.max() / rates.min()) if len(rates) > 1 and rates.min() > 0 else None


def _starved(seen: "Observation") -> float | None:
    rates = _long_lived(seen)
    return 100 * formulas.share_below(rates, formulas.STARVED * formulas.mean(rates)) if len(rates) > 1 else None


#: What throughputs have in common.
_throughput = partial(Metric, unit="Mbit/s", decimals=2, better=Better.MORE, fair_share_floor=FAIR_SHARE_FLOOR)

#: What times have in common that packets and hosts take.
_time = partial(Metric, unit="s", decimals=5, better=Better.LESS, display=MILLISECONDS, floor=TIME_FLOOR)

#: What shares have in common of which less is better, and those of a group in the whole.
_percentage = partial(Metric, unit="%", better=Better.LESS, bounds=(0, 100))
_group_share = partial(
    Metric, scope=Scope.GROUP, unit="%", decimals=1, main_of_group=True, floor=3.0, ends=(0, 100), bounds=(0, 100)
)

#: What scores of calls have in common.
_opinion = partial(Metric, decimals=2, better=Better.MORE, source="ITU-T G.107, annex B", ends=(1, 4.5), bounds=(1, 4.5))

#: What values of a queue have in common, and those that are packets.
_queue = partial(Metric, scope=Scope.QUEUE)
_queued = partial(_queue, unit="packets", decimals=1)

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        *(
            _throughput(
                name=f"{name}_mbps",
                title=title,
                figure=f"throughput-{name}",
                definition=f"p{percent} of x over flows",
                compute=_of_flows(partial(formulas.quantile, share=percent / 100)),
            )
            for name, percent, title in (
                ("q1", 25, "first quartile of throughput"),
                ("median", 50, "median throughput"),
                ("q3", 75, "third quartile of throughput"),
            )
        ),
        _throughput(
            name="avg_mbps",
            title="mean throughput",
            figure="throughput-mean",
            definition="mean of x over flows",
            compute=_of_flows(formulas.mean),
            main_of_group=True,
        ),
        _throughput(
            name="sd_mbps",
            title="standard deviation of throughput",
            better=None,
            figure="throughput-deviation",
            definition="sqrt(Σ (x - mean)² / (n - 1)); null for one flow",
            compute=_of_flows(formulas.standard_deviation),
        ),
        _throughput(
            name="total_mbps",
            title="total throughput",
            figure="throughput",
            definition="Σ x",
            compute=_of_flows(formulas.total),
            main=True,
            main_of_group=True,
        ),
        _group_share(
            name="share_pct",
            figure="share",
            title="share of all throughput",
            definition="100 Σ x over the group / Σ x over all flows",
            compute=lambda seen: formulas.percentage(_total(seen.flows, "throughput"), _total(seen.all_flows, "throughput")),
        ),
        _group_share(
            name="link_share_pct",
            figure="link-share",
            title="share of the bottleneck's rate",
            definition=(
                "100 Σ x over the group / `bottleneck_mbps`, whichever links the group uses, and at most 100, since data that "
                "waited for a gap before the window may be delivered in it; null without a bottleneck"
            ),
            compute=_share_of_link,
        ),
        Metric(
            name="jain",
            title="Jain's index of long-lived flows",
            decimals=2,
            better=Better.MORE,
            figure="fairness",
            definition=(
                "(Σ x)² / (n Σ x²), from 1/n to 1, over the n long-lived flows: those of unlimited demand that were there for "
                "the measuring window; 1 for one such flow, null without any or when all x are 0"
            ),
            source="Jain, Chiu and Hawe, DEC-TR-301, 1984",
            compute=_fairness,
            axis="Jain's index of long-lived flows (1: all equal)",
            main=True,
            main_of_group=True,
            floor=0.05,
            ends=(0, 1),
            bounds=(0, 1),
        ),
        _time(
            name="rtt_mean_s",
            title="mean round-trip time",
            figure="round-trip-time",
            definition=(
                "Σ `rtt_samples` · `rtt_mean` / Σ `rtt_samples` over flows: each sample has the same weight; null without samples"
            ),
            compute=lambda seen: _of_samples(seen.flows, "rtt"),
            main_of_group=True,
        ),
        _time(
            name="delay_mean_s",
            title="mean one-way delay",
            figure="delay-mean",
            definition=(
                "Σ `delay_samples` · `delay_mean` / Σ `delay_samples` over flows: each packet has the same weight; null without "
                "flows of `cbr` or `voice`"
            ),
            needs="delay_mean",
            compute=lambda seen: _of_samples(seen.flows, "delay"),
            main_of_group=True,
        ),
        _time(
            name="delay_p95_s",
            title="p95 one-way delay",
            figure="delay-p95",
            **_mean_of_known("delay_p95"),
        ),
        _time(
            name="delay_p99_s",
            title="p99 one-way delay",
            figure="delay-p99",
            **_mean_of_known("delay_p99"),
            main_of_group=True,
        ),
        _time(
            name="jitter_s",
            title="interarrival jitter",
            figure="jitter",
            source="RFC 3550, section 6.4.1",
            **_mean_of_known("jitter"),
            main_of_group=True,
        ),
        _time(
            name="startup_s",
            title="start-up time",
            figure="startup-time",
            definition="mean of `established` - `start` over TCP flows that have both: the handshake, with retries of lost SYNs",
            source="RFC 7928, section 2.2",
            compute=lambda seen: formulas.of_known(formulas.mean, seen.flows["established"] - seen.flows["start"]),
        ),
        _opinion(
            name="mos",
            title="mean opinion score of calls",
            **_mean_of_known("mos", "flows of `voice`"),
            axis="Mean opinion score (1: bad, 4.5: best)",
            main_of_group=True,
        ),
        _opinion(
            name="mos_least",
            title="opinion score of the worst call",
            definition="minimum of `mos` over flows of `voice`",
            needs="mos",
            compute=lambda seen: formulas.of_known(min, seen.flows["mos"]),
        ),
        _time(
            name="mouth_to_ear_s",
            title="mouth-to-ear delay",
            figure="mouth-to-ear",
            source="ITU-T G.114",
            **_mean_of_known("mouth_to_ear", "flows of `voice`"),
        ),
        _percentage(
            name="call_loss_pct",
            title="unheard packets of calls",
            decimals=2,
            figure="call-loss",
            definition=(
                "100 Σ (`packets_dropped` + `late_packets`) / Σ (`packets_dropped` + `delay_samples`) over flows of `voice`: "
                "packets that were lost, or came too late to be played"
            ),
            needs="late_packets",
            compute=_unheard,
        ),
        Metric(
            name="rpm",
            title="responsiveness",
            unit="1/min",
            decimals=0,
            better=Better.MORE,
            definition=(
                "round trips a minute: the mean of 60 / (mean of `rtt_trimmed` over flows of `ping`) and 60 / (`rtt_mean` of the "
                "long-lived flows, each sample with the same weight), or the former alone if there are none; null without `ping`"
            ),
            source="draft-ietf-ippm-responsiveness-08, section 5.3",
            needs="rtt_trimmed",
            compute=_responsiveness,
            axis="Responsiveness (round trips a minute)",
            main_of_group=True,
        ),
        Metric(
            name="convergence_s",
            title="convergence time",
            unit="s",
            decimals=1,
            better=Better.LESS,
            figure="convergence-time",
            definition=(
                "time from the latest start of a long-lived flow or change of a link to the end of the first second in which "
                "each long-lived flow has at least 0.9 of their mean throughput, over the whole run; null if there is none, for "
                "a single flow and without `flow_series`"
            ),
            source="RFC 5166: δ-fair convergence, after Bansal, Balakrishnan, Floyd and Shenker, SIGCOMM 2001; here δ = 0.1",
            needs="flow_series",
            compute=_over_time(lambda samples: samples.convergence()),
        ),
        Metric(
            name="instability",
            title="instability of throughput",
            decimals=3,
            better=Better.LESS,
            definition=(
                "mean over long-lived flows of the standard deviation of their throughputs in intervals of 1 s over the mean of "
                "these; null without `flow_series`"
            ),
            source="after the stability index of Jin, Wei and Low, FAST TCP, INFOCOM 2004, as it is cited",
            needs="flow_series",
            compute=_over_time(lambda samples: samples.instability()),
            axis="Instability (0: constant)",
        ),
        *map(_fairness_within, TIME_SCALES),
        Metric(
            name="rate_ratio",
            title="ratio of greatest to least throughput",
            decimals=2,
            definition=(
                "max x / min x over the long-lived flows; null with fewer than two, and if one got nothing, which "
                "`starved_pct` counts"
            ),
            source="Arun, Alizadeh and Balakrishnan, SIGCOMM 2022: a network is s-fair if it is below s",
            better=Better.LESS,
            compute=_rate_ratio,
            ends=(1, None),
            bounds=(1, None),
        ),
        _percentage(
            name="starved_pct",
            title="starved flows",
            decimals=1,
            figure="starved-flows",
            definition="share of the long-lived flows with x below a tenth of their mean; null with fewer than two",
            compute=_starved,
            ends=(0, 100),
        ),
        _percentage(
            name="starved_time_pct",
            title="time in starvation",
            decimals=1,
            figure="starved-time",
            definition=(
                "share of the intervals of 1 s, over all long-lived flows, in which one has less than a tenth of the mean of "
                "them in this interval; null with fewer than two and without `flow_series`"
            ),
            needs="flow_series",
            compute=lambda seen: _in_percent(_over_time(lambda samples: samples.starved_time())(seen)),
            ends=(0, 100),
        ),
        _percentage(
            name="retransmitted_pct",
            title="retransmission ratio",
            decimals=2,
            figure="retransmission-ratio",
            definition="100 Σ `retransmissions` / Σ `segments_sent` over flows; null when no segment was sent",
            compute=lambda seen: formulas.percentage(_total(seen.flows, "retransmissions"), _total(seen.flows, "segments_sent")),
            main_of_group=True,
            floor=0.1,
        ),
        Metric(
            name="retransmissions",
            title="retransmissions",
            unit="packets",
            decimals=1,
            figure="retransmission-count",
            definition="Σ `retransmissions` over flows",
            compute=lambda seen: formulas.count(seen.flows["retransmissions"]),
            floor=20.0,
        ),
        _percentage(
            name="loss_pct",
            title="loss ratio",
            decimals=2,
            figure="loss-ratio",
            definition=(
                "100 Σ `packets_dropped` / Σ `segments_sent` over flows, and at most 100, since what was sent before the window "
                "may be dropped in it; null when no segment was sent"
            ),
            compute=lambda seen: formulas.share(_total(seen.flows, "packets_dropped"), _total(seen.flows, "segments_sent")),
            main_of_group=True,
            floor=0.1,
        ),
        _queued(
            name="queue_mean_pkts",
            title="mean queue length",
            figure="queue-mean",
            **_column_of_queue("mean_packets"),
            floor=5.0,
        ),
        _queued(
            name="queue_sd_pkts",
            title="standard deviation of queue length",
            figure="queue-deviation",
            **_column_of_queue("sd_packets"),
            floor=10.0,
        ),
        _queue(
            name="drop_pct",
            title="drop ratio",
            unit="%",
            decimals=2,
            figure="drop-ratio",
            definition=(
                "100 `drops` / (`drops` + `departures`), the share of the packets that left the queue in the window; null "
                "without any"
            ),
            compute=_of_queue(lambda queue: formulas.percentage(queue["drops"], queue["drops"] + queue["departures"])),
            main=True,
            floor=0.1,
            bounds=(0, 100),
        ),
        _queued(
            name="drops",
            title="drops",
            **_column_of_queue("drops"),
            floor=20.0,
        ),
        _queued(
            name="drop_run_pkts",
            title="mean run of drops",
            decimals=2,
            figure="drop-run-mean",
            definition="`drops` / `drop_runs`; null without drops",
            compute=_of_queue(lambda queue: queue["drops"] / queue["drop_runs"] if queue["drop_runs"] else None),
            ends=(1, None),
            bounds=(1, None),
        ),
        _queued(
            name="drop_run_max_pkts",
            title="longest run of drops",
            decimals=0,
            figure="drop-run-longest",
            **_column_of_queue("drop_run_max"),
        ),
        _queue(
            name="loss_sync_pct",
            title="loss synchronisation",
            unit="%",
            decimals=1,
            figure="loss-synchronisation",
            definition=(
                "100 `loss_synchronisation`: the mean share of the long-lived flows that lose packets in a congestion epoch"
            ),
            source="RFC 7928, section 2.4; Hassayoun and Ros, INFOCOM Workshops 2008",
            compute=_of_queue(lambda queue: _in_percent(queue["loss_synchronisation"])),
            ends=(0, 100),
            bounds=(0, 100),
        ),
        _queue(
            name="utilisation",
            title="utilisation",
            decimals=4,
            **_column_of_queue("utilisation", ", from 0 to 1"),
            display=PERCENT,
            main=True,
            floor=0.03,
            ends=(50, 100),
            bounds=(0, 1),
        ),
        *(
            _time(
                name=f"sojourn_{name}_s",
                scope=Scope.QUEUE,
                title=f"{words} sojourn time",
                figure=f"sojourn-{words}",
                **_column_of_queue(f"sojourn_{name}"),
                main=True,
            )
            for name, words in (("mean", "mean"), ("p50", "median"), ("p99", "p99"))
        ),
        *transfers.metrics(),
        *video.METRICS,
    )
}


def of_run() -> list[Metric]:
    """The metrics that a whole run has, which are columns of ``runs``."""
    return [metric for metric in METRICS.values() if metric.of_run]


def of_group() -> list[Metric]:
    """The metrics that a group of flows has, which are columns of ``groups``."""
    return [metric for metric in METRICS.values() if metric.of_group]
