"""``sojourn evaluate``: a report card of a congestion control or a queue discipline."""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.console import put, say
from sojourn.cli.options import (
    CELLS,
    RESULTS,
    Command,
    backend_option,
    cluster_option,
    jobs_option,
    option,
    out_option,
    progress_option,
)
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.api import Evaluation
    from sojourn.backends.backend import Backend
    from sojourn.suite.card import Card

#: The exit status of a card with a concern or a failure.
CONCERN = 1


def _candidate(given: str) -> str | Mapping[str, Any]:
    """A name, a path, or the table by which a scenario names an algorithm."""
    if not given.lstrip().startswith("{"):
        return given
    try:
        table: Mapping[str, Any] = tomllib.loads(f"it = {given}")["it"]
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{given}: {error}") from None
    return table


def _seconds(_context: click.Context, _option: click.Parameter, given: str | None) -> float | None:
    if given is None:
        return None
    from sojourn.units import DURATION, PICOSECONDS

    try:
        return DURATION.parse(given) / PICOSECONDS
    except ValueError as error:
        raise InputError(f"--budget {given}: {error}") from None


@click.command("evaluate", cls=Command)
@click.argument("of", metavar="tcp|queue", type=click.Choice(["tcp", "queue"]))
@click.argument("candidates", metavar="NAME|FILE...", nargs=-1, required=True)
@option(
    "--suite", section=CELLS, metavar="NAME", help="Ask the questions of this suite. [default: rfc9743, or rfc7928 of a queue]"
)
@option(
    "--quick/--full",
    section=CELLS,
    default=None,
    help="Ask what two minutes can answer, or everything. [default: --quick on a terminal]",
)
@option("--budget", section=CELLS, metavar="TIME", callback=_seconds, help="Ask what so much time can answer, such as 30s.")
@option(
    "--seeds",
    section=CELLS,
    metavar="N",
    type=click.IntRange(min=2),
    help="Run each cell with N seeds. [default: as the suite says]",
)
@option(
    "--draw",
    section=CELLS,
    metavar="SEED",
    type=click.IntRange(min=0),
    help="Draw the conditions from the suite's ranges by this seed, so that nothing can be fitted to them.",
)
@option("--against", section=RESULTS, metavar="NAME|FILE", multiple=True, help="Show the cards of others beside it.")
@out_option("results/SUITE", "Keep the results in DIR; runs that it has are not made again.")
@option("--json", "as_json", section=RESULTS, is_flag=True, help="Print the card as JSON.")
@option("--badge", section=RESULTS, is_flag=True, help="Print the card as one line of Markdown.")
@backend_option
@jobs_option
@cluster_option
@progress_option
def command(
    of: str,
    candidates: tuple[str, ...],
    suite: str | None,
    quick: bool | None,
    budget: float | None,
    seeds: int | None,
    draw: int | None,
    against: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    badge: bool,
    backend: str,
    jobs: int | None,
    cluster: str | None,
    progress: str,
) -> None:
    """Evaluate a congestion control or a queue: does it do harm?

    The candidate is a built-in algorithm, a file with your own or a module of Linux, or the table that a scenario has of one:
    '{ name = "cbr", rate = "10 Mbit/s" }'. Each question of the suite is answered by runs, beside those of its comparators. Cards
    of several are shown side by side; '--against A B' takes several, too.

    Exit status: 0 if there is no concern, 1 if a question is a concern or has failed, 2 if the input is bad.
    """
    from sojourn import api, backends
    from sojourn.cli import cards
    from sojourn.report import card as card_page

    is_quick = sys.stdout.isatty() if quick is None else quick
    carrier = backends.named(backend)
    # --against takes the name behind it; those that follow are read as further candidates.
    names = list(dict.fromkeys((candidates[0], *against, *candidates[1:])))
    # All are checked before anything is run.
    planned = [
        api.plan_evaluation(
            _candidate(each), of, suite, quick=is_quick, seeds=seeds, draw=draw, budget=budget, jobs=jobs, backend=carrier
        )
        for each in names
    ]
    name = planned[0].suite.name
    directory = out or Path("results") / name
    say(_extent(planned, carrier, jobs, is_quick), "json")
    made: list[Card] = []
    for each in planned:
        looking = cards.Looking(click.get_current_context().obj, directory, progress)
        made.append(api.ask(each, out=directory, jobs=jobs, backend=carrier, cluster=cluster, observer=looking))
    pages = [card_page.write(card, directory, directory / api.CARDS / f"{card.file}.html") for card in made]
    if as_json:
        click.echo(cards.json(made), nl=False)
    elif badge:
        for card in made:
            click.echo(card.badge())
    else:
        put(cards.tables(made), everything=cards.EVERYTHING)
        say(f"Results are in {directory}, the page with figures is {', '.join(map(str, pages))}")
    if any(card.concerns for card in made):
        click.get_current_context().exit(CONCERN)


def _extent(planned: "list[Evaluation]", carrier: "Backend", jobs: int | None, quick: bool) -> str:
    """How much there is to run, and about how long it takes."""
    from sojourn import digits
    from sojourn.cli import show

    questions, runs = sum(len(each.asked) for each in planned), sum(each.runs for each in planned)
    seconds = sum(each.seconds(carrier, jobs) for each in planned)
    left = sum(len(each.left_out) for each in planned)
    more = f"; {digits.counted(left, 'question')} left out{', --full asks all' if quick else ''}" if left else ""
    return f"{digits.counted(questions, 'question')}, {digits.counted(runs, 'run')}, about {show.duration(seconds)}{more}"
