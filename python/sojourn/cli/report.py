"""``sojourn report``: the results in a directory as one HTML file."""

from pathlib import Path

import click


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="The file; report.html in DIR unless given.")
def report(directory: Path, out: Path | None) -> None:
    """Write the results in DIR as one HTML file that needs no network: verdict, tables, figures, claims, and every cell."""
    # Loaded here, because other commands should not wait for it.
    from sojourn import report as reports

    made = reports.write(directory, out)
    click.echo(f"{made}: {made.stat().st_size / 1e6:.1f} MB")
