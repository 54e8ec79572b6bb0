"""Which sentences there are: the largest effect of each axis, what did not differ, what is not decided; of one cell its state."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import polars as pl

from sojourn.analysis import repetition
from sojourn.analysis.difference import Verdict, is_shown
from sojourn.analysis.findings import aspects, state, words
from sojourn.analysis.findings.effects import Effect, Measure, Table
from sojourn.analysis.findings.finding import Finding, Kind
from sojourn.analysis.result import Result
from sojourn.metrics import METRICS
from sojourn.units import amount

#: Axes of which there is a sentence: those with the largest effects.
MOST_AXES = 3

#: Labels of an axis, beyond which it is no choice but a range that was drawn from.
MOST_LABELS = 50

#: The chance that an axis without effect is said to have one; it is shared among its labels (Bonferroni), as a card shares it
#: among conditions.
ERROR = 0.05

#: A cost below this part of the first mean is not told.
LEAST_COST = 0.001

#: What the two sides of a comparison are an axis of; no axis is called so.
_SIDE = "=side"


def of(found: Result, order: Mapping[str, Sequence[str]] | None = None) -> list[Finding]:
    """The findings of a result: one to five, or none where no two cells differ in one axis alone.

    Args:
        found: the result of a campaign.
        order: the axes and their labels in order; those of the result unless given. What an axis does is told against its
            first label.
    """
    axes = _axes(found, found.order if order is None else order)
    varying = [axis for axis, labels in axes.items() if len(labels) > 1]
    if not varying:
        return state.of(found)
    constant = repetition.labels(found.repeated, list(axes))
    tables = _tables(found, axes, constant)
    return _told([(axis, _of_axis(tables, axis, axes[axis])) for axis in varying if len(axes[axis]) <= MOST_LABELS])


def between(
    first: pl.LazyFrame,
    second: pl.LazyFrame,
    axes: Sequence[str],
    names: tuple[str, str],
    metrics: Sequence[str] | None = None,
) -> list[Finding]:
    """What one side is instead of another: cells that are alike in some axes, with the same seeds.

    Args:
        first: rows of ``runs`` or ``groups``.
        second: those of the other side.
        axes: what tells the cells of a side apart.
        names: what the sides are called.
        metrics: what they are compared in; those of ``aspects`` unless given.
    """
    sides = [side.with_columns(pl.lit(name).alias(_SIDE)) for side, name in zip((first, second), "AB", strict=True)]
    columns = [*axes, _SIDE, "seed"]
    there = [side.collect_schema().names() for side in sides]
    common = [name for name in there[0] if name in there[1] and name not in columns]
    rows = pl.concat([side.select(*columns, *common) for side in sides])
    repeated = [repetition.labels(repetition.repeated(side, axes), axes) for side in (first, second)]
    constant = {(*cell, name) for cells, name in zip(repeated, "AB", strict=True) for cell in cells}
    labels = {axis: _labels(rows, axis) for axis in axes}
    known = metrics if metrics is not None else aspects.of_runs(rows)
    measures = [Measure(METRICS[name]) for name in known]
    table = Table(rows, {**labels, _SIDE: ["A", "B"]}, measures, constant)
    return _told([("", _Axis("", [(names[1], table.effects(_SIDE, "A", "B"))], names[0]))])


def _axes(found: Result, order: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The axes with the labels that runs have: in order where it is known, else by size or as they come."""
    rows = found.scan("runs")
    return {axis: _in_order(_labels(rows, axis), order.get(axis, ())) for axis in found.axes}


def _labels(rows: pl.LazyFrame, axis: str) -> list[str]:
    there = rows.select(pl.col(axis).unique()).collect(engine="streaming").to_series()
    return [str(label) for label in there.sort().to_list()]


def _in_order(labels: Sequence[str], order: Sequence[str]) -> list[str]:
    first = [label for label in order if label in labels]
    rest = [label for label in labels if label not in first]
    sizes = {label: amount(label) for label in rest}
    return [*first, *sorted(rest, key=lambda label: (sizes[label] is None, sizes[label] or 0))]


def _tables(found: Result, axes: Mapping[str, Sequence[str]], constant: set[tuple[str | None, ...]]) -> list[Table]:
    """The runs and, of several groups of flows, each group."""
    runs = found.scan("runs")
    measures = [Measure(METRICS[name]) for name in aspects.of_runs(runs)]
    tables = [Table(runs, axes, measures, constant)]
    for group, names in aspects.of_groups(found).items():
        rows = found.scan("groups").filter(flow_group=group)
        # A group's number of flows makes no fair share: that is of all flows of a run.
        rows = rows.select(*axes, "seed", *names)
        tables.append(Table(rows, axes, [Measure(METRICS[name], group) for name in names], constant))
    return tables


