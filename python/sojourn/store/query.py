"""Questions in SQL to the frames of a store."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sojourn.errors import InputError

if TYPE_CHECKING:
    import duckdb


def ask(files: Mapping[str, Path | None], empty: Callable[[str], pl.DataFrame], text: str) -> "duckdb.DuckDBPyRelation":
    """What a query finds in tables that are Parquet files, or that are empty where there is no file.

    Raises:
        InputError: the query is wrong.
    """
    # Loaded here, because commands that ask nothing should not wait for it.
    import duckdb

    database = duckdb.connect()
    for name, file in files.items():
        table = database.from_arrow(empty(name).to_arrow()) if file is None else database.read_parquet(str(file))
        table.create_view(name)
    try:
        found = database.sql(text)
    except duckdb.Error as error:
        raise wrong(error) from None
    if found is None:
        raise InputError("the query asks nothing; write one such as select count(*) from runs")
    return found


def wrong(error: Exception) -> InputError:
    """DuckDB's complaint as one line."""
    complaint = str(error).partition("\n\nLINE ")[0]
    return InputError(f"the query is wrong: {' '.join(complaint.split())}")
