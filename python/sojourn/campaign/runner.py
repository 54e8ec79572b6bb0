"""Carries out a campaign and keeps its results: everything in Sojourn that makes runs does it here."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice

from sojourn.analysis.result import Result
from sojourn.analysis.several_backends import beside
from sojourn.backends.backend import Backend
from sojourn.backends.identity import Identity
from sojourn.campaign import precision
from sojourn.campaign.execution import Execute, execute_together
from sojourn.campaign.observer import Observer, Tally
from sojourn.campaign.outcome import CampaignOutcome, Imprecise, Outcome
from sojourn.campaign.planning import Plan, PlannedCell
from sojourn.errors import RunFailed, StoreFailed
from sojourn.names import BACKEND
from sojourn.runs import Run
from sojourn.store import RunStore
from sojourn.sweeps.stopping import StoppingRule

#: Runs of which a store is asked at once whether it has them.
CHUNK = 5_000


def run(
    planned: Plan,
    backend: Backend | Sequence[Backend],
    store: RunStore,
    *,
    jobs: int | None = None,
    elsewhere: Execute | None = None,
    observer: Observer | None = None,
) -> CampaignOutcome:
    """Carries out all runs whose results are not kept yet, and keeps them; a failed run does not stop the others.

    Under a stopping rule the plan's seeds are only the first: those cells whose metric's interval is not yet below the bound get
    more and more of them.

    An interrupt passes through, after the results so far have been put in order.

    Args:
        planned: the campaign.
        backend: what it was planned with, one or several.
        store: what keeps the results.
        jobs: how many runs at once; as many as there are cores unless given.
        elsewhere: what carries out the runs instead of the backend here, such as the workers of a cluster.
        observer: what looks on.
    """
    observer = observer or Observer()
    store.begin([axis for axis in planned.axes if axis != BACKEND])
    observer.planned(planned, stale(planned, store))

    def here(runs: Iterable[Run]) -> Generator[Sequence[Outcome]]:
        return execute_together(runs, backend, jobs, observer.notify)

    def carry_out(batch: Plan) -> CampaignOutcome:
        return _carry_out(batch, store, elsewhere or here, observer)

    outcome = carry_out(planned) if planned.until is None else _until_precise(planned, planned.until, store, carry_out)
    observer.ended(outcome)
    return outcome


def stale(planned: Plan, store: RunStore) -> Counter[Identity]:
    """How many of a campaign's runs have results of another build of their backend and none of this one, by what made them."""
    return sum((store.stale(planned.requests(backend), backend) for backend in planned.backends), Counter[Identity]())


def _result(store: RunStore, axes: Sequence[str], keys: Callable[[], Iterator[str]] | None) -> Result:
    if BACKEND not in axes:
        return store.result(axes, keys)
    return beside(store.result([axis for axis in axes if axis != BACKEND], keys))


def _carry_out(batch: Plan, store: RunStore, execute: Execute, observer: Observer) -> CampaignOutcome:
    """Carries out those runs of a plan that the store does not have."""
    tally = Tally(batch.cost)
    failures: list[Outcome] = []

    def missing() -> Iterator[Run]:
        for cell, first, chunk in chunks():
            there = store.among(chunk)
            if there:
                tally.found += len(there)
                tally.cost_found += cell.cost * len(there)
                on_progress(tally)
            if len(there) < len(chunk):
                yield from cell.runs(number for number, key in enumerate(chunk, first) if key not in there)

    def lost(keys: Set[str]) -> Iterator[Run]:
        """Those of the runs that were found and turned out to be of no use."""
        for cell, first, chunk in chunks():
            numbers = [number for number, key in enumerate(chunk, first) if key in keys]
            tally.found -= len(numbers)
            tally.cost_found -= cell.cost * len(numbers)
            yield from cell.runs(numbers)

    def chunks() -> Iterator[tuple[PlannedCell, int, Sequence[str]]]:
        for cell in batch.longest_first():
            keys = cell.keys(batch.repetitions)
            for first in range(0, batch.repetitions, CHUNK):
                yield cell, first, list(islice(keys, CHUNK))

    def kept(outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        store.add_all([(each.run, each.result) for each in outcomes if isinstance(each.result, bytes)])
        for each in outcomes:
            if isinstance(each.result, RunFailed) and each.result.files:
                each.result.folder = store.add_files(each.run.key, each.result.files)
                each.result.files = {}
        return outcomes

    def make(runs: Iterator[Run]) -> None:
        with closing(execute(runs)) as batches:
            for outcome in chain.from_iterable(map(kept, batches)):
                if isinstance(outcome.result, bytes):
                    tally.made += 1
                else:
                    failures.append(outcome)
                    tally.failed += 1
                tally.cost_done += outcome.run.cost
                tally.simulated_seconds += outcome.run.simulated_seconds
                on_progress(tally)

    with observer.running(batch) as on_progress:
        try:
            make(missing())
        except StoreFailed:
            raise
        except BaseException:
            store.consolidate()
            raise
        while unreadable := store.consolidate():
            make(lost(unreadable))
    finished = tally.made + tally.found
    alone = len(store) == finished
    result = _result(store, batch.axes, None if alone else batch.run_keys)
    failures.sort(key=lambda failure: ([*failure.run.axes.values()], failure.run.seed))
    return CampaignOutcome(result, failures, finished, tally.found, [])


def _until_precise(
    planned: Plan, rule: StoppingRule, store: RunStore, carry_out: Callable[[Plan], CampaignOutcome]
) -> CampaignOutcome:
    """Carries out a plan, and then more and more seeds of those cells whose metric's interval is not yet below the bound.

    A cell whose seeds change nothing gets no more of them.
    """
    seeds = dict.fromkeys(range(len(planned.cells)), 0)
    open_cells, repetitions, finished, found = list(seeds), planned.repetitions, 0, 0
    imprecise: list[Imprecise] = []
    while True:
        batch = replace(planned, cells=[planned.cells[index] for index in open_cells], repetitions=repetitions)
        outcome = carry_out(batch)
        before = sum(seeds[index] for index in open_cells)
        seeds |= dict.fromkeys(open_cells, repetitions)
        # What earlier batches have made is found again.
        finished += outcome.finished - before
        found += outcome.found - before
        halves = dict(zip(open_cells, precision.halves(outcome.result, batch, rule), strict=True))
        repeated = dict(zip(open_cells, precision.repeated(outcome.result, batch), strict=True))
        imprecise += [Imprecise(planned.cells[index], None, repetitions, True) for index in open_cells if repeated[index]]
        wide = {index: half for index, half in halves.items() if not repeated[index] and (half is None or half >= rule.bound)}
        if not wide or outcome.failures or repetitions >= rule.most_seeds:
            break
        open_cells = list(wide)
        repetitions = precision.more(repetitions, rule)

    def run_keys() -> Iterator[str]:
        return chain.from_iterable(cell.keys(seeds[index]) for index, cell in enumerate(planned.cells))

    result = _result(store, planned.axes, run_keys)
    imprecise += [Imprecise(planned.cells[index], half, repetitions) for index, half in wide.items()]
    return CampaignOutcome(result, outcome.failures, finished, found, imprecise)
