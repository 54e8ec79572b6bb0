"""The cells of a matrix and their runs."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sojourn import _engine
from sojourn.scenario.model import Scenario
from sojourn.specification import RunSpecification, specify, text

PICOSECONDS = 10**12

#: Bytes of a run's key: enough that no two of any number of runs that can be made share one.
KEY_BYTES = 16


@dataclass(frozen=True)
class Run:
    """One cell of a matrix with one seed."""

    axes: Mapping[str, str]
    seed: int
    specification: RunSpecification

    @cached_property
    def key(self) -> str:
        """A hash of all that the result depends on: the whole specification, the seed in it, and the engine's version."""
        return _key(text(self.specification))

    @property
    def label(self) -> str:
        """What people call the run among those of its campaign, such as ``DC/HC/codel/cubic/1``."""
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


@dataclass(frozen=True)
class Cell:
    """One cell of a matrix: the values of its axes, and the scenario that they make."""

    axes: Mapping[str, str]
    scenario: Scenario

    @cached_property
    def _specification(self) -> RunSpecification:
        return specify(self.scenario, self.scenario.seed)

    def run(self, repetition: int) -> Run:
        """The cell's run number ``repetition``; the first is 0 and has the scenario's seed, the others count up from it."""
        seed = self.scenario.seed + repetition
        return Run(self.axes, seed, {**self._specification, "seed": seed})

    def runs(self, repetitions: int) -> list[Run]:
        """The first so many runs."""
        return [self.run(repetition) for repetition in range(repetitions)]


def keys(specification: str, seeds: Iterable[int]) -> Iterator[str]:
    """The keys of a cell's runs with some seeds, for less than making the runs would cost; the text is that of any of them."""
    # Nothing but the seed, which stands first, tells the specifications apart.
    first, comma, rest = specification.partition(",")
    head, colon, _ = first.partition(":")
    return (_key(f"{head}{colon}{seed}{comma}{rest}") for seed in seeds)


def called(axes: Mapping[str, str]) -> str:
    """A cell as people write it: ``tcp=cubic,queue=codel``."""
    return ",".join(f"{axis}={label}" for axis, label in axes.items())


def _key(specification: str) -> str:
    everything = f"{_engine.version()}\n{specification}"
    return hashlib.blake2b(everything.encode(), digest_size=KEY_BYTES).hexdigest()
