"""Moves the journal's records to the Parquet files.

The new files are made beside the old ones, of the old ones' rows and the journal's, in an order that follows from what they say:
by axes, seed and key. Then they take the old ones' place, and then the journal forgets its records. A process killed in between
leaves runs in both places, where they are the same; the journal's count.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from sojourn.results import NAMES, Record, assemble, schema
from sojourn.store import parquet
from sojourn.store.encoding import decode
from sojourn.store.files import flush
from sojourn.store.journal import Journal

#: The folder of files that are being made.
WORKSHOP = "unfinished"

#: Bytes of encoded records that are laid out at once, and runs.
BATCH_BYTES, BATCH_RUNS = 8_000_000, 1_000

#: What DuckDB may use for sorting before it turns to the disk.
MEMORY = "2GB"


def consolidate(directory: Path, journal: Journal) -> int:
    """Moves all records that are in the journal now; the store must be locked.

    Returns how many of them could not be read, and are no longer there.

    Raises:
        OSError: a file could not be written; the journal has everything still.
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
        for key in unreadable:
            journal.drop(key)
        if any(workshop.iterdir()):
            digest = _merge(directory, workshop, axes)
            journal.expect(digest)
            for name in NAMES:
                new = parquet.path(workshop, name)
                flush(new)
                new.replace(parquet.path(directory, name))
            flush(directory)
            journal.forget(last, digest)
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
            frame.with_row_index("row").write_parquet(workshop / f"part.{part:06}.{name}.parquet", compression="lz4")
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


def _merge(directory: Path, workshop: Path, axes: Sequence[str]) -> str:
    """Writes the new files into the workshop and returns their digest."""
    # Loaded here, because commands that keep nothing should not wait for it.
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "memory_limit": MEMORY,
        "temp_directory": str(workshop / "spill"),
    }
    with duckdb.connect(config=settings) as database:
        try:
            database.execute("CREATE TABLE journal AS SELECT key FROM read_parquet(?)", [_parts(workshop, "runs")])
            old = {name: parquet.path(directory, name) for name in NAMES}
            keys = "SELECT key FROM journal"
            if old["runs"].exists():
                keys += f" UNION SELECT key FROM read_parquet({_text(old['runs'])})"
            count, mixed = database.execute(f"SELECT count(*), bit_xor(md5_number(key)) FROM ({keys})").fetchall()[0]
            digest = f"{count}-{mixed:032x}"
            for name in NAMES:
                rows = f"SELECT * FROM read_parquet({_text(_parts(workshop, name))})"
                if old[name].exists():
                    kept = f"read_parquet({_text(old[name])}, file_row_number = true)"
                    rows += (
                        " UNION ALL BY NAME SELECT * EXCLUDE (file_row_number), file_row_number AS row "
                        f"FROM {kept} WHERE key NOT IN (FROM journal)"
                    )
                columns = ", ".join(map(quoted, schema(name, axes)))
                order = ", ".join(f"{quoted(column)} NULLS FIRST" for column in (*axes, "seed", "key", "row"))
                database.execute(
                    f"COPY (SELECT {columns} FROM ({rows}) ORDER BY {order}) TO {_text(parquet.path(workshop, name))} "
                    f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{parquet.METADATA}: {_text(parquet.metadata(digest))}}})"
                )
        except duckdb.Error as error:
            raise OSError(str(error).splitlines()[0]) from None
    return digest


def _parts(workshop: Path, name: str) -> str:
    return str(workshop / f"part.*.{name}.parquet")


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
