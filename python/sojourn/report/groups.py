"""The groups of flows of every cell: means over seeds with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn.metrics import Metric, of_group
from sojourn.report import text
from sojourn.report.contents import Contents, over_seeds

#: Rows that a page shows at most.
MOST_ROWS = 300


@dataclass(frozen=True)
class Row:
    """A group of a cell."""

    labels: Sequence[str]
    where: Mapping[str, str]
    group: str
    algorithm: str
    flows: int
    entries: Sequence[text.Entry]


@dataclass(frozen=True)
class GroupTable:
    """All groups of all cells, or the first of many."""

    axes: Sequence[str]
    metrics: Sequence[Metric]
    rows: Sequence[Row]
    #: How many rows there are in all.
    total: int


def table(contents: Contents) -> GroupTable | None:
    """The table; none where no run has several groups."""
    metrics = [metric for metric in of_group() if metric.main_of_group]
    names = [metric.name for metric in metrics]
    columns = ["key", *contents.axes, "seed", "flow_group", "algorithm", "flow_count", *names]
    groups = contents.result.columns("groups", columns)
    if groups["key"].n_unique() == groups.height:
        return None
    by_cell = groups.partition_by(*contents.axes, as_dict=True)
    axes = list(contents.varying)
    rows: list[Row] = []
    total = 0
    for cell in contents.cells:
        of_cell = by_cell[tuple(cell.axes.values())]
        by_group = of_cell.partition_by("flow_group", as_dict=True, maintain_order=True)
        total += len(by_group)
        if total > MOST_ROWS:
            continue
        where = {axis: cell.axes[axis] for axis in axes}
        for (group,), runs in by_group.items():
            name = ", ".join([*where.values(), str(group)])
            entries = [text.entry(metric, over_seeds(runs[metric.name]), name, runs.height) for metric in metrics]
            first = runs.row(0, named=True)
            rows.append(Row(list(where.values()), where, str(group), first["algorithm"], first["flow_count"], entries))
    return GroupTable(axes, metrics, rows, total)
