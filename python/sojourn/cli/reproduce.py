"""``sojourn reproduce``: a study, or the studies of all papers."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.console import Form, put, say
from sojourn.cli.options import (
    RESULTS,
    Command,
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
    from sojourn.api import Reproduction


@click.command("reproduce", cls=Command)
@click.argument("study")
@reading_option
@seeds_option
@scenario_options
@out_option("results/STUDY", "Keep the results in DIR, a new directory or one with results; runs that it has are not made again.")
@option("--tables", section=RESULTS, is_flag=True, help="Print every table: each published value beside ours.")
@execution_options
@form_options
def command(
    study: str,
    reading: str | None,
    seeds: int | None,
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
    """
    from sojourn import api
    from sojourn.cli import show
    from sojourn.cli.terminal import Terminal
    from sojourn.study import library
    from sojourn.study.design import ALL_STUDIES

    everything = study == ALL_STUDIES
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
            click.echo(f"Results of {show.counted(runs, 'run')} are in {directory}")
            if not everything:
                _show_next(reproduction, None if with_tables else click.get_current_context().obj, directory)
        # The results themselves are not held: series of many seeds are long.
        found.append((loaded, reproduction.judged, reproduction.comparison))
    if form is not None:
        put(show.reproduced(found), form)
    elif everything:
        put(show.papers(found))


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
