"""``sojourn reproduce``: a study, or the studies of all papers."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.console import Form, put, say
from sojourn.cli.options import (
    CELLS,
    RESULTS,
    Command,
    any_seed_option,
    cells_of,
    execution_options,
    form_options,
    option,
    out_option,
    reading_option,
    scenario_options,
    seeds_option,
)
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.api import Drawn, Reproduction


@click.command("reproduce", cls=Command)
@click.argument("study")
@reading_option
@seeds_option
@option(
    "--draw",
    section=CELLS,
    metavar="N",
    type=click.IntRange(min=1),
    help="Instead, draw N cells from the space around the study, and hold each backend to the last.",
)
@any_seed_option(default=0, show_default=True, help="Draw by this seed; needs --draw.")
@scenario_options
@out_option("results/STUDY", "Keep the results in DIR, a new directory or one with results; runs that it has are not made again.")
@option("--tables", section=RESULTS, is_flag=True, help="Print every table: each published value beside ours.")
@execution_options
@form_options
def command(
    study: str,
    reading: str | None,
    seeds: int | None,
    draw: int | None,
    seed: int,
    only: tuple[str, ...],
    changes: dict[str, Any],
    out: Path | None,
    tables: bool,
    backend: tuple[str, ...],
    jobs: int | None,
    cluster: str | None,
    progress: str,
    form: Form,
) -> None:
    """Run STUDY and compare it with the published values.

    STUDY is a name of "sojourn list studies", or the path of your own: a folder with study.toml, or such a file. With "all" for
    STUDY, run the studies of all papers. Repeat the command with --tables to see every value.

    With --draw, cells are drawn from the ranges that the study has for this, and run on each --backend; the last also runs with
    other seeds, to show what chance alone makes of the comparison.
    """
    from sojourn import api, digits
    from sojourn.cli import show
    from sojourn.cli.terminal import Terminal
    from sojourn.study import library
    from sojourn.study.design import ALL_STUDIES

    everything = study == ALL_STUDIES
    if draw is not None:
        if everything or reading or only or changes or tables:
            raise InputError("--draw: takes one study, and not --reading, --only, --set or --tables")
        drawing = library.load(study)
        directory = out or Path("results") / f"{drawing.name}-drawn-{seed}"
        observer = Terminal(click.get_current_context().obj, directory, progress, form)
        _show_drawn(
            api.draw(
                drawing,
                draw,
                seed,
                seeds or api.SEEDS,
                out=directory,
                backend=backend,
                jobs=jobs,
                cluster=cluster,
                observer=observer,
            ),
            directory,
            form,
        )
        return
    if everything and (reading or only or changes):
        raise InputError("reproduce all: does not take --reading, --only or --set; name one study")
    studies = [library.load(name) for name in (library.papers() if everything else [study])]
    if reading is not None:
        studies = [loaded.under(reading) for loaded in studies]
    # All are checked before any is run.
    claims = {loaded.name: api.check_study(loaded) for loaded in studies}
    found = []
    for loaded in studies:
        if everything:
            say(f"{loaded.name}: {loaded.title}", form)
        directory = out if out is not None and not everything else (out or Path("results")) / loaded.name
        reproduction = api.reproduce(
            loaded,
            seeds,
            only=cells_of(only),
            changes=changes,
            out=directory,
            jobs=jobs,
            backend=backend,
            cluster=cluster,
            observer=Terminal(click.get_current_context().obj, directory, progress, form),
        )
        if form is None:
            if not everything:
                click.echo(f"{loaded.name}: {loaded.title}")
            # Of a study without published values or claims there is nothing else to show.
            with_tables = tables or not (loaded.published or claims[loaded.name])
            _show(reproduction, len(claims[loaded.name]), with_tables)
            with api.open(directory) as store:
                if len(api.readings(store, loaded)) > 1:
                    put(show.readings(api.by_reading(loaded, store)))
            runs = reproduction.result.columns("runs", ["key"]).height
            click.echo(f"Results of {digits.counted(runs, 'run')} are in {directory}")
            if not everything:
                _show_next(reproduction, None if with_tables else click.get_current_context().obj, directory)
        # The results themselves are not held: series of many seeds are long.
        found.append((loaded, reproduction.judged, reproduction.comparison))
    if form is not None:
        put(show.reproduced(found), form)
    elif everything:
        put(show.papers(found))


def _show_drawn(drawn: "Drawn", directory: Path, form: Form) -> None:
    """How each backend agrees with the reference, and the reference with itself."""
    from sojourn.cli import sides
    from sojourn.table import of_frame

    if form is not None:
        put(of_frame("cells", drawn.cells), form)
    else:
        for side in drawn.sides:
            itself = side.backend == side.reference
            put(sides.tables(side.found, side.reference, f"{side.backend}, other seeds" if itself else side.backend))
        click.echo(f"Results are in {directory}; cells.csv has every value")
    for failed in drawn.failures:
        raise failed


def _show(reproduction: "Reproduction", claims: int, tables: bool) -> None:
    """How many of a study's values agree and how its claims fare, after its tables if wanted."""
    from sojourn.cli import show
    from sojourn.study.tables import LEGEND, agreement_table, study_tables

    study = reproduction.study
    if tables:
        put(study_tables(study, reproduction.comparison))
        if study.published:
            click.echo(LEGEND)
    if study.published:
        put(agreement_table(reproduction.comparison))
    if claims:
        click.echo(show.verdicts_in_all(reproduction.judged, claims))


def _show_next(reproduction: "Reproduction", again: str | None, directory: Path) -> None:
    """The commands that show more of the same results; ``again`` is the one that made them, unless it has printed the tables."""
    more: dict[str, str] = {} if again is None else {f"{again} --tables": "prints every value of every table"}
    if reproduction.judged:
        judge = ["sojourn", "claims", reproduction.study.origin.called, str(directory)]
        more[shlex.join(judge)] = "prints each claim and its verdict"
    more[shlex.join(["sojourn", "report", str(directory)])] = "writes everything as one HTML file"
    width = max(map(len, more))
    for command, what in more.items():
        click.echo(f"  {command:<{width}}  {what}")
