"""Speed: delivered data packets for each CPU second, in every cell of the study piotrowska with a single congestion control."""

import statistics
from operator import truediv

from sojourn.bench import piotrowska, speed
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target, geometric_mean, values
from sojourn.specification import RunSpecification, flow_count

CONTROLS = ["newreno", "cubic", "compound"]


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures the CPU time of each cell, the median of ``extent.repeat`` processes."""
    cells = piotrowska.cells({"tcp": CONTROLS})
    rows: list[Row] = []
    for axes in cells:
        notify(f"cells: {'/'.join(axes.values())}")
        rows.append({**axes, **_measured(piotrowska.specification(axes, extent.seconds), extent)})
    notify("cells: without queue statistics")
    # To measure their cost.
    bare = without_statistics(piotrowska.specification(piotrowska.FEW_FLOWS, extent.seconds))
    rows.append({**piotrowska.FEW_FLOWS, **_measured(bare, extent)})
    *speeds, speed_without = values(rows, "packets_per_cpu_second")
    *shares, share_without = values(rows, "share_of_bare_loop")
    few_flows = cells.index(piotrowska.FEW_FLOWS)
    # Targets are shares: speed is that of the machine, too.
    measured = (
        ("data centre, 9 New Reno, DropTail", speeds[few_flows], shares[few_flows], 0.8),
        ("without queue statistics", speed_without, share_without, 0.8),
        ("geometric mean", geometric_mean(speeds), geometric_mean(shares), 0.65),
        ("slowest cell", min(speeds), min(shares), 0.45),
    )
    loop = statistics.median(map(truediv, speeds, shares))
    return Part(
        title=f"Speed in {len(cells)} cells of the study piotrowska, the access link for ten times as long as the data centre",
        method=f"Delivered data packets of the run by the CPU time of a process of its own, medians of {extent.repeat}. "
        "The bare loop is timed after each process.",
        measurements=[
            *(Measurement(name, speed, "packets/CPU s") for name, speed, _, _ in measured),
            Measurement("bare loop", loop, "packets/CPU s"),
            *(
                Measurement(f"{name}, share", share, "of bare loop", Target("at least", least))
                for name, _, share, least in measured
            ),
        ],
        rows=rows,
    )


def without_statistics(specification: RunSpecification) -> RunSpecification:
    """The same run without queue statistics."""
    return {**specification, "probe": {**specification["probe"], "queue_statistics": False}}


def _measured(specification: RunSpecification, extent: Extent) -> Row:
    timings = [speed.timed(specification) for _ in range(extent.repeat)]
    return {
        "queue_statistics": "on" if specification["probe"]["queue_statistics"] else "off",
        "flows": flow_count(specification),
        "data_packets": timings[0].execution.data_packets,
        "cpu_seconds": statistics.median(each.execution.cpu_seconds[0] for each in timings),
        **speed.columns(specification, timings, extent),
    }
