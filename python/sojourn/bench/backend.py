"""The backend that the benchmark measures."""

import time

from sojourn import _engine, backends, specification
from sojourn.backends.backend import Backend
from sojourn.backends.identity import Identity
from sojourn.backends.result import RunResult
from sojourn.backends.simulator import result_of
from sojourn.scenario.given import Given
from sojourn.specification import RunSpecification


def measured() -> Backend:
    """The simulator."""
    return backends.named("simulator")


class Timed:
    """The simulator, with the CPU time of the engine alone, without what makes frames of its columns."""

    def __init__(self) -> None:
        self._simulator = measured()
        self._seconds: list[float] = []

    @property
    def identity(self) -> Identity:
        return self._simulator.identity

    def check(self, run: RunSpecification, given: Given, /) -> None:
        self._simulator.check(run, given)

    def run(self, run: RunSpecification, /) -> RunResult:
        text = specification.text(run)
        began = time.thread_time()
        tables = _engine.run(text)
        self._seconds.append(time.thread_time() - began)
        return result_of(tables)

    def cancel(self) -> None:
        """See ``Backend.cancel``: the runs of the benchmark are short."""

    @property
    def seconds(self) -> float:
        """CPU seconds so far."""
        return sum(self._seconds)
