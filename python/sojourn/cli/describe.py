"""``sojourn describe``: an algorithm, a profile, a study, a distribution of sizes or a plugin."""

import textwrap

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import Command, form_options, trust_option
from sojourn.table import Row, width


@click.command("describe", cls=Command)
@click.argument("name", metavar="NAME|FILE")
@trust_option
@form_options
def command(name: str, form: Form) -> None:
    """Describe an algorithm, a profile, a study, a distribution of sizes or your own algorithm.

    NAME is a name that "sojourn list" prints. FILE is a file with an algorithm of your own, whose code runs, or a study of your
    own.
    """
    from sojourn.inventory import describing

    found = describing.described(name)
    if form is not None:
        put([describing.entries(found), *(table for _, tables in found for table in tables)], form)
        return
    for about, tables in found:
        _print(about)
        put(tables)


def _print(about: Row) -> None:
    also = f" (also {', '.join(about['also'])})" if about["also"] else ""
    click.echo(f"{click.style(about['name'], bold=True)}{also}: {about['title']}, a {about['kind']}")
    if about["source"]:
        # Many sources say it themselves.
        year = f", {about['year']}" if about["year"] and str(about["year"]) not in about["source"] else ""
        _print_wrapped(f"Source: {about['source']}{year}")
    if about["deviations"]:
        _print_wrapped(f"Deviations: {about['deviations']}")


def _print_wrapped(line: str) -> None:
    """Prints a line, on a terminal broken between words."""
    room = width()
    click.echo(line if room is None else textwrap.fill(line, room, break_on_hyphens=False))
