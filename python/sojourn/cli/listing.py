"""``sojourn list``: the algorithms, profiles, studies, metrics and figures."""

import click

from sojourn.cli.options import Command


@click.command("list", cls=Command)
@click.argument("what", type=click.Choice(["tcp", "queues", "studies", "profiles", "metrics", "figures"]))
def command(what: str) -> None:
    """List congestion controls (tcp), queues, studies, profiles, metrics or figures."""
    from sojourn import catalogue, figures
    from sojourn.cli.console import console, table
    from sojourn.metrics import METRICS
    from sojourn.study import library

    if what == "studies":
        listed = table("Studies", "name", "title", "source")
        for name in library.available():
            study = library.contents(name)
            listed.add_row(name, study["title"], study["source"])
    elif what == "profiles":
        listed = table("Stack profiles", "name", "title")
        for profile in catalogue.load().profiles:
            listed.add_row(profile.name, profile.title)
    elif what == "metrics":
        listed = table("Metrics", "name", "title", "unit", "of")
        for metric in METRICS.values():
            listed.add_row(metric.name, metric.title, metric.unit, metric.told_of)
    elif what == "figures":
        listed = table("Figures", "name", "kind", "shows", "of")
        for figure in figures.available().values():
            listed.add_row(figure.name, figure.family, figure.help, figure.told_of)
    else:
        known = catalogue.load()
        title, entries = (
            ("Congestion controls", known.congestion_controls) if what == "tcp" else ("Queue disciplines", known.queues)
        )
        listed = table(title, "name", "also", "title", "class", ">year", "source")
        for entry in entries:
            year = "" if entry.year is None else str(entry.year)
            listed.add_row(entry.name, ", ".join(entry.aliases), entry.title, entry.class_, year, entry.source)
    console().print(listed)
