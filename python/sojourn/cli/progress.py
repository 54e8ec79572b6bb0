"""Progress of a campaign on standard error: a bar for people, who see it on a terminal only, or lines of JSON for programs."""

import json
import time
from types import TracebackType
from typing import Protocol, Self

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichBar

from sojourn.campaign import Plan, Tally


class Display(Protocol):
    """What shows progress."""

    #: Seconds between two looks at a tally: thousands of runs may end in one.
    interval: float

    def show(self, tally: Tally, elapsed: float) -> None:
        """Shows where the campaign stands after so many seconds."""
        ...

    def stop(self) -> None:
        """Leaves what is shown as it is."""
        ...


class Bar:
    """Runs done, simulated seconds a second, time left."""

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
        """See ``Display.show``."""
        left = tally.seconds_left(elapsed)
        speed = f"{tally.simulated_seconds / elapsed:.1f} simulated s/s"
        self._bar.update(self._task, completed=tally.ended, speed=speed, left=f"{left:.0f} s left" if left >= 1 else "")

    def stop(self) -> None:
        """See ``Display.stop``."""
        self._bar.stop()


class Lines:
    """A JSON object a line, whose keys docs/results.md explains."""

    interval = 1.0

    def __init__(self, total: int) -> None:
        self._total = total

    def show(self, tally: Tally, elapsed: float) -> None:
        """See ``Display.show``."""
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
    """Shows progress from entering to leaving; ``advance`` is told of each run that has ended."""

    def __init__(self, planned: Plan, form: str = "bar") -> None:
        self.finished = 0
        self._total = len(planned)
        self._form = FORMS[form]

    def __enter__(self) -> Self:
        self._display: Display = self._form(self._total)
        self._started = self._shown = time.monotonic()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Leaves what is shown as it is."""
        self._display.stop()

    def advance(self, tally: Tally) -> None:
        """One more run has ended."""
        self.finished = tally.made + tally.found
        now = time.monotonic()
        if now - self._shown >= self._display.interval or tally.ended == self._total:
            self._shown = now
            self._display.show(tally, now - self._started)


class Checking:
    """Shows how many cells have been checked, from entering to leaving; nothing is left of it."""

    def __init__(self, cells: int) -> None:
        console = Console(stderr=True)
        self._bar = RichBar(
            *(TextColumn("cells checked"), MofNCompleteColumn(), BarColumn(), TimeElapsedColumn()),
            console=console,
            disable=not console.is_terminal or cells == 1,
            transient=True,
        )
        self._task = self._bar.add_task("cells", total=cells)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def advance(self) -> None:
        """One more cell is fine."""
        self._bar.advance(self._task)
