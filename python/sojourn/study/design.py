"""A study: a base scenario, the axes of its matrix, and the published tables it is held against. All of it is data."""

import copy
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from pydantic import Field, model_validator

from sojourn import names
from sojourn.errors import InputError
from sojourn.metrics import METRICS
from sojourn.runs import Cell, Run
from sojourn.scenario import from_data
from sojourn.scenario.base import Table

Values = str | list[str]


class Override(Table):
    """What a value of an axis, or a combination of values, changes in the base scenario."""

    when: dict[str, Values]
    set: dict[str, Any]

    def applies(self, axes: Mapping[str, str]) -> bool:
        """Whether a cell of the matrix is meant."""
        return matches(self.when, axes)


class StudyTable(Table):
    """A table of the paper, or of our own: which cells of the matrix it shows, and which metrics of each."""

    number: int
    title: str
    select: dict[str, Values]
    metrics: list[str]
    #: The axis whose column does not tell the cell of the matrix but whose flows are meant: an algorithm's, or ``all``.
    camps: str | None = None


class PublishedFile(Table):
    """Where the published figures are and how to read them."""

    file: str
    #: Spellings in the file and what they are called here.
    names: dict[str, str] = Field(default_factory=dict)
    #: Cells that are printed as something else than a plain number, and the number taken for them.
    readings: dict[str, float] = Field(default_factory=dict)


class Study(Table):
    """A whole ``study.toml``."""

    name: str
    title: str
    source: str
    scenario: dict[str, Any]
    axes: dict[str, list[str]]
    overrides: list[Override]
    tables: list[StudyTable]
    #: None for a study whose question nobody has answered in print.
    published: PublishedFile | None = None

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        conditions = [("overrides", override.when) for override in self.overrides]
        conditions += [(f"tables: {table.number}", table.select) for table in self.tables]
        for place, condition in conditions:
            for axis, values in condition.items():
                if axis not in self.axes:
                    raise ValueError(f"{place}: {names.unknown('axis', axis, self.axes)}")
                for value in [values] if isinstance(values, str) else values:
                    if value not in self.axes[axis]:
                        raise ValueError(f"{place}: {names.unknown(f'value of axis {axis}', value, self.axes[axis])}")
        for table in self.tables:
            for metric in table.metrics:
                if metric not in METRICS:
                    raise ValueError(f"tables: {table.number}: {names.unknown('metric', metric, METRICS)}")
            if table.camps is not None and self.published is None:
                raise ValueError(f"tables: {table.number}: camps are those of the published figures, and there are none")
            if table.camps is not None and not isinstance(table.select.get(table.camps), str):
                raise ValueError(f'tables: {table.number}: a table of camps selects one value of "{table.camps}"')
        return self

    @property
    def spellings(self) -> dict[str, str]:
        """What is written otherwise in the published file, and what it is called here."""
        return {} if self.published is None else self.published.names

    def selection(self, only: Mapping[str, Iterable[str]]) -> list[dict[str, str]]:
        """The cells of the matrix, in the order of the axes, narrowed to the wanted values of some axes.

        Raises:
            InputError: no such axis or value.
        """
        wanted = {self._axis(axis): [self._value(axis, value) for value in values] for axis, values in only.items()}
        chosen = [[value for value in values if value in wanted.get(axis, values)] for axis, values in self.axes.items()]
        return [dict(zip(self.axes, cell, strict=True)) for cell in itertools.product(*chosen)]

    def runs(self, chosen: Iterable[Mapping[str, str]], seeds: int, changes: Mapping[str, Any] | None = None) -> list[Run]:
        """The runs of some cells of the matrix; see ``cells``."""
        return [run for cell in self.cells(chosen, changes) for run in cell.runs(seeds)]

    def cells(self, chosen: Iterable[Mapping[str, str]], changes: Mapping[str, Any] | None = None) -> Iterator[Cell]:
        """Some cells of the matrix, made one by one, with ``changes`` to their scenarios if given.

        Raises:
            InputError: a change does not fit a scenario.
        """
        origin = f"study {self.name}"
        return (Cell(axes, from_data(self.data(axes, changes), origin)) for axes in chosen)

    def data(self, axes: Mapping[str, str], changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The scenario of one cell of the matrix, as plain data; ``changes`` are made last, path by path.

        Raises:
            InputError: a change's path leads nowhere.
        """
        scenario = copy.deepcopy(self.scenario)
        for override in self.overrides:
            if override.applies(axes):
                for path, value in override.set.items():
                    assign(scenario, path.split("."), copy.deepcopy(value))
        for path, value in (changes or {}).items():
            try:
                assign(scenario, path.split("."), copy.deepcopy(value))
            except (AttributeError, IndexError, TypeError, ValueError):
                raise InputError(f"--set {path}: the study's scenario has nothing there to set") from None
        return {"name": self.name, **scenario}

    def _axis(self, axis: str) -> str:
        if axis not in self.axes:
            raise InputError(f"--only {axis}: {names.unknown('axis', axis, self.axes)}")
        return axis

    def _value(self, axis: str, value: str) -> str:
        spellings = {known.casefold(): known for known in self.axes[axis]}
        spellings |= {spelling.casefold(): known for spelling, known in self.spellings.items() if known in self.axes[axis]}
        if value.casefold() not in spellings:
            raise InputError(f"--only {axis}={value}: {names.unknown(f'value of axis {axis}', value, self.axes[axis])}")
        return spellings[value.casefold()]


def matches(condition: Mapping[str, Values], axes: Mapping[str, str]) -> bool:
    """Whether every axis of the condition has its value, or one of its values."""
    return all(axes[axis] in ([values] if isinstance(values, str) else values) for axis, values in condition.items())


def assign(data: Any, path: Sequence[str], value: object) -> None:
    """Sets what a path leads to in nested tables and lists; a number is a list's index, ``*`` means all of a list."""
    head, *rest = path
    if isinstance(data, list):
        indices = range(len(data)) if head == "*" else [int(head)]
        for index in indices:
            if rest:
                assign(data[index], rest, value)
            else:
                data[index] = value
    elif rest:
        assign(data.setdefault(head, {}), rest, value)
    else:
        data[head] = value
