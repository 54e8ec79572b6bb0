"""Stores of any number of runs, made for little: all but keys, seeds and specifications is what a few runs of each cell found."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from sojourn.analysis.frames import EVERY, schema
from sojourn.analysis.records import assemble, of_run
from sojourn.backends.backend import Backend
from sojourn.campaign import Plan, PlannedCell
from sojourn.runs import keys
from sojourn.store import Store, parquet

#: Runs that are laid out at once.
AT_ONCE = 4_096

#: The number of a run of the sample.
_SAMPLE = "=sample"


def fill(directory: Path, planned: Plan, backend: Backend, sample: int) -> None:
    """Makes a store of all runs of a plan: ``sample`` runs of each cell are carried out, and the others repeat them."""
    Store(directory, create=True).close()
    axes = list(planned.axes)
    with parquet.writing(directory, {name: schema(name, axes) for name in EVERY}) as (write, _):
        for cell in sorted(planned.cells, key=lambda cell: [cell.axes[axis] for axis in axes]):
            for frames in _frames(cell, axes, planned.repetitions, backend, sample):
                for name, rows in frames.items():
                    write(name, [rows])


def _frames(
    cell: PlannedCell, axes: Sequence[str], repetitions: int, backend: Backend, sample: int
) -> Iterator[Mapping[str, pl.DataFrame]]:
    """The frames of a cell's runs, ``AT_ONCE`` runs at a time."""
    runs = list(cell.runs(range(min(sample, repetitions))))
    found = assemble([of_run(run, backend.run(run.specification)) for run in runs], axes)
    numbered = {name: frame.with_columns(pl.col("seed") - cell.seed).rename({"seed": _SAMPLE}) for name, frame in found.items()}
    first, comma, rest = runs[0].text.partition(",")
    head = first.partition(":")[0]
    requests = cell.requests(repetitions)
    for begin in range(0, repetitions, AT_ONCE):
        chunk = list(islice(requests, AT_ONCE))
        numbers = pl.int_range(begin, begin + len(chunk), eager=True)
        made = pl.DataFrame({"key": list(keys(chunk, cell.backend)), "seed": cell.seed + numbers, _SAMPLE: numbers % len(runs)})
        frames = {
            name: made.join(rows.drop("key"), on=_SAMPLE, maintain_order="left_right").select(list(found[name].columns))
            for name, rows in numbered.items()
        }
        frames["runs"] = frames["runs"].with_columns(
            pl.Series("request", chunk),
            pl.format("{}:{}{}{}", pl.lit(head), "seed", pl.lit(comma), pl.lit(rest)).alias("specification"),
        )
        yield frames
