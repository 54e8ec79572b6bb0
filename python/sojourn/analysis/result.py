"""What a campaign found: its frames, and what is noted of its runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from sojourn.analysis import buffers, excess, repetition, transients


class Frames(ABC):
    """Something that has the frames of runs; see ``Result``."""

    @abstractmethod
    def frame(self, name: str) -> pl.DataFrame:
        """A frame by its name."""

    @property
    def runs(self) -> pl.DataFrame:
        """A row a run."""
        return self.frame("runs")

    @property
    def groups(self) -> pl.DataFrame:
        """A row a run and group of its flows."""
        return self.frame("groups")

    @property
    def flows(self) -> pl.DataFrame:
        """A row a flow."""
        return self.frame("flows")

    @property
    def queues(self) -> pl.DataFrame:
        """A row a link with a queue."""
        return self.frame("queues")

    @property
    def transfers(self) -> pl.DataFrame:
        """A row a completed transfer."""
        return self.frame("transfers")

    @property
    def series(self) -> pl.DataFrame:
        """A row a sample."""
        return self.frame("series")

    @property
    def programs(self) -> pl.DataFrame:
        """A row a program."""
        return self.frame("programs")


class Result(Frames):
    """What a campaign found.

    Every frame starts with the run's ``key``, its axes and its ``seed``, and is sorted by these. The ``backend`` follows, unless
    it is one of the axes. ``runs`` has a row a run: its specification and its metrics, which ``sojourn.metrics.METRICS``
    explains; ``groups`` a row a run and group of its flows, with its metrics; ``flows`` a row a flow; ``queues`` a row a link
    with a queue; ``transfers`` a row a completed transfer of limited size; ``series`` the samples over time in long form: time
    (s), kind (queue or flow), which one, measure, value. Each is a polars frame, read when it is first asked for;
    ``frame.to_pandas()`` makes it a pandas one.
    """

    def __init__(
        self, scan: Callable[[str], pl.LazyFrame], axes: Sequence[str] = (), file: Callable[[str], Path | None] = lambda _: None
    ) -> None:
        self._scan = scan
        self._frames: dict[str, pl.DataFrame] = {}
        #: What tells its cells apart: columns of every frame.
        self.axes = axes
        #: The Parquet file that has the rows of a frame, and perhaps those of other campaigns; none of results in memory.
        self.file = file
        #: What made it, where that is known; figures carry it.
        self.command = ""
        #: The axes and their labels as the scenario file orders them, where that is known.
        self.order: Mapping[str, Sequence[str]] = {}
        #: What the scenario is called and says of itself, and the keys that were set in it, where that is known.
        self.name, self.description = "", ""
        self.changes: Mapping[str, object] = {}
        #: What shows it in a notebook, where that is known.
        self.html: Callable[[Result], str] | None = None
        #: What shows it elsewhere, where that is known.
        self.text: Callable[[Result], str] | None = None

    @cached_property
    def repeated(self) -> pl.DataFrame:
        """The cells whose runs are the same whatever their seed; see ``repetition.repeated``."""
        return repetition.repeated(self.scan("runs"), self.axes)

    def counted(self, name: str) -> pl.LazyFrame:
        """The rows of a frame that count for intervals: where seeds change nothing, only those of the first seed."""
        return repetition.once(self.scan(name), self.repeated)

    @cached_property
    def note(self) -> str | None:
        """What is said, on one line, of cells whose seeds change nothing; none if there are no such cells."""
        return repetition.note(self.repeated, self.scan("runs"))

    @cached_property
    def limited(self) -> list[str]:
        """One line each on flows that a buffer of the receiver or the sender limited, if there are such flows."""
        return buffers.notes(self.scan)

    @cached_property
    def excess(self) -> str | None:
        """One line on runs with more throughput over the bottleneck than its rate; None if there are none."""
        return excess.note(self.scan)

    @cached_property
    def transients(self) -> pl.DataFrame:
        """How long each run looks transient, by MSER-5; see ``transients.found``."""
        return transients.found(self.scan, self.axes)

    @cached_property
    def unsettled(self) -> str | None:
        """One line on runs whose samples look transient for longer than ``warm_up``; None if there are none."""
        return transients.note(self.scan, self.axes)

    def columns(self, name: str, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of a frame, for less memory than all of them need: specifications are long."""
        return self.scan(name).select(columns).collect()

    def __repr__(self) -> str:
        return super().__repr__() if self.text is None else self.text(self)

    def _repr_html_(self) -> str | None:
        """What a notebook shows; its own way of showing objects if this is nothing."""
        return None if self.html is None else self.html(self)

    def scan(self, name: str) -> pl.LazyFrame:
        """A frame by its name, of which only what is selected is read."""
        return self._scan(name)

    def frame(self, name: str) -> pl.DataFrame:
        if name not in self._frames:
            self._frames[name] = self.scan(name).collect()
        return self._frames[name]
