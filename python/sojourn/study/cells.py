"""Published figures beside our own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from sojourn import metrics
from sojourn.metrics import METRICS, Observation
from sojourn.results import Result
from sojourn.statistics import Estimate, estimate
from sojourn.store import write_whole
from sojourn.study.agreement import agrees
from sojourn.study.design import Study, StudyTable
from sojourn.study.published import Figure


@dataclass(frozen=True)
class Compared:
    """A figure, published or not, our mean over seeds with its interval, and whether the two agree if there are two."""

    figure: Figure
    measured: Estimate | None
    agrees: bool | None


def compare(figures: Iterable[Figure], result: Result, axes: Sequence[str]) -> list[Compared]:
    """All published figures whose runs are among the results, each with ours."""
    flows = {str(key): frame for (key,), frame in result.flows.partition_by("key", as_dict=True).items()}
    queues = {str(key): frame for (key,), frame in result.queues.partition_by("key", as_dict=True).items()}
    windows = dict(result.runs.select("key", "window_s").iter_rows())
    repetitions = {tuple(map(str, cell)): frame for cell, frame in result.runs.partition_by(axes, as_dict=True).items()}

    @cache
    def seen(key: str, camp: str | None) -> Observation:
        return metrics.observe(flows[key], queues[key], windows[key], camp)

    cells: list[Compared] = []
    for figure in figures:
        runs = repetitions.get(tuple(figure.axes[axis] for axis in axes))
        if runs is None:
            continue
        values = [METRICS[figure.metric].compute(seen(key, figure.camp)) for key in runs["key"]]
        known = [value for value in values if value is not None]
        measured = estimate(known) if known else None
        fair_share = runs["bottleneck_mbps"][0] / runs["flow_count"][0]
        agreed = None
        if figure.value is not None:
            agreed = agrees(figure.metric, figure.value, measured and measured.mean, fair_share)
        cells.append(Compared(figure, measured, agreed))
    return cells


def frame(study: Study, cells: Iterable[Compared]) -> pl.DataFrame:
    """The cells as a frame: study, table, the axes as the paper's table has them, metric, and what was compared."""
    return pl.DataFrame(
        [
            {
                "study": study.name,
                "table": cell.figure.table.number,
                **cell.figure.labels,
                "metric": cell.figure.metric,
                "published": cell.figure.value,
                "measured": cell.measured.mean if cell.measured else None,
                "ci_low": cell.measured.low if cell.measured else None,
                "ci_high": cell.measured.high if cell.measured else None,
                "agrees": cell.agrees,
            }
            for cell in cells
        ],
        schema={
            "study": pl.String(),
            "table": pl.Int64(),
            **dict.fromkeys(study.axes, pl.String()),
            "metric": pl.String(),
            "published": pl.Float64(),
            "measured": pl.Float64(),
            "ci_low": pl.Float64(),
            "ci_high": pl.Float64(),
            "agrees": pl.Boolean(),
        },
    )


def write(path: Path, cells: pl.DataFrame) -> None:
    """Writes ``cells.csv``."""
    write_whole(path, cells.write_csv)


def agreement(cells: Iterable[Compared]) -> Mapping[int, tuple[StudyTable, int, int]]:
    """For each table with published figures: the table, how many of its cells agree, and how many there are."""
    counts: dict[int, tuple[StudyTable, int, int]] = {}
    for cell in cells:
        if cell.agrees is None:
            continue
        table = cell.figure.table
        _, agreeing, total = counts.get(table.number, (table, 0, 0))
        counts[table.number] = (table, agreeing + cell.agrees, total + 1)
    return dict(sorted(counts.items()))
