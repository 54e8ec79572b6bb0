"""``sojourn compare``: two cells compared."""

from pathlib import Path

import click

from sojourn.cli.options import Command, option


@click.command("compare", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@option("--metric", "metrics", metavar="M", multiple=True, help="Compare only this metric; repeatable.")
def command(directory: Path, first: str, second: str, metrics: tuple[str, ...]) -> None:
    """Compare two cells of the results in DIR over common seeds.

    A and B are values of axes that identify a cell, such as tcp=cubic,queue=codel.
    """
    from sojourn import api, comparison, repetition
    from sojourn.cli import show

    runs = api.summaries(directory)
    one, other = (comparison.condition(text, comparison.axes_of(runs)) for text in (first, second))
    found = comparison.compare_cells(runs, one, other, metrics or None)
    repeated = [text for text, axes in ((first, one), (second, other)) if repetition.is_repeated(comparison.cell(runs, axes))]
    show.compared(found, first, second, repeated)
