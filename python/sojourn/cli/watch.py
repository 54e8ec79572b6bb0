"""``sojourn watch``: one run in progress."""

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.console import Form, say
from sojourn.cli.options import (
    EXECUTION,
    Command,
    backend_option,
    cells_of,
    form_options,
    option,
    scenario_options,
    seed_option,
)

if TYPE_CHECKING:
    from rich.live import Live

    from sojourn.analysis.result import Result
    from sojourn.backends.backend import SteppedRun
    from sojourn.runs import Run
    from sojourn.watch.pace import Pace

#: The speed without a limit.
AS_FAST_AS_CAN_BE = "max"


class Speed(click.ParamType[float]):
    """A positive number, or ``max``, which becomes infinity."""

    name = "speed"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if value == AS_FAST_AS_CAN_BE:
            return math.inf
        try:
            speed = float(value)
        except ValueError:
            speed = math.nan
        if not 1e-3 <= speed <= 1e6:
            self.fail(f"{value!r} is not a speed; write a number from 0.001 to 1000000 or {AS_FAST_AS_CAN_BE}", param, ctx)
        return speed


@click.command("watch", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@option(
    "--speed",
    section=EXECUTION,
    metavar="N",
    type=Speed(),
    default="1",
    help=f"Show N simulated seconds per second; {AS_FAST_AS_CAN_BE}: as fast as possible.",
)
@scenario_options
@seed_option
@backend_option
@form_options
def command(
    file: Path, speed: float, seed: int | None, only: tuple[str, ...], changes: dict[str, Any], backend: str, form: Form
) -> None:
    """Run FILE, one scenario, and show it as it happens.

    Of a sweep, choose one cell with --only. Where there is no terminal, a line is printed each simulated second. With --json or
    --csv all this is on standard error.
    """
    from sojourn import api, backends
    from sojourn.cli import interrupts, show
    from sojourn.watch.pace import Pace

    run = api.single_run(file, seed, cells_of(only), changes, backend)
    pace = Pace(None if speed == math.inf else speed)
    stepped = backends.stepping(backend).step(run.specification)
    with interrupts.Raised():
        if (sys.stdout if form is None else sys.stderr).isatty():
            _show_pages(run, stepped, pace, speed, form)
        else:
            _print_lines(run, stepped, pace, form)
    show.result(_result(run, stepped), form)


def _print_lines(run: "Run", stepped: "SteppedRun", pace: "Pace", form: Form) -> None:
    from sojourn.units import PICOSECONDS
    from sojourn.watch.lines import line
    from sojourn.watch.recent import Recent

    recent = Recent(run.specification, lately=1)
    for moment in stepped.moments(PICOSECONDS):
        recent.add(moment)
        pace.keep(moment.time)
        say(line(recent), form)


def _show_pages(run: "Run", stepped: "SteppedRun", pace: "Pace", speed: float, form: Form) -> None:
    from rich.console import Console
    from rich.live import Live

    from sojourn.units import PICOSECONDS
    from sojourn.watch.pace import REFRESH
    from sojourn.watch.recent import HISTORY, LATELY, Recent
    from sojourn.watch.screen import Screen

    terminal, recent = Console(stderr=form is not None), Recent(run.specification, LATELY)
    screen = Screen(run.specification, ",".join(run.axes.values()), recent, pace)
    # A moment a page, but never so few that the history would stay empty.
    interval = int(PICOSECONDS * min(REFRESH * speed, run.simulated_seconds / HISTORY))
    drawn = -math.inf
    with Live(console=terminal, auto_refresh=False, vertical_overflow="crop") as live, _giving_way(live):
        for moment in stepped.moments(interval):
            recent.add(moment)
            pace.keep(moment.time)
            is_last = moment.time >= run.simulated_seconds
            if is_last or time.monotonic() - drawn >= REFRESH:
                drawn = time.monotonic()
                live.start()
                live.update(screen.draw(*terminal.size), refresh=True)


@contextmanager
def _giving_way(live: "Live") -> Iterator[None]:
    """Meanwhile ``breakpoint()`` in a hook of the user's ends the drawing, which would hide the debugger's prompt."""

    def stop(*_: object, **__: object) -> None:
        import pdb

        live.stop()
        pdb.Pdb().set_trace(sys._getframe(1))

    sys.breakpointhook = stop
    try:
        yield
    finally:
        sys.breakpointhook = sys.__breakpointhook__


def _result(run: "Run", stepped: "SteppedRun") -> "Result":
    from sojourn.analysis.records import of_run
    from sojourn.store import InMemory
    from sojourn.store.encoding import encode

    kept, axes = InMemory(), list(run.axes)
    kept.begin(axes)
    kept.add(run, encode(of_run(run, stepped.result())))
    return kept.result(axes, None)
