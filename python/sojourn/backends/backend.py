"""What a backend is, and what some of them can do besides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import polars as pl

from sojourn.backends.columns import COLUMNS
from sojourn.backends.identity import Identity
from sojourn.backends.result import RECORDED, RunResult, RunResults, as_schema
from sojourn.scenario.given import Given
from sojourn.specification import RunSpecification


class Backend(Protocol):
    """Something that can carry out a run. Its methods may be called from several threads at once."""

    @property
    def identity(self) -> Identity:
        """Its name in the registry, and the code that computes."""
        ...

    def check(self, run: RunSpecification, given: Given, /) -> None:
        """Looks at a run without carrying it out.

        Args:
            run: the run, every default filled in.
            given: the keys of its scenario that somebody set. What the backend cannot do it refuses only if it is among them:
                a default that it cannot honour is no reason to refuse a run.

        Raises:
            InputError: the specification makes no sense, or asks for what the backend cannot do; one line that names the key.
        """
        ...

    def run(self, run: RunSpecification, /) -> RunResult:
        """Carries out one run.

        Raises:
            InputError: the specification makes no sense.
            RunFailed: the run could not be finished.
            RunCancelled: ``cancel`` was called.
        """
        ...

    def cancel(self) -> None:
        """Makes all present and later runs of this backend end soon with ``RunCancelled``."""
        ...


#: Each queue at a moment: its length, and what it did since the start of the run, null if queues are not measured.
MOMENT_QUEUES = as_schema(COLUMNS["moment_queues"])

#: Each flow at a moment; window and RTT are null of those that only send.
MOMENT_FLOWS = as_schema(COLUMNS["moment_flows"])


@dataclass(frozen=True)
class Moment:
    """What can be seen at a moment of a run: frames of ``MOMENT_QUEUES`` and ``MOMENT_FLOWS``, in the order of its result."""

    #: In s since the start of the run.
    time: float
    queues: pl.DataFrame
    flows: pl.DataFrame
    #: The inner states that the run asks for, as a result has them in ``recorded``.
    states: pl.DataFrame = field(default_factory=RECORDED.to_frame)


class SteppedRun(Protocol):
    """A run that is watched in progress; its result is that of ``Backend.run``."""

    def moments(self, interval: int) -> Iterator[Moment]:
        """Runs and yields a moment every ``interval`` picoseconds and at the end.

        Raises:
            RunFailed: the run could not be finished.
        """
        ...

    def result(self) -> RunResult:
        """The result, once the last moment has been shown."""
        ...


@runtime_checkable
class CheckingTexts(Backend, Protocol):
    """A backend that looks at the text of a run, for which writing that again is left out."""

    def check_text(self, run: RunSpecification, text: str, given: Given, /) -> int:
        """Looks at a run whose text is known; see ``Backend.check``. Returns ``Run.carried``, which a plan needs besides."""
        ...


@runtime_checkable
class Batching(Backend, Protocol):
    """A backend that carries out several short runs at once for less than each costs alone."""

    def run_all(self, runs: Sequence[str], /) -> RunResults:
        """Carries out runs without plugins, which are given as the texts of their specifications; see ``Backend.run``.

        What goes wrong in one of them is raised, and there is no result of any.
        """
        ...


@runtime_checkable
class Stepping(Backend, Protocol):
    """A backend whose runs can be watched while they go on."""

    def step(self, run: RunSpecification, /) -> SteppedRun:
        """Begins a run that goes on as its moments are asked for.

        Raises:
            InputError: the specification makes no sense.
        """
        ...


#: The states of connections over time: times in s, sizes in bytes, counts since the start of the run.
CONNECTIONS = as_schema(COLUMNS["connections"])


@runtime_checkable
class Estimating(Backend, Protocol):
    """A backend that knows about how much memory a run takes."""

    def memory(self, run: RunSpecification, /) -> int:
        """About how many bytes of memory a run takes at most, its result included."""
        ...


@runtime_checkable
class Recording(Backend, Protocol):
    """A backend that can record the packets of a link and the states of connections."""

    def capture(self, run: RunSpecification, link: int, path: Path, comment: str, /) -> int:
        """Carries a run out and writes what passes a link's near end, both ways, to a file in the format pcapng.

        Args:
            run: the run.
            link: its place among the links of the specification.
            path: the file.
            comment: for the readers of the file.

        Returns:
            How many packets there are.
        """
        ...

    def connections(self, run: RunSpecification, interval: int, /) -> Iterator[pl.DataFrame]:
        """Carries a run out and looks at every connection at the start and after each interval (ps): ``CONNECTIONS``.

        The rows come in order of time, some thousands at once, as the run goes on.
        """
        ...
