"""Checks a user's file: what holds for every built-in algorithm must hold for it, at the defaults and at the bounds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sojourn.catalogue import Algorithm, Parameter, Value
from sojourn.errors import InputError, RunFailed
from sojourn.plugins import processes
from sojourn.plugins.declared import declared
from sojourn.plugins.source import LINUX, Source
from sojourn.plugins.worker import EXERCISE, OK, WRONG

#: Sequences of events for each set of parameters.
SEEDS = 10

#: What is checked of each kind, for people.
CHECKED = {
    "control": (
        "no hook raises or hangs; cwnd is one segment or more; ssthresh is two segments or more, and neither grows on congestion"
    ),
    "queue": "no hook raises or hangs; packets are conserved; verdicts and lines make sense",
}


@dataclass(frozen=True)
class Checked:
    """A kind of algorithm of a file that has the properties, and how many sequences it was put through."""

    kind: str
    algorithm: Algorithm
    sequences: int


def check(source: Source) -> list[Checked]:
    """Puts what a file defines through arbitrary sequences of events.

    Raises:
        ValueError: it cannot be loaded.
        RunFailed: it lacks a property; one line that says with which parameters.
    """
    own = declared(source)
    kinds = {"control": own.control, "queue": own.queue}
    return [_check(source, kind, algorithm) for kind, algorithm in kinds.items() if algorithm is not None]


def _check(source: Source, kind: str, algorithm: Algorithm) -> Checked:
    sequences = 0
    # A module of Linux declares no bounds: what it makes of any number is not its promise.
    parameters = () if source.language == LINUX else algorithm.parameters
    for changed, values in settings(algorithm.parameters, parameters):
        for seed in range(1, SEEDS + 1):
            request = (EXERCISE, processes.PATIENCE, source.as_json(), kind, values, seed)
            try:
                answer, found, *_ = processes.ask(request)
            except processes.Crashed as crashed:
                answer, found = OK, f"{source.file}: {crashed} (seed {seed})"
            if answer == WRONG:
                raise InputError(found)
            if answer != OK or found is not None:
                raise RunFailed(f"{found}{f', with {changed}' if changed else ''}")
            sequences += 1
    return Checked(kind, algorithm, sequences)


def settings(parameters: tuple[Parameter, ...], varied: tuple[Parameter, ...]) -> Iterator[tuple[str, dict[str, Value]]]:
    """The defaults, and each varied parameter at what it may be at the extremes; what differs from the defaults, for people."""
    defaults: dict[str, Any] = {parameter.name: parameter.default for parameter in parameters}
    yield "", defaults
    for parameter in varied:
        extremes: list[Value] = [bound if parameter.kind == "number" else int(bound) for bound in _bounds(parameter)]
        extremes += [True, False] if parameter.kind == "boolean" else list(parameter.choices or ())
        for value in extremes:
            if value != parameter.default:
                yield f"{parameter.name} = {parameter.format(value)}", {**defaults, parameter.name: value}


def _bounds(parameter: Parameter) -> list[float]:
    return [bound for bound in (parameter.minimum, parameter.maximum) if bound is not None]
