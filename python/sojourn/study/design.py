"""A study: a base scenario, the sweep that makes its matrix, and the published tables it is compared with. All of it is data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from sojourn import names
from sojourn.errors import InputError
from sojourn.metrics import METRICS
from sojourn.scenario.base import Table
from sojourn.scenario.problems import describe
from sojourn.sweeps.matrix import Matrix, Point
from sojourn.sweeps.model import Condition, Meant, Override, Sweep, matches

Values = str | list[str]

#: What stands for the studies of all papers.
ALL_STUDIES = "all"

#: The reading that adds no assumptions to what the source states.
AS_STATED = "as-stated"


class StudyTable(Table):
    """A table of the paper, or of our own: which cells of the matrix it shows, and which metrics of each."""

    number: int
    title: str
    select: dict[str, Values]
    metrics: list[str]
    #: The axis whose column does not name the cell of the matrix but an algorithm, whose flows are meant, or ``all`` of them.
    algorithms: str | None = None


class PublishedFile(Table):
    """Where the published values are and how to read them."""

    file: str
    #: Spellings in the file and what they are called here.
    names: dict[str, str] = Field(default_factory=dict)
    #: Cells that are printed as something else than a plain number, and the number taken for them.
    readings: dict[str, float] = Field(default_factory=dict)


class StudyFigure(Table):
    """A figure of the paper that can be drawn of the study's runs."""

    number: int
    title: str
    #: How it is drawn: a name of ``sojourn.figures.available()``.
    figure: str
    #: The cells that it shows.
    select: dict[str, Values] = Field(default_factory=dict)


class Assumption(Override):
    """A change to the scenarios of some cells that a study's source does not state."""

    #: Why it may be so.
    reason: str
    #: What shows it, other than that more values agree.
    evidence: str


class Space(Table):
    """What cells outside a study's matrix are drawn from: a scenario, and axes with values and ranges (``sweeps.model``)."""

    scenario: dict[str, Any]
    axes: dict[str, Any]
    exclude: list[Condition] = Field(default_factory=list)
    overrides: list[Override] = Field(default_factory=list)

    def sweep(self, cells: int, seed: int) -> Sweep:
        """The sweep that draws so many cells."""
        return Sweep.of({**self.model_dump(exclude={"scenario"}), "draw": {"cells": cells, "seed": seed}})

    @model_validator(mode="after")
    def _can_be_drawn_from(self) -> Self:
        _ = self.sweep(1, 0)
        return self


class Reading(Table):
    """A named set of assumptions, added together to what the source states."""

    description: str
    assumptions: list[Assumption]


@dataclass(frozen=True)
class Origin:
    """Where a study was read from."""

    file: Path
    #: What commands call it: a name, or the path of one's own as it was given.
    called: str
    #: What results call it: a name, or the whole path of one's own.
    place: str

    @property
    def folder(self) -> Path:
        """Where its other files are."""
        return self.file.parent


class Study(Table):
    """A whole ``study.toml``."""

    name: str
    title: str
    source: str
    scenario: dict[str, Any]
    sweep: Sweep
    tables: list[StudyTable]
    figures: list[StudyFigure] = Field(default_factory=list)
    #: None for a study without published answers.
    published: PublishedFile | None = None
    #: What ``--draw`` draws cells from.
    space: Space | None = None
    #: Other ways to take what the source says, by name.
    readings: dict[str, Reading] = Field(default_factory=dict)
    _reading: str = PrivateAttr(AS_STATED)
    _origin: Origin = PrivateAttr()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if not names.is_plain(self.name) or self.name == ALL_STUDIES:
            raise ValueError(f'name: "{self.name}": must be {names.PLAIN}, and not "{ALL_STUDIES}"')
        for table in self.tables:
            self._selected(table)
            names.check("metric", table.metrics, METRICS, place=f"tables: {table.number}: ")
            if table.algorithms is not None and not isinstance(table.select.get(table.algorithms), str):
                raise ValueError(f'tables: {table.number}: a table of algorithms selects one value of "{table.algorithms}"')
        if AS_STATED in self.readings:
            raise ValueError(f'readings: "{AS_STATED}" is the study without any')
        for name, reading in self.readings.items():
            for index, assumption in enumerate(reading.assumptions):
                self.sweep.meant(f"readings: {name}: assumptions[{index}].when", assumption.when)
        for figure in self.figures:
            self.sweep.meant(f"figures: {figure.number}", figure.select)
        return self

    def _selected(self, table: StudyTable) -> Meant:
        return self.sweep.meant(f"tables: {table.number}", table.select)

    @property
    def reading(self) -> str:
        """The name of the reading that its scenarios follow."""
        return self._reading

    @property
    def origin(self) -> Origin:
        """Where it was read from."""
        return self._origin

    def at(self, origin: Origin) -> Self:
        """The study as read from there."""
        self._origin = origin
        return self

    def under(self, reading: str) -> Self:
        """The study under one of its readings, or as stated."""
        names.check("reading", reading, [AS_STATED, *self.readings], InputError, f"study {self.name}: ")
        study = self.of({name: getattr(self, name) for name in type(self).model_fields})
        study._reading = reading
        return study.at(self.origin)

    @property
    def axes(self) -> dict[str, list[str]]:
        """The axes of the matrix and what their values are called."""
        return {name: list(axis.values) for name, axis in self.sweep.axes.items()}

    @property
    def spellings(self) -> dict[str, str]:
        """What is written otherwise in the published file, and what it is called here."""
        return {} if self.published is None else self.published.names

    @cached_property
    def matrix(self) -> Matrix:
        """All its cells, with the scenarios of its reading."""
        assumed = [] if self.reading == AS_STATED else self.readings[self.reading].assumptions
        return Matrix(
            {"name": self.name, **self.scenario},
            self.sweep.with_overrides(assumed),
            f"study {self.name}",
            folder=self.origin.folder,
        )

    @cached_property
    def points(self) -> list[Point]:
        """The axes' values of each cell; a study's claims and published values ask for them often."""
        return list(self.matrix.points())

    def part(self, only: Mapping[str, Iterable[str]], changes: Mapping[str, Any] | None = None) -> Matrix:
        """The cells with the wanted values of some axes, with ``changes`` to their scenarios if given."""
        return self.matrix.only(only, self.spellings).with_changes(changes or {})

    def drawn(self, cells: int, seed: int) -> Matrix:
        """So many cells of the space around the study.

        Raises:
            InputError: the study has no space, or not so many cells.
        """
        if self.space is None:
            raise InputError(f"study {self.name}: --draw: {self.origin.file.name} has no space to draw cells from")
        try:
            sweep = self.space.sweep(cells, seed)
        except ValidationError as error:
            raise InputError(f"study {self.name}: --draw {cells}: {describe(error, 'space')}") from None
        base = {"name": f"{self.name}-drawn", **self.space.scenario}
        return Matrix(base, sweep, f"study {self.name}: space", folder=self.origin.folder)

    def arranged(self, table: StudyTable) -> tuple[list[str], str]:
        """The axes that a table shows: those of its rows, and that of its columns."""
        *rows, column = [axis for axis in self.axes if axis == table.algorithms or not isinstance(table.select.get(axis), str)]
        return rows, column

    def shows(self, table: StudyTable, axes: Point) -> bool:
        """Whether a cell of the matrix is one of a table's."""
        return matches(self._selected(table), axes)
