"""``sojourn claims``: a paper's claims, judged by runs."""

from pathlib import Path

import click

from sojourn.cli.console import Form
from sojourn.cli.options import Command, form_options, trust_option


@click.command("claims", cls=Command)
@click.argument("study")
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@trust_option
@form_options
def command(study: str, directory: Path | None, form: Form) -> None:
    """Judge the claims of STUDY's paper by its runs in DIR.

    Write claims.csv into DIR, which is results/STUDY by default.
    """
    from sojourn import api
    from sojourn.cli import show
    from sojourn.cli.console import put, say
    from sojourn.study import library

    loaded = library.load(study)
    where = directory if directory is not None else Path("results") / loaded.name
    judged = api.judge(loaded, where)
    put(show.claims((loaded.name, each) for each in judged), form)
    say(show.verdicts_in_all(judged, len(library.claims(loaded))), form)
