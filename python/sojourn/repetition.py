"""Repetitions that repeat nothing: cells whose runs are the same whatever their seed.

Their deviation is zero because nothing in them was random, which says nothing about how sure a mean is. So such runs count as
one wherever there would be an interval.
"""

from collections.abc import Callable, Sequence

import polars as pl

from sojourn import metrics

#: What a run counts besides its metrics; the first is the most telling.
COUNTS = ("events", "data_packets_delivered", "retransmissions", "timeouts")

#: What makes the seeds of a scenario differ, by its keys.
REMEDY = "set flows.*.start_within or sender_overhead"

_MARK, _RUNS = "seeds change nothing", "number of runs"


def measured() -> list[str]:
    """The columns of ``runs`` that say what a run found."""
    return [*COUNTS, *(metric.name for metric in metrics.of_run())]


def repeated(read: Callable[[Sequence[str]], pl.DataFrame], axes: Sequence[str]) -> pl.DataFrame:
    """The axes of those cells that have several runs, all of them the same in everything measured.

    Args:
        read: gives columns of the runs; the metrics are asked for only if a cell's runs have equally many events.
        axes: the columns that tell cells apart.
    """
    cells = _alike(read([*axes, COUNTS[0]]), axes)
    if not cells.height:
        return cells
    return _alike(read([*axes, *measured()]).join(cells, on=axes, how="semi", nulls_equal=True), axes)


def once(runs: pl.DataFrame, axes: Sequence[str]) -> pl.DataFrame:
    """The runs of a frame in their order; of a cell whose runs are all the same only the one with the first seed."""
    cells = repeated(runs.select, axes).with_columns(pl.lit(True).alias(_MARK))
    marked = runs.join(cells, on=axes, how="left", nulls_equal=True, maintain_order="left")
    first = pl.col("seed") == pl.col("seed").min().over(axes)
    return marked.filter(pl.col(_MARK).is_null() | first).drop(_MARK)


def is_repeated(runs: pl.DataFrame) -> bool:
    """Whether the runs of one cell, two or more, are all the same in everything measured; false if that cannot be told."""
    if runs.height < 2 or not set(measured()).issubset(runs.columns) or runs[COUNTS[0]].n_unique() > 1:
        return False
    return runs.select(measured()).n_unique() == 1


def note(read: Callable[[Sequence[str]], pl.DataFrame], axes: Sequence[str]) -> str | None:
    """What is said, on one line, of cells whose seeds change nothing; none if there are no such cells. See ``repeated``."""
    cells = repeated(read, axes).height
    return told(cells, read(axes).n_unique()) if cells else None


def told(cells: int, of: int) -> str:
    """What is said, on one line, of so many cells whose seeds change nothing."""
    if cells < of:
        return f"In {cells:,} of {of:,} cells all seeds gave the same run, so there is no interval: {REMEDY}."
    return f"All seeds{' of each cell' if of > 1 else ''} gave the same run, so there is no interval: {REMEDY}."


def _alike(runs: pl.DataFrame, axes: Sequence[str]) -> pl.DataFrame:
    found = pl.struct(pl.exclude(axes)).n_unique().alias(_MARK)
    cells = runs.group_by(axes, maintain_order=True).agg(found, pl.len().alias(_RUNS))
    return cells.filter((pl.col(_MARK) == 1) & (pl.col(_RUNS) > 1)).select(axes)
