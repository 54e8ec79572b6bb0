"""``sojourn compare``: two cells compared."""

from pathlib import Path

import click

from sojourn.cli.console import Form
from sojourn.cli.options import Command, form_options, groups_of, option


@click.command("compare", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@option("--metric", "metrics", metavar="M", multiple=True, help="Compare only this metric; repeatable.")
@option("--only", metavar="group=NAME", multiple=True, help="Compare only this group of flows; repeatable.")
@form_options
def command(directory: Path, first: str, second: str, metrics: tuple[str, ...], only: tuple[str, ...], form: Form) -> None:
    """Compare two cells of the results in DIR over common seeds.

    A and B are values of axes that identify a cell, such as tcp=cubic,queue=codel. With group=NAME in both, they are groups of
    flows, of the same cell or of two.
    """
    from sojourn import api, comparison, names, repetition
    from sojourn.cli import show
    from sojourn.comparison import ComparedGroups, ComparedMetric
    from sojourn.errors import InputError
    from sojourn.metrics import METRICS
    from sojourn.names import GROUP

    groups = groups_of(only)
    with api.open(directory) as store:
        runs = store.scan("runs")
        axes = comparison.axes_of(comparison.cells_of(runs))
        one, other = (comparison.condition(text, axes) for text in (first, second))
        for name in metrics:
            if name not in METRICS:
                raise InputError(names.unknown("metric", name, METRICS))
        groups_alone = groups is not None or GROUP in one or GROUP in other
        of_runs = [name for name in metrics if METRICS[name].of_run]
        of_groups = [name for name in metrics if groups_alone or METRICS[name].of_group]
        of_cells = [
            comparison.cell(runs, {axis: value for axis, value in told.items() if axis != GROUP}) for told in (one, other)
        ]
        repeated = [text for text, cell in zip((first, second), of_cells, strict=True) if repetition.is_repeated(cell)]
        cells: list[ComparedMetric] = []
        several: list[ComparedGroups] = []
        if not groups_alone and (of_runs or not metrics):
            cells = comparison.compare_cells(runs, one, other, of_runs or None)
        if groups_alone or of_groups or not metrics:
            several = comparison.compare_groups(
                store.scan("groups"), one, other, of_groups or None, groups, repeated=bool(repeated)
            )
            # The only group of both cells would repeat what is shown of the cells.
            if cells and len(several) == 1 and len(of_runs) == len(metrics):
                several = []
    if not cells and not several:
        raise InputError(f"A and B have no group of flows in common; compare two with {GROUP}=NAME in each")
    show.compared(cells, several, first, second, repeated, form)
