"""How well ranges find borders, beside full grids: ``python bench/range.py``, about an hour on one core.

For each file, what holds on most of six seeds is found in three ways: by ``sojourn range`` with its budget, by a full grid of all
places that it may try, 21 by 21 of them, and by a coarse grid of 9 by 9 of these, each of which stands for those nearest to it.
All are compared with a second full grid, with six other seeds. A line a file and way: runs; the share of places at which it says
the same as the second grid about whether the pair gets along, and about single verdicts; how far the borders of verdicts are from
that grid's, in steps of the grid along rows; and how many of that grid's borders the range's 95 % interval reaches.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from sojourn import backends, verdicts
from sojourn.api.ranging import find_range
from sojourn.exploration import exploring
from sojourn.exploration.operating import ANY, OperatingRange
from sojourn.exploration.running import Runner
from sojourn.exploration.space import Space
from sojourn.exploration.store import Buffered
from sojourn.store import Store

TARGETS = sorted(Path(__file__).parent.parent.glob("examples/range/*.toml"))

#: Values of each axis that a coarse grid has.
COARSE = 9

#: Places that are run at a time.
AT_ONCE = 50

#: Of each verdict, where it holds, and where along each row it begins or ends.
Held = Mapping[str, NDArray[np.bool_]]
Borders = Mapping[str, Sequence[Sequence[float]]]


def full(found: OperatingRange, runner: Runner[verdicts.Observed], after: int) -> Held:
    """What holds on most of six seeds, after the first so many, at all places that may be tried; and of ``ANY`` verdict."""
    plane = found.plane
    points = [plane.point(plane.sheets[0], place) for place in plane.candidates]
    said: list[verdicts.Observed] = []
    for begin in range(0, len(points), AT_ONCE):
        said += [each or {} for each in runner.values(points[begin : begin + AT_ONCE], exploring.SEEDS, after)]
    shape = (len(plane.y.tried), len(plane.x.tried))
    held = {each.id: np.array([_mostly(one.get(each.id, ())) for one in said]).reshape(shape) for each in verdicts.definitions()}
    return {**held, ANY: np.any(list(held.values()), axis=0)}


def _mostly(said: Sequence[tuple[bool, float | None]]) -> bool:
    return 2 * sum(holds for holds, _ in said) > len(said)


def coarse(found: OperatingRange, held: Held) -> tuple[int, Held]:
    """How many places of a full grid a coarse one has, and what these say of all: each what the nearest says."""
    x, y = (_nearest(np.array(axis.tried)) for axis in (found.plane.x, found.plane.y))
    return len(set(x)) * len(set(y)), {name: each[np.ix_(y, x)] for name, each in held.items()}


def _nearest(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each value of an axis the index of the nearest of a coarse grid."""
    chosen = np.linspace(0, len(values) - 1, COARSE).round().astype(int)
    nearest: NDArray[np.int64] = chosen[np.abs(values[:, None] - values[None, chosen]).argmin(axis=1)]
    return nearest


def by_range(found: OperatingRange) -> Held:
    """What a range says of the places of a full grid."""
    layers = found.layers[0]
    x, y = (np.searchsorted(axis.shares, axis.tried) for axis in (found.plane.x, found.plane.y))
    shape = (len(y), len(x))
    return {
        name: layers[name].mean[np.ix_(y, x)] > 0 if name in layers else np.zeros(shape, dtype=bool)
        for name in (*(each.id for each in verdicts.definitions()), ANY)
    }


def same(ours: Held, theirs: Held) -> tuple[float, float]:
    """At which share of places both say the same of getting along, and of all verdicts that hold somewhere."""
    borders = [name for name, held in theirs.items() if name != ANY and (held.any() or ours[name].any())]
    return float((ours[ANY] == theirs[ANY]).mean()), fmean(float((ours[name] == theirs[name]).mean()) for name in borders)


def edges(held: Held) -> Borders:
    """Where borders are along each row, in steps."""
    return {
        name: [[step + 0.5 for step, (before, after) in enumerate(pairwise(row)) if before != after] for row in each]
        for name, each in held.items()
    }


def distance(ours: Borders, theirs: Borders) -> float:
    """How far borders are from each other in rows that have both, on average."""
    gaps = [
        min(abs(one - other) for other in others)
        for name in theirs
        for left, right in zip(ours[name], theirs[name], strict=True)
        if left and right
        for ones, others in ((left, right), (right, left))
        for one in ones
    ]
    return fmean(gaps) if gaps else float("nan")


def crossings(found: OperatingRange) -> tuple[Borders, Mapping[str, Sequence[Sequence[tuple[float, float]]]]]:
    """Where the borders of a range are in the rows of a full grid, in its steps, and their intervals."""
    x, y = found.plane.x, found.plane.y
    scale = np.log if x.is_log else np.asarray
    steps = scale(np.array([x.at(share) for share in x.tried]))

    def step(number: float) -> float:
        return float(np.interp(scale(number), steps, np.arange(len(steps))))

    at: dict[str, list[list[float]]] = {}
    intervals: dict[str, list[list[tuple[float, float]]]] = {}
    for name in (*(each.id for each in verdicts.definitions()), ANY):
        its = found.borders.filter(verdict=name)
        rows = [its.filter(its[y.name] == y.at(share)) for share in y.tried]
        at[name] = [[step(number) for number in row["at"]] for row in rows]
        intervals[name] = [[(step(low), step(high)) for low, high in row.select("low", "high").iter_rows()] for row in rows]
    return at, intervals


def reached(intervals: Mapping[str, Sequence[Sequence[tuple[float, float]]]], theirs: Borders) -> float:
    """Of their borders, the share that our intervals reach, half a step more or less, in rows that have some."""
    hits = [
        any(low - 0.5 <= edge <= high + 0.5 for low, high in ours)
        for name in theirs
        for ours, others in zip(intervals[name], theirs[name], strict=True)
        if ours
        for edge in others
    ]
    return fmean(hits) if hits else float("nan")


def measure(target: Path, out: Path, jobs: int | None, seed: int) -> None:
    """Prints the lines of a file."""
    found = find_range(target, jobs=jobs, seed=seed)
    space = Space.load(target)
    with closing(Buffered(Store(out / target.stem, create=True))) as store:
        read = partial(exploring.read, verdicts.definitions())
        runner = Runner(space, read, [backends.named(backends.DEFAULT)], store, jobs)
        first, second = full(found, runner, 0), full(found, runner, exploring.SEEDS)
    at, intervals = crossings(found)
    few, by_few = coarse(found, first)
    ways = {
        "range": (found.runs, by_range(found), at),
        "full grid": (exploring.SEEDS * first[ANY].size, first, edges(first)),
        "coarse grid": (exploring.SEEDS * few, by_few, edges(by_few)),
    }
    for way, (runs, held, borders) in ways.items():
        along, every = same(held, second)
        said = {
            "file": target.stem,
            "way": way,
            "runs": runs,
            "same_pct": round(100 * along, 1),
            "same_verdicts_pct": round(100 * every, 1),
            "distance_steps": round(distance(borders, edges(second)), 2),
            "reached_pct": round(100 * reached(intervals, edges(second))) if way == "range" else None,
        }
        print(json.dumps(said), flush=True)


def main() -> None:
    """Prints the lines of each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="keep the runs of the grids here")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("targets", nargs="*", type=Path, default=TARGETS)
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        for target in given.targets:
            measure(target, given.out or Path(temporary), given.jobs, given.seed)


if __name__ == "__main__":
    main()
