"""Questions in SQL to the frames of a store. They only read, and only what is in its directory."""

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sojourn.errors import InputError
from sojourn.store.parquet import lacking
from sojourn.store.sql import literal

if TYPE_CHECKING:
    import duckdb


class Unanswered(InputError):
    """A query has no answer: it is wrong, or a file that it reads is damaged."""


def ask(directory: Path, files: Mapping[str, Path | None], empty: Callable[[str], pl.DataFrame], text: str) -> pl.DataFrame:
    """What a query finds in tables that are Parquet files of a directory, or that are empty where there is no file.

    The query may also name other files of the directory.

    Raises:
        InputError: the query is wrong, or does more than read; ``Unanswered`` if a file may be to blame.
    """
    # Loaded here, because commands that ask nothing should not wait for it.
    import duckdb

    with closing(duckdb.connect()) as database:
        try:
            for name, file in files.items():
                table = database.from_arrow(empty(name).to_arrow()) if file is None else database.read_parquet(str(file))
                unknown = [f'NULL::DOUBLE AS "{metric}"' for metric in lacking(table.columns, name)]
                table.project(", ".join(["*", *unknown])).create_view(name)
        except duckdb.Error as error:
            raise Unanswered(_complaint(error)) from None
        confine(database, directory)
        return find(database, text)


def confine(database: "duckdb.DuckDBPyConnection", directory: Path | None = None) -> None:
    """Denies a database all files but those of a directory, extensions, and variables of Python; it cannot be undone.

    It could still write to the directory, which ``find`` refuses.
    Source: "Securing DuckDB", https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview.
    """
    folders = [] if directory is None else [str(directory.absolute()), str(directory.resolve())]
    # Where it keeps what memory has no room for: the default is a folder in the current directory.
    spill = Path(tempfile.gettempdir()) / f"sojourn-query-{os.getpid()}"
    database.execute(f"SET temp_directory = {literal(spill)}")
    database.execute("SET python_enable_replacements = false")
    database.execute(f"SET allowed_directories = [{', '.join(map(literal, folders))}]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")


def find(database: "duckdb.DuckDBPyConnection", text: str) -> pl.DataFrame:
    """What a query finds in a database.

    Raises:
        InputError: the query is wrong, or does more than read; ``Unanswered`` if what it reads may be to blame.
    """
    import duckdb

    try:
        _check(text)
        found: pl.DataFrame = database.sql(text).pl()
        return found
    except duckdb.PermissionException as error:
        file = str(error).partition('"')[2].partition('"')[0]
        raise InputError(f"invalid query: {file}: a query reads only files of the results directory") from None
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        raise InputError(_complaint(error)) from None
    except duckdb.Error as error:
        raise Unanswered(_complaint(error)) from None


def _complaint(error: Exception) -> str:
    said = str(error).partition("\n\nLINE ")[0]
    return f"invalid query: {' '.join(said.split())}"


def _check(text: str) -> None:
    """Sees to it that a text is one query that only reads.

    Raises:
        InputError: it is not.
        duckdb.Error: it cannot be parsed.
    """
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
