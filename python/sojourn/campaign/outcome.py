"""What runs and campaigns have come to."""

from dataclasses import dataclass

from sojourn.analysis.result import Result
from sojourn.campaign.planning import PlannedCell
from sojourn.errors import SojournError
from sojourn.runs import Run


@dataclass(frozen=True)
class Outcome:
    """A run that has ended, with its encoded record or with why there is none."""

    run: Run
    result: bytes | SojournError

    @property
    def failure(self) -> str:
        """Which run failed, with its cell and seed, and why; for those that did."""
        return f"run {self.run.label}: {self.error}"

    @property
    def error(self) -> SojournError:
        """What a run that failed failed with."""
        if isinstance(self.result, bytes):
            raise TypeError("the run did not fail")
        return self.result


@dataclass(frozen=True)
class Imprecise:
    """A cell whose metric is not known well enough, with as many seeds as it may have or as make a difference."""

    cell: PlannedCell
    #: Half the width of the interval, in the metric's unit; none if fewer than two runs have the metric.
    half: float | None
    seeds: int
    #: Whether all its seeds gave the same run.
    repeated: bool = False


@dataclass(frozen=True)
class CampaignOutcome:
    """A campaign that has ended: what is known of its runs, made now or found, and the runs that failed."""

    result: Result
    failures: list[Outcome]
    #: Runs that have a result, and those among them that were there before.
    finished: int
    found: int
    imprecise: list[Imprecise]
