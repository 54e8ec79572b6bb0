"""Carries out runs on several workers.

Workers are threads: a backend gives way to other threads while it works. The cells with the longest runs start first, so that no
worker is left alone with a long one at the end; the order in which runs finish does not show in any result.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from sojourn import backends
from sojourn.analysis.records import of_run
from sojourn.backends.backend import Backend, Estimating
from sojourn.campaign.admission import Shares, of_machine
from sojourn.campaign.outcome import Outcome
from sojourn.errors import PANIC, RunFailed, SojournError
from sojourn.plugins.processes import RUN
from sojourn.runs import Run
from sojourn.store.encoding import encode

#: Cells whose estimates of memory are kept.
CELLS_AT_ONCE = 100

#: What carries out runs, about in their order, and yields each as it ends.
Execute = Callable[[Iterable[Run]], Generator[Outcome]]


def workers(jobs: int | None) -> int:
    """The number of workers, or one for each core this process may use."""
    return jobs if jobs is not None else len(os.sched_getaffinity(0))


def carry_out(run: Run, backend: Backend) -> bytes:
    """The encoded record of a run: all of the work that a worker does for it."""
    RUN.set(run.label)
    try:
        return encode(of_run(run, backend.run(run.specification)))
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
    number, carriers = workers(jobs), backends.several(backend)
    executor = ThreadPoolExecutor(max_workers=number, thread_name_prefix="run")
    shares = Shares(of_machine(), notify)
    by_name = {carrier.identity.name: carrier for carrier in carriers}
    size_of = _sizes(by_name) if number > 1 else lambda _: 0

    def carry_out_within(run: Run) -> bytes:
        with shares.of(size_of(run)):
            return carry_out(run, by_name[run.backend.name])

    try:
        yield from flow(runs, lambda run: executor.submit(carry_out_within, run), 2 * number)
    except BaseException:
        for carrier in carriers:
            carrier.cancel()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


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
