"""Tables on the terminal."""

import shutil
import sys

from rich.console import Console
from rich.table import Table

#: The width to print at when the output is no terminal: enough for the widest table.
WIDE = 200


def console() -> Console:
    """The console for what commands print; output that is no terminal is not wrapped to 80 columns."""
    return Console(width=None if sys.stdout.isatty() else max(WIDE, shutil.get_terminal_size().columns))


def table(title: str, *headings: str) -> Table:
    """An empty table; headings that start with ``>`` are of right-aligned columns."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for heading in headings:
        made.add_column(heading.removeprefix(">"), justify="right" if heading.startswith(">") else "left")
    return made
