"""``sojourn new``: files to start an algorithm of one's own from."""

from pathlib import Path

import click

from sojourn.cli.options import Command


@click.command("new", cls=Command)
@click.argument("kind", metavar="tcp|queue", type=click.Choice(["tcp", "queue"]))
@click.argument("name")
@click.option("--language", type=click.Choice(["python", "c"]), default="python", help="Language of the file.")
def command(kind: str, name: str, language: str) -> None:
    """Write an algorithm of your own to start from.

    The file works as it is written. A scenario beside it compares the algorithm with built-in ones.
    """
    from sojourn.plugins.starting import begin

    file, scenario = begin(kind, name, language, Path())
    click.echo(f"wrote {file} and {scenario}")
    click.echo(f"run it: sojourn run {scenario}")
    click.echo(f"check its properties: sojourn check {file}")
