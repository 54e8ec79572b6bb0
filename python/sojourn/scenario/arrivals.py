"""Arrivals of connections."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from sojourn.scenario.base import Table
from sojourn.scenario.files import from_file, read_rows
from sojourn.scenario.quantities import PositiveDuration
from sojourn.scenario.sizes import Sizes, as_json
from sojourn.units import PICOSECONDS


@dataclass(frozen=True)
class Listed:
    """Arrivals from a file: times in picoseconds after the start, and bytes."""

    name: str
    rows: tuple[tuple[int, int], ...]


def _read(path: Path) -> Listed:
    rows = tuple((int(time * PICOSECONDS), int(size)) for time, size in read_rows(path, ("time_s", "bytes")))
    for number, (before, after) in enumerate(pairwise(rows), start=3):
        if after[0] < before[0]:
            raise ValueError(f'"{path.name}": line {number}: time_s must not be earlier than in the line before')
    for number, (_, size) in enumerate(rows, start=2):
        if size < 1:
            raise ValueError(f'"{path.name}": line {number}: bytes must be 1 or more')
    return Listed(path.name, rows)


_FILE, _FILE_SCHEMA = from_file(_read, "CSV of arrivals: time_s after the start, bytes.")


class Arrivals(Table):
    """Connections that arrive by themselves, each for one transfer."""

    process: Literal["poisson", "deterministic"] | None = Field(None, description="Exponential or equal times between arrivals.")
    load: float | None = Field(
        None, gt=0, le=1000, description="What arrives, with headers, as a part of the rate of the slowest link of the path."
    )
    rate: float | None = Field(None, gt=0, le=1e9, description="Arrivals a second.")
    users: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Users between each pair of hosts, each with one transfer at a time.",
    )
    think: PositiveDuration | None = Field(None, description="Mean of the exponential times for which users think.")
    file: Annotated[Listed | None, _FILE, _FILE_SCHEMA] = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        given = [key for key in ("process", "users", "file") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError('give one of "process", "users" and "file"')
        for key in ("load", "rate"):
            if getattr(self, key) is not None and self.process is None:
                raise ValueError(f"{key}: the {given[0]} say when connections arrive")
        if self.process is not None and (self.load is None) == (self.rate is None):
            raise ValueError('give either "load" or "rate"')
        if (self.users is None) != (self.think is None):
            raise ValueError('users need "think"' if self.think is None else 'think: give "users"')
        return self

    def as_json(self, size: int | Sizes | None, pair: int, pairs: int) -> dict[str, Any]:
        """The arrivals between one of the pairs of hosts that share them, as a run's specification has them."""
        if self.file is not None:
            return {"process": {"listed": self.file.rows}, "sizes": None}
        sizes = None if size is None else as_json(size)
        if self.users is not None:
            return {"process": {"users": {"count": self.users, "think": self.think}}, "sizes": sizes}
        intensity = {"load": self.load / pairs} if self.load is not None else {"rate": (self.rate or 0) / pairs}
        # Of several pairs the arrivals at equal times take turns.
        equal = {"deterministic": {"every": intensity, "phase": (pair + 1) / pairs}}
        process = {"poisson": intensity} if self.process == "poisson" else equal
        return {"process": process, "sizes": sizes}
