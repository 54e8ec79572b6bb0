"""Repetitions that repeat nothing: cells whose runs are the same whatever their seed.

Their deviation is zero because nothing in them was random, which says nothing about how sure a mean is. So such runs count as
one wherever there would be an interval.
"""

from collections.abc import Sequence

import polars as pl

from sojourn import metrics

#: What a run counts besides its metrics; the first is the most telling.
COUNTS = ("events", "data_packets_delivered", "timeouts")

#: What makes the seeds of a scenario differ, by its keys.
REMEDY = "set flows.*.start_within or sender_overhead"

#: What is said of programs that draw nothing: their outputs may differ all the same.
OF_PROGRAMS = "All seeds gave the same measures, so there is no interval: programs drew nothing that changes what they send."

#: Columns that no axis is called as: the same of all cells, so that there is one to group by without axes, and the first seed.
_CELL, _FIRST, _SAME, _RUNS = "=cell", "=first seed", "=same", "=runs"


def measured() -> list[str]:
    """The columns of ``runs`` that say what a run found."""
    return [*COUNTS, *(metric.name for metric in metrics.of_run())]


def repeated(runs: pl.LazyFrame, axes: Sequence[str]) -> pl.DataFrame:
    """The cells that have several runs, all of them the same in everything measured; for ``once`` and ``labels``.

    The metrics are read only if a cell's runs have equally many events.
    """
    runs, cell = _marked(runs), [_CELL, *axes]
    events = pl.col(COUNTS[0])
    alike = runs.group_by(cell).agg(pl.len().alias(_RUNS), (events.min() == events.max()).alias(_SAME))
    cells = alike.filter((pl.col(_RUNS) > 1) & pl.col(_SAME)).select(cell).collect(engine="streaming")
    if cells.height:
        same = pl.all_horizontal(_alike(pl.col(name)) for name in measured())
        found = runs.join(cells.lazy(), on=cell, how="semi", nulls_equal=True).group_by(cell)
        alike = found.agg(same.alias(_SAME), pl.col("seed").min().alias(_FIRST))
        cells = alike.filter(_SAME).drop(_SAME).collect(engine="streaming")
    return cells


def _alike(values: pl.Expr) -> pl.Expr:
    return ((values.min() == values.max()) & (values.null_count() == 0)) | (values.count() == 0)


def once(rows: pl.LazyFrame, cells: pl.DataFrame) -> pl.LazyFrame:
    """The rows of a frame in their order; of cells that are ``repeated`` only those of the first seed."""
    if not cells.height:
        return rows
    axes = [name for name in cells.columns if name != _FIRST]
    marked = _marked(rows).join(cells.lazy(), on=axes, how="left", nulls_equal=True, maintain_order="left")
    return marked.filter(pl.col(_FIRST).is_null() | (pl.col("seed") == pl.col(_FIRST))).drop(_CELL, _FIRST)


def labels(cells: pl.DataFrame, axes: Sequence[str]) -> set[tuple[str | None, ...]]:
    """The values of these axes, which are all, of cells that are ``repeated``."""
    return {row[1:] for row in cells.select(_CELL, *axes).iter_rows()}


def is_repeated(runs: pl.LazyFrame) -> bool:
    """Whether the runs of one cell, two or more, are all the same in everything measured; false if that cannot be told."""
    return set(measured()).issubset(runs.collect_schema()) and repeated(runs, []).height > 0


def note(cells: pl.DataFrame, runs: pl.LazyFrame) -> str | None:
    """What is said, on one line, of cells of some runs that are ``repeated``; none if there are no such cells."""
    if not cells.height:
        return None
    axes = [name for name in cells.columns if name != _FIRST]
    if _has_programs(runs):
        return OF_PROGRAMS
    return told(cells.height, _marked(runs).select(axes).unique().select(pl.len()).collect().item())


def told(cells: int, of: int) -> str:
    """What is said, on one line, of so many cells whose seeds change nothing."""
    if cells < of:
        return f"In {cells:,} of {of:,} cells all seeds gave the same run, so there is no interval: {REMEDY}."
    return f"All seeds{' of each cell' if of > 1 else ''} gave the same run, so there is no interval: {REMEDY}."


def _has_programs(runs: pl.LazyFrame) -> bool:
    """Whether a run has programs: its specification says so, outside of any text."""
    if "specification" not in runs.collect_schema():
        return False
    return bool(runs.select(pl.col("specification").str.contains(',"programs":[', literal=True).any()).collect().item())


def _marked(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.with_columns(pl.lit(0).alias(_CELL))
