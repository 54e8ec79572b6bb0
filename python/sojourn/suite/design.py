"""A suite: questions about an algorithm, each with the scenarios that answer it and the rule that decides. All of it is data."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator

from sojourn import names
from sojourn.errors import within
from sojourn.metrics import METRICS
from sojourn.metrics.metric import Better, Metric
from sojourn.scenario.base import OneOrSeveral, Table
from sojourn.sweeps.model import Condition, Override, Sweep
from sojourn.verdicts import shared_views

#: The axis whose values are the candidate, its comparators and, of a question of harm, nobody.
CONTENDER = "contender"

#: What that axis calls runs of the victim without anybody beside it.
ALONE = "alone"

#: What stands for the candidate's congestion control in flows: ``tcp = "candidate"``.
CANDIDATE = "candidate"

#: Seeds of a cell unless the suite says otherwise.
SEEDS = 10


class Kind(StrEnum):
    """What a suite is about."""

    TCP = "tcp"
    QUEUE = "queue"


class Rule(StrEnum):
    """How a question is decided; docs/evaluate.md has the definitions."""

    #: By the harm that the candidate does to a victim, beside that of the comparators.
    HARM = "harm"
    #: By the candidate's own measure, beside that of the comparators.
    OWN = "own"
    #: By a query that a standard says must hold: what does not hold on most seeds fails.
    MUST = "must"
    #: By a query that a standard says should hold: what does not hold on most seeds is a concern.
    SHOULD = "should"

    @property
    def compares(self) -> bool:
        """Whether a metric is compared; otherwise a query is asked."""
        return self in (Rule.HARM, Rule.OWN)


class Quick(Table):
    """What of a question the quick card has."""

    #: The values of axes that are left.
    select: Condition = Field(default_factory=dict)
    #: Seeds of each cell; the question's unless given.
    seeds: int | None = Field(None, ge=1)


class Question(Table):
    """One question."""

    id: str
    question: str
    #: Where the standard asks it.
    section: str
    rule: Rule
    #: What is measured: of a group of flows, or of the whole run.
    metric: str | None = None
    group: str | None = None
    #: ``"more"`` or ``"less"``, where the metric itself does not say.
    better: Literal["more", "less"] | None = None
    #: SQL over the candidate's runs that returns a row a seed: ``seed``, ``holds``, and the values that show it.
    query: str | None = None
    #: Values of the inner state that the query reads; who declares none of them is not asked.
    states: list[str] = Field(default_factory=list)
    #: What was taken for words of the standard, and why.
    reading: str | None = None
    #: Tables of the scenario instead of the suite's.
    scenario: dict[str, Any] = Field(default_factory=dict)
    axes: dict[str, Any] = Field(default_factory=dict)
    zip: list[list[str]] = Field(default_factory=list)
    exclude: list[Condition] = Field(default_factory=list)
    overrides: list[Override] = Field(default_factory=list)
    #: The keys of the queues that the candidate becomes, instead of the suite's.
    place: OneOrSeveral | None = None
    #: Keys set in all its scenarios, after axes.
    set: dict[str, Any] = Field(default_factory=dict)
    #: Ranges that ``--draw`` takes values of axes from, by the axis.
    ranges: dict[str, Any] = Field(default_factory=dict)
    comparators: list[Any] | None = None
    seeds: int | None = Field(None, ge=1)
    #: None if the quick card leaves it out.
    quick: Quick | None = None

    @field_validator("rule", mode="before")
    @classmethod
    def _named(cls, given: object) -> object:
        if isinstance(given, str):
            names.check("rule", given, list(Rule))
            return Rule(given)
        return given

    @model_validator(mode="after")
    def _can_be_decided(self) -> Self:
        with within(f"question {self.id}"):
            if not names.is_plain(self.id):
                raise ValueError(f'id: "{self.id}": must be {names.PLAIN}')
            if CONTENDER in self.axes:
                raise ValueError(f'axes: "{CONTENDER}" is the axis of the candidate and its comparators')
            compared, asked = self.metric is not None, self.query is not None
            self.without(
                (self.rule.compares and not compared, f'the rule "{self.rule}" needs a "metric"'),
                (self.rule.compares and asked, f'the rule "{self.rule}" takes no "query"'),
                (not self.rule.compares and not asked, f'the rule "{self.rule}" needs a "query"'),
                (not self.rule.compares and compared, f'the rule "{self.rule}" takes no "metric"'),
                (self.rule is Rule.HARM and self.group is None, 'the rule "harm" needs the "group" of the victim'),
                (self.group is not None and not compared, '"group" needs a "metric"'),
                (bool(self.states) and not asked, '"states" needs a "query", which reads them'),
            )
            if self.metric is not None:
                self._check_metric(self.metric)
            names.check("axis", self.ranges, self.axes, place="ranges: ")
        return self

    def _check_metric(self, name: str) -> None:
        names.check("metric", name, METRICS, place="metric: ")
        metric = METRICS[name]
        of = metric.of_run if self.group is None else metric.of_group
        if not of:
            raise ValueError(f'metric: "{name}" is of a {metric.told_of}, not of a {"run" if self.group is None else "group"}')
        if (metric.better is None) == (self.better is None):
            wrong = "does not say which is better" if metric.better is None else f'says itself that "{metric.better}" is better'
            raise ValueError(f'better: the metric "{name}" {wrong}')

    @property
    def measure(self) -> Metric:
        """The metric of a question that has one."""
        assert self.metric is not None, "asked of a question with a query"
        return METRICS[self.metric]

    @property
    def more_is_better(self) -> bool:
        """Whether more of its metric is better."""
        return (self.measure.better or self.better) == Better.MORE


class Asked(Table):
    """What a simulation cannot decide, and the author of an algorithm has to answer."""

    section: str
    question: str


class Suite(Table):
    """A whole ``suite.toml``."""

    name: str
    title: str
    source: str
    kind: Kind = Field(alias="of")
    #: What the candidate is held to: names, or tables of algorithms as scenarios have them.
    comparators: list[Any] = Field(min_length=1)
    #: Seeds of each cell.
    seeds: int = Field(SEEDS, ge=1)
    #: The keys of the queues that the candidate becomes, in a suite of queues.
    place: OneOrSeveral = Field(["network.dumbbell.bottleneck.queue"])
    scenario: dict[str, Any]
    #: The phases that the value ``phase`` of an inner state must have to be read as this suite does.
    phases: list[str] = Field(default_factory=list)
    #: Tables that all its queries may read, by their names: SQL over those of the runs and over the ones before.
    views: dict[str, str] = Field(default_factory=dict)
    questions: list[Question] = Field(min_length=1)
    asked: list[Asked] = Field(default_factory=list)
    _file: Path = PrivateAttr(default=Path())

    @field_validator("kind", mode="before")
    @classmethod
    def _of_kind(cls, given: object) -> object:
        if isinstance(given, str):
            names.check("kind of suite", given, list(Kind))
            return Kind(given)
        return given

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if not names.is_plain(self.name):
            raise ValueError(f'name: "{self.name}": must be {names.PLAIN}')
        seen: set[str] = set()
        for question in self.questions:
            if question.id in seen:
                raise ValueError(f'questions: two have the id "{question.id}"')
            seen.add(question.id)
            if question.place is not None and self.kind is not Kind.QUEUE:
                raise ValueError(f'question {question.id}: place: is of a suite of "{Kind.QUEUE}"')
            if question.rule is Rule.HARM and self.kind is not Kind.TCP:
                raise ValueError(f'question {question.id}: the rule "harm" is of a suite of "{Kind.TCP}"')
        return self

    def at(self, file: Path) -> Self:
        """The suite as read from there."""
        self._file = file
        return self

    @property
    def file(self) -> Path:
        """Where it was read from."""
        return self._file

    def comparators_of(self, question: Question) -> list[Any]:
        """What the candidate is held to in a question."""
        return self.comparators if question.comparators is None else question.comparators

    def seeds_of(self, question: Question) -> int:
        """The seeds of each of its cells."""
        return question.seeds or self.seeds

    def query_of(self, question: Question) -> str | None:
        """What is asked of the runs: the question's query, with the tables that verdicts share and those of the suite."""
        if question.query is None:
            return None
        views = {**shared_views(), **self.views}
        tables = ",\n".join(f"{name} AS (\n{query}\n)" for name, query in views.items())
        return f"WITH {tables}\nSELECT * FROM (\n{question.query}\n)"

    def scenario_of(self, question: Question) -> Mapping[str, Any]:
        """The scenario of a question before its axes."""
        return {"name": f"{self.name}-{question.id}", "description": question.question, **self.scenario, **question.scenario}


def sweep_of(question: Question, contenders: Mapping[str, Any]) -> Sweep:
    """The sweep of a question: who is tried, under all its conditions."""
    overrides: list[Any] = list(question.overrides)
    if question.set:
        overrides.append(Override.of({"when": {}, "set": question.set}))
    return Sweep.of(
        {
            "axes": {CONTENDER: contenders, **question.axes},
            "zip": question.zip,
            "exclude": question.exclude,
            "overrides": overrides,
        }
    )
