"""What a guest wrote, as frames.

Each line begins with what it is about. Numbers of the guest are in ns and bytes; what it did not see is not there, and is null.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.backends.linux import causes, outcomes
from sojourn.backends.linux.plan import Plan
from sojourn.backends.linux.traffic import Flow
from sojourn.backends.linux.units import NANOSECONDS, nanoseconds
from sojourn.backends.result import FLOW_SERIES, FLOWS, QUEUE_SERIES, QUEUES, TRANSFERS, RunResult, frame
from sojourn.specification import RunSpecification, link_name, mean_rate

#: Bins of times: bin 0 ends at a microsecond; each other one ends at this multiple of the end of the one before (queue.c).
FIRST_BIN, RATIO = 1000, 1.01

#: Window reductions that are counted for a host, in /proc/net/netstat (net/ipv4/proc.c).
TIMEOUTS = ("TCPTimeouts",)
FAST_RECOVERIES = ("TCPRenoRecovery", "TCPSackRecovery")

#: Microseconds in a second: the unit of tcpi_rwnd_limited and tcpi_sndbuf_limited (struct tcp_info of include/uapi/linux/tcp.h).
MICROSECONDS = 10**6

Values = dict[str, str]


@dataclass
class Records:
    """The lines of a result."""

    #: By kind and number, and where something is told at the ``start`` and the ``end`` of the window, by that.
    values: dict[tuple[str | int, ...], Values] = field(default_factory=dict)
    #: Of hosts, by their names and when.
    counters: dict[tuple[str, str], Values] = field(default_factory=dict)
    #: Packets by the bins of their times, by kind and number.
    bins: dict[tuple[str, int], dict[int, int]] = field(default_factory=dict)
    lost: Counter[int] = field(default_factory=Counter)
    queue_series: list[list[int]] = field(default_factory=list)
    flow_series: list[list[int]] = field(default_factory=list)


def records(text: str) -> Records:
    """Reads a result."""
    found = Records()
    names: list[str] = []
    for line in text.splitlines():
        kind, *words = line.split()
        match kind:
            case "flow" | "queue" | "delay" | "program":
                found.values[kind, int(words[0])] = pairs(words[1:])
            case "sender" | "receiver" | "discipline":
                found.values[kind, int(words[0]), words[1]] = pairs(words[2:])
            case "counters" if words[2] == "names":
                names = words[3:]
            case "counters":
                found.counters[words[0], words[1]] = dict(zip(names, words[3:], strict=True))
            case "sojourns" | "delays":
                found.bins.setdefault((kind, int(words[0])), {})[int(words[1])] = int(words[2])
            case "lost":
                found.lost[int(words[1])] += int(words[2])
            case "queue-at":
                found.queue_series.append([int(word) for word in words])
            case "flow-at-time":
                found.flow_series.append([int(word) for word in words])
    return found


def result(run: RunSpecification, plan: Plan, text: str, folder: Path) -> RunResult:
    """The frames of a run, of which its programs wrote files in a folder."""
    found = records(text)
    ended = {int(number): values for (kind, number, *_), values in found.values.items() if kind == "program"}
    generated = _generated(run, plan, found)
    flows = [_flow(run, plan, found, number) | generated.of(plan.flows[number]) for number in range(len(plan.flows))]
    measured = plan.queues if run["probe"]["queue_statistics"] else ()
    queues = [_queue(run, found, number, link) for number, link in enumerate(measured)]
    names = [link_name(run, run["links"][link]) for link in plan.queues]
    return RunResult(
        flows=frame(_columns(flows, FLOWS), FLOWS),
        queues=frame(_columns(queues, QUEUES), QUEUES),
        queue_series=frame(_queue_series(found, names, measured=bool(measured)), QUEUE_SERIES),
        flow_series=frame(_flow_series(found), FLOW_SERIES),
        transfers=generated.transfers(),
        events=_sum(found, "total_arrivals", "queue"),
        data_packets_delivered=_sum(found, "segments", "receiver", "end"),
        programs=outcomes.programs(run, ended, folder),
        files=outcomes.files(run, folder),
    )


@dataclass(frozen=True)
class Generated:
    """What the engine knows of a run's flows and transfers: see ``Plan.generator``."""

    frames: Mapping[str, Mapping[str, list[Any]]]

    def of(self, flow: Flow) -> dict[str, Any]:
        """What it knows better of a flow than the kernel."""
        if not self.frames:
            return {}
        row = {name: values[flow.number] for name, values in self.frames["flows"].items()}
        if not flow.is_generated:
            return {name: row[name] for name in _TRANSFERS}
        if flow.is_tcp:
            return {
                name: value
                for name, value in row.items()
                if name in (*_TRANSFERS, "start", "stopped") or name.startswith("video_")
            }
        return {name: value for name, value in row.items() if name not in _OF_KERNEL}

    def transfers(self) -> pl.DataFrame:
        """All transfers. Of connections that end Linux does not tell how often a timer expired."""
        if not self.frames:
            return TRANSFERS.to_frame()
        columns = dict(self.frames["transfers"])
        told = zip(columns["kind"], columns["timeouts"], strict=True)
        return frame({**columns, "timeouts": [None if kind == "transfer" else count for kind, count in told]}, TRANSFERS)


