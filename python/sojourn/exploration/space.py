"""A space of scenarios: what varies between which bounds, and which points of it there are.

A point gives each name of the space the value that a file would have for it. It is also a place in the unit cube, with a
coordinate for each dimension, which is what optimisers and models of borders work on; and it is a cell like those of a sweep.
"""

import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Self

import polars as pl

from sojourn.errors import InputError, within
from sojourn.runs import Cell, called
from sojourn.scenario import from_data, read_toml
from sojourn.store.query import Stream, confine, find, opened
from sojourn.sweeps import file, values
from sojourn.sweeps.file import SEARCH
from sojourn.sweeps.ranges import Range
from sojourn.sweeps.searched import FLOWS, Entry, Searched
from sojourn.units import DURATION, PICOSECONDS, amount

#: The values of a point, by the names of the space; names that its choices leave out are absent.
Point = Mapping[str, Any]

#: What cells call the value of a name that is left out.
LEFT_OUT = "-"

#: Points that are drawn to see whether any meets all conditions, and what DuckDB may use to decide.
TRIED, MEMORY = 20_000, "200MB"

#: Points that are read as scenarios before a search begins.
LOOKED_AT = 20


@dataclass(frozen=True)
class Dimension:
    """One coordinate of a space."""

    #: The name of the space, with the number of the step if that is a sequence.
    name: str
    #: ``"real"``, ``"whole"``, or ``"choice"``, whose values have no order.
    kind: Literal["real", "whole", "choice"]
    #: How many values it has; 0 of real ones.
    size: int
    entry: Entry = field(repr=False)

    def at(self, share: float) -> Any:
        """The value at a share of the way, from 0 to 1; of a choice its place among all."""
        share = min(max(share, 0.0), 1.0)
        if self.kind == "choice":
            return min(int(share * self.size), self.size - 1)
        ends = self.entry.ends
        if self.kind == "real":
            if share in (0.0, 1.0):
                return ends.write(ends.start if share == 0 else ends.end)
            return ends.at(share)
        low, high = _ends(ends)
        # All whole numbers have an equal part of the way, or one that falls with their size.
        number = low * ((high + 1) / low) ** share if ends.spacing == "log" else low + share * (high + 1 - low)
        return int(min(max(math.floor(number), low), high))

    @property
    def whole(self) -> range:
        """The values of whole numbers."""
        low = int(self.entry.ends.start)
        return range(low, low + self.size)

    def share(self, value: Any) -> float:
        """The share at which a value is; of whole numbers and choices the middle of theirs."""
        if self.kind == "choice":
            return (int(value) + 0.5) / self.size
        low, high = _ends(self.entry.ends)
        number = amount_of(value)
        assert isinstance(number, float), "bounds are of numbers"
        if self.kind == "whole":
            number, high = number + 0.5, high + 1
        if self.entry.ends.spacing == "log":
            return min(max(math.log(number / low) / math.log(high / low), 0.0), 1.0)
        return min(max((number - low) / (high - low), 0.0), 1.0)


def _ends(ends: Range) -> tuple[float, float]:
    low, high = (amount_of(ends.write(end)) for end in (ends.start, ends.end))
    assert isinstance(low, float), "bounds are of numbers"
    assert isinstance(high, float), "bounds are of numbers"
    return low, high


