"""Two sides on the terminal: two cells or groups of flows, or many cells, of which many values agree."""

import itertools
from collections.abc import Callable, Sequence

from rich.text import Text

from sojourn import digits
from sojourn.analysis import repetition
from sojourn.analysis.agreement import RELATIVE
from sojourn.analysis.comparison import ComparedGroups, ComparedMetric
from sojourn.analysis.difference import MOST_SEEDS, Verdict
from sojourn.analysis.side_by_side import SideBySide, Value
from sojourn.metrics import Metric
from sojourn.names import GROUP
from sojourn.statistics import least_p
from sojourn.table import Column, Content, Row, Table, label, number
from sojourn.units import amount

#: Rows of the table of differences that a terminal gets.
MOST_DIFFERENCES = 20

#: Labels of an axis that are counted one by one, and in how many parts more of them are.
MOST_LABELS, PARTS = 12, 4

#: What p is compared with.
SIGNIFICANT = 0.05

#: The difference of two means, and the ends of its interval.
DIFFERENCE = ("difference", "difference_ci_low", "difference_ci_high")

YES, NO = Text("yes", "green"), Text("no", "red")

#: What the column of verdicts says, and what harm is.
VERDICTS = (
    f"B is better, worse, more or less if the interval of B - A lies beyond {100 * RELATIVE:.0f} % of A or the metric's floor. "
    "~: no such difference is shown; alike: the interval lies within; else so many seeds would decide."
)
HARM = "harm: the part of A's performance that B lacks (Ware et al., HotNets 2019): 0 is none, 1 all; negative if B is better."

INTERVALS = "In brackets: 95 % confidence interval of the paired differences (Student)."


def compared(
    cells: Sequence[ComparedMetric], groups: Sequence[ComparedGroups], first: str, second: str, repeated: Sequence[str] = ()
) -> Table:
    """Two cells, and groups of their flows, compared: the mean of each, and the interval and p value of the difference.

    The seeds of those in ``repeated`` change nothing.
    """
    rows = [_compared(entry, None) for entry in _by_size(cells)]
    rows += [_compared(entry, group.name) for group in groups for entry in _by_size(group.metrics)]
    of = Column(GROUP, (GROUP,), lambda row: row[GROUP] or "(all)", Content.LABEL, keep=True)
    columns = [
        *([of] if groups else []),
        Column("metric", ("metric",), lambda row: row["entry"].label, Content.LABEL, keep=True),
        number("seeds", rank=2),
        *_sides(Metric.number, Metric.numbers),
        Column("B is", ("verdict", "better", "seeds_needed"), _said, Content.LABEL, keep=True),
        number("p", show=lambda p: f"{p:.3g}", rank=4),
        number("harm", show=lambda harm: f"{harm:.3f}", rank=3),
    ]
    notes = [
        f"A: {first}",
        f"B: {second}",
        f"All seeds of {' and of '.join(repeated)} gave the same run, so there is no interval: {repetition.REMEDY}."
        if repeated
        else f"{INTERVALS} p: Wilcoxon's signed-rank test.",
    ]
    seeds = max((row["seeds"] for row in rows), default=0)
    if not repeated and seeds > 1 and least_p(seeds) >= SIGNIFICANT:
        enough = next(pairs for pairs in itertools.count(seeds) if least_p(pairs) < SIGNIFICANT)
        notes.append(f"With {seeds} seeds p cannot be below {least_p(seeds):.3g}; with {enough} it can be below {SIGNIFICANT}.")
    notes.append(VERDICTS)
    if any(row["harm"] is not None for row in rows):
        notes.append(HARM)
    beside = ["allowed", *([] if groups else [GROUP])]
    return Table("metrics", "Means over common seeds", columns, rows, notes, lambda row: row[GROUP], beside)


def _compared(entry: ComparedMetric, group: str | None) -> Row:
    row: dict[str, object] = {GROUP: group, "entry": entry.metric, "metric": entry.metric.name, "seeds": 0}
    found, verdict = entry.comparison, entry.verdict
    judged = {"verdict": None if verdict is None else str(verdict), "better": entry.better, "seeds_needed": entry.seeds_needed}
    if found is None:
        return row | judged | dict.fromkeys(("a", "b", *DIFFERENCE, "p", "harm", "allowed"))
    ends = dict(zip(DIFFERENCE, found.difference, strict=True))
    values = {"a": found.first, "b": found.second, **ends, "p": found.p, "harm": entry.harm, "allowed": entry.allowed}
    return row | judged | {"seeds": found.pairs, **values}


def _by_size(compared: Sequence[ComparedMetric]) -> list[ComparedMetric]:
    """The largest differences first, those that are shown before those that are not."""
    order = (Verdict.DIFFERENT, Verdict.OPEN, Verdict.ALIKE, None)
    return sorted(compared, key=lambda each: (order.index(each.verdict), -each.size))


def _said(row: Row) -> str:
    """What B is beside A, if a difference is shown; else a tilde, and why there is none."""
    match row["verdict"]:
        case None:
            return "-"
        case Verdict.DIFFERENT:
            return {True: "better", False: "worse", None: "more" if row["difference"] > 0 else "less"}[row["better"]]
        case Verdict.ALIKE:
            return "~ alike"
    if row["difference_ci_high"] is None:
        return "~ no interval"
    return f"~ {row['seeds_needed']} seeds" if row["seeds_needed"] is not None else f"~ over {MOST_SEEDS} seeds"


def tables(found: SideBySide, first: str, second: str) -> list[Table]:
    """The tables of a comparison of many cells, whose sides are called so."""
    return [_agreement(found, first, second), _differences(found)]


