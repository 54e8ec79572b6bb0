"""What a scenario file or a study says of its matrix: axes, what their values change, and how many seeds a cell gets."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, Self

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, PrivateAttr, WithJsonSchema, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from sojourn import names
from sojourn.analysis.axes import check_axes
from sojourn.errors import within
from sojourn.scenario.base import OneOrSeveral, Table
from sojourn.sweeps import values
from sojourn.sweeps.paths import KeyPath, is_table, top_level
from sojourn.sweeps.ranges import Range, Spacing
from sojourn.sweeps.stopping import LEAST_SEEDS, MOST_SEEDS, StoppingRule
from sojourn.sweeps.values import Value

#: Cells that a campaign has at most, and so values of all its axes together: what is planned takes about 1 kB a cell.
MOST_CELLS = 1_000_000

#: Axes cannot set these: repetitions have the seeds, and results take the name from the file.
NOT_SWEPT = {"seed": "set the number of seeds per cell with sweep.seeds", "name": "cells are identified by their axes"}


def _labels(given: object) -> object:
    """One label or several; numbers and truth values are called as files write them."""
    if isinstance(given, list):
        return [_label(value) for value in given]
    return _label(given)


def _label(given: object) -> str:
    if isinstance(given, str | bool | int | float):
        return values.text(given)
    raise ValueError(f"{given!r} is not a value of an axis; write the value's label")


LABEL_SCHEMA: Final = {"type": ["string", "number", "boolean"]}

Labels = Annotated[
    str | list[str],
    BeforeValidator(_labels),
    WithJsonSchema({"anyOf": [LABEL_SCHEMA, {"type": "array", "items": LABEL_SCHEMA}]}),
]
"""A value of an axis, or several of them, by what they are called."""

Condition = dict[str, Labels]
"""Values of some axes, as a file writes them."""

Meant = Mapping[str, frozenset[str]]
"""The same as labels that there are."""


class Axis(Table):
    """One axis: a key of the scenario and its values, listed or spread evenly over a range."""

    key: OneOrSeveral | None = Field(
        None, description='Key that it sets, such as "flows.*.tcp", or several; by default the axis\'s name, if that is a key.'
    )
    listed: list[Any] | None = Field(
        None, alias="values", min_length=1, description='Values of the key; { label = "...", value = ... } gives one a name.'
    )
    range: str | None = Field(None, description='Instead of values, the ends of a range, such as "10 ms..200 ms".')
    steps: int | None = Field(
        None, ge=2, le=MOST_CELLS, description='Number of values in the range, including its ends; "draw" needs none.'
    )
    spacing: Spacing | None = Field(
        None, description='"linear" for equal differences or "log" for equal ratios; "linear" by default.'
    )
    #: The values that a sweep has drawn from the range.
    _drawn: list[Any] = PrivateAttr(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _may_be_values_alone(cls, given: object) -> object:
        if not isinstance(given, list | dict | cls):
            raise ValueError(f"{given!r} is not an axis; write its values in brackets")
        if isinstance(given, dict):
            if values.are_alternatives(given):
                return {"values": values.as_listed(given)}
            if any(isinstance(held, dict) for held in given.values()):
                wrong = next(name for name, held in given.items() if not isinstance(held, dict))
                raise ValueError(f'"{wrong}" is no table of keys and their values, as the other alternatives are')
        return {"values": given} if isinstance(given, list) else given

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        alternatives = {
            **{"type": "object", "minProperties": 1, "additionalProperties": {"type": "object"}},
            "description": "Alternatives by their names: the keys that each sets, and their values.",
        }
        what = "A list of values, a table of alternatives, or a table that says which key has which values."
        return {"anyOf": [{"type": "array", "minItems": 1}, alternatives, handler(core)], "description": what}

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        spread = self.steps is not None or self.spacing is not None
        self.without(
            ((self.listed is None) == (self.range is None), 'give either "values" or "range"'),
            (self.range is None and spread, '"steps" and "spacing" need a "range"'),
        )
        _ = self.ends if self.is_open else self.values  # may raise
        return self.without((self.key is not None and self.has_alternatives, "key: its alternatives say what they set"))

    @property
    def has_alternatives(self) -> bool:
        """Whether its values set keys of their own."""
        return not self.is_open and any(value.is_alternative for value in self.values.values())

    @property
    def is_open(self) -> bool:
        """Whether it has a range without steps, which any of its values may be drawn from."""
        return self.range is not None and self.steps is None

    @property
    def ends(self) -> Range:
        """The range that it has."""
        assert self.range is not None, "asked of an axis with values"
        return Range.of(self.range, self.spacing or "linear")

    @cached_property
    def values(self) -> dict[str, Value]:
        """The values by label, in order; of an open axis those that were drawn."""
        given = self._drawn if self.is_open else self.model_dump(by_alias=True, exclude_none=True)
        return {value.label: value for value in values.of_axis(given)}

    def draw(self, chance: random.Random) -> Any:
        """A value of the range of an open axis, or the label of one that is listed."""
        share = chance.random()
        return self.ends.at(share) if self.is_open else list(self.values)[int(share * len(self.values))]

    def drawn(self, these: Iterable[Any]) -> None:
        """Makes values of the range those of an open axis."""
        self._drawn = list(dict.fromkeys(these))


class Override(Table):
    """Changes to the scenario for some values of axes."""

    when: Condition = Field(description="Values of some axes.")
    set: dict[str, Any] = Field(description='Keys to set, such as "flows.*.count", and their values.')

    @model_validator(mode="after")
    def _has_paths(self) -> Self:
        _ = self.paths
        return self

    @cached_property
    def paths(self) -> dict[str, KeyPath]:
        """The keys it sets."""
        return {key: _path(f"set: {key}", key) for key in self.set}


def _path(place: str, key: str) -> KeyPath:
    if key in NOT_SWEPT:
        raise ValueError(f"{place}: axes and overrides cannot set {key}; {NOT_SWEPT[key]}")
    with within(place):
        return KeyPath.of(key)


def _of_alternative(place: str, key: str, value: object) -> KeyPath:
    """A key that an alternative sets; without its quotes one with dots is a table of tables."""
    if isinstance(value, Mapping) and (is_table(key) or key not in top_level()) and "." not in key:
        raise ValueError(f'{place}: {key}: is a table; write a key with its dots in quotes, such as "bottleneck.both.queue"')
    return _path(place, key)


def _few(given: object) -> object:
    """Refuses axes with too many values before any of these is made."""
    if isinstance(given, Mapping):
        number = sum(map(_number, given.values()))
        if number > MOST_CELLS:
            raise ValueError(f"{number:,} values in all; at most {MOST_CELLS:,}")
    return given


def _number(axis: object) -> int:
    """How many values an axis has, as it is written; none of a range whose own number is wrong."""
    if isinstance(axis, Mapping):
        axis = list(axis) if values.are_alternatives(axis) else axis.get("values", axis.get("steps"))
    if isinstance(axis, list):
        return len(axis)
    return axis if isinstance(axis, int) and axis <= MOST_CELLS else 0


class Draw(Table):
    """How cells are drawn: each has a value of every axis, all of them equally likely, independent of those of other axes."""

    cells: int = Field(ge=1, le=MOST_CELLS, description="Number of cells.")
    seed: int = Field(0, ge=0, description="Seed of the draw: another one gives other cells.")


#: How often a cell is drawn anew, in the mean, before the axes are said to have no more.
_MOST_TRIES = 100


class Sweep(Table):
    """A matrix of scenarios: all combinations of the values of its axes, except for zip and exclude, or cells drawn from them."""

    axes: Annotated[dict[str, Axis], BeforeValidator(_few)] = Field({}, description="The axes; the last varies fastest.")
    zip: list[list[str]] = Field([], description="Axes that vary together: the first value of one with the first of the other.")
    exclude: list[Condition] = Field([], description="Combinations of values to leave out.")
    overrides: list[Override] = Field([], description="Changes for combinations of values, applied in order after the axes.")
    draw: Draw | None = Field(None, description="Draw cells at random, instead of all combinations.")
    seeds: int | None = Field(None, ge=1, description="Number of seeds per cell; 1 by default.")
    until: str | None = Field(
        None,
        description='Add seeds to a cell until half the 95 % interval of a metric is below a bound: "ci(jain) < 0.02".',
    )
    most_seeds: int | None = Field(
        None, ge=LEAST_SEEDS, description=f'Maximum number of seeds per cell with "until"; {MOST_SEEDS} by default.'
    )

    @model_validator(mode="after")
    def _axes_and_conditions_are_sound(self) -> Self:
        with within("axes"):
            check_axes(list(self.axes))
        for name, axis in self.axes.items():
            if axis.is_open and self.draw is None:
                raise ValueError(f'axes.{name}: a range needs "steps", its number of values, or the sweep "draw"')
        _ = self.drawn  # may raise
        used = {axis for override in self.overrides for axis in override.when}
        for name, paths in self.paths.items():
            if name in self._alternatives:
                self.without((not paths and name not in used, f"axes.{name}: none of its alternatives sets a key"))
                continue
            if not paths and name not in used:
                nearest = names.nearest("key", name, top_level())
                raise ValueError(f'axes.{name}: sets nothing; give it a "key", or use its values in overrides ({nearest})')
            if not paths and any(isinstance(value.data, dict | list) for value in self.axes[name].values.values()):
                raise ValueError(f'axes.{name}: without a "key" its values must be names, not tables')
        for name, axis in self.axes.items():
            for label in axis.values:
                if (fault := names.fault(label)) is not None:
                    shown = json.dumps(label, ensure_ascii=False)
                    raise ValueError(f"axes.{name}: the label {shown} {fault}; write {{ label, value }}")
        _ = self.exclusions, self.conditions  # may raise
        return self

    @model_validator(mode="after")
    def _zipped_are_of_one_length(self) -> Self:
        seen: set[str] = set()
        for index, together in enumerate(self.zip):
            for axis in together:
                names.check("axis", axis, self.axes, place=f"zip[{index}]: ")
                if axis in seen:
                    raise ValueError(f'zip[{index}]: the axis "{axis}" is already zipped')
                seen.add(axis)
            if len(together) < 2:
                raise ValueError(f"zip[{index}]: needs two axes or more")
            if len({len(self.axes[axis].values) for axis in together}) > 1:
                lengths = ", ".join(f"{axis} has {len(self.axes[axis].values)}" for axis in together)
                raise ValueError(f"zip[{index}]: zipped axes need the same number of values: {lengths}")
        return self

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.seeds is not None and self.until is not None:
            raise ValueError('give either "seeds" or "until"')
        if self.most_seeds is not None and self.until is None:
            raise ValueError('most_seeds: needs "until"')
        with within("until"):
            _ = self.stopping
        return self

    @cached_property
    def stopping(self) -> StoppingRule | None:
        """What decides how many seeds a cell gets, if that is not a number."""
        return None if self.until is None else StoppingRule.of(self.until, self.most_seeds or MOST_SEEDS)

    @cached_property
    def paths(self) -> dict[str, tuple[KeyPath, ...]]:
        """What each axis sets, with any of its values; nothing if these only name what overrides set."""
        return {
            name: tuple(dict.fromkeys(path for of_value in self._alternatives[name].values() for path in of_value.values()))
            if name in self._alternatives
            else self._axis_paths(name, axis.key)
            for name, axis in self.axes.items()
        }

    @cached_property
    def _alternatives(self) -> dict[str, dict[str, dict[str, KeyPath]]]:
        """Of the axes with alternatives the paths of each alternative, by the keys as they are written."""
        return {
            name: {
                label: {key: _of_alternative(f"axes.{name}.{label}", key, held) for key, held in value.data.items()}
                for label, value in axis.values.items()
            }
            for name, axis in self.axes.items()
            if axis.has_alternatives
        }

    def settings(self, point: Mapping[str, str]) -> list[tuple[KeyPath, Any]]:
        """What the values of the axes set in a cell, the shortest paths first: an algorithm is set before its parameters."""
        found: list[tuple[KeyPath, Any]] = []
        for name, axis in self.axes.items():
            label = point[name]
            data = axis.values[label].data
            if name in self._alternatives:
                found += ((path, data[key]) for key, path in self._alternatives[name][label].items())
            else:
                found += ((path, data) for path in self.paths[name])
        return sorted(found, key=lambda setting: setting[0].depth)

    @cached_property
    def exclusions(self) -> list[Meant]:
        """What is left out."""
        return [self.meant(f"exclude[{index}]", condition) for index, condition in enumerate(self.exclude)]

    @cached_property
    def conditions(self) -> list[Meant]:
        """When each override is made."""
        return [self.meant(f"overrides[{index}].when", override.when) for index, override in enumerate(self.overrides)]

    @cached_property
    def drawn(self) -> list[Mapping[str, str]] | None:
        """The cells that are drawn, in order; more of them begin with the same. None where all combinations are cells."""
        if self.draw is None:
            return None
        with within("draw"):
            self.without((not self.axes, "there are no axes"), (self.zip, 'cannot be combined with "zip"'))
            # Each axis has a stream of its own, so that another axis changes nothing in those that are there.
            streams = {name: random.Random(f"{self.draw.seed} {name}") for name in self.axes}
            found: dict[tuple[str, ...], dict[str, Any]] = {}
            for _ in range(self.draw.cells * _MOST_TRIES):
                cell = {name: self.axes[name].draw(stream) for name, stream in streams.items()}
                point = {name: values.text(value) for name, value in cell.items()}
                if not any(matches(exclusion, point) for exclusion in self.exclusions):
                    found.setdefault(tuple(point.values()), cell)
                if len(found) == self.draw.cells:
                    break
            else:
                raise ValueError(f"no more than {len(found):,} of {self.draw.cells:,} cells were found that differ")
            for name, axis in self.axes.items():
                if axis.is_open:
                    axis.drawn(cell[name] for cell in found.values())
        return [dict(zip(self.axes, labels, strict=True)) for labels in found]

    def with_overrides(self, overrides: Sequence[Override]) -> Self:
        """The sweep with further overrides, applied after all others."""
        given = self.model_dump(by_alias=True, exclude_none=True, exclude={"overrides"})
        return self.of({**given, "overrides": [*self.overrides, *overrides]})

    def _axis_paths(self, name: str, keys: list[str] | None) -> tuple[KeyPath, ...]:
        if keys is not None:
            return tuple(_path(f"axes.{name}.key", key) for key in keys)
        if is_table(name):
            raise ValueError(f'axes.{name}: would replace all of "{name}" in the scenario; rename the axis, or give it a "key"')
        return (_path(f"axes.{name}", name),) if "." in name or name in top_level() else ()

    def meant(self, place: str, condition: Mapping[str, str | Iterable[str]]) -> Meant:
        """The labels that a condition on some axes allows; the name of a table stands for all tables of that name.

        Raises:
            ValueError: there is no such axis or value; the message begins with ``place`` and names the nearest.
        """
        meant: dict[str, frozenset[str]] = {}
        for axis, labels in condition.items():
            names.check("axis", axis, self.axes, place=f"{place}: ")
            if self.axes[axis].is_open:
                raise ValueError(f'{place}: values of "{axis}" are drawn from a range, and cannot be named')
            known = self.axes[axis].values
            found: list[str] = []
            for label in [labels] if isinstance(labels, str) else labels:
                called = [label] if label in known else [value.label for value in known.values() if value.name == label]
                if not called:
                    raise ValueError(f"{place}: {names.unknown(f'value of axis {axis}', label, known)}")
                found += called
            meant[axis] = frozenset(found)
        return meant


def matches(condition: Meant, axes: Mapping[str, str]) -> bool:
    """Whether every axis of the condition has one of its values."""
    return all(axes[axis] in labels for axis, labels in condition.items())
