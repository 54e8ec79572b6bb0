"""Options that several commands have, and what their text means."""

import tomllib
from typing import Any

import click

from sojourn.errors import InputError

only_option = click.option(
    "--only", metavar="AXIS=VALUE", multiple=True, help="Only these cells; repeatable, values of one axis add up."
)
set_option = click.option(
    "--set",
    "changes",
    metavar="KEY=VALUE",
    multiple=True,
    help="Change a key of the scenarios, to see what an assumption is worth, as in stack.minimum_rto='200 ms'; repeatable.",
)


def selection(only: tuple[str, ...]) -> dict[str, list[str]]:
    """Axes and the values of each that are wanted."""
    wanted: dict[str, list[str]] = {}
    for condition in only:
        axis, equals, value = condition.partition("=")
        if not equals:
            raise InputError(f'--only {condition}: write AXIS=VALUE, such as "load=UC"')
        wanted.setdefault(axis.strip(), []).append(value.strip())
    return wanted


def changes_of(given: tuple[str, ...]) -> dict[str, Any]:
    """Keys and what to set them to: a value of TOML, or a string without its quotes."""
    changes: dict[str, Any] = {}
    for change in given:
        key, equals, value = change.partition("=")
        if not equals:
            raise InputError(f"--set {change}: write KEY=VALUE, such as \"stack.minimum_rto='200 ms'\"")
        try:
            changes[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            changes[key.strip()] = value.strip()
    return changes
