"""Mapping the ranges of an atlas' pairs: around a landmark, where each gets along, and what is wrong elsewhere."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from sojourn import backends
from sojourn.api.charting import Atlas, PlannedLandmark
from sojourn.api.ranging import find_range
from sojourn.atlas import Pair, folder
from sojourn.atlas.planes import planes
from sojourn.atlas.rows import RANGES
from sojourn.backends.backend import Backend
from sojourn.campaign import Observer
from sojourn.exploration import gaussian
from sojourn.exploration.operating import ANY, HOLDS, OperatingRange
from sojourn.exploration.plane import Axis

#: The budget of each map.
MAP_BUDGET = "100 runs"


@dataclass(frozen=True)
class Mapped:
    """A map that has been made."""

    landmark: PlannedLandmark
    pair: Pair
    #: Which of the planes of ``atlas/planes.py``.
    plane: str
    found: OperatingRange
    #: Where its runs are, of pairs that were named.
    directory: Path | None

    @property
    def label(self) -> str:
        """What people call it."""
        return f"{self.landmark.landmark.name}/{self.pair.label}, {self.plane}"


def map_atlas(
    planned: Atlas,
    *,
    out: str | Path,
    jobs: int | None = None,
    backend: str | Backend = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> Iterator[Mapped]:
    """Maps both planes of all pairs of a planned atlas, and yields each map when it is kept.

    Landmarks that cost less come first. A map that ``out`` has of the same scenario, budget and backend is not made
    again. If pairs were named, the runs of each map are kept, too, beside its scenario, and all maps are yielded.

    Args:
        planned: what ``plan_atlas`` has checked.
        out: a directory for the results.
        jobs: how many runs at once; as many as there are cores unless given.
        backend: what it was planned with.
        cluster: the address of a Dask scheduler whose workers make the runs.
        observer: what looks on.

    Raises:
        InputError: a package is missing, or the directory will not do.
        RunFailed: a run failed.
    """
    gaussian.check("a map")
    carrier, kept = backends.named(backend), folder.Folder(Path(out))
    for each in planned.landmarks:
        name = each.landmark.name
        known = kept.ranges(name)
        there = set() if known is None else set(known["key"].unique())
        for pair in each.wanted:
            for plane, data in planes(each.landmark, pair).items():
                key = _key(data, carrier)
                if key in there and not planned.named:
                    continue
                directory, scenario = _place(Path(out), data, plane) if planned.named else (None, data)
                found = find_range(
                    scenario,
                    budget=MAP_BUDGET,
                    out=directory,
                    jobs=jobs,
                    backend=carrier,
                    cluster=cluster,
                    observer=observer,
                )
                kept.add_ranges(name, _rows(name, pair, plane, found, key))
                yield Mapped(each, pair, plane, found, directory)


def _key(data: Mapping[str, Any], carrier: Backend) -> str:
    """What tells apart maps that are made of something else."""
    made_of = json.dumps([data, MAP_BUDGET, str(carrier.identity)], sort_keys=True)
    return hashlib.blake2b(made_of.encode(), digest_size=8).hexdigest()


def _place(out: Path, data: Mapping[str, Any], plane: str) -> tuple[Path, Path]:
    """The directory of a map, and its scenario, which is written."""
    directory = out / "ranges" / f"{data['name']}-{plane}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    scenario = directory.with_suffix(".toml")
    scenario.write_text(tomli_w.dumps(data), encoding="utf-8")
    return directory, scenario


def _rows(landmark: str, pair: Pair, plane: str, found: OperatingRange, key: str) -> pl.DataFrame:
    """The places of a map that may be tried, a row each."""
    x, y = found.plane.x, found.plane.y
    places = found.grid.filter(pl.col(x.name).is_in(_tried(x)), pl.col(y.name).is_in(_tried(y)))
    labels = {"landmark": landmark, **pair.axes, "plane": plane, "x_title": x.title, "y_title": y.title}
    return places.select(
        *(pl.lit(value).alias(name) for name, value in labels.items()),
        pl.col(x.name).alias("x"),
        pl.col(y.name).alias("y"),
        pl.col(ANY),
        pl.col(HOLDS),
        pl.lit(found.runs, pl.Int64()).alias("runs"),
        pl.lit(key).alias("key"),
    ).select(*RANGES)


def _tried(axis: Axis) -> list[float]:
    return [axis.at(share) for share in axis.tried]
