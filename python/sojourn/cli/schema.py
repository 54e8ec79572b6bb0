"""``sojourn schema``: the JSON Schema of scenario files."""

import click

from sojourn.cli.options import Command


@click.command("schema", cls=Command)
def command() -> None:
    """Print the JSON Schema of scenario files."""
    from sojourn.sweep import schema

    click.echo(schema.text(), nl=False)
