"""Speed of every congestion control, relative to New Reno's."""

from sojourn import catalogue
from sojourn.bench import piotrowska, process
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.specification import RunSpecification

#: All run in this cell, with the control in New Reno's place. Its round trips are short, so that all lose about as many packets:
#: the comparison is of the controls' work, not of the cost of their losses.
CELL = {"scenario": "DC", "load": "UC", "tcp": "newreno", "queue": "droptail"}

REFERENCE = "newreno"


def measure(extent: Extent, notify: Notify) -> Part:
    """Compares each control with New Reno in runs made in turn; a ratio is the median of ``extent.repeat``."""
    rows: list[Row] = []
    reference = piotrowska.specification(CELL, extent.seconds)
    for control in catalogue.load().congestion_controls:
        # A source that only sends has no work to compare: it receives nothing.
        if control.name == REFERENCE or control.one_way:
            continue
        run = controlled(reference, control.name)
        share = process.relative_speed(run, reference, extent, notify, f"controls: {control.name}")
        rows.append({"control": control.name, "share_of_new_renos_speed": share})
    slowest = min(rows, key=lambda row: float(row["share_of_new_renos_speed"]))
    return Part(
        name="controls",
        title="Speed of the congestion controls",
        method=(
            "Delivered data packets for each CPU second, in the study piotrowska's data centre with nine flows, as a share "
            f"of New Reno's, in processes made in turn; medians of {extent.repeat} shares."
        ),
        measurements=[
            Measurement(
                f"slowest: {slowest['control']}",
                float(slowest["share_of_new_renos_speed"]),
                "of New Reno's",
                Target("at least", 0.6),
            )
        ],
        rows=rows,
    )


def controlled(specification: RunSpecification, control: str) -> RunSpecification:
    """The same run with every flow under this congestion control, its parameters at their defaults."""
    source = {"name": control, "slow_start": "standard", "parameters": {}, "stack": 0}
    return {**specification, "flows": [{**flow, "source": source} for flow in specification["flows"]]}
