"""Tables as text, for terminals, files and the Python prompt."""

import io
import os
import shutil
import sys
from collections.abc import Sequence
from itertools import islice

import rich.table
from rich.console import Console
from rich.text import Text

from sojourn.table.layout import Layout, Shown, lay_out
from sojourn.table.model import Column, Content, Row, Table, Tables

#: Characters of a line that is never too short.
UNLIMITED = 1_000_000

#: How to see what a command leaves out.
OF_COMMANDS = "see all with --json or --csv"


def width() -> int | None:
    """The width to print at: what COLUMNS says, else that of the terminal; none if the output goes elsewhere."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdecimal():
        return None
    return shutil.get_terminal_size().columns


def print_table(table: Table, everything: str = OF_COMMANDS) -> None:
    """Prints a table; ``everything`` says how to see what there is no room for."""
    wide = width()
    _print(Console(width=UNLIMITED, highlight=False, markup=False, emoji=False), table, wide, everything)


def render(tables: Tables, wide: int | None, everything: str = OF_COMMANDS) -> str:
    """Tables as text without colours."""
    output = io.StringIO()
    # In a notebook Rich would show the tables besides.
    plain = Console(
        file=output, width=UNLIMITED, highlight=False, markup=False, emoji=False, color_system=None, force_jupyter=False
    )
    for table in [tables] if isinstance(tables, Table) else tables:
        _print(plain, table, wide, everything)
    return output.getvalue()


def _print(console: Console, table: Table, wide: int | None, everything: str) -> None:
    rows = list(islice(table.rows, table.most_rows))
    if table.sentences:
        for row in rows:
            _line(console, _cell(table.columns[0], row), wide)
        if rows:
            console.print()
        return
    layout = lay_out([Shown(column, [_cell(column, row) for row in rows]) for column in table.columns], wide)
    if table.title:
        _line(console, Text(table.title, "bold"), wide)
    console.print(_drawn(table, rows, layout))
    if layout.constant:
        same = ", ".join(f"{_heading(column)} {column.cells[0].plain}" for column in layout.constant)
        _line(console, Text(f"In all rows: {same}."), wide)
    if layout.left_out:
        names = ", ".join(map(_heading, layout.left_out))
        _line(console, Text(f"Left out at {wide} columns: {names}. Widen the terminal, or {everything}."), wide)
    if len(table.rows) > len(rows):
        _line(console, Text(f"The first {len(rows)} of {len(table.rows):,} rows; {everything}."), wide)
    for note in table.notes:
        _line(console, Text(note), wide)


def _drawn(table: Table, rows: Sequence[Row], layout: Layout) -> rich.table.Table:
    drawn = rich.table.Table()
    for shown, wide in layout.columns:
        heading = Text(shown.column.heading, no_wrap=False, overflow="fold")
        is_number = shown.column.content is Content.NUMBER
        drawn.add_column(heading, justify="right" if is_number else "left", width=wide, overflow="fold")
    before: object = None
    for place, row in enumerate(rows):
        section = table.section(row) if table.section else None
        if place and section != before:
            drawn.add_section()
        before = section
        drawn.add_row(*(shown.cells[place] for shown, _ in layout.columns))
    return drawn


def _cell(column: Column, row: Row) -> Text:
    shown = column.show(row)
    cell = Text(shown) if isinstance(shown, str) else shown
    cell.no_wrap, cell.overflow = column.content is Content.NUMBER, "fold"
    return cell


def _line(console: Console, text: Text, wide: int | None) -> None:
    console.print(text, width=wide, no_wrap=wide is None)


def _heading(column: Shown) -> str:
    return " ".join(column.column.heading.split())
