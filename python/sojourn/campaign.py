"""Many runs over several workers.

Workers are threads: a backend gives way to other threads while it works. The longest runs start first, so that no worker is
left alone with a long one at the end; the order in which runs finish does not show in any result.
"""

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass

from sojourn import results
from sojourn.backends import Backend
from sojourn.backends.result import RunResult
from sojourn.errors import SojournError
from sojourn.results import Result
from sojourn.runs import Run
from sojourn.store import Store


@dataclass(frozen=True)
class Outcome:
    """A run that has ended, with its result or with why there is none."""

    index: int
    run: Run
    result: RunResult | SojournError


def workers(jobs: int | None) -> int:
    """The number of workers asked for, or one for each core this process may use."""
    return jobs if jobs is not None else len(os.sched_getaffinity(0))


def execute(runs: Sequence[Run], backend: Backend, jobs: int | None = None) -> Generator[Outcome]:
    """Carries out all runs and yields each as it ends.

    When the iterator is closed early (an interrupt, say), runs under way are cancelled and the others never start.
    """
    order = sorted(range(len(runs)), key=lambda index: (-runs[index].cost, index))
    executor = ThreadPoolExecutor(max_workers=workers(jobs), thread_name_prefix="run")
    try:
        futures = {executor.submit(backend.run, runs[index].specification): index for index in order}
        pending: set[Future[RunResult]] = set(futures)
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=futures.__getitem__):
                index = futures.pop(future)
                yield Outcome(index, runs[index], _outcome(future))
    except BaseException:
        backend.cancel()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _outcome(future: Future[RunResult]) -> RunResult | SojournError:
    try:
        return future.result()
    except SojournError as error:
        return error


@dataclass(frozen=True)
class Conducted:
    """A campaign that has ended: what it found, if anything, and the runs that failed."""

    result: Result | None
    failures: list[Outcome]


def conduct(
    runs: Sequence[Run],
    backend: Backend,
    store: Store,
    jobs: int | None = None,
    on_outcome: Callable[[Outcome], None] = lambda _: None,
) -> Conducted:
    """Carries out all runs and keeps their results; a failed run does not stop the others.

    An interrupt passes through, after the results so far have been put in order.
    """
    failures: list[Outcome] = []
    try:
        with closing(execute(runs, backend, jobs)) as outcomes:
            for outcome in outcomes:
                if isinstance(outcome.result, RunResult):
                    store.add(outcome.index, results.of_run(outcome.run, outcome.result))
                else:
                    failures.append(outcome)
                on_outcome(outcome)
    finally:
        result = store.consolidate()
    return Conducted(result, sorted(failures, key=lambda outcome: outcome.index))
