"""Progress of a campaign on a terminal: runs done, simulated seconds a second, time left. Silent anywhere else."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from sojourn.campaign import Plan, Tally

#: Seconds between two looks at a tally: thousands of runs may end in one.
INTERVAL = 0.1


class Progress:
    """Shows a bar from entering to leaving; ``advance`` is told of each run that has ended."""

    def __init__(self, planned: Plan) -> None:
        self.finished = 0
        self._total = len(planned)
        self._started = self._shown = time.monotonic()
        console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("runs"),
            MofNCompleteColumn(),
            BarColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("runs", total=self._total, speed="", left="")

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Leaves the bar as it is."""
        self._bar.stop()

    def advance(self, tally: Tally) -> None:
        """One more run has ended."""
        self.finished = tally.made + tally.found
        now = time.monotonic()
        if now - self._shown < INTERVAL and tally.ended < self._total:
            return
        self._shown = now
        elapsed = now - self._started
        left = tally.seconds_left(elapsed)
        speed = f"{tally.simulated_seconds / elapsed:.1f} simulated s/s"
        self._bar.update(self._task, completed=tally.ended, speed=speed, left=f"{left:.0f} s left" if left >= 1 else "")


class Checking:
    """Shows how many cells have been checked, from entering to leaving; nothing is left of it."""

    def __init__(self, cells: int) -> None:
        console = Console(stderr=True)
        self._bar = Bar(
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
