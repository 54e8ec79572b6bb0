"""Speed of every queue discipline relative to DropTail's; of those with a queue for each flow also by the number of flows."""

from sojourn import catalogue
from sojourn.bench import piotrowska, speed
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.catalogue import Value
from sojourn.scenario import from_data
from sojourn.specification import Json, RunSpecification, specify

REFERENCE = "droptail"

#: What the rows call a discipline's speed.
SHARE = "share_of_droptails_speed"

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

    def share(name: str, run: RunSpecification, reference: RunSpecification, sources: str) -> float:
        found = speed.relative(run, reference, SHARE, extent, notify, f"queues: {name}, {sources}")
        rows.append({"queue": name, "sources": sources, **found})
        return float(found[SHARE])

    reference = piotrowska.specification(piotrowska.SOME_FLOWS, extent.seconds)
    disciplines = [discipline for discipline in catalogue.load().queues if discipline.name != REFERENCE]
    for name in (discipline.name for discipline in disciplines):
        share(name, queued(reference, name), reference, "90 New Reno")
    measurements = [speed.slowest(rows, "queue", SHARE, "of DropTail's")]
    for name in (discipline.name for discipline in disciplines if discipline.class_ == SCHEDULER):
        few, many = (
            share(name, unresponsive(name, flows, extent.scale), unresponsive(REFERENCE, flows, extent.scale), f"{flows} cbr")
            for flows in (FEW_FLOWS, MANY_FLOWS)
        )
        cost = f"{name}: cost with {MANY_FLOWS:,} flows"
        measurements.append(Measurement(cost, few / many, f"times {FEW_FLOWS} flows", Target("at most", 1.25)))
    return Part(
        title="Speed of the queue disciplines",
        method=(
            "Delivered data packets for each CPU second as a share of DropTail's, in processes made in turn; medians of "
            f"{extent.repeat} shares. In the study piotrowska's data centre with 90 New Reno flows; for disciplines with a queue "
            f"for each flow also with {FEW_FLOWS} and {MANY_FLOWS:,} sources that offer {LOAD:g} times the rate of the link."
        ),
        measurements=measurements,
        rows=rows,
    )


def queued(specification: RunSpecification, discipline: str) -> RunSpecification:
    """The same run with this discipline at the bottleneck, of the same limit and with its parameters at their defaults."""
    bottleneck, *others = specification["links"]
    queue: Json = {**bottleneck["queue"], "name": discipline, "parameters": SETTINGS.get(discipline, {})}
    return {**specification, "links": [{**bottleneck, "queue": queue}, *others]}


def unresponsive(discipline: str, flows: int, scale: float) -> RunSpecification:
    """Sources that send at random times, at a rate of 1.1 Gbit/s in all, over a link of 1 Gbit/s."""
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
