"""Moves the journal's records to the Parquet files.

The new files are made beside the old ones, of the old ones' rows and the journal's, in an order that follows from what they say:
by axes, seed and key. Then they take the old ones' place, and then the journal forgets its records. A process killed in between
leaves runs in both places, where they are the same; the journal's count.

The journal gives its records in that order, the old files have it, and rows are written as they are read. So the memory that
consolidation takes does not depend on the number of runs.

Runs that another build of their backend has made again leave the files. Before they do, they are written to files of the same
form in a new numbered folder of ``superseded``, which is not touched again, so that no result is lost.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from sojourn.analysis.frames import EVERY, schema
from sojourn.analysis.records import Record, assemble
from sojourn.names import BACKEND
from sojourn.store import outputs, parquet
from sojourn.store.encoding import ROWS_AT_ONCE, decode
from sojourn.store.files import flush
from sojourn.store.journal import Journal, Standing
from sojourn.store.merging import Merge

#: The folder of files that are being made.
WORKSHOP = "unfinished"

#: The folder of runs that count no more.
SUPERSEDED = "superseded"

#: Runs that are laid out at once, and samples of series that they may have together; a run with more is written in such parts.
BATCH_RUNS, BATCH_SAMPLES = 250, ROWS_AT_ONCE


class Unreadable(Exception):
    """Records of the journal cannot be read; the argument is how many."""


def consolidate(directory: Path, journal: Journal, *, drop: bool) -> Set[str]:
    """Moves all records that are in the journal now; the store must be locked.

    Returns the keys of those that could not be read, and have been dropped. If a file cannot be written (``OSError``),
    the journal has everything still.
    """
    last = journal.last()
    if not last:
        return set()
    workshop = directory / WORKSHOP
    clear(directory)
    workshop.mkdir()
    made = _Made(directory, journal, last)
    try:
        leaving = workshop / SUPERSEDED if journal.begin_consolidation() else None
        if leaving is not None:
            leaving.mkdir()
            made.write(leaving, Standing.LEAVING)
        digest = made.write(workshop, Standing.COUNTING)
        if made.unreadable and not drop:
            raise Unreadable(len(made.unreadable))
        if leaving is not None:
            _keep(leaving, directory / SUPERSEDED)
            journal.keep_superseded()
        for key in made.unreadable:
            journal.drop(key)
        if made.readable:
            journal.expect(digest)
            for name in EVERY:
                new = parquet.path(workshop, name)
                if not new.exists():  # of a frame that need not be there
                    parquet.path(directory, name).unlink(missing_ok=True)
                    continue
                flush(new)
                new.replace(parquet.path(directory, name))
            flush(directory)
            journal.forget(last, digest)
    finally:
        clear(directory)
    return made.unreadable


def clear(directory: Path) -> None:
    """Removes what an unfinished consolidation has left."""
    shutil.rmtree(directory / WORKSHOP, ignore_errors=True)


def _keep(made: Path, folder: Path) -> None:
    """Moves a finished folder of superseded runs to its place, under the next number."""
    folder.mkdir(exist_ok=True)
    taken = [int(entry.name) for entry in folder.iterdir() if entry.name.isdecimal()]
    for file in (*parquet.paths(made), made):
        flush(file)
    made.rename(folder / str(max(taken, default=0) + 1))
    flush(folder)


@dataclass
class _Made:
    """Files made of a directory's and of the journal's records up to number ``last``."""

    directory: Path
    journal: Journal
    last: int
    #: Whether any record could be read, and the keys of those that could not.
    readable: bool = False
    unreadable: set[str] = field(default_factory=set)

    def write(self, folder: Path, standing: Standing) -> str:
        """Writes files of the runs that stand so into a folder; returns their digest."""
        axes = self.journal.axes()
        schemas = {name: self._schema(name, axes) for name in EVERY}
        order = [*axes, "seed", "key"]
        merges = {name: Merge(self._old_rows(name, columns, standing), order) for name, columns in schemas.items()}
        with parquet.writing(folder, schemas) as (write, digest):
            for frames in self._new_rows(axes, standing):
                for name, rows in frames.items():
                    write(name, merges[name].with_next(parquet.aligned(rows, schemas[name])))
            for name, merge in merges.items():
                write(name, merge.rest())
        return str(digest)

    def _schema(self, name: str, axes: Sequence[str]) -> pl.Schema:
        """The columns of a frame; metrics that only other versions know come last."""
        known, file = schema(name, axes), parquet.path(self.directory, name)
        others = {*self.journal.metrics(name), *(pl.read_parquet_schema(file) if file.exists() else ())}.difference(known)
        return pl.Schema({**known, **dict.fromkeys(sorted(others), pl.Float64())})

    def _old_rows(self, name: str, columns: pl.Schema, standing: Standing) -> Iterator[pl.DataFrame]:
        file = parquet.path(self.directory, name)
        if not file.exists():
            return
        for rows in parquet.pieces(file, columns):
            left = self.journal.standings(rows["key"].unique().to_list())
            if standing is Standing.COUNTING:
                yield rows.filter(~pl.col("key").is_in(list(left))) if left else rows
            else:
                yield rows.filter(pl.col("key").is_in([key for key, known in left.items() if known is standing]))

    def _new_rows(self, axes: Sequence[str], standing: Standing) -> Iterator[Mapping[str, pl.DataFrame]]:
        batch: list[Record] = []
        samples = 0
        for record in self._records(axes, standing):
            size = sum(frame.height * (frame.width - 2) for frame in (record.queue_series, record.flow_series))
            size += record.transfers.height + record.recorded.height
            if batch and (samples + size > BATCH_SAMPLES or len(batch) >= BATCH_RUNS):
                yield assemble(batch, axes)
                batch, samples = [], 0
            if size > BATCH_SAMPLES:
                yield from _pieces(record, axes)
            else:
                batch.append(record)
                samples += size
        if batch:
            yield assemble(batch, axes)

    def _records(self, axes: Sequence[str], standing: Standing) -> Iterator[Record]:
        for key, every_axis, seed, encoded in self.journal.records(self.last, axes, standing):
            try:
                record = decode(encoded, wholly=False)
                labels = {axis: label for axis, label in every_axis.items() if axis != BACKEND}  # which is no axis of a record
                if (record.key, record.axes, record.seed) != (key, labels, seed):
                    raise ValueError("a record of another run")
            except ValueError:
                self.unreadable.add(key)
                continue
            self.readable = True
            outputs.write(self.directory, record)
            yield record


def _pieces(record: Record, axes: Sequence[str]) -> Iterator[Mapping[str, pl.DataFrame]]:
    """The frames of a run with long series or many transfers, these part by part."""
    queues, flows = record.queue_series, record.flow_series
    without = replace(record, queue_series=queues.clear(), flow_series=flows.clear())
    without = replace(without, transfers=record.transfers.clear(), recorded=record.recorded.clear())
    yield assemble([without], axes)
    without = replace(without, programs=[])
    for part in record.transfers.iter_slices(BATCH_SAMPLES):
        yield {"transfers": assemble([replace(without, transfers=part)], axes)["transfers"]}
    for part in _parts(queues, "link"):
        yield {"series": assemble([replace(without, queue_series=part)], axes)["series"]}
    for part in _parts(flows, "flow"):
        yield {"series": assemble([replace(without, flow_series=part)], axes)["series"]}
    for part in record.recorded.iter_slices(BATCH_SAMPLES):
        yield {"series": assemble([replace(without, recorded=part)], axes)["series"]}


def _parts(series: pl.DataFrame, which: str) -> Iterator[pl.DataFrame]:
    for measure in series.drop("time", which).columns:
        yield from series.select("time", which, measure).iter_slices(BATCH_SAMPLES)
