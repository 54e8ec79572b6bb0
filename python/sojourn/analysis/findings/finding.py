"""What a finding is: a sentence, and the numbers behind it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sojourn.analysis.findings.effects import Effect, Measure
from sojourn.statistics import Estimate


class Kind(StrEnum):
    """What a finding is about."""

    #: What an axis, or one side instead of another, changes.
    EFFECT = "effect"
    #: What it does not change.
    ALIKE = "alike"
    #: What these seeds do not decide.
    OPEN = "not decided"
    #: What was measured in the only cell.
    STATE = "state"


@dataclass(frozen=True)
class Stated:
    """A mean that a finding states."""

    measure: Measure
    mean: Estimate
    seeds: int


@dataclass(frozen=True)
class Finding:
    """One finding."""

    kind: Kind
    #: The sentence.
    text: str
    #: The axis, if it is about one, the label that is replaced and the one that replaces it.
    axis: str | None = None
    first: str | None = None
    second: str | None = None
    #: The numbers behind it, the most important first.
    effects: Sequence[Effect] = ()
    stated: Sequence[Stated] = ()

    def row(self) -> dict[str, Any]:
        """The finding as plain values, with every number in its base unit."""
        return {
            "kind": str(self.kind),
            "text": self.text,
            "axis": self.axis,
            "first": self.first,
            "second": self.second,
            "values": [*map(_effect, self.effects), *map(_stated, self.stated)],
        }


def rows(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings as plain values, for JSON and frames."""
    return [each.row() for each in findings]


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "metric": effect.measure.metric.name,
        "group": effect.measure.group,
        **_estimate("first", effect.first),
        **_estimate("second", effect.second),
        **_estimate("difference", effect.difference),
        "allowed": effect.allowed,
        "verdict": str(effect.verdict),
        "better": effect.better,
        "seeds": effect.seeds,
        "cells": effect.cells,
        "pairs": effect.pairs,
        "same_way": effect.same_way,
        "cells_falling": effect.falls.cells,
        "cells_rising": effect.rises.cells,
        "seeds_needed": effect.seeds_needed,
    }


def _stated(found: Stated) -> dict[str, Any]:
    return {
        "metric": found.measure.metric.name,
        "group": found.measure.group,
        **_estimate("mean", found.mean),
        "seeds": found.seeds,
    }


def _estimate(name: str, found: Estimate) -> dict[str, float | None]:
    return {name: found.mean, f"{name}_ci_low": found.low, f"{name}_ci_high": found.high}
