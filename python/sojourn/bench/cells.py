"""Speed: delivered data packets for each CPU second, in every cell of the study piotrowska with a single congestion control."""

import statistics
from operator import truediv

from sojourn.bench import piotrowska, process, yardstick
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target, geometric_mean, values
from sojourn.specification import RunSpecification, flow_count

CONTROLS = ["newreno", "cubic", "compound"]


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures the CPU time of each cell, the median of ``extent.repeat`` processes."""
    cells = piotrowska.cells({"tcp": CONTROLS})
    rows: list[Row] = []
    for axes in cells:
        notify(f"cells: {'/'.join(axes.values())}")
        rows.append({**axes, **_measured(piotrowska.specification(axes, extent.seconds), extent.repeat)})
    notify("cells: without queue statistics")
    # To measure their cost.
    bare = without_statistics(piotrowska.specification(piotrowska.FEW_FLOWS, extent.seconds))
    rows.append({**piotrowska.FEW_FLOWS, **_measured(bare, extent.repeat)})
    *speeds, speed_without = values(rows, "packets_per_cpu_second")
    *shares, share_without = values(rows, "share_of_bare_loop")
    # With targets in packets for each CPU second.
    measured = (
        ("geometric mean", geometric_mean(speeds), geometric_mean(shares), 4e6),
        ("slowest cell", min(speeds), min(shares), 2.5e6),
        ("without queue statistics", speed_without, share_without, 5e6),
    )
    loop = statistics.median(map(truediv, speeds, shares))
    return Part(
        title=f"Speed in {len(cells)} cells of the study piotrowska, the access link for ten times as long as the data centre",
        method=f"Delivered data packets of the run by the CPU time of a process of its own, medians of {extent.repeat}. "
        f"The bare loop, timed after each cell, delivers {yardstick.KNOWN / 1e6:g} M where the targets were set.",
        measurements=[
            *(Measurement(name, speed, "packets/CPU s", Target("at least", least)) for name, speed, _, least in measured),
            Measurement("bare loop", loop, "packets/CPU s"),
            *(
                Measurement(f"{name}, share", share, "of bare loop", Target("at least", least / yardstick.KNOWN))
                for name, _, share, least in measured
            ),
        ],
        rows=rows,
    )


def without_statistics(specification: RunSpecification) -> RunSpecification:
    """The same run without queue statistics."""
    return {**specification, "probe": {**specification["probe"], "queue_statistics": False}}


def _measured(specification: RunSpecification, repeat: int) -> Row:
    executions = [process.measure(specification) for _ in range(repeat)]
    cpu_seconds = statistics.median(execution.cpu_seconds[0] for execution in executions)
    packets = executions[0].data_packets
    return {
        "queue_statistics": "on" if specification["probe"]["queue_statistics"] else "off",
        "flows": flow_count(specification),
        "data_packets": packets,
        "cpu_seconds": cpu_seconds,
        "packets_per_cpu_second": packets / cpu_seconds,
        "share_of_bare_loop": packets / cpu_seconds / yardstick.bare_loop(repeat),
    }
