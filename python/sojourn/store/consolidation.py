"""Moves the journal's records to the Parquet files.

The new files are made beside the old ones, of the old ones' rows and the journal's, in an order that follows from what they say:
by axes, seed and key. Then they take the old ones' place, and then the journal forgets its records. A process killed in between
leaves runs in both places, where they are the same; the journal's count.

Runs that another build of their backend has made again leave the files. Before they do, they are written to files of the same
form in a new numbered folder of ``superseded``, which is not touched again, so that no result is lost.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sojourn.results import NAMES, Record, assemble, schema
from sojourn.store import parquet
from sojourn.store.encoding import decode
from sojourn.store.files import flush
from sojourn.store.journal import Journal
from sojourn.store.sql import identifier, literal

#: The folder of files that are being made.
WORKSHOP = "unfinished"

#: The folder of runs that count no more.
SUPERSEDED = "superseded"

#: The column of a row's place in its file; no axis can be called so.
ROW = "=row"

#: Bytes of encoded records that are laid out at once, and runs.
BATCH_BYTES, BATCH_RUNS = 8_000_000, 1_000

#: What DuckDB may use for sorting before it turns to the disk.
MEMORY = "2GB"


class Unreadable(Exception):
    """Records of the journal cannot be read; the argument is how many."""


def consolidate(directory: Path, journal: Journal, *, drop: bool) -> int:
    """Moves all records that are in the journal now; the store must be locked.

    Returns how many of them could not be read, and have been dropped.

    Raises:
        OSError: a file could not be written; the journal has everything still.
        Unreadable: records could not be read, and are not to be dropped; nothing was changed.
    """
    last = journal.last()
    if not last:
        return 0
    workshop = directory / WORKSHOP
    clear(directory)
    workshop.mkdir()
    try:
        axes = journal.axes()
        unreadable = _lay_out(journal, last, axes, workshop)
        if unreadable and not drop:
            raise Unreadable(len(unreadable))
        for key in unreadable:
            journal.drop(key)
        if any(workshop.iterdir()):
            superseded = journal.superseded()
            unkept = [key for key, kept in superseded.items() if not kept]
            with _Merge(directory, workshop, axes) as merge:
                if unkept:
                    made = workshop / SUPERSEDED
                    made.mkdir()
                    merge.write(made, unkept, [])
                    _keep(made, directory / SUPERSEDED)
                    journal.keep_superseded(unkept)
                digest = merge.write(workshop, None, list(superseded))
            journal.expect(digest)
            for name in NAMES:
                new = parquet.path(workshop, name)
                flush(new)
                new.replace(parquet.path(directory, name))
            flush(directory)
            journal.forget(last, digest, superseded)
    finally:
        clear(directory)
    return len(unreadable)


def clear(directory: Path) -> None:
    """Removes what an unfinished consolidation has left."""
    shutil.rmtree(directory / WORKSHOP, ignore_errors=True)


def _lay_out(journal: Journal, last: int, axes: Sequence[str], workshop: Path) -> list[str]:
    """Writes the journal's records as part files; returns the keys of those that cannot be read."""
    unreadable: list[str] = []
    for part, records in enumerate(_batches(journal, last, unreadable)):
        for name, frame in assemble(records, axes).items():
            frame.with_row_index(ROW).write_parquet(workshop / f"part.{part:06}.{name}.parquet", compression="lz4")
    return unreadable


def _batches(journal: Journal, last: int, unreadable: list[str]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for key, encoded in journal.records(last):
        try:
            batch.append(decode(encoded))
        except ValueError:
            unreadable.append(key)
            continue
        size += len(encoded)
        if size >= BATCH_BYTES or len(batch) >= BATCH_RUNS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _keep(made: Path, folder: Path) -> None:
    """Moves a finished folder of superseded runs to its place, under the next number."""
    folder.mkdir(exist_ok=True)
    taken = [int(entry.name) for entry in folder.iterdir() if entry.name.isdecimal()]
    for file in (*(parquet.path(made, name) for name in NAMES), made):
        flush(file)
    made.rename(folder / str(max(taken, default=0) + 1))
    flush(folder)


class _Merge:
    """The rows of a directory's Parquet files and those of the journal's that have been laid out in the workshop."""

    def __init__(self, directory: Path, workshop: Path, axes: Sequence[str]) -> None:
        # Loaded here, because commands that keep nothing should not wait for it.
        import duckdb

        settings: dict[str, str | bool | int | float | list[str]] = {
            "threads": 1,
            "memory_limit": MEMORY,
            "temp_directory": str(workshop / "spill"),
        }
        self._database = duckdb.connect(config=settings)
        self._old = {name: parquet.path(directory, name) for name in NAMES}
        self._workshop, self._axes = workshop, axes
        with self._failing():
            self._database.execute("CREATE TABLE journal AS SELECT key FROM read_parquet(?)", [_parts(workshop, "runs")])
            self._database.execute("CREATE TABLE chosen (key VARCHAR)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._database.close()

    def write(self, folder: Path, only: Sequence[str] | None, but: Sequence[str]) -> str:
        """Writes files of the runs with some keys, or of all but some, into a folder; returns their digest."""
        condition = "key NOT IN (FROM chosen)" if only is None else "key IN (FROM chosen)"
        with self._failing():
            self._database.execute("DELETE FROM chosen")
            self._database.execute("INSERT INTO chosen SELECT unnest(?)", [list(but if only is None else only)])
            keys = "SELECT key FROM journal"
            if self._old["runs"].exists():
                keys += f" UNION SELECT key FROM read_parquet({literal(self._old['runs'])})"
            found = self._database.execute(f"SELECT count(*), bit_xor(md5_number(key)) FROM ({keys}) WHERE {condition}")
            count, mixed = found.fetchall()[0]
            digest = f"{count}-{mixed or 0:032x}"
            for name in NAMES:
                rows = f"SELECT * FROM read_parquet({literal(_parts(self._workshop, name))}, union_by_name = true)"
                if self._old[name].exists():
                    kept = f"read_parquet({literal(self._old[name])}, file_row_number = true)"
                    rows += (
                        f" UNION ALL BY NAME SELECT * EXCLUDE (file_row_number), file_row_number AS {identifier(ROW)} "
                        f"FROM {kept} WHERE key NOT IN (FROM journal)"
                    )
                known = list(schema(name, self._axes))
                there = [column for column, *_ in self._database.execute(f"DESCRIBE {rows}").fetchall()]
                # Metrics of other versions come last.
                columns = ", ".join(map(identifier, [*known, *(column for column in there if column not in (*known, ROW))]))
                order = ", ".join(f"{identifier(column)} NULLS FIRST" for column in (*self._axes, "seed", "key", ROW))
                self._database.execute(
                    f"COPY (SELECT {columns} FROM ({rows}) WHERE {condition} ORDER BY {order}) "
                    f"TO {literal(parquet.path(folder, name))} "
                    f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{parquet.METADATA}: {literal(parquet.metadata(digest))}}})"
                )
        return digest

    @contextmanager
    def _failing(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            raise OSError(str(error).splitlines()[0]) from None


def _parts(workshop: Path, name: str) -> str:
    return str(workshop / f"part.*.{name}.parquet")
