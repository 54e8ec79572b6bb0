"""Questions in SQL to the frames of a store."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sojourn.errors import InputError
from sojourn.store.parquet import lacking

if TYPE_CHECKING:
    import duckdb


def ask(files: Mapping[str, Path | None], empty: Callable[[str], pl.DataFrame], text: str) -> pl.DataFrame:
    """What a query finds in tables that are Parquet files, or that are empty where there is no file.

    Raises:
        InputError: the query is wrong.
    """
    # Loaded here, because commands that ask nothing should not wait for it.
    import duckdb

    database = duckdb.connect()
    for name, file in files.items():
        table = database.from_arrow(empty(name).to_arrow()) if file is None else database.read_parquet(str(file))
        unknown = [f'NULL::DOUBLE AS "{metric}"' for metric in lacking(table.columns, name)]
        table.project(", ".join(["*", *unknown])).create_view(name)
    return find(database, text)


def find(database: "duckdb.DuckDBPyConnection", text: str) -> pl.DataFrame:
    """What a query finds in a database.

    A query that needs more memory than the database may use, such as for a median of many values, gets what the machine has.

    Raises:
        InputError: the query is wrong.
    """
    import duckdb

    try:
        try:
            found = _found(database, text)
        except duckdb.OutOfMemoryException:
            database.execute("RESET memory_limit")
            found = _found(database, text)
    except duckdb.Error as error:
        complaint = str(error).partition("\n\nLINE ")[0]
        raise InputError(f"invalid query: {' '.join(complaint.split())}") from None
    if found is None:
        raise InputError("empty query; write one such as select count(*) from runs")
    return found


def _found(database: "duckdb.DuckDBPyConnection", text: str) -> pl.DataFrame | None:
    # None, whatever its annotation says, of a statement that finds nothing.
    relation: duckdb.DuckDBPyRelation | None = database.sql(text)
    return None if relation is None else relation.pl()
