"""Progress of a campaign on a terminal: runs done, simulated seconds a second, time left. Silent anywhere else."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from sojourn.campaign import Outcome
from sojourn.runs import Run


class Progress:
    """Shows a bar from entering to leaving; ``advance`` is told of each run that has ended."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._cost = sum(run.cost for run in runs)
        self._cost_done = 0.0
        self._simulated = 0.0
        self._started = time.monotonic()
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
        self._task = self._bar.add_task("runs", total=len(runs), speed="", left="")

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def advance(self, outcome: Outcome) -> None:
        """One more run has ended."""
        self._cost_done += outcome.run.cost
        self._simulated += outcome.run.simulated_seconds
        elapsed = time.monotonic() - self._started
        # Runs differ tenfold in work, so what is left is reckoned by work and not by runs.
        left = elapsed * (self._cost - self._cost_done) / self._cost_done
        speed = f"{self._simulated / elapsed:.1f} simulated s/s"
        self._bar.update(self._task, advance=1, speed=speed, left=f"{left:.0f} s left" if left >= 1 else "")


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
