"""The groups of flows of every cell: means over seeds with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sojourn.analysis import estimates
from sojourn.metrics import Metric, of_group
from sojourn.report import text
from sojourn.report.contents import Contents

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
    groups = contents.result.counted("groups")
    if estimates.one_group(groups):
        return None
    shown = [metric for metric in of_group() if metric.main_of_group]
    known = groups.select(pl.col(metric.name).is_not_null().any() for metric in shown).collect(engine="streaming").row(0)
    metrics = [metric for metric, is_known in zip(shown, known, strict=True) if is_known]
    by = [*contents.axes, "flow_group"]
    total = groups.select(by).unique().select(pl.len()).collect(engine="streaming").item()
    cells = contents.all_cells.lazy().select(list(contents.axes)).head(min(MOST_ROWS, len(contents.cells)))
    groups = groups.join(cells, on=list(contents.axes), how="semi", maintain_order="left")
    first = groups.group_by(*by).agg(pl.col("algorithm", "flow_count").first()).collect(engine="streaming")
    described = {tuple(labels): (algorithm, flows) for *labels, algorithm, flows in first.iter_rows()}
    by_cell: dict[tuple[str | None, ...], list[tuple[str, estimates.CellEstimates]]] = {}
    for (*labels, group), found in estimates.of_cells(groups, by, [metric.name for metric in metrics]).items():
        by_cell.setdefault(tuple(labels), []).append((str(group), found))
    axes = list(contents.varying)
    rows: list[Row] = []
    for cell in contents.cells:
        if len(rows) >= MOST_ROWS:
            break
        values = tuple(cell.axes.values())
        where = {axis: cell.axes[axis] for axis in axes}
        for group, found in by_cell[values]:
            name = ", ".join([*where.values(), group])
            entries = [text.entry(metric, found.measured[metric.name], name, found.seeds) for metric in metrics]
            rows.append(Row(list(where.values()), where, group, *described[*values, group], entries))
    return GroupTable(axes, metrics, rows, total)
