"""Growth: the cost of a packet with many more flows on a faster network."""

import statistics
from dataclasses import dataclass

from sojourn.bench import piotrowska, speed
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.specification import Json, RunSpecification, flow_count
from sojourn.units import PICOSECONDS

#: Flows start within this share of a run.
STARTING = 1 / 3

#: Calls of the smallest size in one process, so that it is measured about as long as the next one.
SMALL_CALLS = 10


@dataclass(frozen=True)
class Size:
    """Flows on a network ``factor`` times as fast as the cell's 1 Gbit/s, for ``seconds`` simulated seconds."""

    flows: int
    factor: int
    seconds: float
    target: Target | None = None


SMALL = Size(90, 1, 3.0)
LARGE = [
    Size(10_000, 10, 3.0, Target("at most", 1.3)),
    Size(100_000, 100, 3.0, Target("at most", 1.8)),
    Size(1_000, 100, 1.0),
]


def measure(extent: Extent, notify: Notify) -> Part:
    """Compares sizes in runs made in turn, since a machine's speed may change from one minute to the next.

    Each large run is compared with the small one just before it; a ratio is the median of ``extent.repeat``.
    """
    rows: list[Row] = []
    measurements: list[Measurement] = []
    small = derived(SMALL, extent.scale)
    for size in LARGE:
        large = derived(size, extent.scale)
        ratios: list[float] = []
        for turn in range(extent.repeat):
            notify(f"growth: {size.flows} flows, {turn + 1} of {extent.repeat}")
            reference, timed = speed.timed(small, SMALL_CALLS), speed.timed(large)
            ratios.append(timed.execution.cost / reference.execution.cost)
            rows += [_row(small, reference, 1.0, extent), _row(large, timed, ratios[-1], extent)]
        name = f"{size.flows:,} flows on {size.factor} Gbit/s"
        measurements.append(Measurement(name, statistics.median(ratios), "times 90 flows", size.target))
        if size.target is None:
            measurements.append(Measurement(f"{name}, delivered", timed.execution.data_packets, "packets"))
            measurements.append(Measurement(f"{name}, CPU time", timed.execution.cpu_seconds[0], "CPU s"))
    return Part(
        title="Cost of a packet by number of flows and rate",
        method=(
            "The cell DC/MC/newreno/droptail of the study piotrowska, all rates and queue limits multiplied, relative to the "
            f"cell itself with 90 flows on 1 Gbit/s. CPU time of processes made in turn; medians of {extent.repeat} ratios."
        ),
        measurements=measurements,
        rows=rows,
    )


def derived(size: Size, scale: float) -> RunSpecification:
    """The cell with this number of flows, and the rate of every link and the limit of every queue multiplied.

    Flows are spread evenly over the pairs of hosts; the first pairs have one more where there is a remainder. ``scale``
    multiplies the simulated time.
    """
    seconds = size.seconds * scale
    cell = piotrowska.specification(piotrowska.SOME_FLOWS, seconds)
    each, more = divmod(size.flows, len(cell["flows"]))
    starting = round(seconds * STARTING * PICOSECONDS)
    groups = [{**group, "count": each + (index < more), "start_within": starting} for index, group in enumerate(cell["flows"])]
    return {**cell, "links": [_multiplied(link, size.factor) for link in cell["links"]], "flows": groups}


def _multiplied(link: Json, factor: int) -> Json:
    queue = link["queue"]
    if queue is not None:
        queue = {**queue, "limit": {unit: amount * factor for unit, amount in queue["limit"].items()}}
    return {**link, "rate": link["rate"] * factor, "device_queue": link["device_queue"] * factor, "queue": queue}


def _row(specification: RunSpecification, timed: speed.Timed, ratio: float, extent: Extent) -> Row:
    return {
        "flows": flow_count(specification),
        "gigabits_per_second": specification["links"][0]["rate"] / 1e9,
        "simulated_seconds": specification["duration"] / PICOSECONDS,
        "data_packets": timed.execution.data_packets,
        "cpu_seconds": statistics.median(timed.execution.cpu_seconds),
        "nanoseconds_a_packet": timed.execution.cost * 1e9,
        "ratio": ratio,
        **speed.columns(specification, [timed], extent),
    }
