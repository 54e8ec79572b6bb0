"""What a search has found: the points it tried, and the finding, shrunk and confirmed by seeds that the search had not seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.exploration.aim import Sought
from sojourn.exploration.disagreement import Difference, Disagreement, differences
from sojourn.exploration.hunt import SEEDS, Hunt, Trial
from sojourn.exploration.space import Point, Space
from sojourn.scenario import moving
from sojourn.statistics import Estimate

#: What cells of a list of tries call their number and seeds.
NUMBER, OF_SEEDS = "point", "seeds"


@dataclass(frozen=True)
class Check:
    """What another backend says of a finding."""

    backend: str
    #: The mean over the seeds that confirm the finding, with its 95 % interval; none if the backend has no value.
    found: Estimate | None
    #: Why it could not carry out the finding.
    problem: str | None


@dataclass(frozen=True)
class Finding:
    """What a search for large or small values has found."""

    space: Space
    aims: Sequence[Sought]
    #: What made the runs.
    backends: Sequence[str]
    #: A row a point, in the order in which they were tried: the names of the space, ``seeds``, and the mean of each aim.
    points: pl.DataFrame
    #: Runs that the search took, those that confirm it left out.
    runs: int
    #: The best point before it was shrunk, and after; none if no point has a value, or if the search was for a front.
    best: Trial | None
    shrunk: Trial | None
    #: The mean over ``SEEDS`` other seeds, with its 95 % interval; of a disagreement without one, which is in its differences.
    confirmed: Estimate | None
    #: Of a disagreement, the metrics over these seeds, that in which the backends differ most first.
    differences: Sequence[Difference]
    #: What another backend says of it, if one was asked.
    checked: Check | None
    #: The points than which no other is better by both aims, if the search was for a front.
    front: pl.DataFrame | None
    #: What the file itself has, if the search was for a front and that is a point of the space.
    own: Trial | None
    #: Of each aim the best value of points that are no worse than that by the other.
    beside: Sequence[float] | None
    #: Why points could not be run, the first of them.
    problem: str | None
    #: Where the scenario of the finding is.
    file: Path | None = None

    @property
    def valueless(self) -> int:
        """How many points have no value."""
        return self.points[value_column(self.aims, 0)].null_count()


def value_column(aims: Sequence[Sought], number: int) -> str:
    """What the values of an aim are called in a table: the metric, or ``value`` of what has no name."""
    text = aims[number].text
    return text if text.isidentifier() else ("value" if len(aims) == 1 else f"value {number + 1}")


def table(hunt: Hunt, trials: Sequence[Trial], backends: Sequence[str]) -> pl.DataFrame:
    """Points with what they are called, seeds and means; of a disagreement also the metric and its mean on each backend."""
    numbers = {id(trial): number for number, trial in enumerate(hunt.trials.values(), 1)}
    rows = [
        {
            NUMBER: numbers.get(id(trial)),
            **hunt.space.labels(trial.point),
            OF_SEEDS: trial.seeds,
            **{value_column(hunt.aims, aim): trial.mean(aim) for aim in range(len(hunt.aims))},
            **_both(hunt, trial, backends),
        }
        for trial in trials
    ]
    schema = {
        NUMBER: pl.UInt32(),
        **dict.fromkeys(hunt.space.names, pl.String()),
        OF_SEEDS: pl.UInt32(),
        **{value_column(hunt.aims, aim): pl.Float64() for aim in range(len(hunt.aims))},
        **({"metric": pl.String(), **dict.fromkeys(backends, pl.Float64())} if len(backends) > 1 else {}),
    }
    return pl.DataFrame(rows, schema=schema)


def _both(hunt: Hunt, trial: Trial, backends: Sequence[str]) -> dict[str, str | float]:
    found = differences(trial.values[0]) if isinstance(hunt.aims[0], Disagreement) and trial.values else []
    if not found:
        return {}
    most = found[0]
    return {"metric": most.metric, **dict(zip(backends, (most.first.mean, most.second.mean), strict=True))}


def scenario(space: Space, point: Point, first_seed: int, description: str, folder: Path) -> dict[str, Any]:
    """The scenario file that shows a finding on seeds from a first one on; paths in it lead from ``folder``."""
    data = moving.moved(space.data(point), (space.folder or Path()).resolve(), folder.resolve())
    return {**data, "name": f"{space.name}-found", "description": description, "seed": first_seed, "sweep": {"seeds": SEEDS}}