#: What the engine knows of any flow's transfers, and what the kernel knows better even of packets that the engine generates.
_TRANSFERS = ("transfers_completed", "transfers_unfinished", "transfers_open")
_OF_KERNEL = ("packets_dropped", "long_lived")


def _generated(run: RunSpecification, plan: Plan, found: Records) -> Generated:
    if plan.generator is None:
        return Generated({})
    for flow in plan.flows:
        if flow.is_tcp and not flow.is_generated and flow.entry["size"] is not None:
            seen = found.values["flow", flow.number]
            again = _difference(None, found.values.get(("sender", flow.number, "end")), "retransmissions") or 0
            completed = int(seen["completed"]) if "completed" in seen else None
            plan.generator.note_plain(flow.number, int(seen.get("start", flow.start)), completed, again)
    dropped = [found.lost[flow.number] for flow in plan.flows] if _sees_all_losses(run, plan) else None
    return Generated(plan.generator.finish(dropped))


def _sees_all_losses(run: RunSpecification, plan: Plan) -> bool:
    """Whether each packet that is lost is lost at a queue that is measured."""
    lossless = not any(
        link["loss"] or link["drop"] or "impairments" in link or any(change["loss"] for change in link["changes"])
        for link in run["links"]
    )
    return lossless and len(plan.queues) == sum(link["queue"] is not None for link in run["links"])


def _sum(found: Records, name: str, kind: str, *when: str) -> int:
    """The sum of one of the values over all flows or queues."""
    return sum(int(values[name]) for (of, _, *at), values in found.values.items() if of == kind and at == [*when])


def percentile(bins: Mapping[int, int], share: float) -> float | None:
    """The time (s) below which a share of the packets stayed: the upper end of its bin, which is 1 % wide."""
    total = sum(bins.values())
    seen = 0
    for number in sorted(bins):
        seen += bins[number]
        if seen >= share * total:
            return FIRST_BIN * RATIO**number / NANOSECONDS
    return None


def _columns(rows: list[dict[str, Any]], schema: Any) -> dict[str, list[Any]]:
    """What Linux does not tell is null."""
    return {name: [row.get(name) for row in rows] for name in schema}


def pairs(words: list[str]) -> Values:
    """Names, each before its value."""
    return dict(zip(words[::2], words[1::2], strict=True))


def seconds(values: Values, name: str) -> float | None:
    """One of the times, if it is there."""
    return int(values[name]) / NANOSECONDS if name in values else None


def _difference(before: Values | None, after: Values | None, name: str) -> int | None:
    if after is None or name not in after:
        return None
    return int(after[name]) - (int(before[name]) if before is not None and name in before else 0)


def _limited(before: Values | None, after: Values | None, name: str) -> float:
    """Seconds of one of the times of ``tcp_info``."""
    return (_difference(before, after, name) or 0) / MICROSECONDS


