"""``journal.sqlite``: which runs have finished, and the records of those that are in no Parquet file yet.

A bit that has changed is noticed. Records have checksums of their own, and their keys, axes and seeds are in them too. Every
other value is in an index besides its table, with which it is compared. What says which tables there are has a checksum.
"""

import json
import os
import sqlite3
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any

from sojourn.backends.identity import Identity
from sojourn.runs import Run
from sojourn.store.known import Known

#: Marks the file as a journal of Sojourn's; the letters "Sjrn".
APPLICATION = 0x536A726E

#: Seconds to wait for another process's transaction.
PATIENCE = 60

#: Keys that are looked for at once.
CHUNK = 500

#: All keys are read, some rows at a time, when more than a twentieth of them has been asked for.
MANY, ROWS = 20, 10_000

_TABLES = f"""
PRAGMA journal_mode = wal;
BEGIN IMMEDIATE;
PRAGMA application_id = {APPLICATION};
-- The builds of backends that made runs.
CREATE TABLE IF NOT EXISTS backends (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, UNIQUE (name, version, digest)
);
-- All current runs, whether their records are here or in the Parquet files: one of each request and name of a backend.
CREATE TABLE IF NOT EXISTS finished (key BLOB PRIMARY KEY, request BLOB NOT NULL, backend INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS requests ON finished (request, backend);
-- Runs that another build of their backend has made again, until they have left the Parquet files and this one. They are kept in
-- files of their own from when "kept" is 1.
CREATE TABLE IF NOT EXISTS superseded (key BLOB PRIMARY KEY, kept INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS standings ON superseded (kept);
-- Records, with what orders them: the values of the run's axes as JSON, and its seed.
CREATE TABLE IF NOT EXISTS journal (
    number INTEGER PRIMARY KEY, key BLOB NOT NULL, axes TEXT NOT NULL, seed INTEGER NOT NULL, record BLOB NOT NULL
);
-- The axes of all campaigns, in the order of their columns.
CREATE TABLE IF NOT EXISTS axes (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
-- The metrics of all versions that may have added records, by the frame that has them.
CREATE TABLE IF NOT EXISTS metrics (frame TEXT, name TEXT, PRIMARY KEY (frame, name)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS frames ON metrics (name);
-- Digests of the Parquet files that may be there: one, or two while files are being replaced.
CREATE TABLE IF NOT EXISTS files (digest TEXT PRIMARY KEY);
"""

#: Tables of few rows, which SQLite compares with their indices.
_SMALL = ("backends", "superseded", "axes", "metrics", "files")

#: A checksum of all finished runs, of their table and of the index that has all of it. SQLite's own comparison looks for each row
#: of the one in the other, which takes three times as long.
_CHECKSUM = "SELECT count(*), total(crc(request, crc(key, backend))) FROM finished INDEXED BY "
_COPIES = ("sqlite_autoindex_finished_1", "requests")

#: Whether a record is of a run that neither counts nor has been superseded.
_ORPHANS = """
SELECT EXISTS (
    SELECT 1 FROM journal WHERE key NOT IN (SELECT key FROM finished) AND key NOT IN (SELECT key FROM superseded)
)
"""

#: Superseded runs that leave the files in a consolidation, and whether files of their own had them before it.
_LEAVING = """
DROP TABLE IF EXISTS temp.leaving;
CREATE TEMP TABLE leaving (key BLOB PRIMARY KEY, kept INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO temp.leaving SELECT key, kept FROM superseded;
"""


class Damaged(Exception):
    """The file is no journal, or no whole one."""


def _close(database: sqlite3.Connection) -> None:
    # The collector may run in another thread than the one whose connection it is.
    with suppress(sqlite3.ProgrammingError):
        database.close()


class Standing(Enum):
    """Where a run belongs in a consolidation."""

    #: In the Parquet files.
    COUNTING = None
    #: In files of superseded runs that are to be written.
    LEAVING = 0
    #: In files of superseded runs that are there.
    LEFT = 1


