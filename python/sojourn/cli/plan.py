"""``sojourn plan``: what running a file would mean."""

from pathlib import Path
from typing import Any

import click

from sojourn.cli.console import Form, put, say
from sojourn.cli.options import (
    Command,
    backend_option,
    cells_of,
    form_options,
    jobs_option,
    out_option,
    scenario_options,
    seeds_option,
    vary_option,
)


@click.command("plan", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@seeds_option
@vary_option
@scenario_options
@out_option(None, "Count the runs whose results DIR has already.")
@backend_option
@jobs_option
@form_options
def command(
    file: Path,
    seeds: int | None,
    varied: dict[str, Any],
    only: tuple[str, ...],
    changes: dict[str, Any],
    out: Path | None,
    backend: str,
    jobs: int | None,
    form: Form,
) -> None:
    """Show the axes, cells and runs of FILE, and estimate how long they take.

    No simulation is run. If the scenario names files with algorithms of your own, their code runs.
    """
    from sojourn import api, backends, digits
    from sojourn.cli import show
    from sojourn.cli.terminal import planned

    campaign = api.campaign(api.sweep(file, varied) if varied else file, seeds, cells_of(only), changes)
    carrier = backends.named(backend)
    plan = planned(campaign, carrier)
    axes = show.axes(campaign)
    if form is None and campaign.described:
        put(axes)
    say(show.extent(plan), form)
    say(show.random(plan), form)
    found = api.extent(plan, carrier, out, jobs)
    if out is not None:
        say(f"{out} has the results of {found.kept} of {digits.counted(len(plan), 'run')}", form)
        if found.stale:
            say(show.stale(found.stale, plan, out, "would be made"), form)
    if found.speed is not None:
        say(show.estimated(found.speed, found.left, found.packets, found.workers), form)
    if form is not None:
        put([show.planned(plan, found.kept, found.seconds), axes], form)
