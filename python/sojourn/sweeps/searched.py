"""What a scenario file says of a search: the space that is searched, what is looked for in it, and for how long."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from sojourn import names
from sojourn.analysis.axes import check_axes
from sojourn.errors import within
from sojourn.scenario.base import OneOrSeveral, Table
from sojourn.sweeps import values
from sojourn.sweeps.model import NOT_SWEPT, Condition
from sojourn.sweeps.paths import KeyPath, is_table, top_level
from sojourn.sweeps.ranges import Range, Spacing
from sojourn.sweeps.values import Value
from sojourn.units import DURATION

#: Steps that a sequence has at most.
MOST_STEPS = 100

#: The lists that a sequence may add to: flows, each of which lasts for a step, and changes of a link.
FLOWS, CHANGES = "flows", "changes"


class Entry(Table):
    """One thing that varies: a key of the scenario with bounds or choices, or a list with a step at equal times."""

    key: OneOrSeveral | None = Field(
        None, description='Key that it sets, such as "flows.0.count", or several; by default its name, if that is a key.'
    )
    listed: list[Any] | None = Field(
        None, alias="values", min_length=1, description='Choices; { label = "...", value = ... } gives one a name.'
    )
    range: str | None = Field(None, description='Bounds, such as "1 Mbit/s..100 Mbit/s" or "1..20".')
    spacing: Spacing | None = Field(
        None, description='"linear" or "log", the scale on which the range is searched; "linear" by default.'
    )
    when: Condition = Field(
        {}, title="Only under", description="Choices of other entries under which it is set; always unless given."
    )
    steps: int | None = Field(
        None, ge=2, le=MOST_STEPS, description="Make it a sequence: so many entries added to the list that the key is."
    )
    every: str | None = Field(None, description="Time between the steps of a sequence.")
    start: str | None = Field(None, description='Time of the first step of a sequence; "0 s" by default.')
    place: str | None = Field(
        None,
        alias="of",
        description='What the range is of in each entry of a sequence, such as "rate" or "tcp.rate".',
    )
    entry: dict[str, Any] | None = Field(None, description="What all entries of a sequence have, such as a flow's hosts.")

    @field_validator("range", mode="before")
    @classmethod
    def _is_text(cls, given: object) -> object:
        if not isinstance(given, str):
            raise ValueError(f'{given!r} is not a range; write its two ends, such as "1..20" or "10 ms..200 ms"')
        return given

    @model_validator(mode="before")
    @classmethod
    def _may_be_bounds_alone(cls, given: object) -> object:
        if isinstance(given, str):
            return {"range": given}
        if not isinstance(given, list | dict | cls):
            raise ValueError(f'{given!r} is no part of a space; write bounds, such as "1..20", or choices in brackets')
        return {"values": given} if isinstance(given, list) else given

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        of_steps = [key for key in ("every", "start", "of", "entry") if key in self.model_dump(by_alias=True, exclude_none=True)]
        self.without(
            ((self.listed is None) == (self.range is None), 'give either "values" or "range"'),
            (self.range is None and self.spacing is not None, '"spacing" needs a "range"'),
            (self.steps is None and of_steps, f'"{of_steps[0] if of_steps else ""}" needs "steps"'),
            (self.steps is not None and self.range is None, '"steps" need a "range"'),
            (self.steps is not None and self.every is None, '"steps" need "every", the time between them'),
            (self.steps is not None and self.place is None, '"steps" need "of", what the range is of in each'),
        )
        _ = self.choices if self.range is None else self.ends  # may raise
        if self.steps is not None:
            for key, text in (("every", self.every), ("start", self.start)):
                with within(key):
                    time = DURATION.parse(text) if text is not None else 1
                if key == "every" and time <= 0:
                    raise ValueError(f'every: "{text}" must be more than 0')
        return self

    @cached_property
    def ends(self) -> Range:
        """The bounds of an entry that has some."""
        assert self.range is not None, "asked of an entry with choices"
        return Range.of(self.range, self.spacing or "linear")

    @cached_property
    def choices(self) -> Sequence[Value]:
        """The choices of an entry that has some."""
        assert self.listed is not None, "asked of an entry with bounds"
        return values.of_axis(self.listed)

    @property
    def shares(self) -> Sequence[float]:
        """Where on the way from 0 to 1 each of its choices is, or the ends of its bounds."""
        if self.listed is None:
            return 0.0, 1.0
        return [(place + 0.5) / len(self.choices) for place in range(len(self.choices))]

    def keys(self, name: str) -> list[str]:
        """The keys that it sets."""
        if self.key is not None:
            return self.key
        if is_table(name) and self.steps is None:
            raise ValueError(f'would replace all of "{name}" in the scenario; rename it, or give it a "key"')
        if "." not in name and name not in top_level():
            raise ValueError(f'sets nothing; give it a "key" ({names.nearest("key", name, top_level())})')
        return [name]

    def paths(self, name: str) -> tuple[KeyPath, ...]:
        """The same as paths in a scenario."""
        keys = self.keys(name)
        for key in keys:
            if key in NOT_SWEPT:
                raise ValueError(f"{key} cannot vary")
        return tuple(map(KeyPath.of, keys))


class Searched(Table):
    """A search: the space, what is looked for, and the budget."""

    space: Annotated[dict[str, Entry], Field(min_length=1)] = Field(description="What varies, and between which bounds.")
    conditions: list[str] = Field(
        [], description="What must hold of all points: SQL over the names of the space, in s, bit/s, bytes and packets."
    )
    maximise: str | None = Field(
        None, description="Metric, expression over the columns of runs, or query, whose value shall be large."
    )
    minimise: str | None = Field(None, description="The same, of what shall be small.")
    pareto: list[str] | None = Field(None, min_length=2, max_length=2, description="Two metrics that are traded for each other.")
    budget: str | None = Field(None, description='How long to search: "200 runs", or a time such as "5 min".')
    seed: int | None = Field(None, ge=0, description="Seed of the search; 0 by default.")

    @field_validator("space", mode="before")
    @classmethod
    def _is_one(cls, given: object) -> object:
        if isinstance(given, dict) and not given:
            raise ValueError("is empty; give the keys that vary, with bounds")
        return given

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        with within("space"):
            check_axes(list(self.space))
        for name, entry in self.space.items():
            for other, wanted in entry.when.items():
                place = f"space.{name}.when: "
                names.check("name", other, self.space, place=place)
                if self.space[other].listed is None:
                    raise ValueError(f'{place}"{other}" has bounds; only choices can decide')
                known = [choice.label for choice in self.space[other].choices]
                names.check("choice", wanted, known, place=f"{place}{other}: ")
        for name in self.space:
            if (through := self._way_back(name)) is not None:
                raise ValueError(f"space.{name}.when: depends on itself{f', by {through}' if through != name else ''}")
        seen: dict[str, str] = {}
        for name, paths in self.paths.items():
            for path in paths:
                other = seen.setdefault(path.text, name)
                if other != name:
                    raise ValueError(f'space.{name}: sets "{path.text}", as "{other}" does')
        asked = [key for key in ("maximise", "minimise", "pareto") if getattr(self, key) is not None]
        if len(asked) > 1:
            raise ValueError(f'give either "{asked[0]}" or "{asked[1]}"')
        return self

    def _way_back(self, name: str) -> str | None:
        """The first name by which an entry is only under a choice that is only under the entry; none if there is none."""
        for first in self.space[name].when:
            open_names, seen = [first], set[str]()
            while open_names:
                other = open_names.pop()
                if other == name:
                    return first
                if other not in seen:
                    seen.add(other)
                    open_names += self.space[other].when
        return None

    @cached_property
    def paths(self) -> dict[str, tuple[KeyPath, ...]]:
        """What each entry sets."""
        found: dict[str, tuple[KeyPath, ...]] = {}
        for name, entry in self.space.items():
            with within(f"space.{name}"):
                found[name] = entry.paths(name)
                for path in found[name]:
                    if entry.steps is not None and path.text.rpartition(".")[2] not in (FLOWS, CHANGES):
                        raise ValueError(f'steps: are of "{FLOWS}" or of the "{CHANGES}" of a link, not of "{path.text}"')
        return found
