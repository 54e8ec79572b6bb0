"""A directory of results."""

import errno
import os
import resource
import sqlite3
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl

from sojourn.analysis.axes import check_axes
from sojourn.analysis.frames import EVERY, NAMES, OPTIONAL, metrics_of, schema
from sojourn.analysis.result import Frames, Result
from sojourn.backends.identity import Identity
from sojourn.errors import InputError, StoreFailed
from sojourn.runs import Run
from sojourn.store import consolidation, marker, outputs, parquet, provenance, query, seal
from sojourn.store.files import locked, set_aside
from sojourn.store.journal import Damaged, Journal
from sojourn.store.provenance import Provenance

JOURNAL = "journal.sqlite"

#: Keys that are Python strings at the same time.
KEYS_AT_ONCE = 10_000

#: What no other store is called in a query: the names of tables, and DuckDB's own of schemas and databases.
TAKEN = {*EVERY, query.MAIN, "memory", "temp", "system", "information_schema", "pg_catalog"}

#: What is said of a full disk.
FULL = "the disk is full; finished runs are kept; free some space and repeat the command"

#: What a command that only reads says of a damaged file.
UNCHANGED = "nothing was changed; a command that makes runs sets damaged files aside and makes their runs again"


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=3)


class Store(Frames):
    """The results in a directory: the frames of a ``Result``, and ``sql`` over all of them.

    Args:
        directory: where the store is.
        create: runs are to be added: make a new or empty directory a store, and set damaged files aside, whose runs will be made
            again. Otherwise it must be a store, and a damaged file is an error that changes nothing.
        notify: called with a line about each file that is damaged and has been set aside; warns unless given.

    Raises:
        InputError: the directory is no store that this version reads, or cannot be made one.
        StoreFailed: its files cannot be read or written, or are damaged.
    """

    def __init__(self, directory: Path, *, create: bool = False, notify: Callable[[str], None] = _warn) -> None:
        self.directory = directory
        self._notify, self._adds = notify, create
        #: States of files that were seen to be as they were written.
        self._whole: set[tuple[str, int, int, int]] = set()
        if create and not marker.is_there(directory):
            marker.make(directory)
        if create:
            with self._failing():
                if marker.mend(directory):
                    notify(f"{directory / marker.NAME}: was damaged and has been written again; the results are as they were")
        marker.check(directory)
        with self._failing(), self._locked():
            self._journal = self._open_journal()
            self._check_files(wholly=create)

    def close(self) -> None:
        """Closes the store's files; only frames already read remain."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        if isinstance(error, pl.exceptions.PolarsError):
            # A frame may be read only when it is collected.
            self._blame_files()

    def __len__(self) -> int:
        """How many runs have finished."""
        with self._failing():
            return self._journal.finished()

    def note(self, made_by: Provenance) -> None:
        """Writes down what makes the runs that are to come, unless that stands there already."""
        with self._failing(), self._locked():
            if os.access(self.directory, os.W_OK):  # otherwise there can be no runs to come
                provenance.note(self.directory, made_by)

    @property
    def provenance(self) -> Sequence[Provenance]:
        """What has made the runs, in order."""
        with self._failing():
            return provenance.read(self.directory)

    def begin(self, axes: Sequence[str]) -> None:
        with self._failing():
            check_axes(axes, self._journal.axes())
            self._journal.add_axes(axes)
            for name in NAMES:
                self._journal.add_metrics(name, metrics_of(name))

    def among(self, keys: Sequence[str]) -> Set[str]:
        with self._failing():
            return self._journal.among(keys)

    def count(self, keys: Iterator[str]) -> int:
        """How many of some runs have finished."""
        total = 0
        while chunk := list(islice(keys, KEYS_AT_ONCE)):
            total += len(self.among(chunk))
        return total

    @property
    def identities(self) -> Mapping[Identity, int]:
        """The builds of backends that made the runs, and how many each made."""
        with self._failing():
            return self._journal.identities()

    def stale(self, requests: Iterable[str], backend: Identity) -> Counter[Identity]:
        with self._failing():
            if not any(other.name == backend.name for other in self._journal.builds() if other != backend):
                return Counter()
            made = (self._journal.made(request, backend.name) for request in requests)
            return Counter(identity for _, identity in filter(None, made) if identity != backend)

    def keys_of(self, requests: Iterable[str], backend: str) -> list[str]:
        """The keys of the runs that a backend made of some requests, whichever build of it; of those that are there."""
        with self._failing():
            made = (self._journal.made(request, backend) for request in requests)
            return [key for key, _ in filter(None, made)]

    def add(self, run: Run, record: bytes) -> None:
        with self._failing():
            self._journal.add(run, record)

    def add_all(self, records: Iterable[tuple[Run, bytes]]) -> None:
        with self._failing():
            self._journal.add_all(records)

    def add_files(self, key: str, files: Mapping[str, bytes]) -> Path:
        with self._failing():
            return outputs.write_of_failed(self.directory, key, files)

    def consolidate(self) -> Set[str]:
        """Moves the journal's runs to the Parquet files; another process's too. See ``RunStore.consolidate``."""
        with self._failing():
            if not self._journal.last():
                return set()
            with self._locked():
                # What was damaged since the files were opened must not be written anew as if it were right.
                self._check_files(wholly=True)
                try:
                    unreadable = consolidation.consolidate(self.directory, self._journal, drop=self._adds)
                except consolidation.Unreadable as error:
                    raise StoreFailed(f"{self.directory / JOURNAL}: {_runs(error.args[0])} cannot be read; {UNCHANGED}") from None
        if unreadable:
            self._notify(f"{self.directory / JOURNAL}: {_runs(len(unreadable))} cannot be read and will be run again")
        return unreadable

    def result(self, axes: Sequence[str], keys: Callable[[], Iterator[str]] | None) -> Result:
        """See ``RunStore.result``; the frames are read when they are asked for, even after the store has been closed."""

        def file(name: str) -> Path | None:
            there = parquet.path(self.directory, name)
            return self._checked(there) if there.exists() else None

        def scan(name: str) -> pl.LazyFrame:
            there, columns = file(name), schema(name, axes)
            rows = columns.to_frame().lazy() if there is None else parquet.scan(there, name).select(list(columns))
            if keys is not None:
                rows = rows.join(_frame_of(keys()).lazy(), on="key", how="semi", maintain_order="left")
            return rows

        return Result(scan, axes, file)

    def scan(self, name: str) -> pl.LazyFrame:
        """A frame that is read when it is collected, and of which only what is asked for then is read."""
        file = self._file(name)
        return self._empty(name).lazy() if file is None else parquet.scan(self._checked(file), name)

    def frame(self, name: str) -> pl.DataFrame:
        try:
            return self.scan(name).collect()
        except pl.exceptions.PolarsError:
            self._blame_files()
            raise

    def sql(self, text: str, also: Mapping[str, "Store"] | None = None) -> pl.DataFrame:
        """What a query over the tables ``runs``, ``groups``, ``flows``, ``queues``, ``transfers`` and ``series`` finds.

        The language is DuckDB's; ``.to_pandas()`` makes a pandas frame of it. A query only reads, and only files of the
        directory. ``also`` names other stores, whose tables are then ``NAME.runs`` and so on.

        Raises:
            InputError: the query is wrong, or does more than read; another store has a name that cannot be.
            StoreFailed: a file is damaged.
        """
        others = also or {}
        for name in others:
            if not name.isidentifier() or name.casefold() in TAKEN:
                raise InputError(f'"{name}": cannot name a directory in SQL; give it letters, digits and _ such as "before"')
        for store in (self, *others.values()):
            store._check_named(text)
        try:
            return query.ask(self._tables(), text, {name: store._tables() for name, store in others.items()})
        except query.Unanswered:
            for store in (self, *others.values()):
                store._blame_files()
            raise

    def _tables(self) -> query.Tables:
        return query.Tables(self.directory, {name: self._file(name) for name in EVERY}, self._empty)

    def _file(self, name: str) -> Path | None:
        """The file of a frame with all runs; none if there are no runs."""
        if self._journal.waiting():
            self.consolidate()
        file = parquet.path(self.directory, name)
        if file.exists():
            return file
        if name in OPTIONAL and self._has_programs():
            raise StoreFailed(f"{file}: is missing; {UNCHANGED}")
        return None

    def _has_programs(self) -> bool:
        """Whether any of the runs has programs."""
        runs = parquet.path(self.directory, "runs")
        if not runs.exists():
            return False
        found = pl.scan_parquet(runs).filter(pl.col("specification").str.contains('"programs":[', literal=True))
        return bool(found.select("key").head(1).collect().height)

    def _checked(self, file: Path) -> Path:
        """A file, of which all has been read once to see that it is as it was written."""
        now = file.stat()
        state = (str(file), now.st_ino, now.st_size, now.st_mtime_ns)
        if state not in self._whole:
            if seal.is_broken(file):
                raise StoreFailed(f"{file}: is damaged; {UNCHANGED}")
            self._whole.add(state)
        return file

    def _check_named(self, text: str) -> None:
        """Checks the files that a query may read: those of frames that it names, and all if it may name files."""
        words = text.casefold()
        anything = "parquet" in words or "query" in words
        for name in EVERY:
            if (anything or name in words) and (file := self._file(name)) is not None:
                self._checked(file)
        if anything:
            for file in sorted((self.directory / consolidation.SUPERSEDED).glob("*/*.parquet")):
                if seal.is_broken(file):
                    raise StoreFailed(f"{file}: is damaged; its runs were made again by another build of their backend")

    def _empty(self, name: str) -> pl.DataFrame:
        return schema(name, self._journal.axes()).to_frame()

    def _locked(self) -> AbstractContextManager[None]:
        return locked(self.directory / marker.NAME)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What goes wrong around the files is one line."""
        kept = "finished runs are kept"
        try:
            yield
        except sqlite3.ProgrammingError:
            raise
        except Damaged as error:
            raise StoreFailed(f"{self.directory / JOURNAL}: {error}; {UNCHANGED}") from None
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
                raise StoreFailed(f"{self.directory / JOURNAL}: {FULL}") from None
            raise StoreFailed(f"{self.directory / JOURNAL}: {error}{_limited(error)}; {kept}") from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFailed(f"{error.filename or self.directory}: {FULL}") from None
            raise StoreFailed(f"{error.filename or self.directory}: {error.strerror or error}; {kept}") from None
        except pl.exceptions.PolarsError as error:
            raise StoreFailed(f"{self.directory}: {' '.join(str(error).split())}; {kept}") from None

    def _blame_files(self) -> None:
        """Raises ``StoreFailed`` if a file is damaged."""
        for file in parquet.paths(self.directory):
            if file.exists() and seal.is_broken(file):
                raise StoreFailed(f"{file}: is damaged; {UNCHANGED}") from None

    def _open_journal(self) -> Journal:
        path = self.directory / JOURNAL
        try:
            return Journal(path, wholly=self._adds)
        except Damaged as error:
            if not self._adds:
                raise StoreFailed(f"{path}: {error}; {UNCHANGED}") from None
            where = set_aside(path)
            for suffix in ("-wal", "-shm"):
                companion = path.with_name(path.name + suffix)
                if companion.exists():
                    companion.rename(where.with_name(where.name + suffix))
            self._notify(f"{path}: {error}; moved to {where}; runs that were only there will be run again")
            return Journal(path)

    def _check_files(self, *, wholly: bool) -> None:
        """Checks that the Parquet files are those that the journal knows of, and sets them aside if they are not.

        Args:
            wholly: all of them is read to see that they are as they were written; otherwise that is done of a frame when it is
                asked for.
        """
        if self._adds:
            consolidation.clear(self.directory)
        files = parquet.paths(self.directory)
        there = [file for file in files if file.exists()]
        found = {file: None if wholly and seal.is_broken(file) else parquet.digest(file) for file in there}
        expected = self._journal.digests()
        if not expected and len(there) == len(files) and len(set(found.values())) == 1 and None not in found.values():
            # The journal has been lost, and the files are whole.
            columns = dict.fromkeys(("key", "request", "backend", "backend_version", "backend_digest"), pl.String())
            rows = chain.from_iterable(piece.iter_rows() for piece in parquet.pieces(files[0], pl.Schema(columns)))
            runs = ((key, request, Identity(*backend)) for key, request, *backend in rows)
            self._journal.find(runs, parquet.axes(files[0]), str(found[files[0]]))
            return
        # The journal may hold all that the files do, if a first consolidation was cut short.
        whole = all(found.get(file) in expected for file in files)
        if whole or not (expected or there):
            return
        wrong = [file for file in files if found.get(file) not in expected]

        def what(file: Path) -> str:
            return "is damaged or belongs to another store" if file in there else "is missing"

        lost = len(self) - self._journal.waiting()
        to_blame = wrong if lost else [file for file in wrong if file in there]
        if to_blame and not self._adds:
            raise StoreFailed(f"{to_blame[0]}: {what(to_blame[0])}; {UNCHANGED}")
        for file in there:
            if lost or file in wrong:
                set_aside(file)
            else:
                file.unlink()
        self._journal.lose_files()
        for file in wrong:
            if lost or file in there:
                again = f"; {_runs(lost)} will be run again" if lost else ""
                self._notify(f"{file}: {what(file)}; the remaining files were moved to {self.directory / 'set-aside'}{again}")


def _frame_of(keys: Iterator[str]) -> pl.DataFrame:
    """Keys as a column: a list of a million of them would take several times as much memory."""
    column = pl.Series("key", [], pl.String())
    while chunk := list(islice(keys, KEYS_AT_ONCE)):
        column.append(pl.Series("key", chunk))
    return column.to_frame()


def _limited(error: sqlite3.Error) -> str:
    """What a shell's limit on the size of files has to do with an error; SQLite says only that it could not write."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit == resource.RLIM_INFINITY or (getattr(error, "sqlite_errorcode", 0) & 0xFF) != sqlite3.SQLITE_IOERR:
        return ""
    return f" (files are limited to {limit // 1024} KiB, ulimit -f)"


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{number} runs"