def _flow(run: RunSpecification, plan: Plan, found: Records, number: int) -> dict[str, Any]:
    flow = plan.flows[number]
    entry = flow.entry
    seen = found.values["flow", number]
    sender_before, sender = (found.values.get(("sender", number, when)) for when in ("start", "end"))
    receiver_before, receiver = (found.values.get(("receiver", number, when)) for when in ("start", "end"))
    unit, scale = ("bytes", 1) if flow.is_tcp else ("segments", entry["source"]["parameters"].get("packet_size", 0))
    completed, established = seconds(seen, "completed"), seconds(seen, "established")
    stopped = flow.stop / NANOSECONDS if flow.stop and completed is None else None
    return {
        "flow": number,
        "flow_group": entry["group"],
        "sender": run["nodes"][entry["from"]],
        "receiver": run["nodes"][entry["to"]],
        "algorithm": entry["source"]["name"],
        "start": seconds(seen, "start") if flow.is_tcp else flow.start / NANOSECONDS,
        "established": established,
        "completed": completed,
        "stopped": stopped,
        "aborted": _aborted(sender, established, completed, stopped) if flow.is_tcp and not flow.is_generated else None,
        "bytes_delivered": (_difference(receiver_before, receiver, unit) or 0) * scale,
        "total_bytes_delivered": (_difference(None, receiver, unit) or 0) * scale,
        "packets_dropped": found.lost[number] if _sees_all_losses(run, plan) else None,
        "segments_sent": _difference(sender_before, sender, "segments") or 0,
        "retransmissions": (_difference(sender_before, sender, "retransmissions") or 0) if flow.is_tcp else 0,
        "timeouts": _of_host(plan, found, number, TIMEOUTS),
        "fast_recoveries": _of_host(plan, found, number, FAST_RECOVERIES),
        "mark_reductions": None if flow.is_tcp else 0,
        "undone_reductions": None if flow.is_tcp else 0,
        **{name: _limited(sender_before, sender, name) if flow.is_tcp else None for name in ("rwnd_limited", "sndbuf_limited")},
        **delays(found.values.get(("delay", number)), found.bins.get(("delays", number), {})),
        "long_lived": flow.is_long_lived,
        **rtts(seen),
    }


def rtts(seen: Values) -> dict[str, Any]:
    """The RTT samples of a connection."""
    samples = int(seen["samples"])
    return {
        "rtt_samples": samples,
        "rtt_mean": float(seen["rtt_sum"]) / samples / NANOSECONDS if samples else None,
        "rtt_min": seconds(seen, "rtt_min"),
        "rtt_max": seconds(seen, "rtt_max"),
    }


def delays(seen: Values | None, bins: Mapping[int, int]) -> dict[str, Any]:
    """The one-way delays of a flow's packets; those of the scenario's connections are not measured."""
    if seen is None:
        return {"delay_samples": 0}
    samples, differences, longest = int(seen["samples"]), int(seen["differences"]), int(seen["max"]) / NANOSECONDS
    percentiles = {f"delay_p{percent}": percentile(bins, percent / 100) for percent in (50, 95, 99)}
    return {
        "delay_samples": samples,
        "delay_mean": float(seen["sum"]) / samples / NANOSECONDS,
        "delay_min": int(seen["min"]) / NANOSECONDS,
        **{name: None if value is None else min(value, longest) for name, value in percentiles.items()},
        "delay_max": longest,
        "jitter": float(seen["difference_sum"]) / differences / NANOSECONDS if differences else None,
    }


#: The state of a closed connection (include/net/tcp_states.h, TCP_CLOSE).
_CLOSED = "7"


def _aborted(sender: Values | None, established: float | None, completed: float | None, stopped: float | None) -> str | None:
    """Why a connection gave up, if it did: the kernel closed it, and nobody asked for that."""
    if stopped is not None or completed is not None or sender is None or sender["state"] != _CLOSED:
        return None
    return "syn_retries" if established is None else "data_retries"


