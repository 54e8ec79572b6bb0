"""Which keys of a scenario were set, as opposed to left at their defaults.

A backend that cannot do something refuses it only where somebody asked for it. What was set is no part of a run's specification,
so a default that is written out makes the same run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sojourn.scenario.base import Table
from sojourn.scenario.choices import Choice
from sojourn.scenario.model import Scenario


@dataclass(frozen=True)
class Given:
    """The keys that a file, a sweep, ``--set`` or a caller set, with places in lists: ``flows.0.tcp.name``."""

    scenario: Scenario

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys in the order of the model."""
        return tuple(_keys(self.scenario, ""))

    def having(self, part: str) -> list[str]:
        """The keys that have a part such as ``stack.minimum_rto`` in them: that of all flows, and those of some."""
        return [key for key in self.keys if f".{part}." in f".{key}."]


def _keys(value: object, path: str) -> Iterator[str]:
    prefix = f"{path}." if path else ""
    if isinstance(value, Table):
        for name, field in type(value).model_fields.items():
            if name in value.model_fields_set:
                yield from _keys(getattr(value, name), f"{prefix}{field.alias or name}")
    elif isinstance(value, Choice):
        yield from (f"{prefix}{key}" for key in value.given)
    elif isinstance(value, list) and any(isinstance(entry, Table) for entry in value):
        for place, entry in enumerate(value):
            yield from _keys(entry, f"{prefix}{place}")
    else:
        yield path
