"""Speed: delivered data packets for each CPU second, on every cell of the study piotrowska that has one congestion control."""

import statistics

from sojourn.bench import piotrowska, process
from sojourn.bench.figures import Extent, Figure, Notify, Part, Row, Target, geometric_mean
from sojourn.specification import RunSpecification, flow_count

CONTROLS = ["newreno", "cubic", "compound"]

#: The cell that is also run without its queue's statistics, for what they cost.
WITHOUT_STATISTICS = {"scenario": "DC", "load": "UC", "tcp": "newreno", "queue": "droptail"}

UNIT = "packets / CPU s"


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures each cell by the median CPU time of ``extent.repeat`` processes.

    Raises:
        RunFailed: a cell's process failed.
    """
    cells = piotrowska.cells({"tcp": CONTROLS})
    rows: list[Row] = []
    for axes in cells:
        notify(f"cells: {'/'.join(axes.values())}")
        rows.append({**axes, **_measured(piotrowska.specification(axes, extent.seconds), extent.repeat)})
    notify("cells: without queue statistics")
    bare = without_statistics(piotrowska.specification(WITHOUT_STATISTICS, extent.seconds))
    without: Row = {**WITHOUT_STATISTICS, **_measured(bare, extent.repeat)}
    speeds = [float(row["packets_per_cpu_second"]) for row in rows]
    return Part(
        name="cells",
        title=f"Speed on {len(rows)} cells of the study piotrowska, the access link for ten times as long as the data centre",
        method=f"CPU time of a process of its own, the median of {extent.repeat}; delivered data packets over the whole run.",
        figures=[
            Figure("geometric mean", geometric_mean(speeds), UNIT, Target("at least", 4e6)),
            Figure("slowest cell", min(speeds), UNIT, Target("at least", 2.5e6)),
            Figure("without queue statistics", float(without["packets_per_cpu_second"]), UNIT, Target("at least", 5e6)),
        ],
        measurements=[*rows, without],
    )


def without_statistics(specification: RunSpecification) -> RunSpecification:
    """The same run, its queues not measured."""
    return {**specification, "probe": {**specification["probe"], "queue_statistics": False}}


def _measured(specification: RunSpecification, repeat: int) -> Row:
    measurements = [process.measure(specification) for _ in range(repeat)]
    cpu_seconds = statistics.median(measurement.cpu_seconds[0] for measurement in measurements)
    packets = measurements[0].data_packets
    return {
        "queue_statistics": "on" if specification["probe"]["queue_statistics"] else "off",
        "flows": flow_count(specification),
        "data_packets": packets,
        "cpu_seconds": cpu_seconds,
        "packets_per_cpu_second": packets / cpu_seconds,
    }
