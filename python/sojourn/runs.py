"""One run of a campaign."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sojourn.scenario.model import Scenario
from sojourn.specification import RunSpecification, specify

PICOSECONDS = 10**12


@dataclass(frozen=True)
class Run:
    """One cell of a matrix with one seed."""

    axes: Mapping[str, str]
    seed: int
    specification: RunSpecification

    @property
    def key(self) -> str:
        """What names the run among those of its campaign, such as ``DC/HC/codel/cubic/1``."""
        return "/".join([*self.axes.values(), str(self.seed)])

    @property
    def simulated_seconds(self) -> float:
        """How long the run lasts, in its own time."""
        return self.specification["duration"] / PICOSECONDS

    @property
    def cost(self) -> float:
        """About how much work the run is: what its slowest link can carry in its duration, in bits."""
        slowest: int = min(link["rate"] for link in self.specification["links"])
        return slowest * self.simulated_seconds


def repetitions(scenario: Scenario, axes: Mapping[str, str], seeds: int) -> Iterable[Run]:
    """The runs of a scenario with so many seeds, counted up from the scenario's own."""
    for seed in range(scenario.seed, scenario.seed + seeds):
        yield Run(axes, seed, specify(scenario, seed))
