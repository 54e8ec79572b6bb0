"""Speed: delivered data packets for each CPU second, on every cell of the study piotrowska that has one congestion control."""

import statistics

from sojourn.bench import piotrowska, process, yardstick
from sojourn.bench.figures import Extent, Figure, Notify, Part, Row, Target, geometric_mean
from sojourn.specification import RunSpecification, flow_count

CONTROLS = ["newreno", "cubic", "compound"]

#: The cell that is also run without its queue's statistics, for what they cost.
WITHOUT_STATISTICS = {"scenario": "DC", "load": "UC", "tcp": "newreno", "queue": "droptail"}

#: Packets for each CPU second that the cells should reach, all of them, each of them, and the one without statistics.
GEOMETRIC_MEAN, SLOWEST, WITHOUT = 4e6, 2.5e6, 5e6

UNIT = "packets / CPU s"

SHARE = "of the bare loop's speed"


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
    speeds, shares = [_speed(row) for row in rows], [_share(row) for row in rows]
    return Part(
        name="cells",
        title=f"Speed on {len(rows)} cells of the study piotrowska, the access link for ten times as long as the data centre",
        method=f"CPU time of a process of its own, the median of {extent.repeat}; delivered data packets over the whole run. "
        f"The bare loop, timed after each cell, gives {yardstick.KNOWN / 1e6:g} M where the targets were set.",
        figures=[
            Figure("geometric mean", geometric_mean(speeds), UNIT, Target("at least", GEOMETRIC_MEAN)),
            Figure("slowest cell", min(speeds), UNIT, Target("at least", SLOWEST)),
            Figure("without queue statistics", _speed(without), UNIT, Target("at least", WITHOUT)),
            Figure("bare loop", statistics.median(_speed(row) / _share(row) for row in rows), UNIT),
            Figure("geometric mean, share", geometric_mean(shares), SHARE, Target("at least", GEOMETRIC_MEAN / yardstick.KNOWN)),
            Figure("slowest cell, share", min(shares), SHARE, Target("at least", SLOWEST / yardstick.KNOWN)),
            Figure("without queue statistics, share", _share(without), SHARE, Target("at least", WITHOUT / yardstick.KNOWN)),
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
        "share_of_bare_loop": packets / cpu_seconds / yardstick.bare_loop(repeat),
    }


def _speed(row: Row) -> float:
    return float(row["packets_per_cpu_second"])


def _share(row: Row) -> float:
    return float(row["share_of_bare_loop"])
