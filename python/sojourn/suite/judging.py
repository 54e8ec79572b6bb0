"""Verdicts: what the runs of a question say of the candidate. docs/evaluate.md has the rules, each with its source."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import polars as pl

from sojourn.analysis import agreement, difference, repetition
from sojourn.analysis.result import Result
from sojourn.metrics import formulas
from sojourn.metrics.metric import Bounds
from sojourn.statistics import Estimate, estimate, most, share
from sojourn.study import asking
from sojourn.suite.contenders import Contender
from sojourn.suite.design import ALONE, CONTENDER, Question, Rule

#: Harm may exceed the comparators' by so much: the part of the fair share in which throughputs agree everywhere in Sojourn.
HARM_FLOOR = 0.05

#: Harm is at most everything. Where a competitor helps, it is below 0, and has no least value.
HARM_BOUNDS: Bounds = (None, 1)

#: The chance that a question is a concern though no condition is one; it is shared among the conditions (Bonferroni).
ERROR = 0.05


class Verdict(StrEnum):
    """What is said of a question, the worst first."""

    FAIL = "fail"
    CONCERN = "concern"
    OPEN = "not decided"
    PASS = "pass"


@dataclass(frozen=True)
class Finding:
    """What was measured under one condition, or over all of them where a query was asked."""

    condition: Mapping[str, str]
    verdict: Verdict
    #: The candidate's measure or harm, and each comparator's; none of what has no value.
    candidate: Estimate | None
    comparators: Mapping[str, Estimate | None]
    #: The comparator with the worst mean, which the candidate is held to.
    held_to: str | None = None
    #: By how much the candidate is worse than that one, and how much worse it may be.
    excess: Estimate | None = None
    allowed: float = 0.0
    #: How many seeds would decide it, if it is not decided and some number would.
    seeds_needed: int | None = None


@dataclass(frozen=True)
class Answer:
    """A question answered."""

    question: Question
    verdict: Verdict
    #: None of a question whose runs failed.
    findings: Sequence[Finding]
    #: Seeds of each cell.
    seeds: int
    #: The values that a query returned, by name and seed.
    values: Mapping[str, Sequence[float] | Sequence[str]] = field(default_factory=dict)
    #: Why the candidate's runs failed.
    error: str | None = None

    @property
    def measured(self) -> bool:
        """Whether there is anything to judge by: a failure, or somebody's value under some condition."""
        values = (value for each in self.findings for value in (each.candidate, *each.comparators.values()))
        return self.error is not None or any(value is not None for value in values)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts."""
    there = set(verdicts)
    return next((each for each in Verdict if each in there), Verdict.PASS)


def failed(question: Question, seeds: int, error: str) -> Answer:
    """The answer of a candidate whose runs failed."""
    return Answer(question, Verdict.FAIL, [], seeds, error=error)


def judge(
    question: Question,
    candidate: Contender,
    comparators: Sequence[Contender],
    conditions: Sequence[Mapping[str, str]],
    result: Result,
    query: str | None = None,
) -> Answer:
    """Judges a question by its runs.

    Args:
        question: what was asked.
        candidate: who was tried.
        comparators: what the candidate is held to.
        conditions: the combinations of values of the question's axes.
        result: the runs of all of them.
        query: what is asked of them, with the suite's tables; the question's own unless given.

    Raises:
        InputError: the question's query has no answer.
    """
    names = [each.label for each in comparators]
    if question.rule.compares:
        return _compared(question, candidate.label, names, conditions, result)
    return _asked(question, query or question.query, candidate.label, names, result)


#: The values of a contender under a condition, by seed; none of what has no value.
Values = Mapping[int, float | None]


def _values(question: Question, axes: Sequence[str], result: Result) -> dict[tuple[str, ...], dict[int, float | None]]:
    """The metric of each contender under each condition, by seed."""
    metric = question.measure.name
    rows = result.scan("runs" if question.group is None else "groups")
    if question.group is not None:
        rows = rows.filter(pl.col("flow_group") == question.group)
    found: dict[tuple[str, ...], dict[int, float | None]] = {}
    for *labels, seed, value in rows.select(CONTENDER, *axes, "seed", metric).collect().iter_rows():
        found.setdefault(tuple(labels), {})[seed] = value
    return found


def _compared(
    question: Question, candidate: str, comparators: Sequence[str], conditions: Sequence[Mapping[str, str]], result: Result
) -> Answer:
    axes = [axis for axis in result.axes if axis != CONTENDER]
    values = _values(question, axes, result)
    constant = _constant(result, axes)
    fair = _fair_shares(result, axes)
    confidence = 1 - ERROR / max(1, len(conditions))
    findings = []
    for condition in conditions:
        place = tuple(condition[axis] for axis in axes)
        of_each: dict[str, Values] = {name: values.get((name, *place), {}) for name in (candidate, *comparators)}
        if question.rule is Rule.HARM:
            alone = values.get((ALONE, *place), {})
            of_each = {name: _harms(question, alone, beside) for name, beside in of_each.items()}
        # Harm differs from seed to seed if the victim alone does.
        of_all = {(ALONE, *place)} if question.rule is Rule.HARM else set()
        same = {name for name in of_each if constant >= {(name, *place), *of_all}}
        findings.append(_finding(question, condition, candidate, comparators, of_each, same, fair.get(place, 0.0), confidence))
    seeds = max((len(by_seed) for by_seed in values.values()), default=0)
    return Answer(question, worst(each.verdict for each in findings), findings, seeds)


def _harms(question: Question, alone: Values, beside: Values) -> dict[int, float | None]:
    """The harm to the victim with each seed; a victim that has no value beside somebody, and has one alone, is harmed wholly."""
    more = question.more_is_better
    found: dict[int, float | None] = {}
    for seed, solo in alone.items():
        if solo is None or seed not in beside:
            continue
        value = beside[seed]
        found[seed] = 1.0 if value is None else formulas.harm(solo, value, more)
    return found


def _fair_shares(result: Result, axes: Sequence[str]) -> dict[tuple[str, ...], float]:
    """The fair share of a flow under each condition, in Mbit/s; of a victim alone it is not."""
    shares: dict[tuple[str, ...], float] = {}
    rows = result.columns("runs", [CONTENDER, *axes, "bottleneck_mbps", "flow_count"])
    for contender, *labels, rate, flows in rows.iter_rows():
        if contender != ALONE:
            shares[tuple(labels)] = rate / flows if rate is not None and flows else 0.0
    return shares


def _finding(
    question: Question,
    condition: Mapping[str, str],
    candidate: str,
    comparators: Sequence[str],
    of_each: Mapping[str, Values],
    same: Collection[str],
    fair: float,
    confidence: float,
) -> Finding:
    own, others = of_each[candidate], {name: of_each[name] for name in comparators}
    bounds = HARM_BOUNDS if question.rule is Rule.HARM else question.measure.bounds
    estimates = {name: _estimate(values, name in same, bounds) for name, values in others.items()}
    mine = _estimate(own, candidate in same, bounds)
    # Of harm and of what is better if less, more is worse.
    sign = 1.0 if question.rule is Rule.HARM or not question.more_is_better else -1.0
    known = {name: found for name, found in estimates.items() if found is not None}
    if not known:  # nobody has a value, so nothing is worse than anything
        return Finding(condition, Verdict.OPEN, mine, estimates)
    held_to = max(known, key=lambda name: sign * known[name].mean)
    allowed = HARM_FLOOR
    if question.rule is Rule.OWN:
        allowed = agreement.tolerance(question.measure.name, known[held_to].mean, fair)
    pairs = [(own.get(seed), value) for seed, value in others[held_to].items() if value is not None]
    if any(value is None for value, _ in pairs):
        # It has no value where a comparator has: a transfer never ended, say.
        return Finding(condition, Verdict.CONCERN, mine, estimates, held_to)
    differences = [sign * (value - other) for value, other in pairs if value is not None]
    if {candidate, held_to} <= set(same):
        differences = differences[:1]
    excess = estimate(differences, confidence)
    verdict = _beyond(excess, allowed)
    needed = None
    if verdict is Verdict.OPEN:
        needed = difference.seeds_needed(estimate(differences), len(differences), allowed, confidence)
    return Finding(condition, verdict, mine, estimates, held_to, excess, allowed, needed)


def _estimate(values: Values, same: bool, bounds: Bounds) -> Estimate | None:
    known = [value for value in values.values() if value is not None]
    return estimate(known[:1] if same else known).within(*bounds) if known else None


def _constant(result: Result, axes: Sequence[str]) -> set[tuple[str | None, ...]]:
    """The contenders and conditions whose runs are the same whatever their seed: they count once, as everywhere."""
    return repetition.labels(result.repeated, [CONTENDER, *axes])


def _beyond(excess: Estimate, allowed: float) -> Verdict:
    """Whether a mean is above what is allowed, beyond its interval."""
    if excess.mean <= 0 or (excess.mean if excess.high is None else excess.high) <= allowed:
        return Verdict.PASS
    return Verdict.CONCERN if difference.judge(excess, allowed) is difference.Verdict.DIFFERENT else Verdict.OPEN


def _asked(question: Question, query: str | None, candidate: str, comparators: Sequence[str], result: Result) -> Answer:
    place = f"question {question.id}"
    assert query is not None, "a question without a metric has a query"
    with asking.answers(result) as answers:
        found = {
            name: answers.of(place, query, {CONTENDER: frozenset([name])}, _seeds(result, name), absent=False)
            for name in (candidate, *comparators)
        }
    held = {name: (int(rows[asking.HOLDS].sum()), rows[asking.HOLDS].count()) for name, rows in found.items()}
    shares = {name: share(*counted) if counted[1] else None for name, counted in held.items()}
    own = found[candidate]
    verdict, needed = _most(*held[candidate], question.rule)
    values = {name: own[name].drop_nulls().to_list() for name in own.columns if name not in (asking.SEED, asking.HOLDS)}
    finding = Finding({}, verdict, shares[candidate], {name: shares[name] for name in comparators}, seeds_needed=needed)
    return Answer(question, verdict, [finding], own.height, {name: listed for name, listed in values.items() if listed})


def _seeds(result: Result, contender: str) -> list[int]:
    """The seeds that all of a contender's cells have; the first alone if they change nothing in any."""
    axes = [axis for axis in result.axes if axis != CONTENDER]
    rows = result.scan("runs").filter(pl.col(CONTENDER) == contender).select(*axes, "seed").collect()
    of_cells = rows.group_by(axes).agg("seed")["seed"].to_list() if axes else [rows["seed"].to_list()]
    seeds = sorted(set.intersection(*map(set, of_cells))) if of_cells else []
    places = set(rows.select(axes).iter_rows()) if axes else {()}
    return seeds[:1] if _constant(result, axes) >= {(contender, *place) for place in places} else seeds


def _most(held: int, seeds: int, rule: Rule) -> tuple[Verdict, int | None]:
    """The verdict on what holds on some of so many seeds, and how many would decide it."""
    if not seeds:
        return Verdict.OPEN, None
    decided = most(held, seeds)
    if decided is not None:
        return Verdict.PASS if decided else Verdict.FAIL if rule is Rule.MUST else Verdict.CONCERN, None
    mean = held / seeds
    return Verdict.OPEN, difference.least_number(seeds + 1, lambda number: most(round(mean * number), number) is not None)
