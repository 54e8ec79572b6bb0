"""``sojourn list``: the algorithms, profiles and studies."""

import click

from sojourn.cli.options import Command


@click.command("list", cls=Command)
@click.argument("what", type=click.Choice(["tcp", "queues", "studies", "profiles"]))
def command(what: str) -> None:
    """List congestion controls (tcp), queues, studies or profiles."""
    from sojourn import catalogue
    from sojourn.cli.console import console, table
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
