"""``sojourn query``: what a query over a store finds."""

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import RESULTS, Command, form_options, option
from sojourn.errors import InputError
from sojourn.table import MOST_ROWS, of_frame, width

#: The most values that are printed; as text they take some hundred bytes each.
MOST_PRINTED = 20_000_000


@click.command("query", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("sql")
@option(
    "--with",
    "others",
    metavar="NAME=DIR2",
    multiple=True,
    help="Query the results in DIR2 too, as NAME.runs, NAME.queues and so on; repeatable.",
)
@option("--parquet", section=RESULTS, is_flag=True, help="Write Parquet instead of a table, to a file or a pipe.")
@form_options
def command(directory: Path, sql: str, others: tuple[str, ...], parquet: bool, form: Form) -> None:
    """Query the results in DIR with SQL.

    The tables are runs, groups, flows, queues, transfers, series and programs. A query only reads.
    """
    if parquet and form is not None:
        raise InputError(f"--{form}, --parquet: give one of them")
    if parquet and sys.stdout.isatty():
        raise InputError("--parquet: cannot go to a terminal; redirect it to a file or a pipe")
    from sojourn.cli import interrupts
    from sojourn.store import Store
    from sojourn.store.query import clean_up

    with ExitStack() as until_ended:
        store = until_ended.enter_context(Store(directory))
        also = {name: until_ended.enter_context(Store(path)) for name, path in _named(others).items()}
        # DuckDB may carry a query to its end before it passes an interrupt on, and a store survives any end.
        interrupts.leave(clean_up)
        found = store.sql(sql, also)
    if not parquet and found.width * found.height > MOST_PRINTED:
        raise InputError(f"the query finds {found.height:,} rows, too many to print; ask for less, or write --parquet to a file")
    if parquet:
        found.write_parquet(sys.stdout.buffer)
    else:
        # A pipe and a program get all rows.
        put(of_frame("rows", found, MOST_ROWS if form is None and width() is not None else None), form)


def _named(others: tuple[str, ...]) -> dict[str, Path]:
    """Other directories by their names."""
    named: dict[str, Path] = {}
    for other in others:
        name, equals, path = other.partition("=")
        if not equals or not path:
            raise InputError(f"--with {other}: write NAME=DIR2, such as before=results/before")
        if name in named:
            raise InputError(f"--with {other}: {name} is another directory already")
        named[name] = Path(path)
    return named
