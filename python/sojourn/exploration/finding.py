"""What a search has found: the points it tried, and the finding, shrunk and confirmed by seeds that the search had not seen."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.exploration.aim import Aim
from sojourn.exploration.hunt import SEEDS, Hunt, Trial
from sojourn.exploration.space import Point, Space
from sojourn.statistics import Estimate

#: What cells of a list of tries call their number and seeds.
NUMBER, OF_SEEDS = "point", "seeds"

#: Keys of a scenario that have paths, which are relative to the file that they are in.
_PATHS = ("file", "linux", "trace")


@dataclass(frozen=True)
class Finding:
    """What a search for large or small values has found."""

    space: Space
    aims: Sequence[Aim]
    #: A row a point, in the order in which they were tried: the names of the space, ``seeds``, and the mean of each aim.
    points: pl.DataFrame
    #: Runs that the search took, those that confirm it left out.
    runs: int
    #: The best point before it was shrunk, and after; none if no point has a value, or if the search was for a front.
    best: Trial | None
    shrunk: Trial | None
    #: The mean over ``SEEDS`` other seeds, with its 95 % interval.
    confirmed: Estimate | None
    #: The points than which no other is better by both aims, if the search was for a front.
    front: pl.DataFrame | None
    #: Why points could not be run, the first of them.
    problem: str | None
    #: Where the scenario of the finding is.
    file: Path | None = None

    @property
    def valueless(self) -> int:
        """How many points have no value."""
        return self.points[value_column(self.aims, 0)].null_count()


def value_column(aims: Sequence[Aim], number: int) -> str:
    """What the values of an aim are called in a table: the metric, or ``value`` of what has no name."""
    text = aims[number].text
    return text if text.isidentifier() else ("value" if len(aims) == 1 else f"value {number + 1}")


def table(hunt: Hunt, trials: Sequence[Trial]) -> pl.DataFrame:
    """Points with what they are called, their seeds and their means."""
    numbers = {id(trial): number for number, trial in enumerate(hunt.trials.values(), 1)}
    rows = [
        {
            NUMBER: numbers.get(id(trial)),
            **hunt.space.labels(trial.point),
            OF_SEEDS: trial.seeds,
            **{value_column(hunt.aims, aim): trial.mean(aim) for aim in range(len(hunt.aims))},
        }
        for trial in trials
    ]
    schema = {
        NUMBER: pl.UInt32(),
        **dict.fromkeys(hunt.space.names, pl.String()),
        OF_SEEDS: pl.UInt32(),
        **{value_column(hunt.aims, aim): pl.Float64() for aim in range(len(hunt.aims))},
    }
    return pl.DataFrame(rows, schema=schema)


def scenario(space: Space, point: Point, first_seed: int, description: str, folder: Path) -> dict[str, Any]:
    """The scenario file that shows a finding on seeds from a first one on; paths in it lead from ``folder``."""
    data = _moved(space.data(point), (space.folder or Path()).resolve(), folder.resolve())
    return {**data, "name": f"{space.name}-found", "description": description, "seed": first_seed, "sweep": {"seeds": SEEDS}}


def _moved(held: Any, old: Path, new: Path) -> Any:
    """Data with paths that are relative to another folder."""
    if isinstance(held, Mapping):
        moved = {key: _moved(value, old, new) for key, value in held.items()}
        for key in _PATHS:
            if isinstance(held.get(key), str) and not Path(held[key]).is_absolute() and (old / held[key]).exists():
                moved[key] = os.path.relpath(old / held[key], new)
        return moved
    return [_moved(each, old, new) for each in held] if isinstance(held, list) else held