def _agreement(found: SideBySide, first: str, second: str) -> Table:
    """How many cells agree in each metric, and in all, by the value of each axis that has several."""
    of_cell: dict[tuple[str | None, ...], list[Value]] = {cell: [] for cell in found.cells}
    for value in found.values:
        of_cell[value.cell].append(value)
    rows: list[Row] = []
    for place, axis in enumerate(found.axes):
        labels = dict.fromkeys(cell[place] for cell in of_cell)
        if len(labels) > 1:
            rows += (
                _counted(found, axis, each, [values for cell, values in of_cell.items() if cell[place] in within])
                for each, within in _parts(list(labels)).items()
            )
    rows.append(_counted(found, "all", "", list(of_cell.values())))
    columns = [
        label("axis", keep=True),
        label("value", keep=True),
        number("cells", keep=True),
        *(number(metric.name, metric.caption, rank=1) for metric in found.metrics),
        number("agree_in_all", "in all"),
        number("percent", "values, %", lambda percent: f"{percent:.0f}"),
    ]
    close = f"within {100 * RELATIVE:.0f} % of A's or the metric's floor"
    if found.by_intervals:
        close += ", or if their 95 % intervals overlap"
    notes = [
        f"A: {first}",
        f"B: {second}",
        f"A value of B agrees if it is {close}; means over common seeds.",
        f"{found.same_runs:,} of {found.runs:,} runs are the same in A and B, in number of events and all that is compared.",
    ]
    for number_of, side, other in ((found.only_first, "A", "B"), (found.only_second, "B", "A")):
        if number_of:
            notes.append(f"{digits.counted(number_of, 'cell')} of {side} not in {other}.")
    return Table(
        "agreement", "Cells in which B agrees with A", columns, rows, notes, lambda row: row["axis"], ["agree", "values"]
    )


def _parts(labels: Sequence[str | None]) -> dict[str | None, Sequence[str | None]]:
    """The labels of an axis, each by itself or, of many that were drawn from a range, a fourth of them in order of size."""
    sized = [(size, label) for label in labels if label is not None and (size := amount(label)) is not None]
    if len(labels) <= MOST_LABELS or len(sized) < len(labels):
        return {label: [label] for label in labels}
    ordered = [label for _, label in sorted(sized)]
    ends = [len(ordered) * part // PARTS for part in range(PARTS + 1)]
    parts = (ordered[begin:end] for begin, end in itertools.pairwise(ends))
    return {f"{part[0]} to {part[-1]}": part for part in parts}


def _counted(found: SideBySide, axis: str, value: str | None, cells: Sequence[Sequence[Value]]) -> Row:
    values = [each for cell in cells for each in cell]
    agree = sum(each.agrees for each in values)
    by_metric = {
        metric.name: sum(each.agrees for each in values if each.metric is metric)
        if any(each.metric is metric for each in values)
        else None
        for metric in found.metrics
    }
    return {
        **{"axis": axis, "value": value, "cells": len(cells), **by_metric},
        **{"agree_in_all": sum(all(each.agrees for each in cell) for cell in cells)},
        **{"agree": agree, "values": len(values), "percent": 100 * agree / len(values)},
    }


def _differences(found: SideBySide) -> Table:
    """The values that differ, those first that are the furthest from agreeing."""
    differing = sorted((value for value in found.values if not value.same), key=lambda value: -value.excess)
    rows = [_row(found, value) for value in differing]
    columns = [
        *(label(axis, keep=True) for axis in found.axes),
        Column("metric", ("metric",), lambda row: row["entry"].label, Content.LABEL, keep=True),
        number("seeds", rank=2),
        *_sides(Metric.number, Metric.numbers),
        Column("allowed", ("allowed",), _shown("allowed", Metric.number), Content.NUMBER, rank=2),
        Column("agrees", ("agrees",), lambda row: YES if row["agrees"] else NO, Content.LABEL, keep=True),
    ]
    same = len(found.values) - len(rows)
    notes = [f"{same:,} of {len(found.values):,} values are the same in A and B, seed by seed."] if same else []
    if any(row["difference_ci_low"] is not None for row in rows):
        notes.append(INTERVALS)
    return Table("differences", "Values that differ", columns, rows, notes, most_rows=MOST_DIFFERENCES)


def _row(found: SideBySide, value: Value) -> Row:
    return {
        **dict(zip(found.axes, value.cell, strict=True)),
        **{"entry": value.metric, "metric": value.metric.name, "seeds": value.seeds},
        **{"a": value.first.mean, "b": None if value.second is None else value.second.mean},
        **dict(zip(DIFFERENCE, value.difference or (None, None, None), strict=True)),
        **{"allowed": value.allowed, "agrees": value.agrees},
    }


def _sides(one: Callable[[Metric, float], str], several: Callable[..., list[str]]) -> list[Column]:
    """Both means and their difference, as these methods of a row's metric write a number, and numbers beside half an interval."""

    def difference(row: Row) -> str:
        mean, low, high = (row[name] for name in DIFFERENCE)
        if high is None:
            return _shown("difference", one)(row)
        shown, least, most, *_ = several(row["entry"], mean, low, high, row["a"], row["b"], half=high - mean)
        return f"{shown} [{least}, {most}]"

    means = (Column(name.upper(), (name,), _shown(name, one), Content.NUMBER, rank=1) for name in ("a", "b"))
    return [*means, Column("B - A", DIFFERENCE, difference, Content.NUMBER)]


def _shown(name: str, one: Callable[[Metric, float], str]) -> Callable[[Row], str]:
    return lambda row: "-" if row[name] is None else one(row["entry"], row[name])
