"""``sojourn describe``: an algorithm, a profile or a study."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from sojourn.cli.options import Command
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.catalogue import Algorithm, Entry, Parameter, Profile


@click.command("describe", cls=Command)
@click.argument("name")
def command(name: str) -> None:
    """Describe an algorithm, a stack profile or a study."""
    from sojourn import catalogue, names
    from sojourn.catalogue import Algorithm, Profile
    from sojourn.study import library

    known = catalogue.load()
    kinds: list[tuple[str, tuple[Entry, ...]]] = [
        ("congestion control", known.congestion_controls),
        ("slow start", known.slow_starts),
        ("queue discipline", known.queues),
        ("stack profile", known.profiles),
    ]
    found = False
    for kind, entries in kinds:
        try:
            entry = catalogue.find(kind, name, entries)
        except ValueError:
            continue
        found = True
        _heading(entry, kind)
        if isinstance(entry, Algorithm):
            _algorithm(entry)
        elif isinstance(entry, Profile):
            _profile(entry, known.stack_settings)
    if name in library.available():
        found = True
        _study(name)
    if not found:
        everything = [entry.name for _, entries in kinds for entry in entries] + library.available()
        raise InputError(names.unknown("name", name, everything))


def _heading(entry: "Entry", kind: str) -> None:
    from sojourn.cli.console import console

    also = f" (also {', '.join(entry.aliases)})" if entry.aliases else ""
    console().print(f"[bold]{entry.name}[/bold]{also}: {entry.title}, a {kind}", highlight=False)


def _algorithm(entry: "Algorithm") -> None:
    from sojourn.cli.console import console, table

    out = console()
    if entry.source:
        year = f", {entry.year}" if entry.year else ""
        out.print(f"Source: {entry.source}{year}", highlight=False, markup=False)
    if entry.deviations:
        out.print(f"Deviations: {entry.deviations}", highlight=False, markup=False)
    if entry.parameters:
        parameters = table("Parameters", "name", "default", "allowed", "description", "source")
        for parameter in entry.parameters:
            parameters.add_row(
                parameter.name, parameter.format(parameter.default), parameter.allowed, parameter.doc, parameter.source
            )
        out.print(parameters)


def _profile(profile: "Profile", known: "Iterable[Parameter]") -> None:
    from sojourn.cli.console import console, table

    parameters = {parameter.name: parameter for parameter in known}
    settings = table("Settings", "name", "value", "description", "source")
    for setting in profile.settings:
        parameter = parameters[setting.name]
        settings.add_row(setting.name, parameter.format(setting.value), parameter.doc, setting.source)
    console().print(settings)


def _study(name: str) -> None:
    from sojourn.cli.console import console, table
    from sojourn.study import library
    from sojourn.sweep import values

    study = library.contents(name)
    out = console()
    out.print(f"[bold]{name}[/bold]: {study['title']}, a study", highlight=False)
    out.print(f"Source: {study['source']}", highlight=False, markup=False)
    axes = table("Axes", "axis", "values")
    for axis, given in study["sweep"]["axes"].items():
        axes.add_row(axis, ", ".join(value.label for value in values.of_axis(given)))
    out.print(axes)
    tables = table("Tables", ">table", "title", "metrics")
    for described in study["tables"]:
        tables.add_row(str(described["number"]), described["title"], ", ".join(described["metrics"]))
    out.print(tables)
