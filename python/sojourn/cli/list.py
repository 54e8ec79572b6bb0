"""``sojourn list``: algorithms, rules of video, profiles, studies, suites, metrics, figures, and what agents see and set."""

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import Command, form_options
from sojourn.inventory.listing import KINDS


@click.command("list", cls=Command)
@click.argument("what", type=click.Choice(KINDS))
@click.argument("words", metavar="[WORD]...", nargs=-1)
@form_options
def command(what: str, words: tuple[str, ...], form: Form) -> None:
    """List congestion controls (tcp), queues, rules of video, studies, suites, profiles, metrics or figures.

    Of agents, which learn, it lists the features that they see, their actions and their rewards.

    With WORDs only those that have all of them in their name or in what is told of them, such as "sojourn list figures queue".
    """
    from sojourn.inventory import listing

    put(listing.figures_by_kind(words) if what == "figures" and form is None else listing.listed(what, words), form)
