"""How fast a run goes by."""

import time
from collections.abc import Callable

#: Seconds between two pages: what the eye follows.
REFRESH = 0.1


class Pace:
    """Keeps ``speed`` simulated seconds a second; without a speed, as many as the machine can.

    A run that falls behind continues from where it is and does not catch up.
    """

    def __init__(
        self, speed: float | None, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._speed = speed
        self._clock, self._sleep = clock, sleep
        self._simulated, self._due = 0.0, clock()
        #: Simulated seconds a second between the latest two moments.
        self.reached = 0.0
        self._latest = self._due

    def keep(self, simulated: float) -> None:
        """Waits until it is time for this moment of the run."""
        passed = simulated - self._simulated
        self._simulated = simulated
        if self._speed is not None:
            self._due += passed / self._speed
            wait = self._due - self._clock()
            if wait > 0:
                self._sleep(wait)
            else:
                self._due -= wait
        now = self._clock()
        if now > self._latest:
            self.reached = passed / (now - self._latest)
        self._latest = now

    @property
    def is_behind(self) -> bool:
        """Whether the machine is too slow for the speed that was asked for."""
        return self._speed is not None and self.reached < 0.9 * self._speed
