"""``sojourn list``: the algorithms, profiles and studies."""

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import Command, form_options
from sojourn.table import Column, Kind, Table, label, number, text


@click.command("list", cls=Command)
@click.argument("what", type=click.Choice(["tcp", "queues", "studies", "profiles"]))
@form_options
def command(what: str, form: Form) -> None:
    """List congestion controls (tcp), queues, studies or profiles."""
    put(_studies() if what == "studies" else _profiles() if what == "profiles" else _algorithms(what), form)


def _studies() -> Table:
    from sojourn.study import library

    rows = [{"name": name, **library.contents(name)} for name in library.available()]
    return Table("studies", "Studies", [label("name", keep=True), text("title", keep=True), text("source")], rows)


def _profiles() -> Table:
    from sojourn import catalogue

    rows = [{"name": profile.name, "title": profile.title} for profile in catalogue.load().profiles]
    return Table("profiles", "Stack profiles", [label("name", keep=True), text("title", keep=True)], rows)


def _algorithms(what: str) -> Table:
    from sojourn import catalogue

    known = catalogue.load()
    title, entries = ("Congestion controls", known.congestion_controls) if what == "tcp" else ("Queue disciplines", known.queues)
    rows = [
        {
            **{"name": entry.name, "also": list(entry.aliases), "title": entry.title},
            **{"class": entry.class_, "year": entry.year, "source": entry.source},
        }
        for entry in entries
    ]
    also = Column("also", ("also",), lambda row: ", ".join(row["also"]), Kind.TEXT, rank=1)
    columns = [
        label("name", keep=True),
        also,
        text("title", keep=True),
        label("class"),
        number("year", missing=""),
        text("source", rank=2),
    ]
    return Table(what, title, columns, rows)
