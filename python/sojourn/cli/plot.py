"""``sojourn plot``: a figure of the results in a directory, as a file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn import api
from sojourn.cli.options import only_option, selection
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.figures.saving import Format

#: Kinds of files, which are what their names end in.
FORMATS: "tuple[Format, ...]" = ("png", "svg", "pdf")


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--figure", "name", metavar="NAME", required=True, help="Which figure, such as queue-over-time; docs/figures.md shows all."
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="What kind of file: as --out ends unless given, or else png.")
@only_option
@click.option(
    "--seed",
    "seeds",
    metavar="N",
    type=int,
    multiple=True,
    help="Only this seed; repeatable, all unless given. Over time the first is drawn.",
)
@click.option(
    "--out", metavar="FILE", type=click.Path(path_type=Path), help="Where to write it; NAME.png or the like unless given."
)
def plot(
    directory: Path, name: str, form: "Format | None", only: tuple[str, ...], seeds: tuple[int, ...], out: Path | None
) -> None:
    """Draw a figure of the results in DIR, as wide as the text of a page."""
    form, target = _target(name, form, out)
    # Loaded here, because other commands should not wait for it.
    from sojourn import figures

    figures.named(name)
    with api.open(directory) as store:
        chart = figures.draw(name, store, selection(only), seeds or None)
    figures.save(chart, target, form)
    click.echo(target)


def _target(name: str, form: "Format | None", out: Path | None) -> "tuple[Format, Path]":
    """What kind of file is meant, and where it goes."""
    if out is None:
        form = form or FORMATS[0]
        return form, Path(f"{name}.{form}")
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: there is no directory {out.parent}")
    if out.is_dir():
        raise InputError(f"--out {out}: is a directory; give a file")
    ending = next((known for known in FORMATS if out.suffix.casefold() == f".{known}"), None)
    meant = form or ending
    if meant is None:
        raise InputError(f"--out {out}: ends in none of {', '.join(FORMATS)}; end it so, or give --format")
    return meant, out
