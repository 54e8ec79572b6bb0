"""The backend that the benchmark measures."""

import time
from typing import Any

from sojourn.backends import Backend
from sojourn.backends.simulator import Simulator


def measured() -> Backend:
    """The simulator."""
    return Simulator()


class Timed(Simulator):
    """The simulator, which adds up the CPU time of the engine."""

    def __init__(self) -> None:
        super().__init__()
        self._seconds: list[float] = []

    def _call(self, run: str) -> dict[str, dict[str, Any]]:
        began = time.thread_time()
        tables = super()._call(run)
        self._seconds.append(time.thread_time() - began)
        return tables

    @property
    def seconds(self) -> float:
        """CPU seconds so far."""
        return sum(self._seconds)
