"""Findings in words: numbers with the digits that they have, verbs by what is better, no more certainty than intervals give."""

import itertools
import math
from collections.abc import Sequence

from sojourn import digits
from sojourn.analysis.agreement import RELATIVE
from sojourn.analysis.difference import MOST_SEEDS, is_shown
from sojourn.analysis.findings.effects import Effect, Measure
from sojourn.metrics import Metric
from sojourn.metrics.metric import Better
from sojourn.statistics import Estimate, fewest_for_a_majority

#: Significant digits of a number in a sentence, at most.
MOST_DIGITS = 3

#: Effects that one sentence tells, at most; labels of an axis and measures that are listed, at most.
MOST_EFFECTS, MOST_LISTED = 3, 4

#: What counts as no difference.
EQUAL = f"{100 * RELATIVE:.0f} % or the metric's floor"


def called(measure: Measure) -> str:
    """A measure within a sentence: ``the mean sojourn time``, ``the p99 one-way delay of call``."""
    title = measure.metric.title
    article = "" if title.startswith("Jain") else "the "
    return f"{article}{title}" + ("" if measure.group is None else f" of {measure.group}")


def with_unit(number: str, metric: Metric, *, apart: bool = False) -> str:
    """A number with its unit; a difference of percentages is in points."""
    unit = "points" if apart and metric.shown_unit == "%" else metric.shown_unit
    return f"{number} {unit}" if unit else number


def value(metric: Metric, found: Estimate) -> str:
    """A mean without its unit, with the digits that its interval leaves, three at most."""
    half = None if found.half is None else found.half * metric.factor
    return _rounded(found.mean * metric.factor, half, MOST_DIGITS)


def _rounded(value: float, half: float | None, most: int) -> str:
    """A number with so many significant digits at most, and no more than half of its interval leaves."""
    nearly = float(f"{value:.{most}g}")
    places = [most - 1 - math.floor(math.log10(abs(nearly)))] if nearly else []
    if half is not None and half > digits.NOTHING * abs(nearly):
        places.append(digits.places(half))
    return digits.rounded(value, min(places, default=0))


def mean(metric: Metric, found: Estimate) -> str:
    """A mean with its interval and unit: ``507 ± 3 ms``."""
    if found.low is None or found.high is None:
        return with_unit(value(metric, found), metric)
    factor = metric.factor
    ends = found.mean * factor, found.low * factor, found.high * factor
    return with_unit(" ".join(digits.with_interval(*ends, lambda each: metric.number(each / factor))), metric)


def interval(metric: Metric, found: Estimate) -> str:
    """Both ends of a difference's interval, with their unit; empty if there is none."""
    if found.low is None or found.high is None:
        return ""
    low, high = found.low * metric.factor, found.high * metric.factor
    least, most, _ = digits.of_interval(low, high, half=(high - low) / 2) or (f"{low:.3g}", f"{high:.3g}", "")
    return with_unit(f"{least} to {most}", metric, apart=True)


def of_axis(
    axis: str, first: str, second: str, told: Sequence[Effect], others: Sequence[tuple[str, Estimate]], *, sized: bool
) -> str:
    """What a value of an axis does instead of another: the largest effects first, then what it costs or gains besides.

    Args:
        axis: the axis; empty where two sides are compared.
        first: the label that is replaced.
        second: the label that replaces it.
        told: the effects, the largest first; those that are none by the rule are what it costs.
        others: the other labels of the axis, with their means of the first measure.
        sized: whether the labels are quantities.
    """
    lead = told[0]
    said = f"{_verb(lead)} {_change(lead)} ({_evidence(lead)})"
    for before, each in itertools.pairwise(told):
        opposed = each.better is not None and lead.better is not None and each.better is not lead.better
        joined = "but " if opposed else "and " if each is told[-1] else ""
        verb = "" if _verb(each) == _verb(before) and not opposed else f"{_verb(each)} "
        said += f", {joined}{f'{verb}{_change(each)}' if each.differs else _small(each)}{_beside(each)}"
    return f"{_subject(axis, first, second)} {said}.{_others(lead.measure.metric, others, sized)}"


def mixed(axis: str, first: str, second: str, effect: Effect) -> str:
    """What a value of an axis changes in one direction here and in the other there."""
    metric, parts = effect.measure.metric, []
    for verb, shown in (("falls", effect.falls), ("rises", effect.rises)):
        before, after = (value(metric, Estimate(each, None, None)) for each in (shown.first, shown.second))
        where = ", ".join(f"{other} {label}" for other, label in shown.where.items())
        cells = f"{shown.cells} of {effect.cells} pairs of cells"
        parts.append(f"it {verb} in {cells}, most from {before} to {with_unit(after, metric)} ({where})")
    what = f"{_subject(axis, first, second)} changes {called(effect.measure)} in both directions"
    return f"{what}, by the other axes: {' and '.join(parts)}."


