"""Evaluating an algorithm: the questions of a suite, asked of it and of its comparators by runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from sojourn import _engine, backends, names
from sojourn import campaign as campaigns
from sojourn.api.execution import Settings, call_of, carry_out
from sojourn.backends.backend import Backend
from sojourn.campaign import Campaign, Observer, Plan
from sojourn.errors import InputError, RunFailed
from sojourn.store import write_whole
from sojourn.suite import contenders, judging, library
from sojourn.suite.card import Card, LeftOut, file_of
from sojourn.suite.contenders import Contender
from sojourn.suite.design import CONTENDER, Kind, Question, Suite
from sojourn.suite.judging import Answer
from sojourn.sweeps import estimate
from sojourn.sweeps.matrix import Matrix

#: Suites of users whose questions have been tried, by what they say: a program that searches asks one thousands of times.
_tried: set[str] = set()

#: The folder of cards in a directory of results.
CARDS = "cards"


@dataclass(frozen=True)
class Evaluation:
    """An evaluation that has been checked, before its first run."""

    suite: Suite
    candidate: Contender
    quick: bool
    draw: int | None
    asked: Sequence["PlannedQuestion"]
    left_out: Sequence[LeftOut]

    @property
    def runs(self) -> int:
        """How many runs its questions need."""
        return sum(len(each.plan) for each in self.asked)

    def seconds(self, carrier: Backend, jobs: int | None = None) -> float:
        """About how long all its runs take on this machine."""
        return sum(_seconds(self.asked, carrier, jobs))


@dataclass(frozen=True)
class PlannedQuestion:
    """A question and its campaign, all of whose cells have been checked."""

    question: Question
    matrix: Matrix
    seeds: int
    plan: Plan = field(repr=False)

    @property
    def campaign(self) -> Campaign:
        """What is to be run."""
        return Campaign.of_matrix(self.matrix, self.seeds)


def plan_evaluation(
    candidate: str | Path | Mapping[str, Any],
    of: str | None = None,
    suite: str | Path | Mapping[str, Any] | Suite | None = None,
    *,
    quick: bool = False,
    seeds: int | None = None,
    draw: int | None = None,
    budget: float | None = None,
    jobs: int | None = None,
    backend: str | Backend = backends.DEFAULT,
) -> Evaluation:
    """Checks an evaluation; nothing is run, unless a budget of seconds is to be kept. The arguments are those of ``evaluate``.

    Raises:
        InputError: the candidate, the suite or a comparator will not do.
    """
    names.check("kind of suite", of or Kind.TCP, list(Kind), InputError)
    kind = Kind(of or Kind.TCP)
    asked_of = library.load(library.DEFAULT[kind] if suite is None else suite)
    if of is not None and asked_of.kind is not kind:
        raise InputError(f"suite {asked_of.name}: is of a {asked_of.kind}, not of a {kind}")
    library.check(asked_of)
    contender = Contender.of(asked_of.kind, candidate)
    carrier = backends.named(backend)
    planned: list[PlannedQuestion] = []
    left_out: list[LeftOut] = []
    refused: InputError | None = None
    for question in asked_of.questions:
        if quick and question.quick is None:
            left_out.append(LeftOut.of(question, "not in the quick card"))
            continue
        try:
            planned.append(_planned(asked_of, question, contender, carrier, quick, seeds, draw))
        except InputError as error:
            refused = refused or error
            if carrier.identity.name != backends.DEFAULT:
                left_out.append(LeftOut.of(question, f"{carrier.identity.name} cannot decide it: {error}", undecidable=True))
                continue
            # The suite is at fault if a comparator cannot be asked either.
            _planned(asked_of, question, contenders.comparators(asked_of, question)[0], carrier, quick, seeds, draw)
            left_out.append(LeftOut.of(question, f"{contender.label} cannot be asked: {error}"))
    if not planned and refused is not None:
        raise refused
    if budget is not None:
        first, planned = planned[0].question.id, list(_within(planned, budget, carrier, jobs, left_out))
        if not planned:
            raise InputError(f"budget: no question fits; {first} takes {next(each.why for each in left_out if each.id == first)}")
    if not planned:
        raise InputError(f"suite {asked_of.name}: no question is left")
    return Evaluation(asked_of, contender, quick, draw, planned, left_out)


def _planned(
    suite: Suite, question: Question, candidate: Contender, carrier: Backend, quick: bool, seeds: int | None, draw: int | None
) -> PlannedQuestion:
    """A question whose cells have been checked."""
    matrix = contenders.matrix(suite, question, candidate, draw)
    number = seeds or suite.seeds_of(question)
    if quick and question.quick is not None:
        drawn = draw is not None and any(axis in question.ranges for axis in question.quick.select)
        matrix = matrix if drawn else matrix.only(_listed(question.quick.select))
        number = seeds or question.quick.seeds or number
    plan = campaigns.plan(Campaign.of_matrix(matrix, number), carrier)
    contenders.check_states(suite, question, candidate)
    return PlannedQuestion(question, matrix, number, plan)


def evaluate(
    candidate: str | Path | Mapping[str, Any],
    of: str | None = None,
    suite: str | Path | Mapping[str, Any] | Suite | None = None,
    *,
    quick: bool = False,
    seeds: int | None = None,
    draw: int | None = None,
    budget: float | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: str | Backend = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> pl.DataFrame:
    """Asks the questions of a suite of an algorithm, and returns the verdicts as a frame.

    Args:
        candidate: a built-in algorithm, the path of a file with one's own, or the table by which a scenario names one.
        of: ``"tcp"`` or ``"queue"``; ``"tcp"`` unless given.
        suite: a name of ``sojourn list suites``, a path, or what such a file says as a dictionary; the standard's unless given.
        quick: only what the quick card has.
        seeds: seeds of each cell, instead of the suite's.
        draw: draw conditions from the suite's ranges by this seed, instead of its fixed points.
        budget: about how many seconds all runs may take; the questions that come first in the suite are asked first.
        out: a directory for the results of all questions; none are written unless given.
        jobs: how many runs at once; as many as there are cores unless given.
        backend: what carries out the runs.
        cluster: the address of a Dask scheduler whose workers make the runs.
        observer: what looks on meanwhile.

    Returns:
        A row a question: id, question, section, rule, verdict, seeds, the condition that decides, the measures there of the
        candidate and of the comparator that it is held to, the excess with its interval, what is allowed, the seeds that would
        decide it, and the error of a run that failed; see docs/evaluate.md.

    Raises:
        InputError: the candidate, the suite, a comparator or the directory will not do.
        RunFailed: a comparator's run failed. A candidate whose run fails has failed that question.
    """
    planned = plan_evaluation(
        candidate, of, suite, quick=quick, seeds=seeds, draw=draw, budget=budget, jobs=jobs, backend=backend
    )
    return frame(ask(planned, out=out, jobs=jobs, backend=backend, cluster=cluster, observer=observer))


def ask(
    planned: Evaluation,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: str | Backend = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> Card:
    """Makes the runs of an evaluation and judges them; with ``out`` the card is kept beside them.

    Raises:
        InputError: a metric of a suite has no value, the backend decides nothing, or the directory will not do.
        RunFailed: a comparator's run failed.
    """
    carrier = backends.named(backend)
    call = call_of("evaluate", repr(planned.candidate.label), backend, suite=planned.suite.name, out=out)
    folder = None if out is None else Path(out)
    try_suite(planned, carrier)
    answers: list[Answer] = []
    left_out = list(planned.left_out)
    for each in planned.asked:
        kept = None if folder is None else folder / each.question.id
        settings = Settings(kept, jobs, carrier, cluster, observer or Observer())
        answer = _answer(planned, each, settings, call)
        if answer.measured or carrier.identity.name == backends.DEFAULT:
            answers.append(answer)
        else:
            why = f"{carrier.identity.name} cannot decide it: it does not measure {each.question.metric} there"
            left_out.append(LeftOut.of(each.question, why, undecidable=True))
        if kept is not None:
            scenario = tomli_w.dumps(contenders.as_file(each.matrix, each.seeds))
            _write(kept / f"{file_of(planned.candidate.label)}.toml", scenario)
    if not answers:
        raise InputError(f"suite {planned.suite.name}: {carrier.identity.name} can decide none of these questions")
    card = Card.made(
        planned.suite,
        planned.candidate.label,
        answers,
        left_out,
        version=_engine.version(),
        backend=carrier.identity.name,
        quick=planned.quick,
        draw=planned.draw,
    )
    if folder is not None:
        (folder / CARDS).mkdir(exist_ok=True)
        _write(folder / CARDS / f"{card.file}.json", card.text())
    return card


def _write(path: Path, text: str) -> None:
    """Writes a whole file or none."""
    write_whole(path, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))


def try_suite(planned: Evaluation, carrier: Backend) -> None:
    """Has one comparator's run made for each metric of a user's suite that no run may have a value of.

    Raises:
        InputError: there is no value, so the question's rule cannot decide.
    """
    if planned.suite.name in library.available() or carrier.identity.name != backends.DEFAULT:
        return  # tests have tried them; what another backend does not measure is left out of the card
    for each in planned.asked:
        question = each.question
        said = f"{planned.suite.model_dump_json(exclude={'questions'})} {question.model_dump_json()} {carrier.identity}"
        if not question.rule.compares or said in _tried:
            continue
        others = {contender.label for contender in contenders.comparators(planned.suite, question)}
        cells = [cell for cell in each.matrix.cells() if cell.axes[CONTENDER] in others]
        first = Campaign.of_cells(each.matrix.name, cells[:1])
        result = carry_out(first, Settings(None, 1, carrier, None, Observer()), "", None, None, None)
        rows = result.scan("runs" if question.group is None else "groups")
        if question.group is not None:
            rows = rows.filter(pl.col("flow_group") == question.group)
        if rows.select(pl.col(question.measure.name).is_not_null().any()).collect().item() is not True:
            where = f" of group {question.group}" if question.group is not None else ""
            raise InputError(
                f'{each.matrix.origin}: metric: "{question.metric}"{where} has no value, so no rule can decide by it'
            )
        _tried.add(said)


def frame(card: Card) -> pl.DataFrame:
    """A card as a frame; a row a question, with the finding that decides it."""
    text, number = pl.String(), pl.Float64()
    columns: dict[str, Any] = {
        **dict.fromkeys(("id", "question", "section", "rule", "verdict"), text),
        "seeds": pl.Int64(),
        "condition": text,
        **dict.fromkeys(("candidate", "comparator", "excess", "excess_ci_low", "excess_ci_high", "allowed"), number),
        "seeds_needed": pl.Int64(),
        "error": text,
    }
    rows = []
    for row in card.rows:
        found = row.deciding
        other = None if found is None or found.held_to is None else found.comparators[found.held_to]
        excess = None if found is None else found.excess
        mine = None if found is None or found.candidate is None else found.candidate.mean
        rows.append(
            (
                *(row.id, row.question, row.section, row.rule, str(row.verdict), row.seeds),
                "" if found is None else ",".join(f"{axis}={label}" for axis, label in found.condition.items()),
                mine,
                None if other is None else other.mean,
                *((None, None, None) if excess is None else (excess.mean, excess.low, excess.high)),
                None if found is None else found.allowed,
                None if found is None else found.seeds_needed,
                row.error,
            )
        )
    return pl.DataFrame(rows, schema=columns, orient="row")


def _answer(planned: Evaluation, each: PlannedQuestion, settings: Settings, call: str) -> Answer:
    """The answer to one question; a candidate whose run fails has failed it."""
    question, candidate = each.question, planned.candidate
    try:
        result = carry_out(each.campaign, settings, call, None, None, None)
    except RunFailed as error:
        if any(axes.get(CONTENDER) != candidate.label for axes in error.cells) or not error.cells:
            raise
        return judging.failed(question, each.seeds, str(error))
    others = contenders.comparators(planned.suite, question)
    conditions = contenders.conditions(each.matrix)
    return judging.judge(question, candidate, others, conditions, result, planned.suite.query_of(question))


def _listed(condition: Mapping[str, str | Sequence[str]]) -> dict[str, list[str]]:
    return {axis: [labels] if isinstance(labels, str) else list(labels) for axis, labels in condition.items()}


def _seconds(asked: Sequence[PlannedQuestion], carrier: Backend, jobs: int | None) -> Iterator[float]:
    """About how long the runs of each question take: a worker's speed is measured in the largest cell of all."""
    if not asked:
        return
    largest = max((cell for each in asked for cell in each.plan.cells), key=lambda cell: cell.cost)
    speed = estimate.measure(largest.run(), lambda run: campaigns.carry_out(run, carrier))
    for each in asked:
        yield speed.seconds(len(each.plan), estimate.packets(each.plan.cost)) / campaigns.workers(jobs)


def _within(
    asked: Sequence[PlannedQuestion], budget: float, carrier: Backend, jobs: int | None, left_out: list[LeftOut]
) -> Iterator[PlannedQuestion]:
    """The questions that fit into so many seconds, in the order of the suite, which begins with those that tell most."""
    left = budget
    for each, seconds in zip(asked, _seconds(asked, carrier, jobs), strict=True):
        if seconds <= left:
            left -= seconds
            yield each
        else:
            why = f"about {max(1, round(seconds))} s, more than is left of the budget"
            left_out.append(LeftOut.of(each.question, why))
