"""``sojourn query``: what a query over a store finds."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.options import Command, option
from sojourn.errors import InputError

if TYPE_CHECKING:
    import polars as pl

#: Columns of a line that is never too short.
UNLIMITED = 1_000_000


@click.command("query", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("sql")
@option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table",
    help="Print the result in this format; parquet cannot go to a terminal.",
)
def command(directory: Path, sql: str, form: str) -> None:
    """Query the results in DIR in SQL.

    The tables are runs, groups, flows, queues and series.
    """
    from sojourn.cli.terminal import notify
    from sojourn.store import Store

    with Store(directory, notify=notify) as store:
        found = store.sql(sql)
    match form:
        case "csv":
            sys.stdout.write(found.write_csv())
        case "json":
            sys.stdout.write(found.write_json() + "\n")
        case "parquet":
            if sys.stdout.isatty():
                raise InputError("--format parquet: cannot go to a terminal; redirect it to a file or a pipe")
            found.write_parquet(sys.stdout.buffer)
        case _:
            _print_table(found)


def _print_table(found: "pl.DataFrame") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

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
