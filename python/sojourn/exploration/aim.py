"""What a search looks for: a number of each run, and whether it shall be large or small."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from sojourn import names
from sojourn.analysis.result import Result
from sojourn.errors import InputError
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


def values(
    result: Result, aims: Sequence[Aim], cells: Sequence[Mapping[str, str]], seeds: Sequence[int]
) -> list[list[list[float | None]]]:
    """The values of each cell, for each aim and seed; none where the run has none."""
    found: list[list[list[float | None]]] = []
    with answers(result) as asked:
        for axes in cells:
            meant = {axis: frozenset([label]) for axis, label in axes.items()}
            rows = (asked.of(aim.place, aim.query, meant, seeds, answer=VALUE)[VALUE] for aim in aims)
            found.append([[None if value is None else float(value) for value in row] for row in rows])
    return found