class _Axis:
    """The effects of each label of an axis instead of a first one."""

    def __init__(self, name: str, effects: Sequence[tuple[str, Sequence[Effect]]], first: str, *, sized: bool = False) -> None:
        self.name, self.first, self.sized = name, first, sized
        self.effects = {label: list(found) for label, found in effects if found}
        self.all = [(label, each) for label, found in self.effects.items() for each in found]

    @property
    def lead(self) -> tuple[str, Effect] | None:
        """The largest effect and the label that has it; of quantities that of the largest, if it has any.

        Those come first that have one direction in all cells, and of which users prefer more or less.
        """
        differing = [(label, each) for label, each in self.all if each.differs or each.is_mixed]
        last = next(reversed(self.effects), None)
        if self.sized and any(label == last for label, _ in differing):
            differing = [(label, each) for label, each in differing if label == last]
        return max(differing, key=lambda found: _rank(found[1]), default=None)

    def by_measure(self) -> dict[Measure, list[Effect]]:
        """The effects on each measure, of all labels."""
        found: dict[Measure, list[Effect]] = {}
        for _, each in self.all:
            found.setdefault(each.measure, []).append(each)
        return found

    @property
    def alike(self) -> list[Measure]:
        """The measures that no label changes."""
        return [
            measure
            for measure, found in self.by_measure().items()
            if all(each.verdict is Verdict.ALIKE and not each.is_mixed for each in found)
        ]

    @property
    def undecided(self) -> list[Effect]:
        """Of each measure that no label is shown to change, and some may, the label whose change is largest."""
        found = []
        for each in self.by_measure().values():
            is_open = [one for one in each if one.verdict is Verdict.OPEN and one.difference.low is not None]
            if is_open and not any(one.differs or one.is_mixed for one in each):
                found.append(max(is_open, key=lambda one: one.size))
        return found

    @property
    def without_interval(self) -> bool:
        """Whether no effect has an interval."""
        return bool(self.all) and all(each.difference.low is None for _, each in self.all)


def _rank(effect: Effect) -> tuple[bool, bool, float]:
    return not effect.is_mixed, effect.measure.metric.better is not None, effect.size


def _of_axis(tables: Sequence[Table], axis: str, labels: Sequence[str]) -> _Axis:
    first, *others = labels
    confidence = 1 - ERROR / len(others)
    effects = [(label, [each for table in tables for each in table.effects(axis, first, label, confidence)]) for label in others]
    return _Axis(axis, effects, first, sized=all(amount(label) is not None for label in labels))


def _told(axes: Sequence[tuple[str, _Axis]]) -> list[Finding]:
    """The findings on some axes."""
    leads = [(found, *lead) for _, found in axes if (lead := found.lead) is not None]
    leads.sort(key=lambda each: -each[2].size)
    findings = [_effect(found, label, lead) for found, label, lead in leads[:MOST_AXES]]
    alike = [(name, found.alike) for name, found in axes if found.alike]
    if alike:
        behind = [each for _, found in axes for _, each in found.all if each.measure in found.alike]
        findings.append(Finding(Kind.ALIKE, words.alike(_by_measures(alike)), effects=behind))
    undecided = [(name, each) for name, found in axes for each in found.undecided]
    if undecided:
        undecided.sort(key=lambda each: -each[1].size)
        findings.append(Finding(Kind.OPEN, words.undecided(undecided), effects=[each for _, each in undecided]))
    known = [found for _, found in axes if found.all]
    if known and all(found.without_interval for found in known):
        findings.append(Finding(Kind.OPEN, words.without_interval()))
    return findings


def _by_measures(alike: Sequence[tuple[str, Sequence[Measure]]]) -> list[tuple[str, Sequence[Measure]]]:
    """Axes that make no difference to the same measures together."""
    together = groupby(sorted(alike, key=lambda each: [words.called(one) for one in each[1]]), key=lambda each: list(each[1]))
    return [(" and ".join(name for name, _ in found), measures) for measures, found in together]


def _effect(axis: _Axis, label: str, lead: Effect) -> Finding:
    """What the label with the largest effect does: up to three effects, or a cost, and the other labels beside it."""
    if lead.is_mixed:
        return Finding(Kind.EFFECT, words.mixed(axis.name, axis.first, label, lead), axis.name, axis.first, label, [lead])
    of_label = [each for each in axis.effects[label] if each is not lead]
    more = sorted((each for each in of_label if each.differs), key=_rank, reverse=True)
    told = [lead, *more[: words.MOST_EFFECTS - 1]]
    if len(told) < words.MOST_EFFECTS:
        told += [each for each in of_label if not each.differs and _is_cost(each, lead)][:1]
    others = [
        (other, each.second)
        for other, found in axis.effects.items()
        for each in found
        if other != label and each.measure == lead.measure
    ]
    text = words.of_axis(axis.name, axis.first, label, told, others, sized=axis.sized)
    return Finding(Kind.EFFECT, text, axis.name, axis.first, label, told)


def _is_cost(effect: Effect, lead: Effect) -> bool:
    """Whether a small loss is shown, or without any interval seen, beside a gain, or a small gain beside a loss."""
    is_there = is_shown(effect.difference) or effect.difference.low is None
    against = effect.better is not None and lead.better is not None and effect.better is not lead.better
    return is_there and against and abs(effect.difference.mean) >= LEAST_COST * abs(effect.first.mean) > 0
