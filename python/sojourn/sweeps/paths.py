"""Paths to keys of a scenario, such as ``flows.*.tcp``: checked against the scenario's model, and set in plain data.

A path may begin below ``network`` or ``network.dumbbell``, and ``both`` of a link stands for its two directions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, Self, get_args, get_origin

from sojourn.scenario.base import Table
from sojourn.scenario.choices import Choice
from sojourn.scenario.model import Scenario
from sojourn.scenario.network import BOTH, BOTH_QUEUES, Dumbbell, Network, TwoWay, of_both

#: What stands for every entry of a list.
ALL = "*"


@dataclass(frozen=True)
class Step:
    """One key, or place in a list, on the way."""

    head: str
    #: The key that a plain string stands for where this step arrives, if it may be written as a table as well.
    shorthand: str | None
    #: Whether it arrives at a list, whose entries are there or not.
    at_list: bool
    #: Whether it is a key of a link, which may say something of both its directions.
    of_link: bool


@dataclass(frozen=True)
class KeyPath:
    """A path that exists in the model of a scenario, whether or not a given scenario has something there."""

    text: str
    #: The steps to each place that it sets: one, or the same in both directions of a link.
    ways: tuple[tuple[Step, ...], ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Reads a path."""
        heads = _from_the_top(text.split("."))
        steps: list[Step] = []
        here: Any = Scenario
        for head in heads:
            of_link = _is(here, TwoWay)
            here = _next(here, head, ".".join(step.head for step in steps))
            steps.append(Step(head, here.shorthand if _is(here, Choice) else None, get_origin(here) is list, of_link))
        return cls(".".join(heads), _ways(tuple(steps), ".".join(heads)))

    @property
    def depth(self) -> int:
        """How many steps it has."""
        return len(self.ways[0])

    def assigned(self, scenario: Mapping[str, Any], value: object) -> Mapping[str, Any]:
        """The scenario with what the path leads to set; tables on the way are made, entries of lists are not.

        The scenario stays as it is, and what is not on the way is shared with it.
        """
        assigned = scenario
        try:
            for steps in self.ways:
                assigned = _assigned(assigned, steps, 0, value)
        except (AttributeError, IndexError, TypeError, ValueError):
            raise ValueError(f'the scenario has no "{self.text}" to set') from None
        return assigned


def _from_the_top(heads: list[str]) -> list[str]:
    """The keys on the way from the top of a scenario: what has several may leave out the tables of its network."""
    if len(heads) > 1 and heads[0] not in _fields(Scenario):
        for table, before in ((Network, ["network"]), (Dumbbell, ["network", "dumbbell"])):
            if heads[0] in _fields(table):
                return [*before, *heads]
    return heads


def _ways(steps: tuple[Step, ...], text: str) -> tuple[tuple[Step, ...], ...]:
    """The steps to each place: where they go to both directions of a link, to either."""
    place = next((place for place, step in enumerate(steps) if step.of_link and step.head in (BOTH, BOTH_QUEUES)), None)
    if place is None:
        return (steps,)
    before, there, after = steps[:place], steps[place], steps[place + 1 :]
    if there.head == BOTH_QUEUES:
        after = (replace(there, head="queue"), *after)
    elif not after:
        raise ValueError(f'"{text}" is a table; write what both directions get, such as "{text}.queue"')
    first = replace(after[0], of_link=True)
    return (*before, first, *after[1:]), (*before, Step("reverse", None, at_list=False, of_link=True), *after)


def top_level() -> list[str]:
    """The keys of a scenario that need no dot."""
    return list(_fields(Scenario))


def is_table(key: str) -> bool:
    """Whether a key of a scenario that needs no dot holds a table or a list of them."""
    held = _fields(Scenario).get(key)
    return get_origin(held) in (list, dict) or _is(held, Table)


def _next(here: Any, head: str, before: str) -> Any:
    """What a key or place of ``here`` holds, as the model declares it; None below the parameters of an algorithm."""
    if get_origin(here) is list:
        if head != ALL and not head.isdecimal():
            raise ValueError(f'"{before}" is a list; write "{before}.{ALL}" for all entries or "{before}.0" for the first')
        return _plain(get_args(here)[0])
    if get_origin(here) is dict:
        return _plain(get_args(here)[1])
    if _is(here, Table):
        fields = _fields(here)
        if head not in fields:
            raise ValueError((f"{before}: " if before else "") + here.unknown(head))
        return fields[head]
    if _is(here, Choice):
        return None  # which parameters there are depends on the name; reading the scenario checks them
    raise ValueError(f'"{before}" is not a table and has no key "{head}"')


def _is(declared: Any, kind: type) -> bool:
    return isinstance(declared, type) and issubclass(declared, kind)


def _fields(table: type[Table]) -> dict[str, Any]:
    return {field.alias or name: _plain(field.annotation) for name, field in table.model_fields.items()}


def _plain(annotation: Any) -> Any:
    """The annotation without ``| None``."""
    if get_origin(annotation) in (list, dict):
        return annotation
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    return _plain(kinds[0]) if kinds else annotation


def _assigned(data: Any, steps: tuple[Step, ...], place: int, value: object) -> Any:
    """The data with what the steps from a place on lead to set."""
    step, is_last = steps[place], place + 1 == len(steps)
    if isinstance(data, list):
        entries = list(data)
        for index in range(len(entries)) if step.head == ALL else [int(step.head)]:
            entries[index] = value if is_last else _assigned(_table(entries[index], step), steps, place + 1, value)
        return entries
    table = _of_each(data) if step.of_link else dict(data)
    if is_last:
        table[step.head] = value
    else:
        held = table.get(step.head, [] if step.at_list else {})
        table[step.head] = _assigned(_table(held, step), steps, place + 1, value)
    return table


def _of_each(link: Mapping[str, Any]) -> dict[str, Any]:
    """A link whose directions both have what it says of the two at once."""
    each = {key: value for key, (_, value) in of_both(link).items()}
    alone = {key: value for key, value in link.items() if key not in (BOTH, BOTH_QUEUES)}
    return {**alone, **each, "reverse": {**alone.get("reverse", {}), **each}} if each else alone


def _table(held: Any, step: Step) -> Any:
    """What a key is set in: a name that stands for a table becomes one."""
    return {step.shorthand: held} if isinstance(held, str) and step.shorthand is not None else held
