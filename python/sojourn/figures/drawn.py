"""What a figure is drawn from: the results of some cells of a campaign."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

import polars as pl

from sojourn import colours, names, units
from sojourn.analysis import repetition
from sojourn.analysis.comparison import Results, axes_of, cells_of, distinct
from sojourn.errors import InputError
from sojourn.names import GROUP

#: The label of an axis that a run has not, in a store of several campaigns.
ABSENT = "-"

#: Values of some axes, one or several of each.
Selection = Mapping[str, str | Iterable[str]]


#: How numbers lie on an axis.
Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Wishes:
    """How figures are drawn where there is a choice."""

    #: The scale of an axis of quantities; the one on which they lie more evenly unless given.
    x_scale: Scale | None = None
    #: Whether the delay of a trade-off falls from left to right, so that better is up and to the right.
    reverse_delay: bool = False


@dataclass(frozen=True)
class Drawn:
    """The results of the cells that figures are to show."""

    results: Results
    #: The axes of the cells and their labels, both in the order in which figures show them.
    axes: Mapping[str, Sequence[str]]
    seeds: Sequence[int]
    #: The commands behind figures, which carry them, a line each: those that made the results, and the one that draws.
    command: str = ""
    #: All values of each axis in the results, drawn or not, in the same order: a choice of cells changes no colour.
    every: Mapping[str, Sequence[str]] = field(default_factory=dict)
    wishes: Wishes = Wishes()

    @classmethod
    def of(
        cls,
        results: Results,
        only: Selection | None = None,
        seeds: Iterable[int] | None = None,
        *,
        order: Mapping[str, Sequence[str]] | None = None,
        command: str = "",
        wishes: Wishes = Wishes(),
    ) -> Self:
        """Chooses cells and seeds of some results; all of them, and whole runs rather than groups of flows, unless given.

        ``order`` has axes and their labels in the order of the campaign; they come by size or by name unless it is given.
        """
        runs = results.scan("runs")
        cells = cells_of(runs)
        known = axes_of(cells)
        filled = pl.col(known).fill_null(ABSENT)
        runs, cells = runs.with_columns(filled), cells.with_columns(filled)
        every = {axis: _in_order(cells[axis].to_list(), (order or {}).get(axis, ())) for axis in known}
        for axis, wanted in (only or {}).items():
            if axis == GROUP:
                continue
            names.check("axis", axis, [*known, GROUP], InputError)
            labels = chosen_labels(wanted)
            cells, runs = _chosen(cells, axis, labels, f"value of axis {axis}"), runs.filter(pl.col(axis).is_in(labels))
        if not cells.height:
            raise InputError("no run to draw")
        there = runs.select("seed").unique().collect(engine="streaming").sort("seed")
        if seeds is not None:
            there = _chosen(there, "seed", list(seeds), "seed")
            cells = cells_of(runs.filter(pl.col("seed").is_in(there["seed"].implode())))
        places = [*(order or {}), *known]
        axes = {axis: _in_order(cells[axis].to_list(), (order or {}).get(axis, ())) for axis in sorted(known, key=places.index)}
        chosen = cls(results, axes, in_a_row(there["seed"]), command, every, wishes)
        return chosen.by_group(chosen_labels((only or {})[GROUP])) if GROUP in (only or {}) else chosen

    def by_group(self, wanted: Sequence[str] | None = None) -> Self:
        """The same by group of flows: ``group`` is an axis, ``runs`` has a row a run and group, and queues are left out."""
        known = self.frame("groups").select(pl.col("flow_group").unique(maintain_order=True)).collect()["flow_group"].to_list()
        names.check(GROUP, wanted or (), known, InputError)
        return replace(self, axes={**self.axes, GROUP: [group for group in known if wanted is None or group in wanted]})

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

    def places(self, axis: str | None) -> Mapping[str, int]:
        """The place in the palette of each drawn value of an axis, the same in all pictures of the results."""
        if axis is None:
            return {}
        return colours.apart(self.axes[axis], self.of_groups if axis == GROUP else colours.slots(self.every[axis]))

    @cached_property
    def of_groups(self) -> Mapping[str, int]:
        """The place in the palette of each group of flows in the results."""
        return colours.of_groups(dict(self._groups.select("flow_group", "algorithm").iter_rows()))

    @cached_property
    def of_flows(self) -> Mapping[tuple[str, int], int]:
        """The place in the palette of each flow that has one: its group, and its number in the group, counted from 1."""
        groups = self._groups.select("flow_group", "flows").iter_rows()
        flows = [(group, number + 1) for group, most in groups for number in range(min(most, colours.MOST))]
        return colours.of_flows(flows, self.of_groups)

    @cached_property
    def of_algorithms(self) -> Mapping[str, int]:
        """The place in the palette of each congestion control in the results."""
        return colours.slots(self.results.scan("flows").select(pl.col("algorithm").unique().sort()).collect()["algorithm"])

    @cached_property
    def _groups(self) -> pl.DataFrame:
        """All groups of flows in the results: ``flow_group``, ``algorithm`` if it is the same in all runs, and ``flows``."""
        every = self.results.scan("groups").group_by("flow_group", maintain_order=True)
        algorithm = pl.when(pl.col("algorithm").n_unique() == 1).then(pl.col("algorithm").first())
        return every.agg(algorithm=algorithm, flows=pl.col("flow_count").max()).collect(engine="streaming")

    def frame(self, name: str) -> pl.LazyFrame:
        """The rows of a frame that are of these cells and seeds, with the axes as ``columns``, specifications left out."""
        frame = self._by_group(name) if GROUP in self.axes else self.results.scan(name)
        frame = frame.with_columns(pl.col(list(self.axes)).fill_null(ABSENT))
        frame = frame.filter(self._of_seeds)
        frame = frame.filter(*(pl.col(axis).is_in(list(labels)) for axis, labels in self.axes.items()))
        frame = frame.rename({axis: column(axis) for axis in self.axes})
        return frame.select(pl.exclude("specification")) if name == "runs" else frame

    def _by_group(self, name: str) -> pl.LazyFrame:
        """A frame with the column ``group``."""
        if name == "queues":
            raise InputError("queues are not of a group of flows; choose no group")
        if name != "series":
            frame = self.results.scan("groups" if name == "runs" else name)
            return frame.with_columns(pl.col("flow_group").alias(GROUP))
        flows = self.results.scan("flows")
        which = flows.select("key", pl.col("flow").cast(pl.String).alias("which"), pl.col("flow_group").alias(GROUP))
        return self.results.scan(name).filter(kind="flow").join(which, on=["key", "which"], maintain_order="left")

    def has(self, name: str, **like: str) -> bool:
        """Whether a frame has rows with such values, such as ``series`` with the kind ``queue``."""
        # Of all columns a million rows would be read, to be given one.
        return self.frame(name).filter(**like).select("seed").head(1).collect(engine="streaming").height > 0

    @cached_property
    def _repeated(self) -> pl.DataFrame:
        return repetition.repeated(self._whole_runs.frame("runs"), self._whole_runs.columns)

    @property
    def _whole_runs(self) -> Self:
        """The same, not by group of flows."""
        return replace(self, axes={axis: labels for axis, labels in self.axes.items() if axis != GROUP})

    def asked_for(self, state: str) -> bool:
        """Whether a run asked for inner states: ``flow_state`` or ``queue_state``."""
        runs = self.results.scan("runs").filter(pl.col("key").is_in(self.frame("runs").select("key").collect()["key"].implode()))
        asked = pl.col("specification").str.contains(f'"{state}":true', literal=True)
        return runs.filter(asked).select("key").head(1).collect(engine="streaming").height > 0

    def counted(self, name: str) -> pl.LazyFrame:
        """The rows of a frame, as ``frame`` has them; where seeds change nothing, only those of the first seed."""
        return repetition.once(self.frame(name), self._repeated)

    @property
    def _of_seeds(self) -> pl.Expr:
        seed = pl.col("seed")
        return seed.is_between(self.seeds[0], self.seeds[-1]) if isinstance(self.seeds, range) else seed.is_in(list(self.seeds))

    @cached_property
    def cells(self) -> pl.DataFrame:
        """The cells as ``columns``, in the order of the runs."""
        return distinct(self.frame("runs"), self.columns)

    def compact(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """A frame with the axes as enumerations: in each of many rows a label takes some bytes less."""
        labels = (pl.col(column(axis)).cast(pl.Enum(known)) for axis, known in self.axes.items())
        return frame.with_columns(labels).collect(engine="streaming")

    @cached_property
    def note(self) -> str | None:
        """What is said, on one line, of cells whose seeds change nothing; none if there are no such cells."""
        return repetition.note(self._repeated, self.frame("runs"))

    @cached_property
    def throughputs(self) -> pl.DataFrame:
        """A row a flow: ``key``, ``columns``, ``seed``, ``flow``, ``flow_group``, ``algorithm``, and its throughput ``mbps``."""
        return self.scan_throughputs().collect()

    def scan_throughputs(self) -> pl.LazyFrame:
        """``throughputs``, of which only what is asked for is read: there may be millions."""
        flows = self.counted("flows").select("key", *self.columns, "seed", "flow", "flow_group", "algorithm", "bytes_delivered")
        runs = self._whole_runs.frame("runs")
        windows = runs.select("window_s").unique().collect(engine="streaming")
        if windows.height == 1:
            # A join would hold many of the flows.
            timed = flows.with_columns(pl.lit(windows.item()).alias("window_s"))
        else:
            timed = flows.join(runs.select("key", "window_s"), on="key", maintain_order="left")
        rate = pl.col("bytes_delivered") * 8 / 1e6 / pl.col("window_s")
        return timed.with_columns(mbps=rate).drop("bytes_delivered", "window_s")

    @property
    def bottlenecks(self) -> pl.LazyFrame:
        """The row of ``queues`` of each run's bottleneck: the first link that has a discipline."""
        return self.frame("queues").group_by("key", maintain_order=True).first()


