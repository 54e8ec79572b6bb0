"""Who answers a question: the candidate and its comparators, and the scenarios in which each takes its place."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from sojourn import catalogue, names, policies, trust
from sojourn.catalogue import Algorithm, StateValue
from sojourn.errors import InputError
from sojourn.plugins import source
from sojourn.plugins.reading import reading
from sojourn.plugins.source import Source
from sojourn.scenario import agents, choices
from sojourn.scenario.problems import describe
from sojourn.suite.design import ALONE, CANDIDATE, CONTENDER, Kind, Question, Rule, Suite, sweep_of
from sojourn.sweeps import values
from sojourn.sweeps.matrix import Matrix
from sojourn.sweeps.ranges import Range

#: What is wrong with a file whose name ends in none of the languages.
_NO_FILE = f"is not a file of an algorithm (allowed: {', '.join((*source.LANGUAGES, *policies.ENDINGS))})"

#: The value of an inner state that is one of the algorithm's phases.
PHASE = "phase"


@dataclass(frozen=True)
class Contender:
    """An algorithm as results call it, and as scenarios name it."""

    label: str
    value: Mapping[str, Any]

    @classmethod
    def of(cls, kind: Kind, given: str | Path | Mapping[str, Any]) -> Self:
        """A built-in algorithm by its name, a user's file or module of Linux by its path, or what a scenario says of one.

        Raises:
            InputError: there is no such algorithm or file.
        """
        if isinstance(given, Mapping):
            table = dict(given)
            if isinstance(table.get("name"), str):
                table["name"] = _named(kind, table["name"])
            return cls(values.text(table), table)
        path = Path(given)
        if source.language_of(path) is not None or path.suffix in policies.ENDINGS or "/" in str(given):
            return cls._of_file(kind, path)
        name = _named(kind, str(given))
        return cls(name, {"name": name})

    @classmethod
    def _of_file(cls, kind: Kind, path: Path) -> Self:
        if source.language_of(path) is None and path.suffix not in policies.ENDINGS:
            raise InputError(f"{path}: {_NO_FILE}")
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
        place = str(path.resolve())
        if path.suffix in policies.ENDINGS:
            return cls._of_policy(kind, path.name, {agents.POLICY: place})
        trust.name(place)
        key = "linux" if kind is Kind.TCP and source.is_linux(path) else "file"
        if key == "file":
            with reading(path) as plugin:
                _declared(kind, plugin)
        return cls(path.name, {key: place})

    @classmethod
    def _of_policy(cls, kind: Kind, name: str, value: Mapping[str, str]) -> Self:
        try:
            agents.read(dict(value), Path(), "flow" if kind is Kind.TCP else "queue")
        except ValueError as error:
            raise InputError(str(error)) from None
        return cls(name, value)


def _named(kind: Kind, name: str) -> str:
    """The name that the catalogue has for an algorithm, whatever it was called."""
    known = catalogue.load()
    what, entries = ("congestion control", known.congestion_controls) if kind is Kind.TCP else ("queue discipline", known.queues)
    try:
        return catalogue.find(what, name, entries).name
    except ValueError as error:
        if Path(name).is_file():
            raise InputError(f"{name}: {_NO_FILE}") from None
        raise InputError(f"{error}; a file of your own is given by its path") from None


def _declared(kind: Kind, plugin: Source) -> Algorithm:
    """What a user's file says of its algorithm.

    Raises:
        ValueError: it has none of this kind.
    """
    return choices.control_of(plugin) if kind is Kind.TCP else choices.queue_of(plugin)


def comparators(suite: Suite, question: Question) -> list[Contender]:
    """What the candidate is held to in a question, perhaps itself.

    Raises:
        InputError: there is no such algorithm.
    """
    found = []
    for given in suite.comparators_of(question):
        try:
            found.append(Contender.of(suite.kind, given))
        except InputError as error:
            raise InputError(f"suite {suite.name}: question {question.id}: comparators: {error}") from None
    return found


def check_states(suite: Suite, question: Question, contender: Contender) -> None:
    """Checks that somebody shows the values of an inner state that a question reads.

    Raises:
        InputError: there is one that it does not show, or its phases are others.
    """
    if not question.states:
        return
    shown = {value.name: value for value in _state(suite, contender)}
    place = f"suite {suite.name}: question {question.id}: {contender.label}"
    lacking = [name for name in question.states if name not in shown]
    if lacking:
        module = contender.value.get("linux")
        declares = f"; {source.shows_of(str(module))} beside it can" if module is not None else ""
        raise InputError(f"{place} does not show {', '.join(lacking)} of its inner state{declares}")
    if suite.phases and PHASE in question.states and shown[PHASE].phases != tuple(suite.phases):
        has = ", ".join(shown[PHASE].phases or ("numbers",))
        raise InputError(f"{place} has other phases: {has} (needed: {', '.join(suite.phases)})")


def _state(suite: Suite, contender: Contender) -> Sequence[StateValue]:
    """What an algorithm shows of its inner state."""
    if agents.names_one(contender.value):
        return agents.algorithm(contender.label, "flow" if suite.kind is Kind.TCP else "queue").state
    key = next((key for key in choices.FILES if key in contender.value), None)
    if key is None:
        known = catalogue.load()
        entries = known.congestion_controls if suite.kind is Kind.TCP else known.queues
        return catalogue.find("algorithm", str(contender.value["name"]), entries).state
    with reading(suite.file.parent / str(contender.value[key])) as plugin:
        return _declared(suite.kind, plugin).state


def matrix(suite: Suite, question: Question, candidate: Contender, draw: int | None = None) -> Matrix:
    """The cells of a question: the candidate, its comparators and, of a question of harm, nobody, under all its conditions.

    Args:
        suite: what the question is of.
        question: what is asked.
        candidate: who is tried.
        draw: the seed by which conditions are drawn from the question's ranges, instead of its fixed points.

    Raises:
        InputError: the question makes no scenarios.
    """
    place = f"suite {suite.name}: question {question.id}"
    base = suite.scenario_of(question)
    others = [each for each in comparators(suite, question) if each.label != candidate.label]
    contenders = [candidate, *others]
    if suite.kind is Kind.TCP:
        flows: Any = base.get("flows", [])
        beside = [flow for flow in flows if flow.get("tcp") != CANDIDATE]
        if len(beside) == len(flows):
            raise InputError(f'{place}: flows: none has tcp = "{CANDIDATE}"')
        if question.rule is Rule.HARM and not beside:
            raise InputError(f'{place}: flows: the rule "{Rule.HARM}" needs flows whose tcp is not "{CANDIDATE}"')
        keys = ["flows"]
        places: list[dict[str, Any]] = [{"label": each.label, "value": _with(flows, each)} for each in contenders]
        if question.rule is Rule.HARM:
            places.append({"label": ALONE, "value": beside})
    else:
        keys = suite.place if question.place is None else question.place
        places = [{"label": each.label, "value": dict(each.value)} for each in contenders]
    asked = question if draw is None else _drawn(question, draw)
    try:
        sweep = sweep_of(asked, {"key": keys, "values": places})
    except ValidationError as error:
        raise InputError(f"{place}: {describe(error)}") from None
    return Matrix(base, sweep, place, folder=suite.file.parent)


def _with(flows: Sequence[Mapping[str, Any]], contender: Contender) -> list[Mapping[str, Any]]:
    """The flows of a scenario, with somebody's congestion control where it says the candidate's."""
    return [{**flow, "tcp": dict(contender.value)} if flow.get("tcp") == CANDIDATE else flow for flow in flows]


def _drawn(question: Question, seed: int) -> Question:
    """A question whose axes with ranges have as many values as before, drawn from these."""
    axes = dict(question.axes)
    for name, given in question.ranges.items():
        ends = _range(name, given)
        # Each axis has a stream of its own, so that another question changes nothing in those that are there.
        stream = random.Random(f"{seed} {question.id} {name}")
        axis = axes[name]
        found = [ends.at(stream.random()) for _ in values.labels(axis)]
        axes[name] = {**({"key": axis["key"]} if isinstance(axis, Mapping) and "key" in axis else {}), "values": found}
    return question.model_copy(update={"axes": axes})


def conditions(asked: Matrix) -> list[dict[str, str]]:
    """The combinations of values of a question's other axes, in order."""
    found = ({axis: label for axis, label in point.items() if axis != CONTENDER} for point in asked.points())
    return [dict(pairs) for pairs in dict.fromkeys(tuple(each.items()) for each in found)]


def as_file(asked: Matrix, seeds: int) -> dict[str, Any]:
    """The scenario file that makes the same cells."""
    swept = asked.sweep.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    axes = {
        name: {
            **{key: swept["axes"][name][key] for key in ("key",) if key in swept["axes"][name]},
            "values": [
                {"label": label, "value": value.data}
                for label, value in axis.values.items()
                if label in asked.wanted.get(name, (label,))
            ],
        }
        for name, axis in asked.sweep.axes.items()
    }
    first = next(iter(axes[CONTENDER]["values"]))["value"]
    base = {**asked.base, "flows": first} if axes[CONTENDER]["key"] == ["flows"] else dict(asked.base)
    return {**base, "sweep": {**swept, "axes": axes, "seeds": seeds}}


def check_ranges(question: Question) -> None:
    """Checks that the ranges of a question are some.

    Raises:
        ValueError: one is none.
    """
    for name, given in question.ranges.items():
        _range(name, given)


def _range(axis: str, given: Any) -> Range:
    """The range of an axis, as a suite has it."""
    told = given if isinstance(given, Mapping) else {"range": given}
    names.check("key", told, ("range", "spacing"), place=f"ranges: {axis}: ")
    return Range.of(told["range"], told.get("spacing", "linear"))
