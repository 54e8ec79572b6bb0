"""Many runs over several workers.

Workers are threads: a backend gives way to other threads while it works. The cells with the longest runs start first, so that no
worker is left alone with a long one at the end; the order in which runs finish does not show in any result. What is kept already
is not run again.
"""

import json
import os
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

from sojourn import results, specification
from sojourn.backends import Backend
from sojourn.errors import InputError, SojournError, StoreFailed
from sojourn.results import Result
from sojourn.runs import Cell, Run, called, keys
from sojourn.specification import RunSpecification
from sojourn.store import Keeper
from sojourn.store.encoding import encode
from sojourn.units import LARGEST


class Campaign(Protocol):
    """Cells of a matrix, and how many runs of each."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def axes(self) -> Sequence[str]:
        """The names of the axes, in order."""
        ...

    @property
    def repetitions(self) -> int:
        """How many seeds of each cell."""
        ...

    def cells(self) -> Iterator[Cell]:
        """The cells, in order; may be asked for again."""
        ...


@dataclass(frozen=True)
class Cells:
    """A campaign of cells that are at hand, or made one by one."""

    name: str
    axes: Sequence[str]
    make: Callable[[], Iterable[Cell]]
    repetitions: int

    def cells(self) -> Iterator[Cell]:
        """See ``Campaign.cells``."""
        return iter(self.make())


@dataclass(frozen=True)
class PlannedCell:
    """A cell of which only as much is kept as its runs need: there may be many thousands."""

    axes: dict[str, str]
    #: The seed of the first run; the others count up from it.
    seed: int
    #: ``Run.cost`` and ``Run.simulated_seconds`` of each run.
    cost: float
    simulated_seconds: float
    #: The specification's text, compressed.
    packed: bytes = field(repr=False)

    @property
    def name(self) -> str:
        """What people call it."""
        return called(self.axes)

    def runs(self, repetitions: int) -> Iterator[Run]:
        """The first so many runs."""
        specified: RunSpecification = json.loads(self._text)
        for seed in range(self.seed, self.seed + repetitions):
            yield Run(self.axes, seed, {**specified, "seed": seed})

    def run(self) -> Run:
        """The first run."""
        return next(self.runs(1))

    def keys(self, repetitions: int) -> Iterator[str]:
        """The keys of the first so many runs, for less than making the runs would cost."""
        return self.keys_of(range(self.seed, self.seed + repetitions))

    def keys_of(self, seeds: Iterable[int]) -> Iterator[str]:
        """The keys of the runs with some seeds."""
        return keys(self._text, seeds)

    @property
    def _text(self) -> str:
        return zlib.decompress(self.packed).decode()


@dataclass(frozen=True)
class Plan:
    """A campaign that has been looked at and found sound."""

    name: str
    axes: Sequence[str]
    cells: Sequence[PlannedCell]
    repetitions: int

    def __len__(self) -> int:
        return len(self.cells) * self.repetitions

    @property
    def cost(self) -> float:
        """``Run.cost`` of all runs together."""
        return self.repetitions * sum(cell.cost for cell in self.cells)

    @property
    def simulated_seconds(self) -> float:
        """How long all runs last together, in their own time."""
        return self.repetitions * sum(cell.simulated_seconds for cell in self.cells)

    def run_keys(self) -> Iterator[str]:
        """The keys of all runs, cell by cell."""
        return chain.from_iterable(cell.keys(self.repetitions) for cell in self.cells)

    def runs(self) -> Iterator[Run]:
        """All runs, made one by one; the longest cells come first."""
        for cell in sorted(self.cells, key=lambda cell: -cell.cost):
            yield from cell.runs(self.repetitions)


def plan(campaign: Campaign, backend: Backend, origin: str, on_cell: Callable[[], None] = lambda: None) -> Plan:
    """Has the backend look at all cells, so that bad input is found before anything is run or written.

    Args:
        campaign: what is to be run.
        backend: what will carry it out.
        origin: what messages call the source of the cells.
        on_cell: is told of each cell that is fine.

    Raises:
        InputError: a cell makes no sense, or two are the same.
    """
    cells: list[PlannedCell] = []
    seen: dict[str, str] = {}
    for cell in campaign.cells():
        run, name = cell.run(0), called(cell.axes)
        try:
            backend.check(run.specification)
            if run.seed + campaign.repetitions - 1 > LARGEST:
                raise InputError(f"seed: {run.seed} is too large to count {campaign.repetitions} seeds up from")
        except InputError as error:
            alone = [*cell.axes.values()] == [campaign.name]  # a scenario that is not swept
            raise InputError(f"{origin}: {error}" if alone else f"{origin}: cell {name}: {error}") from None
        other = seen.setdefault(run.key, name)
        if other is not name:
            raise InputError(f"{origin}: the cells {other} and {name} are the same run; exclude one")
        packed = zlib.compress(specification.text(run.specification).encode())
        cells.append(PlannedCell(dict(cell.axes), run.seed, run.cost, run.simulated_seconds, packed))
        on_cell()
    return Plan(campaign.name, campaign.axes, cells, campaign.repetitions)


@dataclass(frozen=True)
class Outcome:
    """A run that has ended, with its encoded record or with why there is none."""

    run: Run
    result: bytes | SojournError


#: What carries out runs, about in their order, and yields each as it ends.
Executing = Callable[[Iterable[Run]], Generator[Outcome]]


def workers(jobs: int | None) -> int:
    """The number of workers asked for, or one for each core this process may use."""
    return jobs if jobs is not None else len(os.sched_getaffinity(0))


def carry_out(run: Run, backend: Backend) -> bytes:
    """The encoded record of a run: all of the work that a worker does for it.

    Raises:
        SojournError: the run failed.
    """
    return encode(results.of_run(run, backend.run(run.specification)))


def execute(runs: Iterable[Run], backend: Backend, jobs: int | None = None) -> Generator[Outcome]:
    """Carries out all runs, about in their order, and yields each as it ends; few are taken ahead of time.

    When the iterator is closed early (an interrupt, say), runs under way are cancelled and the others never start.
    """
    number = workers(jobs)
    executor = ThreadPoolExecutor(max_workers=number, thread_name_prefix="run")

    try:
        yield from flow(runs, lambda run: executor.submit(carry_out, run, backend), 2 * number)
    except BaseException:
        backend.cancel()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def flow(runs: Iterable[Run], submit: Callable[[Run], Future[bytes]], ahead: int) -> Generator[Outcome]:
    """Has ``ahead`` runs submitted, as long as there are as many, and yields each as it ends."""
    source = iter(runs)
    pending: dict[Future[bytes], Run] = {}
    ended: deque[Future[bytes]] = deque()
    while True:
        while len(pending) < ahead and (run := next(source, None)) is not None:
            pending[submit(run)] = run
        if not pending:
            return
        ended.extend(wait(pending, return_when=FIRST_COMPLETED).done)
        while ended:
            future = ended.popleft()
            yield Outcome(pending.pop(future), _outcome(future))


def _outcome(future: Future[bytes]) -> bytes | SojournError:
    try:
        return future.result()
    except SojournError as error:
        return error


@dataclass(frozen=True)
class Conducted:
    """A campaign that has ended: what is known of its runs, made now or found, and the runs that failed."""

    result: Result
    failures: list[Outcome]
    #: Runs that have a result, and those among them that were there before.
    finished: int
    found: int


@dataclass
class Tally:
    """Where a campaign stands: runs that have been made, found in the store, and failed; and what they are in work."""

    total: int
    cost: float
    made: int = 0
    found: int = 0
    failed: int = 0
    cost_done: float = 0.0
    cost_found: float = 0.0
    simulated_seconds: float = 0.0

    @property
    def ended(self) -> int:
        """Runs that need no more work."""
        return self.made + self.found + self.failed

    def seconds_left(self, elapsed: float) -> float:
        """How long the rest will take, as long as the runs so far by their work: runs may differ tenfold in it."""
        return elapsed * (self.cost - self.cost_found - self.cost_done) / self.cost_done if self.cost_done else 0.0


def conduct(
    planned: Plan,
    backend: Backend,
    keeper: Keeper,
    jobs: int | None = None,
    on_progress: Callable[[Tally], None] = lambda _: None,
    elsewhere: Executing | None = None,
) -> Conducted:
    """Carries out all runs whose results are not kept yet, and keeps them; a failed run does not stop the others.

    They are carried out here by the backend, ``jobs`` at a time, or ``elsewhere``.

    An interrupt passes through, after the results so far have been put in order.

    Raises:
        StoreFailed: results could not be kept; those that are kept stay.
    """
    keeper.begin(planned.axes)
    tally = Tally(len(planned), planned.cost)
    failures: list[Outcome] = []

    def missing() -> Iterator[Run]:
        for run in planned.runs():
            if keeper.has(run.key):
                tally.found += 1
                tally.cost_found += run.cost
                on_progress(tally)
            else:
                yield run

    try:
        with closing(elsewhere(missing()) if elsewhere else execute(missing(), backend, jobs)) as outcomes:
            for outcome in outcomes:
                if isinstance(outcome.result, bytes):
                    keeper.add(outcome.run.key, outcome.result)
                    tally.made += 1
                else:
                    failures.append(outcome)
                    tally.failed += 1
                tally.cost_done += outcome.run.cost
                tally.simulated_seconds += outcome.run.simulated_seconds
                on_progress(tally)
    except StoreFailed:
        raise
    except BaseException:
        keeper.consolidate()
        raise
    keeper.consolidate()
    finished = tally.made + tally.found
    alone = len(keeper) == finished
    result = keeper.result(planned.axes, None if alone else lambda: (run.key for run in planned.runs()))
    failures.sort(key=lambda failure: ([*failure.run.axes.values()], failure.run.seed))
    return Conducted(result, failures, finished, tally.found)
