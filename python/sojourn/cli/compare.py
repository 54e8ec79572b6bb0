"""``sojourn compare``: two cells, two parts of a sweep or two directories compared."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import Command, form_options, groups_of, option
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.api import ManyCells


@click.command("compare", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("first", metavar="A|DIR2")
@click.argument("second", metavar="[B]", required=False)
@option("--metric", "metrics", metavar="M", multiple=True, help="Compare only this metric; repeatable.")
@option("--only", metavar="group=NAME", multiple=True, help="Compare only this group of flows; repeatable.")
@form_options
def command(directory: Path, first: str, second: str | None, metrics: tuple[str, ...], only: tuple[str, ...], form: Form) -> None:
    """Compare two cells, two parts of a sweep or two results directories over common seeds.

    A and B each name a cell of the results in DIR by values of its axes, such as tcp=cubic,queue=codel. With group=NAME in
    both, they are groups of flows, of the same cell or of two.

    If they name the same axes and several cells match, such as backend=linux and backend=simulator, all these are compared: a
    table shows in how many cells B agrees with A. With DIR2 instead, all cells of DIR are compared with those of DIR2.
    """
    groups = groups_of(only)
    if second is None:
        if groups is not None:
            raise InputError("--only: two directories are compared by runs; give A and B to compare groups of flows")
        _compare_directories(directory, Path(first), metrics, form)
    else:
        _compare_within(directory, first, second, metrics, groups, form)


def _compare_directories(first: Path, second: Path, metrics: tuple[str, ...], form: Form) -> None:
    from sojourn import api

    if not second.is_dir():
        raise InputError(
            f'{second}: no such directory; give a second results directory, or two cells A and B such as "tcp=cubic"'
        )
    with api.open(first) as one, api.open(second) as other:
        _show_cells(api.compare_results(one, other, metrics or None), str(first), str(second), form)


def _compare_within(
    directory: Path, first: str, second: str, metrics: tuple[str, ...], groups: list[str] | None, form: Form
) -> None:
    from sojourn import api
    from sojourn.analysis import summary
    from sojourn.cli import sides

    with api.open(directory) as store:
        found = api.compare_within(store, first, second, metrics, groups)
        if isinstance(found, api.ManyCells):
            _show_cells(found, first, second, form)
            return
        told = found.findings() if form is None else []
    repeated = [side for side, is_repeated in zip((first, second), found.repeated, strict=True) if is_repeated]
    table = sides.compared(found.cells, found.groups, first, second, repeated)
    put([summary.sentences(told), table] if told else table, form)


def _show_cells(found: "ManyCells", first: str, second: str, form: Form) -> None:
    from sojourn.analysis import summary
    from sojourn.cli import sides

    put([summary.sentences(found.findings((first, second))), *sides.tables(found.found, first, second)], form)
