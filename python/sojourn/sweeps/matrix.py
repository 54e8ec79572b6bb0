"""A matrix: a base scenario, a sweep of it, and the cells that they make, one at a time."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from sojourn.analysis.axes import check_axes
from sojourn.errors import InputError, within
from sojourn.runs import Cell, called
from sojourn.scenario import Scenario, from_data
from sojourn.scenario.problems import describe
from sojourn.scenario.reading import Shared
from sojourn.sweeps.model import Meant, Sweep, matches
from sojourn.sweeps.paths import ALL, KeyPath

#: The axis of a matrix without axes: the scenario's name identifies its one cell.
NAME = "scenario"

#: The values of a cell's axes, by what they are called.
Point = Mapping[str, str]

#: Values of axes that go together, as pairs of axis and label.
Step = tuple[tuple[str, str], ...]


@dataclass(frozen=True, repr=False)
class Matrix:
    """The cells of a sweep, in order, the last axis fastest. Nothing but the file's text is held in memory."""

    base: Mapping[str, Any]
    sweep: Sweep
    #: What errors call its source.
    origin: str
    #: Values of some axes that the matrix is narrowed to.
    wanted: Meant = field(default_factory=dict)
    #: Keys that are set in every scenario, after all else.
    changes: Mapping[KeyPath, Any] = field(default_factory=dict)
    #: The folder that paths of files in it are relative to; where we are unless given.
    folder: Path | None = None

    @property
    def name(self) -> str:
        """What the scenario is called."""
        return str(self.base.get("name"))

    @property
    def description(self) -> str:
        """What the scenario says of itself."""
        return str(self.base.get("description", ""))

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes, in order."""
        return tuple(self.sweep.axes) or (NAME,)

    def only(self, selection: Mapping[str, Iterable[str]], spellings: Mapping[str, str] | None = None) -> Self:
        """The matrix narrowed to some values of some axes, whatever the case of their letters.

        Raises:
            InputError: no such axis or value, or no cell that has them.
        """
        if selection and not self.sweep.axes:
            raise InputError(f"--only {next(iter(selection))}: {self.origin} has no sweep, so there is one cell")
        try:
            wanted = self.sweep.meant(
                "--only",
                {axis: [self._label(axis, label, spellings or {}) for label in labels] for axis, labels in selection.items()},
            )
        except ValueError as error:
            raise InputError(str(error)) from None
        narrowed = replace(self, wanted=wanted)
        if not narrowed.size:
            raise InputError(f"{self.origin}: --only matches no cell")
        return narrowed

    def _label(self, axis: str, label: str, spellings: Mapping[str, str]) -> str:
        """What is called so but for the case of its letters, or else what was given."""
        values = self.sweep.axes[axis].values if axis in self.sweep.axes else {}
        known = [*values, *(value.name for value in values.values())]
        folded = {spelling.casefold(): meant for spelling, meant in spellings.items() if meant in known}
        folded |= {value.casefold(): value for value in known}
        return label if label in known else folded.get(label.casefold(), label)

    def with_changes(self, changes: Mapping[str, Any]) -> Self:
        """The matrix with keys set in all its scenarios, after all else.

        Raises:
            InputError: no scenario has such a key.
        """
        paths: dict[KeyPath, Any] = {}
        for key, value in changes.items():
            with within(f"--set {key}", InputError):
                paths[KeyPath.of(key)] = value
        return replace(self, changes=paths)

    def varied(self, axes: Mapping[str, Any]) -> Self:
        """The matrix with further axes, or with other values of axes that it has, each as a file writes it.

        An axis that is a key of several words, such as ``flows.*.tcp``, is called by its last, ``tcp``, if nothing else is.

        Raises:
            InputError: an axis, its key or a value will not do.
        """
        given = self.sweep.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
        known: dict[str, Any] = given.setdefault("axes", {})
        for name, told in axes.items():
            if name in known and isinstance(told, list):
                # Its key stays.
                kept = {key: held for key, held in known[name].items() if key == "key"}
                known[name] = {**kept, "values": told}
            elif name in known or "." not in name:
                known[name] = told
            else:
                known[_called(name, known)] = {"key": name, **(told if isinstance(told, Mapping) else {"values": told})}
        try:
            varied = replace(self, sweep=Sweep.of(given))
        except ValidationError as error:
            raise InputError(f"{self.origin}: {describe(error, 'sweep')}") from None
        if not varied.size:
            raise InputError(f"{self.origin}: sweep.exclude: no cell is left")
        return varied

    def __repr__(self) -> str:
        axes = "; ".join(f"{name}: {', '.join(labels)}" for name, (_, labels) in self.described().items())
        return f"<{self.name}, {self.size:,} {'cell' if self.size == 1 else 'cells'}{f' ({axes})' if axes else ''}>"

    def described(self) -> dict[str, tuple[str, list[str]]]:
        """What each axis sets, for display, and the labels of its selected values."""
        described: dict[str, tuple[str, list[str]]] = {}
        for name, axis in self.sweep.axes.items():
            paths, group = self.sweep.paths[name], next((group for group in self.sweep.zip if name in group), [])
            partners = ", ".join(other for other in group if other != name)
            what = ", ".join(path.text for path in paths) or "set in overrides"
            labels = [label for label in axis.values if label in self.wanted.get(name, axis.values)]
            described[name] = (what + (f" (together with {partners})" if partners else ""), labels)
        return described

    def points(self) -> Iterator[Point]:
        """The values of each cell's axes, in order."""
        if not self.sweep.axes:
            yield {NAME: self.name}
            return
        if self.sweep.drawn is not None:
            yield from (point for point in self.sweep.drawn if matches(self.wanted, point))
            return
        for combination in self._combinations(0, (), self._excluding):
            point = dict(itertools.chain.from_iterable(combination))
            yield {axis: point[axis] for axis in self.sweep.axes}

    def _combinations(self, place: int, chosen: tuple[Step, ...], excluding: frozenset[int]) -> Iterator[tuple[Step, ...]]:
        """The combinations of steps that begin with those chosen; ``excluding`` are the exclusions that all of those match."""
        if place == len(self._together):
            if not excluding:
                yield chosen
            return
        for step in self._together[place]:
            left = self._still(excluding, step)
            # What is excluded whatever follows is not gone through.
            if not any(self._last_places[index] <= place for index in left):
                yield from self._combinations(place + 1, (*chosen, step), left)

    def _still(self, excluding: frozenset[int], step: Step) -> frozenset[int]:
        """Of some exclusions those that a step matches too."""
        if not excluding:
            return excluding
        return frozenset(
            index for index in excluding if all(label in self.sweep.exclusions[index].get(axis, (label,)) for axis, label in step)
        )

    @property
    def _excluding(self) -> frozenset[int]:
        return frozenset(range(len(self.sweep.exclusions)))

    @cached_property
    def _last_places(self) -> list[int]:
        """The place among ``_together`` of the last axis of each exclusion; an empty one excludes everything."""
        places = {axis: place for place, steps in enumerate(self._together) for axis, _ in (steps[0] if steps else ())}
        return [max((places.get(axis, 0) for axis in exclusion), default=0) for exclusion in self.sweep.exclusions]

    @cached_property
    def _together(self) -> list[list[Step]]:
        """The wanted steps of each axis, or of the axes that go together."""
        zipped = {axes[0]: axes for axes in (sorted(group, key=self.axes.index) for group in self.sweep.zip)}
        followers = {axis for axes in zipped.values() for axis in axes[1:]}
        groups = [zipped.get(axis, [axis]) for axis in self.sweep.axes if axis not in followers]
        steps = (
            [
                tuple(zip(group, labels, strict=True))
                for labels in zip(*(self.sweep.axes[axis].values for axis in group), strict=True)
            ]
            for group in groups
        )
        return [
            [step for step in each if all(label in self.wanted.get(axis, (label,)) for axis, label in step)] for each in steps
        ]

    @cached_property
    def size(self) -> int:
        """How many cells there are, counted without going through them, unless they are drawn."""
        if self.sweep.drawn is not None:
            return sum(matches(self.wanted, point) for point in self.sweep.drawn)
        # How many combinations of the steps so far match which exclusions.
        numbers = Counter({self._excluding: 1})
        for steps in self._together:
            further: Counter[frozenset[int]] = Counter()
            for excluding, number in numbers.items():
                for left, times in Counter(self._still(excluding, step) for step in steps).items():
                    further[left] += number * times
            numbers = further
        return numbers[frozenset()]

    def cells(self) -> Iterator[Cell]:
        """All cells, in order, each made when it is asked for."""
        shared = Shared()
        return (self.cell(point, shared) for point in self.points())

    def cell(self, axes: Point, shared: Shared | None = None) -> Cell:
        """One cell, which may share what is alike with others."""
        where = f"{self.origin}: cell {called(axes)}" if self.sweep.axes else self.origin
        scenario = self.base
        for path, value in self.sweep.settings(axes) if self.sweep.axes else ():
            scenario = _set(scenario, path, value, where)
        for override, condition in zip(self.sweep.overrides, self.sweep.conditions, strict=True):
            if matches(condition, axes):
                for key, path in override.paths.items():
                    scenario = _set(scenario, path, override.set[key], where)
        return Cell(axes, self._changed(scenario, where, shared))

    def _changed(self, scenario: Mapping[str, Any], where: str, shared: Shared | None) -> Scenario:
        """The scenario with the changes."""
        changed = scenario
        for path, value in self.changes.items():
            changed = _set(changed, path, value, f"--set {path.text}")
        try:
            return from_data(changed, where, self.folder, shared)
        except InputError:
            from_data(scenario, where, self.folder)
            self._blame(scenario, where)
            raise

    def _blame(self, scenario: Mapping[str, Any], where: str) -> None:
        """Raises the error of the change without which the others are fine, or of the first that with those before is not."""
        cell = where.removeprefix(self.origin)
        for left_out in self.changes:
            others, whole = scenario, scenario
            for path, value in self.changes.items():
                others = others if path == left_out else _set(others, path, value, where)
                whole = _set(whole, path, value, where)
            try:
                from_data(others, where, self.folder)
            except InputError:
                continue
            from_data(whole, f"--set {left_out.text}{cell}", self.folder)
        for path, value in self.changes.items():
            scenario = _set(scenario, path, value, f"--set {path.text}")
            from_data(scenario, f"--set {path.text}{cell}", self.folder)


def _called(key: str, taken: Iterable[str]) -> str:
    """What an axis is called that sets a key: its last word that says something, or as many as make it another one."""
    words = [word for word in key.split(".") if word != ALL and not word.isdecimal()]
    if words[-1:] == ["name"]:
        words.pop()
    for number in range(1, len(words)):
        name = ".".join(words[-number:])
        try:
            check_axes([name])
        except InputError:
            continue
        if name not in taken:
            return name
    return key


def _set(scenario: Mapping[str, Any], path: KeyPath, value: Any, where: str) -> Mapping[str, Any]:
    with within(where, InputError):
        return path.assigned(scenario, value)
