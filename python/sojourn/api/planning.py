"""What a campaign comes to, before its first run: how much is to be run, what is there already, how long the rest takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn import campaign as campaigns
from sojourn.api.directories import kept
from sojourn.backends.backend import Backend
from sojourn.backends.identity import Identity
from sojourn.campaign import Plan
from sojourn.sweeps import estimate
from sojourn.sweeps.estimate import Speed


@dataclass(frozen=True)
class Extent:
    """How much of a plan is left to be run, and how long that takes."""

    plan: Plan
    #: Runs that a directory has already, and results there of other builds of the backend, by build.
    kept: int
    stale: Mapping[Identity, int]
    #: How fast a worker is; not measured if nothing is left.
    speed: Speed | None
    workers: int

    @property
    def left(self) -> int:
        """Runs that are to be made."""
        return len(self.plan) - self.kept

    @property
    def packets(self) -> float:
        """The packets of these runs, at most."""
        return estimate.packets(self.plan.cost) * (1 - self.kept / len(self.plan))

    @property
    def seconds(self) -> float:
        """About how long they take on this machine."""
        return 0.0 if self.speed is None else self.speed.seconds(self.left, self.packets) / self.workers


def extent(plan: Plan, carrier: Backend, out: str | Path | None = None, jobs: int | None = None) -> Extent:
    """How much of a plan is left where ``out`` has some of its results; the beginning of its largest run is carried out.

    Raises:
        InputError: the directory is no store.
    """
    there, stale = (0, {}) if out is None else kept(plan, out)
    speed = None
    if there < len(plan):
        largest = max(plan.cells, key=lambda cell: cell.cost).run()
        speed = estimate.measure(largest, lambda run: campaigns.carry_out(run, carrier))
    return Extent(plan, there, stale, speed, campaigns.workers(jobs))
