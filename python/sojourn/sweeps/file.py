"""Scenario files as they are written: a scenario, and what of it is swept."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from sojourn.errors import InputError
from sojourn.scenario import read_toml
from sojourn.scenario.base import Table
from sojourn.scenario.model import Scenario
from sojourn.scenario.problems import describe
from sojourn.sweeps.drawn import Drawn
from sojourn.sweeps.matrix import Matrix
from sojourn.sweeps.model import Sweep
from sojourn.sweeps.ranged import Ranged
from sojourn.sweeps.searched import Searched

#: The table of a scenario file that makes it many scenarios.
SWEEP = "sweep"

#: The table of a scenario file that has a space of scenarios; all but a search leave it alone.
SEARCH = "search"

#: The table that says what a map of a space shows; only maps read it.
RANGE = "range"

#: The table that says what is drawn for each episode; only environments read it.
ENVIRONMENT = "environment"


TableT = TypeVar("TableT", bound=Table)


class ScenarioFile(Scenario):
    """A whole scenario file. The measuring window is from ``warm_up`` to ``duration``."""

    sweep: Sweep = Field(
        default_factory=Sweep,
        description="A matrix of scenarios: keys with several values, and the number of seeds.",
    )
    search: Searched | None = Field(None, description="A space of scenarios, and what is looked for in it: sojourn search.")
    range: Ranged | None = Field(None, description="What a map of the space shows: sojourn range.")
    environment: Drawn | None = Field(None, description="What is drawn for each episode of an environment: sojourn.environment.")


def load(path: str | Path) -> Matrix:
    """Reads a scenario file; its cells are checked when they are asked for."""
    return from_data(read_toml(Path(path)), str(path), Path(path).parent)


def from_data(data: Mapping[str, Any], origin: str, folder: Path | None = None) -> Matrix:
    """The matrix of a scenario file given as plain data; ``origin`` is what errors call it.

    Paths in it are relative to ``folder``, or to the current folder.
    """
    if isinstance(data.get("scenario"), Mapping):
        raise InputError(f"{origin}: is a study; write sojourn reproduce {shlex.quote(origin)}")
    for key in data:
        if key not in ScenarioFile.all_keys():
            raise InputError(f"{origin}: {ScenarioFile.unknown(key)}")
    base = {key: value for key, value in data.items() if key not in (SWEEP, SEARCH, RANGE, ENVIRONMENT)}
    searched(data, origin)
    ranged(data, origin)
    drawn(data, origin)
    try:
        made = Matrix(base, Sweep.of(data.get(SWEEP, {})), origin, folder=folder)
    except ValidationError as error:
        raise InputError(f"{origin}: {describe(error, SWEEP)}") from None
    if not made.size:
        raise InputError(f"{origin}: {SWEEP}.exclude: no cell is left")
    return made


def searched(data: Mapping[str, Any], origin: str) -> Searched | None:
    """What a scenario file given as plain data says of a search; None if it says nothing."""
    return _table(Searched, data, SEARCH, origin)


def ranged(data: Mapping[str, Any], origin: str) -> Ranged | None:
    """What a scenario file given as plain data says of a map; None if it says nothing."""
    return _table(Ranged, data, RANGE, origin)


def drawn(data: Mapping[str, Any], origin: str) -> Drawn | None:
    """What a scenario file given as plain data says of episodes; None if it says nothing."""
    return _table(Drawn, data, ENVIRONMENT, origin)


def _table(kind: type[TableT], data: Mapping[str, Any], name: str, origin: str) -> TableT | None:
    if name not in data:
        return None
    try:
        return kind.of(data[name])
    except (ValidationError, TypeError) as error:
        problem = describe(error, name) if isinstance(error, ValidationError) else f"{name}: must be a table"
        raise InputError(f"{origin}: {problem}") from None
