"""What a report is of: the results in a directory, their cells, and of a study the comparison with its paper."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from sojourn import _engine, api
from sojourn.analysis import comparison, estimates, findings
from sojourn.analysis.findings import Finding
from sojourn.analysis.result import Result
from sojourn.analysis.several_backends import beside
from sojourn.backends.identity import Identity
from sojourn.errors import InputError
from sojourn.figures import Drawn
from sojourn.figures.drawn import in_a_row
from sojourn.metrics import Metric, of_run
from sojourn.names import BACKEND
from sojourn.runs import called
from sojourn.statistics import Estimate
from sojourn.store import Provenance, Store
from sojourn.store.provenance import order as provenance_order
from sojourn.study import library
from sojourn.study.claims import Claim
from sojourn.study.design import Study

#: Cells that a page shows at most, about 10 kB each, and cells whose specifications are read at most.
MOST_CELLS, MOST_SPECIFICATIONS = 1000, 2000

#: Columns with the number of runs, and of different seeds; no axis is called so.
_RUNS, _SEEDS = "=runs", "=seeds"


#: What commands call the directory of results that are in none.
NOWHERE = Path("DIR")


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
    #: The study's comparison and verdicts under each reading that was reproduced here; empty if that is one.
    readings: Mapping[str, api.Reproduction] = field(default_factory=dict)

    def rows_of(self, keys: Sequence[str], name: str, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of the rows of a frame that are of a few runs."""
        # Not a join: what is filtered is not read.
        return self.result.scan(name).filter(pl.col("key").is_in(keys)).select(columns).collect(engine="streaming")

    @cached_property
    def reproduction(self) -> api.Reproduction | None:
        """The study's values beside the published ones, and its claims judged."""
        if self.study is None:
            return None
        return self.readings.get(self.study.reading) or api.compare(self.study, self.result)

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """What the runs of all cells show."""
        return findings.of(self.result, self.axes)

    @cached_property
    def runs(self) -> int:
        """How many runs there are."""
        return int(self.result.scan("runs").select(pl.len()).collect().item())

    @cached_property
    def all_cells(self) -> pl.DataFrame:
        """The axes of all cells that have runs, in order, the last axis fastest; how many runs they have, and the first key."""
        seed = pl.col("seed")
        counted = (
            self.result.scan("runs")
            .group_by(*self.axes)
            .agg(pl.len(), seed.min(), seed.max().alias("last"), pl.col("key").min_by("seed"))
        )
        found = counted.collect(engine="streaming")
        return found.sort(pl.col(axis).cast(pl.Enum(list(labels))) for axis, labels in self.axes.items())

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The cells that are shown: the first of ``all_cells``."""
        axes, shown = list(self.axes), self.all_cells.head(MOST_CELLS)
        rows = self.result.counted("runs")
        if shown.height < self.all_cells.height:
            rows = rows.join(shown.lazy().select(axes), on=axes, how="semi", maintain_order="left")
        measured = estimates.of_cells(rows, axes, [metric.name for metric in of_run()])
        cells = []
        for number, (*labels, runs, first, last, key) in enumerate(shown.iter_rows()):
            values = dict(zip(axes, labels, strict=True))
            seeds = range(first, last + 1) if last - first == runs - 1 else self._seeds(values)
            cells.append(Cell(number, values, seeds, key, measured[tuple(labels)].measured))
        return cells

    def _seeds(self, cell: Mapping[str, str]) -> Sequence[int]:
        of_cell = self.result.scan("runs").filter(pl.col(axis) == label for axis, label in cell.items())
        return of_cell.select(pl.col("seed").sort()).collect(engine="streaming")["seed"].to_list()

    @property
    def left_out(self) -> int:
        """How many cells are not shown."""
        return self.all_cells.height - len(self.cells)

    @cached_property
    def shown(self) -> Mapping[str, Sequence[str]]:
        """The axes, with the labels that shown cells have."""
        there = {axis: {cell.axes[axis] for cell in self.cells} for axis in self.axes}
        return {axis: [label for label in labels if label in there[axis]] for axis, labels in self.axes.items()}

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

    @property
    def changes(self) -> Sequence[str]:
        """The keys that the latest command set in the scenario, of which its description knows nothing, and their values."""
        made = self.provenance[-1].changes if self.provenance else {}
        return [f"{key} = {value}" for key, value in made.items()]

    def _latest(self, attribute: str) -> str:
        return next((told for made in reversed(self.provenance) if (told := str(getattr(made, attribute)))), "")

    @cached_property
    def specifications(self) -> Sequence[str]:
        """The specification of the first run of each cell, or of so many evenly over all."""
        keys = self.all_cells["key"].gather_every(max(1, -(-self.all_cells.height // MOST_SPECIFICATIONS))).to_list()
        found = dict(self.rows_of(keys, "runs", ["key", "specification"]).iter_rows())
        return [found[key] for key in keys]

    @cached_property
    def seeds(self) -> Sequence[int]:
        """All seeds of the runs."""
        found = self.result.scan("runs").select(pl.col("seed").unique()).collect(engine="streaming")["seed"].sort()
        return in_a_row(found)

    @cached_property
    def measured(self) -> Sequence[Metric]:
        """The metrics that any cell has which is shown."""
        return [metric for metric in of_run() if any(cell.measured[metric.name] is not None for cell in self.cells)]

    def told(self, labels: Mapping[str, str]) -> str:
        """What tells a cell with these values of the axes from the others, in words."""
        return ", ".join(labels[axis] for axis in self.varying or self.axes)

    @cached_property
    def drawn(self) -> Drawn:
        """All cells and seeds as charts draw them."""
        return Drawn.of(self.result, order=self.axes)

    @property
    def varying(self) -> Mapping[str, Sequence[str]]:
        """The axes with more than one label."""
        return {axis: labels for axis, labels in self.axes.items() if len(labels) > 1}


def of_result(result: Result, study: Study | None = None) -> Contents:
    """The result of a campaign, of a study perhaps."""
    file = result.file("runs")
    build = ["backend", "backend_version", "backend_digest"]
    builds = result.scan("runs").select(build).unique().sort(build).collect()
    if not builds.height:
        raise InputError("no runs")
    told = {"name": result.name, "description": result.description, "changes": result.changes, "axes": result.order}
    version, of_study = _engine.version(), None if study is None else study.origin.place
    made = [Provenance(result.command, version, Identity(*names), of_study, **told) for names in builds.iter_rows()]  # type: ignore[arg-type]
    directory = NOWHERE if file is None else file.parent
    axes = Drawn.of(result, order=result.order if study is None else study.axes).axes
    return Contents(directory, result, axes, made, study, [] if study is None else library.claims(study))


def read(directory: Path) -> Contents:
    """The latest study that was made in a directory, or if there is none all that is there."""
    with Store(directory) as store:
        provenance = store.provenance
        latest = next((made for made in reversed(provenance) if made.study is not None), None)
        if latest is not None and latest.study is not None:
            study = api.as_made(_study(directory, latest.study), store)
            readings = api.by_reading(study, store) if len(api.readings(store, study)) > 1 else {}
            result = readings[study.reading].result if readings else api.kept_of_study(study, store)
            order = study.axes
            made = [entry for entry in provenance if entry.reproduces(study.origin.place, study.name)]
            axes = Drawn.of(result, order=order).axes
            return Contents(directory, result, axes, made, study, library.claims(study), readings)
        return _campaign(directory, store, provenance)


def _study(directory: Path, study: str) -> Study:
    """The study that was made in a directory."""
    if library.is_path(study) and not Path(study).exists():
        again = f"sojourn reproduce STUDY --out {shlex.quote(str(directory))}"
        raise InputError(f"{directory}: the study {study} is not there; {again} with its new path makes no run again")
    return library.load(study)


def _campaign(directory: Path, store: Store, provenance: Sequence[Provenance]) -> Contents:
    """What is there if it is no study's: of the axes that most runs have, and of all backends."""
    every_run = store.scan("runs")
    names = comparison.axes_of(every_run.head(0).collect())
    runs = every_run.select("key", "seed", BACKEND, *names)
    counted = runs.group_by(pl.col(names).is_null()).agg(pl.len().alias(_RUNS)).collect(engine="streaming")
    if not counted.height:
        raise InputError(f"{directory}: no runs")
    most = counted.sort(-pl.col(_RUNS).cast(pl.Int64), *names).row(0, named=True)
    axes = [name for name in names if not most[name]]
    chosen = runs.filter(pl.col(name).is_null() if most[name] else pl.col(name).is_not_null() for name in names)
    grouped = chosen.group_by(*axes, BACKEND).agg(pl.len().alias(_RUNS), pl.col("seed").n_unique().alias(_SEEDS))
    cells = grouped.collect(engine="streaming")
    twice = cells.filter(pl.col(_RUNS) > pl.col(_SEEDS)).sort(*axes, BACKEND).head(1)
    if twice.height:
        cell = twice.select(axes).row(0, named=True)
        seeds = (
            chosen.filter(**twice.select(*axes, BACKEND).row(0, named=True))
            .select("seed")
            .filter(pl.col("seed").is_duplicated())
            .collect()["seed"]
            .sort()
        )
        again = f"holds several runs of {called(cell)} with seed {seeds[0]}"
        raise InputError(f"{directory}: {again}; keep each campaign in a directory of its own")
    keys = None if most[_RUNS] == len(store) else chosen.select("key").collect(engine="streaming")["key"]
    result = store.result(axes, None if keys is None else lambda: iter(keys))
    if cells[BACKEND].n_unique() > 1:
        result = beside(result)
    shown = Drawn.of(result, order=provenance_order(provenance)).axes
    return Contents(directory, result, shown, provenance, None, [])
