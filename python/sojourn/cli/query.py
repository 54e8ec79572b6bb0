"""``sojourn query``: prints what a query over a store finds."""

import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table

from sojourn.errors import InputError
from sojourn.store import Store

#: Columns of a line that is never too short.
UNLIMITED = 1_000_000


def query(directory: Path, sql: str, form: str, notify: Callable[[str], None]) -> None:
    """Asks the store in a directory and prints the answer.

    Raises:
        InputError: the query is wrong, or there is no store.
    """
    with Store(directory, notify=notify) as store:
        found = store.sql(sql)
    FORMS[form](found)


def _table(found: pl.DataFrame) -> None:
    # As wide as it needs to be: cells that are folded cannot be read on by other programs.
    table = Table(box=box.HEAVY_HEAD)
    for name, kind in found.schema.items():
        table.add_column(name, justify="right" if kind.is_numeric() else "left", no_wrap=True)
    for row in found.iter_rows():
        table.add_row(*(_shown(value) for value in row))
    width = None if sys.stdout.isatty() else Console(width=UNLIMITED, markup=False).measure(table).maximum
    Console(width=width, markup=False, highlight=False).print(table)


def _shown(value: object) -> str:
    """Numbers with six digits: the other formats have them all."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _csv(found: pl.DataFrame) -> None:
    sys.stdout.write(found.write_csv())


def _json(found: pl.DataFrame) -> None:
    sys.stdout.write(found.write_json() + "\n")


def _parquet(found: pl.DataFrame) -> None:
    if sys.stdout.isatty():
        raise InputError("--format parquet: is for a file or a pipe, not for a terminal")
    found.write_parquet(sys.stdout.buffer)


FORMS: dict[str, Callable[[pl.DataFrame], None]] = {"table": _table, "csv": _csv, "json": _json, "parquet": _parquet}