def amount_of(value: Any) -> float | str | bool:
    """What conditions and models see of a value: a number in s, bit/s, bytes, packets or BDP, or what it is called."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        number = amount(value)
        if number is not None:
            try:
                DURATION.parse(value)
            except ValueError:
                return float(number)
            return float(number / PICOSECONDS)
    return values.text(value)


@dataclass(frozen=True)
class Space:
    """What varies in a scenario file, and which of its points are scenarios."""

    searched: Searched
    #: The scenario before anything is set.
    base: Mapping[str, Any]
    #: What errors call its source.
    origin: str
    folder: Path | None = None

    @classmethod
    def load(cls, path: str | Path, changes: Mapping[str, Any] | None = None) -> Self:
        """Reads and checks the space of a scenario file.

        Raises:
            InputError: the file cannot be read, has no space, or one with no point; one line that names file and key.
        """
        return cls.of(read_toml(Path(path)), str(path), Path(path).parent, changes)

    @classmethod
    def of(
        cls, data: Mapping[str, Any], origin: str, folder: Path | None = None, changes: Mapping[str, Any] | None = None
    ) -> Self:
        """The space of a scenario file given as plain data; ``changes`` are keys that are set in its scenario.

        Raises:
            InputError: it has no space, or one with no point.
        """
        matrix = file.from_data(data, origin, folder).with_changes(changes or {})
        searched = file.searched(data, origin)
        if searched is None:
            raise InputError(f"{origin}: {SEARCH}: this table is required, with a table {SEARCH}.space of what varies")
        if matrix.sweep.axes:
            raise InputError(f"{origin}: sweep.axes: a search has no axes; move them to {SEARCH}.space")
        base: Mapping[str, Any] = matrix.base
        for path, value in matrix.changes.items():
            with within(f"--set {path.text}", InputError):
                base = path.assigned(base, value)
        made = cls(searched, base, origin, folder)
        made._check()
        return made

    @property
    def name(self) -> str:
        """What the scenario is called."""
        return str(self.base.get("name"))

    @property
    def names(self) -> tuple[str, ...]:
        """What varies, in the order of the file: the axes of its cells."""
        return tuple(self.searched.space)

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The coordinates of the unit cube: one for each name, or one for each step of a sequence."""
        found: list[Dimension] = []
        for name, entry in self.searched.space.items():
            if entry.listed is not None:
                found.append(Dimension(name, "choice", len(entry.choices), entry))
                continue
            is_whole = isinstance(entry.ends.write(entry.ends.start), int)
            size = 1 + int(entry.ends.end - entry.ends.start) if is_whole else 0
            steps = [name] if entry.steps is None else [f"{name}[{step}]" for step in range(1, entry.steps + 1)]
            found += [Dimension(step, "whole" if is_whole else "real", size, entry) for step in steps]
        return tuple(found)

    def at(self, shares: Sequence[float]) -> Point:
        """The point at a place of the unit cube."""
        coordinates = iter(zip(self.dimensions, shares, strict=True))
        point: dict[str, Any] = {}
        for name, entry in self.searched.space.items():
            found = [dimension.at(share) for dimension, share in islice(coordinates, entry.steps or 1)]
            if entry.steps is not None:
                point[name] = found
            else:
                point[name] = entry.choices[found[0]].data if entry.listed is not None else found[0]
        return {name: value for name, value in point.items() if self._is_set(name, point)}

    def shares(self, point: Point) -> list[float]:
        """The place of a point in the unit cube; what it leaves out is in the middle."""
        found: list[float] = []
        dimensions = iter(self.dimensions)
        for name, entry in self.searched.space.items():
            its = [next(dimensions) for _ in range(entry.steps or 1)]
            if name not in point:
                found += [0.5] * len(its)
            elif entry.steps is not None:
                found += [dimension.share(value) for dimension, value in zip(its, point[name], strict=True)]
            elif entry.listed is not None:
                place = [choice.data for choice in entry.choices].index(point[name])
                found.append(its[0].share(place))
            else:
                found.append(its[0].share(point[name]))
        return found

    def _is_set(self, name: str, point: Mapping[str, Any]) -> bool:
        """Whether choices of other names leave a name in."""
        for other, wanted in self.searched.space[name].when.items():
            labels = [wanted] if isinstance(wanted, str) else wanted
            if other not in point or self._label(other, point[other]) not in labels or not self._is_set(other, point):
                return False
        return True

    def _label(self, name: str, value: Any) -> str:
        entry = self.searched.space[name]
        if entry.listed is not None:
            return next((choice.label for choice in entry.choices if choice.data == value), values.text(value))
        return values.text(value)

    def of_file(self, name: str) -> Any:
        """What the scenario itself has for a name: no steps of a sequence; None if it has nothing."""
        if self.searched.space[name].steps is not None:
            return []
        held: Any = self.base
        for head in self.searched.paths[name][0].text.split("."):
            try:
                held = held[int(head)] if isinstance(held, list) else held.get(head)
            except (AttributeError, IndexError, ValueError):
                return None
        return held

    def own(self) -> Point | None:
        """The point that the file itself has; none if it lacks a value, or if the space has no such point."""
        point = {name: self.of_file(name) for name in self.names}
        point = {name: value for name, value in point.items() if value is not None}
        wanted = {name: value for name, value in point.items() if self._is_set(name, point)}
        missing = [name for name in self.names if name not in point and self._is_set(name, point)]
        if missing or not all(self._has(name, value) for name, value in wanted.items()):
            return None
        return wanted if self.allows([wanted])[0] else None

    def _has(self, name: str, value: Any) -> bool:
        """Whether a value is one of a choice, or between the bounds of a range."""
        entry = self.searched.space[name]
        if entry.steps is not None:
            return False
        if entry.listed is not None:
            return any(choice.data == value for choice in entry.choices)
        low, high = _ends(entry.ends)
        return isinstance(value, int | float | str) and isinstance(amount := amount_of(value), float) and low <= amount <= high

    def labels(self, point: Point) -> dict[str, str]:
        """What the cell of a point is called, by name."""
        return {name: self._label(name, point[name]) if name in point else LEFT_OUT for name in self.names}

    def amounts(self, points: Sequence[Point]) -> pl.DataFrame:
        """Points as conditions see them: numbers in s, bit/s, bytes, packets and BDP, labels of choices, lists of steps.

        Choices are numbers if all of them are. What a point leaves out is null.
        """
        return pl.DataFrame(
            [self._column(name, entry, [point.get(name) for point in points]) for name, entry in self.searched.space.items()]
        )

    def _column(self, name: str, entry: Entry, found: Sequence[Any]) -> pl.Series:
        if entry.steps is not None:
            lists = [None if value is None else [amount_of(each) for each in value] for value in found]
            return pl.Series(name, lists, dtype=pl.List(pl.Float64))
        if entry.listed is not None:
            kinds = {type(amount_of(choice.data)) for choice in entry.choices}
            if kinds not in ({float}, {bool}):
                labels = [None if value is None else self._label(name, value) for value in found]
                return pl.Series(name, labels, dtype=pl.String)
        amounts = [None if value is None else amount_of(value) for value in found]
        return pl.Series(name, amounts, dtype=pl.Boolean if entry.listed is not None and kinds == {bool} else pl.Float64)

    def allows(self, points: Sequence[Point]) -> list[bool]:
        """Which points meet all conditions.

        Raises:
            InputError: a condition is no expression over the names of the space.
        """
        if not self.searched.conditions or not points:
            return [True] * len(points)
        met = [self._met(index, points) for index in range(len(self.searched.conditions))]
        return [all(each) for each in zip(*met, strict=True)]

    def _met(self, index: int, points: Sequence[Point]) -> list[bool]:
        place = f"{self.origin}: {SEARCH}.conditions[{index}]"
        condition = self.searched.conditions[index]
        table = self.amounts(points).with_row_index("point number")
        with opened(MEMORY) as database, within(place, InputError):
            database.from_arrow(Stream(table)).create("points")
            confine(database)
            found = find(database, f'SELECT ({condition}\n) AS met FROM points ORDER BY "point number"')
            if found["met"].dtype != pl.Boolean:
                raise InputError(f'"{condition}" must be true or false, not {found["met"].dtype}')
        # What a name that is left out leaves unknown does not forbid the point.
        return found["met"].fill_null(value=True).to_list()

    def drawn(self, number: int, seed: int) -> list[Point]:
        """So many points that meet all conditions, drawn evenly from the unit cube, or fewer if they are hard to find."""
        chance = random.Random(f"points {seed}")
        found: list[Point] = []
        tried = 0
        while len(found) < number and tried < TRIED:
            some = [self.at([chance.random() for _ in self.dimensions]) for _ in range(max(100, number))]
            tried += len(some)
            found += [point for point, allowed in zip(some, self.allows(some), strict=True) if allowed]
        return found[:number]

    def _check(self) -> None:
        if self.drawn(1, 0):
            self._check_cells()
            return
        for index, condition in enumerate(self.searched.conditions):
            chance = random.Random("a condition")
            points = [self.at([chance.random() for _ in self.dimensions]) for _ in range(1000)]
            if not any(self._met(index, points)):
                raise InputError(f'{self.origin}: {SEARCH}.conditions[{index}]: no point that was tried meets "{condition}"')
        raise InputError(f"{self.origin}: {SEARCH}.conditions: none of {TRIED:,} points meets all of them")

    def _check_cells(self) -> None:
        """Checks that some points are scenarios, and that each choice and each end of bounds is part of one.

        Which parameters an algorithm has only reading the scenario tells. A value that is wrong beside some others alone is no
        mistake.
        """
        drawn = self.drawn(LOOKED_AT, 0)
        problems: list[str] = []
        for point in drawn:
            if (problem := self._problem(point)) is None:
                break
            problems.append(problem)
        else:
            raise InputError(problems[0])
        values = [(name, share) for name, entry in self.searched.space.items() for share in entry.shares]
        points = [self._with(*value, point) for value in values for point in drawn]
        allowed = self.allows(points)
        for number, (name, _) in enumerate(values):
            its = slice(number * len(drawn), (number + 1) * len(drawn))
            with_it = zip(points[its], allowed[its], strict=True)
            self._check_value(name, [point for point, is_fine in with_it if is_fine and name in point])

    def _check_value(self, name: str, points: Sequence[Point]) -> None:
        """Refuses a value of a name that is wrong in all of several points, and for the same reason."""
        reasons = set[str]()
        for point in points:
            if (problem := self._problem(point, told_of_point=False)) is None:
                return
            reasons.add(problem)
            if len(reasons) > 1:
                return
        if len(points) > LOOKED_AT // 4:
            (reason,) = reasons
            label = self._label(name, points[0][name])
            raise InputError(f"{self.origin}: {SEARCH}.space.{name}: {'' if label in reason else f'{label}: '}{reason}")

    def _with(self, name: str, share: float, point: Point) -> Point:
        """A point with another value of a name, and with the choices under which that is set."""
        shares = self.shares(point)
        wanted = {name: share}
        open_names = [name]
        while open_names:
            for other, labels in self.searched.space[open_names.pop()].when.items():
                entry = self.searched.space[other]
                label = labels if isinstance(labels, str) else labels[0]
                wanted[other] = entry.shares[[choice.label for choice in entry.choices].index(label)]
                open_names.append(other)
        names = [name for name, entry in self.searched.space.items() for _ in range(entry.steps or 1)]
        return self.at([wanted.get(name, held) for name, held in zip(names, shares, strict=True)])

    def _problem(self, point: Point, *, told_of_point: bool = True) -> str | None:
        """Why a point is no scenario, if it is none."""
        try:
            self.cell(point)
        except InputError as error:
            return str(error) if told_of_point else str(error).removeprefix(f"{self._place(point)}: ")
        return None

    def data(self, point: Point) -> dict[str, Any]:
        """The scenario of a point, as a file has it."""
        scenario: Mapping[str, Any] = self.base
        settings = [(path, name) for name in point for path in self.searched.paths[name]]
        # An algorithm is set before its parameters, whichever comes first.
        for path, name in sorted(settings, key=lambda setting: setting[0].depth):
            entry = self.searched.space[name]
            value = point[name]
            if entry.steps is not None:
                steps = _steps(entry, value, are_flows=path.text == FLOWS)
                value = [*_held(scenario, path.text), *steps]
            with within(self._place(point), InputError):
                scenario = path.assigned(scenario, value)
        return dict(scenario)

    def cell(self, point: Point) -> Cell:
        """The cell of a point.

        Raises:
            InputError: the values do not go together, or the file lacks what no point sets.
        """
        place = self._place(point)
        try:
            return Cell(self.labels(point), from_data(self.data(point), place, self.folder))
        except InputError as error:
            said = str(error).removeprefix(f"{place}: ")
            if self._varies(said.partition(":")[0]):
                raise
            of_file = InputError(f"{self.origin}: {said}")
            of_file.output = error.output
            raise of_file from None

    def _varies(self, key: str) -> bool:
        """Whether points differ in what they have at a key, or below or above it."""
        said = re.sub(r"\[(\d+)\]", r".\1", key)
        paths = (path.text for paths in self.searched.paths.values() for path in paths)
        return " " in said or any(f"{path}.".startswith(f"{said}.") or f"{said}.".startswith(f"{path}.") for path in paths)

    def _place(self, point: Point) -> str:
        return f"{self.origin}: {SEARCH}.space: point {called(self.labels(point))}"


