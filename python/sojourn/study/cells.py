"""Published values beside our own, and how much of a difference is chance: how far our own runs differ.

A published value comes from few runs, often one, and varies with them. Where our own runs do not agree with each other, agreement
with the paper tells little.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np
import polars as pl

from sojourn.analysis.agreement import agrees
from sojourn.analysis.result import Result
from sojourn.metrics import METRICS
from sojourn.metrics.observation import Observation, observe, places
from sojourn.names import BACKEND
from sojourn.statistics import LEAST_FOR_INTERVAL, Estimate, estimate, prediction
from sojourn.store import write_whole
from sojourn.study.design import Study, StudyTable
from sojourn.study.published import PublishedValue

if TYPE_CHECKING:
    from sojourn.study.verdicts import Judged


@dataclass(frozen=True)
class Compared:
    """A value, published or not, our mean over seeds with its interval, and whether the two agree if there are two."""

    published: PublishedValue
    measured: Estimate | None
    agrees: bool | None
    #: What made the runs, where the results of several backends are told apart.
    backend: str | None = None
    #: How often a seed agrees with the mean of the others, and the 95 % interval of one more seed; None with a single seed.
    self_agreement: float | None = None
    one_seed: tuple[float, float] | None = None

    @property
    def beyond_chance(self) -> bool | None:
        """Whether the two differ by more than seeds do among themselves; None if that is not known."""
        if self.published.value is None or self.agrees is None or self.one_seed is None:
            return None
        low, high = self.one_seed
        return not self.agrees and not low <= self.published.value <= high


@dataclass(frozen=True)
class Agreement:
    """How many of some published values agree with ours."""

    agreeing: int
    total: int
    #: How many differ by more than seeds do, and the mean of ``self_agreement``; None with a single seed.
    beyond_chance: int | None
    ceiling: float | None

    @classmethod
    def of(cls, cells: Iterable[Compared]) -> Self:
        """Counts compared values; those that are not published are left out."""
        published = [cell for cell in cells if cell.agrees is not None]
        beyond = [cell.beyond_chance for cell in published if cell.beyond_chance is not None]
        shares = [cell.self_agreement for cell in published if cell.self_agreement is not None]
        return cls(
            agreeing=sum(cell.agrees is True for cell in published),
            total=len(published),
            beyond_chance=sum(beyond) if beyond else None,
            ceiling=fmean(shares) if shares else None,
        )


def compare(values: Iterable[PublishedValue], result: Result, axes: Sequence[str]) -> list[Compared]:
    """All values whose runs are among the results, each with ours."""
    flows = {str(key): frame for (key,), frame in result.flows.partition_by("key", as_dict=True).items()}
    queues = {str(key): frame for (key,), frame in result.queues.partition_by("key", as_dict=True).items()}
    in_window = _in_window(result)
    transfers = {str(key): frame for (key,), frame in in_window.partition_by("key", as_dict=True).items()}
    # Without the specifications, which are long.
    every_run = result.counted("runs").select("key", *axes, "window_s", "bottleneck_mbps", "flow_count").collect()
    windows = {key: rest for key, *rest in every_run.select("key", "window_s", "bottleneck_mbps").iter_rows()}
    repetitions = {tuple(map(str, cell)): frame for cell, frame in every_run.partition_by(axes, as_dict=True).items()}

    @cache
    def seen(key: str, algorithm: str | None) -> Observation:
        everything = observe(flows[key], queues[key], transfers.get(key, in_window.clear()), *windows[key])
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
        least, greatest = METRICS[published.metric].bounds
        measured = estimate(known).within(least, greatest) if known else None
        fair_share = runs["bottleneck_mbps"][0] / runs["flow_count"][0]
        agreed = None
        if published.value is not None:
            agreed = agrees(published.metric, published.value, measured and measured.mean, fair_share)
        alike = self_agreement(published.metric, known, fair_share)
        one_seed = prediction(known, bounds=(least, greatest)) if known else None
        cells.append(Compared(published, measured, agreed, self_agreement=alike, one_seed=one_seed))
    return cells


def self_agreement(metric: str, values: Sequence[float], fair_share_mbps: float) -> float | None:
    """The share of seeds whose value would agree with the mean of all other seeds if that were published.

    None if there are fewer than two seeds.
    """
    if len(values) < LEAST_FOR_INTERVAL:
        return None
    total, others = sum(values), len(values) - 1
    return sum(agrees(metric, (total - value) / others, value, fair_share_mbps) for value in values) / len(values)


def _in_window(result: Result) -> pl.DataFrame:
    """The transfers that were completed in the measuring windows of their runs."""
    opens = (pl.col("simulated_s") - pl.col("window_s")).alias("opens")
    runs = result.scan("runs").select("key", opens)
    joined = result.scan("transfers").join(runs, on="key", how="left", maintain_order="left")
    return joined.filter(pl.col("completed") >= pl.col("opens")).collect()


def frame(study: Study, cells: Iterable[Compared]) -> pl.DataFrame:
    """The cells as a frame: study, table, the axes as the paper's table has them, metric, and what was compared.

    Of a study with readings it has the reading too, behind the study; of several backends their names, behind the axes.
    """
    cells = list(cells)

    def column(kind: type[pl.DataType], values: Iterable[object]) -> pl.Series:
        return pl.Series(values=list(values), dtype=kind)

    text, number = partial(column, pl.String), partial(column, pl.Float64)
    return pl.DataFrame(
        {
            "study": text(study.name for _ in cells),
            **({"reading": text(study.reading for _ in cells)} if study.readings else {}),
            "table": column(pl.Int64, (cell.published.table.number for cell in cells)),
            **{axis: text(cell.published.labels[axis] for cell in cells) for axis in study.axes},
            **({BACKEND: text(cell.backend for cell in cells)} if any(cell.backend for cell in cells) else {}),
            "metric": text(cell.published.metric for cell in cells),
            "published": number(cell.published.value for cell in cells),
            "measured": number(cell.measured and cell.measured.mean for cell in cells),
            "ci_low": number(cell.measured and cell.measured.low for cell in cells),
            "ci_high": number(cell.measured and cell.measured.high for cell in cells),
            "agrees": column(pl.Boolean, (cell.agrees for cell in cells)),
            "beyond_chance": column(pl.Boolean, (cell.beyond_chance for cell in cells)),
            "seed_low": number(cell.one_seed and cell.one_seed[0] for cell in cells),
            "seed_high": number(cell.one_seed and cell.one_seed[1] for cell in cells),
            "self_agreement": number(cell.self_agreement for cell in cells),
        }
    )


def write(path: Path, cells: pl.DataFrame) -> None:
    """Writes ``cells.csv``."""
    write_whole(path, cells.write_csv)


def agreement(cells: Iterable[Compared]) -> Mapping[int, tuple[StudyTable, Agreement]]:
    """For each table with published values, by number: the table and how many of its values agree."""
    parts = by_table(cell for cell in cells if cell.agrees is not None)
    return {(table := part[0].published.table).number: (table, Agreement.of(part)) for part in parts}


def by_table(cells: Iterable[Compared]) -> list[list[Compared]]:
    """The cells of each table that has any, in order of their numbers."""
    parts: dict[int, list[Compared]] = {}
    for cell in cells:
        parts.setdefault(cell.published.table.number, []).append(cell)
    return [part for _, part in sorted(parts.items())]


FoundT = TypeVar("FoundT", bound="Compared | Judged")


def by_backend(found: Iterable[FoundT]) -> Mapping[str | None, list[FoundT]]:
    """What each backend found, in the order in which they first occur; all of it where there is one, which has no name."""
    parts: dict[str | None, list[FoundT]] = {}
    for each in found:
        parts.setdefault(each.backend, []).append(each)
    return parts
