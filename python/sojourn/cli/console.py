"""What commands print on standard output: tables, as text, JSON or CSV, and lines about them."""

import sys
from typing import Literal, TypeAlias

import click

from sojourn.cli import streams
from sojourn.table import OF_COMMANDS, Table, Tables, print_table, write_csv, write_json

#: How tables are printed: as text unless a program reads them.
Form: TypeAlias = Literal["json", "csv"] | None


def put(tables: Tables, form: Form = None, everything: str = OF_COMMANDS) -> None:
    """Prints tables; ``everything`` says how to see what a terminal has no room for."""
    if form is not None:
        streams.write_utf8()
    match form:
        case "json":
            write_json(tables, sys.stdout)
        case "csv":
            write_csv(tables, sys.stdout)
        case _:
            for table in [tables] if isinstance(tables, Table) else tables:
                print_table(table, everything)
    # A full disk shows itself here, not when the interpreter ends.
    sys.stdout.flush()


def say(line: str, form: Form = None) -> None:
    """Prints a line about tables; on standard error if a program reads them."""
    click.echo(line, err=form is not None)
