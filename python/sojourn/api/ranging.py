"""Finding where in a space of scenarios verdicts begin to hold."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import backends, names
from sojourn import verdicts as judging
from sojourn.api.execution import call_of
from sojourn.api.searching import POINTS, Quiet, given, space_of, store_of
from sojourn.backends.backend import Backend
from sojourn.campaign import Cluster, Observer
from sojourn.errors import InputError
from sojourn.exploration import asked, exploring, gaussian
from sojourn.exploration.exploring import Exploration
from sojourn.exploration.hunt import Budget, Purse
from sojourn.exploration.operating import OperatingRange
from sojourn.exploration.plane import Plane
from sojourn.exploration.running import Runner
from sojourn.exploration.space import Space
from sojourn.scenario import read_toml
from sojourn.store import write_whole
from sojourn.sweeps import file
from sojourn.sweeps.file import RANGE
from sojourn.sweeps.ranged import Ranged
from sojourn.verdicts import Definition

if TYPE_CHECKING:
    from sojourn.figures import Chart

#: The budget of a range that is given none.
RANGE_BUDGET = "400 runs"

#: Files of a directory of results: the grids of all maps, and where verdicts begin.
GRID, BORDERS = "range.parquet", "borders.csv"


def find_range(
    scenario: str | Path | Mapping[str, Any],
    *,
    axes: Sequence[str] | None = None,
    verdicts: Sequence[str] | None = None,
    budget: str | None = None,
    seed: int | None = None,
    changes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: str | Backend = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
    progress: Callable[[Exploration], None] = lambda _: None,
) -> OperatingRange:
    """Finds where in the space of a scenario file a congestion control and a queue get along, and what is wrong elsewhere.

    Args:
        scenario: the path of a scenario file with a table ``search.space``, or what such a file says as a dictionary.
        axes: two names of the space that have bounds, the axes of the map; the first two unless given.
        verdicts: the verdicts that are asked; all unless given.
        budget: how many runs to make, ``"400 runs"``, or for how long, ``"2 min"``.
        seed: that of the places that are tried first.
        changes: keys set in the scenario.
        out: a directory for the results; a range that was ended goes on there. None are written unless given.
        jobs: how many runs at once; as many as there are cores unless given. The range is the same for any number.
        backend: what carries out the runs.
        cluster: the address of a Dask scheduler whose workers make the runs.
        observer: what looks on.
        progress: called after each generation.

    What is not given is what the file's table ``range`` says.

    Raises:
        InputError: the file, its space, the axes, a verdict or the budget will not do.
    """
    space = space_of(scenario, changes)
    told = _told(scenario, space)
    wanted = verdicts or told.verdicts
    where = "--verdict" if verdicts else f"{space.origin}: {RANGE}.verdicts"
    definitions = _asked(wanted, where)
    plane = Plane.of(space, axes or told.axes, "--axes" if axes else None)
    text, place = given(budget, told.budget, RANGE_BUDGET, "--budget", f"{space.origin}: {RANGE}.budget")
    limit = Budget.of(text, place, exploring.least_runs(plane))
    chosen = (told.seed if seed is None else seed) or 0
    gaussian.check("a range")
    carrier, looking = backends.named(backend), observer or Observer()
    what = repr(str(scenario)) if isinstance(scenario, str | Path) else f"<scenario {space.name}>"
    call = call_of("find_range", what, backend, axes=axes, verdicts=verdicts, budget=budget, seed=seed, out=out)
    question = f"{plane.x.name} and {plane.y.name}, {', '.join(wanted or ['all verdicts'])}"
    asks = asked.of(space, "range", question, chosen, backends=carrier.identity.name)
    with ExitStack() as until_ended:
        elsewhere = None
        if cluster is not None:
            elsewhere = until_ended.enter_context(closing(Cluster(cluster, looking.notify))).execute
        store = until_ended.enter_context(closing(store_of(out, space, [carrier], looking, call, changes, asks)))
        runner = Runner(space, partial(exploring.read, definitions), [carrier], store, jobs, elsewhere, Quiet(looking))
        purse = Purse(limit)
        purse.open(1.0, kept=0)
        found = exploring.explore(plane, definitions, runner, purse, chosen, progress)
    if wanted and found.never:
        problem = found.problem or "docs/verdicts.md says what it needs"
        raise InputError(f"{where}: {found.never[0]} could be asked at none of {len(found.tried)} points: {problem}")
    if out is not None:
        _write(found, Path(out))
    return found


def draw_range(found: OperatingRange, *, dark: bool = False) -> "Chart":
    """Draws the maps of a range.

    Args:
        found: the range.
        dark: for a dark page.
    """
    from sojourn.figures import ranges  # loads Altair

    x, y = (ranges.MapAxis(axis.name, axis.title, axis.is_log, axis.is_whole) for axis in (found.plane.x, found.plane.y))
    return ranges.draw(
        found.grid,
        found.points,
        x,
        y,
        found.choices,
        [each.id for each in found.asked],
        title=str(found.plane.space.base.get("description") or found.plane.space.name),
        said=[f"{found.runs} runs of {len(found.tried)} points"],
        page=ranges.DARK if dark else ranges.LIGHT,
    )


def _told(scenario: str | Path | Mapping[str, Any], space: Space) -> Ranged:
    data = scenario if isinstance(scenario, Mapping) else read_toml(Path(scenario))
    return file.ranged(data, space.origin) or Ranged()


def _asked(wanted: Sequence[str] | None, place: str) -> tuple[Definition, ...]:
    known = {each.id: each for each in judging.definitions()}
    names.check("verdict", wanted or (), known, InputError, f"{place}: ")
    return tuple(each for name, each in known.items() if not wanted or name in wanted)


def _write(found: OperatingRange, out: Path) -> None:
    """Writes the points that were tried, the grids of all maps, and the borders."""
    write_whole(out / POINTS, lambda path: found.points.write_csv(path))
    write_whole(out / BORDERS, lambda path: found.borders.write_csv(path))
    write_whole(out / GRID, lambda path: found.grid.write_parquet(path))
