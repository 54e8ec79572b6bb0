"""Verdicts on the cells of a result: on how many seeds each holds, and whether that is most of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Any

import polars as pl

from sojourn.analysis import repetition
from sojourn.analysis.result import Result
from sojourn.statistics import most, share
from sojourn.study import asking
from sojourn.verdicts import scenes
from sojourn.verdicts.definitions import Definition, definitions, query_of

#: What runs say of verdicts, by their names: for each seed whether it holds, and the value that shows it.
Observed = Mapping[str, Sequence[tuple[bool, float | None]]]


class Answer(StrEnum):
    """Whether a verdict holds in a cell."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "undecided"


@dataclass(frozen=True)
class Judged:
    """A verdict on a cell."""

    definition: Definition
    #: The values of the axes.
    cell: Mapping[str, str | None]
    #: On how many seeds it holds, and of how many; seeds that change nothing count once.
    held: int
    seeds: int
    #: The value that shows it, by seed; none of what has none.
    values: Sequence[float]

    @property
    def answer(self) -> Answer:
        """Decided only if the 95 % interval of the share of seeds lies on one side of one half."""
        match most(self.held, self.seeds):
            case True:
                return Answer.HOLDS
            case False:
                return Answer.FAILS
            case None:
                return Answer.OPEN

    @property
    def mostly(self) -> bool:
        """Whether it holds on more than half of the seeds, decided or not."""
        return 2 * self.held > self.seeds


def judge(result: Result, which: Iterable[Definition] | None = None) -> list[Judged]:
    """Judges all cells of a result; of a cell only those verdicts that can be asked of it.

    Args:
        result: runs of any scenarios.
        which: the verdicts; all of them unless given.

    Returns:
        The verdicts of each cell, cells in the order of the result.
    """
    asked = tuple(definitions() if which is None else which)
    return [
        _judged(definition, dict(zip(result.axes, place, strict=True)), found[definition.id])
        for place, found in observe(result, asked).items()
        for definition in asked
        if definition.id in found
    ]


def observe(result: Result, which: Iterable[Definition]) -> dict[tuple[str | None, ...], Observed]:
    """What the runs of each cell say of some verdicts, by the labels of the cell; of a verdict that cannot be asked nothing.

    Of seeds that change nothing the first stands for all.
    """
    axes = list(result.axes)
    order: dict[tuple[str | None, ...], dict[str, list[tuple[bool, float | None]]]] = {}
    labels = {}
    repeated = repetition.labels(result.repeated, axes)
    for key, *cell, _ in result.columns("runs", ["key", *axes, asking.SEED]).sort(*axes, asking.SEED).iter_rows():
        place = tuple(cell)
        if place in order and place in repeated:
            continue
        order.setdefault(place, {})
        labels[key] = place
    with asking.answers(result, scenes.tables(result)) as answers:
        for definition in which:
            for key, holds, value in answers.of_runs(definition.id, query_of(definition)).iter_rows():
                if key in labels and holds is not None:
                    order[labels[key]].setdefault(definition.id, []).append((holds, value))
    return dict(order)


def _judged(definition: Definition, cell: Mapping[str, str | None], found: Sequence[tuple[bool, float | None]]) -> Judged:
    values = [value for _, value in found if value is not None]
    return Judged(definition, cell, sum(holds for holds, _ in found), len(found), values)


def frame(judged: Sequence[Judged]) -> pl.DataFrame:
    """Verdicts as a frame, a row a cell and verdict.

    Columns: the axes, verdict, answer, held, seeds, share with its interval, the mean of the values with their least and
    greatest, threshold and unit.
    """
    text, number = pl.String(), pl.Float64()
    axes = list(judged[0].cell) if judged else []
    columns: dict[str, Any] = {
        **dict.fromkeys([*axes, "verdict", "answer"], text),
        **dict.fromkeys(("held", "seeds"), pl.Int64()),
        **dict.fromkeys(("share", "share_ci_low", "share_ci_high", "value", "least", "greatest", "threshold"), number),
        "unit": text,
    }
    rows = []
    for each in judged:
        values = each.values
        shown = (fmean(values), min(values), max(values)) if values else (None, None, None)
        said = (each.definition.id, str(each.answer), each.held, each.seeds, *share(each.held, each.seeds), *shown)
        rows.append((*each.cell.values(), *said, each.definition.threshold, each.definition.unit))
    return pl.DataFrame(rows, schema=columns, orient="row")
