"""What a search looks for: a number of each run, and whether it shall be large or small."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sojourn import names
from sojourn.analysis.result import Result
from sojourn.errors import InputError
from sojourn.exploration.disagreement import DISAGREEMENT, Disagreement, pairs
from sojourn.metrics import METRICS
from sojourn.metrics.metric import Better
from sojourn.store.sql import identifier
from sojourn.study.asking import VALUE, answers, bind

#: How a query begins that is no mere expression.
_QUERY = re.compile(r"\s*(select|with|from)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Aim:
    """A value of each seed's run of a point, by a query that returns ``seed`` and ``value``."""

    #: As it was given, and what errors call that.
    text: str
    place: str
    query: str
    #: Whether the search is for large values.
    larger: bool

    @classmethod
    def of(cls, text: str, *, larger: bool, place: str, axes: Sequence[str]) -> Self:
        """Reads a metric, an expression over the columns of ``runs``, or a query.

        Raises:
            InputError: it is none; the text begins with ``place``.
        """
        if text.strip() == DISAGREEMENT:
            raise InputError(f"{place}: {DISAGREEMENT} can only be maximised, by itself")
        if not text.strip():
            raise InputError(f"{place}: is empty; write a metric, an expression over the columns of runs, or a query")
        if _QUERY.match(text):
            query = text
        elif text in METRICS:
            metric = METRICS[text]
            if not metric.of_run:
                query = f"SELECT seed, {text} AS {VALUE} FROM groups WHERE flow_group = 'NAME'"
                raise InputError(f"{place}: {text} is of a {metric.told_of}, not of a run; write a query, such as: {query}")
            query = f"SELECT seed, {identifier(text)} AS {VALUE} FROM runs"
        else:
            if re.fullmatch(r"\w+", text) and text.casefold() not in {axis.casefold() for axis in axes}:
                names.check("metric", text, [name for name in METRICS if METRICS[name].of_run], InputError, f"{place}: ")
            query = f"SELECT seed, ({text}\n) AS {VALUE} FROM runs"
        bind(axes, {place: query}, VALUE)
        return cls(text, place, query, larger)

    @classmethod
    def of_metric(cls, name: str, *, place: str, axes: Sequence[str]) -> Self:
        """A metric, in the direction that is better; of those that have none, less counts as better."""
        larger = name in METRICS and METRICS[name].better == Better.MORE
        return cls.of(name, larger=larger, place=place, axes=axes)

    @property
    def sign(self) -> int:
        """What makes a value one of which more is better for the search."""
        return 1 if self.larger else -1

    def mean(self, values: Sequence[float | None]) -> float | None:
        """The mean over seeds; none if half of them or more have no value."""
        known = [value for value in values if value is not None and math.isfinite(value)]
        return math.fsum(known) / len(known) if 2 * len(known) > len(values) else None

    def told(self, values: Sequence[float | None]) -> list[float | None]:
        """What a proposer is told of a point: each seed's value, which tells it luck from effect."""
        return list(values)


#: What a search may look for.
Sought = Aim | Disagreement

#: Of each aim, a value for each seed: a number, or none where the run has none or failed; of a disagreement, a ``Pair``.
Values = list[list[Any]]


def values(
    aims: Sequence[Sought],
    backends: Sequence[str],
    result: Result,
    cells: Sequence[Mapping[str, str]],
    seeds: Sequence[int],
) -> list[Values]:
    """The values of each cell, for each aim and seed, of runs of these backends."""
    if isinstance(aims[0], Disagreement):
        return [[of_cell] for of_cell in pairs(result, cells, seeds, backends)]
    found: list[Values] = []
    with answers(result) as asked:
        for axes in cells:
            meant = {axis: frozenset([label]) for axis, label in axes.items()}
            rows = (asked.of(aim.place, aim.query, meant, seeds, answer=VALUE)[VALUE] for aim in aims if isinstance(aim, Aim))
            found.append([[None if value is None else float(value) for value in row] for row in rows])
    return found
