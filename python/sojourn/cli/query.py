"""``sojourn query``: what a query over a store finds."""

import sys
from pathlib import Path
from typing import Literal

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import RESULTS, Command, form_options, option
from sojourn.errors import InputError
from sojourn.table import MOST_ROWS, of_frame, width


@click.command("query", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("sql")
@option(
    "--format",
    "as_format",
    section=RESULTS,
    type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table",
    help="Print the result in this format; parquet cannot go to a terminal.",
)
@form_options
def command(directory: Path, sql: str, as_format: Literal["table", "csv", "json", "parquet"], form: Form) -> None:
    """Query the results in DIR in SQL.

    The tables are runs, groups, flows, queues and series. A query only reads.
    """
    if form is not None and as_format not in ("table", form):
        raise InputError(f"--{form}, --format {as_format}: give one of them")
    from sojourn.cli import interrupts
    from sojourn.store import Store
    from sojourn.store.query import clean_up

    with Store(directory) as store:
        # DuckDB may carry a query to its end before it passes an interrupt on, and a store survives any end.
        interrupts.leave(clean_up)
        found = store.sql(sql)
    match as_format:
        case "parquet":
            if sys.stdout.isatty():
                raise InputError("--format parquet: cannot go to a terminal; redirect it to a file or a pipe")
            found.write_parquet(sys.stdout.buffer)
        case "csv" | "json":
            put(of_frame("rows", found), as_format)
        case _:
            # A pipe gets all rows.
            put(of_frame("rows", found, MOST_ROWS if width() is not None else None), form)