def alike(found: Sequence[tuple[str, Sequence[Measure]]]) -> str:
    """What axes, or two sides, make no difference to."""
    each = [f"{_listed([called(one) for one in measures])}{f' over {axis}' if axis else ''}" for axis, measures in found]
    return f"No difference beyond {EQUAL}: {'; '.join(each)}."


def undecided(found: Sequence[tuple[str, Effect]]) -> str:
    """What these seeds do not decide, and how many would."""
    told = []
    for axis, effect in found[:MOST_LISTED]:
        metric = effect.measure.metric
        ends = f"{value(metric, effect.first)} to {with_unit(value(metric, effect.second), metric)}"
        already = ", different, but perhaps by less" if is_shown(effect.difference) else ""
        what = f"{called(effect.measure)}{f' over {axis}' if axis else ''}"
        told.append(f"{what} ({ends}{already}; {_needed(effect)} seeds would decide)")
    more = f"; and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
    seeds = max(effect.seeds for _, effect in found)
    return f"Not decided by {seeds} seeds, whether different by more than {EQUAL}: {'; '.join(told)}{more}."


def _needed(effect: Effect) -> str:
    """How many seeds, with two digits at most: the deviation behind it is not known better."""
    return f"over {MOST_SEEDS:,}" if effect.seeds_needed is None else f"about {float(f'{effect.seeds_needed:.2g}'):,.0f}"


def without_interval() -> str:
    """What is said where each cell has one run that counts."""
    return (
        "Each cell has one run that counts, which shows what happened in it and not how sure that is: "
        f"take {fewest_for_a_majority()} seeds or more."
    )


def _subject(axis: str, first: str, second: str) -> str:
    return f"{axis}: {second} instead of {first}" if axis else f"{second} instead of {first}"


def _verb(effect: Effect) -> str:
    falls = effect.difference.mean < 0
    return "cuts" if falls and effect.measure.metric.better is Better.LESS else "lowers" if falls else "raises"


def _change(effect: Effect) -> str:
    """``the mean sojourn time from 507 to 3.6 ms``."""
    metric = effect.measure.metric
    return f"{called(effect.measure)} from {value(metric, effect.first)} to {with_unit(value(metric, effect.second), metric)}"


def _small(effect: Effect) -> str:
    """``costs 0.5 % of the total throughput``."""
    factor = 100 / abs(effect.first.mean)
    # Two digits at most: whether it is 1.6 or 1.62 % is of no interest.
    shown = _rounded(abs(effect.difference.mean) * factor, effect.difference.half and effect.difference.half * factor, 2)
    what, is_worse = called(effect.measure), effect.better is False
    if effect.measure.metric.better is Better.MORE:
        return f"{'costs' if is_worse else 'gains'} {shown} % of {what}"
    return f"adds {shown} % to {what}" if is_worse else f"saves {shown} % of {what}"


def _beside(effect: Effect) -> str:
    """The interval of a further effect, and how many pairs of runs have its direction, where some have not."""
    known = interval(effect.measure.metric, effect.difference)
    parts = [known] if known else []
    if effect.same_way < effect.pairs:
        parts.append(_share(effect))
    if effect.is_mixed:
        parts.append("not the same way in all cells")
    return f" ({'; '.join(parts)})" if parts else ""


def _share(effect: Effect) -> str:
    """On how many seeds, or in how many pairs of runs, the difference has this sign."""
    what = "seeds" if effect.cells == 1 else "pairs of runs"
    return f"{effect.same_way} of {effect.pairs} {what}"


def _evidence(effect: Effect) -> str:
    """What an effect rests on: over how many cells, its interval, the share of seeds."""
    parts = [] if effect.cells == 1 else [f"mean over {effect.cells} pairs of cells"]
    known = interval(effect.measure.metric, effect.difference)
    if known:
        parts.append(f"95 % interval of the difference {known}; {_share(effect)}")
    else:
        parts.append("one run each, so no interval" if effect.cells == 1 else f"one run each, so no interval; {_share(effect)}")
    return "; ".join(parts)


def _others(metric: Metric, others: Sequence[tuple[str, Estimate]], sized: bool) -> str:
    """The means of the other labels, which are quantities or names."""
    if not others:
        return ""
    if len(others) > MOST_LISTED:
        means = sorted(others, key=lambda each: each[1].mean)
        least, most = (value(metric, each[1]) for each in (means[0], means[-1]))
        return f" The other {len(others)} values have {least} to {with_unit(most, metric)}."
    shown = [(label, with_unit(value(metric, found), metric)) for label, found in others]
    if sized:
        return f" In between: {_listed([f'{mean} at {label}' for label, mean in shown])}."
    return f" For comparison: {_listed([f'{label} {mean}' for label, mean in shown])}."


def _listed(texts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
