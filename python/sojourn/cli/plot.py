"""``sojourn plot``: a figure of the results in a directory, as a file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.options import CELLS, RESULTS, Command, chosen_option, option, out_option, selection
from sojourn.errors import InputError, check_out

if TYPE_CHECKING:
    from sojourn.figures.drawn import Scale
    from sojourn.figures.saving import Format

#: Kinds of files, which are what their names end in.
FORMATS: "tuple[Format, ...]" = ("png", "svg", "pdf", "tex", "csv")


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
    help="Write this format; tex is a TikZ picture, csv the points with their intervals.",
)
@option("--grey", section=RESULTS, is_flag=True, help="Draw without colours, for print: hatches tell bars, dashes lines.")
@option(
    "--x-scale",
    type=click.Choice(("linear", "log")),
    show_default="on which values lie more evenly",
    help="Draw lines over an axis of quantities on this scale.",
)
@option("--reverse-delay", is_flag=True, help="Let the delay of a trade-off fall to the right: better is up and right.")
@option("--no-title", "untitled", section=RESULTS, is_flag=True, help="Leave out the title and the commands above the figure.")
@option(
    "--width",
    section=RESULTS,
    metavar="LENGTH",
    show_default="about a page's text",
    help="Make the figure this wide, such as 252pt, 336px, 88mm or 3.5in.",
)
@option("--height", section=RESULTS, metavar="LENGTH", show_default="the figure's own", help="Make the figure this high.")
def command(
    directory: Path,
    name: str,
    form: "Format | None",
    only: tuple[str, ...],
    seeds: tuple[int, ...],
    out: Path | None,
    untitled: bool,
    width: str | None,
    height: str | None,
    x_scale: "Scale | None",
    reverse_delay: bool,
    grey: bool,
) -> None:
    """Draw a figure of the results in DIR.

    NAME is a figure that "sojourn list figures" prints, such as sojourn-mean, line-sojourn-mean, box-sojourn-mean or
    throughput-by-group; box-FRAME.COLUMN and cdf-FRAME.COLUMN are of any column of the results, such as cdf-flows.rtt_mean. With
    --only group=NAME figures are of groups of flows.
    """
    form, target = target_of(name, form, out)
    from sojourn import api, figures
    from sojourn.figures import sizing

    figures.named(name)
    wide = None if width is None else sizing.points("--width", width)
    high = None if height is None else sizing.points("--height", height)
    with api.open(directory) as store:
        chart = figures.draw(
            name,
            store,
            selection(only),
            seeds or None,
            width=wide,
            height=high,
            titled=not untitled,
            x_scale=x_scale,
            reverse_delay=reverse_delay,
        )
    figures.save(chart, target, form, grey=grey)
    click.echo(target)


def target_of(name: str, form: "Format | None", out: Path | None) -> "tuple[Format, Path]":
    """What kind of file is meant, and where it goes."""
    if out is None:
        form = form or FORMATS[0]
        return form, Path(f"{name}.{form}")
    check_out(out)
    ending = next((known for known in FORMATS if out.suffix.casefold() == f".{known}"), None)
    if form is not None and ending is not None and form != ending:
        raise InputError(f"--out {out}: the name ends in .{ending} and --format says {form}; leave one of them out")
    meant = form or ending
    if meant is None:
        raise InputError(f"--out {out}: unknown format; end the name in {', '.join(FORMATS)}, or give --format")
    return meant, out
