"""Carries out runs on several workers.

Workers are threads: a backend gives way to other threads while it works. The cells with the longest runs start first, so that no
worker is left alone with a long one at the end; the order in which runs finish does not show in any result.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TypeVar

from sojourn import backends
from sojourn.analysis.records import of_run, of_runs
from sojourn.backends.backend import Backend, Batching, Estimating
from sojourn.campaign.admission import Shares, of_machine
from sojourn.campaign.outcome import Outcome
from sojourn.errors import PANIC, RunFailed, SojournError
from sojourn.plugins.processes import RUN
from sojourn.runs import Run
from sojourn.store.encoding import encode

#: Cells whose estimates of memory are kept.
CELLS_AT_ONCE = 100

#: The runs of a batch, what they may carry together (``Run.cost``) and their memory, by estimate: it lasts some hundredths of a
#: second.
MOST_RUNS, MOST_BITS, MOST_BYTES = 64, 100_000_000, 32_000_000

#: What carries out runs, about in their order, and yields those that have ended.
Execute = Callable[[Iterable[Run]], Generator[Sequence[Outcome]]]

WorkT = TypeVar("WorkT")
FoundT = TypeVar("FoundT")


def workers(jobs: int | None) -> int:
    """The number of workers, or one for each core this process may use."""
    return jobs if jobs is not None else len(os.sched_getaffinity(0))


def carry_out(run: Run, backend: Backend) -> bytes:
    """The encoded record of a run: all of the work that a worker does for it."""
    RUN.set(run.label)
    with _complaints():
        return encode(of_run(run, backend.run(run.specification)))


def _carry_out_all(runs: Sequence[Run], backend: Backend) -> list[bytes | SojournError]:
    """The same of a batch, or of each run why there is no record."""
    if len(runs) > 1 and isinstance(backend, Batching):
        # What is wrong is found again, in the run that it is wrong with.
        with suppress(Exception), _complaints():
            return [encode(record) for record in of_runs(runs, backend.run_all([run.text for run in runs]))]
    return [_outcome(partial(carry_out, run, backend)) for run in runs]


@contextmanager
def _complaints() -> Iterator[None]:
    """Turns what says that there is no memory, or that a library is wrong, into the failure of a run."""
    try:
        yield
    except MemoryError as error:
        raise RunFailed(str(error) or "out of memory") from None
    except BaseException as error:
        if type(error).__name__ == PANIC:
            raise RunFailed(f"a library found a broken invariant: {error}") from None
        raise


def execute(
    runs: Iterable[Run],
    backend: Backend | Sequence[Backend],
    jobs: int | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> Generator[Outcome]:
    """Carries out all runs, each with its backend, about in their order, and yields each as it ends; few are taken ahead of time.

    Fewer are under way at a time if they might together take more memory than there is; ``notify`` is then called with a line.
    When the iterator is closed early (an interrupt, say), runs under way are cancelled and the others never start.
    """
    with closing(execute_together(runs, backend, jobs, notify)) as batches:
        for outcomes in batches:
            yield from outcomes


def execute_together(
    runs: Iterable[Run],
    backend: Backend | Sequence[Backend],
    jobs: int | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> Generator[Sequence[Outcome]]:
    """The same, those together that end together: a worker carries out a batch of short runs at once."""
    number, carriers = workers(jobs), backends.several(backend)
    executor = ThreadPoolExecutor(max_workers=number, thread_name_prefix="run")
    shares = Shares(of_machine(), notify)
    by_name = {carrier.identity.name: carrier for carrier in carriers}
    size_of = _sizes(by_name)

    def carry_out_within(batch: Sequence[Run]) -> list[bytes | SojournError]:
        with shares.of(sum(map(size_of, batch))):
            return _carry_out_all(batch, by_name[batch[0].backend.name])

    try:
        ended = flow(batches(runs, by_name, size_of), lambda batch: executor.submit(carry_out_within, batch), 2 * number)
        for batch, results in ended:
            if isinstance(results, SojournError):
                raise results
            yield list(map(Outcome, batch, results))
    except BaseException:
        for carrier in carriers:
            carrier.cancel()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def batches(runs: Iterable[Run], carriers: Mapping[str, Backend], size_of: Callable[[Run], int]) -> Iterator[Sequence[Run]]:
    """Runs in their order, short ones in batches: few enough that little is lost if the process is killed while they are made."""
    batching = {name for name, carrier in carriers.items() if isinstance(carrier, Batching)}
    batch: list[Run] = []
    filled = 0.0
    for run in runs:
        part = 1.0
        if run.backend.name in batching and not run.specification.get("plugins"):
            part = max(1 / MOST_RUNS, run.cost / MOST_BITS, size_of(run) / MOST_BYTES)
        if batch and (filled + part > 1 or run.backend != batch[0].backend):
            yield batch
            batch, filled = [], 0.0
        batch.append(run)
        filled += part
        if filled >= 1:
            yield batch
            batch, filled = [], 0.0
    if batch:
        yield batch


def _sizes(carriers: Mapping[str, Backend]) -> Callable[[Run], int]:
    """What gives the memory of a run in bytes, 0 if its backend cannot tell; runs of a cell have the same, in a row."""
    known: dict[tuple[str, ...], int] = {}

    def size_of(run: Run) -> int:
        cell = tuple(run.axes.values())
        size = known.get(cell)
        if size is None:
            carrier = carriers[run.backend.name]
            size = carrier.memory(run.specification) if isinstance(carrier, Estimating) else 0
            if len(known) >= CELLS_AT_ONCE:
                known.clear()
            known[cell] = size
        return size

    return size_of


def flow(
    works: Iterable[WorkT], submit: Callable[[WorkT], Future[FoundT]], ahead: int
) -> Generator[tuple[WorkT, FoundT | SojournError]]:
    """Has ``ahead`` works submitted, as long as there are as many, and yields each as it ends, with what came of it."""
    source = iter(works)
    pending: dict[Future[FoundT], WorkT] = {}
    ended: deque[Future[FoundT]] = deque()
    while True:
        while len(pending) < ahead and (work := next(source, None)) is not None:
            pending[submit(work)] = work
        if not pending:
            return
        ended.extend(wait(pending, return_when=FIRST_COMPLETED).done)
        while ended:
            future = ended.popleft()
            yield pending.pop(future), _outcome(future.result)


def _outcome(result: Callable[[], FoundT]) -> FoundT | SojournError:
    try:
        return result()
    except SojournError as error:
        return error
