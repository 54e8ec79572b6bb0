"""What a scenario file says of its episodes: what is drawn for each."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from sojourn.analysis.axes import check_axes
from sojourn.errors import within
from sojourn.scenario.base import Table
from sojourn.sweeps.paths import KeyPath
from sojourn.sweeps.searched import Entry


class Drawn(Table):
    """Episodes of an environment: what of the scenario is drawn for each."""

    draw: Annotated[dict[str, Entry], Field()] = Field(
        {},
        title="Keys drawn",
        description="Keys that are drawn for each episode, between bounds or from choices, as in the space of a search.",
    )

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        with within("draw"):
            check_axes(list(self.draw))
        for name, entry in self.draw.items():
            if entry.steps is not None or entry.when:
                raise ValueError(f"draw.{name}: what is drawn has neither steps nor conditions")
        _ = self.paths  # may raise
        return self

    @cached_property
    def paths(self) -> dict[str, tuple[KeyPath, ...]]:
        """What each entry sets."""
        found: dict[str, tuple[KeyPath, ...]] = {}
        for name, entry in self.draw.items():
            with within(f"draw.{name}"):
                found[name] = entry.paths(name)
        return found

    def values(self, shares: Mapping[str, float]) -> dict[str, Any]:
        """What each entry gives at a share from 0 to 1 of its range, or of its choices."""
        return {name: _at(entry, shares[name]) for name, entry in self.draw.items()}

    def assigned(self, scenario: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The scenario with values set."""
        for name, value in values.items():
            for path in self.paths[name]:
                with within(f"draw.{name}"):
                    scenario = path.assigned(scenario, value)
        return scenario


def _at(entry: Entry, share: float) -> Any:
    if entry.range is not None:
        return entry.ends.at(share)
    choices = entry.choices
    return choices[min(int(share * len(choices)), len(choices) - 1)].data
