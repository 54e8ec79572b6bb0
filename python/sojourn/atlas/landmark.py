"""A landmark: conditions of which there are measurements or a paper, as a scenario in which a pair takes its place."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from sojourn import names
from sojourn.atlas.pairs import DEPLOYED, Pair
from sojourn.errors import InputError
from sojourn.runs import Cell
from sojourn.scenario import from_data, read_toml
from sojourn.scenario.base import Table
from sojourn.scenario.problems import describe
from sojourn.scenario.reading import Shared

#: Where the landmarks are, a file each, by whose name they are called.
FOLDER = Path(__file__).parent / "landmarks"

#: What stands in a landmark's scenario for the congestion control and the discipline of a pair, and for who is beside it.
CANDIDATE, OTHER = "candidate", "beside"


class Landmark(Table):
    """Conditions, and where their figures come from."""

    name: str = ""
    title: str
    about: str
    source: str
    #: What differs from the source to cost less.
    scaled: str = ""
    #: The study of this repository that has its paper; empty if it is none's.
    study: str = ""
    #: The parameters of the only disciplines that the paper has; all, as they are deployed, if there is none.
    disciplines: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    #: A scenario whose flows have ``tcp = "candidate"`` or ``"beside"``, and whose bottleneck has ``queue.name = "candidate"``.
    scenario: Mapping[str, Any] = Field(repr=False)

    def has(self, pair: Pair) -> bool:
        """Whether the pair is asked about here."""
        return not self.disciplines or pair.queue in self.disciplines

    def parameters(self, queue: str) -> Mapping[str, Any]:
        """The parameters of a discipline here."""
        return {**DEPLOYED.get(queue, {}), **self.disciplines.get(queue, {})}

    def data(self, pair: Pair) -> dict[str, Any]:
        """The scenario file of a pair here, as plain data."""
        said = f"{pair.tcp} behind {pair.queue}, {pair.beside}: {self.title.lower()}"
        name = f"{self.name}-{pair.tcp}-{pair.queue}-{pair.beside}"
        return {"name": name, "description": said, **self.filled(pair.tcp, pair.queue, pair.other)}

    def filled(self, tcp: str, queue: str, other: str) -> dict[str, Any]:
        """The scenario with the congestion control of the candidate, its discipline, and the congestion control beside it."""
        flows = [{**flow, "tcp": {CANDIDATE: tcp, OTHER: other}[flow["tcp"]]} for flow in self.scenario["flows"]]
        filled: dict[str, Any] = _filled({**self.scenario, "flows": flows}, {"name": queue, **self.parameters(queue)})
        return filled

    def cell(self, pair: Pair, shared: Shared | None = None) -> Cell:
        """The cell of a pair.

        Raises:
            InputError: the pair makes no scenario here, such as a discipline that needs a parameter.
        """
        return Cell(pair.axes, from_data(self.data(pair), f"landmark {self.name}: {pair.label}", FOLDER, shared))


def _filled(given: Any, queue: Mapping[str, Any]) -> Any:
    """A part of a scenario with the discipline and its parameters where the candidate stands."""
    if isinstance(given, Mapping):
        filled = {key: _filled(part, queue) for key, part in given.items()}
        return {**filled, **queue} if given.get("name") == CANDIDATE else filled
    return [_filled(part, queue) for part in given] if isinstance(given, list) else given


def available() -> list[str]:
    """The names of all landmarks: those of papers last."""
    return sorted((path.stem for path in FOLDER.glob("*.toml")), key=lambda name: (bool(load(name).study), name))


@cache
def load(name: str) -> Landmark:
    """A landmark by its name.

    Raises:
        InputError: there is no such landmark.
    """
    known = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if name not in known:
        raise InputError(names.unknown("landmark", name, known))
    path = FOLDER / f"{name}.toml"
    try:
        return Landmark.model_validate({**read_toml(path), "name": name})
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error)}") from None
