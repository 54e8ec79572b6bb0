"""``sojourn plot``: a figure of the results in a directory, as a file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.options import CELLS, RESULTS, Command, chosen_option, option, out_option, selection
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.figures.saving import Format

#: Kinds of files, which are what their names end in.
FORMATS: "tuple[Format, ...]" = ("png", "svg", "pdf")


@click.command("plot", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@option(
    "--figure",
    "name",
    metavar="NAME",
    required=True,
    help="Draw this figure, such as queue-over-time.",
)
@chosen_option
@option(
    "--seed",
    "seeds",
    section=CELLS,
    metavar="N",
    type=int,
    multiple=True,
    show_default="all",
    help="Draw only this seed; repeatable. A figure over time shows the first.",
)
@out_option("NAME.png", "Write the figure to FILE.", "FILE")
@option(
    "--format",
    "form",
    section=RESULTS,
    type=click.Choice(FORMATS),
    show_default="as FILE ends, or png",
    help="Write this format.",
)
def command(
    directory: Path, name: str, form: "Format | None", only: tuple[str, ...], seeds: tuple[int, ...], out: Path | None
) -> None:
    """Draw a figure of the results in DIR, as wide as a page's text."""
    form, target = _target(name, form, out)
    from sojourn import api, figures

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
        raise InputError(f"--out {out}: no directory {out.parent}")
    if out.is_dir():
        raise InputError(f"--out {out}: a directory; give a file")
    ending = next((known for known in FORMATS if out.suffix.casefold() == f".{known}"), None)
    meant = form or ending
    if meant is None:
        raise InputError(f"--out {out}: unknown format; end the name in {', '.join(FORMATS)}, or give --format")
    return meant, out
