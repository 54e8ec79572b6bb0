"""``sojourn compare``: two cells, two parts of a sweep or two directories compared."""

from collections.abc import Mapping
from pathlib import Path

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import Command, form_options, groups_of, option
from sojourn.errors import InputError


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
    import polars as pl

    from sojourn import api
    from sojourn.analysis import comparison, findings, side_by_side, summary
    from sojourn.cli import sides

    if not second.is_dir():
        raise InputError(
            f'{second}: no such directory; give a second results directory, or two cells A and B such as "tcp=cubic"'
        )
    with api.open(first) as one, api.open(second) as other:
        runs = [store.scan("runs") for store in (one, other)]
        of_each = [comparison.axes_of(comparison.cells_of(each)) for each in runs]
        axes = list(dict.fromkeys(axis for of_one in of_each for axis in of_one))
        # An axis that one of them lacks is none of its cells'.
        a, b = (
            each.with_columns(pl.lit(None, pl.String()).alias(axis) for axis in axes if axis not in each.collect_schema())
            for each in runs
        )
        found = side_by_side.compare(a, b, axes, metrics or None)
        told = findings.between(a, b, axes, (str(first), str(second)), metrics or None)
        put([summary.sentences(told), *sides.tables(found, str(first), str(second))], form)


def _compare_within(
    directory: Path, first: str, second: str, metrics: tuple[str, ...], groups: list[str] | None, form: Form
) -> None:
    from sojourn import api, names
    from sojourn.analysis import comparison, findings, repetition, side_by_side, summary
    from sojourn.analysis.comparison import ComparedGroups, ComparedMetric
    from sojourn.cli import sides
    from sojourn.metrics import METRICS
    from sojourn.names import GROUP

    with api.open(directory) as store:
        runs = store.scan("runs")
        cells_there = comparison.cells_of(runs)
        axes = comparison.axes_of(cells_there)
        one, other = (comparison.condition(text, axes) for text in (first, second))
        names.check("metric", metrics, METRICS, InputError)
        groups_alone = groups is not None or GROUP in one or GROUP in other
        if (
            not groups_alone
            and one.keys() == other.keys()
            and any(comparison.several(cells_there, each) for each in (one, other))
        ):
            a, b = (comparison.part(runs, each) for each in (one, other))
            rest = [axis for axis in axes if axis not in one]
            found = side_by_side.compare(a, b, rest, metrics or None)
            told = findings.between(a, b, rest, (first, second), metrics or None)
            put([summary.sentences(told), *sides.tables(found, first, second)], form)
            return
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
                store.scan("groups"),
                one,
                other,
                of_groups or None,
                groups,
                repeated=bool(repeated),
                fair_share_mbps=comparison.fair_share(of_cells[0]),
            )
            # The only group of both cells would repeat what is shown of the cells.
            if cells and len(several) == 1 and len(of_runs) == len(metrics):
                several = []
        if not cells and not several:
            raise InputError(f"A and B have no group of flows in common; compare two with {GROUP}=NAME in each")
        told = (
            findings.between(of_cells[0], of_cells[1], (), _apart(one, other), of_runs or None) if cells and form is None else []
        )
    table = sides.compared(cells, several, first, second, repeated)
    put([summary.sentences(told), table] if told else table, form)


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, str]:
    """What two cells are called beside each other: by the axes in which they differ."""
    from sojourn.runs import called

    differing = [axis for axis in one if other.get(axis) != one[axis]]
    if one.keys() != other.keys() or not differing:
        return "A", "B"
    first, second = (called({axis: cell[axis] for axis in differing}) for cell in (one, other))
    return first, second
