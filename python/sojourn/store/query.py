"""Questions in SQL to the frames of a store. They only read, and only what is in its directory."""

import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from sojourn.errors import InputError
from sojourn.store.parquet import lacking
from sojourn.store.sql import identifier, literal

if TYPE_CHECKING:
    import duckdb


#: Seconds that a query may take: one over a million runs takes a few.
MOST_SECONDS = 600.0

#: The most values that a query may find: 1.6 GB of numbers.
MOST_VALUES = 200_000_000

#: The temporary folders of the databases that are open.
_spills: set[str] = set()

#: Columns that SQL takes for something else unless they are quoted, and whether each is a keyword, or else no word.
_TO_BE_QUOTED = """
    SELECT DISTINCT column_name, regexp_full_match(column_name, '[A-Za-z_][A-Za-z0-9_]*') AS is_keyword FROM duckdb_columns()
    WHERE NOT is_keyword
    OR lower(column_name) IN (SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved')
"""


#: The schema of DuckDB in which names without another one are.
MAIN = "main"


class Unanswered(InputError):
    """A query has no answer: it is wrong, or a file that it reads is damaged."""


@contextmanager
def opened(memory: str | None = None) -> "Iterator[duckdb.DuckDBPyConnection]":
    """A database that uses so much memory at most, or what the machine has, and then a temporary folder."""
    # Loaded here, because commands that ask nothing should not wait for it.
    import duckdb

    limit = {} if memory is None else {"memory_limit": memory}
    with TemporaryDirectory(prefix="sojourn-") as spill:
        _spills.add(spill)
        try:
            with duckdb.connect(config={"temp_directory": spill, **limit}) as database:
                yield database
        finally:
            _spills.discard(spill)


def clean_up() -> None:
    """Removes the temporary folders of queries under way: for a process that ends at once."""
    for spill in _spills:
        shutil.rmtree(spill, ignore_errors=True)


@dataclass(frozen=True)
class Tables:
    """The frames of a store as tables: the files in its directory, and what is empty where there is no file."""

    directory: Path
    files: Mapping[str, Path | None]
    empty: Callable[[str], pl.DataFrame]


def ask(here: Tables, text: str, also: Mapping[str, Tables] | None = None) -> pl.DataFrame:
    """What a query finds in the tables of a store, and in those of others: ``NAME.runs`` is a table of the store of that name.

    The query may also name other files of the directories.
    """
    import duckdb

    with opened() as database:
        try:
            for schema, tables in {MAIN: here, **(also or {})}.items():
                database.execute(f"CREATE SCHEMA IF NOT EXISTS {identifier(schema)}")
                for name, file in tables.files.items():
                    place = f"{identifier(schema)}.{name}"
                    if file is None:
                        database.from_arrow(Stream(tables.empty(name))).create(place)
                    else:
                        database.execute(f"CREATE VIEW {place} AS {rows(database, file, name).sql_query()}")
        except duckdb.Error as error:
            raise Unanswered(_complaint(error)) from None
        confine(database, here.directory, *(tables.directory for tables in (also or {}).values()))
        return find(database, text)


def ask_frames(frames: Mapping[str, pl.DataFrame], text: str) -> pl.DataFrame:
    """What a query finds in frames, by their names; it may read no files."""
    with opened() as database:
        for name, frame in frames.items():
            database.from_arrow(Stream(frame)).create(identifier(name))
        confine(database)
        return find(database, text)


class Stream:
    """Rows as polars and DuckDB hand them to each other without pyarrow.

    Of a frame itself DuckDB would make pyarrow's table. Of a relation itself polars asks more than its rows, after which DuckDB
    2.0 complains on stderr at the end of the process that objects were leaked.
    """

    def __init__(self, rows: "pl.DataFrame | duckdb.DuckDBPyRelation") -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._rows.__arrow_c_stream__(requested_schema)


def rows(database: "duckdb.DuckDBPyConnection", file: Path, name: str) -> "duckdb.DuckDBPyRelation":
    """The rows of a frame's file; metrics that it lacks are null, as in ``parquet.scan``."""
    table = database.read_parquet(str(file))
    absent = (f"NULL::DOUBLE AS {identifier(metric)}" for metric in lacking(table.columns, name))
    return table.project(", ".join(["*", *absent]))


