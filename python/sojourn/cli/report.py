"""``sojourn report``: the results in a directory as one HTML file."""

from pathlib import Path

import click

from sojourn.cli.options import Command, out_option


@click.command("report", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@out_option("report.html in DIR", "Write the report to FILE.", "FILE")
def command(directory: Path, out: Path | None) -> None:
    """Write the results in DIR as one HTML file.

    It has tables, figures, claims and every cell, and needs no network.
    """
    from sojourn import report

    made = report.write(directory, out)
    click.echo(f"{made}: {made.stat().st_size / 1e6:.1f} MB")
