"""``sojourn shell``: a shell on a host of a scenario's network."""

from pathlib import Path
from typing import Any

import click

from sojourn.cli.options import EXECUTION, Command, cells_of, option, scenario_options, seed_option


@click.command("shell", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@option("--at", "host", section=EXECUTION, metavar="HOST", required=True, help="Have the shell on this host.")
@option(
    "--backend",
    section=EXECUTION,
    metavar="NAME",
    default="linux",
    help="Run on this Linux kernel, such as linux:7.3.",
)
@scenario_options
@seed_option
def command(file: Path, host: str, backend: str, seed: int | None, only: tuple[str, ...], changes: dict[str, Any]) -> None:
    """Have a shell on a host of the network in FILE, one scenario, on a real kernel.

    Flows and programs of the scenario run meanwhile. Time is virtual but goes no faster than the clock on the wall. The run
    ends when the shell does, at the latest after an hour, and leaves no results. Of a sweep, choose one cell with --only.
    """
    from sojourn import api, terminal

    terminal.shell(api.single_run(file, seed, cells_of(only), changes, backend), host, backend)
