"""``journal.sqlite``: which runs have finished, and the records of those that are in no Parquet file yet."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sojourn.backends.identity import Identity
from sojourn.runs import Run

#: Marks the file as a journal of Sojourn's; the letters "Sjrn".
APPLICATION = 0x536A726E

#: Seconds to wait for another process's transaction.
PATIENCE = 60

_TABLES = f"""
PRAGMA journal_mode = wal;
BEGIN IMMEDIATE;
PRAGMA application_id = {APPLICATION};
-- The builds of backends that made runs.
CREATE TABLE IF NOT EXISTS backends (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, UNIQUE (name, version, digest)
);
-- All runs that count, whether their records are here or in the Parquet files: one of each request and name of a backend.
CREATE TABLE IF NOT EXISTS finished (key BLOB PRIMARY KEY, request BLOB NOT NULL, backend INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS requests ON finished (request);
-- Runs that another build of their backend has made again, until they have left the Parquet files and this one. They are kept in
-- files of their own from when "kept" is 1.
CREATE TABLE IF NOT EXISTS superseded (key BLOB PRIMARY KEY, kept INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journal (number INTEGER PRIMARY KEY, key BLOB NOT NULL, record BLOB NOT NULL);
-- The axes of all campaigns, in the order of their columns.
CREATE TABLE IF NOT EXISTS axes (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
-- Digests of the Parquet files that may be there: one, or two while files are being replaced.
CREATE TABLE IF NOT EXISTS files (digest TEXT PRIMARY KEY);
COMMIT;
"""


class Damaged(Exception):
    """The file is no journal, or no whole one."""


class Journal:
    """The journal, opened; made if it is not there.

    Raises:
        Damaged: what is there is no journal.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
            self._numbers: dict[Identity, int] = {}
            self._check()
            # A commit reaches the system at once, so that it outlasts the process; it reaches the device a little later.
            self._database.execute("PRAGMA synchronous = normal")
        except sqlite3.OperationalError:
            # What is around the file, such as a full disk; the file is not to blame.
            self._database.close()
            raise
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise Damaged(str(error)) from None

    def _check(self) -> None:
        if self._one("SELECT count(*) FROM sqlite_master") == (0,):
            self._database.executescript(_TABLES)
        (application,) = self._one("PRAGMA application_id")
        if application != APPLICATION:
            raise sqlite3.DatabaseError("not a journal of Sojourn")
        (verdict,) = self._one("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def has(self, key: str) -> bool:
        """Whether the run has finished."""
        return self._one("SELECT EXISTS (SELECT 1 FROM finished WHERE key = ?)", (bytes.fromhex(key),)) == (1,)

    def finished(self) -> int:
        """How many runs have finished."""
        count: int = self._one("SELECT count(*) FROM finished")[0]
        return count

    def waiting(self) -> int:
        """How many of these are here and in no Parquet file."""
        count: int = self._one("SELECT count(*) FROM journal WHERE key IN (SELECT key FROM finished)")[0]
        return count

    def add(self, run: Run, record: bytes) -> None:
        """Adds a run that has finished, unless it is there; what another build of its backend made of it counts no more."""
        key = bytes.fromhex(run.key)
        with self._transaction():
            if not self._finish(run.key, run.request, run.backend):
                return
            same = "request = ? AND key <> ? AND backend IN (SELECT number FROM backends WHERE name = ?)"
            values = (bytes.fromhex(run.request), key, run.backend.name)
            query = f"INSERT OR REPLACE INTO superseded (key) SELECT key FROM finished WHERE {same}"
            if self._database.execute(query, values).rowcount:
                self._database.execute(f"DELETE FROM finished WHERE {same}", values)
            # It may itself have been superseded, and be made again.
            if self._database.execute("DELETE FROM superseded WHERE key = ?", (key,)).rowcount:
                self._database.execute("DELETE FROM journal WHERE key = ?", (key,))
            self._database.execute("INSERT INTO journal (key, record) VALUES (?, ?)", (key, record))

    def _finish(self, key: str, request: str, backend: Identity) -> bool:
        """Has a run count; says whether it did not before."""
        values = (bytes.fromhex(key), bytes.fromhex(request), self._number(backend))
        return self._database.execute("INSERT OR IGNORE INTO finished VALUES (?, ?, ?)", values).rowcount > 0

    def _number(self, backend: Identity) -> int:
        """The number of a build of a backend, which never changes; given to it if it has none."""
        if backend not in self._numbers:
            values = (backend.name, backend.version, backend.digest)
            self._database.execute("INSERT OR IGNORE INTO backends (name, version, digest) VALUES (?, ?, ?)", values)
            (number,) = self._one("SELECT number FROM backends WHERE (name, version, digest) = (?, ?, ?)", values)
            self._numbers[backend] = number
        return self._numbers[backend]

    def made(self, request: str, backend: str) -> tuple[str, Identity] | None:
        """The key of the run of a request that counts, and the build of the backend that made it; nothing if there is none."""
        row = self._database.execute(
            "SELECT key, name, version, digest FROM finished JOIN backends ON number = backend WHERE request = ? AND name = ?",
            (bytes.fromhex(request), backend),
        ).fetchone()
        return None if row is None else (row[0].hex(), Identity(*row[1:]))

    def identities(self) -> dict[Identity, int]:
        """The builds of backends that made the runs that count, and how many each made."""
        found = self._database.execute(
            "SELECT name, version, digest, count(*) FROM backends JOIN finished ON number = backend GROUP BY number"
        )
        return {Identity(*identity): count for *identity, count in found}

    def superseded(self) -> dict[str, bool]:
        """The keys of superseded runs that may be in the Parquet files or here, and whether files of their own have them."""
        return {key.hex(): bool(kept) for key, kept in self._database.execute("SELECT key, kept FROM superseded")}

    def keep_superseded(self, keys: Iterable[str]) -> None:
        """Notes that superseded runs are in files of their own."""
        with self._transaction():
            self._database.executemany("UPDATE superseded SET kept = 1 WHERE key = ?", ((bytes.fromhex(key),) for key in keys))

    def last(self) -> int:
        """The number of the latest record; 0 if there is none."""
        number: int = self._one("SELECT coalesce(max(number), 0) FROM journal")[0]
        return number

    def records(self, last: int) -> Iterator[tuple[str, bytes]]:
        """Keys and records up to number ``last``, in the order in which they came."""
        query = "SELECT key, record FROM journal WHERE number <= ? ORDER BY number"
        with closing(self._database.execute(query, (last,))) as rows:
            for key, record in rows:
                yield key.hex(), record

    def forget(self, last: int, digest: str, superseded: Iterable[str]) -> None:
        """Drops the records up to number ``last``, which are now in the Parquet files of that digest, and superseded runs."""
        with self._transaction():
            left = ((bytes.fromhex(key),) for key in superseded)
            self._database.executemany("DELETE FROM superseded WHERE key = ? AND kept", left)
            self._database.execute("DELETE FROM journal WHERE number <= ?", (last,))
            self._database.execute("DELETE FROM files WHERE digest <> ?", (digest,))
        # Gives back the room; another process that writes now, or a full disk, may forbid it, and the next time will do.
        with suppress(sqlite3.OperationalError):
            self._database.execute("VACUUM")

    def drop(self, key: str) -> None:
        """Drops a run whose record is of no use, so that it counts as not made."""
        with self._transaction():
            for table in ("journal", "finished"):
                self._database.execute(f"DELETE FROM {table} WHERE key = ?", (bytes.fromhex(key),))

    def expect(self, digest: str) -> None:
        """Says that Parquet files of this digest are about to be there."""
        self._database.execute("INSERT OR IGNORE INTO files VALUES (?)", (digest,))

    def digests(self) -> set[str]:
        """The digests that Parquet files may have; none if there should be no file."""
        return {digest for (digest,) in self._database.execute("SELECT digest FROM files")}

    def lose_files(self) -> int:
        """Drops all runs whose records were in Parquet files, and says how many these were."""
        with self._transaction():
            lost = self._database.execute("DELETE FROM finished WHERE key NOT IN (SELECT key FROM journal)").rowcount
            self._database.execute("DELETE FROM superseded WHERE key NOT IN (SELECT key FROM journal)")
            self._database.execute("DELETE FROM files")
        return lost

    def find(self, runs: Iterable[tuple[str, str, Identity]], axes: Sequence[str], digest: str) -> None:
        """Takes over the runs of Parquet files that were there before the journal: keys, requests and backends."""
        with self._transaction():
            for key, request, backend in runs:
                self._finish(key, request, backend)
            self._database.execute("INSERT OR IGNORE INTO files VALUES (?)", (digest,))
            self._add_axes(axes)

    def axes(self) -> list[str]:
        """The axes of all campaigns."""
        return [name for (name,) in self._database.execute("SELECT name FROM axes ORDER BY position")]

    def add_axes(self, axes: Sequence[str]) -> None:
        """Adds those axes that are new."""
        with self._transaction():
            self._add_axes(axes)

    def _add_axes(self, axes: Sequence[str]) -> None:
        self._database.executemany("INSERT OR IGNORE INTO axes (name) VALUES (?)", ((axis,) for axis in axes))

    def _one(self, query: str, values: tuple[object, ...] = ()) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._database.execute(query, values).fetchone()
        return row

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._numbers.clear()  # those that are taken back
            # A full disk has ended the transaction already.
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")