def _of_host(plan: Plan, found: Records, number: int, names: tuple[str, ...]) -> int | None:
    """What a host counted in the window, if just one flow sends from it."""
    if not plan.flows[number].is_tcp:
        return 0
    space = plan.single_senders.get(number, "")
    before, after = (found.counters.get((space, when)) for when in ("start", "end"))
    counts = [_difference(before, after, name) for name in names]
    return None if None in counts else sum(count or 0 for count in counts)


def _queue(run: RunSpecification, found: Records, number: int, index: int) -> dict[str, Any]:
    link, seen = run["links"][index], found.values["queue", number]
    before, after = (found.values["discipline", number, when] for when in ("start", "end"))
    window = nanoseconds(run["duration"]) - nanoseconds(run["warm_up"])
    departures, samples = int(seen["departures"]), int(seen["samples"])
    bins = found.bins.get(("sojourns", number), {})
    mean = float(seen["packets"]) / samples if samples else None
    variance = float(seen["squares"]) / samples - mean**2 if mean is not None else None
    drops = int(after["drops"]) - int(before["drops"])
    at_start, at_end = causes.told(before["kind"], before["report"]), causes.told(after["kind"], after["report"])
    overflow = drops if at_end.everything_overflows else _gain(at_start.overflow, at_end.overflow)
    carried = mean_rate(link, run["warm_up"], run["duration"]) * window / NANOSECONDS / 8
    return {
        "link": link_name(run, link),
        "discipline": link["queue"]["name"],
        **{name: int(seen[name]) for name in ("arrivals", "departures", "bytes_sent", "total_arrivals", "total_departures")},
        "drops": drops,
        "drops_overflow": overflow,
        "drops_early": drops - overflow if overflow is not None else None,
        "total_link_losses": None if _loses_unseen(run, link) else int(seen["link_losses"]),
        "marks": _gain(at_start.marks, at_end.marks),
        "mean_packets": mean,
        "sd_packets": math.sqrt(max(variance, 0.0)) if variance is not None else None,
        "max_packets": int(seen["most"]) if samples else None,
        "mean_bytes": float(seen["bytes"]) / samples if samples else None,
        "sojourn_mean": float(seen["sojourn_sum"]) / departures / NANOSECONDS if departures else None,
        **{f"sojourn_p{percent}": percentile(bins, percent / 100) for percent in (50, 95, 99)},
        "sojourn_max": int(seen["sojourn_max"]) / NANOSECONDS if departures else None,
        # What a line adds to a packet depends on its size.
        "utilisation": None if "framing" in link else min(int(seen["bytes_sent"]) / carried, 1.0) if carried else 0.0,
        "total_drops": int(after["drops"]),
        "queued_at_end": int(after["packets"]),
    }


def _loses_unseen(run: RunSpecification, link: Mapping[str, Any]) -> bool:
    """Whether a link loses packets by plan that its own node sends: the kernel does not count them."""
    return link["drop"] is not None and any(flow["from"] == link["from"] for flow in run["flows"])


def _gain(before: int | None, after: int | None) -> int | None:
    return after - before if before is not None and after is not None else None


def _queue_series(found: Records, names: list[str], measured: bool) -> dict[str, list[Any]]:
    rows = found.queue_series
    return {
        "time": [row[0] / NANOSECONDS for row in rows],
        "link": [names[row[1]] for row in rows],
        "packets": [row[2] for row in rows],
        "bytes": [row[3] for row in rows],
        "drops": [row[4] if measured else None for row in rows],
    }


def _flow_series(found: Records) -> dict[str, list[Any]]:
    rows = found.flow_series
    return {
        "time": [row[0] / NANOSECONDS for row in rows],
        "flow": [row[1] for row in rows],
        "cwnd": [row[2] for row in rows],
        "ssthresh": [row[3] if row[3] >= 0 else None for row in rows],
        "rtt": [row[4] / NANOSECONDS if row[4] >= 0 else None for row in rows],
        "bytes_delivered": [row[5] for row in rows],
        "bytes_received": [None] * len(rows),
    }
