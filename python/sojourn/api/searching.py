"""Searching a space of scenarios for what is asked of it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from sojourn import _engine, backends
from sojourn.api.execution import call_of
from sojourn.backends.backend import Backend
from sojourn.campaign import Cluster, Observer
from sojourn.digits import counted
from sojourn.errors import InputError
from sojourn.exploration import asked, finding, proposing
from sojourn.exploration.aim import Aim, Sought, Values, values
from sojourn.exploration.disagreement import DISAGREEMENT, Difference, Disagreement, differences
from sojourn.exploration.finding import Check, Finding
from sojourn.exploration.hunt import LEAST_RUNS, LEAST_RUNS_OF_TWO, RUNGS, SEARCHING, SEEDS, Budget, Hunt, Purse, Trial
from sojourn.exploration.proposing import Evenly, Learning, Proposer
from sojourn.exploration.running import Runner
from sojourn.exploration.shrinking import Shrinker
from sojourn.exploration.space import Space
from sojourn.exploration.store import Buffered
from sojourn.names import BACKEND
from sojourn.runs import called
from sojourn.statistics import Estimate, estimate
from sojourn.store import Provenance, Store, write_whole
from sojourn.sweeps.file import SEARCH

if TYPE_CHECKING:
    from sojourn.figures import Chart

#: The budget of a search that is given none.
BUDGET = "200 runs"

#: The same of two backends, each point of which needs three seeds on both.
BUDGET_OF_TWO = "1200 runs"

#: Points of the first generation: a fifth of a small budget, and no more than this.
FIRST = 16

#: The scenario of a finding in a directory of results, all points that were tried, and the picture of a front.
FOUND, POINTS, FRONT = "found.toml", "points.csv", "front.svg"

#: Who may propose: the optimiser, or chance, which it must be better than.
PROPOSERS = ("learning", "evenly")


def search(
    scenario: str | Path | Mapping[str, Any],
    *,
    maximise: str | None = None,
    minimise: str | None = None,
    pareto: Sequence[str] | None = None,
    budget: str | None = None,
    seed: int | None = None,
    changes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: str | Backend | Sequence[str | Backend] = backends.DEFAULT,
    cluster: str | None = None,
    check: str | Backend | None = None,
    proposer: str = "learning",
    observer: Observer | None = None,
    progress: Callable[[Hunt], None] = lambda _: None,
) -> Finding:
    """Searches the space of a scenario file for the point at which a value is largest or smallest, or for a front of two.

    Args:
        scenario: the path of a scenario file with a table ``search``, or what such a file says as a dictionary.
        maximise: a metric, an expression over the columns of ``runs``, or a query that returns ``seed`` and ``value``; or
            ``"disagreement"`` of two backends.
        minimise: the same, of what shall be small.
        pareto: two metrics that are traded for each other.
        budget: how many runs to make, ``"200 runs"``, or how long to search, ``"5 min"``.
        seed: that of the search; another one tries other points.
        changes: keys set in the scenario.
        out: a directory for the results; a search that was ended goes on there. None are written unless given.
        jobs: how many runs at once; as many as there are cores unless given. The search is the same for any number.
        backend: what carries out the runs; the two backends that are compared in a search for their disagreement.
        cluster: the address of a Dask scheduler whose workers make the runs.
        check: another backend, such as a kernel, that carries out the finding as well, with the same ten other seeds.
        proposer: ``"learning"``, or ``"evenly"`` for points by chance, to compare with.
        observer: what looks on.
        progress: called after each generation.

    What is not given is what the file's table ``search`` says.

    Raises:
        InputError: the file, its space, what is looked for or the budget will not do.
    """
    space = space_of(scenario, changes)
    told = space.searched
    is_given = not (maximise is None and minimise is None and pareto is None)
    if not is_given:
        maximise, minimise, pareto = told.maximise, told.minimise, told.pareto
    aims = _aims(space, maximise, minimise, pareto, "--" if is_given else f"{space.origin}: {SEARCH}.")
    carriers, looking = _carriers(space, aims, backend), observer or Observer()
    is_of_two = len(carriers) > 1
    other = _checking(space, aims, carriers, check)
    unless_told, least = (BUDGET_OF_TWO, LEAST_RUNS_OF_TWO) if is_of_two else (BUDGET, LEAST_RUNS)
    limit = Budget.of(*given(budget, told.budget, unless_told, "--budget", f"{space.origin}: {SEARCH}.budget"), least)
    chosen = told.seed if seed is None else seed
    each = RUNGS[1] * len(carriers) if is_of_two else RUNGS[0]
    first = FIRST if limit.runs is None else min(FIRST, max(proposing.LEAST_POINTS, limit.runs // each // 5))
    proposes = _proposer(proposer, space, len(aims), chosen or 0, first)
    what = repr(str(scenario)) if isinstance(scenario, str | Path) else f"<scenario {space.name}>"
    call = call_of(
        "search", what, backend, maximise=maximise, minimise=minimise, pareto=pareto, budget=budget, seed=seed, out=out
    )
    made_by = [carrier.identity.name for carrier in carriers]
    question = " and ".join(_sought(aim) for aim in aims)
    asks = asked.of(space, "search", question, chosen or 0, backends=" and ".join(made_by), proposer=proposer)
    with ExitStack() as until_ended:
        elsewhere = None
        if cluster is not None:
            elsewhere = until_ended.enter_context(closing(Cluster(cluster, looking.notify))).execute
        store = until_ended.enter_context(closing(store_of(out, space, carriers, looking, call, changes, asks)))
        runner = Runner(space, partial(values, aims, made_by), carriers, store, jobs, elsewhere, Quiet(looking))
        hunt = Hunt(space, aims, runner, proposes, Purse(limit, len(carriers)), progress)
        until_ended.push(partial(_keep_so_far, hunt, made_by, out, looking))
        hunt.purse.open(SEARCHING)
        if len(aims) > 1:
            hunt.try_own()
        hunt.go()
        hunt.purse.open(1.0)
        if len(aims) > 1:
            hunt.settle_front()
        shrunk = Shrinker(hunt, first).go() if len(aims) == 1 else None
        confirmed = None if shrunk is None else _confirmed(runner, shrunk)
        checked = None
        if other is not None and shrunk is not None:
            place = None if out is None else Path(out) / f"checked-{other.identity.name.replace(':', '-')}"
            kept = until_ended.enter_context(closing(store_of(place, space, [other], looking, call, changes, asks)))
            checker = Runner(space, partial(values, aims, [other.identity.name]), [other], kept, jobs, None, Quiet(looking))
            checked = Check(
                other.identity.name, _estimated(aims[0], _confirmed(checker, shrunk))[0], next(iter(checker.problems), None)
            )
    trials = list(hunt.trials.values())
    found = Finding(
        space,
        aims,
        made_by,
        finding.table(hunt, trials, made_by),
        hunt.purse.spent,
        hunt.best if len(aims) == 1 else None,
        shrunk,
        *_estimated(aims[0], confirmed),
        checked,
        finding.table(hunt, hunt.front(), made_by) if len(aims) > 1 else None,
        hunt.own,
        None if hunt.own is None else hunt.beside(hunt.own),
        runner.problems[0] if runner.problems else None,
        None if out is None or shrunk is None else Path(out) / FOUND,
    )
    if out is not None:
        _write(found, Path(out), _first_seed(space, shrunk) if shrunk is not None else 0)
    return found


class Quiet(Observer):
    """Passes on what goes wrong with files, and shows nothing of the campaigns of which a search is made."""

    def __init__(self, looking: Observer) -> None:
        self._looking = looking

    def notify(self, message: str, /) -> None:
        self._looking.notify(message)


def space_of(scenario: str | Path | Mapping[str, Any], changes: Mapping[str, Any] | None) -> Space:
    """The space of a scenario file, given as its path or as what it says."""
    if isinstance(scenario, Mapping):
        return Space.of(scenario, "the scenario", changes=changes)
    return Space.load(scenario, changes)


def _carriers(space: Space, aims: Sequence[Sought], backend: str | Backend | Sequence[str | Backend]) -> Sequence[Backend]:
    carriers = backends.several(backend)
    is_of_two = isinstance(aims[0], Disagreement)
    if is_of_two and len(carriers) != 2:
        raise InputError(
            f"{space.origin}: search.maximise: {DISAGREEMENT}: is of two backends; name both, such as simulator and linux"
        )
    if not is_of_two and len(carriers) > 1:
        raise InputError(f"{space.origin}: search: only {DISAGREEMENT} is of two backends; name one")
    return carriers


def _checking(space: Space, aims: Sequence[Sought], carriers: Sequence[Backend], check: str | Backend | None) -> Backend | None:
    """What carries out the finding as well, if anything is to."""
    if check is None:
        return None
    other = backends.named(check)
    if len(carriers) > 1 or len(aims) > 1:
        what = f"{DISAGREEMENT} is of two backends already" if len(carriers) > 1 else "a front is no single finding"
        raise InputError(f"{space.origin}: search: {other.identity.name} has nothing to check: {what}")
    if other.identity.name == carriers[0].identity.name:
        raise InputError(f"{space.origin}: search: {other.identity.name} carries out the search; let another backend check it")
    return other


def given(option: str | None, told: str | None, otherwise: str, name: str, key: str) -> tuple[str, str]:
    """What an option, a file, or neither says, and what errors call that."""
    if option is not None or told is None:
        return otherwise if option is None else option, name
    return told, key


def _sought(aim: Sought) -> str:
    """What a search is for, in words."""
    return (
        DISAGREEMENT if isinstance(aim, Disagreement) else f"{'more' if aim.larger else 'less'} of {' '.join(aim.text.split())}"
    )


def _keep_so_far(
    hunt: Hunt,
    made_by: Sequence[str],
    out: str | Path | None,
    observer: Observer,
    kind: type[BaseException] | None,
    error: BaseException | None,
    _: object,
) -> None:
    """Of a search that ends before its time, writes the points and says which is the best so far."""
    if kind is None or out is None or not hunt.trials:
        return
    points = finding.table(hunt, list(hunt.trials.values()), made_by)
    place = Path(out) / POINTS
    best = "" if hunt.best is None else f", the best {hunt.best.mean():.4g} at {called(hunt.space.labels(hunt.best.point))}"
    goes_on = "" if isinstance(error, InputError) else "; the same command goes on"
    # What ended the search is told, and not that its points could not be written, either.
    with suppress(OSError):
        # A search that goes on has the points of before again before it has others.
        if not place.exists() or len(place.read_text(encoding="utf-8").splitlines()) <= points.height:
            write_whole(place, lambda path: points.write_csv(path))
        observer.notify(f"{counted(points.height, 'point')} so far{best}, in {place}{goes_on}")


def _aims(space: Space, maximise: str | None, minimise: str | None, pareto: Sequence[str] | None, place: str) -> Sequence[Sought]:
    named = [name for name, given in (("maximise", maximise), ("minimise", minimise), ("pareto", pareto)) if given is not None]
    if len(named) != 1:
        wrong = f"give either {named[0]} or {named[1]}" if named else "say what to look for: maximise, minimise or pareto"
        raise InputError(f"{space.origin}: search: {wrong}")
    if pareto is not None:
        if len(pareto) != 2 or pareto[0] == pareto[1]:
            raise InputError(f"{place}pareto: must be two metrics")
        return [Aim.of_metric(name, place=f"{place}pareto", axes=space.names) for name in pareto]
    text = maximise if maximise is not None else minimise
    assert text is not None, "one of them was given"
    if maximise is not None and maximise.strip() == DISAGREEMENT:
        return [Disagreement()]
    return [Aim.of(text, larger=maximise is not None, place=f"{place}{named[0]}", axes=space.names)]


def _proposer(name: str, space: Space, aims: int, seed: int, first: int) -> Proposer:
    def allows(places: Sequence[Sequence[float]]) -> list[bool]:
        if not space.searched.conditions:
            return [True] * len(places)
        return space.allows([space.at(place) for place in places])

    def settle(place: Sequence[float]) -> list[float]:
        return space.shares(space.at(place))

    if name == "evenly":
        return Evenly(space.dimensions, allows, seed)
    if name != "learning":
        raise InputError(f'proposer: "{name}" is none of {", ".join(PROPOSERS)}')
    return Learning(space.dimensions, allows, settle, seed, first, aims)


def store_of(
    out: str | Path | None,
    space: Space,
    carriers: Sequence[Backend],
    observer: Observer,
    call: str,
    changes: Mapping[str, Any] | None,
    asks: Mapping[str, Any],
) -> Buffered:
    """What keeps the runs of points, in a directory or in memory.

    Raises:
        InputError: the directory holds what was found by asking something else than ``asks``.
    """
    if out is None:
        return Buffered(None)
    asked.check(Path(out), asks)
    store = Store(Path(out), create=True, notify=observer.notify)
    asked.keep(Path(out), asks)
    axes: dict[str, list[str]] = {name: [] for name in space.names}
    if len(carriers) > 1:
        axes[BACKEND] = [carrier.identity.name for carrier in carriers]
    for carrier in carriers:
        store.note(
            Provenance(
                command=observer.command or call,
                version=_engine.version(),
                backend=carrier.identity,
                changes=changes or {},
                name=space.name,
                description=str(space.base.get("description", "")),
                axes=axes,
            )
        )
    return Buffered(store)


def _first_seed(space: Space, trial: Trial) -> int:
    """The first of the seeds that confirm a point: the search has seen none of them."""
    return space.cell(trial.point).scenario.seed + max(RUNGS)


def _confirmed(runner: Runner[Values], trial: Trial) -> Values | None:
    """The values of a point for seeds that the search has not seen."""
    (found,) = runner.values([trial.point], SEEDS, max(RUNGS))
    return found


def _estimated(aim: Sought, confirmed: Values | None) -> tuple[Estimate | None, Sequence[Difference]]:
    """What the seeds that confirm a finding say of it."""
    if confirmed is None:
        return None, ()
    if isinstance(aim, Disagreement):
        found = differences(confirmed[0])
        return (Estimate(found[0].times, None, None) if found else None), found
    known = [value for value in confirmed[0] if value is not None]
    return (estimate(known) if known else None), ()


def chart_of(found: Finding) -> "Chart":
    """A chart of a front: all points that were tried, those of the front, and what the file itself has.

    Raises:
        InputError: the search was not for a front.
    """
    if found.front is None:
        raise InputError("a chart of a front: the search was not for one; give pareto two metrics")
    from sojourn.figures import tried  # loads Altair

    own = None if found.own is None else [found.own.mean(aim) for aim in range(2)]
    columns = [finding.value_column(found.aims, aim) for aim in range(2)]
    return tried.front(found.points, found.front, columns, own, found.space.name)


def _write(found: Finding, out: Path, first_seed: int) -> None:
    """Writes all points, and the scenario of the finding."""
    write_whole(out / POINTS, lambda path: found.points.write_csv(path))
    if found.front is not None:
        from sojourn.figures import save

        save(chart_of(found), out / FRONT, "svg")
    if found.shrunk is None or found.file is None:
        return
    (aim,) = found.aims
    sought = f"disagreement of {' and '.join(found.backends)}" if isinstance(aim, Disagreement) else _sought(aim)
    said = f"Found by a search for {sought}: {called(found.space.labels(found.shrunk.point))}"
    scenario = finding.scenario(found.space, found.shrunk.point, first_seed, said, out)
    write_whole(found.file, lambda path: path.write_text(tomli_w.dumps(scenario), encoding="utf-8"))
