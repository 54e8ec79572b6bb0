"""``sojourn linux``: kernels for the backend ``linux``."""

import sys
from pathlib import Path

import click

from sojourn.cli.group import Group
from sojourn.cli.options import Command, option


@click.group("linux", cls=Group)
def command() -> None:
    """Build Linux kernels for --backend linux, and list them."""


@command.command("build", cls=Command)
@option(
    "--source",
    metavar="DIR|TARBALL|debian:VERSION",
    type=click.Path(path_type=Path),
    show_default="the newest linux-source package in /usr/src",
    help="Build this kernel source, 6.1 or later; debian:7 gets the newest linux-source-7.* from Debian.",
)
@option("--name", metavar="NAME", show_default="its version, such as 6.1", help="Call the kernel NAME: --backend linux:NAME.")
@option(
    "--add",
    "added",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Compile this file in place of the kernel's own, or besides, such as tcp_cubic.c or sch_codel.c; repeatable.",
)
def build_command(source: Path | None, name: str | None, added: tuple[Path, ...]) -> None:
    """Build a kernel and its guest into the user's cache.

    An interrupted build goes on where it stopped. A kernel that is built from the same already gets a new guest only.
    """
    from sojourn.linux import cache
    from sojourn.linux.build import build

    progress = Progress()
    kernel = build(source, name, added, progress.show)
    progress.end()
    click.echo(f"Linux {kernel.version} is ready in {kernel.folder}: --backend linux:{kernel.name}")
    if len(cache.kernels()) == 1:
        click.echo(f"It is the only one, so --backend linux is {kernel.name}.")


@command.command("status", cls=Command)
def status_command() -> None:
    """List the kernels that are built."""
    from sojourn.linux import cache, guest

    for kernel in cache.kernels():
        added = f", with {', '.join(each.name for each in kernel.added)}" if kernel.added else ""
        stale = "" if kernel.program == guest.program_digest() else f"; of another version of Sojourn: `{kernel.command}`"
        click.echo(f"linux:{kernel.name}: Linux {kernel.version}, {kernel.hz} ticks a second{added}, from {kernel.source}{stale}")
        click.echo(f"    {kernel.folder}")
    for folder in cache.unfinished():
        click.echo(f"linux:{folder.name}: not finished; the same `{cache.BUILD}` goes on; log: {folder / cache.LOG}")
    if not cache.kernels():
        click.echo(f"No kernel is built; `{cache.BUILD}` makes one.")


class Progress:
    """One line on a terminal that is written over, and one for each step elsewhere."""

    def __init__(self) -> None:
        self._step = ""

    def show(self, step: str, files: int) -> None:
        """Shows a step, and how many files have been compiled."""
        if sys.stderr.isatty():
            click.echo(f"\r\033[K{step}{f', {files} files' if files else ''}", err=True, nl=False)
        elif step != self._step:
            click.echo(step, err=True)
        self._step = step

    def end(self) -> None:
        """Ends the line."""
        if sys.stderr.isatty():
            click.echo("\r\033[K", err=True, nl=False)
