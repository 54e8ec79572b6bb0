"""``sojourn reproduce``: a study, or the studies of all papers."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.console import Form, put, say
from sojourn.cli.options import (
    Command,
    backend_option,
    changes_of,
    cluster_option,
    form_options,
    jobs_option,
    only_option,
    out_option,
    progress_option,
    seeds_option,
    selection,
    set_option,
)
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.api import Reproduction

#: What stands for the studies of all papers.
ALL_STUDIES = "all"


@click.command("reproduce", cls=Command)
@click.argument("study")
@seeds_option
@only_option
@set_option
@out_option(
    "results/STUDY", "Keep the results in DIR: a new or empty directory, or one with results, of which none is made again."
)
@backend_option
@jobs_option
@cluster_option
@progress_option
@form_options
def command(
    study: str,
    seeds: int | None,
    only: tuple[str, ...],
    changes: tuple[str, ...],
    out: Path | None,
    backend: str,
    jobs: int | None,
    cluster: str | None,
    progress: str,
    form: Form,
) -> None:
    """Run STUDY and compare its tables with the published ones.

    With "all" for STUDY, run the studies of all papers.
    """
    from sojourn import api
    from sojourn.cli import show
    from sojourn.cli.terminal import Terminal
    from sojourn.study import library

    everything = study == ALL_STUDIES
    if everything and (only or changes):
        raise InputError("reproduce all: does not take --only or --set; name one study")
    studies = [library.load(name) for name in (library.papers() if everything else [study])]
    # All are checked before any is run.
    claims = {loaded.name: api.check_study(loaded) for loaded in studies}
    found = []
    for loaded in studies:
        if everything:
            say(f"{loaded.name}: {loaded.title}", form)
        directory = out if out is not None and not everything else (out or Path("results")) / loaded.name
        reproduction = api.reproduce_checked(
            loaded,
            seeds,
            only=selection(only),
            changes=changes_of(changes),
            out=directory,
            jobs=jobs,
            backend=backend,
            cluster=cluster,
            observer=Terminal(click.get_current_context().obj, directory, progress, form),
        )
        if form is None:
            _show(reproduction, len(claims[loaded.name]), directory)
        # The results themselves are not held: series of many seeds are long.
        found.append((loaded, reproduction.judged, reproduction.comparison))
    if form is not None:
        put(show.reproduced(found), form)
    elif everything:
        put(show.papers(found))


def _show(reproduction: "Reproduction", claims: int, directory: Path) -> None:
    """A study's tables, how many of their figures agree, and how its claims fare."""
    from sojourn.cli import show
    from sojourn.study import tables

    put(tables.study_tables(reproduction.study, reproduction.comparison))
    legend = ""
    if reproduction.study.published is not None:
        put(tables.agreement_table(reproduction.comparison))
        legend = "* does not agree. "
    if claims:
        click.echo(show.verdicts_in_all(reproduction.judged, claims))
    runs = show.counted(reproduction.result.runs.height, "run")
    click.echo(f"{legend}Results of {runs} are in {directory}")
