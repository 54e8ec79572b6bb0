"""Checks a user's file: what holds for every built-in algorithm must hold for it, at the defaults and at the bounds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sojourn.catalogue import Algorithm, Parameter, Value
from sojourn.errors import InputError, RunFailed
from sojourn.plugins import processes
from sojourn.plugins.declared import declared
from sojourn.plugins.source import LINUX, Source
from sojourn.plugins.worker import EXERCISE, FAILED, OK, WRONG

#: Sequences of events for each set of parameters.
SEEDS = 10

#: What is checked of each kind, for people.
CHECKED = {
    "control": (
        "no hook raises or hangs; each is a function of its events; cwnd is one segment or more; "
        "ssthresh is two segments or more, and neither grows on congestion"
    ),
    "queue": "no hook raises or hangs, each is a function of its events; packets are conserved; verdicts and lines make sense",
}


#: Where hooks may draw random numbers from, by the language of the file.
STREAMS = {
    "python": 'self.random (with draws = "what for")',
    LINUX: "the kernel's functions",
    "c": "the stream that init is handed (with .draws)",
    "library": "the stream that init is handed (with .draws)",
}

#: The widest window that a network can need, in bytes: 1 Tbit/s with a round-trip time of 100 s.
WIDEST = 12_500_000_000_000


@dataclass(frozen=True)
class Checked:
    """A kind of algorithm of a file that has the properties, how many sequences it was put through, and its widest window."""

    kind: str
    algorithm: Algorithm
    sequences: int
    #: Bytes; 0 of a queue discipline.
    widest: int

    @property
    def note(self) -> str | None:
        """What may be a mistake although it breaks nothing."""
        if self.widest <= WIDEST:
            return None
        return f"set a window of {self.widest:,} bytes; 1 Tbit/s over 100 s needs {WIDEST:,}. Windows are in bytes"


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
    sequences = widest = 0
    # A module of Linux declares no bounds: what it makes of any number is not its promise.
    parameters = () if source.language == LINUX else algorithm.parameters
    for changed, values in settings(algorithm.parameters, parameters):
        for seed in range(1, SEEDS + 1):
            request = (EXERCISE, processes.PATIENCE, source.as_json(), kind, values, seed)
            try:
                answer, found, *_ = processes.ask(request)
            except processes.Crashed as crashed:
                answer, found = FAILED, f"{source.file}: {crashed} (seed {seed})"
            if answer == WRONG:
                raise InputError(found)
            if answer == OK:
                found, differs, widest_here = found
                widest = max(widest, widest_here)
                found = found if differs is None else _not_a_function(source, differs)
            if found is not None:
                raise RunFailed(f"{found}{f', with {changed}' if changed else ''}")
            sequences += 1
    return Checked(kind, algorithm, sequences, widest)


def _not_a_function(source: Source, where: str) -> str:
    found = f"a hook is not a function of its events: the same sequence went otherwise the second time ({where})"
    allowed = f"draw random numbers only from {STREAMS[source.language]}, ask for no clock, keep nothing in global variables"
    return f"{source.file}: {found}; {allowed}"


def settings(parameters: tuple[Parameter, ...], varied: tuple[Parameter, ...]) -> Iterator[tuple[str, dict[str, Value]]]:
    """The defaults, and each varied parameter at what it may be at the extremes; what differs from the defaults, for people."""
    defaults: dict[str, Any] = {parameter.name: parameter.default for parameter in parameters}
    yield "", defaults
    for parameter in varied:
        bounds = [bound for bound in (parameter.minimum, parameter.maximum) if bound is not None]
        extremes: list[Value] = [bound if parameter.kind == "number" else int(bound) for bound in bounds]
        extremes += [True, False] if parameter.kind == "boolean" else list(parameter.choices or ())
        for value in extremes:
            if value != parameter.default:
                yield f"{parameter.name} = {parameter.format(value)}", {**defaults, parameter.name: value}