def column(axis: str) -> str:
    """The column of an axis, named so that no column that a figure makes is called the same."""
    return f"axis {axis}"


def in_a_row(seeds: pl.Series) -> Sequence[int]:
    """Seeds in order: as a range where none is left out, since there may be a million."""
    first, last = seeds[0], seeds[-1]
    return range(first, last + 1) if last - first == len(seeds) - 1 else seeds.to_list()


def flow_names(flows: pl.DataFrame) -> pl.Series:
    """What flows are called: their group, and where a run has several of it their number in the group, counted from 1.

    ``flows`` has ``key``, ``flow`` and ``flow_group`` of all flows of some runs.
    """
    several = pl.len().over("key", "flow_group") > 1
    number = pl.col("flow").rank("ordinal").over("key", "flow_group").cast(pl.String)
    name = pl.when(several).then(pl.concat_str("flow_group", pl.lit(" "), number)).otherwise(pl.col("flow_group"))
    return flows.select(name=name)["name"]


def chosen_labels(wanted: str | Iterable[str]) -> list[str]:
    """The labels that a selection names of one axis."""
    return [wanted] if isinstance(wanted, str) else list(wanted)


def _chosen(runs: pl.DataFrame, column: str, wanted: Sequence[object], what: str) -> pl.DataFrame:
    there = runs[column].unique().sort().to_list()
    names.check(what, wanted, there, InputError)
    return runs.filter(pl.col(column).is_in(wanted))


def _in_order(labels: Iterable[str], known: Sequence[str]) -> list[str]:
    """Labels as a campaign has them, those that it does not know by size, or by name where one is no quantity."""
    there = set(labels)
    first = [label for label in dict.fromkeys((ABSENT, *known)) if label in there]
    left = sorted(there.difference(first))
    sizes = [units.amount(label) for label in left]
    if None not in sizes:
        left = [label for _, label in sorted(zip(sizes, left, strict=True))]
    return [*first, *left]
