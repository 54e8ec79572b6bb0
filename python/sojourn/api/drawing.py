"""Cells drawn from the space around a study: how several backends agree where nobody has looked before."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sojourn import backends
from sojourn.analysis import side_by_side
from sojourn.analysis.result import Result
from sojourn.analysis.side_by_side import SideBySide
from sojourn.api.execution import Settings, call_of, carry_out
from sojourn.backends.backend import Backend
from sojourn.campaign import Campaign, Observer
from sojourn.errors import InputError, RunFailed
from sojourn.names import BACKEND
from sojourn.statistics import LEAST_FOR_INTERVAL
from sojourn.store import write_whole
from sojourn.study.design import Study

#: How many seeds a cell has: means are compared, with their intervals.
SEEDS = 5


@dataclass(frozen=True)
class Sides:
    """One backend held to another, or a backend with some seeds to itself with others."""

    backend: str
    reference: str
    found: SideBySide


@dataclass(frozen=True)
class Drawn:
    """The cells that were drawn: what each backend found, and how it agrees with the last, which is the reference."""

    result: Result
    #: Of the reference with other seeds: the same seeds and as many more.
    further: Result
    #: The last are of the reference itself: what can be asked of the others.
    sides: Sequence[Sides]
    #: What is wrong with runs that failed; their cells lack these seeds.
    failures: Sequence[RunFailed]

    @property
    def cells(self) -> pl.DataFrame:
        """The comparison: axes, backend, reference, metric, the means of both with their intervals, and whether they agree."""
        number, rows = pl.Float64, list[tuple[object, ...]]()
        axes = list(self.sides[0].found.axes)
        for side in self.sides:
            for value in side.found.values:
                one, other = value.first, value.second
                measured = (None, None, None) if other is None else other
                rows.append((*value.cell, side.backend, side.reference, value.metric.name, *one, *measured, value.agrees))
        text = dict.fromkeys([*axes, "backend", "reference", "metric"], pl.String)
        numbers = dict.fromkeys(
            ["of_reference", "of_reference_low", "of_reference_high", "measured", "ci_low", "ci_high"], number
        )
        return pl.DataFrame(rows, schema={**text, **numbers, "agrees": pl.Boolean}, orient="row")


def draw(
    study: Study,
    cells: int,
    seed: int,
    seeds: int = SEEDS,
    *,
    out: str | Path,
    backend: Sequence[str | Backend],
    jobs: int | None = None,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> Drawn:
    """Draws cells from a study's space, runs them on each backend, and the last of these with as many seeds more.

    ``out`` also gets ``cells.csv``.

    Raises:
        InputError: the study has no space, fewer than two backends or seeds are given, or the directory will not do.
        RunFailed: no run succeeded.
    """
    if len(backend) < 2:
        raise InputError("--draw: compares backends; name two or more, the reference last")
    if seeds < LEAST_FOR_INTERVAL:
        raise InputError(f"--draw: compares intervals; --seeds is at least {LEAST_FOR_INTERVAL}")
    matrix = study.drawn(cells, seed)
    what = f"{study.origin.called!r}, draw={cells}, seed={seed}"
    carriers = backends.several(backend)
    *others, reference = (carrier.identity.name for carrier in carriers)

    def made(repetitions: int, these: Sequence[Backend]) -> Result:
        settings = Settings(out, jobs, these, cluster, observer or Observer())
        call = call_of("draw", what, these, seeds=repetitions, out=out)
        try:
            return carry_out(Campaign.of_matrix(matrix, repetitions), settings, call, None, None, None)
        except RunFailed as failed:
            kept: Result | None = failed.result
            if kept is None:
                raise
            failures.append(failed)
            return kept

    failures: list[RunFailed] = []
    result = made(seeds, carriers)
    further = made(2 * seeds, carriers[-1:])
    axes = list(matrix.axes)
    runs, more = result.scan("runs"), further.scan("runs")
    of_reference = runs.filter(pl.col(BACKEND) == reference)
    first = int(of_reference.select(pl.col("seed").min()).collect().item())
    later = more.filter(pl.col("seed") >= first + seeds).with_columns(pl.col("seed") - seeds)
    sides = [
        (name, reference, side_by_side.compare(of_reference, runs.filter(pl.col(BACKEND) == name), axes, by_intervals=True))
        for name in others
    ]
    sides.append((reference, reference, side_by_side.compare(of_reference, later, axes, by_intervals=True)))
    found = Drawn(result, further, [Sides(*side) for side in sides], failures)
    write_whole(Path(out) / "cells.csv", found.cells.write_csv)
    return found
