"""What a report is of: the results in a directory, their cells, and of a study the comparison with its paper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from sojourn import api, comparison, repetition
from sojourn.backends.identity import Identity
from sojourn.errors import InputError
from sojourn.figures import Drawn
from sojourn.metrics import of_run
from sojourn.results import Result
from sojourn.statistics import Estimate, estimate
from sojourn.store import Provenance, Store
from sojourn.study import library
from sojourn.study.claims import Claim
from sojourn.study.design import Study


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

    @cached_property
    def reproduction(self) -> api.Reproduction | None:
        """The study's values beside the published ones, and its claims judged."""
        return None if self.study is None else api.compare(self.study, self.result)

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row a run: its key, axes, seed and what it measured."""
        return self.result.columns("runs", ["key", *self.axes, "seed", *repetition.measured()])

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The cells that have runs, in order, the last axis fastest."""
        places = {axis: {label: place for place, label in enumerate(labels)} for axis, labels in self.axes.items()}
        found = self.runs.partition_by(list(self.axes), as_dict=True)
        ordered = sorted(found, key=lambda labels: [places[axis][label] for axis, label in zip(places, labels, strict=True)])
        return [_cell(number, dict(zip(self.axes, labels, strict=True)), found[labels]) for number, labels in enumerate(ordered)]

    @cached_property
    def builds(self) -> Mapping[Identity, int]:
        """The builds of backends that made the runs, and how many each made."""
        runs = self.result.columns("runs", ["backend", "backend_version", "backend_digest"])
        return {Identity(*build): count for *build, count in runs.group_by(runs.columns).len().sort(runs.columns).iter_rows()}

    @cached_property
    def note(self) -> str | None:
        """What is said, on one line, of cells whose seeds change nothing; none if there are no such cells."""
        return repetition.note(self.runs.select, list(self.axes))

    @property
    def seeds(self) -> Sequence[int]:
        """All seeds of the runs."""
        return [int(seed) for seed in self.runs["seed"].unique().sort()]

    def told(self, cell: Cell) -> str:
        """What tells a cell from the others, in words."""
        return ", ".join(cell.axes[axis] for axis in self.varying) or cell.name

    @property
    def varying(self) -> Mapping[str, Sequence[str]]:
        """The axes with more than one label."""
        return {axis: labels for axis, labels in self.axes.items() if len(labels) > 1}


def _cell(number: int, axes: Mapping[str, str], runs: pl.DataFrame) -> Cell:
    runs = runs.sort("seed")
    counted = runs.head(1) if repetition.is_repeated(runs) else runs
    measured = {metric.name: _over_seeds(counted[metric.name]) for metric in of_run()}
    return Cell(number, axes, runs["seed"].to_list(), str(runs["key"][0]), measured)


def _over_seeds(values: pl.Series) -> Estimate | None:
    """The mean over seeds with its interval; none if it could not be measured with any."""
    known = values.drop_nulls().to_list()
    return estimate(known) if known else None


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
            return Contents(directory, result, Drawn.of(result, order=order).axes, made, study, library.claims(study))
        return _campaign(directory, store, provenance)


def _campaign(directory: Path, store: Store, provenance: Sequence[Provenance]) -> Contents:
    """What is there if it is no study's: of the axes that most runs have."""
    names = comparison.axes_of(store.sql("SELECT * FROM runs LIMIT 0"))
    listed = ", ".join(f'"{axis}"' for axis in names)
    runs = store.sql(f"SELECT key, seed, {comparison.BACKEND}, {listed} FROM runs")
    if provenance:
        runs = runs.filter(pl.col(comparison.BACKEND) == provenance[-1].backend.name)
    if not runs.height:
        raise InputError(f"{directory}: no runs")
    shapes = runs.with_columns(shape=pl.concat_str(pl.col(axis).is_null() for axis in names))
    largest = shapes["shape"].mode(maintain_order=True)[0]
    chosen = shapes.filter(shape=largest)
    axes = [axis for axis in names if not chosen[axis].null_count()]
    twice = chosen.filter(pl.struct(*axes, "seed").is_duplicated())
    if twice.height:
        label = ",".join(f"{axis}={twice[axis][0]}" for axis in axes)
        again = f"holds several runs of {label} with seed {twice['seed'][0]}"
        raise InputError(f"{directory}: {again}; keep each campaign in a directory of its own")
    keys = chosen["key"].to_list()
    result = store.result(axes, lambda: iter(keys))
    return Contents(directory, result, Drawn.of(result).axes, provenance, None, [])
