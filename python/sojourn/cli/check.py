"""``sojourn check``: whether a scenario, study or suite is valid, or whether an algorithm of one's own is sound."""

from pathlib import Path
from typing import Any

import click

from sojourn.cli.options import Command, backends_option, cells_of, scenario_options


@click.command("check", cls=Command)
@click.argument("file", metavar="FILE|STUDY|SUITE", type=click.Path(path_type=Path))
@scenario_options
@backends_option
def command(file: Path, only: tuple[str, ...], changes: dict[str, Any], backend: tuple[str, ...]) -> None:
    """Check a scenario, sweep, study or suite, or an algorithm of your own.

    No simulation is run: a scenario, sweep, study or suite is valid or not. Of a file with your own algorithm, the properties are
    checked that all built-in ones have. If a scenario names files with algorithms of your own, their code runs, here too.
    """
    from sojourn import api, backends, digits
    from sojourn.cli.show import random
    from sojourn.cli.terminal import notify, planned
    from sojourn.specification import flow_count
    from sojourn.study import library

    kind = api.kind_of(file)
    if kind is api.FileKind.OWN:
        _check_own(file)
        return
    carrier = backends.several(backend)
    if kind is api.FileKind.SUITE:
        _check_suite(file)
        return
    if kind is api.FileKind.STUDY:
        study = library.load(str(file))
        claims = api.check_study(study)
        campaign = api.study_campaign(study, 1, cells_of(only), changes)
        plan = planned(campaign, carrier)
        shown = [(len(plan.cells), "cell"), (len(library.published_values(study)), "value"), (len(claims), "claim")]
        click.echo(f"study {study.name} is valid: {', '.join(digits.counted(*each) for each in shown)}")
        click.echo(random(plan))
        return
    campaign = api.campaign(file, None, cells_of(only), changes)
    plan = planned(campaign, carrier)
    run = plan.cells[0].run()
    nodes, links = len(run.specification["nodes"]), len(run.specification["links"])
    parts = [(nodes, "node"), (links, "one-way link"), (flow_count(run.specification), "flow")]
    size = f"{', '.join(digits.counted(*part) for part in parts)}, {run.simulated_seconds:g} s"
    first = "" if len(plan.cells) == 1 else f"{len(plan.cells)} cells, the first with "
    click.echo(f'{file}: scenario "{plan.name}" is valid: {first}{size}')
    click.echo(random(plan))
    for line in plan.warnings:
        notify(line)


def _check_suite(file: Path) -> None:
    """Whether each question makes scenarios, and can be decided: tried with the suite's first comparator."""
    from sojourn import api, digits
    from sojourn.suite import library

    suite = library.load(str(file))
    planned = api.plan_evaluation(suite.comparators[0], str(suite.kind), str(file))
    asked, runs = digits.counted(len(planned.asked), "question"), digits.counted(planned.runs, "run")
    click.echo(f"suite {planned.suite.name} is valid: {asked}, {runs} with a comparator as candidate")


def _check_own(file: Path) -> None:
    from sojourn.cli.terminal import notify
    from sojourn.plugins.properties import CHECKED, check
    from sojourn.plugins.reading import reading

    with reading(file) as source:
        found = check(source)
    for checked in found:
        kind = "congestion control" if checked.kind == "control" else "queue discipline"
        click.echo(f"{source.file}: {kind} is sound in {checked.sequences:,} sequences of events: {CHECKED[checked.kind]}")
        if checked.note is not None:
            notify(f"{source.file}: {checked.note}")
