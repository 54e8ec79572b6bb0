"""``sojourn check``: whether a scenario or a study is valid, or an algorithm of one's own has the properties of built-in ones."""

from pathlib import Path
from typing import Any

import click

from sojourn.cli.options import Command, backends_option, cells_of, scenario_options


@click.command("check", cls=Command)
@click.argument("file", metavar="FILE|STUDY", type=click.Path(path_type=Path))
@scenario_options
@backends_option
def command(file: Path, only: tuple[str, ...], changes: dict[str, Any], backend: tuple[str, ...]) -> None:
    """Check a scenario, sweep or study, or an algorithm of your own.

    No simulation is run: a scenario, sweep or study is valid or not. Of a file with your own algorithm, the properties are
    checked that all built-in ones have. If a scenario names files with algorithms of your own, their code runs, here too.
    """
    from sojourn import api, backends
    from sojourn.cli.show import counted, random
    from sojourn.cli.terminal import notify, planned
    from sojourn.plugins import source
    from sojourn.specification import flow_count
    from sojourn.study import library

    if source.language_of(file) is not None:
        _check_own(file)
        return
    carrier = backends.several(backend)
    if _is_study(file):
        study = library.load(str(file))
        claims = api.check_study(study)
        campaign = api.study_campaign(study, 1, cells_of(only), changes)
        plan = planned(campaign, carrier)
        shown = [(len(plan.cells), "cell"), (len(library.published_values(study)), "value"), (len(claims), "claim")]
        click.echo(f"study {study.name} is valid: {', '.join(counted(*each) for each in shown)}")
        click.echo(random(plan))
        return
    campaign = api.campaign(file, None, cells_of(only), changes)
    plan = planned(campaign, carrier)
    run = plan.cells[0].run()
    nodes, links = len(run.specification["nodes"]), len(run.specification["links"])
    parts = [(nodes, "node"), (links, "one-way link"), (flow_count(run.specification), "flow")]
    size = f"{', '.join(counted(*part) for part in parts)}, {run.simulated_seconds:g} s"
    first = "" if len(plan.cells) == 1 else f"{len(plan.cells)} cells, the first with "
    click.echo(f'{file}: scenario "{plan.name}" is valid: {first}{size}')
    click.echo(random(plan))
    for line in plan.warnings:
        notify(line)


def _is_study(file: Path) -> bool:
    """Whether this is a study: the name of one, a folder, or a file that says so."""
    from sojourn.scenario import read_toml
    from sojourn.study import library

    if not file.is_file():
        return file.is_dir() or str(file) in library.available()
    return isinstance(read_toml(file).get("scenario"), dict)


def _check_own(file: Path) -> None:
    from sojourn.cli.plugin import reading
    from sojourn.cli.terminal import notify
    from sojourn.plugins.properties import CHECKED, check

    with reading(file) as source:
        found = check(source)
    for checked in found:
        kind = "congestion control" if checked.kind == "control" else "queue discipline"
        click.echo(f"{source.file}: {kind} is sound in {checked.sequences:,} sequences of events: {CHECKED[checked.kind]}")
        if checked.note is not None:
            notify(f"{source.file}: {checked.note}")