class Journal:
    """The journal, opened; made if it is not there.

    Args:
        path: the file.
        wholly: the list of finished runs is checked now; otherwise when it is first needed, which is not for reading frames.

    Raises:
        Damaged: what is there is no journal, or a damaged one.
    """

    def __init__(self, path: Path, *, wholly: bool = False) -> None:
        self._numbers: dict[Identity, int] = {}
        self._checked = False
        #: The keys of finished runs, if they have been read and may be; how many were asked for, and how many are enough to read
        #: them; and what other processes had done.
        self._known: Known | None = None
        self._enough: int | None = None
        self._may_know, self._asked, self._others = True, 0, 0
        self._database = _connect(path)
        try:
            self._check()
            if wholly:
                self._check_finished()
            # A journal that is forgotten is closed as one that is closed; Python 3.13 warns of connections that are not.
            weakref.finalize(self, _close, self._database)
            # A commit reaches the system at once, so that it outlasts the process; it reaches the device a little later.
            self._database.execute("PRAGMA synchronous = normal")
            # Some builds of SQLite, such as Debian's, else write zeros over all that is deleted: every record of a campaign.
            self._database.execute("PRAGMA secure_delete = off")
        except Damaged:
            self._database.close()
            raise
        except UnicodeDecodeError:  # in what SQLite says of it
            self._database.close()
            raise Damaged("the definitions of its tables are damaged") from None
        except sqlite3.DatabaseError as error:
            self._database.close()
            # Otherwise it is what is around the file, such as a full disk; the file is not to blame.
            if not isinstance(error, sqlite3.OperationalError) or error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
                raise Damaged(str(error)) from None
            raise

    def _check(self) -> None:
        if not self._value("SELECT count(*) FROM sqlite_master"):
            self._database.executescript(_TABLES)
            self._database.execute(f"PRAGMA user_version = {self._definitions()}")
            self._database.execute("COMMIT")  # to another process the tables and their checksum are there at once
        if self._value("PRAGMA application_id") != APPLICATION:
            raise sqlite3.DatabaseError("not a journal of Sojourn")
        if self._value("PRAGMA user_version") != self._definitions():
            raise Damaged("the definitions of its tables are damaged")
        for check in ("quick_check(1)", *(f"integrity_check({table})" for table in _SMALL)):
            verdict = self._value(f"PRAGMA {check}")
            if verdict != "ok":
                raise Damaged(verdict)
        # A record without a run: one of the two keys is wrong.
        if self._value(_ORPHANS):
            raise Damaged("has a record of an unknown run")

    def _definitions(self) -> int:
        """A checksum of the definitions of all tables and indices, as a signed number."""
        query = "SELECT CAST(name || tbl_name || sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL ORDER BY 1"
        checksum = zlib.crc32(b"".join(definition for (definition,) in self._database.execute(query)))
        return checksum - (checksum >> 31 << 32)

    def _check_finished(self) -> None:
        """Checks, once, that the list of finished runs is what was written.

        Raises:
            Damaged: it is not.
        """
        if self._checked:
            return
        self._database.create_function("crc", 2, zlib.crc32, deterministic=True)
        # One statement, for another process may add runs meanwhile.
        if not self._value(f"SELECT ({_CHECKSUM}{_COPIES[0]}) = ({_CHECKSUM}{_COPIES[1]})"):
            raise Damaged("the list of finished runs is damaged")
        self._checked = True

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def among(self, keys: Sequence[str]) -> set[str]:
        """Those of some runs that have finished."""
        self._check_finished()
        known = self._known_among(keys)
        unknown = [key for key in keys if key not in known] if len(known) < len(keys) else []
        return known | {key.hex() for (key,) in self._of_keys("SELECT key FROM finished", unknown)}

    def _known_among(self, keys: Sequence[str]) -> set[str]:
        """Those that had finished when all keys were read, which is done once many have been asked for.

        What has finished since is not among them. When a run may have been taken away since, none is.
        """
        self._asked += len(keys)
        if self._enough is None:
            self._enough = self.finished() // MANY
        if self._known is None and self._may_know and self._asked > self._enough:
            self._others = self._value("PRAGMA data_version")
            rows = self._database.execute("SELECT key FROM finished ORDER BY key")
            self._known = Known(b"".join(key for (key,) in some) for some in iter(lambda: rows.fetchmany(ROWS), []))
        if self._known is None:
            return set()
        if self._value("PRAGMA data_version") != self._others:  # of other processes, whatever they did
            self._forget_known()
            return set()
        return self._known.among(keys)

    def _forget_known(self) -> None:
        """Keys are not read again: what changes once is likely to change often."""
        self._known, self._may_know = None, False

    def finished(self) -> int:
        """How many runs have finished."""
        return int(self._value("SELECT count(*) FROM finished"))

    def waiting(self) -> int:
        """How many of these are here and in no Parquet file."""
        return int(self._value("SELECT count(*) FROM journal WHERE key IN (SELECT key FROM finished)"))

    def add(self, run: Run, record: bytes) -> None:
        """Adds a run; see ``add_all``."""
        self.add_all([(run, record)])

    def add_all(self, records: Iterable[tuple[Run, bytes]]) -> None:
        """Adds runs that have finished, unless they are there; what other builds of their backend made of them counts no more."""
        with self._transaction():
            for run, record in records:
                if self._finish(run.key, run.request, run.backend):
                    self._add(run, record)

    def _add(self, run: Run, record: bytes) -> None:
        key = bytes.fromhex(run.key)
        same = "request = ? AND key <> ? AND backend IN (SELECT number FROM backends WHERE name = ?)"
        values = (bytes.fromhex(run.request), key, run.backend.name)
        query = f"INSERT OR REPLACE INTO superseded SELECT key, 0 FROM finished WHERE {same}"
        if self._database.execute(query, values).rowcount:
            self._database.execute(f"DELETE FROM finished WHERE {same}", values)
            self._forget_known()
        # It may itself have been superseded, and be made again.
        if self._database.execute("DELETE FROM superseded WHERE key = ?", (key,)).rowcount:
            self._database.execute("DELETE FROM journal WHERE key = ?", (key,))
        labels = json.dumps(dict(run.axes))
        self._database.execute(
            "INSERT INTO journal (key, axes, seed, record) VALUES (?, ?, ?, ?)", (key, labels, run.seed, record)
        )

    def _finish(self, key: str, request: str, backend: Identity) -> bool:
        """Has a run count; says whether it did not before."""
        values = (bytes.fromhex(key), bytes.fromhex(request), self._number(backend))
        return self._database.execute("INSERT OR IGNORE INTO finished VALUES (?, ?, ?)", values).rowcount > 0

    def _number(self, backend: Identity) -> int:
        """The number of a build of a backend, which never changes; given to it if it has none."""
        if backend not in self._numbers:
            values = (backend.name, backend.version, backend.digest)
            self._database.execute("INSERT OR IGNORE INTO backends (name, version, digest) VALUES (?, ?, ?)", values)
            query = "SELECT number FROM backends WHERE (name, version, digest) = (?, ?, ?)"
            self._numbers[backend] = self._value(query, values)
        return self._numbers[backend]

    def made(self, request: str, backend: str) -> tuple[str, Identity] | None:
        """The key of the run of a request that counts, and the build of the backend that made it; nothing if there is none."""
        self._check_finished()
        row = self._database.execute(
            "SELECT key, name, version, digest FROM finished JOIN backends ON number = backend WHERE request = ? AND name = ?",
            (bytes.fromhex(request), backend),
        ).fetchone()
        return None if row is None else (row[0].hex(), Identity(*row[1:]))

    def identities(self) -> dict[Identity, int]:
        """The builds of backends that made the runs that count, and how many each made."""
        self._check_finished()
        found = self._database.execute(
            "SELECT name, version, digest, count(*) FROM backends JOIN finished ON number = backend GROUP BY number"
        )
        return {Identity(*identity): count for *identity, count in found}

    def builds(self) -> list[Identity]:
        """The same without their numbers, for which all runs would have to be counted."""
        self._check_finished()
        made = "EXISTS (SELECT 1 FROM finished WHERE backend = number)"
        found = self._database.execute(f"SELECT name, version, digest FROM backends WHERE {made} ORDER BY number")
        return [Identity(*identity) for identity in found]

    def begin_consolidation(self) -> bool:
        """Notes the superseded runs of now, to which the standing of runs refers; says whether any has no file of its own yet."""
        self._database.executescript(_LEAVING)
        return bool(self._value("SELECT EXISTS (SELECT 1 FROM temp.leaving WHERE NOT kept)"))

    def keep_superseded(self) -> None:
        """Notes that the runs that were leaving are in files of their own."""
        with self._transaction():
            self._database.execute("UPDATE superseded SET kept = 1 WHERE key IN (SELECT key FROM temp.leaving)")

    def standings(self, keys: Sequence[str]) -> dict[str, Standing]:
        """How those of some runs stand that do not count."""
        if not self._value("SELECT EXISTS (SELECT 1 FROM temp.leaving)"):
            return {}
        return {key.hex(): Standing(kept) for key, kept in self._of_keys("SELECT key, kept FROM temp.leaving", keys)}

    def last(self) -> int:
        """The number of the latest record; 0 if there is none."""
        return int(self._value("SELECT coalesce(max(number), 0) FROM journal"))

    def records(self, last: int, axes: Sequence[str], standing: Standing) -> Iterator[tuple[str, Mapping[str, str], int, bytes]]:
        """Key, axes, seed and record of the runs that stand so, up to number ``last``: in order of their axes, seed and key."""
        self._database.create_function("place", 1, lambda labels: _place(_labels(labels), axes), deterministic=True)
        # The records themselves are not sorted.
        query = (
            "SELECT number, key, CAST(axes AS BLOB), seed FROM journal LEFT JOIN temp.leaving USING (key) "
            "WHERE number <= ? AND kept IS ? ORDER BY place(CAST(axes AS BLOB)), seed, key"
        )
        with closing(self._database.execute(query, (last, standing.value))) as rows:
            for number, key, labels, seed in rows:
                # A run that has been made again since has another number.
                for (record,) in self._database.execute("SELECT record FROM journal WHERE number = ?", (number,)):
                    yield key.hex(), _labels(labels), seed, record

    def forget(self, last: int, digest: str) -> None:
        """Drops the records up to number ``last``, which are now in the Parquet files of that digest, and superseded runs."""
        with self._transaction():
            self._database.execute("DELETE FROM superseded WHERE kept AND key IN (SELECT key FROM temp.leaving)")
            self._database.execute("DELETE FROM journal WHERE number <= ?", (last,))
            self._database.execute("DELETE FROM files WHERE digest <> ?", (digest,))
        # Gives back the room; another process that writes now, or a full disk, may forbid it, and the next time will do.
        with suppress(sqlite3.OperationalError):
            self._database.execute("VACUUM")

    def drop(self, key: str) -> None:
        """Drops a run whose record is of no use, so that it counts as not made."""
        self._forget_known()
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
        self._forget_known()
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
            self.expect(digest)
            self._add_axes(axes)

    def axes(self) -> list[str]:
        """The axes of all campaigns."""
        return [name for (name,) in self._database.execute("SELECT name FROM axes ORDER BY position")]

    def add_axes(self, axes: Sequence[str]) -> None:
        """Adds those axes that are new."""
        # Nothing is written where nothing is new, so that a complete store may be read-only.
        if not set(axes).issubset(self.axes()):
            with self._transaction():
                self._add_axes(axes)

    def metrics(self, frame: str) -> list[str]:
        """The metrics that records may have in a frame."""
        return [name for (name,) in self._database.execute("SELECT name FROM metrics WHERE frame = ?", (frame,))]

    def add_metrics(self, frame: str, names: Iterable[str]) -> None:
        """Says that records may have these metrics in a frame."""
        new = set(names).difference(self.metrics(frame))
        if new:
            with self._transaction():
                self._database.executemany("INSERT OR IGNORE INTO metrics VALUES (?, ?)", ((frame, name) for name in sorted(new)))

    def _add_axes(self, axes: Sequence[str]) -> None:
        self._database.executemany("INSERT OR IGNORE INTO axes (name) VALUES (?)", ((axis,) for axis in axes))

    def _value(self, query: str, values: tuple[object, ...] = ()) -> Any:
        """The only value that a query finds."""
        (value,) = self._database.execute(query, values).fetchone()
        return value

    def _of_keys(self, query: str, keys: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """What a query finds that is limited to the rows of some keys."""
        for start in range(0, len(keys), CHUNK):
            chunk = [bytes.fromhex(key) for key in keys[start : start + CHUNK]]
            yield from self._database.execute(f"{query} WHERE key IN ({', '.join('?' * len(chunk))})", chunk)

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


def _connect(path: Path) -> sqlite3.Connection:
    """A connection to the file; where nothing can be written, to one that nobody changes meanwhile.

    A write-ahead log needs a file beside it even to be read, unless the database is immutable.
    https://sqlite.org/wal.html#readonly
    """
    log = path.with_name(f"{path.name}-wal")
    if path.exists() and not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size):
        return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, isolation_level=None)
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)


def _labels(axes: bytes) -> Mapping[str, str]:
    """A run's values of axes; none if they are damaged, which shows when they are compared with its record's."""
    try:
        labels = json.loads(axes)
    except ValueError:
        return {}
    return labels if isinstance(labels, dict) and all(isinstance(label, str) for label in labels.values()) else {}


def _place(labels: Mapping[str, str], axes: Sequence[str]) -> bytes:
    """Bytes whose order is that of a run's values of all axes, none first."""
    return b"".join(b"\0" if axis not in labels else b"\1" + _ordered(labels[axis]) for axis in axes)


def _ordered(label: str) -> bytes:
    """A label as bytes that end where it ends, so that a label comes before those that it begins."""
    return label.encode().replace(b"\0", b"\0\1") + b"\0\0"
