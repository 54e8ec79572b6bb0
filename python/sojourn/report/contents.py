"""What a report is of: the results in a directory, their cells, and of a study the comparison with its paper."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from sojourn import api, comparison, estimates
from sojourn.backends.identity import Identity
from sojourn.errors import InputError
from sojourn.figures import Drawn
from sojourn.metrics import of_run
from sojourn.results import Result
from sojourn.runs import called
from sojourn.statistics import Estimate
from sojourn.store import Provenance, Store
from sojourn.store.provenance import order as provenance_order
from sojourn.study import library
from sojourn.study.claims import Claim
from sojourn.study.design import Study

#: Cells whose specifications are read at most.
MOST_SPECIFICATIONS = 2000


@dataclass(frozen=True)
class Cell:
    """A cell of the matrix and what was measured of it."""

    number: int
    axes: Mapping[str, str]
    seeds: Sequence[int]
    #: The key of the run with the first seed, whose samples over time are shown.
    first_key: str
    #: By the name of a metric; none of what could not be measured.
    measured: Mapping[str, Estimate | None]

    @property
    def name(self) -> str:
        """What people call it: ``AL, UC, cubic, codel``."""
        return ", ".join(self.axes.values())


@dataclass(frozen=True)
class Contents:
    """The results of one campaign, and what is known about them."""

    directory: Path
    result: Result
    #: The axes and their labels, in the order in which they are shown.
    axes: Mapping[str, Sequence[str]]
    provenance: Sequence[Provenance]
    study: Study | None
    #: All claims of the study, those too that are of cells without runs.
    claims: Sequence[Claim]
    #: The results of some runs, by their keys: specifications are long, and those of all runs are many.
    of_keys: Callable[[Sequence[str]], Result]

    @cached_property
    def reproduction(self) -> api.Reproduction | None:
        """The study's values beside the published ones, and its claims judged."""
        return None if self.study is None else api.compare(self.study, self.result)

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row a run, of which nothing but the seed is read."""
        return self.result.columns("runs", ["seed"])

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The cells that have runs, in order, the last axis fastest."""
        places = {axis: {label: place for place, label in enumerate(labels)} for axis, labels in self.axes.items()}
        axes, runs = list(self.axes), self.result.scan("runs")
        measured = estimates.of_cells(self.result.counted("runs"), axes, [metric.name for metric in of_run()])
        first = pl.col("key").get(pl.col("seed").arg_min())
        found = runs.group_by(*axes).agg(pl.col("seed").sort(), first).collect(engine="streaming")
        rows = sorted(found.iter_rows(), key=lambda row: [places[axis][label] for axis, label in zip(axes, row, strict=False)])
        return [
            Cell(number, dict(zip(axes, labels, strict=True)), seeds, key, measured[tuple(labels)].measured)
            for number, (*labels, seeds, key) in enumerate(rows)
        ]

    @cached_property
    def builds(self) -> Mapping[Identity, int]:
        """The builds of backends that made the runs, and how many each made."""
        build = ["backend", "backend_version", "backend_digest"]
        found = self.result.scan("runs").group_by(build).len().sort(build).collect(engine="streaming")
        return {Identity(*names): count for *names, count in found.iter_rows()}

    @property
    def name(self) -> str:
        """What the report is of: the scenario's name, or the directory's where commands did not note it."""
        return self._latest("name") or self.directory.resolve().name

    @property
    def description(self) -> str:
        """What the scenario says of itself; empty if that is not known."""
        return self._latest("description")

    def _latest(self, attribute: str) -> str:
        return next((told for made in reversed(self.provenance) if (told := str(getattr(made, attribute)))), "")

    @cached_property
    def specifications(self) -> Sequence[str]:
        """The specification of the first run of each cell, or of so many evenly over all."""
        cells = self.cells[:: max(1, -(-len(self.cells) // MOST_SPECIFICATIONS))]
        found = dict(self.of_keys([cell.first_key for cell in cells]).columns("runs", ["key", "specification"]).iter_rows())
        return [found[cell.first_key] for cell in cells]

    @cached_property
    def seeds(self) -> Sequence[int]:
        """All seeds of the runs."""
        return sorted({seed for cell in self.cells for seed in cell.seeds})

    def told(self, cell: Cell) -> str:
        """What tells a cell from the others, in words."""
        return ", ".join(cell.axes[axis] for axis in self.varying) or cell.name

    @property
    def varying(self) -> Mapping[str, Sequence[str]]:
        """The axes with more than one label."""
        return {axis: labels for axis, labels in self.axes.items() if len(labels) > 1}


def read(directory: Path) -> Contents:
    """The latest study that was made in a directory, or if there is none all that is there.

    Raises:
        InputError: the directory is no store, or no runs.
        StoreFailed: its files cannot be read.
    """
    with Store(directory) as store:
        provenance = store.provenance
        latest = next((made for made in reversed(provenance) if made.study is not None), None)
        if latest is not None and latest.study is not None:
            study = library.load(latest.study)
            result = api.kept_of_study(study, store)
            order = study.axes
            made = [entry for entry in provenance if entry.study == study.name]
            axes, of_keys = Drawn.of(result, order=order).axes, _of_keys(store, list(study.axes))
            return Contents(directory, result, axes, made, study, library.claims(study), of_keys)
        return _campaign(directory, store, provenance)


def _campaign(directory: Path, store: Store, provenance: Sequence[Provenance]) -> Contents:
    """What is there if it is no study's: of the axes that most runs have."""
    every_run = store.scan("runs")
    names = comparison.axes_of(every_run.head(0).collect())
    runs = every_run.select("key", "seed", comparison.BACKEND, *names)
    if provenance:
        runs = runs.filter(pl.col(comparison.BACKEND) == provenance[-1].backend.name)
    shape = pl.concat_list(pl.col(axis).is_null() for axis in names).cast(pl.List(pl.String)).list.join("").alias("shape")
    shapes = runs.group_by(shape).agg(pl.len().alias("runs")).sort("runs", "shape", descending=[True, False]).collect()
    if not shapes.height:
        raise InputError(f"{directory}: no runs")
    chosen = runs.filter(shape == shapes["shape"][0])
    axes = [name for name, absent in chosen.select(pl.col(names).null_count()).collect().row(0, named=True).items() if not absent]
    cells = chosen.group_by(*axes).agg(pl.len().alias("number"), pl.col("seed").n_unique().alias("different"))
    twice = cells.filter(pl.col("number") > pl.col("different")).sort(*axes).head(1).collect(engine="streaming")
    if twice.height:
        cell = twice.select(axes).row(0, named=True)
        seeds = chosen.filter(**cell).select("seed").filter(pl.col("seed").is_duplicated()).collect()["seed"].sort()
        again = f"holds several runs of {called(cell)} with seed {seeds[0]}"
        raise InputError(f"{directory}: {again}; keep each campaign in a directory of its own")
    keys = None if shapes["runs"][0] == len(store) else chosen.select("key").collect()["key"]
    result = store.result(axes, None if keys is None else lambda: iter(keys))
    order = provenance_order(provenance)
    return Contents(directory, result, Drawn.of(result, order=order).axes, provenance, None, [], _of_keys(store, axes))


def _of_keys(store: Store, axes: Sequence[str]) -> Callable[[Sequence[str]], Result]:
    return lambda keys: store.result(axes, lambda: iter(keys))
