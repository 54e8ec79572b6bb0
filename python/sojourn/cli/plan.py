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
    from sojourn import api, backends
    from sojourn.campaign import carry_out, workers
    from sojourn.cli import show
    from sojourn.cli.terminal import planned
    from sojourn.sweeps import estimate

    campaign = api.campaign(api.sweep(file, varied) if varied else file, seeds, cells_of(only), changes)
    carrier = backends.named(backend)
    plan = planned(campaign, carrier)
    axes = show.axes(campaign)
    if form is None and campaign.described:
        put(axes)
    say(show.extent(plan), form)
    say(show.random(plan), form)
    kept = 0
    if out is not None:
        kept, stale = api.kept(plan, out)
        say(f"{out} has the results of {kept} of {show.counted(len(plan), 'run')}", form)
        if stale:
            say(show.stale(stale, plan, out, "would be made"), form)
    seconds = 0.0
    if kept < len(plan):
        largest = max(plan.cells, key=lambda cell: cell.cost).run()
        speed = estimate.measure(largest, lambda run: carry_out(run, carrier))
        left = estimate.packets(plan.cost) * (1 - kept / len(plan))
        seconds = speed.seconds(len(plan) - kept, left) / workers(jobs)
        say(show.estimated(speed, len(plan) - kept, left, workers(jobs)), form)
    if form is not None:
        put([show.planned(plan, kept, seconds), axes], form)
