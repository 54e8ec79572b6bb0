"""``sojourn watch``: one run as it happens."""

import math
import sys
import time
from pathlib import Path

import click
from rich.live import Live

from sojourn import api
from sojourn.backends.stepping import SteppedRun
from sojourn.cli import show
from sojourn.cli.options import changes_of, only_option, selection, set_option
from sojourn.results import Result, of_run
from sojourn.runs import PICOSECONDS, Run
from sojourn.store import Memory
from sojourn.store.encoding import encode
from sojourn.units import LARGEST
from sojourn.watch.lines import line
from sojourn.watch.pace import Pace
from sojourn.watch.recent import HISTORY, Recent
from sojourn.watch.screen import Screen

#: Seconds between two pages: what the eye follows.
REFRESH = 0.1

#: Moments that values are over: one alone is too short for flows that send once a round trip.
LATELY = 10

#: What stands for no limit of the speed.
AS_FAST_AS_CAN_BE = "max"


class Speed(click.ParamType[float]):
    """A positive number, or ``max``, which becomes infinity."""

    name = "speed"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """See click."""
        if value == AS_FAST_AS_CAN_BE:
            return math.inf
        try:
            speed = float(value)
        except ValueError:
            speed = math.nan
        if not 1e-3 <= speed <= 1e6:
            self.fail(f"{value!r} is no speed: write a number from 0.001 to 1000000, or {AS_FAST_AS_CAN_BE}", param, ctx)
        return speed


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--speed",
    metavar="N",
    type=Speed(),
    default="1",
    show_default=True,
    help=f"Simulated seconds a second, or {AS_FAST_AS_CAN_BE}: as many as this machine can.",
)
@click.option("--seed", metavar="N", type=click.IntRange(0, LARGEST), help="The run's seed; what the file says unless given.")
@only_option
@set_option
def watch(file: Path, speed: float, seed: int | None, only: tuple[str, ...], changes: tuple[str, ...]) -> None:
    """Run the scenario in FILE, or one cell of its sweep, and show it as it happens, in simulated time.

    Where there is no terminal, a line is printed each simulated second.
    """
    run = api.single_run(file, seed, selection(only), changes_of(changes))
    pace = Pace(None if speed == math.inf else speed)
    stepped = SteppedRun(run.specification)
    if sys.stdout.isatty():
        _show_pages(run, stepped, pace, speed)
    else:
        _print_lines(run, stepped, pace)
    show.result(_result(run, stepped))


def _print_lines(run: Run, stepped: SteppedRun, pace: Pace) -> None:
    recent = Recent(run.specification, lately=1)
    for moment in stepped.moments(PICOSECONDS):
        recent.add(moment)
        pace.keep(moment.time)
        click.echo(line(recent))


def _show_pages(run: Run, stepped: SteppedRun, pace: Pace, speed: float) -> None:
    console, recent = show.console(), Recent(run.specification, LATELY)
    screen = Screen(run.specification, ",".join(run.axes.values()), recent, pace)
    # A moment a page, but never so few that the history would stay empty.
    interval = int(PICOSECONDS * min(REFRESH * speed, run.simulated_seconds / HISTORY))
    drawn = -math.inf
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for moment in stepped.moments(interval):
            recent.add(moment)
            pace.keep(moment.time)
            is_last = moment.time >= run.simulated_seconds
            if is_last or time.monotonic() - drawn >= REFRESH:
                drawn = time.monotonic()
                live.update(screen.draw(*console.size), refresh=True)


def _result(run: Run, stepped: SteppedRun) -> Result:
    kept, axes = Memory(), list(run.axes)
    kept.begin(axes)
    kept.add(run.key, encode(of_run(run, stepped.result())))
    return kept.result(axes, None)
