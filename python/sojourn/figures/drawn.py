"""What a figure is drawn from: the results of some cells of a campaign."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, Self

import polars as pl

from sojourn import names, repetition, units
from sojourn.comparison import BACKEND, axes_of
from sojourn.errors import InputError

#: The label of an axis that a run has not, in a store of several campaigns.
ABSENT = "-"

#: Values of some axes, one or several of each.
Selection = Mapping[str, str | Iterable[str]]


class Results(Protocol):
    """A store, or the result of a campaign."""

    def scan(self, name: str) -> pl.LazyFrame:
        """One of the frames ``runs``, ``flows``, ``queues`` and ``series``."""
        ...


@dataclass(frozen=True)
class Drawn:
    """The results of the cells that figures are to show."""

    results: Results
    #: The axes of the cells and their labels, both in the order in which figures show them.
    axes: Mapping[str, Sequence[str]]
    seeds: Sequence[int]
    #: The commands behind figures, which carry them, a line each: those that made the results, and the one that draws.
    command: str = ""

    @classmethod
    def of(
        cls,
        results: Results,
        only: Selection | None = None,
        seeds: Iterable[int] | None = None,
        *,
        order: Mapping[str, Sequence[str]] | None = None,
        command: str = "",
    ) -> Self:
        """Chooses cells of some results.

        Args:
            results: a store, or the result of a campaign.
            only: values of some axes; all cells unless given.
            seeds: seeds of theirs; all unless given.
            order: axes and their labels in the order of the campaign, where it is known; by size or by name unless given.
            command: what figures name as the commands behind them, a line each.

        Raises:
            InputError: there is no such axis, value or seed, or no run.
        """
        runs = results.scan("runs").select(pl.exclude("specification")).collect()
        known = axes_of(runs)
        runs = runs.with_columns(pl.col(known).fill_null(ABSENT))
        for axis, wanted in (only or {}).items():
            if axis not in known:
                raise InputError(names.unknown("axis", axis, known))
            runs = _chosen(runs, axis, chosen_labels(wanted), f"value of axis {axis}")
        if seeds is not None:
            runs = _chosen(runs, "seed", list(seeds), "seed")
        if not runs.height:
            raise InputError("no run to draw")
        places = [*(order or {}), *known]
        axes = {axis: _in_order(runs[axis].to_list(), (order or {}).get(axis, ())) for axis in sorted(known, key=places.index)}
        return cls(results, axes, runs["seed"].unique().sort().to_list(), command)

    @property
    def columns(self) -> list[str]:
        """The axes as columns of frames."""
        return [column(axis) for axis in self.axes]

    @property
    def varying(self) -> list[str]:
        """The axes that tell the cells from one another."""
        return [axis for axis, labels in self.axes.items() if len(labels) > 1]

    @property
    def common(self) -> str:
        """What all cells have in common, in words: ``load UC, tcp cubic``."""
        return ", ".join(f"{axis} {labels[0]}" for axis, labels in self.axes.items() if len(labels) == 1)

    def labels(self, axis: str | None) -> Sequence[str]:
        """What the values of an axis are called, in order; nothing of no axis."""
        return [] if axis is None else self.axes[axis]

    def frame(self, name: str) -> pl.LazyFrame:
        """The rows of a frame that are of these cells and seeds, with the axes as ``columns``, specifications left out."""
        frame = self.results.scan(name)
        if BACKEND in self.axes and name != "runs":
            frame = frame.join(self.results.scan("runs").select("key", BACKEND), on="key", maintain_order="left")
        frame = frame.with_columns(pl.col(list(self.axes)).fill_null(ABSENT))
        frame = frame.filter(pl.col("seed").is_in(list(self.seeds)))
        frame = frame.filter(*(pl.col(axis).is_in(list(labels)) for axis, labels in self.axes.items()))
        frame = frame.rename({axis: column(axis) for axis in self.axes})
        return frame.select(pl.exclude("specification")) if name == "runs" else frame

    def has_series(self, kind: str) -> bool:
        """Whether there are samples over time of a ``queue`` or of a ``flow``."""
        return self.frame("series").filter(kind=kind).head(1).collect().height > 0

    @cached_property
    def _every_run(self) -> pl.DataFrame:
        return self.frame("runs").collect()

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row a run; where seeds change nothing, only the run of the first."""
        return repetition.once(self._every_run, self.columns)

    @cached_property
    def note(self) -> str | None:
        """What is said, on one line, of cells whose seeds change nothing; none if there are no such cells."""
        return repetition.note(self._every_run.select, self.columns)

    @cached_property
    def throughputs(self) -> pl.DataFrame:
        """A row a flow: ``key``, ``columns``, ``seed``, ``flow``, ``group``, ``algorithm``, and its throughput ``mbps``."""
        flows = (
            self.frame("flows").select("key", *self.columns, "seed", "flow", "group", "algorithm", "bytes_delivered").collect()
        )
        windows = self.runs.select("key", "window_s")  # an inner join: a row for each flow of these runs only
        rate = pl.col("bytes_delivered") * 8 / 1e6 / pl.col("window_s")
        return flows.join(windows, on="key", maintain_order="left").with_columns(mbps=rate).drop("bytes_delivered", "window_s")

    @cached_property
    def bottlenecks(self) -> pl.DataFrame:
        """The row of ``queues`` of each run's bottleneck: the first link that has a discipline."""
        return self.frame("queues").collect().group_by("key", maintain_order=True).first()


def column(axis: str) -> str:
    """The column of an axis, named so that no column that a figure makes is called the same."""
    return f"axis {axis}"


def chosen_labels(wanted: str | Iterable[str]) -> list[str]:
    """The labels that a selection names of one axis."""
    return [wanted] if isinstance(wanted, str) else list(wanted)


def _chosen(runs: pl.DataFrame, column: str, wanted: Sequence[object], what: str) -> pl.DataFrame:
    there = runs[column].unique().sort().to_list()
    for value in wanted:
        if value not in there:
            raise InputError(names.unknown(what, str(value), map(str, there)))
    return runs.filter(pl.col(column).is_in(wanted))


def _in_order(labels: Iterable[str], known: Sequence[str]) -> list[str]:
    """Labels as a campaign has them, those that it does not know by size, or by name where one is no quantity."""
    there = set(labels)
    first = [label for label in (ABSENT, *known) if label in there]
    left = sorted(there.difference(first))
    sizes = [_size(label) for label in left]
    if None not in sizes:
        left = [label for _, label in sorted(zip(sizes, left, strict=True))]
    return [*first, *left]


def _size(label: str) -> Fraction | None:
    """How much a label says, in base units, if it is a number, a fraction or a quantity."""
    for dimension in (units.DURATION, units.RATE, units.SIZE, units.PACKETS):
        try:
            return Fraction(dimension.parse(label))
        except ValueError:
            continue
    try:
        return Fraction(label)
    except (ValueError, ZeroDivisionError):
        return None