def confine(database: "duckdb.DuckDBPyConnection", *directories: Path) -> None:
    """Denies a database all files but those of some directories, extensions, and variables of Python; it cannot be undone.

    It could still write to the directories, which ``find`` refuses.
    Source: "Securing DuckDB", https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview.
    """
    folders = [str(path) for directory in directories for path in (directory.absolute(), directory.resolve())]
    database.execute("SET python_enable_replacements = false")
    database.execute(f"SET allowed_directories = [{', '.join(map(literal, folders))}]")
    database.execute("SET enable_external_access = false")


def find(database: "duckdb.DuckDBPyConnection", text: str) -> pl.DataFrame:
    """What a query finds in a database.

    A query that needs more memory than the database may use, such as for a median of many values, gets what the machine has.
    """
    import duckdb

    try:
        _check(text)
        try:
            return _found(database, text)
        except duckdb.OutOfMemoryException:
            database.execute("RESET memory_limit")
        return _found(database, text)
    except duckdb.OutOfMemoryException:
        raise InputError("the query needs more memory than there is; ask for less") from None
    except duckdb.InterruptException:
        raise InputError(f"the query has no answer after {MOST_SECONDS:g} s; ask for less") from None
    except duckdb.PermissionException as error:
        file = str(error).partition('"')[2].partition('"')[0]
        raise InputError(f"invalid query: {file}: a query reads only files of the results directory") from None
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        raise InputError(_complaint(error) + _unquoted(database, text, isinstance(error, duckdb.ParserException))) from None
    except duckdb.Error as error:
        raise Unanswered(_complaint(error)) from None


def _found(database: "duckdb.DuckDBPyConnection", text: str) -> pl.DataFrame:
    """What a query finds; groups whose order is left to the database are sorted, since its threads order them by chance."""
    timer = threading.Timer(MOST_SECONDS, database.interrupt)
    timer.daemon = True
    timer.start()
    try:
        relation = database.sql(text)
        most = MOST_VALUES // max(1, len(relation.columns))
        for column, kind in zip(relation.columns, relation.types, strict=True):
            if "INTERVAL" in str(kind):
                raise InputError(f"invalid query: {column}: is an interval, which no table can hold; write epoch(...) of it")
        # Not relation.pl(), which needs pyarrow. Without a limit, columns of one name would be an error.
        found = pl.DataFrame(Stream(relation.limit(most + 1)))
    finally:
        timer.cancel()
    if found.height > most:
        raise InputError(f"the query finds more than {most:,} rows; ask for less")
    words = _without_quoted(text)
    if re.search(r"\border\s+by\b", words, re.IGNORECASE) or not re.search(r"\b(group\s+by|distinct)\b", words, re.IGNORECASE):
        return found
    sortable = [name for name, kind in found.schema.items() if not kind.is_nested() and kind != pl.Object]
    return found.sort(sortable, maintain_order=True) if sortable else found


def _without_quoted(text: str) -> str:
    """A query without its quoted names and strings."""
    return re.sub(r"""\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'""", " ", text)


def _unquoted(database: "duckdb.DuckDBPyConnection", text: str, unparsed: bool) -> str:
    """What is to be said of columns that a query names without the quotes that they need; empty if there are none.

    In a query that can be parsed a keyword is one.
    """
    words = _without_quoted(text)
    columns = [name for name, is_keyword in database.execute(_TO_BE_QUOTED).fetchall() if unparsed or not is_keyword]
    named = [name for name in sorted(columns) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words, re.IGNORECASE)]
    return f"; write {', '.join(map(identifier, named))} with its quotes: SQL means something else by it" if named else ""


def _complaint(error: Exception) -> str:
    said = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", str(error).partition("\n\nLINE ")[0])
    return f"invalid query: {' '.join(said.split())}"


def _check(text: str) -> None:
    """Checks that a text is one query that only reads."""
    import duckdb

    statements = duckdb.extract_statements(text)
    if not statements:
        raise InputError("empty query; write one such as select count(*) from runs")
    if len(statements) > 1:
        raise InputError(f"invalid query: {len(statements)} statements; write one")
    kind = statements[0].type
    if kind == duckdb.StatementType.SELECT:
        return
    if kind == duckdb.StatementType.MULTI:
        # PIVOT is several statements to DuckDB, and so is what writes what it finds; only the former can be in parentheses.
        try:
            duckdb.extract_statements(f"FROM ({text.rstrip().rstrip(';')}\n)")
        except duckdb.ParserException:
            pass
        else:
            return
    word = text.split(maxsplit=1)[0].upper()
    raise InputError(f"invalid query: {word if word.isalpha() else kind.name}: a query only reads; write a SELECT")
