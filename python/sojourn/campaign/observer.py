"""What looks on while a campaign is carried out: the command line shows what it sees, a caller from Python need not look."""

import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from sojourn.backends.identity import Identity
from sojourn.campaign.outcome import CampaignOutcome
from sojourn.campaign.planning import Plan


@dataclass
class Tally:
    """Where a campaign stands: runs that have been made, found in the store, and failed; and what they are in work."""

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


class Observer:
    """Looks on and shows nothing but warnings; those who show more override what they need."""

    #: What a user typed, which results keep as where they come from; the call itself if this is nothing.
    command: str | None = None

    def notify(self, message: str, /) -> None:
        """Something went wrong with the files of a store, and the campaign goes on."""
        warnings.warn(message, stacklevel=2)

    def checking(self, cells: int, /) -> AbstractContextManager[Callable[[], None]]:  # noqa: ARG002, for those who show it
        """Cells are about to be checked; what is entered is called after each."""
        return nullcontext(lambda: None)

    def planned(self, plan: Plan, stale: Counter[Identity], /) -> None:
        """All cells are fine, and runs are about to be made; ``stale`` counts stored results of other builds, by build."""

    def running(self, plan: Plan, /) -> AbstractContextManager[Callable[[Tally], None]]:  # noqa: ARG002, for those who show it
        """The runs of a plan, or of a batch of it, are about to be made; what is entered is called after each."""
        return nullcontext(lambda _: None)

    def ended(self, outcome: CampaignOutcome, /) -> None:
        """All runs have ended."""
