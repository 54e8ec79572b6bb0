"""``sojourn list``: the algorithms, rules of video, profiles, studies, suites, metrics and figures."""

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import Command, form_options
from sojourn.inventory.listing import KINDS


@click.command("list", cls=Command)
@click.argument("what", type=click.Choice(KINDS))
@form_options
def command(what: str, form: Form) -> None:
    """List congestion controls (tcp), queues, rules of video, studies, suites, profiles, metrics or figures."""
    from sojourn.inventory import listing

    put(listing.figures_by_kind() if what == "figures" and form is None else listing.listed(what), form)
