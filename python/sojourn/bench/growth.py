"""Growth: what a packet costs when there are many more flows on a faster network."""

import statistics
from dataclasses import dataclass

from sojourn.bench import piotrowska, process
from sojourn.bench.figures import Extent, Figure, Notify, Part, Row, Target
from sojourn.specification import Json, RunSpecification, flow_count
from sojourn.units import PICOSECONDS

#: All sizes are derived from this cell.
CELL = {"scenario": "DC", "load": "MC", "tcp": "newreno", "queue": "droptail"}

#: Flows start within this share of a run.
STARTING = 1 / 3

#: Calls of the smallest size in one process, so that it is measured about as long as the next one.
SMALL_CALLS = 10


@dataclass(frozen=True)
class Size:
    """So many flows on a network ``factor`` times as fast as the cell's 1 Gbit/s, for ``seconds`` simulated seconds."""

    flows: int
    factor: int
    seconds: float
    target: Target | None = None


SMALL = Size(90, 1, 3.0)
LARGE = [
    Size(10_000, 10, 3.0, Target("at most", 1.5)),
    Size(100_000, 100, 3.0, Target("at most", 4.0)),
    Size(1_000, 100, 1.0),
]


def measure(extent: Extent, notify: Notify) -> Part:
    """Compares sizes by runs made in turn, since a machine's speed may change from one minute to the next.

    Each large run is compared with the small one just before it; a ratio is the median of ``extent.repeat`` of these.

    Raises:
        RunFailed: a run failed.
    """
    rows: list[Row] = []
    figures: list[Figure] = []
    small = derived(SMALL, extent.scale)
    for size in LARGE:
        large = derived(size, extent.scale)
        ratios: list[float] = []
        for turn in range(extent.repeat):
            notify(f"growth: {size.flows} flows, {turn + 1} of {extent.repeat}")
            reference, measured = process.measure(small, SMALL_CALLS), process.measure(large)
            ratios.append(measured.cost / reference.cost)
            rows += [_row(small, reference, 1.0), _row(large, measured, ratios[-1])]
        name = f"{size.flows:,} flows on {size.factor} Gbit/s"
        figures.append(Figure(name, statistics.median(ratios), "times the cost of 90 on 1 Gbit/s", size.target))
        if size.target is None:
            figures.append(Figure(f"{name}, delivered", measured.data_packets, "packets"))
            figures.append(Figure(f"{name}, CPU time", measured.cpu_seconds[0], "CPU s"))
    return Part(
        name="growth",
        title="Cost of a packet by number of flows and rate",
        method=(
            "The cell DC/MC/newreno/droptail of the study piotrowska, all rates and queue limits multiplied. CPU time of "
            f"processes made in turn, small before large; medians of {extent.repeat} ratios."
        ),
        figures=figures,
        measurements=rows,
    )


def derived(size: Size, scale: float) -> RunSpecification:
    """The cell with so many flows, the rate of every link and the packets of every queue multiplied.

    Flows are spread evenly over the pairs of hosts, the first pairs having one more where it does not come out even. ``scale``
    multiplies the simulated time.
    """
    seconds = size.seconds * scale
    cell = piotrowska.specification(CELL, seconds)
    each, more = divmod(size.flows, len(cell["flows"]))
    starting = round(seconds * STARTING * PICOSECONDS)
    groups = [{**group, "count": each + (index < more), "start_within": starting} for index, group in enumerate(cell["flows"])]
    return {**cell, "links": [_multiplied(link, size.factor) for link in cell["links"]], "flows": groups}


def _multiplied(link: Json, factor: int) -> Json:
    queue = link["queue"]
    if queue is not None:
        queue = {**queue, "limit": {unit: amount * factor for unit, amount in queue["limit"].items()}}
    return {**link, "rate": link["rate"] * factor, "device_queue": link["device_queue"] * factor, "queue": queue}


def _row(specification: RunSpecification, measured: process.Measurement, ratio: float) -> Row:
    return {
        "flows": flow_count(specification),
        "gigabits_per_second": specification["links"][0]["rate"] / 1e9,
        "simulated_seconds": specification["duration"] / PICOSECONDS,
        "data_packets": measured.data_packets,
        "cpu_seconds": statistics.median(measured.cpu_seconds),
        "nanoseconds_a_packet": measured.cost * 1e9,
        "ratio": ratio,
    }
