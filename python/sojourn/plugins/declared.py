"""What a plugin's source declares, as entries of the catalogue. The source is loaded in another process."""

import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sojourn import _engine
from sojourn.catalogue import Algorithm, Parameter
from sojourn.errors import CompilationFailed
from sojourn.plugins import processes
from sojourn.plugins.source import AGENT, NAMING_FILES, Source
from sojourn.plugins.worker import DESCRIBE, OK, WRONG

#: What a parameter may be called.
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

#: Keys of a scenario that are no parameters.
TAKEN = {"name", *NAMING_FILES, "agent", "slow_start", "limit"}


#: What Sojourn's own samples are called.
SAMPLES = {name for frame in ("queue_series", "flow_series") for name, *_ in _engine.columns()[frame]}

#: The most values of an inner state that a file may show, which the estimate of a run's memory counts on.
MOST_SHOWN = 16


@dataclass(frozen=True)
class Declared:
    """The algorithms of a file; none of the kind that it does not define."""

    control: Algorithm | None
    queue: Algorithm | None


@lru_cache(maxsize=256)
def declared(source: Source) -> Declared:
    """What a source declares; of an agent, nothing.

    Raises:
        CompilationFailed: it does not compile.
        ValueError: it cannot be loaded, or what it declares makes no sense; one line.
    """
    if source.language == AGENT:
        return Declared(None, None)
    try:
        answer, *rest = processes.ask((DESCRIBE, processes.PATIENCE, source.as_json()))
    except processes.Crashed as crashed:
        raise ValueError(f"{source.file}: {crashed} when it was loaded") from None
    if answer != OK:
        output = rest[1] if answer == WRONG else ""
        raise CompilationFailed(rest[0], output) if output else ValueError(rest[0])
    return Declared(_algorithm(source, rest[0]["control"]), _algorithm(source, rest[0]["queue"]))


def _algorithm(source: Source, data: dict[str, Any] | None) -> Algorithm | None:
    if data is None:
        return None
    algorithm = replace(Algorithm.of({**data, "name": source.file}), class_="own")
    for parameter in algorithm.parameters:
        fault = _fault(parameter)
        if fault is not None:
            raise ValueError(f"{source.file}: parameter {parameter.name}: {fault}")
    names = [parameter.name for parameter in algorithm.parameters]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{source.file}: parameter {twice}: declared twice")
    _check_state(source, algorithm)
    return algorithm


def _check_state(source: Source, algorithm: Algorithm) -> None:
    """Whether the values of the inner state can be told apart, from each other and from Sojourn's own samples."""
    shown = [value.name for value in algorithm.state]
    if len(shown) > MOST_SHOWN:
        raise ValueError(f"{source.file}: shows {len(shown)} values of its state; at most {MOST_SHOWN} are allowed")
    for name in shown:
        if not NAME.fullmatch(name):
            raise ValueError(f"{source.file}: value {name}: its name may have letters, digits and underscores")
        if name in SAMPLES:
            raise ValueError(f"{source.file}: value {name}: its name is that of one of Sojourn's own samples")
        if shown.count(name) > 1:
            raise ValueError(f"{source.file}: value {name}: declared twice")


def _fault(parameter: Parameter) -> str | None:
    """What is wrong with a declaration."""
    if not NAME.fullmatch(parameter.name):
        return "its name may have letters, digits and underscores"
    if parameter.name in TAKEN:
        return f'its name is taken by the key "{parameter.name}" of scenarios'
    default, low, high = parameter.default, parameter.minimum, parameter.maximum
    if low is not None and high is not None and low > high:
        return f"its bounds are the wrong way round: {parameter.bound(low)} and {parameter.bound(high)}"
    wrong = _wrong_kind(parameter)
    if wrong is not None:
        return wrong
    if not isinstance(default, int | float):
        return None
    is_outside = (low is not None and default < low) or (high is not None and default > high)
    return f"its default {parameter.format(default)} is out of range ({parameter.allowed})" if is_outside else None


def _wrong_kind(parameter: Parameter) -> str | None:
    kinds: dict[str, tuple[type, ...]] = {"boolean": (bool,), "choice": (str,), "number": (int, float)}
    default = parameter.default
    allowed = kinds.get(parameter.kind, (int,))
    is_wrong = not isinstance(default, allowed) or (isinstance(default, bool) and bool not in allowed)
    if is_wrong or (isinstance(default, float) and not math.isfinite(default)):
        article = "an" if parameter.kind == "integer" else "a"
        return f"its default {default!r} is not {article} {parameter.kind}"
    return None
