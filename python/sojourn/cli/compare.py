"""``sojourn compare``: two cells compared."""

from pathlib import Path

import click

from sojourn.cli.console import Form
from sojourn.cli.options import Command, form_options, option


@click.command("compare", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@option("--metric", "metrics", metavar="M", multiple=True, help="Compare only this metric; repeatable.")
@form_options
def command(directory: Path, first: str, second: str, metrics: tuple[str, ...], form: Form) -> None:
    """Compare two cells of the results in DIR over common seeds.

    A and B are values of axes that identify a cell, such as tcp=cubic,queue=codel.
    """
    from sojourn import api, comparison
    from sojourn.cli import show

    runs = api.summaries(directory)
    one, other = (comparison.condition(text, comparison.axes_of(runs)) for text in (first, second))
    show.compared(comparison.compare_cells(runs, one, other, metrics or None), first, second, form)
