"""Speed of every queue discipline relative to DropTail's; of those with a queue for each flow also by the number of flows."""

from sojourn import catalogue
from sojourn.bench import piotrowska, process
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.catalogue import Value
from sojourn.scenario import from_data
from sojourn.specification import Json, RunSpecification, specify

#: All run in this cell of 90 flows, with the discipline in DropTail's place.
CELL = {"scenario": "DC", "load": "MC", "tcp": "newreno", "queue": "droptail"}

REFERENCE = "droptail"

#: Parameters that a discipline needs at 1 Gbit/s.
SETTINGS: dict[str, dict[str, Value]] = {
    "tbf": {"rate": 10**9},
    "codel_static": {"hungriest": "n1-n4"},
    "apd_static": {"hungriest": "n1-n4"},
}

#: Disciplines of this class have a queue for each flow.
SCHEDULER = "scheduler"

FEW_FLOWS, MANY_FLOWS = 10, 10_000

#: Simulated seconds of a run of flows that send at fixed rates.
SECONDS = 2.0

#: What they offer, relative to the rate of the link.
LOAD = 1.1


def measure(extent: Extent, notify: Notify) -> Part:
    """Compares each discipline with DropTail in runs made in turn; a ratio is the median of ``extent.repeat``."""
    rows: list[Row] = []
    reference = piotrowska.specification(CELL, extent.seconds)
    disciplines = [discipline for discipline in catalogue.load().queues if discipline.name != REFERENCE]
    for discipline in disciplines:
        run = queued(reference, discipline.name)
        share = process.relative_speed(run, reference, extent, notify, f"queues: {discipline.name}")
        rows.append({"queue": discipline.name, "sources": "90 New Reno", "share_of_droptails_speed": share})
    measurements = [_slowest(rows)]
    for discipline in disciplines:
        if discipline.class_ != SCHEDULER:
            continue
        shares: list[float] = []
        for flows in (FEW_FLOWS, MANY_FLOWS):
            run, droptail = (unresponsive(name, flows, extent.scale) for name in (discipline.name, REFERENCE))
            what = f"queues: {discipline.name}, {flows} flows"
            shares.append(process.relative_speed(run, droptail, extent, notify, what))
            rows.append({"queue": discipline.name, "sources": f"{flows} cbr", "share_of_droptails_speed": shares[-1]})
        few, many = shares
        measurements.append(
            Measurement(
                f"{discipline.name}: cost with {MANY_FLOWS:,} flows",
                few / many,
                f"times {FEW_FLOWS} flows",
                Target("at most", 1.25),
            )
        )
    return Part(
        name="queues",
        title="Speed of the queue disciplines",
        method=(
            "Delivered data packets for each CPU second as a share of DropTail's, in processes made in turn; medians of "
            f"{extent.repeat} shares. In the study piotrowska's data centre with 90 New Reno flows; for disciplines with a queue "
            f"for each flow also with {FEW_FLOWS} and {MANY_FLOWS:,} sources that offer {LOAD:g} times the rate of the link."
        ),
        measurements=measurements,
        rows=rows,
    )


def _slowest(rows: list[Row]) -> Measurement:
    slowest = min(rows, key=lambda row: float(row["share_of_droptails_speed"]))
    share = float(slowest["share_of_droptails_speed"])
    return Measurement(f"slowest: {slowest['queue']}", share, "of DropTail's", Target("at least", 0.6))


def queued(specification: RunSpecification, discipline: str) -> RunSpecification:
    """The same run with this discipline at the bottleneck, of the same limit and with its parameters at their defaults."""
    bottleneck, *others = specification["links"]
    queue: Json = {**bottleneck["queue"], "name": discipline, "parameters": SETTINGS.get(discipline, {})}
    return {**specification, "links": [{**bottleneck, "queue": queue}, *others]}


def unresponsive(discipline: str, flows: int, scale: float) -> RunSpecification:
    """So many sources that send at random times, at a rate of 1.1 Gbit/s in all, over a link of 1 Gbit/s."""
    rate = f"{round(LOAD * 10**9 / flows)} bit/s"
    source = {"name": "cbr", "rate": rate, "packet_size": "1500 B", "poisson": True}
    queue = {"name": REFERENCE, "limit": "10000 packets"}
    data = {
        "name": "unresponsive",
        "duration": f"{round(SECONDS * scale * 10**6)} us",
        "sender_overhead": "0 s",
        "network": {"links": [{"from": "n1", "to": "n4", "rate": "1 Gbit/s", "delay": "1 ms", "queue": queue}]},
        "flows": [{"from": "n1", "to": "n4", "count": flows, "tcp": source, "start": "0 s"}],
    }
    return queued(specify(from_data(data, "bench"), 1), discipline)
