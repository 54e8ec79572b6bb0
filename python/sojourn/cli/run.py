"""``sojourn run``: a scenario, or all cells of its sweep."""

from pathlib import Path
from typing import Any

import click

from sojourn.cli.console import Form
from sojourn.cli.options import (
    Command,
    execution_options,
    form_options,
    out_option,
    scenario_options,
    seeds_option,
    selection,
    vary_option,
)
from sojourn.errors import RunFailed
from sojourn.names import GROUP


@click.command("run", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@seeds_option
@vary_option
@scenario_options
@out_option(None, "Keep the results in DIR, a new directory or one with results; runs that it has are not made again.")
@execution_options
@form_options
def command(
    file: Path,
    seeds: int | None,
    varied: dict[str, Any],
    only: tuple[str, ...],
    changes: dict[str, Any],
    out: Path | None,
    backend: tuple[str, ...],
    jobs: int | None,
    cluster: str | None,
    progress: str,
    form: Form,
) -> None:
    """Run FILE, a scenario or a sweep, and show the results.

    With --only group=NAME the tables show only this group of flows; the runs are the same.
    """
    from sojourn import api
    from sojourn.cli import show
    from sojourn.cli.terminal import Terminal

    scenario = api.sweep(file, varied) if varied else file
    wanted = selection(only)
    groups = wanted.pop(GROUP, None)
    if groups is not None:
        api.check_groups(api.campaign(scenario, seeds, wanted, changes), groups)
    terminal = Terminal(click.get_current_context().obj, out, progress, form)
    failed: RunFailed | None = None
    try:
        found = api.run(
            scenario,
            seeds,
            only=wanted,
            changes=changes,
            out=out,
            jobs=jobs,
            backend=backend,
            cluster=cluster,
            observer=terminal,
        )
    except RunFailed as error:
        if error.result is None:
            raise
        failed, found = error, error.result
    if len(terminal.plan.cells) == 1:
        show.result(found, form, groups)
    else:
        show.cells(found, terminal.plan, form, groups)
    if failed is not None:
        raise failed