def _held(scenario: Mapping[str, Any], key: str) -> Iterable[Any]:
    """The entries of a list of the scenario; none if it has no such list."""
    held: Any = scenario
    for head in key.split("."):
        try:
            held = held[int(head)] if isinstance(held, list) else held.get(head, [])
        except (AttributeError, IndexError, ValueError):
            return []
    return held if isinstance(held, list) else []


def _steps(entry: Entry, found: Sequence[Any], *, are_flows: bool) -> list[dict[str, Any]]:
    """The entries of a sequence: changes have a time, flows a start and an end."""
    assert entry.every is not None, "sequences have it"
    assert entry.place is not None, "sequences have it"
    first = DURATION.parse(entry.start) if entry.start is not None else 0
    made: list[dict[str, Any]] = []
    for number, value in enumerate(found):
        start = first + number * DURATION.parse(entry.every)
        times = {"at": start}
        if are_flows:
            if amount_of(value) == 0:
                continue  # nobody sends in this step
            times = {"start": start, "stop": start + DURATION.parse(entry.every)}
        step: dict[str, Any] = {**(entry.entry or {}), **{key: DURATION.format(time) for key, time in times.items()}}
        *tables, last = entry.place.split(".")
        here = step
        for table in tables:
            here[table] = dict(here.get(table) or {})
            here = here[table]
        here[last] = value
        made.append(step)
    return made
