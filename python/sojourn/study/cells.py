"""Published values beside our own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import polars as pl

from sojourn.metrics import METRICS
from sojourn.metrics.observation import Observation, observe, places
from sojourn.names import BACKEND
from sojourn.results import Result
from sojourn.statistics import Estimate, estimate
from sojourn.store import write_whole
from sojourn.study.agreement import agrees
from sojourn.study.design import Study, StudyTable
from sojourn.study.published import PublishedValue


@dataclass(frozen=True)
class Compared:
    """A value, published or not, our mean over seeds with its interval, and whether the two agree if there are two."""

    published: PublishedValue
    measured: Estimate | None
    agrees: bool | None
    #: What made the runs, where the results of several backends are told apart.
    backend: str | None = None


def compare(values: Iterable[PublishedValue], result: Result, axes: Sequence[str]) -> list[Compared]:
    """All values whose runs are among the results, each with ours."""
    flows = {str(key): frame for (key,), frame in result.flows.partition_by("key", as_dict=True).items()}
    queues = {str(key): frame for (key,), frame in result.queues.partition_by("key", as_dict=True).items()}
    # Without the specifications, which are long.
    every_run = result.counted("runs").select("key", *axes, "window_s", "bottleneck_mbps", "flow_count").collect()
    windows = {key: rest for key, *rest in every_run.select("key", "window_s", "bottleneck_mbps").iter_rows()}
    repetitions = {tuple(map(str, cell)): frame for cell, frame in every_run.partition_by(axes, as_dict=True).items()}

    @cache
    def seen(key: str, algorithm: str | None) -> Observation:
        everything = observe(flows[key], queues[key], *windows[key])
        if algorithm is None:
            return everything
        return everything.of(dict(places(flows[key]["algorithm"])).get(algorithm, np.array([], dtype=np.intp)))

    cells: list[Compared] = []
    for published in values:
        runs = repetitions.get(tuple(published.axes[axis] for axis in axes))
        if runs is None:
            continue
        found = [METRICS[published.metric].compute(seen(key, published.algorithm)) for key in runs["key"]]
        known = [value for value in found if value is not None]
        measured = estimate(known) if known else None
        fair_share = runs["bottleneck_mbps"][0] / runs["flow_count"][0]
        agreed = None
        if published.value is not None:
            agreed = agrees(published.metric, published.value, measured and measured.mean, fair_share)
        cells.append(Compared(published, measured, agreed))
    return cells


def frame(study: Study, cells: Iterable[Compared]) -> pl.DataFrame:
    """The cells as a frame: study, table, the axes as the paper's table has them, metric, and what was compared.

    Of several backends it has their names too, behind the axes.
    """
    cells = list(cells)
    beside = {BACKEND: pl.String()} if any(cell.backend for cell in cells) else {}
    return pl.DataFrame(
        [
            {
                "study": study.name,
                "table": cell.published.table.number,
                **cell.published.labels,
                **dict.fromkeys(beside, cell.backend),
                "metric": cell.published.metric,
                "published": cell.published.value,
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
            **beside,
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
    """For each table with published values: the table, how many of its cells agree, and how many there are."""
    counts: dict[int, tuple[StudyTable, int, int]] = {}
    for cell in cells:
        if cell.agrees is None:
            continue
        table = cell.published.table
        _, agreeing, total = counts.get(table.number, (table, 0, 0))
        counts[table.number] = (table, agreeing + cell.agrees, total + 1)
    return dict(sorted(counts.items()))


class OfBackend(Protocol):
    """Something that was measured by a backend, which has a name where there are several."""

    @property
    def backend(self) -> str | None:
        """Its name."""
        ...


FoundT = TypeVar("FoundT", bound=OfBackend)


def by_backend(found: Iterable[FoundT]) -> Mapping[str | None, list[FoundT]]:
    """What each backend found, in the order in which they first occur."""
    parts: dict[str | None, list[FoundT]] = {}
    for each in found:
        parts.setdefault(each.backend, []).append(each)
    return parts
