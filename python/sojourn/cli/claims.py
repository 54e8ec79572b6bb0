"""``sojourn claims``: a paper's claims, judged by runs."""

from pathlib import Path

import click

from sojourn.cli.options import Command


@click.command("claims", cls=Command)
@click.argument("study")
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
def command(study: str, directory: Path | None) -> None:
    """Judge the claims of STUDY's paper by its runs in DIR.

    Writes claims.csv there. DIR is results/STUDY by default.
    """
    from sojourn import api
    from sojourn.cli import show
    from sojourn.study import library

    loaded = library.load(study)
    where = directory if directory is not None else Path("results") / loaded.name
    judged = api.judge(loaded, where)
    show.claims(judged)
    click.echo(show.verdicts_in_all(judged, len(library.claims(loaded))))
