"""What the command line shows of a campaign: progress as a bar or as lines of JSON, and errors."""

import json
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sojourn import digits
from sojourn.backends.backend import Backend
from sojourn.backends.identity import Identity
from sojourn.campaign import Campaign, CampaignOutcome, Observer, Plan, Tally, plan
from sojourn.cli import interrupts, show
from sojourn.cli.console import Form, say
from sojourn.errors import ClusterLost, StoreFailed
from sojourn.names import GROUP

#: Failed runs that are listed at most, one line each.
LISTED = 10


#: Shows the state of a campaign after some seconds.
Show = Callable[[Tally, float], None]


@contextmanager
def _bar(total: int) -> Iterator[Show]:
    """Runs done, simulated seconds per second, time left."""
    console = Console(stderr=True)
    speed, left = TextColumn("{task.fields[speed]}"), TextColumn("{task.fields[left]}")
    columns = (TextColumn("runs"), MofNCompleteColumn(), BarColumn(), speed, TimeElapsedColumn(), left)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("runs", total=total, speed="", left="")

        def show(tally: Tally, elapsed: float) -> None:
            left = tally.seconds_left(elapsed)
            speed = f"{tally.simulated_seconds / elapsed:.1f} simulated s/s"
            bar.update(task, completed=tally.ended, speed=speed, left=f"{left:.0f} s left" if left >= 1 else "")

        yield show


@contextmanager
def _lines(total: int) -> Iterator[Show]:
    """A JSON object a line, whose keys docs/results.md explains."""

    def show(tally: Tally, elapsed: float) -> None:
        line = {
            "done": tally.ended,
            "total": total,
            "found": tally.found,
            "failed": tally.failed,
            "simulated_s": round(tally.simulated_seconds, 3),
            "elapsed_s": round(elapsed, 3),
            "left_s": round(tally.seconds_left(elapsed), 3),
        }
        click.echo(json.dumps(line), err=True)

    yield show


#: What shows progress, and the seconds between two looks at a tally: thousands of runs may end in one.
FORMS = {"bar": (_bar, 0.1), "json": (_lines, 1.0)}

#: Cells from which on their number is said before they are checked, where no bar shows it: checking takes about 1 ms each.
MANY = 10_000


@contextmanager
def checking(cells: int) -> Iterator[Callable[[], None]]:
    """Shows how many cells have been checked: what is entered is called after each. Nothing is left of it on a terminal."""
    console = Console(stderr=True)
    if cells >= MANY and not console.is_terminal:
        notify(f"checking {cells:,} cells")
    columns = (TextColumn("cells checked"), MofNCompleteColumn(), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal or cells == 1, transient=True) as bar:
        task = bar.add_task("cells", total=cells)
        yield (lambda: None) if bar.disable else (lambda: bar.advance(task))


def planned(campaign: Campaign, backend: Backend | Sequence[Backend]) -> Plan:
    """The plan of a campaign; shows how many of its cells have been checked."""
    with checking(campaign.size) as on_cell:
        return plan(campaign, backend, on_cell)


def notify(message: str) -> None:
    """Prints a line on standard error."""
    click.echo(message, err=True)


#: Options of commands that make runs which change nothing but what is shown of them, and those of them that take a value.
VIEWS, VIEWS_WITH_VALUE = {"--json", "--csv", "--tables"}, {"--progress"}


def _making(command: str) -> str:
    """What of a command makes its results: the same without the options that choose how they are shown."""
    kept: list[str] = []
    words = iter(shlex.split(command))
    for word in words:
        option, equals, value = word.partition("=")
        if option in VIEWS or (option in VIEWS_WITH_VALUE and equals):
            continue
        if option in VIEWS_WITH_VALUE:
            next(words, None)
            continue
        both = [word] if option != "--only" or equals else [word, *islice(words, 1)]
        chosen = value if equals else both[-1]
        if option != "--only" or chosen.partition("=")[0].strip() != GROUP:
            kept += both
    return shlex.join(kept)


class Terminal(Observer):
    """Shows a campaign to the user of the command line, its progress as a key of ``FORMS`` says."""

    #: The campaign, once it has been planned.
    plan: Plan

    def __init__(self, command: str, out: Path | None, progress: str, form: Form = None) -> None:
        self.command = _making(command)
        self._out, self._progress, self._form = out, progress, form

    def notify(self, message: str, /) -> None:
        notify(message)

    def checking(self, cells: int, /) -> AbstractContextManager[Callable[[], None]]:
        return checking(cells)

    def planned(self, plan: Plan, stale: Counter[Identity], /) -> None:
        self.plan = plan
        if len(plan.cells) > 1:
            say(show.extent(plan), self._form)
        if stale and self._out is not None:
            say(show.stale(stale, plan, self._out, "are made" if stale.total() > 1 else "is made"), self._form)

    @contextmanager
    def running(self, plan: Plan, /) -> Iterator[Callable[[Tally], None]]:
        """See ``Observer.running``: after a failure or an interrupt, prints how many runs have finished."""
        show_in, interval = FORMS[self._progress]
        finished, started = 0, time.monotonic()
        shown = started

        def advance(tally: Tally) -> None:
            nonlocal finished, shown
            finished = tally.made + tally.found
            now = time.monotonic()
            if now - shown >= interval or tally.ended == len(plan):
                shown = now
                show_now(tally, now - started)

        try:
            with interrupts.Raised(), show_in(len(plan)) as show_now:
                yield advance
        except (KeyboardInterrupt, StoreFailed, ClusterLost):
            where = (
                f"; their results are in {self._out}, and the same command makes the others"
                if self._out is not None and finished
                else ""
            )
            notify(f"{finished} of {digits.counted(len(plan), 'run')} finished{where}")
            raise

    def ended(self, outcome: CampaignOutcome, /) -> None:
        # In JSON the last line of progress has the number.
        if outcome.found and self._out is not None and self._progress == "bar":
            notify(show.resumed(outcome, self._out))
        if outcome.failures:
            notify(show.succeeded(outcome, self._out))
            # The last line of all is the first failure.
            for failure in outcome.failures[1:LISTED]:
                notify(failure.failure)
        if self.plan.until is not None:
            for cell in outcome.imprecise:
                notify(show.imprecise(cell, self.plan.until))
