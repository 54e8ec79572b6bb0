"""``sojourn list``: the algorithms, profiles, studies, metrics and figures."""

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import Command, form_options
from sojourn.table import Column, Kind, Table, label, number, text


@click.command("list", cls=Command)
@click.argument("what", type=click.Choice(["tcp", "queues", "studies", "profiles", "metrics", "figures"]))
@form_options
def command(what: str, form: Form) -> None:
    """List congestion controls (tcp), queues, studies, profiles, metrics or figures."""
    match what:
        case "studies":
            put(_studies(), form)
        case "profiles":
            put(_profiles(), form)
        case "metrics":
            put(_metrics(), form)
        case "figures":
            put(_figures(), form)
        case _:
            put(_algorithms(what), form)


def _studies() -> Table:
    from sojourn.study import library

    rows = [{"name": name, **library.contents(name)} for name in library.available()]
    return Table("studies", "Studies", [label("name", keep=True), text("title", keep=True), text("source")], rows)


def _profiles() -> Table:
    from sojourn import catalogue

    rows = [{"name": profile.name, "title": profile.title} for profile in catalogue.load().profiles]
    return Table("profiles", "Stack profiles", [label("name", keep=True), text("title", keep=True)], rows)


def _metrics() -> Table:
    from sojourn.metrics import METRICS

    rows = [
        {"name": metric.name, "title": metric.title, "unit": metric.unit, "of": metric.told_of, "definition": metric.definition}
        for metric in METRICS.values()
    ]
    columns = [label("name", keep=True), text("title", keep=True), label("unit", keep=True), label("of", keep=True)]
    return Table("metrics", "Metrics", columns, rows, beside=["definition"])


def _figures() -> Table:
    from sojourn import figures

    rows = [
        {"name": figure.name, "kind": figure.family, "shows": figure.help, "of": figure.told_of}
        for figure in figures.available().values()
    ]
    columns = [label("name", keep=True), label("kind", rank=1), text("shows", keep=True), label("of", keep=True)]
    return Table("figures", "Figures", columns, rows, most_rows=None)


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
