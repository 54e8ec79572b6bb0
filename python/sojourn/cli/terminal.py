"""What the command line shows of a campaign: progress as a bar or as lines of JSON, and errors."""

import json
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichBar

from sojourn.backends.identity import Identity
from sojourn.campaign import CampaignOutcome, Observer, Plan, Tally
from sojourn.cli import interrupts, show
from sojourn.cli.console import Form, say
from sojourn.errors import ClusterLost, StoreFailed
from sojourn.names import GROUP

#: Failed runs that are listed at most, one line each.
LISTED = 10


class Display(Protocol):
    """What shows progress."""

    #: Seconds between two looks at a tally: thousands of runs may end in one.
    interval: float

    def show(self, tally: Tally, elapsed: float) -> None:
        """Shows the state of the campaign after ``elapsed`` seconds."""
        ...

    def stop(self) -> None:
        """Leaves what is shown as it is."""
        ...


class Bar:
    """Runs done, simulated seconds per second, time left."""

    interval = 0.1

    def __init__(self, total: int) -> None:
        console = Console(stderr=True)
        self._bar = RichBar(
            TextColumn("runs"),
            MofNCompleteColumn(),
            BarColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("runs", total=total, speed="", left="")
        self._bar.start()

    def show(self, tally: Tally, elapsed: float) -> None:
        left = tally.seconds_left(elapsed)
        speed = f"{tally.simulated_seconds / elapsed:.1f} simulated s/s"
        self._bar.update(self._task, completed=tally.ended, speed=speed, left=f"{left:.0f} s left" if left >= 1 else "")

    def stop(self) -> None:
        self._bar.stop()


class Lines:
    """A JSON object a line, whose keys docs/results.md explains."""

    interval = 1.0

    def __init__(self, total: int) -> None:
        self._total = total

    def show(self, tally: Tally, elapsed: float) -> None:
        line = {
            "done": tally.ended,
            "total": self._total,
            "found": tally.found,
            "failed": tally.failed,
            "simulated_s": round(tally.simulated_seconds, 3),
            "elapsed_s": round(elapsed, 3),
            "left_s": round(tally.seconds_left(elapsed), 3),
        }
        click.echo(json.dumps(line), err=True)

    def stop(self) -> None:
        """See ``Display.stop``: there is nothing to leave."""


FORMS: dict[str, type[Bar] | type[Lines]] = {"bar": Bar, "json": Lines}


class Progress:
    """Shows progress from entering to leaving; ``advance`` is called after each run that has ended."""

    def __init__(self, planned: Plan, form: str) -> None:
        self.finished = 0
        self._total = len(planned)
        self._form = FORMS[form]

    def __enter__(self) -> Self:
        self._display: Display = self._form(self._total)
        self._started = self._shown = time.monotonic()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._display.stop()

    def advance(self, tally: Tally) -> None:
        """One more run has ended."""
        self.finished = tally.made + tally.found
        now = time.monotonic()
        if now - self._shown >= self._display.interval or tally.ended == self._total:
            self._shown = now
            self._display.show(tally, now - self._started)


#: Cells from which on their number is said before they are checked, where no bar shows it: checking takes about 1 ms each.
MANY = 10_000


class Checking:
    """Shows how many cells have been checked, from entering to leaving; nothing is left of it on a terminal."""

    def __init__(self, cells: int) -> None:
        console = Console(stderr=True)
        self._bar = RichBar(
            *(TextColumn("cells checked"), MofNCompleteColumn(), BarColumn(), TimeElapsedColumn()),
            console=console,
            disable=not console.is_terminal or cells == 1,
            transient=True,
        )
        self._task = self._bar.add_task("cells", total=cells)
        if cells >= MANY and not console.is_terminal:
            notify(f"checking {cells:,} cells")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def advance(self) -> None:
        """One more cell has been checked."""
        self._bar.advance(self._task)


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
    """Shows a campaign to the user of the command line.

    Args:
        command: what the user typed.
        out: where the results are kept, if they are.
        progress: how progress is shown, a key of ``FORMS``.
        form: how the command prints its tables.
    """

    #: The campaign, once it has been planned.
    plan: Plan

    def __init__(self, command: str, out: Path | None, progress: str, form: Form = None) -> None:
        self.command = _making(command)
        self._out, self._progress, self._form = out, progress, form

    def notify(self, message: str, /) -> None:
        notify(message)

    @contextmanager
    def checking(self, cells: int, /) -> Iterator[Callable[[], None]]:
        with Checking(cells) as checking:
            yield checking.advance

    def planned(self, plan: Plan, stale: Counter[Identity], /) -> None:
        self.plan = plan
        if len(plan.cells) > 1:
            say(show.extent(plan), self._form)
        if stale and self._out is not None:
            say(show.stale(stale, plan, self._out, "are made" if stale.total() > 1 else "is made"), self._form)

    @contextmanager
    def running(self, plan: Plan, /) -> Iterator[Callable[[Tally], None]]:
        """See ``Observer.running``: after a failure or an interrupt, prints how many runs have finished."""
        progress = Progress(plan, self._progress)
        try:
            with interrupts.Raised(), progress:
                yield progress.advance
        except (KeyboardInterrupt, StoreFailed, ClusterLost):
            where = (
                f"; their results are in {self._out}, and the same command makes the others"
                if self._out is not None and progress.finished
                else ""
            )
            notify(f"{progress.finished} of {show.counted(len(plan), 'run')} finished{where}")
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
