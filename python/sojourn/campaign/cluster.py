"""The runs of a campaign on the workers of a Dask cluster, which must have the same build of Sojourn.

Results come back and are kept here, so they are the same bytes as without a cluster. A run whose worker is lost is made again on
another one, and a line says so; one that several workers were lost with has failed, and the others go on.
"""

import asyncio
import logging
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from sojourn import backends
from sojourn.campaign.execution import carry_out, flow
from sojourn.campaign.outcome import Outcome
from sojourn.errors import ClusterLost, InputError, RunFailed
from sojourn.runs import Run

if TYPE_CHECKING:
    import distributed

#: Seconds to wait for a scheduler's answer.
PATIENCE = 10

#: The topic under which the scheduler tells of all its workers.
EVENTS = "all"

#: Runs for each thread of the cluster that are handed out ahead of time, and the least number of all: workers may yet come.
AHEAD, LEAST_AHEAD = 3, 16


class Cluster:
    """A connection to a scheduler; ``notify`` is called with a line about each worker that is lost while runs are made."""

    def __init__(self, address: str, notify: Callable[[str], None] = lambda _: None) -> None:
        try:
            # An extra, and slow to load.
            import distributed
            from distributed.comm.core import CommClosedError
        except ImportError:
            raise InputError('--cluster: Dask is not installed; pip install "sojourn[cluster]"') from None
        # The errors raised say what is wrong.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._lost = (CancelledError, distributed.CancelledError, CommClosedError)
        self._killed = distributed.KilledWorker
        self._address, self._notify = address, notify
        #: What the scheduler has told of workers that were lost; it tells on a thread of Dask's.
        self._lost_workers: SimpleQueue[str] = SimpleQueue()
        try:
            self._client = distributed.Client(address, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise InputError(f"--cluster {address}: cannot reach a scheduler: {error}") from None
        self._client.subscribe_topic(EVENTS, self._on_event)

    def close(self) -> None:
        """Leaves the cluster as it is and lets go of it."""
        self._client.close()

    def execute(self, runs: Iterable[Run]) -> Generator[Sequence[Outcome]]:
        """Carries out all runs; see ``execution.execute_together``."""
        threads = sum(self._client.nthreads().values())
        loop = self._client.sync(_running_loop)
        handed_out: WeakSet[distributed.Future[bytes]] = WeakSet()

        # Dask's own executor fails if a worker is lost while its result is delivered.
        def submit(run: Run) -> Future[bytes]:
            future = self._client.submit(carry_out_there, run, pure=False)
            handed_out.add(future)
            return asyncio.run_coroutine_threadsafe(self._result(future), loop)

        try:
            for run, result in flow(runs, submit, max(LEAST_AHEAD, AHEAD * threads)):
                self._say_what_was_lost()
                yield [Outcome(run, result)]
            self._say_what_was_lost()
        except self._lost as error:
            raise ClusterLost(f"the cluster at {self._address} is lost: {str(error) or 'the scheduler is gone'}") from None
        finally:
            self._client.cancel(list(handed_out))

    def _on_event(self, event: tuple[float, Mapping[str, Any]]) -> None:
        _, told = event
        if told.get("action") == "remove-worker" and not told.get("expected"):
            runs = len(told.get("processing-tasks", ()))
            again = f"; {runs} {'run' if runs == 1 else 'runs'} of it will be made again" if runs else ""
            self._lost_workers.put(f"a worker of the cluster is lost: {told.get('worker', 'unknown')}{again}")

    def _say_what_was_lost(self) -> None:
        with suppress(Empty):
            while True:
                self._notify(self._lost_workers.get_nowait())

    async def _result(self, future: "distributed.Future[bytes]") -> bytes:
        try:
            record: bytes = await future
        except self._killed:
            raise RunFailed("every worker that carried it out was lost; it may need more memory than a worker has") from None
        return record


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def carry_out_there(run: Run) -> bytes:
    """Carries out a run on a worker."""
    backend = backends.named(run.backend.name)
    if backend.identity != run.backend:
        raise RunFailed(f"a worker of the cluster runs {backend.identity}, not {run.backend}")
    return carry_out(run, backend)
