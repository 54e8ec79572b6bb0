"""``sojourn schema``: the JSON Schema of scenario files, or of report cards."""

import click

from sojourn.cli.options import Command


@click.command("schema", cls=Command)
@click.argument("of", metavar="[scenario|card]", type=click.Choice(["scenario", "card"]), default="scenario")
def command(of: str) -> None:
    """Print the JSON Schema of scenario files, or of report cards (card)."""
    if of == "card":
        from sojourn.suite import card

        click.echo(card.schema(), nl=False)
        return
    from sojourn.sweeps import schema

    click.echo(schema.text(), nl=False)
